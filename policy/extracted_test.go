package policy

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/private"
)

// extractedRow writes a row for the program of folder proofs.
func extractedRow(r Row) string {
	full, extra := []string{}, []string{}
	for _, j := range r.full {
		full = append(full, strconv.Itoa(int(j)))
	}
	for _, e := range r.extra {
		extra = append(extra, fmt.Sprintf("%d:%d", e.col, e.add))
	}
	return extractedList(full) + "/" + extractedList(extra)
}

func extractedList[T any](v []T) string {
	if len(v) == 0 {
		return "-"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ","), "[]")
}

// TestExtractedDraws compares the choice of an input and of its row with the program that is extracted from the proofs.
func TestExtractedDraws(t *testing.T) {
	if os.Getenv("WPM_CLIENTS") != "1" {
		t.Skip("WPM_CLIENTS=1 compares Go with the verifier extracted from the proofs")
	}
	const program = "../proofs/build/wpm-proofs"
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("no %s: proofs/run builds it", program)
	}
	r := rand.New(rand.NewPCG(19, 4))
	var in bytes.Buffer
	var lines, want []string
	add := func(answer, format string, a ...any) {
		line := fmt.Sprintf(format, a...)
		lines, want = append(lines, line), append(want, answer)
		in.WriteString(line + "\n")
	}
	row := func(w ldp.Weights, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		n := make([]uint64, w.Len())
		for j := range n {
			n[j] = w.At(j)
		}
		return extractedList(n)
	}
	for range 5000 { // whole counts, of which pick loses nothing
		count := make([]float64, 1+r.IntN(6))
		total, top := 0.0, 1+r.Int64N(1<<(1+r.IntN(50)))
		for i := range count {
			if r.IntN(3) > 0 {
				count[i] = float64(r.Int64N(top))
			}
			total += count[i]
		}
		if total == 0 {
			continue
		}
		scale := 1.0
		for total*scale < 1<<61 {
			scale *= 2
		}
		u, sum := make([]uint64, len(count)), uint64(0)
		for i, v := range count {
			u[i] = uint64(v * scale)
			sum += u[i]
		}
		word := r.Uint64()
		if c := u[0]; r.IntN(2) == 0 && c < sum { // next to 2^64 c / sum, where the input changes
			word, _ = bits.Div64(c, 0, sum)
			word += r.Uint64N(4) - 1
		}
		labels := private.Labels{Inputs: len(count)}
		text, err := private.Format(labels, count)
		if err != nil {
			t.Fatal(err)
		}
		d, _, _ := private.Read(labels, text)
		add(strconv.Itoa(d.Pick(word)), "pick %s %d", extractedList(u), word)
	}
	generator := rapid.Custom(drawConfig)
	for n := range 1000 {
		c := mustNew(t, generator.Example(n)).c
		lo, width := columns(c.Polytope)
		hi := slices.Clone(lo)
		var rows []string
		for j := range hi {
			hi[j] += width[j]
		}
		for _, r := range c.Rows {
			rows = append(rows, extractedRow(r))
		}
		for i := range len(c.Rows) + 1 {
			list := "-"
			if len(rows) > 0 {
				list = strings.Join(rows, ";")
			}
			add(row(secretRow(c.Polytope, c.Rows, c.Fallback, i)), "secret %d %s %s %s %s %d",
				c.Polytope.Bits(), extractedList(lo), extractedList(hi), list, extractedRow(c.Fallback), i)
		}
	}
	for range 200 {
		for _, cfg := range geometryConfigs(t) {
			p := mustNew(t, cfg)
			cfg.Thresholds = slices.Clone(p.c.Thresholds)
			for i := range cfg.Thresholds {
				if r.IntN(2) == 0 {
					cfg.Thresholds[i] = int32(r.IntN(p.Outputs()))
				}
			}
			c := mustNew(t, cfg).c
			i, usable := r.IntN(c.Inputs), r.IntN(2)
			lo, width := columns(c.Polytope)
			hi, keys := slices.Clone(lo), make([]uint64, len(lo))
			for j := range hi {
				hi[j] += width[j]
				keys[j] = c.places.key(c.places.input(i), c.places.output(j))
			}
			add(row(c.fill(i, usable)), "fill %d %s %s %s %s %d %d", c.Polytope.Bits(), extractedList(lo),
				extractedList(hi), extractedList(keys), row(c.fallback, nil), c.Thresholds[i], usable)
		}
	}
	codes := 0
	for range 1000 {
		cfg := drawCodes(r)
		if cfg.Polytope == nil { // numbers that fit no box
			continue
		}
		c, at := mustNew(t, cfg).c, 0
		for _, code := range c.Codes {
			n := code.outputs(c.Inputs)
			part := make([]uint64, n)
			for j := range part {
				part[j] = c.fallback.At(at + j)
			}
			add(extractedList(part), "even %d %d", code.Weight, n)
			for i := range c.Inputs {
				if code.Colors > 0 {
					code.spread(i, part)
					add(extractedList(part), "code %d %d %d %d", code.Low, code.high(), code.Color(i), n)
					codes++
				}
			}
			at += n
		}
	}
	if codes < 1000 {
		t.Errorf("%d rows of codes: the cases are too weak", codes)
	}
	cmd := exec.Command(program)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(got) != len(want) || len(want) < 7000 {
		t.Fatalf("%d answers to %d cases", len(got), len(want))
	}
	bad := 0
	for n := range want {
		if got[n] != want[n] {
			if bad++; bad <= 10 {
				t.Errorf("%s: the proofs' program says %s, Go %s", lines[n], got[n], want[n])
			}
		}
	}
	t.Logf("%d cases, %d differ", len(want), bad)
}
