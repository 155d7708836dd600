package mincostflow

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// plainBounds are the bounds of the comment of package verify, in rationals, for a certificate that is accepted.
func plainBounds(p Problem, r Result) (upper, lower *big.Rat) {
	k, kv := p.Cost.Dims()
	one, total := big.NewRat(1, 1), ratSum(p.Source)
	lo, hi, point := p.Lo, p.Hi, false
	scale := one
	switch l, h := ratSum(p.Lo), ratSum(p.Hi); {
	case l.Cmp(one) >= 0:
		hi, scale, point = lo, l, l.Cmp(one) > 0
	case h.Cmp(one) <= 0:
		lo, scale, point = hi, h, h.Cmp(one) < 0
	}
	mu := make([]*big.Rat, k)
	for i := range mu {
		mu[i] = new(big.Rat)
	}
	for n, x := range p.Source {
		i := n
		if p.Support != nil {
			i = p.Support[n]
		}
		mu[i].Quo(rat(x), total)
	}
	lower, most := new(big.Rat), new(big.Rat)
	for i := range k {
		var least *big.Rat
		for j, c := range p.Cost.Row(i, nil) {
			if x := new(big.Rat).Sub(rat(c), rat(r.Potentials.G[j])); least == nil || x.Cmp(least) < 0 {
				least = x
			}
			if mu[i].Sign() > 0 && (hi[j] > 0 || r.Q[j] > 0) && rat(c).Cmp(most) > 0 {
				most = rat(c)
			}
		}
		lower.Add(lower, least.Mul(least, mu[i]))
	}
	for j, g := range r.Potentials.G {
		b := rat(lo[j])
		if g < 0 {
			b = rat(hi[j])
		}
		lower.Add(lower, b.Quo(b.Mul(b, rat(g)), scale))
	}
	if lower.Sign() < 0 {
		lower.SetInt64(0)
	}

	carried, missing := new(big.Rat), new(big.Rat).Set(one)
	sent, got := make([]*big.Rat, k), make([]*big.Rat, kv)
	for i := range sent {
		sent[i] = new(big.Rat)
	}
	for j := range got {
		got[j] = new(big.Rat)
	}
	for _, e := range r.Plan {
		m := rat(e.Mass)
		missing.Sub(missing, m)
		sent[e.I].Add(sent[e.I], m)
		got[e.J].Add(got[e.J], m)
		carried.Add(carried, m.Mul(m, rat(p.Cost.Row(e.I, nil)[e.J])))
	}
	excess := func(x, most *big.Rat) {
		if d := new(big.Rat).Sub(x, most); d.Sign() > 0 {
			missing.Add(missing, d)
		}
	}
	for i := range sent {
		excess(sent[i], mu[i])
	}
	for j := range got {
		most := rat(r.Q[j])
		if x := new(big.Rat).Quo(rat(lo[j]), scale); point && x.Cmp(most) < 0 {
			most = x
		}
		excess(got[j], most)
	}
	excess(ratSum(r.Q), one)
	upper = carried.Add(carried, missing.Mul(missing, most))
	if upper.Cmp(most) > 0 {
		upper = most
	}
	return upper, lower
}

// TestVerifyBounds compares the bounds of Verify with the formulas of its comment, for results that were damaged, or
// whose box is a point by rounding.
func TestVerifyBounds(t *testing.T) {
	points := 0
	for seed := range 80 {
		d := newDraw(uint64(seed) + 81e6)
		p := d.problem(5)
		if d.Intn(3) == 0 { // a point, by rounding
			m := d.masses(len(p.Lo))
			by := 1 + 9e-13*(2*d.Float64()-1)
			p.Lo, p.Hi = scaled(m, by), scaled(m, by)
			points++
		}
		if d.Intn(3) == 0 { // a sparse source
			k, _ := p.Cost.Dims()
			p.Support = nil
			var kept []float64
			for i := range k {
				if p.Source[i] > 0 || d.Intn(2) == 0 {
					p.Support, kept = append(p.Support, i), append(kept, p.Source[i])
				}
			}
			p.Source = kept
		}
		r := mustProject(t, p, Settings{})
		r.Lower, r.Upper = 0, math.MaxFloat64
		check := func(what string) {
			t.Helper()
			upper, lower, err := Verify(context.Background(), p, r)
			if err != nil {
				t.Fatalf("%s: Verify(%v) = %v", what, describe(p), err)
			}
			if u, l := plainBounds(p, r); upper.Cmp(u) != 0 || lower.Cmp(l) != 0 {
				t.Fatalf("%s: %v: [%v, %v] proved, want [%v, %v]", what, describe(p), lower, upper, l, u)
			}
		}
		check("as it is")
		top := min(maxCost(p), 1e290)
		for j := range r.Potentials.G {
			r.Potentials.G[j] -= d.Float64() * top
		}
		check("worse prices")
		carried := new(big.Rat)
		for n := range r.Plan { // more here and less there, below the slack
			e := &r.Plan[n]
			e.Mass *= 1 + 4e-10*(2*d.Float64()-1)
			x := rat(e.Mass)
			carried.Add(carried, x.Mul(x, rat(p.Cost.Row(e.I, nil)[e.J])))
		}
		r.Objective, _ = carried.Float64()
		r.Objective = min(r.Objective, math.MaxFloat64)
		check("another plan")
	}
	if points < 15 {
		t.Errorf("%d points", points)
	}
}

