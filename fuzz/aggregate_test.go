package fuzz

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/proptest"
)

var aggregateSentinels = []error{
	aggregate.ErrShape, aggregate.ErrIndex, aggregate.ErrEmpty, aggregate.ErrConfidence, aggregate.ErrNotFinite,
	aggregate.ErrNegative,
	aggregate.ErrLimit,
}

// tail returns P[X >= x] for X binomial with n trials of probability p, exactly.
func tail(x, n int64, p float64) *big.Rat {
	num, den := num.Rat(p).Num(), num.Rat(p).Denom()
	rest := new(big.Int).Sub(den, num)
	power := func(b *big.Int, e int64) *big.Int { return new(big.Int).Exp(b, big.NewInt(e), nil) }
	sum := new(big.Int)
	for i := x; i <= n; i++ {
		term := new(big.Int).Binomial(n, i)
		sum.Add(sum, term.Mul(term, power(num, i)).Mul(term, power(rest, n-i)))
	}
	return new(big.Rat).SetFrac(sum, power(den, n))
}

// FuzzHistogram: counts of any size, and indices, give a histogram or a typed error. For few releases the bands are
// those of the definition: at either end the counts seen, or more extreme ones, have the probability that the union
// bound leaves, in rationals.
func FuzzHistogram(f *testing.F) {
	f.Add([]byte{2, 3, 0, 5, 10, 200})
	f.Add([]byte{0, 0, 1, 1, 0})
	f.Add([]byte{4, 0, 1, 12, 2, 9, 1, 255})
	f.Add([]byte{1, 255, 255, 255, 255, 255, 255, 255, 255, 7})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		kv := in.size(6)
		counts := make([]uint64, kv)
		small, total := true, int64(0)
		for j := range counts {
			switch v := in.byte(); {
			case v == 255:
				counts[j], small = in.uint64()>>(in.byte()%64), false
			default:
				counts[j] = uint64(v % 13)
				total += int64(counts[j])
			}
		}
		confidence := 0.5 + float64(in.byte())/512
		if in.byte()%8 == 7 {
			confidence = in.float()
		}
		h, err := aggregate.NewHistogram(counts, aggregate.Settings{Confidence: confidence})
		if err != nil {
			if typed(t, err, aggregateSentinels...); errors.Is(err, aggregate.ErrLimit) && small {
				t.Fatalf("%v: %v", counts, err)
			}
			return
		}
		n := uint64(0)
		for j := range counts {
			n += counts[j]
			if !(0 <= h.Lower[j] && h.Lower[j] <= h.Estimate[j] && h.Estimate[j] <= h.Upper[j] && h.Upper[j] <= 1) {
				t.Fatalf("point %d of %v: %v in [%v, %v]", j, counts, h.Estimate[j], h.Lower[j], h.Upper[j])
			}
		}
		finite(t, "radius", h.Radius())
		if h.N != n {
			t.Fatalf("%v: N = %d", counts, h.N)
		}
		if !small || total == 0 {
			return
		}
		level := (1 - h.Confidence) / (2 * float64(kv))
		// The bounds are rounded outward, by far less than nearly, and may be wider at one success or one failure.
		const slack, nearly = 1e-6, 1e-9
		below := func(x int64, p float64) float64 { // P[at most x]
			v, _ := new(big.Rat).Sub(big.NewRat(1, 1), tail(x+1, total, p)).Float64()
			return v
		}
		above := func(x int64, p float64) float64 { // P[at least x]
			v, _ := tail(x, total, p).Float64()
			return v
		}
		for j, c := range counts {
			x := int64(c)
			if l := h.Lower[j]; x > 0 && (!(above(x, l) <= level*(1+slack)) || !(above(x, l*(1+nearly)) >= level) && x > 1) {
				t.Fatalf("%v, level %v: lower end %v of point %d, where the tail is %v", counts, level, l, j, above(x, l))
			}
			if u := h.Upper[j]; x < total &&
				(!(below(x, u) <= level*(1+slack)) || !(below(x, u*(1-nearly)) >= level) && x < total-1) {
				t.Fatalf("%v, level %v: upper end %v of point %d, where the tail is %v", counts, level, u, j, below(x, u))
			}
		}
		indices := make([]int, 0, total)
		for j, c := range counts {
			for range c {
				indices = append(indices, j)
			}
		}
		again, err := aggregate.Count(kv, indices)
		if err != nil {
			t.Fatal(err)
		}
		for j := range counts {
			if again[j] != counts[j] {
				t.Fatalf("Count: %v, want %v", again, counts)
			}
		}
		if _, err := aggregate.Count(kv, append(indices, kv)); err == nil {
			t.Fatal("an index out of range was counted")
		} else {
			typed(t, err, aggregate.ErrIndex)
		}
	})
}

