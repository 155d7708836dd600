package ledger

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// Fill fills in the cases of the kind ledger.
func Fill(s *cases.Set) {
	r := &s.RNG
	add := func(text string, budget string, steps []step, flags ...string) {
		in := booksIn{Op: "books", Text: hex.EncodeToString([]byte(text)), Steps: steps}
		if budget != "" {
			in.Budget = &budget
		}
		if in.Steps == nil {
			in.Steps = []step{}
		}
		out, reason := books(in, func(int) int { panic("a slot") })
		s.Add(reason, in, out, flags...)
	}
	id := strings.Repeat("0a", 32)
	report := "77706331" + id + "00"
	debit, paid := "debit 1 "+id+" e", "report "+report+" e"
	pay := step{Policy: id, Eps: "1", Epoch: "e", Report: report}
	const opening = "wpm-ledger-1 3/2"

	// Texts: what each line may say.
	for _, body := range [][]string{
		{opening}, {opening, debit}, {opening, debit, paid}, {opening, debit, debit}, {opening, debit, debit, paid},
		{opening, debit, paid, debit, paid},
		{"x~torn 0", opening}, {"wpm-led~torn 1/3", opening}, {"~torn 5", opening}, {opening, "~torn 1/4"}, {opening,
			"a~torn 9~torn 1/4"},
		{opening, "wpm-ledger-1 9~torn 0"}, {opening, "report x~torn 1"}, {opening, debit, "~torn 0"}, {"~torn 1",
			"wpm-ledger-1 2~torn 1/7", opening},
		{opening, "\x00\xff\r \t~torn 0"}, {opening, "debit 1~torn 1"}, {opening, debit + "~torn 7/3"}, {opening,
			"~torn 0.50"}, {opening, "~torn 4/6"},
		{"wpm-ledger-1 0"}, {"wpm-ledger-1 007.50"}, {"wpm-ledger-1 12/8"}, {"wpm-ledger-1 " + strings.Repeat("9", 256)},
		{"wpm-ledger-1 1/" + strings.Repeat("3", 254)},
		{opening, "debit 0 " + id + " e"}, {opening, "debit 2/4 " + id + " e"}, {opening, "debit 00.10 " + id + " e"},
		{opening, "debit 9 " + id + " e"},
		{opening, "debit 1 " + id + " " + strings.Repeat("x", 64)}, {opening, "debit 1 " + id + " A.z_0:9-"},
		{opening, debit, "report " + "77706d31" + id + "ffff0f00 e"}, {opening, debit,
			"report " + "77706d31" + id + "00000000 e"},
		{opening, debit, "report " + "00000000" + id + strings.Repeat("00", 220) + " e"}, {opening, debit,
			"report 78797a31" + id + "ff e"},
		{opening, debit, paid, "debit 1/7 " + id + " f"}, {opening, debit, "debit 1 " + id + " f",
			"report " + report + " f"},
	} {
		add(text(body...), "", nil)
		add(text(body...), "3/2", []step{pay}, "repeat")
	}
	for _, body := range [][]string{
		{"wpm-ledger-1"}, {"wpm-ledger-1 "}, {"wpm-ledger-1  1"}, {"wpm-ledger-1 1 "}, {"wpm-ledger-1 1 2"},
		{"wpm-ledger-2 1"}, {"Wpm-ledger-1 1"}, {" wpm-ledger-1 1"},
		{"wpm-ledger-1 -1"}, {"wpm-ledger-1 +1"}, {"wpm-ledger-1 1."}, {"wpm-ledger-1 .5"}, {"wpm-ledger-1 1/0"},
		{"wpm-ledger-1 1/00"}, {"wpm-ledger-1 1e2"},
		{"wpm-ledger-1 1/2/3"}, {"wpm-ledger-1 1.5/2"}, {"wpm-ledger-1 1/2.5"}, {"wpm-ledger-1 inf"},
		{"wpm-ledger-1 0x10"}, {"wpm-ledger-1 1_0"}, {"wpm-ledger-1 \u0661"},
		{"wpm-ledger-1 " + strings.Repeat("9", 257)}, {"wpm-ledger-1 /2"}, {"wpm-ledger-1 1/"}, {"wpm-ledger-1 1\r"}, {""},
		{"x"}, {debit}, {debit, opening}, {paid},
		{opening, opening}, {opening, debit, opening}, {opening, paid}, {opening, debit, paid, paid}, {opening, debit,
			"~torn 0", paid}, {opening, debit, opening, paid},
		{opening, "debit 1 " + id + " f", paid}, {opening, debit, "debit 1 " + strings.Repeat("0b", 32) + " e", paid},
		{opening, debit, "report " + report + " f"},
		{opening, "debit 1 " + id + " e", "report 77706331" + strings.Repeat("0b", 32) + "00 e"}, {opening, ""}, {opening,
			" "}, {opening, "x"}, {opening, "debit"},
		{opening, "debit 1 " + id}, {opening, "debit 1 " + id + " "}, {opening, "debit 1 " + id + " e "}, {opening,
			"debit 1 " + id + " e f"}, {opening, "debit  1 " + id + " e"},
		{opening, "Debit 1 " + id + " e"}, {opening, "debit -1 " + id + " e"}, {opening, "debit 1/0 " + id + " e"},
		{opening, "debit 1e0 " + id + " e"},
		{opening, "debit . " + id + " e"}, {opening, "debit 1 " + strings.ToUpper(id) + " e"}, {opening,
			"debit 1 " + id[2:] + " e"}, {opening, "debit 1 " + id + "00 e"},
		{opening, "debit 1 " + id + " " + strings.Repeat("x", 65)}, {opening, "debit 1 " + id + " \u00e9"}, {opening,
			"debit 1 " + id + " a/b"}, {opening, "debit 1 " + id + " a,b"},
		{opening, "debit " + strings.Repeat("1", 257) + " " + id + " e"}, {opening, debit + "\r"}, {opening, debit,
			"report " + strings.ToUpper(report) + " e"},
		{opening, debit, "report 77706331" + id + " e"}, {opening, debit, "report " + report + "0 e"}, {opening, debit,
			"report 77706331" + id + strings.Repeat("00", 221) + " e"},
		{opening, debit, "report 77706d31" + id + "00001000 e"}, {opening, debit, "report 77706d31" + id + "0000000001 e"},
		{opening, debit, "report 77706d31" + id + "000000 e"},
		{opening, debit, "report 77706d31" + id + "00000001 e"}, {opening, debit, "report " + report}, {opening, debit,
			"report " + report + " e f"}, {opening, debit, "report  e"},
		{opening, debit, " " + paid}, {opening, debit, "Report " + report + " e"}, {opening, "~torn "}, {opening,
			"~torn x"}, {opening, "~torn 1/0"}, {opening, "~torn 1~torn "},
		{opening, "~torn 1 "}, {opening, "~torn -1"}, {opening, "~torn 1."}, {opening, "~torn"}, {opening, "~torn  1"},
		{opening, "~Torn 1"},
		{opening, "debit 1 " + strings.Repeat("00", 32) + " e", "report 77706d31" + strings.Repeat("00", 36) + " e"},
	} {
		add(text(body...), "", nil)
	}
	for _, body := range [][]string{{opening, debit, opening}, {opening, paid}, {opening, "~torn x"},
		{debit}} { // after a good one, and before a step
		add(text(body...)+"debit 1/9 ", "3/2", []step{pay}, "torn")
	}
	good := text(opening, debit, paid, "debit 1/3 "+id+" f")
	for n := range 40 { // one bit is another
		b := []byte(good)
		at := n * len(b) / 40
		b[at] ^= 1 << (n % 7)
		if b[at] != good[at] && (n%2 == 0 || b[at] != '\n') {
			add(string(b), "", nil, "one-unit-out")
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(good, "\n"), "\n")
	add(lines[0]+lines[2]+lines[1]+lines[3]+"\n", "", nil, "wrong-order")
	add(lines[0]+lines[1]+lines[3]+"\n", "", nil, "short")
	add(lines[1]+lines[2], "1", nil, "short")
	add(lines[0]+lines[0], "", nil)
	add(lines[0]+"\n"+lines[1], "", nil)
	add("\n"+good, "", nil)
	add("\xef\xbb\xbf"+good, "", nil)
	add(strings.ReplaceAll(good, "\n", "\r\n"), "", nil)
	add(strings.ToUpper(lines[0]), "", nil)
	add(lines[0][:len(lines[0])-2]+"\n", "", nil, "short")
	add(strings.Replace(lines[0], " ", "  ", 1), "", nil)

	// Torn ends: every length of a line, and what a charge is.
	opened := text(opening)
	whole := strings.TrimPrefix(text(opening, "debit 1/4 "+id+" f"), opened)
	other := step{Policy: strings.Repeat("0c", 32), Eps: "0.5", Epoch: "e", Report: "77706331" + strings.Repeat("0c",
		32) + "01"}
	for _, n := range []int{1, 5, 6, 7, 8, 9, 10, 11, 40, 74, 75, 76, 77, 100, len(whole) - 1} {
		add(opened+whole[:n], "", nil, "torn")
		add(opened+whole[:n], "1.5", []step{other, other}, "torn", "repeat")
	}
	fresh := text("wpm-ledger-1 1")
	for n := 0; n < len(fresh); n += 3 {
		if n < 30 || n%4 == 0 {
			add(fresh[:n], "1", nil, "torn")
		}
	}
	add(fresh[:20], "2", []step{pay}, "torn")
	add(fresh[:20], "", nil, "torn")
	for _, rest := range []string{
		"x", "debit", "debit ", "debit 1/7", "debit 1/7 ", "debit 1/7 ab", "debit  1 ab", "debit 1/0 ab", "debit 1. ab",
		"debit -1 ab", "debit 2/4 ab", "debit 0.10 ab",
		"debit 9 ab", "Debit 1 ab", "debit\t1 ab", " debit 1 ab", "report 00", "~torn 3 ", "~torn 3",
		"debit 1/3 a~torn 1/3 0", "debit 1/3 a~torn 9", "\xff", "\x00", "\r",
		"debit " + strings.Repeat("1", 256) + " ab", "debit " + strings.Repeat("1", 257) + " ab",
		"debit " + strings.Repeat("0", 255) + "1 ab", "wpm-ledger-1 9", "debit 1/4 ~",
		"debit 1/7 ab~torn 0 ", "debit 1 ab~", "debit 1 ab~torn 1/2 " + strings.Repeat("0", 63),
	} {
		add(opened+rest, "3/2", nil, "torn")
		add(opened+rest, "", []step{other}, "torn")
		at := hex.EncodeToString([]byte(rest))
		add(opened, "", []step{other, {Torn: &at}, pay, other}, "torn", "repeat")
		add(rest, "1", nil, "torn") // before any opening
	}
	for _, rest := range []string{"w", "wpm-ledger-1", "wpm-ledger-1 ", "wpm-ledger-1 9", "wpm-ledger-1 9 xyz", "w~",
		"wpm-ledger-1~torn", "wpm-ledger-1 9~tor", "wpm-ledger-12", "~", "W"} {
		add(rest, "1", []step{pay}, "torn")
		add(text("x~torn 1/3")+rest, "2", []step{pay}, "torn")
	}
	add("wpm-ledger-1 9 xyz", "", nil, "torn")

	// Budgets.
	for _, budget := range []string{
		"1.5", "3/2", "6/4", "001.50", "15/10", "1.50000000000000000000000000000000000000001", "2", "1", "0", "0.0", "0/5",
		"-1", "+1", " 1", "1 ", "1e0", "1.", ".5", "1/0", "inf",
		"1,5", "1/2/3", "1.5/1", strings.Repeat("0", 97) + "3/2", strings.Repeat("0", 98) + "3/2", "\u0661",
	} {
		add(opened, budget, nil)
		add("", budget, nil)
		add(opened, budget, []step{{Policy: id, Eps: "1/2", Epoch: "e", Report: report}})
	}
	add("", "", nil)
	add("", "1/3", []step{{Policy: id, Eps: "1/3", Epoch: "e", Report: report}, {Policy: id, Eps: "1/3", Epoch: "f",
		Report: report}})
	add("", strings.Repeat("9", 100), []step{pay})

	// Steps: spellings of epsilon, limits, reports, repeats.
	big5 := text("wpm-ledger-1 100")
	for _, eps := range []string{"1", "1.0", "1e0", "10e-1", "2/2", "0.1", "1e-18", "1/3", "2/6", "64", "0.50",
		"1.25e1", "340282366920938463463374607431768211456/340282366920938463463374607431768211455",
		"0", "65", "1e-19", "-1", "+1", ".5", "5.", "01", "", "1/0", "1e1000",
		"340282366920938463463374607431768211457/340282366920938463463374607431768211456", " 1", "half"} {
		if eps != "" {
			add(big5, "", []step{{Policy: id, Eps: eps, Epoch: "e", Report: report}})
			add(big5, "", []step{{Policy: id, Eps: "1/2", Epoch: "e", Report: report, MaxEpsilon: eps}})
		}
	}
	for _, s := range []step{
		{Policy: id, Eps: "2", Epoch: "e", Report: report, MaxEpsilon: "2"}, {Policy: id, Eps: "2", Epoch: "e",
			Report: report, MaxEpsilon: "1.999999999999999999"},
		{Policy: id, Eps: "1/3", Epoch: "e", Report: report, MaxEpsilon: "0.333333333333333333"}, {Policy: id, Eps: "3",
			Epoch: "e", Report: report, MaxEpsilon: "2"},
		{Policy: id, Eps: "1.000000000000000001", Epoch: "e", Report: report}, {Policy: id, Eps: "0.999999999999999999",
			Epoch: "e", Report: report},
	} {
		add(text("wpm-ledger-1 2", "debit 1 "+id+" f"), "", []step{s, {Policy: id, Eps: "1", Epoch: "e", Report: report}})
	}
	for _, epoch := range []string{"e", "2026-11", strings.Repeat("x", 64), strings.Repeat("x", 65), "e e", "\u00e9",
		"a/b", "a\n", "E", ".", "~"} {
		add(big5, "", []step{pay, {Policy: id, Eps: "1", Epoch: epoch, Report: report}}, "repeat")
	}
	for _, p := range []string{strings.ToUpper(id), id[2:], id + "00", strings.Repeat("g", 64), strings.Repeat("0",
		64)} {
		add(big5, "", []step{{Policy: p, Eps: "1", Epoch: "e", Report: report}})
	}
	zero := strings.Repeat("00", 32)
	for _, b := range []string{
		report, "77706331" + id + strings.Repeat("ab", 220), "77706331" + id + strings.Repeat("ab", 221), "77706331" + id,
		"7770", "00", "77706331" + zero + "00", "61626364" + id + "00",
		"77706d31" + id + "01000000", "77706d31" + id + "ffff0f00", "77706d31" + id + "00001000",
		"77706d31" + id + "00000001", "77706d31" + id + "000000", "77706d31" + id + "0000000000",
		"77706d31" + id + "0100000000000000", "77706d31" + zero + "00000000",
	} {
		again := step{Policy: id, Eps: "1", Epoch: "e", Report: report}
		add(big5, "", []step{{Policy: id, Eps: "1", Epoch: "e", Report: b}, again, again}, "repeat")
	}
	add(big5, "", []step{{Policy: zero, Eps: "1", Epoch: "e", Report: "77706d31" + zero + "00000000"}, {Policy: zero,
		Eps: "1", Epoch: "e", Report: "77706d31" + zero + "01000000"}})

	// Sequences.
	for n := range 90 {
		budget := values.Pick(r, "1", "3/2", "2.5", "7/3", "10")
		start := text("wpm-ledger-1 " + budget)
		if n%3 == 0 {
			start = ""
		}
		var steps []step
		for range r.Between(2, 5) {
			p := strings.Repeat(values.Pick(r, "0a", "0b"), 32)
			steps = append(steps, step{Policy: p, Eps: values.Pick(r, "1/3", "0.5", "1", "1/7", "0.1", "2/3"),
				Epoch: values.Pick(r, "e", "f", "g"),
				Report: values.Pick(r, "77706d31"+p+fmt.Sprintf("%02x000000", r.Intn(9)), "77706331"+p+fmt.Sprintf("%02x",
					r.Intn(256)), "77706331"+p)})
			if r.Chance(35) {
				rest := hex.EncodeToString([]byte(values.Pick(r, "x", "debit 1/9 ab", "debit 1/11", "report 7770",
					"debit 0.20 "+p+" e ab", "~torn 1 ", "debit "+big.NewRat(int64(r.Intn(9)), 13).RatString()+" ")))
				steps = append(steps, step{Torn: &rest})
			}
		}
		flags := []string{"repeat"}
		add(start, budget, steps, flags...)
	}
	locks(s)
}
