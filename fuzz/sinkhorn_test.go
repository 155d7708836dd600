package fuzz

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/wpmerr"
)

var sinkhornSentinels = []error{
	wpmerr.ErrShape, wpmerr.ErrNotFinite, wpmerr.ErrNegative, wpmerr.ErrMass, wpmerr.ErrSupport, wpmerr.ErrBox,
	wpmerr.ErrInfeasible, wpmerr.ErrReg, wpmerr.ErrSettings,
}

// FuzzEntropic: whatever the problem, the start and the settings, what Project returns passes Verify in rationals, also
// when it stops early, and its bounds meet those of the exact solver.
func FuzzEntropic(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 8, 8, 0, 0, 8, 8, 0, 0, 0, 128, 0, 8, 8, 0, 8, 8, 60, 0})
	f.Add([]byte{2, 2, 0, 0, 8, 16, 8, 0, 8, 16, 8, 0, 0, 8, 16, 24, 0, 100, 0, 8, 16, 24, 0, 24, 16, 8, 20, 1})
	f.Add([]byte{0, 3, 0, 0, 8, 252, 4, 0, 8, 6, 0, 8, 8, 8, 8, 1, 3, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(4)
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		p := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: in.mass(k, 1)}}
		p.Lo, p.Hi = in.box(kv)
		rel := math.Pow(10, -float64(in.byte())/40) // 1 to 4e-7
		if reg, err := sinkhorn.RelativeReg(context.Background(), c, rel); err == nil {
			p.Reg = reg
		} else {
			typed(t, err, wpmerr.ErrReg)
			p.Reg = in.float()
		}
		s := sinkhorn.Settings{MaxIterations: 2000}
		style := in.byte()
		if style&1 != 0 {
			s.Method = sinkhorn.Paper
		}
		if style&2 != 0 {
			s.Gap = math.Pow(10, -float64(in.byte())/60)
		}
		if style&4 != 0 {
			s.MaxIterations = 1 + int(in.byte()%8)
		}
		if style&8 != 0 {
			s.Initial = in.floats(kv)
		}
		s.History = style&16 != 0
		source, lo, hi := clone(p.Source), clone(p.Lo), clone(p.Hi)
		r, err := sinkhorn.Project(context.Background(), p, s)
		sameBits(t, "source", p.Source, source)
		sameBits(t, "lo", p.Lo, lo)
		sameBits(t, "hi", p.Hi, hi)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			typed(t, err, sinkhornSentinels...)
			return
		}
		upper, lower, verr := sinkhorn.Verify(context.Background(), p, r)
		if verr != nil {
			r.History = nil // long
			t.Fatalf("Verify: %v\nproblem %+v\ncost %v\nsettings %+v\nresult %+v", verr, p, c, s, r)
		}
		if lower.Cmp(upper) > 0 {
			t.Fatalf("bounds [%v, %v]", r.Lower, r.Upper)
		}
		e, xerr := mincostflow.Project(context.Background(),
			projection.Problem{Cost: c, Source: p.Source, Lo: p.Lo, Hi: p.Hi}, mincostflow.Settings{})
		if xerr != nil {
			t.Fatalf("the exact solver refuses: %v", xerr)
		}
		if num.Rat(r.Lower).Cmp(num.Rat(e.Upper)) > 0 || num.Rat(r.Upper).Cmp(num.Rat(e.Lower)) < 0 {
			t.Fatalf("bounds [%v, %v], exact [%v, %v]", r.Lower, r.Upper, e.Lower, e.Upper)
		}
		// The residual is a promise; above 1e-6 of the range it is always met, if there is time.
		if err == nil && s.Gap == 0 && !(r.Residual <= math.Max(1e-12, 1e-14/rel)) {
			t.Fatalf("residual %v without an error", r.Residual)
		}
	})
}

