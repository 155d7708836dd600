package ledger

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// A spentOut is what comes of books: what is appended to the text, and the sums at the end.
type spentOut struct {
	Appended  string   `json:"appended"`
	Budget    string   `json:"budget"`
	Spent     string   `json:"spent"`
	Remaining string   `json:"remaining"`
	Verdicts  []string `json:"verdicts"`
}

// anyOut is what may come of books that draw a slot: one for each.
type anyOut struct {
	Any []spentOut `json:"any"`
}

type epochIn struct {
	Op   string `json:"op"`
	Form string `json:"form"`
	Name string `json:"name"`
}

type epochOut struct {
	Number int `json:"number"`
}

// adder adds cases of one ledger.
type adder struct{ s *cases.Set }

// books adds a text and what is paid from it: with all answers that there may be, if a slot is drawn.
func (a adder) books(text string, steps []step, flags ...string) {
	in := booksIn{Op: "books", Text: hex.EncodeToString([]byte(text)), Steps: append([]step{}, steps...)}
	period := 1
	var all []spentOut
	reason := ""
	for slot := 0; slot < period; slot++ {
		var out booksOut
		out, reason = books(in, func(t int) int { period = t; return slot })
		if reason != "" {
			break
		}
		all = append(all, spentOut{strings.TrimPrefix(out.Text, in.Text), out.Budget, out.Spent, out.Remaining, out.Verdicts})
	}
	if len(all) == 1 {
		a.s.Add(reason, in, all[0], flags...)
		return
	}
	a.s.Add(reason, in, anyOut{all}, flags...)
}

// A plan is a schedule, a policy that has it, and what it costs.
type plan struct {
	form        string
	period      int
	first, last string
	policy, eps string
}

// in is the step of a plan in an epoch, when the clock is just there.
func (p plan) in(epoch string) step {
	s := p.at(epoch, 0)
	if _, ok := numberOf(p.form, epoch); ok {
		*s.Clock = startOf(p.form, epoch)
	}
	return s
}

// at is the step of a plan in an epoch by a clock.
func (p plan) at(epoch string, clock int64) step {
	id := strings.Repeat(p.policy, 32)
	w := &schedule{Epochs: p.form, Period: p.period}
	if p.first != "" {
		w.First = &p.first
	}
	if p.last != "" {
		w.Last = &p.last
	}
	return step{Policy: id, Eps: p.eps, Epoch: epoch, Report: "77706331" + id + "00", Schedule: w, Clock: &clock}
}

// by is a step by who names the key of a signer, with its signature.
func (s step) by(w signer) step {
	s.Key, s.Signature = w.key, w.of(s.Policy)
	return s
}

// without is a step of the same policy without a schedule.
func (s step) without() step {
	s.Schedule, s.Clock = nil, nil
	return s
}

// Schedule fills in the cases of the kind schedule.
func Schedule(s *cases.Set) {
	a := adder{s}
	names(s)
	signatures(s)
	a.texts()
	a.turns()
	a.refusals()
	a.windows()
	a.fresh()
	a.keys()
	a.random()
}