// FuzzPartialCounts: what is read is written back to the same bytes, its parts add up, and it merges with a copy under
// other shard names. The fuzzer cannot guess a hash, so the text is tried as it is and with the right last line.
func FuzzPartialCounts(f *testing.F) {
	const body = "wpm-counts-1\npolicy 148de9c5a7a44d19e56cd9ae1a554bf67847afb0c58f6e12fa29ac7ddfca9940\nepoch 2026-07\nlines 6\nrefused malformed 1\n" +
		"refused other-policy 0\nrefused no-such-output 2\nrefused never-released 0\nshards 1\n" +
		"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb 81 6 a b\nreports 2\n0\n3\n"
	f.Add([]byte(body))
	f.Add([]byte(strings.Replace(body, "epoch 2026-07", "epoch", 1)))
	f.Add([]byte(strings.Replace(body, "a b", "\xff", 1)))
	f.Add([]byte("wpm-counts-1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, text := range [][]byte{data, fmt.Appendf(bytes.Clone(data), "sha256 %x\n", sha256.Sum256(data))} {
			kept := bytes.Clone(text)
			c, err := aggregate.DecodeCounts(text)
			if !bytes.Equal(text, kept) {
				t.Fatal("the input was changed")
			}
			if err != nil {
				typed(t, err, aggregate.ErrFormat, aggregate.ErrLimit, aggregate.ErrDuplicate)
				continue
			}
			sum, lines := c.Total(), uint64(0)
			for _, n := range c.Reports {
				sum -= n
			}
			other := c
			other.Shards = slices.Clone(c.Shards)
			for i, s := range c.Shards {
				lines += s.Lines
				other.Shards[i].ID = "/" + s.ID
			}
			if sum != 0 || lines != c.Lines {
				t.Fatalf("%d reports more than their sum, %d of %d lines: %q", sum, lines, c.Lines, text)
			}
			if again, err := c.Encode(); err != nil || !bytes.Equal(again, text) {
				t.Fatalf("%q came back as %q, %v", text, again, err)
			}
			both, err := aggregate.Merge(c, other)
			if err != nil { // an ID that becomes too long or is there already, or too large a sum
				typed(t, err, aggregate.ErrFormat, aggregate.ErrLimit, aggregate.ErrDuplicate)
			} else if both.Lines != 2*c.Lines || both.Total() != 2*c.Total() {
				t.Fatalf("twice %q is %+v", text, both)
			}
		}
	})
}

// FuzzEvaluate: the distance of two vectors of any sum encloses the exact cost of plain transport between them.
func FuzzEvaluate(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 8, 8, 0, 0, 8, 16, 0, 16, 8})
	f.Add([]byte{2, 1, 0, 8, 16, 24, 8, 0, 8, 0, 24, 8, 16, 0, 8, 40})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(4)
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		truth, histogram := in.good(k), in.good(kv)
		a, b := clone(truth), clone(histogram)
		e, err := aggregate.Evaluate(context.Background(), c, truth, histogram)
		sameBits(t, "truth", truth, a)
		sameBits(t, "histogram", histogram, b)
		if err != nil {
			typed(t, err, aggregateSentinels...)
			return
		}
		finite(t, "objective, bounds", e.Objective, e.Lower, e.Upper)
		if !(e.Lower <= e.Upper) || (k == kv) == math.IsNaN(e.TotalVariation) || e.TotalVariation > 1+1e-12 {
			t.Fatalf("%+v", e)
		}
		p := proptest.Problem{Mu: scaled(a), Lo: scaled(b)}
		p.Hi = p.Lo
		for i := range k {
			p.C = append(p.C, c.Row(i, nil))
		}
		want, err := p.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		within(t, "objective", num.Rat(e.Objective), want, 1e-12, given.Max(c))
	})
}

// scaled returns x over its sum.
func scaled(x []float64) []float64 {
	top, sum := 0.0, 0.0
	for _, v := range x {
		top = math.Max(top, v)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v / top
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y
}
