package units

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
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/wpmerr"
)

// draw draws a problem with at most most rows and columns, a quarter of them sparse.
func draw(d given.Hard, most int) Problem {
	u := d.Units(most)
	p := Problem{Cost: u.Cost, Source: u.Source, Lo: u.Lo, Hi: u.Hi}
	if d.Intn(4) == 0 {
		p.Support, p.Source = []int{}, nil
		for i, n := range u.Source {
			if n > 0 || d.Intn(2) == 0 {
				p.Support, p.Source = append(p.Support, i), append(p.Source, n)
			}
		}
	}
	return p
}

// wide draws a problem of few rows and columns enough for Newton's start.
func wide(d given.Hard) Problem {
	k, kv := 2+d.Intn(6), 60+d.Intn(300)
	total := int64(1) << (8 + d.Intn(55))
	p := Problem{Cost: d.Costs(k, kv), Source: d.Counts(k, total), Lo: d.Counts(kv, total/3), Hi: d.Counts(kv, total)}
	for j, l := range p.Lo {
		p.Hi[j] += l
	}
	return p
}

func (p Problem) String() string {
	return fmt.Sprintf("%v %v %v %v %v", p.Cost, p.Source, p.Support, p.Lo, p.Hi)
}

// second is the optimum by the rational solver of package exact.
func second(p Problem) *big.Rat {
	k, kv := p.Cost.Dims()
	mu, lo, hi, c := exact.Zeros(k), exact.Zeros(kv), exact.Zeros(kv), make([][]*big.Rat, k)
	n := new(big.Rat)
	for m, u := range p.Source {
		mu[p.row(m)] = big.NewRat(u, 1)
		n.Add(n, mu[p.row(m)])
	}
	for i := range c {
		mu[i].Quo(mu[i], n)
		c[i] = exact.Rats(p.Cost.Row(i, nil))
	}
	for j := range lo {
		lo[j].Quo(lo[j].SetInt64(p.Lo[j]), n)
		hi[j].Quo(hi[j].SetInt64(p.Hi[j]), n)
	}
	value, _, err := exact.Flow(c, mu, lo, hi)
	if err != nil {
		return nil
	}
	return value
}

// must solves p and checks everything that an optimal result promises.
func must(t testing.TB, p Problem, s Settings) Result {
	t.Helper()
	r, err := Project(context.Background(), p, s)
	if err != nil {
		t.Fatalf("Project(%v) = %v", p, err)
	}
	upper, lower, err := Verify(context.Background(), p, r)
	if err != nil {
		t.Fatalf("Verify(%v) = %v\n%+v", p, err, r)
	}
	if r.Status != Optimal || upper.Cmp(lower) != 0 || r.Upper.Cmp(upper) != 0 || r.Lower.Cmp(lower) != 0 {
		t.Fatalf("%v: %v, proved [%v, %v], claimed [%v, %v]", p, r.Status, lower, upper, r.Lower, r.Upper)
	}
	if f, _ := upper.Float64(); r.Objective != f {
		t.Fatalf("%v: Objective = %v, want %v", p, r.Objective, f)
	}
	return r
}