// names adds names of epochs, and what is none.
func names(s *cases.Set) {
	add := func(form, name string, flags ...string) {
		n, ok := numberOf(form, name)
		reason := ""
		if !ok {
			reason = "name"
		}
		s.Add(reason, epochIn{"epoch", form, name}, epochOut{n}, flags...)
	}
	for _, name := range strings.Fields(`
		2000 2001 2024 2026 2100 9998 9999 1999 1970 0000 10000 200 02026 2026-01 2026W01 26 2o26
		2000-01 2000-12 2026-01 2026-02 2026-11 2026-12 2027-01 9999-12 1999-12 2026-00 2026-13 2026-1 2026-001 202601
		2026/01 2026-1x 2026-o1 10000-01
		2000-W01 2004-W53 2009-W53 2015-W53 2020-W53 2026-W53 2024-W01 2025-W01 2026-W01 2026-W02 2026-W52 2027-W01 2021-W01
		2000-W52 9999-W01 9999-W52 1999-W52 2000-W53 2021-W53 2024-W53 2025-W53 2027-W53 9999-W53 2026-W00 2026-W54 2026-W1
		2026-w01 2026W01 2026-01W 2026-W001 2026-Wo1 2026-W-1
		2000-01-01 2000-02-29 2000-12-31 2024-02-29 2026-01-05 2026-01-31 2026-02-28 2026-03-01 2400-02-29 9996-02-29 9999-12-31
		2026-04-30 2026-02-29 2100-02-29 2200-02-29 2023-02-29 2026-02-30 2026-04-31 2026-06-31 2026-09-31 2026-11-31 2026-01-00
		2026-01-32 2026-00-01 2026-13-01 2026-1-05 2026-01-5 20260105 2026-01-05T00 1999-12-31 2026-001 2026-W01-1 10000-01-01`) {
		for _, form := range []string{"year", "month", "week", "day"} {
			if n := len(name); n <= 5 || form != "year" { // of other forms, some are enough
				add(form, name)
			}
		}
	}
	for _, c := range [][2]string{{"year", " 2026"}, {"year", "2026 "}, {"year", "+2026"}, {"year", "-2026"}, {"year", ""},
		{"year", "2026\n"}, {"year", "2e03"}, {"year", "0x7e"}, {"year", "\u0662\u0660\u0662\u0666"}, {"month", "2026-\u0660\u0661"},
		{"month", "2026 01"}, {"month", " 2026-01"}, {"month", "2026-01 "}, {"month", "2026-+1"}, {"month", "2026- 1"},
		{"month", "2026\u201301"}, {"week", "2026-W 1"}, {"week", "2026-W01 "}, {"week", "2026-W\uff10\uff11"},
		{"week", "2026-W+1"}, {"day", "2026-01-0\u0665"}, {"day", "2026-01- 5"}, {"day", "2026-01-05\n"}, {"day", "2026-01-05\x00"},
		{"hour", "2026"}, {"Year", "2026"}, {"", "2026"}, {"quarter", "2026-01"}, {"months", "2026-01"}, {"", ""},
		{"constructor", "2026"}} {
		add(c[0], c[1], "spelling")
	}
	for _, form := range []string{"year", "month", "week", "day"} { // one that follows another has the next number
		for range 12 {
			at, _ := numberOf(form, values.Pick(&s.RNG, map[string][]string{"year": {"2000", "9000"}, "month": {"2000-01", "9000-12"},
				"week": {"2000-W01", "2025-W50"}, "day": {"2000-01-01", "9000-02-27"}}[form]...))
			at += s.RNG.Intn(900)
			add(form, nameOf(form, at))
			add(form, nameOf(form, at+1))
		}
	}
}

const (
	openingOf1 = "wpm-ledger-1 1"
	opening5   = "wpm-ledger-1 5"
)

// line is a debit or turn of a policy.
func line(word, eps, policy, epoch string) string {
	return word + " " + eps + " " + strings.Repeat(policy, 32) + " " + epoch
}

// paid is the report of a policy.
func paid(policy, epoch string) string {
	return "report 77706331" + strings.Repeat(policy, 32) + "00 " + epoch
}