// FuzzUsers: whatever the mechanism and the settings, every distribution's result passes Verify in rationals, its
// bounds meet those of the exact solver, and it has the same bits when it is asked for again after the others.
func FuzzUsers(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 8, 8, 0, 0, 8, 8, 0, 0, 0, 60, 0, 2, 0, 8, 8, 0, 16, 8})
	f.Add([]byte{3, 3, 0, 0, 8, 16, 8, 0, 8, 16, 8, 0, 0, 8, 16, 24, 0, 8, 16, 24, 0, 24, 16, 8, 20, 1, 120, 3, 0, 8, 0, 0,
		0, 0, 0, 8, 8, 16})
	f.Add([]byte{2, 5, 0, 0, 8, 252, 4, 0, 8, 6, 0, 8, 8, 8, 8, 1, 3, 9, 90, 5, 2, 1, 200, 1, 8, 8, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(5), in.size(6)
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		lo, hi := in.box(kv)
		reg, err := sinkhorn.RelativeReg(context.Background(), c, math.Pow(10, -float64(in.byte())/40)) // 1 to 4e-7
		if err != nil {
			typed(t, err, wpmerr.ErrReg)
			reg = in.float()
		}
		s := sinkhorn.Settings{MaxIterations: 2000}
		style := in.byte()
		if style&1 != 0 {
			s.Gap = math.Pow(10, -float64(in.byte())/60)
		}
		if style&2 != 0 {
			s.MaxIterations = 1 + int(in.byte()%8)
		}
		keptLo, keptHi := clone(lo), clone(hi)
		p, err := sinkhorn.NewProjector(context.Background(), c, lo, hi, reg, s)
		sameBits(t, "lo", lo, keptLo)
		sameBits(t, "hi", hi, keptHi)
		if err != nil {
			typed(t, err, sinkhornSentinels...)
			return
		}
		users := make([][]float64, 1+in.size(4))
		for n := range users {
			users[n] = in.mass(k, 1)
		}
		results := make([]sinkhorn.Result, len(users))
		errs := make([]error, len(users))
		for n, mu := range users {
			kept := clone(mu)
			errs[n] = p.Project(context.Background(), mu, nil, &results[n])
			sameBits(t, "mu", mu, kept)
			if errs[n] != nil && !errors.Is(errs[n], wpmerr.ErrNotConverged) {
				typed(t, errs[n], sinkhornSentinels...)
				continue
			}
			whole := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: reg}
			upper, lower, verr := sinkhorn.Verify(context.Background(), whole, results[n])
			if verr != nil {
				t.Fatalf("Verify: %v\nproblem %+v\ncost %v\nsettings %+v\nresult %+v", verr, whole, c, s, results[n])
			}
			e, xerr := mincostflow.Project(context.Background(), projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi},
				mincostflow.Settings{})
			if xerr != nil {
				t.Fatalf("the exact solver refuses: %v", xerr)
			}
			if lower.Cmp(num.Rat(e.Upper)) > 0 || upper.Cmp(num.Rat(e.Lower)) < 0 {
				t.Fatalf("bounds [%v, %v], exact [%v, %v]", results[n].Lower, results[n].Upper, e.Lower, e.Upper)
			}
		}
		for n := len(users) - 1; n >= 0; n-- {
			var r sinkhorn.Result
			err := p.Project(context.Background(), users[n], nil, &r)
			if (err == nil) != (errs[n] == nil) || err != nil && err.Error() != errs[n].Error() {
				t.Fatalf("first: %v, after others: %v", errs[n], err)
			}
			sameBits(t, "q", r.Q, results[n].Q)
			sameBits(t, "bounds", []float64{r.Upper, r.Lower, r.Objective},
				[]float64{results[n].Upper, results[n].Lower, results[n].Objective})
		}
	})
}

// FuzzKLProject: q is in the box, of mass 1, and a clipped multiple of s.
func FuzzKLProject(f *testing.F) {
	f.Add([]byte{3, 0, 8, 16, 24, 0, 128, 0, 8, 8, 8, 8, 0, 8, 8, 8, 8})
	f.Add([]byte{2, 6, 5, 7, 13, 1, 0, 8, 8, 8, 0, 8, 8, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		n := in.size(8)
		logS := in.floats(n)
		lo, hi := in.box(n)
		q, theta, err := kl.Project(logS, lo, hi)
		if err != nil {
			typed(t, err, sinkhornSentinels...)
			return
		}
		if math.IsNaN(theta) || math.IsInf(theta, 1) || math.IsInf(theta, -1) && total(lo) < 1-1e-15*float64(n) {
			t.Fatalf("theta = %v for logS %v, lo %v, hi %v, q %v", theta, logS, lo, hi, q)
		}
		finite(t, "q", q...)
		var sum, top float64
		point := math.Abs(total(lo)-1) < 1e-11 || math.Abs(total(hi)-1) < 1e-11
		for j, x := range q {
			sum += x
			if !math.IsInf(logS[j], -1) {
				top = math.Max(top, math.Abs(logS[j]))
			}
			if !point && !(lo[j] <= x && x <= hi[j]) {
				t.Fatalf("q[%d] = %v outside [%v, %v]", j, x, lo[j], hi[j])
			}
		}
		if !(math.Abs(sum-1) <= float64(2*n)*0x1p-52) {
			t.Fatalf("sum %v", sum)
		}
		if point || top > 1e15 {
			return
		}
		for j, x := range q {
			want := math.Min(math.Max(math.Exp(theta+logS[j]), lo[j]), hi[j])
			if !(math.Abs(x-want) <= (1+top+math.Abs(theta))*0x1p-48*math.Max(x, want)+float64(n)*0x1p-50) {
				t.Fatalf("q[%d] = %v, want %v (logS %v, lo %v, hi %v, theta %v)", j, x, want, logS, lo, hi, theta)
			}
		}
	})
}

