package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// counts draws n counts that sum to total, of one of several kinds.
func (d draw) counts(n int, total int64) []int64 {
	x := make([]int64, n)
	left := total
	kind := d.Intn(4)
	for left > 0 {
		u := min(left, 1+total/int64(3*n))
		switch kind {
		case 1: // anything
			u = min(left, 1+int64(d.Float64()*float64(left)))
		case 2: // all in one place
			u = left
		}
		x[d.Intn(n)] += u
		left -= u
	}
	return x
}

// unitProblem draws a problem with at most most rows and columns, and up to 2^62 units.
func (d draw) unitProblem(most int) UnitProblem {
	k, kv := 1+d.Intn(most), 1+d.Intn(most)
	p := UnitProblem{Cost: d.costs(k, kv)}
	n := int64(1)
	switch d.Intn(5) {
	case 0:
		n += int64(d.Intn(10))
	case 1:
		n = 1 << 62
	case 2:
		n = 1<<62 - int64(d.Intn(3))
	default:
		n += int64(math.Ldexp(d.Float64(), 1+d.Intn(61)))
	}
	p.Source = d.counts(k, n)
	p.Lo, p.Hi = make([]int64, kv), make([]int64, kv)
	switch d.Intn(5) {
	case 0: // a point
		p.Lo = d.counts(kv, n)
		p.Hi = slices.Clone(p.Lo)
	case 1: // no lower bounds, and room without end here and there
		p.Hi = d.counts(kv, n)
		p.Hi[d.Intn(kv)] = math.MaxInt64
	case 2: // full at the lower end
		p.Lo = d.counts(kv, n)
		for j, l := range p.Lo {
			p.Hi[j] = l + int64(d.Intn(3))*(min(l, math.MaxInt64-l)/2)
		}
	default:
		p.Lo = d.counts(kv, n/3)
		p.Hi = d.counts(kv, n)
		for j, l := range p.Lo {
			p.Hi[j] += l
		}
	}
	if d.Intn(4) == 0 { // sparse
		p.Support = []int{}
		var kept []int64
		for i, u := range p.Source {
			if u > 0 || d.Intn(2) == 0 {
				p.Support, kept = append(p.Support, i), append(kept, u)
			}
		}
		p.Source = kept
	}
	return p
}

func (p UnitProblem) String() string {
	return fmt.Sprint(describe(Problem{Cost: p.Cost}), p.Source, p.Support, p.Lo, p.Hi)
}

// exactUnits is the optimum by successive shortest paths in rationals.
func exactUnits(p UnitProblem) *big.Rat {
	k, kv := p.Cost.Dims()
	n := new(big.Rat)
	for _, u := range p.Source {
		n.Add(n, big.NewRat(u, 1))
	}
	over := func(u int64) *big.Rat { return new(big.Rat).Quo(big.NewRat(u, 1), n) }
	mu, lo, hi := make([]*big.Rat, k), make([]*big.Rat, kv), make([]*big.Rat, kv)
	for i := range mu {
		mu[i] = new(big.Rat)
	}
	for m, u := range p.Source {
		i := m
		if p.Support != nil {
			i = p.Support[m]
		}
		mu[i] = over(u)
	}
	for j := range lo {
		lo[j], hi[j] = over(p.Lo[j]), over(p.Hi[j])
	}
	return exactFlow(p.Cost, mu, lo, hi)
}

// mustUnits solves p and checks everything that an optimal result promises.
func mustUnits(t testing.TB, p UnitProblem, s Settings) UnitResult {
	t.Helper()
	r, err := ProjectUnits(context.Background(), p, s)
	if err != nil {
		t.Fatalf("ProjectUnits(%v) = %v", p, err)
	}
	upper, lower, err := VerifyUnits(p, r)
	if err != nil {
		t.Fatalf("VerifyUnits(%v) = %v\n%+v", p, err, r)
	}
	if r.Status != Optimal || upper.Cmp(lower) != 0 || r.Upper.Cmp(upper) != 0 || r.Lower.Cmp(lower) != 0 {
		t.Fatalf("%v: %v, proved [%v, %v], claimed [%v, %v]", p, r.Status, lower, upper, r.Lower, r.Upper)
	}
	if f, _ := upper.Float64(); r.Objective != f {
		t.Fatalf("%v: Objective = %v, want %v", p, r.Objective, f)
	}
	return r
}