// texts adds texts with keys, slots and turns, and what is no such text.
func (a adder) texts() {
	key, other := "key "+signers[0].key, "key "+signers[1].key
	const slot = "slot month 3 1" // 2026-01 is of it
	turn, next := line("turn", "1", "0a", "2026-01"), line("turn", "1/2", "0a", "2026-04")
	for _, body := range [][]string{
		{key}, {other}, {slot}, {key, slot}, {slot, key}, {slot, turn}, {slot, turn, paid("0a", "2026-01")}, {slot, key, turn},
		{slot, turn, turn}, {slot, turn, next}, {slot, turn, turn, next, paid("0a", "2026-04")}, {slot, turn, key},
		{slot, turn, paid("0a", "2026-01"), line("turn", "1", "0b", "2026-01"), paid("0b", "2026-01")},
		{slot, line("turn", "0", "0a", "2026-01")}, {slot, line("turn", "2/4", "0a", "2026-01")}, {slot, line("turn", "9", "0a", "2026-01")},
		{slot, line("turn", "00.50", "0a", "2029-10")}, {slot, line("turn", "1", "0a", "9999-10")},
		{slot, turn, line("debit", "1", "0a", "2026-01")}, {slot, turn, line("debit", "1", "0a", "2025-01")},
		{slot, next, line("debit", "1", "0a", "2026-03"), next}, {line("debit", "1", "0a", "2026-09"), slot, turn},
		{line("debit", "1", "0a", "e"), slot}, {slot, line("debit", "1", "0a", "e"), turn},
		{slot + "~torn 0"}, {"slot month 3 2~torn 0", slot, turn}, {key + "~torn 0", other}, {slot, turn + "~torn 1"},
		{slot, next, turn + "~torn 1"}, {turn + "~torn 1", slot}, {"turn 1/3 0a~torn 1/3"}, {slot, slot + "~torn 0"}, {key, key + "~torn 0"},
		{"slot year 2 0"}, {"slot year 2 1"}, {"slot week 10000 9999"}, {"slot week 10000 0"}, {"slot day 365 364"}, {"slot day 7 0"},
		{"slot year 3 1", line("turn", "1", "0a", "2026")}, {"slot week 13 9", line("turn", "1", "0a", "2026-W01")},
		{"slot day 30 24", line("turn", "1", "0a", "2026-01-05")}, {"slot year 10000 2026", line("turn", "1", "0a", "2026")},
		{"slot week 10 0", line("turn", "1", "0a", "2020-W53")}, {"slot day 2 0", line("turn", "1", "0a", "2024-02-29")},
	} {
		values.Must(func() bool { _, ok := read(text(append([]string{opening5}, body...)...)); return ok }(), fmt.Sprint(body))
		a.books(text(append([]string{opening5}, body...)...), nil)
	}
	bad := [][]string{
		{key, key}, {key, other}, {slot, slot}, {slot, "slot month 3 2"}, {slot, "slot year 2 1"}, {slot, turn, slot}, {key, slot, turn, key},
		{turn}, {turn, slot}, {slot + "~torn 0", turn}, {line("turn", "0", "0a", "2026-01"), slot},
		{slot, next, turn}, {slot, next, line("turn", "1", "0b", "2026-01")}, {slot, turn, paid("0a", "2026-04")},
		{slot, turn, paid("0b", "2026-01")}, {slot, turn, key, paid("0a", "2026-01")}, {line("debit", "1", "0a", "2026-01"), slot, paid("0a", "2026-01")},
		{slot, turn, paid("0a", "2026-01"), paid("0a", "2026-01")}, {slot, turn, "~torn 0", paid("0a", "2026-01")},
		{slot, turn, openingOf1},
	}
	for _, k := range []string{"", " ", " " + signers[0].key[:62], " " + signers[0].key + "00", " " + strings.ToUpper(signers[0].key),
		" " + signers[0].key[1:], " " + signers[0].key + " ", " " + signers[0].key + " x", "  " + signers[0].key,
		" " + strings.Repeat("g", 64), " " + signers[0].key[:63] + "\xe9"} {
		bad = append(bad, []string{"key" + k})
	}
	bad = append(bad, []string{"Key " + signers[0].key}, []string{"keys " + signers[0].key}, []string{" " + key})
	for _, w := range []string{"", " ", " month", " month 3", " month 3 ", " month 3 3", " month 3 4", " month 3 10", " month 1 0", " month 0 0",
		" month 10001 1", " month 03 1", " month 3 01", " month 3 00", " month +3 1", " month 3 +1", " month -3 1", " month 3 -1", " month 3 -0",
		" month 3.0 1", " month 3 1.0", " month 3e0 1", " month 0x3 1", " month 18446744073709551619 1", " month 3 18446744073709551617",
		" month 4294967299 1", " month 3 4294967297", " month 100000 1", " month 3 1 ", " month 3 1 1", "  month 3 1", " month  3 1",
		" month 3  1", " month \u0663 1", " Month 3 1", " months 3 1", " hour 3 1", "  3 1", " 3 1", " quarter 4 1", " month 3 1\r",
		" month 3/1 1", " constructor 3 1"} {
		bad = append(bad, []string{"slot" + w})
	}
	bad = append(bad, []string{"Slot month 3 1"}, []string{" " + slot})
	for _, epoch := range []string{"2026-02", "2026-03", "2025-12", "2026", "2026-W01", "2026-01-05", "e", "2026-1", "2026-13", "2026-00",
		"1999-10", "0001-01", "2026-01 ", "2026-01x", "", "10000-01"} {
		bad = append(bad, []string{slot, line("turn", "1", "0a", epoch)})
	}
	for _, t := range []string{"turn", "turn ", "turn 1", turn + " x", strings.Replace(turn, " ", "  ", 1), "Turn" + turn[4:],
		strings.ReplaceAll(turn, "0a", "0A"), strings.Replace(turn, "0a", "", 1), strings.Replace(turn, " 1 ", " 1/0 ", 1),
		strings.Replace(turn, " 1 ", " -1 ", 1), strings.Replace(turn, " 1 ", " 1. ", 1), strings.Replace(turn, " 1 ", " 1e0 ", 1)} {
		bad = append(bad, []string{slot, t})
	}
	bad = append(bad, []string{"slot week 13 9", line("turn", "1", "0a", "2026-w01")},
		[]string{"slot week 53 16", line("turn", "1", "0a", "2021-W53")}, []string{"slot day 2 1", line("turn", "1", "0a", "2026-02-29")})
	for _, body := range bad {
		_, ok := read(text(append([]string{opening5}, body...)...))
		values.Must(!ok, fmt.Sprint(body))
		a.books(text(append([]string{opening5}, body...)...), nil)
	}
	a.books(text(key, opening5), nil, "wrong-order")
	a.books(text(slot, opening5), nil, "wrong-order")
	for _, rest := range []string{"turn", "turn ", "turn 1/7", "turn 1/7 ", "turn 1/7 ab", "turn 1/0 ab", "turn  1 ab", "Turn 1 ab",
		"turn\t1 ab", turn, turn + " 00", "slot month 3", slot, slot + " 00", "key", key, "turns 1 ab"} {
		next := plan{"month", 3, "", "", "0b", "1"}.in("2026-04")
		a.books(text(opening5, "slot month 3 1")+rest, []step{next}, "torn")
	}
}

