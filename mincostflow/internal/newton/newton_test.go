package newton

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

func draw(seed uint64) *numtest.SplitMix64 { return numtest.NewSplitMix64(seed * 7919) }

// matrix are costs in memory; after most rows, if that is not zero, there is no more time.
type matrix struct {
	n, most int
	rows    *int
	data    []float64
}

func (m matrix) Row(i int) ([]float64, bool) {
	*m.rows++
	return m.data[i*m.n : (i+1)*m.n], m.Going()
}

func (m matrix) Going() bool { return m.most == 0 || *m.rows <= m.most }

func (m matrix) Share(n int, t start.Task) bool { return t.Do(0, 0, n, m) }

// problem draws costs that are whole numbers, columns of which a few take nothing and a few anything, and equal rows.
func problem(d *numtest.SplitMix64, k, n int) start.Problem {
	const unit = 1 << 61
	m := matrix{n: n, rows: new(int), data: make([]float64, k*n)}
	for x := range m.data {
		m.data[x] = float64(1 + d.Intn(1<<20))
	}
	p := start.Problem{Supply: make([]uint64, k), Low: make([]uint64, n), Room: make([]uint64, n), Top: slices.Max(m.data),
		Costs: m}
	for i := range p.Supply {
		p.Supply[i] = unit / uint64(k)
	}
	for j := range n {
		if d.Intn(6) > 0 {
			p.Low[j] = unit / 50 / uint64(n) * uint64(d.Intn(3))
			p.Room[j] = unit / uint64(n) * 2
		}
		if d.Intn(20) == 0 {
			p.Room[j] = math.MaxUint64 / 2 // without bound
		}
	}
	return p
}

// newtonAt returns a start whose columns, every stride-th, are ready to be measured.
func newtonAt(d *numtest.SplitMix64, stride int) *work {
	w := new(work)
	w.reset(problem(d, 2+d.Intn(12), newtonColumns+d.Intn(200)))
	w.prices()
	w.hold()
	w.fillCells(w.p.Top)
	w.thin(stride)
	return w
}

// TestForest: whatever the prices, columns hang from rows that serve them at least cost, and light rows from columns;
// flows are positive, what is at the hub is not more than units.go of mincostflow allows, and costs are those of the
// arcs.
func TestForest(t *testing.T) {
	full, hung, arcs := 0, 0, 0
	for seed := range numtest.Cases(120, 300) {
		d := draw(uint64(seed) + 25e6)
		w := new(work)
		p := problem(d, 2+d.Intn(20), newtonColumns+d.Intn(200))
		w.reset(p)
		k := len(p.Supply)
		if seed%3 == 0 {
			first := d.Intn(k)
			w.heavy = w.heavy[first : first+1+d.Intn(k-first)]
			for i := range p.Supply {
				if i < first || i >= first+len(w.heavy) {
					w.total -= p.Supply[i]
					p.Supply[i] /= 500
					w.total += p.Supply[i]
				}
			}
		}
		if seed%2 == 0 || len(w.heavy) == 1 {
			w.resize(len(w.heavy))
			for n := range w.f {
				w.f[n] = 1.5 * p.Top * (2*d.Float64() - 1) * float64(d.Intn(3))
			}
		} else if !w.prices() {
			t.Fatal("no prices")
		}
		var f start.Forest
		if !w.forest(&f) {
			t.Fatal("no time")
		}
		if err := checkForest(w, &f); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for j, need := range f.Need {
			if need > p.Low[j] {
				full++
			}
		}
		for _, u := range f.Parent[:k] {
			if u >= 0 {
				hung++
			}
		}
		arcs += len(f.Arcs)
	}
	if full < 100 || hung < 20 || arcs < 100 {
		t.Errorf("%d columns at their upper bounds, %d rows below columns, %d arcs", full, hung, arcs)
	}
}

