package mincostflow

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// newtonColumns is the least number of columns for Newton's start.
const newtonColumns = 60

// wideProblem draws a problem with few rows and enough columns to be merged, more than once for
// most.
func (d draw) wideProblem() Problem {
	k, kv := 1+d.Intn(6), newtonColumns+d.Intn(900)
	p := Problem{Cost: d.Costs(k, kv), Source: d.masses(k)}
	m := d.masses(kv)
	switch d.Intn(5) {
	case 0: // tight at the top, with columns that take nothing when m has zeros
		p.Lo, p.Hi = make([]float64, kv), m
	case 1:
		p.Lo, p.Hi = m, m
	case 2: // far more room than there is mass
		p.Lo, p.Hi = make([]float64, kv), repeat(0.9, kv)
	case 3:
		p.Lo, p.Hi = scaled(m, 0.25), repeat(1e12, kv)
	default:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	return p
}

func TestNewtonStart(t *testing.T) {
	n := numtest.Cases(15, 300)
	for seed := range n {
		d := newDraw(uint64(seed) + 24e6)
		p := d.wideProblem()
		r := mustSimplex(t, p)
		// Stopped anywhere.
		limit := 1 + d.Intn(r.Stats.Pivots+1)
		s, err := bySimplex(p, limit)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, s)
		if s.Lower > r.Upper || s.Upper < r.Lower {
			t.Fatalf("%d pivots: [%v, %v], optimum in [%v, %v]", limit, s.Lower, s.Upper, r.Lower, r.Upper)
		}
	}
}

// heavyProblem draws a problem whose mass is mostly on a few of many rows.
func (d draw) heavyProblem() Problem {
	k, kv := 10+d.Intn(60), newtonColumns+d.Intn(200)
	p := Problem{Cost: d.Costs(k, kv), Source: make([]float64, k)}
	for i := range p.Source {
		p.Source[i] = math.Ldexp(1+d.Float64(), -60+d.Intn(60)) // a few ties
		if d.Intn(8) == 0 {
			p.Source[i] = 1 + d.Float64()
		}
	}
	m := d.masses(kv)
	switch d.Intn(4) {
	case 0:
		p.Lo, p.Hi = m, m
	case 1: // too much room for prices of artificial arcs
		p.Lo, p.Hi = scaled(m, 0.25), repeat(1e12, kv)
	default:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	return p
}

// TestHeavyStart: results keep all promises also where Newton's method sees heavy rows only, wherever they are stopped.
func TestHeavyStart(t *testing.T) {
	for seed := range numtest.Cases(30, 200) {
		d := newDraw(uint64(seed) + 27e6)
		p := d.heavyProblem()
		r := mustProject(t, p, Settings{})
		stopped, err := bySimplex(p, 1+d.Intn(r.Stats.Pivots+1))
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, stopped)
		if stopped.Lower > r.Upper || r.Lower > stopped.Upper {
			t.Fatalf("seed %d, %v: [%v, %v], and when stopped [%v, %v]", seed, describe(p), r.Lower, r.Upper, stopped.Lower,
				stopped.Upper)
		}
	}
}

// TestNewtonSavesWork: the point of it.
func TestNewtonSavesWork(t *testing.T) {
	p, err := instanceNamed("sq1000p1:sp20:2")
	if err != nil {
		t.Fatal(err)
	}
	r := mustProject(t, p, Settings{})
	if _, kv := p.Cost.Dims(); r.Stats.Pivots > kv/2 {
		t.Errorf("%d pivots for %d columns", r.Stats.Pivots, kv)
	}
}