// turns adds what is paid in some epochs in a row: in those of the slot a turn, in the others nothing.
func (a adder) turns() {
	for _, c := range []struct {
		form, from string
		periods    []int
	}{{"year", "2025", []int{2, 3, 7}}, {"month", "2025-11", []int{2, 3, 12}}, {"week", "2025-W51", []int{2, 3, 13}},
		{"day", "2026-02-27", []int{2, 3, 30}}} {
		n, _ := numberOf(c.form, c.from)
		for _, period := range c.periods {
			for _, s := range []int{n % period, (n + 1) % period, (n + period - 1) % period} {
				start := text(openingOf1, fmt.Sprintf("slot %s %d %d", c.form, period, s))
				p := plan{form: c.form, period: period, first: c.from, policy: "0a", eps: "1"}
				if s == (n+1)%period { // whose period would begin elsewhere
					p.first = ""
				}
				var steps []step
				for k := range 4 {
					steps = append(steps, p.in(nameOf(c.form, n+k)))
				}
				a.books(start, steps, "slot")
			}
		}
	}
	month := text(openingOf1, "slot month 3 1")
	p := plan{form: "month", period: 3, policy: "0a", eps: "1"}
	a.books(month, []step{p.in("2026-01"), p.in("2026-01"), p.in("2026-02"), p.in("2026-01")}, "slot", "repeat")
	a.books(month, []step{p.in("2025-12"), p.in("2026-02"), p.in("2025-12")}, "slot") // silence leaves no epoch
	bad := p.in("2026-01")
	bad.Report = "77706331"
	a.books(month, []step{bad, bad, p.in("2026-04")}, "slot") // a turn without a report stands
	for _, period := range []int{2, 5000, 10000} {
		p.period = period
		a.books(text(openingOf1, fmt.Sprintf("slot month %d 0", period)), []step{p.in("2026-01"), p.in("2026-02")}, "slot")
	}
}