// TestUnits compares with exact shortest paths: one number, on every instance.
func TestUnits(t *testing.T) {
	n := 1200
	if !numtest.Full() {
		n = 150
	}
	repaired := 0
	for seed := range n {
		p := newDraw(uint64(seed) + 50e6).unitProblem(4)
		r := mustUnits(t, p, Settings{})
		if want := exactUnits(p); want == nil || r.Upper.Cmp(want) != 0 {
			t.Fatalf("%v: %v, want %v", p, r.Upper, want)
		}
		if r.Stats.Repairs > 0 {
			repaired++
		}
	}
	t.Logf("%d of %d instances repaired", repaired, n)
	if repaired == 0 {
		t.Error("no instance needed exact prices: the test tests little")
	}
}

// TestUnitsLarger has instances beyond that oracle, with Newton starts, whose certificate speaks for itself.
func TestUnitsLarger(t *testing.T) {
	n := 300
	if !numtest.Full() {
		n = 60
	}
	newton := 0
	for seed := range n {
		d := newDraw(uint64(seed) + 51e6)
		p := d.unitProblem(30)
		if seed%3 == 0 {
			k, kv := 2+d.Intn(6), newtonColumns+d.Intn(300)
			p.Cost, p.Support = d.costs(k, kv), nil
			total := int64(1) << (8 + d.Intn(55))
			p.Source = d.counts(k, total)
			p.Lo, p.Hi = d.counts(kv, total/3), d.counts(kv, total)
			for j, l := range p.Lo {
				p.Hi[j] += l
			}
			newton++
		}
		mustUnits(t, p, Settings{})
	}
	if newton == 0 {
		t.Error("no wide instance")
	}
}

// TestUnitsBruteForce compares with all plans for a few units, k, kv <= 4.
func TestUnitsBruteForce(t *testing.T) {
	n := 300
	if !numtest.Full() {
		n = 60
	}
	for seed := range n {
		d := newDraw(uint64(seed) + 52e6)
		k, kv := 1+d.Intn(4), 1+d.Intn(4)
		total := int64(1 + d.Intn(6))
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = float64(d.Intn(8))
		}
		p := UnitProblem{Cost: c, Source: d.counts(k, total), Lo: d.counts(kv, int64(d.Intn(int(total)+1))),
			Hi: d.counts(kv, total)}
		for j, l := range p.Lo {
			p.Hi[j] += l
		}
		best := math.Inf(1)
		q := make([]int64, kv)
		var place func(i int, left int64, j int, carried float64)
		place = func(i int, left int64, j int, carried float64) {
			if left == 0 {
				if i++; i == k {
					for j := range q {
						if q[j] < p.Lo[j] || q[j] > p.Hi[j] {
							return
						}
					}
					best = min(best, carried)
					return
				}
				place(i, p.Source[i], 0, carried)
				return
			}
			for ; j < kv; j++ { // columns in ascending order, one unit at a time
				q[j]++
				place(i, left-1, j, carried+c.Data[i*kv+j])
				q[j]--
			}
		}
		place(-1, 0, 0, 0)
		want := new(big.Rat).Quo(rat(best), big.NewRat(total, 1))
		if r := mustUnits(t, p, Settings{}); r.Upper.Cmp(want) != 0 {
			t.Fatalf("%v: %v, want %v", p, r.Upper, want)
		}
	}
}

