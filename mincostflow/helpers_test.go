package mincostflow

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// gapTol is the promise on Upper - Lower, relative to the largest cost.
	gapTol = 1e-13
	// quantum allows bounds to be rounded outward where floats are no denser than this.
	quantum = 4 * math.SmallestNonzeroFloat64
)

// mustProject solves p and checks everything that every optimal result promises.
func mustProject(t testing.TB, p Problem, s Settings) Result {
	t.Helper()
	r, err := Project(context.Background(), p, s)
	if err != nil {
		t.Fatalf("Project(%v) = %v", describe(p), err)
	}
	if r.Status != Optimal {
		t.Fatalf("Project(%v): status %v without an error", describe(p), r.Status)
	}
	checkResult(t, p, r)
	checkGap(t, p, r)
	checkSlackness(t, p, r)
	return r
}

// checkSlackness checks the signs of an optimum: a column whose price is positive is at its lower
// bound, one whose price is negative at its upper bound. And every row with mass, however little,
// sends it somewhere.
func checkSlackness(t testing.TB, p Problem, r Result) {
	t.Helper()
	one := big.NewRat(1, 1)
	if ratSum(p.Lo).Cmp(one) <= 0 && ratSum(p.Hi).Cmp(one) >= 0 {
		for j, g := range r.Potentials.G {
			if g > 0 && r.Q[j] != p.Lo[j] || g < 0 && r.Q[j] != p.Hi[j] {
				t.Fatalf("%v: G[%d] = %v, Q[%d] = %v", describe(p), j, g, j, r.Q[j])
			}
		}
	}
	rows := map[int]bool{}
	for _, e := range r.Plan {
		rows[e.I] = true
	}
	for n, m := range p.Source {
		i := n
		if p.Support != nil {
			i = p.Support[n]
		}
		if m > 0 && !rows[i] {
			t.Fatalf("%v: row %d has mass %v and no entry in the plan", describe(p), i, m)
		}
	}
}

// checkGap checks the gap of an optimal result, claimed and proved.
func checkGap(t testing.TB, p Problem, r Result) {
	t.Helper()
	top := cost.Max(p.Cost)
	if !(r.Gap() <= gapTol*top+quantum) {
		t.Fatalf("%v: gap %g = %g max C (lower %v, upper %v, stats %+v)", describe(p), r.Gap(), r.Gap()/top, r.Lower, r.Upper,
			r.Stats)
	}
}

// checkResult checks what every result promises, optimal or not, with Verify and without.
func checkResult(t testing.TB, p Problem, r Result) (upper, lower *big.Rat) {
	t.Helper()
	upper, lower, err := Verify(p, r)
	if err != nil {
		t.Fatalf("Verify(%v) = %v", describe(p), err)
	}
	if upper.Cmp(lower) < 0 {
		t.Fatalf("%v: proved upper %v below lower %v", describe(p), upper, lower)
	}
	if !(r.Lower >= 0 && r.Lower <= r.Upper) {
		t.Fatalf("%v: Lower = %v, Upper = %v", describe(p), r.Lower, r.Upper)
	}
	k, kv := p.Cost.Dims()
	if len(r.Potentials.F) != k || len(r.Potentials.G) != kv || len(r.Q) != kv {
		t.Fatalf("%v: %d F, %d G, %d Q", describe(p), len(r.Potentials.F), len(r.Potentials.G), len(r.Q))
	}
	for n, e := range r.Plan {
		if !(e.Mass > 0) {
			t.Fatalf("%v: Plan[%d] = %+v", describe(p), n, e)
		}
	}
	return upper, lower
}

// describe prints a problem so that it can be pasted into a test.
func describe(p Problem) any {
	if d, ok := p.Cost.(*cost.Dense); ok && len(d.Data) <= 400 {
		return struct {
			K, Kv         int
			C, Mu, Lo, Hi []float64
			Support       []int
		}{d.K, d.Kv, d.Data, p.Source, p.Lo, p.Hi, p.Support}
	}
	k, kv := p.Cost.Dims()
	return []int{k, kv}
}