// checkForest compares a forest with the prices of w.
func checkForest(w *work, f *start.Forest) error {
	p, k, n := &w.p, len(w.p.Supply), len(w.p.Low)
	cost := func(i, j int) float64 { row, _ := p.Costs.Row(i); return row[j] }
	gets := slices.Clone(f.Need) // less what light rows bring
	over, under := uint64(0), w.total
	for i, u := range f.Parent[:k] {
		heavy, isHeavy := slices.BinarySearch(w.heavy, int32(i))
		switch {
		case u < 0 && isHeavy && f.Cost[i] != w.f[heavy]:
			return fmt.Errorf("row %d at the hub has the price %v, want %v", i, f.Cost[i], w.f[heavy])
		case u < 0:
			continue
		case isHeavy || f.Parent[u] < 0 || f.Cost[i] != cost(i, int(u)-k):
			return fmt.Errorf("row %d hangs from %d at %v", i, u, f.Cost[i])
		case p.Supply[i] >= gets[int(u)-k]:
			return fmt.Errorf("row %d brings all that column %d gets", i, int(u)-k)
		}
		gets[int(u)-k] -= p.Supply[i]
	}
	for j := range n {
		i := f.Parent[k+j]
		if over += f.Need[j]; f.Need[j] != p.Low[j] && f.Need[j] != p.Low[j]+p.Room[j] || (i < 0) != (f.Need[j] == 0) {
			return fmt.Errorf("column %d gets %d from %d", j, f.Need[j], i)
		}
		under -= min(under, p.Low[j])
		if i < 0 {
			continue
		}
		if f.Cost[k+j] != cost(int(i), j) {
			return fmt.Errorf("column %d hangs from %d at %v", j, i, f.Cost[k+j])
		}
		by, _ := slices.BinarySearch(w.heavy, i)
		for o, h := range w.heavy { // two cells are rounded to a unit each
			if x := cost(int(h), j) - w.f[o]; x < f.Cost[k+j]-w.f[by]-2*w.grain {
				return fmt.Errorf("column %d hangs from row %d, and row %d has %v less", j, i, h, f.Cost[k+j]-w.f[by]-x)
			}
		}
	}
	if over > w.total+w.total/8 {
		return fmt.Errorf("columns get %d of %d", over, w.total)
	}
	want := 0
	for j, v := range w.served {
		if w.live(j) && v.second >= 0 && v.gap < seedWidths*w.width {
			want++
		}
	}
	if want != len(f.Arcs) {
		return fmt.Errorf("%d arcs, want %d", len(f.Arcs), want)
	}
	for _, a := range f.Arcs {
		if a.Cost != cost(int(a.I), int(a.J)) || f.Parent[k+int(a.J)] == a.I {
			return fmt.Errorf("arc %+v", a)
		}
	}
	return nil
}

// TestNoTime: every pass ends when rows are refused.
func TestNoTime(t *testing.T) {
	d := draw(34e6)
	p := problem(d, 90, 800)
	for i := range p.Supply { // most rows are light
		if i%8 > 0 {
			p.Supply[i] /= 500
		}
	}
	m := p.Costs.(matrix)
	for m.most = 1; ; m.most++ {
		*m.rows = 0
		p.Costs = m
		var f start.Forest
		if Start(p, &f) {
			break
		}
		if *m.rows > m.most+1 {
			t.Fatalf("%d rows were asked for after the first refusal", *m.rows-m.most-1)
		}
	}
	if m.most < 2*90 {
		t.Errorf("%d rows will do", m.most)
	}
}

// TestBest compares with the obvious search.
func TestBest(t *testing.T) {
	for seed := range 60 {
		d := draw(uint64(seed) + 29e6)
		w := newtonAt(d, 1)
		top := 0.0
		for i := range w.f {
			w.f[i] = (2*d.Float64() - 1) * w.grain * (1 << costBits)
			top = max(top, math.Abs(w.f[i]))
		}
		w.setKeys()
		k := len(w.f)
		// Costs and prices are rounded to a unit each.
		tol := 2 * w.grain
		for c := range w.at {
			least, next := math.Inf(1), math.Inf(1)
			for i, f := range w.f {
				if x := float64(w.cells[c*k+i]/rowBits)*w.grain - f; x < least {
					least, next = x, least
				} else if x < next {
					next = x
				}
			}
			m1, m2 := w.best(c)
			for _, x := range []struct {
				key  int64
				want float64
			}{{m1, least}, {m2, next}} {
				i := int(x.key & (rowBits - 1))
				if got := float64(x.key>>rowShift) * w.grain; math.Abs(got-x.want) > tol {
					t.Fatalf("column %d: %v, want %v", c, got, x.want)
				}
				if got := float64(w.cells[c*k+i]/rowBits)*w.grain - w.f[i]; math.Abs(got-x.want) > tol {
					t.Fatalf("column %d: row %d has %v, want %v", c, i, got, x.want)
				}
			}
			if m1&(rowBits-1) == m2&(rowBits-1) {
				t.Fatalf("column %d: the same row twice", c)
			}
		}
	}
}