// TestUnitsAreProject: with dyadic masses, units and floats describe the same problem.
func TestUnitsAreProject(t *testing.T) {
	for seed := range 200 {
		d := newDraw(uint64(seed) + 53e6)
		k, kv := 1+d.Intn(8), 1+d.Intn(8)
		const total = 1 << 12
		p := UnitProblem{Cost: d.costs(k, kv), Source: d.counts(k, total), Lo: d.counts(kv, total/4), Hi: d.counts(kv, total)}
		for j, l := range p.Lo {
			p.Hi[j] += l
		}
		over := func(xs []int64) []float64 {
			ys := make([]float64, len(xs))
			for n, x := range xs {
				ys[n] = float64(x) / total
			}
			return ys
		}
		r := mustUnits(t, p, Settings{})
		f := mustProject(t, Problem{Cost: p.Cost, Source: over(p.Source), Lo: over(p.Lo), Hi: over(p.Hi)},
			Settings{noKnapsack: true})
		if rat(f.Lower).Cmp(r.Upper) > 0 || rat(f.Upper).Cmp(r.Lower) < 0 {
			t.Fatalf("%v: %v, floats say [%v, %v]", p, r.Objective, f.Lower, f.Upper)
		}
	}
}

// TestUnitsBelowTheGrid has costs that differ by less than the grid of the simplex resolves: the last bits decide.
func TestUnitsBelowTheGrid(t *testing.T) {
	const n = 30
	repaired := 0
	for seed := range 20 {
		d := newDraw(uint64(seed) + 54e6)
		c := &cost.Dense{K: n, Kv: n, Data: make([]float64, n*n)}
		for x := range c.Data {
			c.Data[x] = 1 + float64(d.Intn(8))*0x1p-52
		}
		if seed%2 == 1 { // ties up to rounding, as in any metric
			for i := range n {
				for j := range n {
					c.Data[i*n+j] = math.Abs(float64(i)*0.1 - float64(j)*0.1)
				}
			}
		}
		p := UnitProblem{Cost: c, Source: d.counts(n, 1000), Lo: make([]int64, n), Hi: slices.Repeat([]int64{40}, n)}
		r := mustUnits(t, p, Settings{})
		repaired += r.Stats.Repairs
	}
	if repaired == 0 {
		t.Error("no repairs: the test tests nothing")
	}
}

// TestUnitsRows: with AllRows, rows without units have the largest valid potential, as an exact number.
func TestUnitsRows(t *testing.T) {
	for seed := range 100 {
		d := newDraw(uint64(seed) + 55e6)
		p := d.unitProblem(7)
		a := mustUnits(t, p, Settings{AllRows: true})
		b := mustUnits(t, p, Settings{})
		if !reflect.DeepEqual(a.Q, b.Q) || !reflect.DeepEqual(a.Plan, b.Plan) {
			t.Fatalf("%v: idle rows change the plan", p)
		}
		for i, f := range a.Potentials.F {
			var least *big.Rat
			for j, c := range p.Cost.Row(i, nil) {
				if x := new(big.Rat).Sub(rat(c), a.Potentials.G[j]); least == nil || x.Cmp(least) < 0 {
					least = x
				}
			}
			if f.Cmp(least) != 0 {
				t.Fatalf("%v: F[%d] = %v, want %v", p, i, f, least)
			}
		}
	}
}

// TestUnitsStop: wherever it is stopped, the plan is one of whole units and the bounds hold.
func TestUnitsStop(t *testing.T) {
	problems := []UnitProblem{}
	for seed := range 8 {
		problems = append(problems, newDraw(uint64(seed)+56e6).unitProblem(6))
	}
	d := newDraw(57e6)
	wide := UnitProblem{Cost: d.costs(5, 90), Source: d.counts(5, 1<<40), Lo: d.counts(90, 1<<38), Hi: d.counts(90, 1<<41)}
	for j, l := range wide.Lo {
		wide.Hi[j] += l
	}
	problems = append(problems, wide)
	for n, p := range problems {
		want := mustUnits(t, p, Settings{}).Upper
		check := func(r UnitResult, err error, st Status) bool {
			t.Helper()
			if err == nil {
				return true
			}
			if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != st {
				t.Fatalf("problem %d: %v, %v", n, r.Status, err)
			}
			upper, lower, verr := VerifyUnits(p, r)
			if verr != nil {
				t.Fatalf("%v: %v", p, verr)
			}
			if upper.Cmp(want) < 0 || lower.Cmp(want) > 0 {
				t.Fatalf("%v: [%v, %v] excludes %v", p, lower, upper, want)
			}
			return false
		}
		for asked := 0; ; asked++ {
			left := asked
			if r, err := ProjectUnits(countdown{context.Background(), &left}, p, Settings{}); check(r, err, Cancelled) {
				break
			}
		}
		for limit := 1; ; limit++ {
			if r, err := ProjectUnits(context.Background(), p, Settings{maxPivots: limit}); check(r, err, Cancelled) {
				break
			}
		}
	}
}

