package simplex

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// forest draws a strongly feasible forest: arcs are filled in any order, and artificial arcs begin at any price.
func forest(d given.Hard, s *Solver) *start.Forest {
	f, k, n := new(start.Forest), len(s.rows.p.Supply), len(s.rows.p.Low)
	f.Reset(k, s.rows.p.Low)
	spare, top := total(s.rows.p.Supply), s.rows.top()
	for _, low := range s.rows.p.Low {
		spare -= low
	}
	for j, room := range s.rows.p.Room {
		if room <= spare && d.Intn(2) == 0 {
			f.Need[j] += room
			spare -= room
		}
	}
	left := append(slices.Clone(s.rows.p.Supply), f.Need...)
	for v := range f.Cost {
		f.Cost[v] = top * (d.Float64() - 0.2)
		if v >= k && s.rows.p.Room[v-k] > 0 {
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

// heavy draws a problem of which few rows have nearly all units.
func heavy(d given.Hard) given.Units {
	k, kv := 10+d.Intn(60), 60+d.Intn(200) // columns enough for Newton's start
	u := given.Units{Cost: d.Costs(k, kv), Source: make([]int64, k)}
	sum := int64(0)
	for i := range u.Source {
		u.Source[i] = int64(math.Ldexp(1+d.Float64(), d.Intn(48)))
		if d.Intn(8) == 0 {
			u.Source[i] = int64(math.Ldexp(1+d.Float64(), 54))
		}
		sum += u.Source[i]
	}
	u.Lo = d.Counts(kv, sum)
	u.Hi = slices.Clone(u.Lo)
	switch d.Intn(4) {
	case 0: // a point
	case 1: // too much room for prices of artificial arcs
		for j := range u.Lo {
			u.Lo[j], u.Hi[j] = u.Lo[j]/4, math.MaxInt64
		}
	default:
		for j := range u.Lo {
			u.Lo[j], u.Hi[j] = u.Lo[j]/2, 2*u.Hi[j]
		}
	}
	return u
}

// TestHeavyStart: the optimum is found also where Newton's method sees heavy rows only.
func TestHeavyStart(t *testing.T) {
	n, used, raised := numtest.Cases(30, 200), 0, 0
	for seed := range n {
		s := loaded(t, problem(heavy(given.NewHard(uint64(seed)+27e6))))
		s.Start(context.Background())
		mustOptimise(t, s)
		if len(s.rows.p.Supply) > 1 && s.forest.Above <= math.MaxFloat64 { // or all rows are heavy, or it is the star
			used++
			if s.tree.within(mostRaised) {
				raised++
			}
		}
	}
	if used < n/4 || raised < n/8 || raised == used {
		t.Errorf("%d starts from heavy rows, %d of them with prices of their own", used, raised)
	}
}

// TestHeavyStartFlows: columns with all the room there is, and artificial arcs with prices that would send flow round
// and round, leave flows below 2^64.
func TestHeavyStartFlows(t *testing.T) {
	x := basis{low: []uint64{1, 2}, room: []uint64{math.MaxUint64, 0}}
	for _, tt := range []struct {
		room uint64
		want bool
	}{{mostRaised - 3, true}, {mostRaised - 2, false}, {math.MaxUint64, false}} {
		if x.room[0] = tt.room; x.within(mostRaised) != tt.want {
			t.Errorf("room %d: %v", tt.room, !tt.want)
		}
	}
}

// TestAnyForest: whatever forest the simplex begins with, the tree is strongly feasible, its flows are those of the
// units, the optimum is one fraction, and what is known after a stop anywhere holds.
func TestAnyForest(t *testing.T) {
	planted, stopped := 0, 0
	for seed := range numtest.Cases(150, 500) {
		d := given.NewHard(uint64(seed) + 61e6)
		u := d.Units(40)
		if seed%5 == 0 {
			u = heavy(d)
		}
		s := loaded(t, problem(u))
		s.Start(context.Background())
		want := mustOptimise(t, s)

		f := forest(d, s)
		s.begin(context.Background())
		s.tree.plant(f, s.rows.p.Supply)
		s.level()
		s.setGrid(s.tried, s.full)
		checkTree(t, s)
		for _, v := range f.Parent {
			if v >= 0 {
				planted++
			}
		}

		blocks := 1 + d.Intn(4)
		from := func(ctx context.Context) {
			s.begin(ctx)
			s.forest = *f
			s.pr.blocks = blocks
			s.plant(s.rows.p.total() / heavyRest)
		}
		from(context.Background())
		if got := mustOptimise(t, s); got.Cmp(want) != 0 {
			t.Fatalf("seed %d: %v, and from a star %v", seed, got, want)
		}
		from(&numtest.Asked{Context: context.Background(), Most: 1 + d.Intn(20)})
		if !s.optimise() {
			checkStopped(t, s)
			stopped++
		}
	}
	if planted < 2000 || stopped < 20 {
		t.Errorf("%d arcs planted, %d stops", planted, stopped)
	}
}

// TestSweepAsks: a sweep over the costs asks the context once for each row.
func TestSweepAsks(t *testing.T) {
	const k, n = 300, 400
	d := given.NewHard(33e6)
	s := loaded(t, problem(given.Units{Cost: d.Costs(k, n), Source: slices.Repeat([]int64{4}, k),
		Lo: slices.Repeat([]int64{1}, n), Hi: slices.Repeat([]int64{6}, n)}))
	s.Start(context.Background())
	s.optimise()
	ctx := &numtest.Asked{Context: context.Background(), Most: -1}
	s.Watch(ctx)
	if found, ok := s.pr.sweep(); found || !ok {
		t.Fatalf("after the optimum: %v, %v", found, ok)
	}
	if ctx.Times() != k {
		t.Errorf("asked %d times in %d rows", ctx.Times(), k)
	}
}

// TestSteps holds how many steps the search for pivots takes, also for a smaller problem, where what changes in one
// place goes a long way round: a twentieth more than measured. With far more rows than columns, there is one block, and
// a look at all lists takes longer than the pricing of a few rows.
func TestSteps(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // or rows are read in parts
	for _, tt := range []struct{ k, n, steps int }{{3000, 750, 633910}, {8000, 200, 707173}} {
		c := &cost.Dense{K: tt.k, Kv: tt.n}
		for i := range tt.k {
			for j := range tt.n {
				c.Data = append(c.Data, float64((j-i%tt.n+tt.n)%tt.n))
			}
		}
		// Equal parts of 2^61, rounded down on rows and up on columns: the first ones have the rest.
		const all = 1 << 61
		u := given.Units{Cost: c, Source: slices.Repeat([]int64{all / int64(tt.k)}, tt.k),
			Lo: slices.Repeat([]int64{all/int64(tt.n) + 1}, tt.n)}
		u.Source[0] += all % int64(tt.k)
		u.Lo[0] -= int64(tt.n) - all%int64(tt.n)
		u.Hi = u.Lo
		s := loaded(t, problem(u))
		ctx := &numtest.Asked{Context: context.Background(), Most: -1}
		s.Start(ctx)
		ok := s.Run()
		steps := ctx.Times() - s.Stats().Sweeps*tt.k // sweeps ask for each row
		if !ok || steps > tt.steps+tt.steps/20 {
			t.Errorf("%d x %d: %d steps, %d were enough", tt.k, tt.n, steps, tt.steps)
		}
	}
}

// TestShareStops: no more rows are read after the context has ended, on any goroutine, than those of one look.
func TestShareStops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 2000
	r := rows{p: Problem{Low: make([]uint64, 100)}}
	for i := range n {
		r.p.Rows, r.held = append(r.p.Rows, i), append(r.held, make([]float64, 100))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var read atomic.Int64
	w := watch{ctx: ctx}
	if !r.share(&w, n, func(own *rows, i int) { own.at(i); read.Add(1) }) || read.Load() != n {
		t.Errorf("%d of %d rows", read.Load(), n)
	}
	read.Store(0)
	done := r.share(&w, n, func(*rows, int) {
		if read.Add(1) == 1 {
			cancel()
		}
		<-ctx.Done() // nobody overtakes the one that cancels
	})
	if done || !w.over || read.Load() > 4*partRows {
		t.Errorf("%d rows after the end: done %v, over %v", read.Load(), done, w.over)
	}
}