// refusals adds steps that a schedule, the clock, or an epoch before forbids, and those beside them.
func (a adder) refusals() {
	for _, period := range []int{0, 2} {
		for _, c := range []struct{ form, before, first, last, after, other string }{
			{"year", "2023", "2024", "2026", "2027", "2024-01"}, {"month", "2025-11", "2025-12", "2026-02", "2026-03", "2026"},
			{"week", "2020-W52", "2020-W53", "2021-W02", "2021-W03", "2021-01"},
			{"day", "2024-02-27", "2024-02-28", "2024-03-01", "2024-03-02", "2024-W09"},
		} {
			n, _ := numberOf(c.form, c.first)
			start := text(opening5, fmt.Sprintf("slot %s 2 %d", c.form, n%2))
			if period == 0 {
				start = text(opening5)
			}
			p := plan{c.form, period, c.first, c.last, "0a", "1"}
			late := startOf(c.form, c.after)
			for _, epoch := range []string{c.before, c.first, c.last, c.after, c.other, "e", c.first + "0"} {
				a.books(start, []step{p.at(epoch, late)}, "schedule")
			}
			for _, clock := range []int64{startOf(c.form, c.first) - 1, startOf(c.form, c.first), late} { // to the millisecond
				a.books(start, []step{p.at(c.first, clock)}, "clock")
			}
			a.books(start, []step{p.at(c.last, late), p.at(c.first, late), p.at(c.last, 0), p.at(c.last, late)}, "schedule", "repeat")
		}
	}
	month := text(opening5)
	p := plan{"month", 0, "", "", "0a", "1"}
	y10k := startOf("day", "9999-12-31") + dayMillis
	for _, clock := range []int64{-1, 0, startOf("month", "2000-01") - 1, startOf("month", "2000-01"), startOf("month", "2000-02"), y10k - 1,
		y10k, y10k + 400*dayMillis} {
		a.books(month, []step{p.at("2000-01", clock)}, "clock")
	}
	p.form = "week"
	for _, clock := range []int64{startOf("week", "2021-W01") - 1, startOf("week", "2021-W01"), startOf("day", "2020-12-31"), startOf("day", "2021-01-03"),
		startOf("day", "2000-01-02"), y10k + 9*dayMillis} {
		a.books(month, []step{p.at("2020-W53", clock), p.at("2021-W01", clock)}, "clock")
	}
	// The order of epochs: of whom and how they were paid does not matter, but their form does.
	for _, before := range [][]string{
		{line("debit", "1", "0b", "2026-05")}, {line("debit", "0", "0b", "2026-05")}, {line("debit", "1", "0b", "2026-04")},
		{line("debit", "1", "0b", "2026-03")}, {line("debit", "1", "0b", "2027")}, {line("debit", "1", "0b", "2026-W20")},
		{line("debit", "1", "0b", "2026-05-01")}, {line("debit", "1", "0b", "e")}, {line("debit", "1", "0b", "2026-13")},
		{line("debit", "1", "0b", "2026-05"), line("debit", "1", "0b", "2026-01")}, {line("debit", "1", "0b", "2026-05") + "~torn 1"},
		{"slot month 2 1", line("turn", "1", "0b", "2026-05")}, {"slot month 2 1", line("turn", "1", "0b", "2026-03")},
		{"slot year 2 0", line("turn", "1", "0b", "2026")}, {"slot month 2 1", line("turn", "1", "0b", "2026-05") + "~torn 1"},
	} {
		p := plan{"month", 0, "", "", "0a", "1"}
		a.books(text(append([]string{opening5}, before...)...), []step{p.at("2026-04", startOf("month", "2026-06"))}, "schedule")
	}
	for _, c := range [][2]string{{"year", "2026"}, {"week", "2026-W20"}, {"day", "2026-05-01"}} {
		before := line("debit", "1", "0b", "2026-06")
		a.books(text(opening5, before), []step{plan{c[0], 0, "", "", "0a", "1"}.in(c[1])}, "schedule")
	}
	free := p.in("2021-W05").without()
	a.books(text(opening5), []step{free, p.at("2021-W04", free0), p.at("2021-W05", free0), p.at("2021-W06", free0)}, "schedule", "repeat")
	free.Epoch = "2021-W01" // without a schedule there is no order
	a.books(text(opening5), []step{p.at("2021-W04", free0), free}, "schedule")
	// Another form or period than those of the slot; and before that, what no window has room for.
	for _, c := range []plan{{"month", 3, "", "", "0a", "1"}, {"month", 2, "", "", "0a", "1"}, {"month", 6, "", "", "0a", "1"},
		{"year", 3, "", "", "0a", "1"}, {"week", 3, "", "", "0a", "1"}, {"day", 3, "", "", "0a", "1"}, {"month", 2, "", "", "0a", "6"},
		{"year", 3, "", "", "0a", "5.000000000000000001"}} {
		epoch := map[string]string{"month": "2026-01", "year": "2026", "week": "2026-W01", "day": "2026-01-01"}[c.form]
		a.books(text(opening5, "slot month 3 1"), []step{c.in(epoch)}, "schedule")
	}
	limited := plan{"month", 3, "", "", "0a", "2"}.in("2026-01")
	limited.MaxEpsilon = "1"
	a.books(text(opening5, "slot month 3 1"), []step{limited}, "schedule")
}

// free0 is a clock that is after all weeks of the cases that use it.
var free0 = startOf("week", "2021-W10")