// TestSecondOpinion compares with exact shortest paths: one number, on every instance.
func TestSecondOpinion(t *testing.T) {
	n := 1200
	if !numtest.Full() {
		n = 150
	}
	repaired := 0
	for seed := range n {
		p := draw(given.NewHard(uint64(seed)+50e6), 4)
		r := must(t, p, Settings{})
		if want := second(p); want == nil || r.Upper.Cmp(want) != 0 {
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

// TestLarger has instances beyond that oracle, with Newton starts, whose certificate speaks for itself.
func TestLarger(t *testing.T) {
	n := 300
	if !numtest.Full() {
		n = 60
	}
	for seed := range n {
		d := given.NewHard(uint64(seed) + 51e6)
		p := draw(d, 30)
		if seed%3 == 0 {
			p = wide(d)
		}
		must(t, p, Settings{})
	}
}

// TestBruteForce compares with all plans for a few units, k, kv <= 4.
func TestBruteForce(t *testing.T) {
	n := 300
	if !numtest.Full() {
		n = 60
	}
	for seed := range n {
		d := given.NewHard(uint64(seed) + 52e6)
		k, kv := 1+d.Intn(4), 1+d.Intn(4)
		total := int64(1 + d.Intn(6))
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = float64(d.Intn(8))
		}
		p := Problem{Cost: c, Source: d.Counts(k, total), Lo: d.Counts(kv, int64(d.Intn(int(total)+1))),
			Hi: d.Counts(kv, total)}
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
		want := new(big.Rat).Quo(exact.Rat(best), big.NewRat(total, 1))
		if r := must(t, p, Settings{}); r.Upper.Cmp(want) != 0 {
			t.Fatalf("%v: %v, want %v", p, r.Upper, want)
		}
	}
}

// TestFloatsAgree: with dyadic masses, units and floats describe the same problem.
func TestFloatsAgree(t *testing.T) {
	for seed := range 200 {
		d := given.NewHard(uint64(seed) + 53e6)
		k, kv := 1+d.Intn(8), 1+d.Intn(8)
		const total = 1 << 12
		p := Problem{Cost: d.Costs(k, kv), Source: d.Counts(k, total), Lo: d.Counts(kv, total/4), Hi: d.Counts(kv, total)}
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
		r := must(t, p, Settings{})
		f, err := mincostflow.Project(t.Context(), projection.Problem{Cost: p.Cost, Source: over(p.Source), Lo: over(p.Lo),
			Hi: over(p.Hi)}, mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if exact.Rat(f.Lower).Cmp(r.Upper) > 0 || exact.Rat(f.Upper).Cmp(r.Lower) < 0 {
			t.Fatalf("%v: %v, floats say [%v, %v]", p, r.Objective, f.Lower, f.Upper)
		}
	}
}

// TestBelowTheGrid has costs that differ by less than the grid of the simplex resolves: the last bits decide.
func TestBelowTheGrid(t *testing.T) {
	const n = 30
	repaired := 0
	for seed := range 20 {
		d := given.NewHard(uint64(seed) + 54e6)
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
		p := Problem{Cost: c, Source: d.Counts(n, 1000), Lo: make([]int64, n), Hi: slices.Repeat([]int64{40}, n)}
		r := must(t, p, Settings{})
		repaired += r.Stats.Repairs
	}
	if repaired == 0 {
		t.Error("no repairs: the test tests nothing")
	}
}

// TestAllRows: with AllRows, rows without units have the largest valid potential, as an exact number.
func TestAllRows(t *testing.T) {
	for seed := range 100 {
		d := given.NewHard(uint64(seed) + 55e6)
		p := draw(d, 7)
		a := must(t, p, Settings{AllRows: true})
		b := must(t, p, Settings{})
		if !reflect.DeepEqual(a.Q, b.Q) || !reflect.DeepEqual(a.Plan, b.Plan) {
			t.Fatalf("%v: idle rows change the plan", p)
		}
		for i, f := range a.Potentials.F {
			var least *big.Rat
			for j, c := range p.Cost.Row(i, nil) {
				if x := new(big.Rat).Sub(exact.Rat(c), a.Potentials.G[j]); least == nil || x.Cmp(least) < 0 {
					least = x
				}
			}
			if f.Cmp(least) != 0 {
				t.Fatalf("%v: F[%d] = %v, want %v", p, i, f, least)
			}
		}
	}
}

// TestStop: wherever it is stopped, the plan is one of whole units and the bounds hold.
func TestStop(t *testing.T) {
	problems := []Problem{}
	for seed := range 8 {
		problems = append(problems, draw(given.NewHard(uint64(seed)+56e6), 6))
	}
	d := given.NewHard(57e6)
	wide := Problem{Cost: d.Costs(5, 90), Source: d.Counts(5, 1<<40), Lo: d.Counts(90, 1<<38), Hi: d.Counts(90, 1<<41)}
	for j, l := range wide.Lo {
		wide.Hi[j] += l
	}
	problems = append(problems, wide)
	for n, p := range problems {
		want := must(t, p, Settings{}).Upper
		check := func(r Result, err error, st Status) bool {
			t.Helper()
			if err == nil {
				return true
			}
			if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != st {
				t.Fatalf("problem %d: %v, %v", n, r.Status, err)
			}
			upper, lower, verr := Verify(context.Background(), p, r)
			if verr != nil {
				t.Fatalf("%v: %v", p, verr)
			}
			if upper.Cmp(want) < 0 || lower.Cmp(want) > 0 {
				t.Fatalf("%v: [%v, %v] excludes %v", p, lower, upper, want)
			}
			return false
		}
		for asked := 0; ; asked++ {
			ctx := &numtest.Asked{Context: context.Background(), Most: asked}
			if r, err := Project(ctx, p, Settings{}); check(r, err, Cancelled) {
				break
			}
		}
		for limit := 1; ; limit++ {
			if r, err := projectUntil(p, limit); check(r, err, Cancelled) {
				break
			}
		}
	}
}

// short is a cost whose rows have one entry.
type short struct{ cost.Matrix }

func (s short) Row(i int, buf []float64) []float64 { return s.Matrix.Row(i, buf)[:1] }

func dense(t *testing.T, rows ...[]float64) *cost.Dense {
	t.Helper()
	c, err := cost.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestErrors(t *testing.T) {
	ok := func() Problem {
		return Problem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}, []float64{2, 2}), Source: []int64{3, 2, 0},
			Lo: []int64{1, 1}, Hi: []int64{4, 4}}
	}
	raw := func(data ...float64) *cost.Dense { return &cost.Dense{K: 3, Kv: 2, Data: data} }
	const most = math.MaxInt64
	for _, c := range []struct {
		name string
		edit func(p *Problem, s *Settings)
		want error
	}{
		{"no cost", func(p *Problem, _ *Settings) { p.Cost = nil }, wpmerr.ErrShape},
		{"nil dense", func(p *Problem, _ *Settings) { p.Cost = (*cost.Dense)(nil) }, wpmerr.ErrShape},
		{"short row", func(p *Problem, _ *Settings) { p.Cost = short{p.Cost} }, wpmerr.ErrShape},
		{"NaN cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, 1, math.NaN(), 0, 2, 2) }, wpmerr.ErrNotFinite},
		{"negative cost of an idle row",
			func(p *Problem, s *Settings) { s.AllRows, p.Cost = true, raw(0, 1, 1, 0, 2, -2) }, wpmerr.ErrNegative},
		{"source too short", func(p *Problem, _ *Settings) { p.Source = []int64{1} }, wpmerr.ErrShape},
		{"support too short", func(p *Problem, _ *Settings) { p.Support = []int{0, 1} }, wpmerr.ErrShape},
		{"support unsorted", func(p *Problem, _ *Settings) { p.Support = []int{1, 0, 2} }, wpmerr.ErrSupport},
		{"negative source", func(p *Problem, _ *Settings) { p.Source = []int64{3, -1, 0} }, wpmerr.ErrNegative},
		{"no units", func(p *Problem, _ *Settings) { p.Source = []int64{0, 0, 0} }, wpmerr.ErrMass},
		{"one unit too many", func(p *Problem, _ *Settings) { p.Source = []int64{1 << 61, 1 << 61, 1} }, wpmerr.ErrOverflow},
		{"sums overflow", func(p *Problem, _ *Settings) { p.Source = []int64{most, most, most} }, wpmerr.ErrOverflow},
		{"bounds too short", func(p *Problem, _ *Settings) { p.Lo = nil }, wpmerr.ErrShape},
		{"negative lower bound", func(p *Problem, _ *Settings) { p.Lo[1] = -1 }, wpmerr.ErrNegative},
		{"negative upper bound", func(p *Problem, _ *Settings) { p.Lo[1], p.Hi[1] = 0, -1 }, wpmerr.ErrNegative},
		{"crossed bounds", func(p *Problem, _ *Settings) { p.Lo[1] = 5 }, wpmerr.ErrBox},
		{"too little for the lower bounds", func(p *Problem, _ *Settings) { p.Lo = []int64{4, 2} }, wpmerr.ErrInfeasible},
		{"lower bounds overflow", func(p *Problem, _ *Settings) { p.Lo = []int64{most, most}; p.Hi = p.Lo },
			wpmerr.ErrInfeasible},
		{"too much for the upper bounds", func(p *Problem, _ *Settings) { p.Hi = []int64{2, 2} }, wpmerr.ErrInfeasible},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := ok(), Settings{}
			good := must(t, p, s)
			c.edit(&p, &s)
			r, err := Project(context.Background(), p, s)
			if !errors.Is(err, c.want) || !reflect.DeepEqual(r, Result{}) {
				t.Errorf("Project: %v, want %v; result %+v", err, c.want, r)
			}
			if _, _, err := Verify(context.Background(), p, good); !errors.Is(err, c.want) {
				t.Errorf("Verify: %v, want %v", err, c.want)
			}
		})
	}
}

