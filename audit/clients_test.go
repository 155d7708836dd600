package audit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestMixedShares: for any number of inputs every kind of client is there, with counts that sum to a power of two.
func TestMixedShares(t *testing.T) {
	for k := 2; k <= 70; k++ {
		for _, pair := range [][2]int{{0, k / 2}, {k - 1, 0}, {1, 1}} {
			high, low := pair[0], pair[1]
			list := mixedShares(k, high, low)
			sizes := []int{2, k, k}
			if low != high && low != (high+1)%k {
				sizes = []int{2, 2, k, k}
			}
			for n, shares := range list {
				seen, total, most := map[int]bool{}, uint64(0), uint64(0)
				for _, s := range shares {
					if seen[s.Input] || s.Input < 0 || s.Input >= k || s.Count == 0 {
						t.Fatalf("k = %d, client %d: %v", k, n, shares)
					}
					seen[s.Input] = true
					total += s.Count
					most = max(most, s.Count)
				}
				if len(shares) != sizes[n] || total < 16 || total&(total-1) != 0 {
					t.Errorf("k = %d, client %d: %d inputs, total %d", k, n, len(shares), total)
				}
				if n == len(list)-1 && (shares[0].Input != low || shares[0].Count != most || 2*most < total) {
					t.Errorf("k = %d: %v is not one heavy input", k, shares)
				}
			}
			if len(list) != len(sizes) {
				t.Errorf("k = %d: %d clients", k, len(list))
			}
		}
	}
}