// TestNewtonIgnoresIdleColumns: columns that take nothing may cost anything, also in the middle of
// the groups.
func TestNewtonIgnoresIdleColumns(t *testing.T) {
	const n = 160
	d := newDraw(26e6)
	p := Problem{Source: uniform(3), Lo: make([]float64, n), Hi: repeat(4./n, n)}
	rows := make([][]float64, 3)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = math.Ldexp(1+d.Float64(), -1000)
			if j%8 > 1 {
				rows[i][j], p.Hi[j] = math.MaxFloat64, 0
			}
		}
	}
	for j := range n {
		if p.Hi[j] > 0 {
			p.Hi[j] *= 2
		}
	}
	p.Cost = dense(t, rows...)
	r := mustProject(t, p, Settings{})
	if top := math.Ldexp(2, -1000); !(r.Gap() <= gapTol*top) || r.Objective > top {
		t.Errorf("objective %g, gap %g, costs at most %g", r.Objective, r.Gap(), top)
	}
}

// TestNewtonOddCosts: costs of -0, and gaps that vanish beside the prices, must not lead the comparison by bits astray.
func TestNewtonOddCosts(t *testing.T) {
	zero := math.Copysign(0, -1)
	for seed := range 60 {
		d := newDraw(uint64(seed) + 27e6)
		k, kv := 2+d.Intn(4), newtonColumns+d.Intn(80)
		c := d.Costs(k, kv)
		for x := range c.Data {
			switch seed % 4 {
			case 0:
				c.Data[x] = zero
			case 1:
				if d.Intn(2) == 0 {
					c.Data[x] = zero
				}
			case 2:
				c.Data[x] = 1e300 + float64(d.Intn(2))*1e284
			case 3:
				if c.Data[x] = zero; x%kv == 0 {
					c.Data[x] = 5e-324
				}
			}
		}
		m := d.masses(kv)
		mustSimplex(t, Problem{Cost: c, Source: d.masses(k), Lo: scaled(m, 0.5), Hi: scaled(m, 2)})
	}
}

// TestNewtonScale: a power of two in front of the costs changes nothing else, as in TestLawOfScale, whose
// problems are too small for this start.
func TestNewtonScale(t *testing.T) {
	for seed := range numtest.Cases(8, 20) {
		d := newDraw(uint64(seed) + 28e6)
		k, kv := 2+d.Intn(6), newtonColumns+d.Intn(300)
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = d.Float64()
		}
		p := Problem{Cost: c, Source: d.masses(k), Lo: repeat(0.5/float64(kv), kv), Hi: repeat(2/float64(kv), kv)}
		a := mustProject(t, p, Settings{})
		for _, s := range []int{-800, -30, 40, 900} {
			p.Cost = &cost.Dense{K: k, Kv: kv, Data: scaled(c.Data, math.Ldexp(1, s))}
			b := mustProject(t, p, Settings{})
			if !reflect.DeepEqual(a.Q, b.Q) || !reflect.DeepEqual(a.Plan, b.Plan) || a.Stats != b.Stats {
				t.Fatalf("scaled by 2^%d: %+v, want %+v", s, b.Stats, a.Stats)
			}
		}
	}
}

// TestNewtonFarColumn: a column that is far dearer than all others does not spoil the start: with any, pivots are at
// most half as many again as with none.
func TestNewtonFarColumn(t *testing.T) {
	const k, kv = 20, 500
	var plain int
	for _, far := range []float64{0, 1e3, 1e6, 1e9, 1e12, 1e16, 1e300} {
		pivots := 0
		for seed := range 4 {
			d := newDraw(uint64(seed) + 32e6)
			c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
			for x := range c.Data {
				c.Data[x] = d.Float64()
				if x%kv == 0 {
					c.Data[x] += far
				}
			}
			e := math.Exp(0.5)
			r := mustSimplex(t, Problem{Cost: c, Source: uniform(k), Lo: repeat(1/e/kv, kv), Hi: repeat(e/kv, kv)})
			pivots += r.Stats.Pivots
		}
		if far == 0 {
			plain = pivots
		}
		if pivots > plain+plain/2 {
			t.Errorf("%g: %d pivots, and %d without", far, pivots, plain)
		}
	}
}