// TestTolerancesExactly: what the tolerances of boxes admit, and what is an ulp beyond, to the solver and to Verify.
func TestTolerancesExactly(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	even, wide := []float64{0.5, 0.5}, []float64{2, 2}
	none := []float64{0, 0}
	// Two numbers that sum to 1 - tol, exactly: the second one is below twice tol.
	below := func(tol float64) []float64 {
		_, e := math.Frexp(tol)
		x := math.Ldexp(1, e)
		return []float64{1 - x, x - tol}
	}
	more := func(x []float64) []float64 { return []float64{x[0], math.Nextafter(x[1], 1)} }
	less := func(x []float64) []float64 { return []float64{x[0], math.Nextafter(x[1], 0)} }
	heavy, thin := []float64{1, projection.BoxTol}, below(projection.BoxTol)
	for _, tt := range []struct {
		name           string
		source, lo, hi []float64
		want           error
	}{
		{"full lower bounds", even, heavy, wide, nil},
		{"too full", even, more(heavy), wide, wpmerr.ErrInfeasible},
		{"thin upper bounds", even, none, thin, nil},
		{"too thin", even, none, less(thin), wpmerr.ErrInfeasible},
	} {
		p := Problem{Cost: c, Source: tt.source, Lo: tt.lo, Hi: tt.hi}
		ok := p
		ok.Source, ok.Lo, ok.Hi = even, none, wide
		if tt.want == nil {
			ok = p
		}
		r := mustProject(t, ok, Settings{})
		if tt.want == nil {
			continue // and mustProject has verified it
		}
		if _, err := Project(t.Context(), p, Settings{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: Project says %v", tt.name, err)
		}
		if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, tt.want) {
			t.Errorf("%s: Verify says %v", tt.name, err)
		}
	}
	// What Verify allows for a Q that is rounded.
	const ulp = 0x1p-53 // of Q
	p := Problem{Cost: c, Source: even, Lo: none, Hi: wide}
	r := mustProject(t, p, Settings{})
	r.Lower, r.Upper = 0, 1
	point := Problem{Cost: c, Source: even, Lo: []float64{0.5, 0.5 + 4e-13}, Hi: wide}
	rounded := mustProject(t, point, Settings{})
	rounded.Lower, rounded.Upper = 0, 1
	q := rounded.Q[1]
	for _, tt := range []struct {
		name string
		p    Problem
		r    Result
		q    float64
		want error
	}{
		{"sum above", p, r, 0.5 + 4*ulp, nil}, {"sum too far above", p, r, 0.5 + 5*ulp, wpmerr.ErrCertificate},
		{"sum below", p, r, 0.5 - 4*ulp, nil}, {"sum too far below", p, r, 0.5 - 4.5*ulp, wpmerr.ErrCertificate},
		{"the point", point, rounded, q, nil}, {"beside it", point, rounded, q + 2*ulp, wpmerr.ErrCertificate},
		{"beside it, below", point, rounded, q - 2*ulp, wpmerr.ErrCertificate},
	} {
		tt.r.Q = []float64{tt.r.Q[0], tt.q}
		if _, _, err := Verify(context.Background(), tt.p, tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}
