package mincostflow

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// mustTransport solves and verifies.
func mustTransport(t testing.TB, c cost.Matrix, a, b []float64) Result {
	t.Helper()
	r, err := Transport(context.Background(), c, a, b)
	if err != nil {
		t.Fatalf("Transport: %v", err)
	}
	upper, lower, err := VerifyTransport(context.Background(), c, a, b, r)
	if err != nil {
		t.Fatalf("VerifyTransport: %v", err)
	}
	if upper.Cmp(lower) < 0 {
		t.Fatalf("proved upper %v below lower %v", upper, lower)
	}
	if top := given.Max(c); !(r.Gap() <= gapTol*top+quantum) {
		t.Fatalf("gap %g", r.Gap())
	}
	return r
}

// onLine is the exact W_p^p, p = 1, between distributions on the points 0, 1, 2, ...: the sum of
// the differences of the cumulative masses.
func onLine(a, b []float64) *big.Rat {
	sa, sb := ratSum(a), ratSum(b)
	d, w := new(big.Rat), new(big.Rat)
	for i := range a {
		x := rat(a[i])
		d.Add(d, x.Quo(x, sa))
		y := rat(b[i])
		d.Sub(d, y.Quo(y, sb))
		w.Add(w, new(big.Rat).Abs(d))
	}
	return w
}

func TestTransportOnTheLine(t *testing.T) {
	for seed := range numtest.Cases(120, 300) {
		d := newDraw(uint64(seed) + 9e6)
		n := 1 + d.Intn(20)
		c := &cost.Dense{K: n, Kv: n, Data: make([]float64, n*n)}
		for i := range n {
			for j := range n {
				c.Data[i*n+j] = math.Abs(float64(i - j))
			}
		}
		a, b := d.masses(n), d.masses(n)
		// Inexact totals are normalised, both of them.
		a, b = scaled(a, 1+9e-10*(2*d.Float64()-1)), scaled(b, 1+9e-10*(2*d.Float64()-1))
		r := mustTransport(t, c, a, b)
		want := onLine(a, b)
		if rat(r.Lower).Cmp(want) > 0 || rat(r.Upper).Cmp(want) < 0 {
			f, _ := want.Float64()
			t.Fatalf("bounds [%v, %v], want %v; a %v b %v", r.Lower, r.Upper, f, a, b)
		}
	}
}

// TestTransportIsProjection: with exact dyadic masses, transport and the projection onto lo = hi
// are the same thing.
func TestTransportIsProjection(t *testing.T) {
	for seed := range 200 {
		d := newDraw(uint64(seed) + 10e6)
		k, kv := 1+d.Intn(8), 1+d.Intn(8)
		c := d.Costs(k, kv)
		eighths := func(n int) []float64 {
			x := make([]float64, n)
			for range 64 {
				x[d.Intn(n)] += 1. / 64
			}
			return x
		}
		a, b := eighths(k), eighths(kv)
		r := mustTransport(t, c, a, b)
		p := mustProject(t, Problem{Cost: c, Source: a, Lo: b, Hi: b}, Settings{})
		if r.Lower > p.Upper || p.Lower > r.Upper {
			t.Fatalf("transport in [%v, %v], projection in [%v, %v]", r.Lower, r.Upper, p.Lower, p.Upper)
		}
		if !reflect.DeepEqual(r.Q, b) || !reflect.DeepEqual(p.Q, b) {
			t.Fatalf("Q = %v and %v, want %v", r.Q, p.Q, b)
		}
	}
}

func TestTransportToTheProjection(t *testing.T) {
	// The projection costs what moving to its q costs.
	tol := numtest.Tol{Abs: 1e-14, Why: "q sums to 1 only to rounding, and is normalised"}
	for seed := range 100 {
		d := newDraw(uint64(seed) + 11e6)
		p := d.problem(8)
		r := mustProject(t, p, Settings{})
		w := mustTransport(t, p.Cost, p.Source, r.Q)
		top := maxCost(p)
		if top < 1e-300 {
			continue
		}
		numtest.Near(t, "W(q, mu) / max C", w.Objective/top, r.Objective/top, tol)
	}
}

func TestTransportErrors(t *testing.T) {
	c := dense(t, []float64{0, 1}, []float64{1, 0})
	half := []float64{0.5, 0.5}
	for _, x := range []struct {
		name string
		c    cost.Matrix
		a, b []float64
		want error
	}{
		{"no cost", nil, half, half, wpmerr.ErrShape},
		{"source too long", c, uniform(3), half, wpmerr.ErrShape},
		{"target too long", c, half, uniform(3), wpmerr.ErrShape},
		{"target without mass", c, half, []float64{0, 0}, wpmerr.ErrMass},
		{"source without mass", c, []float64{0, 0}, half, wpmerr.ErrMass},
		{"empty source", c, []float64{}, half, wpmerr.ErrShape},
		{"infinite source", c, []float64{1, math.Inf(1)}, half, wpmerr.ErrNotFinite},
		{"NaN target", c, half, []float64{0.5, math.NaN()}, wpmerr.ErrNotFinite},
		{"negative target", c, half, []float64{-0.5, 1.5}, wpmerr.ErrNegative},
	} {
		r, err := Transport(context.Background(), x.c, x.a, x.b)
		if !errors.Is(err, x.want) || !reflect.DeepEqual(r, Result{}) {
			t.Errorf("%s: %v, want %v; result %+v", x.name, err, x.want, r)
		}
		if _, _, err := VerifyTransport(context.Background(), x.c, x.a, x.b, mustTransport(t, c, half, half)); !errors.Is(err, x.want) {
			t.Errorf("%s: VerifyTransport says %v, want %v", x.name, err, x.want)
		}
	}
}

// TestEqualMasses: equal masses move along an assignment, one entry for each row and column, and bounds hold for masses
// that differ by roundings, and when the context ends.
func TestEqualMasses(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 20, 49, 100, 128, 129} {
		for _, p := range []float64{1, 2} {
			c, _, _ := clouds(n, p)
			for _, masses := range [][2][]float64{{nil, nil}, {uniform(n), uniform(n)}, {repeat(3, n), uniform(n)}} {
				r := mustTransport(t, c, masses[0], masses[1])
				row, column := make([]int, n), make([]int, n)
				for _, e := range r.Plan {
					if e.Mass > 0x1p-90 { // below, the difference of 3/3n and 1/n, each rounded in twofold precision
						row[e.I]++
						column[e.J]++
					}
				}
				if want := slices.Repeat([]int{1}, n); !slices.Equal(row, want) || !slices.Equal(column, want) {
					t.Fatalf("%d points: entries in rows %v, in columns %v", n, row, column)
				}
			}
			near, other := uniform(n), uniform(n)
			for i := range near {
				near[i] *= 1 + float64(i%3-1)*0x1p-52
			}
			for i := range 3 {
				mustTransport(t, c, near, uniform(n))
				mustTransport(t, c, uniform(n), near)
				other[0] = (1 + float64(i-1)*0x1p-50) / float64(n)
				mustTransport(t, c, other, uniform(n))
				mustTransport(t, c, uniform(n), other)
			}
		}
	}
	c, _, _ := clouds(100, 1)
	for left := 0; ; left++ {
		r, err := Transport(&numtest.Asked{Context: context.Background(), Most: left}, c, nil, nil)
		if err == nil {
			break
		}
		if _, _, err := VerifyTransport(context.Background(), c, nil, nil, r); err != nil {
			t.Fatalf("stopped at look %d: %v", left, err)
		}
	}
}