func TestUnitErrors(t *testing.T) {
	ok := func() UnitProblem {
		return UnitProblem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}, []float64{2, 2}), Source: []int64{3, 2, 0},
			Lo: []int64{1, 1}, Hi: []int64{4, 4}}
	}
	raw := func(data ...float64) *cost.Dense { return &cost.Dense{K: 3, Kv: 2, Data: data} }
	const most = math.MaxInt64
	for _, c := range []struct {
		name string
		edit func(p *UnitProblem, s *Settings)
		want error
	}{
		{"no cost", func(p *UnitProblem, _ *Settings) { p.Cost = nil }, wpmerr.ErrShape},
		{"nil dense", func(p *UnitProblem, _ *Settings) { p.Cost = (*cost.Dense)(nil) }, wpmerr.ErrShape},
		{"short row", func(p *UnitProblem, _ *Settings) { p.Cost = shortRow{p.Cost} }, wpmerr.ErrShape},
		{"NaN cost", func(p *UnitProblem, _ *Settings) { p.Cost = raw(0, 1, math.NaN(), 0, 2, 2) }, wpmerr.ErrNotFinite},
		{"negative cost of an idle row",
			func(p *UnitProblem, s *Settings) { s.AllRows, p.Cost = true, raw(0, 1, 1, 0, 2, -2) }, wpmerr.ErrNegative},
		{"source too short", func(p *UnitProblem, _ *Settings) { p.Source = []int64{1} }, wpmerr.ErrShape},
		{"support too short", func(p *UnitProblem, _ *Settings) { p.Support = []int{0, 1} }, wpmerr.ErrShape},
		{"support unsorted", func(p *UnitProblem, _ *Settings) { p.Support = []int{1, 0, 2} }, wpmerr.ErrSupport},
		{"negative source", func(p *UnitProblem, _ *Settings) { p.Source = []int64{3, -1, 0} }, wpmerr.ErrNegative},
		{"no units", func(p *UnitProblem, _ *Settings) { p.Source = []int64{0, 0, 0} }, wpmerr.ErrMass},
		{"one unit too many", func(p *UnitProblem, _ *Settings) { p.Source = []int64{1 << 61, 1 << 61, 1} }, wpmerr.ErrOverflow},
		{"sums overflow", func(p *UnitProblem, _ *Settings) { p.Source = []int64{most, most, most} }, wpmerr.ErrOverflow},
		{"bounds too short", func(p *UnitProblem, _ *Settings) { p.Lo = nil }, wpmerr.ErrShape},
		{"negative lower bound", func(p *UnitProblem, _ *Settings) { p.Lo[1] = -1 }, wpmerr.ErrNegative},
		{"negative upper bound", func(p *UnitProblem, _ *Settings) { p.Lo[1], p.Hi[1] = 0, -1 }, wpmerr.ErrNegative},
		{"crossed bounds", func(p *UnitProblem, _ *Settings) { p.Lo[1] = 5 }, wpmerr.ErrBox},
		{"too little for the lower bounds", func(p *UnitProblem, _ *Settings) { p.Lo = []int64{4, 2} }, wpmerr.ErrInfeasible},
		{"lower bounds overflow", func(p *UnitProblem, _ *Settings) { p.Lo = []int64{most, most}; p.Hi = p.Lo },
			wpmerr.ErrInfeasible},
		{"too much for the upper bounds", func(p *UnitProblem, _ *Settings) { p.Hi = []int64{2, 2} }, wpmerr.ErrInfeasible},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := ok(), Settings{}
			good := mustUnits(t, p, s)
			c.edit(&p, &s)
			r, err := ProjectUnits(context.Background(), p, s)
			if !errors.Is(err, c.want) || !reflect.DeepEqual(r, UnitResult{}) {
				t.Errorf("ProjectUnits: %v, want %v; result %+v", err, c.want, r)
			}
			if _, _, err := VerifyUnits(p, good); !errors.Is(err, c.want) {
				t.Errorf("VerifyUnits: %v, want %v", err, c.want)
			}
		})
	}
}