// TestMeasure compares the slopes of the smoothed dual value with its differences, and the matrix with those of the
// slopes.
func TestMeasure(t *testing.T) {
	for seed := range 40 {
		d := draw(uint64(seed) + 30e6)
		w := newtonAt(d, 1+d.Intn(3))
		k := len(w.f)
		scale := w.grain * (1 << costBits) // of the costs
		h := scale / 8
		for i := range w.f {
			w.f[i] = scale * d.Float64() / 4
		}
		// By Taylor with a margin: slopes are at most 2 in all and change by at most 2/h of a price's change; at a kink
		// of the matrix the second difference is off by its jump, no more than what moves through the window.
		step := h * 0x1p-12
		if v := w.measure(w.grain / 4); math.IsNaN(v) || math.IsNaN(w.unserved()) {
			t.Fatalf("seed %d: kinks below a unit: value %v, unserved %v", seed, v, w.unserved())
		}
		w.measure(h)
		left := append([]float64(nil), w.left...)
		slope := append([]float64(nil), w.slope[:k*k]...)
		for i := range k {
			at := w.f[i]
			w.f[i] = at + step
			up := w.measure(h)
			leftUp := append([]float64(nil), w.left...)
			w.f[i] = at - step
			down := w.measure(h)
			leftDown := append([]float64(nil), w.left...)
			w.f[i] = at
			if got := (up - down) / (2 * step); math.Abs(got-left[i]) > 4*step/h+1e-9 {
				t.Fatalf("seed %d, row %d: slope %v, differences say %v", seed, i, left[i], got)
			}
			for j := range k {
				want := slope[i*k+j]
				if i != j {
					want += slope[j*k+i]
				}
				got := (leftDown[j] - leftUp[j]) / (2 * step)
				if math.Abs(got-want)*h > 0.05 {
					t.Fatalf("seed %d: second derivative %d, %d is %v, differences say %v (times %v)", seed, i, j, want, got, h)
				}
			}
		}
	}
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
		d := draw(uint64(seed) + 75e6)
		k, kv := 2+d.Intn(11), newtonColumns+d.Intn(150)
		p := problem(d, k, kv)
		w := new(work)
		w.reset(p)
		w.prices()
		top, total := p.Top, float64(w.total)
		c := func(i, j int) float64 { row, _ := p.Costs.Row(i); return row[j] }
		var live []int32
		for j := range kv {
			if w.live(j) {
				live = append(live, int32(j))
			}
		}

		group := w.hold()
		w.fillCells(top)
		if group != 1 || !slices.Equal(w.at, live) {
			t.Fatalf("groups of %d, columns %v, want %v", group, w.at, live)
		}
		if e := math.Log2(w.grain); e != math.Floor(e) || top/w.grain >= 1<<costBits ||
			top/w.grain < 1<<(costBits-1) {
			t.Fatalf("grain %v for %v", w.grain, top)
		}
		for at, j := range w.at {
			for i := range k { // whole numbers: nothing is rounded
				near("cell", float64(w.cells[at*k+i])/rowBits*w.grain, c(i, int(j)))
			}
		}

		// Units of costs next to nothing beside the largest still have an inverse, and what is cut fits.
		w.fillCells(math.Ldexp(1, -1070))
		if x := 1 / w.grain; math.IsInf(x, 0) || slices.Min(w.cells) < 0 ||
			slices.Max(w.cells) > rowBits<<costBits {
			t.Fatalf("grain %v, cells up to %d", w.grain, slices.Max(w.cells))
		}
		w.fillCells(top)

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
		near("typical gap", w.typicalGap(), gaps[len(gaps)/2])

		stride := 1 << d.Intn(5)
		w.thin(stride)
		if want := (len(live) + stride - 1) / stride; len(w.samples) != want {
			t.Fatalf("%d samples, want %d", len(w.samples), want)
		}
		// The samples share all columns between them, every one with those up to the next.
		room := 0.0
		var sampled []int
		for n := range w.samples {
			from, end := 0, kv
			if n > 0 {
				from = int(live[n*stride])
			}
			if n+1 < len(w.samples) {
				end = int(live[(n+1)*stride])
			}
			l, r := 0.0, 0.0
			for j := from; j < end; j++ {
				l += float64(p.Low[j]) / total
				r += min(float64(p.Room[j])/total, 1)
			}
			o := w.samples[n]
			near("low", o.low, l)
			near("room", o.room, min(r, 1))
			middle := n * stride
			if middle+stride/2 < len(live) {
				middle += stride / 2
			}
			if got, want := live[o.at], live[middle]; got != want {
				t.Fatalf("sample %d is column %d, want %d", n, got, want)
			}
			sampled = append(sampled, int(live[o.at]))
			room += l + min(r, 1)
		}

		w.gap = 0 // reaches are not cut then
		spread := w.guess()
		sum := 0.0
		for i := range k {
			least, mean := math.Inf(1), 0.0
			for _, j := range sampled {
				x := c(i, j)
				least = min(least, x)
				mean += x / float64(len(w.samples))
			}
			near("guess", w.f[i], least+min(2*w.mass[i]/room, 1)*(mean-least))
			sum += (mean - least) / float64(k)
		}
		near("spread", spread, sum)

		// The prices as integers, cut where the costs end twice over.
		copy(w.f, []float64{1.5 * top, -1e9 * top})
		asked := slices.Clone(w.f)
		w.setKeys()
		for i, f := range asked {
			limit := w.grain * (1 << (costBits + 1))
			cut := min(max(f, -limit), limit)
			near("key", float64(w.keys[i]+int64(i))/rowBits*w.grain, cut)
			near("price kept", w.f[i], cut)
		}

		// Which row serves a column, from the costs and from what was measured.
		for i := range w.f {
			w.f[i] = float64(d.Intn(1 << 19))
		}
		w.thin(1)
		w.measure(top)
		for _, whole := range []bool{false, true} {
			w.whole = whole
			w.serve()
			for j, v := range w.served {
				if !w.live(j) {
					continue
				}
				x := make([]float64, k)
				for i := range x {
					x[i] = c(i, j) - w.f[i]
				}
				least := slices.Min(x)
				if v.least != least || x[v.by] != least {
					t.Fatalf("column %d: row %d at %v, want %v", j, v.by, v.least, least)
				}
				if !whole && v.second != -1 {
					t.Fatalf("column %d: a second row %d out of nothing", j, v.second)
				}
				if slices.Sort(x); whole && (v.second < 0 || v.gap != x[1]-x[0] || c(int(v.second), j)-w.f[v.second] != x[1]) {
					t.Fatalf("column %d: %+v, want %v", j, v, x)
				}
			}
		}
	}
}

