package mincostflow

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow/internal/ascent"
)

// startAt loads a problem with a few columns that take nothing, in another order of rows than the cost's, and readies
// its first tree.
func (d draw) startAt(t *testing.T, k, kv int) (s *solver, top float64) {
	t.Helper()
	p := Problem{Source: uniform(k), Lo: make([]float64, kv), Hi: make([]float64, kv)}
	c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for x := range c.Data {
		c.Data[x] = float64(1 + d.Intn(1<<20))
	}
	p.Cost = c
	for j := range kv {
		if d.Intn(6) > 0 {
			p.Lo[j], p.Hi[j] = float64(d.Intn(3))*0.2/float64(kv), (2+d.Float64())/float64(kv)
		}
		if d.Intn(20) == 0 {
			p.Hi[j] = 1e9 // without bound
		}
	}
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	s = newSolver()
	if err := s.load(context.Background(), in, 0); err != nil {
		t.Fatal(err)
	}
	s.simplex(context.Background(), Settings{})
	return s, s.rows.top()
}

// TestNewtonParts compares the parts of the start with plain loops over the costs: cells, samples, the typical gap,
// the first guess, and which row serves a column.
func TestNewtonParts(t *testing.T) {
	const same = 1e-12 // sums of some hundred positive numbers
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= same*math.Abs(want)) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	for seed := range 60 {
		d := newDraw(uint64(seed) + 75e6)
		k, kv := 2+d.Intn(11), newtonColumns+d.Intn(150)
		s, top := d.startAt(t, k, kv)
		w, net := &s.nw, &s.sx.tree
		c := func(i, j int) float64 { return s.rows.at(i)[j] }
		var live []int32
		for j := range kv {
			if s.in.hi[j] > 0 {
				live = append(live, int32(j))
			}
		}

		group := w.hold()
		w.fillCells(top, top)
		if group != 1 || !slices.Equal(w.At, live) {
			t.Fatalf("groups of %d, columns %v, want %v", group, w.At, live)
		}
		if e := math.Log2(w.Grain); e != math.Floor(e) || top/w.Grain >= 1<<ascent.CostBits ||
			top/w.Grain < 1<<(ascent.CostBits-1) {
			t.Fatalf("grain %v for %v", w.Grain, top)
		}
		for at, j := range w.At {
			for i := range k { // whole numbers: nothing is rounded
				near("cell", float64(w.Cells[at*k+i])/ascent.RowBits*w.Grain, c(i, int(j)))
			}
		}

		// Units of costs next to nothing beside the largest still have an inverse, and what is cut fits.
		s.nw.fillCells(math.Ldexp(1, -1070), top)
		if x := 1 / w.Grain; math.IsInf(x, 0) || slices.Min(w.Cells) < 0 ||
			slices.Max(w.Cells) > ascent.RowBits<<ascent.CostBits {
			t.Fatalf("grain %v, cells up to %d", w.Grain, slices.Max(w.Cells))
		}
		s.nw.fillCells(top, top)

		var gaps []float64
		for at := 0; at < len(live); at += max(1, len(live)/16) {
			var column []float64
			for i := range k {
				column = append(column, c(i, int(live[at])))
			}
			slices.Sort(column)
			if column[1] > column[0] {
				gaps = append(gaps, column[1]-column[0])
			}
		}
		slices.Sort(gaps)
		near("typical gap", w.Scale(), gaps[len(gaps)/2])

		stride := 1 << d.Intn(5)
		w.Thin(w.tree.low, w.tree.room, stride)
		if want := (len(live) + stride - 1) / stride; len(w.Samples) != want {
			t.Fatalf("%d samples, want %d", len(w.Samples), want)
		}
		// The samples share all columns between them, every one with those up to the next.
		room := 0.0
		var sampled []int
		for n := range w.Samples {
			from, end := 0, kv
			if n > 0 {
				from = int(live[n*stride])
			}
			if n+1 < len(w.Samples) {
				end = int(live[(n+1)*stride])
			}
			l, r := 0.0, 0.0
			for j := from; j < end; j++ {
				l += float64(net.low[j]) / unit
				r += min(float64(net.room[j])/unit, 1)
			}
			o := w.Samples[n]
			near("low", o.Low, l)
			near("room", o.Room, min(r, 1))
			middle := n * stride
			if middle+stride/2 < len(live) {
				middle += stride / 2
			}
			if got, want := live[o.At], live[middle]; got != want {
				t.Fatalf("sample %d is column %d, want %d", n, got, want)
			}
			sampled = append(sampled, int(live[o.At]))
			room += l + min(r, 1)
		}

		w.Gap = 0 // reaches are not cut then
		spread := w.Guess()
		sum := 0.0
		for i := range k {
			least, mean := math.Inf(1), 0.0
			for _, j := range sampled {
				x := c(i, j)
				least = min(least, x)
				mean += x / float64(len(w.Samples))
			}
			near("guess", w.F[i], least+min(2*w.Mass[i]/room, 1)*(mean-least))
			sum += (mean - least) / float64(k)
		}
		near("spread", spread, sum)

		// The prices as integers, cut where the costs end twice over.
		copy(w.F, []float64{1.5 * top, -1e9 * top})
		asked := slices.Clone(w.F)
		w.Price()
		for i, f := range asked {
			limit := w.Grain * (1 << (ascent.CostBits + 1))
			cut := min(max(f, -limit), limit)
			near("key", float64(w.Keys[i]+int64(i))/ascent.RowBits*w.Grain, cut)
			near("price kept", w.F[i], cut)
		}

		// Which row serves a column, from the costs and from what was measured.
		for i := range w.F {
			w.F[i] = float64(d.Intn(1 << 19))
		}
		w.Thin(w.tree.low, w.tree.room, 1)
		w.Measure(top)
		for _, whole := range []bool{false, true} {
			w.Whole = whole
			for j, v := range s.nw.serve() {
				if s.in.hi[j] == 0 {
					continue
				}
				x := make([]float64, k)
				for i := range x {
					x[i] = c(i, j) - w.F[i]
				}
				least := slices.Min(x)
				if v.least != least || x[v.by] != least {
					t.Fatalf("column %d: row %d at %v, want %v", j, v.by, v.least, least)
				}
				if !whole && v.second != -1 {
					t.Fatalf("column %d: a second row %d out of nothing", j, v.second)
				}
				if slices.Sort(x); whole && (v.second < 0 || v.gap != x[1]-x[0] || c(int(v.second), j)-w.F[v.second] != x[1]) {
					t.Fatalf("column %d: %+v, want %v", j, v, x)
				}
			}
		}
	}
}