// TestVerifyUnitsRefuses changes one thing at a time in a good result.
func TestVerifyUnitsRefuses(t *testing.T) {
	p := UnitProblem{
		Cost:   dense(t, []float64{0, 1, 4, 9}, []float64{1, 0, 1, 4}, []float64{4, 1, 0, 1}),
		Source: []int64{10, 2, 4}, Lo: []int64{2, 2, 2, 1}, Hi: []int64{6, 6, 6, 6},
	}
	tiny := new(big.Rat).SetFloat64(0x1p-200)
	for name, edit := range map[string]func(r *UnitResult){
		"Q too short":           func(r *UnitResult) { r.Q = r.Q[:3] },
		"Q outside":             func(r *UnitResult) { r.Q[0]++ },
		"Q negative":            func(r *UnitResult) { r.Q[0] = -1 },
		"Q of another sum":      func(r *UnitResult) { r.Q[3]++ },
		"Q elsewhere":           func(r *UnitResult) { r.Q[1]--; r.Q[2]++ },
		"no plan":               func(r *UnitResult) { r.Plan = nil },
		"a unit less":           func(r *UnitResult) { r.Plan[0].Units-- },
		"a unit more":           func(r *UnitResult) { r.Plan[0].Units++ },
		"a negative entry":      func(r *UnitResult) { r.Plan[0].Units = -r.Plan[0].Units },
		"an empty entry":        func(r *UnitResult) { r.Plan = append(r.Plan, UnitEntry{2, 3, 0}) },
		"row outside":           func(r *UnitResult) { r.Plan[len(r.Plan)-1].I = 3 },
		"row negative":          func(r *UnitResult) { r.Plan[0].I = -1 },
		"column outside":        func(r *UnitResult) { r.Plan[len(r.Plan)-1].J = 4 },
		"column negative":       func(r *UnitResult) { r.Plan[0].J = -1 },
		"unsorted":              func(r *UnitResult) { slices.Reverse(r.Plan) },
		"F too short":           func(r *UnitResult) { r.Potentials.F = r.Potentials.F[:2] },
		"F missing":             func(r *UnitResult) { r.Potentials.F[1] = nil },
		"G missing":             func(r *UnitResult) { r.Potentials.G[1] = nil },
		"F too large by a hair": func(r *UnitResult) { r.Potentials.F[1] = new(big.Rat).Add(r.Potentials.F[1], tiny) },
		"G too large":           func(r *UnitResult) { r.Potentials.G[1] = big.NewRat(1<<40, 1) },
		"F beyond floats": func(r *UnitResult) {
			r.Potentials.F[0] = new(big.Rat).SetInt(
				new(big.Int).Lsh(big.NewInt(1), 2000))
		},
		"worse G": func(r *UnitResult) {
			r.Potentials.G[0] = new(big.Rat).Sub(r.Potentials.G[0],
				big.NewRat(1, 1))
		},
		"Lower too large":        func(r *UnitResult) { r.Lower = new(big.Rat).Add(r.Lower, tiny) },
		"Upper too small":        func(r *UnitResult) { r.Upper = new(big.Rat).Sub(r.Upper, tiny) },
		"no Lower":               func(r *UnitResult) { r.Lower = nil },
		"no Upper":               func(r *UnitResult) { r.Upper = nil },
		"Objective not a number": func(r *UnitResult) { r.Objective = math.NaN() },
	} {
		t.Run(name, func(t *testing.T) {
			r := mustUnits(t, p, Settings{})
			edit(&r)
			if _, _, err := VerifyUnits(p, r); !errors.Is(err, wpmerr.ErrCertificate) {
				t.Errorf("VerifyUnits: %v, want ErrCertificate", err)
			}
		})
	}
}