// windows adds budgets of windows.
func (a adder) windows() {
	slot, start := "slot month 3 1", "wpm-ledger-1 3/2"
	p := func(policy, eps string) plan { return plan{"month", 3, "", "", policy, eps} }
	each := func(policy, eps string) plan { return plan{"month", 0, "", "", policy, eps} }
	for _, c := range []struct {
		body  []string
		steps []step
	}{
		{[]string{slot}, []step{p("0a", "1").in("2026-01"), p("0a", "1").in("2026-04"), p("0a", "3/2").in("2026-07")}},
		{[]string{slot}, []step{p("0a", "1").in("2026-01"), p("0b", "1").in("2026-01"), p("0b", "1").in("2026-04")}},
		{[]string{slot}, []step{p("0a", "1").in("2026-01"), p("0b", "1/2").in("2026-01"), p("0c", "1e-18").in("2026-01")}},
		{[]string{slot}, []step{p("0a", "1").in("2026-01"), p("0b", "0.500000000000000001").in("2026-01"), p("0b", "1/3").in("2026-01")}},
		{[]string{slot}, []step{p("0a", "1.500000000000000001").in("2026-01"), p("0b", "1.5").in("2026-01")}},
		{[]string{slot}, []step{p("0a", "1.500000000000000001").in("2026-02"), p("0b", "1.5").in("2026-02")}}, // no silence
		{[]string{slot, line("turn", "3/2", "0a", "2026-01")}, []step{p("0b", "1").in("2026-04"), p("0c", "1/2").in("2026-04")}},
		{[]string{slot, line("turn", "3/2", "0a", "2026-01")}, []step{p("0b", "1").in("2026-01"), p("0b", "1/9").in("2026-02")}},
		{[]string{slot, line("turn", "9", "0a", "2026-01")}, []step{p("0b", "1").in("2026-04"), each("0c", "1/9").in("2026-04")}},
		// Debits count in every window: also those of other policies, before the slot, and of any epoch.
		{[]string{line("debit", "1", "0a", "e"), slot}, []step{p("0b", "1").in("2026-01"), p("0b", "1/2").in("2026-04"), p("0b", "1/2").in("2026-07")}},
		{[]string{line("debit", "1", "0a", "2020-01"), slot}, []step{p("0b", "2/3").in("2026-02"), p("0b", "1/2").in("2026-02")}},
		{[]string{slot, line("debit", "1", "0a", "2026-01")}, []step{p("0b", "2/3").in("2026-04"), p("0b", "1/2").in("2026-07")}},
		{[]string{slot, line("turn", "1", "0a", "2026-01"), line("debit", "1/3", "0a", "2026-02")}, []step{p("0b", "1/3").in("2026-04"),
			p("0c", "1").in("2026-04"), p("0c", "5/6").in("2026-04")}},
		{[]string{slot, line("turn", "1", "0a", "2026-01") + "~torn 1"}, []step{p("0b", "1").in("2026-04"), p("0b", "1/2").in("2026-07")}},
		{[]string{slot, "debit 1 x~torn 1"}, []step{p("0b", "1").in("2026-04"), p("0b", "1/2").in("2026-07")}},
		// A policy without a period: beside the fullest window.
		{[]string{slot, line("turn", "1", "0a", "2026-01"), line("turn", "1/2", "0a", "2026-04")}, []step{each("0b", "1").in("2026-05"),
			each("0b", "1/2").in("2026-05"), p("0c", "1/2").in("2026-07"), p("0c", "1").in("2026-07")}},
		{[]string{slot, line("turn", "1/2", "0a", "2026-01"), line("turn", "1", "0a", "2026-04")}, []step{each("0b", "1").in("2026-05"),
			each("0b", "1/2").in("2026-05").without(), each("0b", "1e-18").in("2026-06")}},
		{[]string{slot, line("turn", "1/2", "0a", "2026-01"), line("turn", "1/2", "0b", "2026-01"), line("turn", "2/3", "0b", "2026-04")},
			[]step{each("0b", "2/3").in("2026-05"), each("0b", "0.5").in("2026-05")}},
		{[]string{slot, line("turn", "1", "0a", "2026-01")}, []step{each("0b", "1/2").in("2026-01"), each("0c", "1/3").in("2026-02")}},
		{[]string{slot, line("turn", "3/2", "0a", "2026-01")}, []step{each("0b", "1/9").in("2030-01").without()}},
		// Without a slot a ledger has one window.
		{nil, []step{each("0a", "1").in("2026-01"), each("0a", "1").in("2026-02"), each("0a", "1/2").in("2026-02")}},
		{nil, []step{each("0a", "1").in("2026-01"), each("0b", "1").in("2026-01")}},
		// What is at the end, with more than the budget.
		{[]string{slot, line("debit", "2", "0a", "e")}, []step{p("0b", "1").in("2026-04")}},
		{[]string{slot, line("turn", "2", "0a", "2026-01"), line("debit", "1", "0a", "e")}, nil},
	} {
		a.books(text(append([]string{start}, c.body...)...), c.steps, "window")
	}
	for _, rest := range []string{"turn 1 ", "turn 1 0a", "debit 1/2 0a", "turn 1"} {
		at := hex.EncodeToString([]byte(rest))
		a.books(text(start, slot), []step{p("0a", "1").in("2026-01"), {Torn: &at}, p("0b", "1").in("2026-04"), p("0b", "1/2").in("2026-07"),
			{Torn: &at}, p("0b", "1/2").in("2026-10")}, "window", "torn")
	}
}