func dense(t testing.TB, rows ...[]float64) *cost.Dense {
	t.Helper()
	d, err := cost.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// uniform returns n times 1/n.
func uniform(n int) []float64 { return repeat(1/float64(n), n) }

func repeat(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }

func scaled(xs []float64, by float64) []float64 {
	ys := slices.Clone(xs)
	for i := range ys {
		ys[i] *= by
	}
	return ys
}

// box returns the bounds exp(-eps/2) m and exp(eps/2) m.
func box(m []float64, eps float64) (lo, hi []float64) {
	return scaled(m, math.Exp(-eps/2)), scaled(m, math.Exp(eps/2))
}

// draw is a seeded generator of small problems that lean to trouble: ties, tiny and huge numbers,
// tight boxes.
type draw struct{ *numtest.SplitMix64 }

func newDraw(seed uint64) draw { return draw{numtest.NewSplitMix64(seed * 7919)} }

// costs draws k x kv costs of one of several kinds.
func (d draw) costs(k, kv int) *cost.Dense {
	data := make([]float64, k*kv)
	kind := d.Intn(14)
	for x := range data {
		i, j := float64(x/kv), float64(x%kv)
		switch kind {
		case 0: // generic
			data[x] = d.Float64()
		case 1: // ties
			data[x] = float64(d.Intn(3))
		case 2: // an offset that hides the differences
			data[x] = 1e6 + float64(d.Intn(3))
		case 3: // wide spread
			data[x] = math.Exp(40 * (d.Float64() - 0.5))
		case 4: // nothing to choose
		case 5:
			data[x] = 3.7
		case 6: // squared distance on a line
			data[x] = (i - j) * (i - j)
		case 7: // sums of two would overflow
			data[x] = math.MaxFloat64 * d.Float64()
		case 8: // a few quanta
			data[x] = float64(d.Intn(5)) * math.SmallestNonzeroFloat64
		case 9:
			data[x] = math.Abs(i-j) * 1e-9
		case 10: // forbidden arcs, as users write them
			data[x] = d.Float64()
			if d.Intn(4) == 0 {
				data[x] = 1e32
			}
		case 11: // around the smallest normal number
			data[x] = math.Ldexp(d.Float64(), -1060+d.Intn(60))
		case 12: // decimals, whose ties are off by an ulp
			data[x] = 0.1 * float64(d.Intn(10))
		case 13: // everything at once
			data[x] = math.Ldexp(d.Float64(), d.Intn(2000)-1000)
		}
	}
	return &cost.Dense{K: k, Kv: kv, Data: data}
}

// masses draws a distribution of one of several kinds.
func (d draw) masses(n int) []float64 {
	x := make([]float64, n)
	kind := d.Intn(7)
	for i := range x {
		switch kind {
		case 0:
			x[i] = 1
		case 1:
			x[i] = d.Float64()
		case 2:
			x[i] = math.Exp(60 * (d.Float64() - 1))
		case 3:
			x[i] = float64(d.Intn(3))
		case 4:
			x[i] = math.Exp(700 * (d.Float64() - 1))
		case 5:
			x[i] = float64(1 + d.Intn(4))
		case 6: // a point mass
		}
	}
	x[d.Intn(n)]++
	normalise(x)
	return x
}

// problem draws a projection problem with at most most rows and columns.
func (d draw) problem(most int) Problem {
	k, kv := 1+d.Intn(most), 1+d.Intn(most)
	p := Problem{Cost: d.costs(k, kv), Source: d.masses(k)}
	m := d.masses(kv)
	eps := []float64{0, 0, 0.1, 1, 2, 5, 50}[d.Intn(7)]
	// The mass of m: in the middle, in the middle, or tight at either end.
	s := []float64{1, 1, math.Exp(eps / 2), math.Exp(-eps / 2)}[d.Intn(4)]
	p.Lo, p.Hi = box(scaled(m, s), eps)
	if d.Intn(3) == 0 { // dyadic factors, for exact ties
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	switch d.Intn(10) {
	case 0: // one column that takes anything
		j := d.Intn(kv)
		p.Lo[j], p.Hi[j] = 0, 1e12
	case 1: // all of them do
		p.Lo, p.Hi = scaled(m, 0.5), repeat(1e12, kv)
	}
	return p
}

func maxCost(p Problem) float64 { return cost.Max(p.Cost) }

// solverOf returns a solver that has read p, and the default settings for it.
func solverOf(t *testing.T, p Problem) (*solver, *instance, Settings) {
	t.Helper()
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver()
	if err := s.loadOf(in); err != nil {
		t.Fatal(err)
	}
	return s, in, Settings{}
}

// loadOf loads an instance.
func (s *solver) loadOf(in *instance) error {
	s.in = *in
	return s.load(context.Background(), 0)
}

// asked is a context that counts how often it is looked at, and ends after most times if that is not zero.
type asked struct {
	context.Context
	mu          sync.Mutex // rows are read on all cores
	times, most int
}

func (c *asked) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.times++; c.most > 0 && c.times > c.most {
		return context.Canceled
	}
	return nil
}

// between draws from lo to hi, both included.
func (d draw) between(lo, hi int) int { return lo + d.Intn(hi-lo+1) }

// newInstance validates p. Costs are checked when they are read.
func newInstance(p Problem) (*instance, error) {
	in := &instance{limits: new(limits)}
	return in, in.set(p)
}

// result turns an answer into a Result.
func (s *solver) result(a answer, settings Settings) (r Result, err error) {
	return r, s.fillResult(&r, a, settings)
}

// plantStar makes b the star of rows with the given units and of the columns that it has bounds of.
func plantStar(b *basis, units []uint64) {
	var f start.Forest
	f.Reset(len(units), b.low)
	b.reset(len(units), len(b.low))
	b.plant(&f, units)
}

// fromForest is simplex from a given forest, with sweeps in so many blocks.
func (s *solver) fromForest(ctx context.Context, f *start.Forest, blocks int) answer {
	s.begin(ctx, Settings{})
	s.forest = *f
	s.sx.pr.blocks = blocks
	s.plant(s.total / heavyRest)
	return s.optimise()
}

// forest draws a strongly feasible forest: arcs are filled in any order, and artificial arcs begin at any price.
func (d draw) forest(s *solver) *start.Forest {
	f, k, n := new(start.Forest), len(s.units), len(s.in.low)
	f.Reset(k, s.in.low)
	spare, top := s.total, s.rows.top()
	for _, low := range s.in.low {
		spare -= low
	}
	for j, room := range s.in.room {
		if room <= spare && d.Intn(2) == 0 {
			f.Need[j] += room
			spare -= room
		}
	}
	left := append(slices.Clone(s.units), f.Need...)
	for v := range f.Cost {
		f.Cost[v] = top * (d.Float64() - 0.2)
		if v >= k && s.in.room[v-k] > 0 {
			f.Cost[v] = max(f.Cost[v], 0)
		}
	}
	for range 3 * (k + n) {
		i, j := d.Intn(k), d.Intn(n)
		a, b := &left[i], &left[k+j]
		switch arc := s.rows.at(i)[j]; {
		case f.Parent[i] >= 0 || f.Parent[k+j] >= 0 || *a == 0 || *b == 0:
		case *a < *b:
			f.Parent[i], f.Cost[i] = int32(k+j), arc
			*b -= *a
		default:
			f.Parent[k+j], f.Cost[k+j] = int32(i), arc
			*a -= *b
		}
		if d.Intn(4) == 0 {
			f.Arcs = append(f.Arcs, start.Arc{I: int32(i), J: int32(j), Cost: s.rows.at(i)[j]})
		}
	}
	if d.Intn(3) > 0 {
		f.Above = top * math.Ldexp(d.Float64(), -d.Intn(20))
	}
	return f
}