func total(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s
}

// FuzzHilbert: distances and diameters by their definitions, term by term.
func FuzzHilbert(f *testing.F) {
	f.Add([]byte{1, 2, 0, 8, 16, 24, 8, 8, 0, 0, 8, 8, 16, 8, 8})
	f.Add([]byte{3, 3, 0, 1, 9, 17, 25, 33, 41, 49, 57, 65, 73, 81, 89, 97, 105, 113, 121, 20})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(4), in.size(4)
		x, y := in.floats(kv), in.floats(kv)
		d, err := hilbert.Distance(x, y)
		if err != nil {
			typed(t, err, wpmerr.ErrNotFinite, wpmerr.ErrNegative)
		} else {
			var want float64
			for i := range x {
				for j := range x {
					if (x[i] == 0) != (y[i] == 0) {
						want = math.Inf(1)
					} else if x[i] > 0 && x[j] > 0 {
						want = math.Max(want, logarithm(x[i])-logarithm(y[i])+logarithm(y[j])-logarithm(x[j]))
					}
				}
			}
			if !(math.Abs(d-want) <= 1e-12 || d == want) { // four logarithms of up to 745
				t.Fatalf("Distance(%v, %v) = %v, want %v", x, y, d, want)
			}
			back, err := hilbert.Distance(y, x)
			if err != nil || !(back == d || math.Abs(back-d) <= 1e-12) {
				t.Fatalf("Distance(%v, %v) = %v, %v, the other way %v", x, y, d, err, back)
			}
		}
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		reg := in.float()
		delta, err := hilbert.GibbsDiameter(context.Background(), c, reg)
		bound, berr := hilbert.GibbsBound(context.Background(), c, reg)
		if (err == nil) != (berr == nil) {
			t.Fatalf("GibbsDiameter: %v, GibbsBound: %v", err, berr)
		}
		if err != nil {
			typed(t, err, wpmerr.ErrReg)
			return
		}
		want, scale := 0.0, 1.0
		if given.Max(c) > 0x1p1000 {
			scale = 2 // the differences could overflow, and are far from where a half loses bits
		}
		for i := range k {
			for l := range k {
				for j := range kv {
					for m := range kv {
						a, b := c.Data[i*kv+j]-c.Data[l*kv+j], c.Data[i*kv+m]-c.Data[l*kv+m]
						want = math.Max(want, (a/scale-b/scale)/reg*scale)
					}
				}
			}
		}
		tol := 8 * 0x1p-52 * given.Max(c) / reg
		if !(math.Abs(delta-want) <= tol+5e-324 || delta == want) || !(bound >= delta) {
			t.Fatalf("GibbsDiameter(%v, %v) = %v, want %v, bound %v", c, reg, delta, want, bound)
		}
		tau, rest := hilbert.Contraction(delta)
		rate, restRate := hilbert.Rate(delta)
		finite(t, "tau, c and what is left to 1", tau, rest, rate, restRate)
		if !(tau >= 0 && tau <= 1 && rest >= 0 && rest <= 1 && rate <= tau) {
			t.Fatalf("diameter %v: tau %v, 1 - tau %v, c %v", delta, tau, rest, rate)
		}
	})
}

// logarithm is right for subnormal numbers, too.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	return math.Log(m) + float64(e)*math.Ln2
}