// fresh adds ledgers that draw their slot, and those that must not yet.
func (a adder) fresh() {
	for _, c := range []struct {
		form, from string
	}{{"year", "2025"}, {"month", "2025-11"}, {"week", "2026-W52"}, {"day", "2024-02-28"}} {
		n, _ := numberOf(c.form, c.from)
		for _, period := range []int{2, 3, 5} {
			p := plan{form: c.form, period: period, policy: "0a", eps: "1"}
			var steps []step
			for k := range min(period+1, 4) {
				steps = append(steps, p.in(nameOf(c.form, n+k)))
			}
			a.books(text(openingOf1), steps, "slot", "drawn-slot")
		}
	}
	p := plan{"month", 3, "2026-01", "2026-06", "0a", "1"}
	torn := hex.EncodeToString([]byte("slot month 3 1"))
	whole := hex.EncodeToString([]byte(strings.TrimSuffix(text(openingOf1, "slot month 3 1"), "\n")[len(text(openingOf1)):]))
	late := startOf("month", "2027-01")
	debit := line("debit", "1/2", "0b", "e")
	six := p
	six.eps = "2"
	bad := p.in("2026-01")
	bad.MaxEpsilon = "1/2"
	for _, c := range []struct {
		text  string
		steps []step
	}{
		{text(openingOf1) + "slot month 3 1", []step{p.in("2026-01"), p.in("2026-02")}},
		{text(openingOf1, "slot month 3 1~torn 0"), []step{p.in("2026-01")}},
		{text(openingOf1), []step{{Torn: &torn}, p.in("2026-01"), p.in("2026-04")}},
		{text(openingOf1), []step{{Torn: &whole}, p.in("2026-01"), p.in("2026-02")}},
		{text(openingOf1), []step{p.at("2025-12", late), p.in("2026-01")}},                          // before first
		{text(openingOf1), []step{p.at("2026-07", late)}},                                           // after last: no slot
		{text(openingOf1), []step{p.at("2026-02", startOf("month", "2026-02")-1), p.in("2026-01")}}, // after the clock
		{text(openingOf1), []step{six.in("2026-01")}},                                               // above the budget
		{text(openingOf1), []step{bad}},                                                             // above the limit of the device
		{text(openingOf1, debit), []step{p.in("2026-01")}},
		{text(opening5, debit), []step{p.in("2026-01"), p.in("2026-02")}},
		{text(opening5, line("debit", "1", "0b", "2026-03")), []step{p.in("2026-02")}}, // before the last
		{text(opening5), []step{p.in("2026-01").without(), p.in("2026-01"), p.in("2026-02")}},
		{text(opening5), []step{p.in("2026-01"), plan{"month", 4, "", "", "0b", "1"}.in("2026-01"),
			plan{"month", 3, "", "", "0b", "1"}.in("2026-01")}},
	} {
		a.books(c.text, c.steps, "drawn-slot")
	}
}