// TestNewtonGroups: of more cells than are held, one column in every group is sampled that takes anything.
func TestNewtonGroups(t *testing.T) {
	const k, kv = newtonRows, 3 * (mostCells/newtonRows + 10)
	s := newSolver()
	n := &s.sx.tree
	n.k, n.n, n.low, n.room = k, kv, make([]uint64, kv), make([]uint64, kv)
	var want []int32
	const group = 4 // three are too few for ten columns more
	for j := range kv {
		if j%7 > 3 {
			n.room[j] = 1
			if len(want) == 0 || int(want[len(want)-1])/group < j/group {
				want = append(want, int32(j))
			}
		}
	}
	row := repeat(3, kv)
	s.rows.matrix, s.rows.kv, s.rows.index = constant{row}, kv, make([]int, k)
	s.nw.bind(n, &s.rows, new(watch), nil, 0)
	got := s.nw.hold()
	s.nw.fillCells(3, 3)
	if got != group || !slices.Equal(s.nw.At, want) {
		t.Errorf("groups of %d and %d columns, want %d and %d", got, len(s.nw.At), group, len(want))
	}
	if x := slices.Min(s.nw.Cells); float64(x)/ascent.RowBits*s.nw.Grain != 3 || slices.Max(s.nw.Cells) != x {
		t.Errorf("cells from %d to %d", x, slices.Max(s.nw.Cells))
	}
}

// constant is a cost all rows of which are the same.
type constant struct{ row []float64 }

func (c constant) Dims() (k, kv int)            { return newtonRows, len(c.row) }
func (c constant) Row(int, []float64) []float64 { return c.row }

// TestWorthNewton: for which sizes the start by Newton steps is made, at the limits.
func TestWorthNewton(t *testing.T) {
	for _, tt := range []struct {
		k, n int
		want bool
	}{
		{1, 1000, false}, {2, newtonColumns, true}, {2, newtonColumns - 1, false}, {newtonRows, 1000, true},
		{newtonRows + 1, 1000, false},
		{100, 100 * newtonRatio, true}, {100, 100*newtonRatio - 1, false},
	} {
		if got := worthNewton(tt.k, tt.n); got != tt.want {
			t.Errorf("%d x %d: %v", tt.k, tt.n, got)
		}
	}
}