// TestNewtonGroups: of more cells than are held, one column in every group is sampled that takes anything.
func TestNewtonGroups(t *testing.T) {
	const k, kv = newtonRows, 3 * (mostCells/newtonRows + 10)
	p := start.Problem{Supply: slices.Repeat([]uint64{1}, k), Low: make([]uint64, kv), Room: make([]uint64, kv), Top: 3,
		Costs: constant{slices.Repeat([]float64{3}, kv)}}
	var want []int32
	const group = 4 // three are too few for ten columns more
	for j := range kv {
		if j%7 > 3 {
			p.Room[j] = 1
			if len(want) == 0 || int(want[len(want)-1])/group < j/group {
				want = append(want, int32(j))
			}
		}
	}
	w := new(work)
	w.reset(p)
	got := w.hold()
	w.fillCells(3)
	if got != group || !slices.Equal(w.at, want) {
		t.Errorf("groups of %d and %d columns, want %d and %d", got, len(w.at), group, len(want))
	}
	if x := slices.Min(w.cells); float64(x)/rowBits*w.grain != 3 || slices.Max(w.cells) != x {
		t.Errorf("cells from %d to %d", x, slices.Max(w.cells))
	}
}

// constant is a cost all rows of which are the same.
type constant struct{ row []float64 }

func (c constant) Row(int) ([]float64, bool)      { return c.row, true }
func (c constant) Going() bool                    { return true }
func (c constant) Share(n int, t start.Task) bool { return t.Do(0, 0, n, c) }

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

// TestMany: for which sizes another start comes first, at the limits.
func TestMany(t *testing.T) {
	for _, tt := range []struct {
		name string
		k, n int
		want bool
	}{
		{"all rows, few", manyRows, 200, false},
		{"all rows, many", manyRows + 1, 200, true},
		{"all rows, too many columns", 100, 100*100/manyColumns + 1, false},
		{"all rows, just as many as their square", 100, 100 * 100 / manyColumns, true},
		{"heavy rows, few", 300, manyRows * lightRatio, false},
		{"heavy rows, many", 300, (manyRows + 1) * lightRatio, true},
		{"heavy rows, too many columns", 4000, newtonRows*newtonRows/manyColumns + 1, false},
	} {
		if got := Many(tt.k, tt.n); got != tt.want {
			t.Errorf("%s: %d x %d: %v", tt.name, tt.k, tt.n, got)
		}
	}
}