// keys adds ledgers that keep to a key.
func (a adder) keys() {
	one, two := signers[0], signers[1]
	p := plan{"month", 3, "", "2026-12", "0a", "1"}
	q := plan{"month", 3, "", "", "0b", "1"}
	plain := p.in("2026-01").without()
	wrong := plain.by(one)
	wrong.Signature = one.of(strings.Repeat("0b", 32))
	forged := plain.by(two)
	forged.Signature = strings.Replace(forged.Signature, two.key, one.key, 1)
	forged.Key = one.key
	mixed := plain.by(two)
	mixed.Signature = one.of(mixed.Policy)
	none := plain.by(one)
	none.Signature = ""
	high := plain.by(one)
	high.MaxEpsilon = "1/2"
	much := plan{"month", 0, "", "", "0a", "6"}.in("2026-01").without()
	torn := hex.EncodeToString([]byte("key " + one.key[:20]))
	month, pinned := text(opening5, "slot month 3 1"), text(opening5, "key "+one.key)
	for _, c := range []struct {
		text  string
		steps []step
	}{
		{text(opening5), []step{plain.by(one)}},
		{text(opening5), []step{plain.by(one), q.in("2026-01").without(), q.in("2026-01").without().by(two), q.in("2026-01").without().by(one)}},
		{text(opening5), []step{plain, q.in("2026-01").without().by(two), q.in("2026-02").without()}}, // from the first key on
		{text(opening5), []step{wrong}}, {text(opening5), []step{forged}}, {text(opening5), []step{mixed}}, {text(opening5), []step{none}},
		{pinned, []step{plain}}, {pinned, []step{plain.by(two)}}, {pinned, []step{plain.by(one)}},
		{pinned, []step{wrong, forged}}, {pinned, []step{none, mixed}},
		{pinned, []step{plain.by(one), plain, plain.by(one), plain.by(two)}}, // repeats
		{pinned, []step{plain.by(one), wrong}},
		{text(opening5, line("debit", "1", "0a", "2026-01"), paid("0a", "2026-01"), "key "+two.key), []step{plain, plain.by(one)}},
		{text(opening5), []step{high}}, {pinned, []step{high, plain}}, {pinned, []step{much.by(two), much.by(one)}},
		{text(opening5), []step{much.by(one), plain}},
		{month, []step{p.in("2026-01").by(one), p.in("2026-04"), p.in("2026-04").by(one)}},
		{month, []step{p.in("2026-02").by(one), p.in("2026-04")}},                                            // silent, and pinned
		{month, []step{p.at("2027-01", startOf("month", "2027-01")).by(one), q.in("2026-01").by(two)}},       // refused, and pinned
		{text(opening5, "slot month 3 1", "key "+one.key), []step{p.in("2026-02"), p.in("2026-02").by(one)}}, // not silent without the key
		{text(opening5), []step{{Torn: &torn}, plain.by(two)}},
		{text(opening5) + "debit 1/7 ab", []step{plain.by(one)}},
		{text(opening5, "key "+one.key+"~torn 0"), []step{plain.by(two), plain}},
		{text(opening5), []step{p.in("2026-01").by(one), q.in("2026-02").by(one)}},
	} {
		a.books(c.text, c.steps, "key")
	}
}

// random adds sequences of everything.
func (a adder) random() {
	r := &a.s.RNG
	for range 32 {
		form := values.Pick(r, "year", "month", "week", "day")
		from, _ := numberOf(form, map[string]string{"year": "2024", "month": "2025-11", "week": "2020-W51", "day": "2024-02-27"}[form])
		period := r.Between(2, 3)
		body := []string{"wpm-ledger-1 " + values.Pick(r, "1", "3/2", "2")}
		if r.Chance(30) {
			body = append(body, line("debit", values.Pick(r, "1/3", "1/7"), "0d", values.Pick(r, "e", nameOf(form, from))))
		}
		body = append(body, fmt.Sprintf("slot %s %d %d", form, period, r.Intn(period)))
		var steps []step
		at := from
		for range r.Between(3, 5) {
			at += values.Pick(r, 0, 1, 1, 2, -1)
			p := plan{form, values.Pick(r, period, period, period, 0), "", "", values.Pick(r, "0a", "0b"), values.Pick(r, "1/3", "1/2", "1", "2/3")}
			if r.Chance(20) {
				p.first = nameOf(form, from+r.Intn(2))
			}
			if r.Chance(20) {
				p.last = nameOf(form, from+1+r.Intn(4))
			}
			s := p.in(nameOf(form, at))
			if r.Chance(15) {
				*s.Clock--
			}
			if r.Chance(15) {
				s = s.without()
			}
			steps = append(steps, s)
			if r.Chance(15) {
				rest := hex.EncodeToString([]byte(values.Pick(r, "x", "turn 1/5 0", "turn 1/5", "debit 1/4 "+p.policy, "slot year 2 1")))
				steps = append(steps, step{Torn: &rest})
			}
		}
		a.books(text(body...), steps, "window")
	}
}