// TestVerifyRefuses changes one thing at a time in a good result.
func TestVerifyRefuses(t *testing.T) {
	p := Problem{
		Cost:   dense(t, []float64{0, 1, 4, 9}, []float64{1, 0, 1, 4}, []float64{4, 1, 0, 1}),
		Source: []int64{10, 2, 4}, Lo: []int64{2, 2, 2, 1}, Hi: []int64{6, 6, 6, 6},
	}
	tiny := new(big.Rat).SetFloat64(0x1p-200)
	for name, edit := range map[string]func(r *Result){
		"Q too short":           func(r *Result) { r.Q = r.Q[:3] },
		"Q outside":             func(r *Result) { r.Q[0]++ },
		"Q negative":            func(r *Result) { r.Q[0] = -1 },
		"Q of another sum":      func(r *Result) { r.Q[3]++ },
		"Q elsewhere":           func(r *Result) { r.Q[1]--; r.Q[2]++ },
		"no plan":               func(r *Result) { r.Plan = nil },
		"a unit less":           func(r *Result) { r.Plan[0].Units-- },
		"a unit more":           func(r *Result) { r.Plan[0].Units++ },
		"a negative entry":      func(r *Result) { r.Plan[0].Units = -r.Plan[0].Units },
		"an empty entry":        func(r *Result) { r.Plan = append(r.Plan, Entry{2, 3, 0}) },
		"row outside":           func(r *Result) { r.Plan[len(r.Plan)-1].I = 3 },
		"row negative":          func(r *Result) { r.Plan[0].I = -1 },
		"column outside":        func(r *Result) { r.Plan[len(r.Plan)-1].J = 4 },
		"column negative":       func(r *Result) { r.Plan[0].J = -1 },
		"unsorted":              func(r *Result) { slices.Reverse(r.Plan) },
		"F too short":           func(r *Result) { r.Potentials.F = r.Potentials.F[:2] },
		"F missing":             func(r *Result) { r.Potentials.F[1] = nil },
		"G missing":             func(r *Result) { r.Potentials.G[1] = nil },
		"F too large by a hair": func(r *Result) { r.Potentials.F[1] = new(big.Rat).Add(r.Potentials.F[1], tiny) },
		"G too large":           func(r *Result) { r.Potentials.G[1] = big.NewRat(1<<40, 1) },
		"F beyond floats": func(r *Result) {
			r.Potentials.F[0] = new(big.Rat).SetInt(
				new(big.Int).Lsh(big.NewInt(1), 2000))
		},
		"worse G": func(r *Result) {
			r.Potentials.G[0] = new(big.Rat).Sub(r.Potentials.G[0],
				big.NewRat(1, 1))
		},
		"Lower too large":        func(r *Result) { r.Lower = new(big.Rat).Add(r.Lower, tiny) },
		"Upper too small":        func(r *Result) { r.Upper = new(big.Rat).Sub(r.Upper, tiny) },
		"no Lower":               func(r *Result) { r.Lower = nil },
		"no Upper":               func(r *Result) { r.Upper = nil },
		"Objective not a number": func(r *Result) { r.Objective = math.NaN() },
	} {
		t.Run(name, func(t *testing.T) {
			r := must(t, p, Settings{})
			edit(&r)
			if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
				t.Errorf("Verify: %v, want ErrCertificate", err)
			}
		})
	}
}

