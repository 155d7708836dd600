package sinkhorn

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// ulps is x moved by n floats.
func ulps(x float64, n int) float64 {
	for ; n > 0; n-- {
		x = math.Nextafter(x, math.Inf(1))
	}
	for ; n < 0; n++ {
		x = math.Nextafter(x, math.Inf(-1))
	}
	return x
}

// TestBoxes: bounds whose sum is 1, up to projection.BoxTol, are a point, and those that are off by more leave nothing.
func TestBoxes(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64 // sums, over four columns
		level  int
		point  bool
		err    error
	}{
		{0.5, 2, 0, false, nil}, {1, 2, 1, false, nil}, {1 + 0x1p-41, 2, 1, true, nil},
		{1 + 0x1p-39, 2, 0, false, wpmerr.ErrInfeasible}, {1 - 0x1p-41, 2, 0, false, nil},
		{0.5, 1, -1, false, nil}, {0.5, 1 - 0x1p-41, -1, true, nil}, {0.5, 1 - 0x1p-39, 0, false, wpmerr.ErrInfeasible},
		{0.5, 1 + 0x1p-41, 0, false, nil}, {1, 1, 1, false, nil},
		{0.5, math.Inf(1), 0, false, wpmerr.ErrNotFinite}, {-1, 1, 0, false, wpmerr.ErrNegative}, {2, 1, 0, false, wpmerr.ErrBox},
		{0, 1e300, 0, false, nil}, {1e300, 1e300, 0, false, wpmerr.ErrInfeasible},
	} {
		in := &instance{Instance: projection.Instance{Kv: 4}}
		lo, hi := slices.Repeat([]float64{tt.lo / 4}, 4), slices.Repeat([]float64{tt.hi / 4}, 4)
		err := in.Box.Set(4, lo, hi)
		if tt.err != nil || err != nil {
			if !is(err, tt.err) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		in.chooseColumns()
		if in.Full != tt.level || (in.Point != nil) != tt.point || len(in.cols) != 0 || len(in.tiny) != 0 {
			t.Errorf("%+v: level %d, point %v", tt, in.Full, in.Point != nil)
		}
		for j := range 4 {
			low, high := lo[j], hi[j]
			switch {
			case tt.point:
				low, high = 0.25, 0.25
			case tt.level > 0:
				high = low
			case tt.level < 0:
				low = high
			}
			if in.Lo[j] != low || in.Hi[j] != high {
				t.Errorf("%+v: column %d in [%v, %v]", tt, j, in.Lo[j], in.Hi[j])
			}
		}
		p := Problem{Problem: projection.Problem{Cost: dense(t, []float64{1, 2, 3, 4}), Source: []float64{1}, Lo: lo, Hi: hi},
			Reg: 1}
		if v, err := newVerifier(p, in.Lo); tt.level != 0 && (err != nil || !slices.Equal(v.Lo, v.Hi)) {
			t.Errorf("%+v: Verify says %v", tt, err)
		}
	}
	// Columns with next to no room take no part.
	in := &instance{Instance: projection.Instance{Kv: 5}}
	err := in.Box.Set(5, []float64{0, 0, 0, 0, 0}, []float64{1, tinyMass, 2 * tinyMass, 0, 1})
	if in.chooseColumns(); err != nil ||
		!slices.Equal(in.cols, []int{0, 2, 4}) || !slices.Equal(in.tiny, []int{1}) || in.live() != 3 {
		t.Errorf("%v, columns %v and %v", err, in.cols, in.tiny)
	}
}

// TestLoad: the costs that the solvers see are the given ones on rows with mass and columns with room, less the least
// of a row where all are far from zero, times a power of 2 where they are far from one; and what is said of them is so.
func TestLoad(t *testing.T) {
	const same = 1e-12 // of the size of the numbers: differences and sums are rounded
	g := newGenerator(93)
	seen := map[string]int{}
	for n := range 70 {
		p := awkward(g, n%7, g.problem(2+g.intn(6), 3+g.intn(6), 0.1))
		in, c := loaded(t, p)
		if c.k != len(in.Rows) || c.n != in.live() {
			t.Fatalf("%d x %d", c.k, c.n)
		}
		var top, high, most, rng, offset float64
		for r, i := range in.Rows {
			row := p.Cost.Row(i, make([]float64, in.Kv))
			least, largest := math.Inf(1), 0.0
			for l := range c.n {
				least, largest = min(least, row[in.col(l)]), max(largest, row[in.col(l)])
			}
			for j, x := range row {
				if p.Hi[j] > 0 {
					top = max(top, x)
				}
			}
			base := 0.0
			if c.base != nil {
				base = c.base[r]
				if base != least {
					t.Errorf("number %d, row %d: %v is taken out, want %v", n, r, base, least)
				}
				offset += in.mass[r] * base
			}
			for l := range c.n {
				if want := math.Ldexp(row[in.col(l)]-base, c.exp); !(math.Abs(c.row[r][l]-want) <= same*c.max) {
					t.Errorf("number %d: cost (%d, %d) is %v, want %v", n, r, l, c.row[r][l], want)
				}
			}
			if want := math.Ldexp(least-base, c.exp); c.min[r] != want {
				t.Errorf("number %d, row %d: the least is %v, want %v", n, r, c.min[r], want)
			}
			high, rng = max(high, math.Ldexp(largest-base, c.exp)), max(rng, math.Ldexp(largest-least, c.exp))
			most = max(most, high)
		}
		if c.base == nil {
			most = math.Ldexp(top, c.exp)
		}
		if c.max != high || c.rng != rng || c.most != most || c.top != top || c.reg != math.Ldexp(p.Reg, c.exp) {
			t.Errorf("number %d: largest %v, %v and %v, range %v, Reg %v; want %v, %v and %v, %v, %v", n, c.max, c.most, c.top,
				c.rng, c.reg, high, most, top, rng, math.Ldexp(p.Reg, c.exp))
		}
		if !(math.Abs(c.offset-offset) <= same*offset) {
			t.Errorf("number %d: offset %v, want %v", n, c.offset, offset)
		}
		if c.exp != 0 {
			seen["scaled"]++
			if c.max > 0 && !(c.max >= 0.5 && c.max <= 1) {
				t.Errorf("number %d: the largest cost is %v after scaling", n, c.max)
			}
		}
		if c.base != nil {
			seen["reduced"]++
		}
	}
	if seen["scaled"] < 5 || seen["reduced"] < 5 {
		t.Errorf("%v", seen)
	}
}

// TestPointOfBox: where the box is a point that is a float only after rounding, Q may be that float's neighbours and
// nothing else.
func TestPointOfBox(t *testing.T) {
	m := []float64{0.3, 0.45, 0.25 + 0x1p-42}
	p := Problem{Problem: projection.Problem{Cost: dense(t, []float64{1, 2, 3}), Source: []float64{1}, Lo: m, Hi: m},
		Reg: 1}
	q, total := make([]float64, 3), num.SumRat(m)
	for j, x := range m {
		q[j], _ = new(big.Rat).Quo(new(big.Rat).SetFloat64(x), total).Float64()
	}
	if _, err := newVerifier(p, q); err != nil {
		t.Error(err)
	}
	for j := range q {
		for _, n := range []int{-3, 3} {
			x := slices.Clone(q)
			x[j] = ulps(x[j], n)
			if _, err := newVerifier(p, x); err == nil {
				t.Errorf("column %d, %d units off: accepted", j, n)
			}
		}
	}
}