// TestMixedRows: the law of a mixed client is sum_i mu_i row_i, against fractions; and the file it gives to a release
// says the same counts.
func TestMixedRows(t *testing.T) {
	for _, bits := range []int{12, 62} {
		p := ring(t, 6, "1", bits, policy.Mixture)
		rows, err := mixedRows(p, 4, 1)
		if err != nil || len(rows) != 4 {
			t.Fatalf("%v, %v", rows, err)
		}
		unit := new(big.Rat).SetFrac64(1, 1<<uint(bits))
		for _, row := range rows {
			text := must(privateData(p, row))
			pr, err := policy.ParsePrivate(p, text)
			if err != nil || !bytes.Contains(text, []byte(".5\n")) && row.Shares[0].Count%2 == 1 {
				t.Fatalf("%s: %q, %v", row.Name, text, err)
			}
			law := make([]*big.Rat, p.Outputs())
			for j := range law {
				law[j] = new(big.Rat)
			}
			for i, m := range pr.Mu() { // exact: the counts sum to a power of two
				mu := new(big.Rat).SetFloat64(m)
				w := must(p.Row(i))
				for j := range law {
					n := new(big.Rat).SetFrac(new(big.Int).SetUint64(w.At(j)), big.NewInt(1))
					law[j].Add(law[j], n.Mul(n, mu).Mul(n, unit))
				}
			}
			one := big.NewRat(1, 1)
			for j, got := range row.law {
				want, _ := law[j].Float64()
				rest, _ := new(big.Rat).Sub(one, law[j]).Float64()
				// Three roundings to nearest: two parts and their sum.
				if math.Abs(got.p-want) > 3*0x1p-53*want || math.Abs(got.rest-rest) > 3*0x1p-53*rest {
					t.Errorf("%d bits, %s, output %d: %v, want %v, %v", bits, row.Name, j, got, want, rest)
				}
			}
		}
	}
	if rows, err := mixedRows(ring(t, 1, "1", 62, policy.Mixture), 0, 0); err != nil || rows != nil {
		t.Errorf("one input: %v, %v", rows, err)
	}
	for _, row := range []Row{{Input: Mixed}, {Input: Mixed, Shares: []Share{{6, 1}}}, {Input: -3}} {
		if _, err := privateData(ring(t, 6, "1", 62, policy.Mixture), row); !errors.Is(err, ErrDesign) {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

// device is a program of its own for mixture mode with a bug in it: an input from the private data by a word, an
// output from that input's row by more random bytes.
func device(p policy.Policy, bug string) Sampler {
	return func(ctx context.Context, client Row, n int, counts []uint64) error {
		private, err := privateData(p, client)
		if err != nil {
			return err
		}
		if bug == "one line" {
			private = slices.Concat(bytes.SplitAfter(private, []byte("\n"))[:min(2, bytes.Count(private, []byte("\n")))]...)
		}
		w := p.Fallback()
		var mu []float64
		if len(private) > 0 {
			pr, err := policy.ParsePrivate(p, private)
			if err != nil {
				return err
			}
			mu = pr.Mu()
		}
		if bug == "whole numbers" {
			sum := 0.0
			for i, m := range mu {
				mu[i] = math.Floor(10 * m)
				sum += mu[i]
			}
			for i := range mu {
				mu[i] /= sum
			}
		}
		inputs := 0
		for _, m := range mu {
			if m > 0 {
				inputs++
			}
		}
		rows := make([]ldp.Weights, len(mu))
		for i := range rows {
			if rows[i], err = p.Row(i); err != nil {
				return err
			}
		}
		rng := rand.NewChaCha8(key("device "+bug, 1, int64(len(private))<<8+int64(client.Input)))
		words, reader := make([]byte, 16), bytes.NewReader(nil)
		for range n {
			_, _ = rng.Read(words)
			u, input := float64(binary.LittleEndian.Uint64(words)>>11)*0x1p-53, -1
			for i, m := range mu {
				if bug == "biased pick" && m > 0 {
					m = 1 / float64(inputs)
				}
				if m > 0 {
					input = i
				}
				if u -= m; u < 0 {
					break
				}
			}
			sample := words[8:]
			switch {
			case bug == "word reuse":
				sample = words
			case bug == "next row" && inputs > 1:
				input = (input + 1) % len(mu)
			}
			if input >= 0 {
				w = rows[input]
			}
			reader.Reset(sample)
			j, err := w.Sample(reader)
			if err != nil {
				return err
			}
			counts[j]++
		}
		return ctx.Err()
	}
}

// TestDevices audits programs that are right for all clients with data on one input, and wrong for others. The audit
// of point masses alone passes them; the whole one does not, and passes the program without a bug.
func TestDevices(t *testing.T) {
	grid, err := cost.NewGrid(3, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	policies := map[string]policy.Policy{
		"ring of 5":     ring(t, 5, "1", 62, policy.Mixture),
		"ring of 2":     ring(t, 2, "2", 62, policy.Mixture),
		"few bits":      ring(t, 4, "1/2", 13, policy.Mixture),
		"grid, eps = 4": publish(t, grid, "4", 62, policy.Mixture, nil),
	}
	for name, p := range policies {
		for _, bug := range []string{"", "word reuse", "biased pick", "next row", "one line", "whole numbers"} {
			switch {
			case bug == "whole numbers" && p.Inputs() == 2:
				continue // 6.875 and 3.125 tenths are not far from 6 and 3
			case bug == "word reuse" && name == "few bits":
				continue // no bug: the last 13 bits of a word say nothing about its first ones
			}
			cfg := small(p)
			cfg.Samples, cfg.Sampler, cfg.RandomRows = numtest.Cases(12_000, 20_000), device(p, bug), -1
			if bug == "whole numbers" { // the least of them
				cfg.Samples = 20_000
			}
			if p.Inputs() == 2 {
				cfg.Samples *= 4 // two inputs share the word's first bits the most evenly
			}
			r, err := Run(context.Background(), cfg)
			if err != nil || r.Passed != (bug == "") {
				t.Errorf("%s, %q: passed %v, %s, %v", name, bug, r.Passed, r.Verdict, err)
			}
			cfg.Inputs, cfg.Samples = []int{Fallback, 0, 1}, numtest.Cases(2_000, cfg.Samples)
			if r, err := Run(context.Background(), cfg); err != nil || !r.Passed {
				t.Errorf("%s, %q, point masses: %s, %v", name, bug, r.Verdict, err)
			}
		}
	}
}

// TestTogether: a row that is wrong by a little in each of many outputs is found by its outputs together, and by no
// cell.
func TestTogether(t *testing.T) {
	const kv, n = 1024, 100_000
	table := Table{Epsilon: given.Epsilon(t, "1"), Bits: 20}
	row := Row{Name: "flat", N: make([]uint64, kv)}
	for j := range kv {
		table.Lo, table.Hi = append(table.Lo, 700), append(table.Hi, 1500)
		row.N[j] = 1024
	}
	table.Rows = []Row{row, {Name: "unknown", Input: 1}}
	for tilt, want := range map[float64]bool{0: false, 0.15: true} {
		rng := rand.New(rand.NewChaCha8(key("tilt", 1, 0)))
		s := func(_ context.Context, client Row, n int, counts []uint64) error {
			for range n {
				j := rng.IntN(kv)
				if j%2 == 1 && rng.Float64() < tilt {
					j-- // even outputs too often
				}
				counts[j]++
			}
			return nil
		}
		st, err := Statistical(context.Background(), Design{Table: table, Samples: n, Serial: true}, s)
		if err != nil || st.Law.Differs != want || st.Law.Outside != 0 || st.Law.Apart > 1 || st.Law.Together.Row != "flat" {
			t.Errorf("tilt %v: %+v, %v", tilt, st.Law, err)
		}
		said := strings.Join(st.sentences(), "\n")
		if strings.Contains(said, "Taken together they DIFFER for 1 of 2") != want {
			t.Errorf("tilt %v: %s", tilt, said)
		}
	}
	// Cells that are nothing, or all there is.
	for _, law := range [][]probability{{{1, 0}, {0, 1}}, {{0.5, 0.5}, {0.5, 0.5}}} {
		for _, counts := range [][]uint64{{100, 0}, {0, 100}, {0, 0}, {1, 0}, {64, 64}} {
			set, side := together(law, counts, 0)
			if math.IsNaN(side) || side > 0 || set.Count > set.Draws || fmt.Sprint(set.Published) == "NaN" {
				t.Errorf("law %v, counts %v: %+v, %v", law, counts, set, side)
			}
		}
	}
}