// empty is a cost without rows.
type empty [2]int

func (e empty) Dims() (k, kv int) { return e[0], e[1] }

func (e empty) Row(int, []float64) []float64 { return nil }

// TestVerifyRefusesCounts: what the table of spoilt results leaves out: a Q that lacks units, a
// plan that goes on below the last row, a cost without rows.
func TestVerifyRefusesCounts(t *testing.T) {
	c, err := cost.NewDense(2, 2, []float64{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	p := Problem{Cost: c, Source: []int64{3, 5}, Lo: []int64{0, 0}, Hi: []int64{6, 6}}
	good, err := Project(context.Background(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Project(nil, p, Settings{}); err != nil ||
		!reflect.DeepEqual(again, good) { //nolint:staticcheck // a nil context is none
		t.Errorf("without a context %+v, %v; want %+v", again, err, good)
	}
	if _, _, err := Verify(context.Background(), p, good); err != nil {
		t.Fatal(err)
	}
	fewer := good
	fewer.Q = slices.Clone(good.Q)
	fewer.Q[0]--
	beyond := good
	beyond.Plan = append(slices.Clone(good.Plan), Entry{I: 2, J: 0, Units: 1})
	before := good
	before.Plan = append([]Entry{{I: -1, J: 0, Units: 1}}, good.Plan...)
	for name, r := range map[string]Result{"Q lacks a unit": fewer, "a plan beyond the last row": beyond,
		"a plan before the first row": before} {
		if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("%s: %v, want ErrCertificate", name, err)
		}
	}
	for _, dims := range [][2]int{{0, 2}, {2, 0}, {-1, 2}} {
		p.Cost = empty(dims)
		if _, _, err := Verify(context.Background(), p, good); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("a %d x %d cost: %v, want ErrShape", dims[0], dims[1], err)
		}
	}
}

// TestReports has failures that users report against other exact solvers.
func TestReports(t *testing.T) {
	c := dense(t, []float64{0, 1, 3}, []float64{1, 0, 1}, []float64{3, 1, 0}, []float64{2, 2, 2})
	t.Run("integer input", func(t *testing.T) {
		// POT 12, 345: integer masses gave a plan of zeros.
		r := must(t, Problem{Cost: c, Source: []int64{7, 1, 2, 0}, Lo: []int64{1, 1, 1}, Hi: []int64{5, 5, 5}},
			Settings{})
		if want := []int64{5, 3, 2}; !slices.Equal(r.Q, want) || r.Upper.Cmp(big.NewRat(2, 10)) != 0 {
			t.Errorf("Q = %v at %v, want %v at 1/5", r.Q, r.Upper, want)
		}
	})

	t.Run("costs between integers", func(t *testing.T) {
		// OR-tools 687 and k-means-constrained 10, 51: costs are integers, or are rounded after multiplication by 1000.
		e := dense(t, []float64{0.0001, 0.0002}, []float64{0.0002, 0.00025})
		r := must(t, Problem{Cost: e, Source: []int64{1, 1}, Lo: []int64{1, 1}, Hi: []int64{1, 1}}, Settings{})
		want := new(big.Rat).Add(exact.Rat(0.0001), exact.Rat(0.00025))
		if want.Quo(want, big.NewRat(2, 1)); r.Upper.Cmp(want) != 0 {
			t.Errorf("%v, want %v", r.Objective, want)
		}
	})

	t.Run("sums that overflow", func(t *testing.T) {
		// scipy 14540: the total cost overflowed, came out negative, and feasible problems were called infeasible.
		huge := &cost.Dense{K: 3, Kv: 3, Data: slices.Repeat([]float64{math.MaxInt64}, 9)}
		r := must(t, Problem{Cost: huge, Source: []int64{1 << 60, 1 << 60, 1 << 61}, Lo: make([]int64, 3),
			Hi: slices.Repeat([]int64{math.MaxInt64}, 3)}, Settings{})
		if r.Objective != math.MaxInt64 {
			t.Errorf("Objective = %v", r.Objective)
		}
	})
}
