package start

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

// matrix is a cost with rows and columns in memory.
type matrix struct {
	n    int
	data []float64
}

func (m matrix) Row(i int) ([]float64, bool) { return m.data[i*m.n : (i+1)*m.n], true }

func (m matrix) Going() bool { return true }

func (m matrix) Share(n int, t Task) bool { return t.Do(0, 0, n, m) }

// cut are costs that are shared in parts, the later ones first.
type cut struct {
	matrix
	ends []int // of the parts but the last, in sixteenths
}

func (c cut) Share(n int, t Task) bool {
	ok, to := true, n
	for part := len(c.ends); part >= 0; part-- {
		from := 0
		if part > 0 {
			from = c.ends[part-1] * n / 16
		}
		ok = t.Do(part, from, to, c.matrix) && ok
		to = from
	}
	return ok
}

// TestParts: however rows are cut into parts, all that is found has the same bits.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawProblem(t)
		var whole, parts work
		var f, g Forest
		ends := rapid.SliceOfN(rapid.IntRange(0, 16), 0, Parts-1).Draw(t, "ends")
		slices.Sort(ends)
		for range 2 { // the second time with what the first has left behind
			whole.p = p
			whole.sample(math.Inf(1))
			p.Costs = cut{m, ends}
			parts.p = p
			parts.sample(math.Inf(1))
			if !reflect.DeepEqual(whole.small, parts.small) {
				t.Fatalf("%v: %v, want %v", ends, parts.small, whole.small)
			}
			prices := make([]float64, len(whole.small.Supply))
			for r := range prices {
				prices[r] = math.Round(rapid.Float64Range(-1, 1).Draw(t, "f")*8) / 8 * slices.Max(m.data)
			}
			whole.middle, parts.middle = prices, prices
			whole.into, parts.into = &f, &g
			whole.plant()
			parts.plant()
			if !reflect.DeepEqual(f, g) {
				t.Fatalf("%v: %v, want %v", ends, g, f)
			}
			p.Costs = m
		}
	})
}

// drawProblem draws a problem that leans to ties, dead columns and unequal masses.
func drawProblem(t *rapid.T) (Problem, matrix) {
	k, n := rapid.IntRange(1, 30).Draw(t, "k"), rapid.IntRange(1, 30).Draw(t, "n")
	m := matrix{n, make([]float64, k*n)}
	values := rapid.SampledFrom([]float64{0, 2, 1e9, 0x1p1000}).Draw(t, "largest")
	for x := range m.data {
		m.data[x] = math.Round(rapid.Float64Range(0, 1).Draw(t, "c")*8) / 8 * values
	}
	p := Problem{Costs: m, Supply: make([]uint64, k), Low: make([]uint64, n), Room: make([]uint64, n)}
	total := uint64(0)
	for i := range p.Supply {
		p.Supply[i] = rapid.Uint64Range(1, 9).Draw(t, "supply")
		total += p.Supply[i]
	}
	left := total
	for j := range p.Low {
		if rapid.Bool().Draw(t, "low") {
			p.Low[j] = rapid.Uint64Range(0, left).Draw(t, "low")
			left -= p.Low[j]
		}
		p.Room[j] = rapid.SampledFrom([]uint64{0, 0, 1, 5}).Draw(t, "room")
	}
	p.Room[0] += left // so that there is a plan
	return p, m
}

func sum(units []uint64) (s uint64) {
	for _, u := range units {
		s += u
	}
	return s
}

// TestSample: groups are a partition of rows and of columns that take part, none is larger than it may be, and the
// smaller problem has all units and the costs of the middles.
func TestSample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawProblem(t)
		w := work{p: p}
		if !w.sample(math.Inf(1)) {
			t.Fatal("no time")
		}
		if sum(w.small.Supply) != sum(p.Supply) || sum(w.small.Low) != sum(p.Low) || sum(w.small.Room) != sum(p.Room) {
			t.Fatal("units are lost")
		}
		live := 0
		for j, l := range p.Low {
			if l > 0 || p.Room[j] > 0 {
				live++
			}
		}
		for _, g := range []struct {
			groups *groups
			items  int
		}{{&w.rows, len(p.Supply)}, {&w.cols, live}} {
			seen := map[int32]bool{}
			for n := range g.groups.len() {
				items := g.groups.group(n)
				if len(items) == 0 || len(items) > every || !slices.Contains(items, g.groups.middle[n]) {
					t.Fatalf("group %d: %v with %d in the middle", n, items, g.groups.middle[n])
				}
				for _, i := range items {
					seen[i] = true
				}
			}
			if len(seen) != g.items || len(g.groups.item) != g.items {
				t.Fatalf("%d of %d items", len(seen), g.items)
			}
		}
		for r, i := range w.rows.middle {
			for c, j := range w.cols.middle {
				if got, want := w.small.Row(r)[c], m.data[int(i)*m.n+int(j)]; got != want {
					t.Fatalf("cost %d, %d: %v, want %v", r, c, got, want)
				}
			}
		}
		if b := max(w.rows.blur(), w.cols.blur()); !(b >= 0) {
			t.Fatalf("blur %v", b)
		}
	})
}

// TestHalve: the items before the middle are those of least value.
func TestHalve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		g := groups{look: make([]float64, n*landmarks)}
		for i := range n {
			g.item = append(g.item, int32(i))
			g.look[i*landmarks+3] = float64(rapid.IntRange(0, 9).Draw(t, "x"))
		}
		half := rapid.IntRange(1, n-1).Draw(t, "half")
		g.halve(g.item, half, 3)
		value := func(i int32) float64 { return g.of(i)[3] }
		most, least := 0.0, math.Inf(1)
		for n, i := range g.item {
			if n < half {
				most = max(most, value(i))
			} else {
				least = min(least, value(i))
			}
		}
		if most > least {
			t.Fatalf("%v before %v", most, least)
		}
	})
}

// TestGroupsAlike: groups of points on a line, seen from anywhere, are runs of neighbours.
func TestGroupsAlike(t *testing.T) {
	const n = 64
	m := matrix{n, make([]float64, n*n)}
	ones := slices.Repeat([]uint64{1}, n)
	p := Problem{Costs: m, Supply: ones, Low: ones, Room: make([]uint64, n)}
	at := func(i int) int { return i * 37 % n } // in disorder
	for i := range n {
		for j := range n {
			m.data[i*n+j] = math.Abs(float64(at(i) - at(j)))
		}
	}
	w := work{p: p}
	w.sample(math.Inf(1))
	for r := range w.rows.len() {
		lo, hi := n, 0
		for _, i := range w.rows.group(r) {
			lo, hi = min(lo, at(int(i))), max(hi, at(int(i)))
		}
		if hi-lo > 2*every {
			t.Errorf("group %d reaches from %d to %d", r, lo, hi)
		}
	}
	if b := max(w.rows.blur(), w.cols.blur()); b > 0.1 {
		t.Errorf("blur %v of points on a line", b)
	}
}

// TestPlant: reduced costs are least and not negative up to rounding, flows and what is left over add up to the masses
// and the needs, no arc is empty, and there is no cycle.
func TestPlant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawProblem(t)
		w := work{p: p}
		w.sample(math.Inf(1))
		for range w.small.Supply {
			w.middle = append(w.middle, rapid.Float64Range(-1, 1).Draw(t, "f")*slices.Max(m.data))
		}
		var f Forest
		w.into = &f
		if !w.plant() {
			t.Fatal("no time")
		}
		if err := checkArcs(&w, &f, m); err != nil {
			t.Fatal(err)
		}
		if err := checkForest(&f, p); err != nil {
			t.Fatal(err)
		}
		for v, u := range f.Parent {
			want := 0.0
			switch k := len(p.Supply); {
			case v < k && u >= 0:
				want = m.data[v*m.n+int(u)-k]
			case v < k:
				want = w.f[v]
			case u >= 0:
				want = m.data[int(u)*m.n+v-k]
			case p.Room[v-k] > 0:
				want = max(-w.pi[v-k], 0)
			default:
				want = -w.pi[v-k]
			}
			if f.Cost[v] != want {
				t.Fatalf("node %d costs %v, want %v", v, f.Cost[v], want)
			}
		}
	})
}

// checkArcs checks the arcs against all costs.
func checkArcs(w *work, f *Forest, m matrix) error {
	top := slices.Max(m.data)
	const roundings = 16 // of prices up to 4 top
	tol := roundings * 0x1p-53 * 4 * top
	listed := map[[2]int32]bool{}
	for n, a := range f.Arcs {
		rc := m.data[int(a.I)*m.n+int(a.J)] - w.f[a.I] + w.pi[a.J]
		if listed[[2]int32{a.I, a.J}] || a.Cost != m.data[int(a.I)*m.n+int(a.J)] ||
			!(w.reduced[n] >= 0 && math.Abs(w.reduced[n]-rc) <= tol) {
			return fmt.Errorf("arc %+v, reduced cost %v", a, rc)
		}
		listed[[2]int32{a.I, a.J}] = true
	}
	for i := range w.f {
		least, most, n := math.Inf(1), 0.0, 0
		for j := range w.pi {
			if math.IsInf(w.pi[j], 1) {
				continue
			}
			rc := m.data[i*m.n+j] - w.f[i] + w.pi[j]
			least = min(least, rc)
			if listed[[2]int32{int32(i), int32(j)}] {
				n++
			}
			most = max(most, rc)
		}
		if n < min(rowArcs, len(w.cols.item)) || !(math.Abs(least) <= tol) {
			return fmt.Errorf("row %d: %d arcs, least reduced cost %v, most %v", i, n, least, most)
		}
	}
	for _, j := range w.cols.item {
		least, listedLeast := math.Inf(1), math.Inf(1)
		for i := range w.f {
			x := m.data[i*m.n+int(j)] - w.f[i]
			if least = min(least, x); listed[[2]int32{int32(i), j}] {
				listedLeast = min(listedLeast, x)
			}
		}
		if listedLeast != least {
			return fmt.Errorf("column %d: %v is the least of the listed arcs, %v of all", j, listedLeast, least)
		}
	}
	return nil
}

// checkForest checks that the flows that follow from the forest are positive, and that columns need no more than there is.
func checkForest(f *Forest, p Problem) error {
	k := len(p.Supply)
	net := append([]uint64(nil), p.Supply...) // what rows still have and columns still need
	for j, need := range f.Need {
		if need != p.Low[j] && need != p.Low[j]+p.Room[j] {
			return fmt.Errorf("column %d gets %d", j, need)
		}
		net = append(net, need)
	}
	kids := make([]int, len(f.Parent))
	for v, u := range f.Parent {
		if u >= 0 && (v < k) == (int(u) < k) {
			return fmt.Errorf("arc from %d to %d", v, u)
		}
		if u >= 0 {
			kids[u]++
		}
	}
	for v := range f.Parent { // from the leaves on
		for v := int32(v); kids[v] == 0 && f.Parent[v] >= 0; {
			u := f.Parent[v]
			if net[v] == 0 || net[v] > net[u] {
				return fmt.Errorf("the arc of node %d carries %d, its parent has %d", v, net[v], net[u])
			}
			net[u] -= net[v]
			kids[v], kids[u] = -1, kids[u]-1
			v = u
		}
	}
	if slices.Max(kids) > 0 {
		return fmt.Errorf("there is a cycle in %v", f.Parent)
	}
	if sum(f.Need) > sum(p.Supply) {
		return fmt.Errorf("columns need %d of %d", sum(f.Need), sum(p.Supply))
	}
	return nil
}

// TestNoTime: every pass ends when rows are refused.
func TestNoTime(t *testing.T) {
	const n = 40
	m := matrix{n, make([]float64, n*n)}
	p := Problem{Supply: slices.Repeat([]uint64{1}, n), Low: slices.Repeat([]uint64{1}, n), Room: make([]uint64, n)}
	for most := 0; ; most++ {
		rows := 0
		p.Costs = until{m, &rows, most}
		var f Forest
		if done := Multiscale(p, zeros{}, &f); done {
			break
		}
		if rows != most+1 {
			t.Fatalf("%d rows were asked for after the first refusal", rows-most-1)
		}
	}
}

// zeros solves problems whose costs are all zero.
type zeros struct{}

func (zeros) Solve(s *Smaller, prices []float64) bool {
	clear(prices)
	return true
}

// until are costs that are refused after most rows.
type until struct {
	matrix
	rows *int
	most int
}

func (u until) Share(n int, t Task) bool { return t.Do(0, 0, n, u) }

func (u until) Row(i int) ([]float64, bool) {
	*u.rows++
	row, _ := u.matrix.Row(i)
	return row, *u.rows <= u.most
}

// TestHalveBadPivots: values of which every pivot is the least would take quickselect n^2 / 4 steps, an hour at 2^21.
// They are sorted, the upper half as well.
func TestHalveBadPivots(t *testing.T) {
	n := 1 << numtest.Cases(12, 21)
	g := groups{look: make([]float64, n*landmarks), item: make([]int32, n)}
	for i := range g.item {
		g.item[i] = int32(i)
	}
	left := slices.Clone(g.item)
	for value := range n {
		at := len(left) / 2
		g.look[int(left[at])*landmarks] = float64(value)
		left[at] = left[0]
		left = left[1:]
	}
	g.halve(g.item, n/2, 0)
	for x, i := range g.item {
		if v := g.of(i)[0]; (v < float64(n/2)) != (x < n/2) {
			t.Fatalf("value %v at %d", v, x)
		}
	}
	if !slices.IsSortedFunc(g.item, func(a, b int32) int { return cmp.Compare(g.of(a)[0], g.of(b)[0]) }) {
		t.Error("the pivots went on to the end")
	}
}

// TestGroupSize: the smaller problem has a sixteenth of the cells until that is too much, and then as many as it may.
func TestGroupSize(t *testing.T) {
	for _, tt := range []struct{ k, n, want int }{
		{1, 1, 4}, {4000, 4000, 4}, {16384, 16384, 4}, {16384, 16388, 5}, {50_000, 50_000, 13},
		{1 << 30, 2, 64}, {2, 1 << 30, 64},
	} {
		size := groupSize(tt.k, tt.n)
		cells := func(size int) int { return (tt.k + size - 1) / size * ((tt.n + size - 1) / size) }
		if size != tt.want || cells(size) > mostCells || size > every && cells(size-1) <= mostCells {
			t.Errorf("groupSize(%d, %d) = %d, %d cells", tt.k, tt.n, size, cells(size))
		}
	}
}

// TestRelease: nothing of the caller's stays, and no more cells than it says.
func TestRelease(t *testing.T) {
	w := work{small: Smaller{Costs: make([]float64, mostKept)}, p: Problem{Costs: matrix{}}}
	if w.release(); w.small.Costs == nil || w.p.Costs != nil {
		t.Error("forgets too much or too little")
	}
	w = work{small: Smaller{Costs: make([]float64, mostKept+1)}}
	if w.release(); w.small.Costs != nil {
		t.Error("too many cells stay")
	}
}

// TestMostBlur: where the start is used.
func TestMostBlur(t *testing.T) {
	const n = leastNodes
	for _, tt := range []struct {
		name      string
		k, n      int
		low, room uint64 // of every column, in units of total/n
		first     uint64 // more for the first column
		want      float64
	}{
		{"transport", n, n, 2, 0, 0, mostBlur},
		{"few rows", n - 1, n, 2, 0, 0, 0},
		{"few columns", n, n - 1, 2, 0, 0, 0},
		{"little room", n, n, 1, 2, 0, mostBlur},
		{"more room", n, n, 1, 2, 1, wideBlur},
		{"the most room", n, n, 1, 3, 0, wideBlur},
		{"too much room", n, n, 1, 3, 1, 0},
		{"a column without bound", n, n, 1, 1, math.MaxUint64 - 1, 0},
	} {
		p := Problem{Supply: make([]uint64, tt.k), Low: slices.Repeat([]uint64{tt.low}, tt.n),
			Room: slices.Repeat([]uint64{tt.room}, tt.n)}
		p.Supply[0] = 2 * uint64(tt.n)
		p.Room[0] += tt.first
		if got := p.mostBlur(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	dead := Problem{Supply: slices.Repeat([]uint64{1}, n), Low: make([]uint64, n), Room: make([]uint64, n)}
	dead.Low[0] = n // columns that take nothing do not count
	if dead.mostBlur() > 0 {
		t.Error("one column: starts")
	}
}

// TestHeavyItemsAreAlone: an item with far more units than others is a group, one in oneAlone at most, and a group is
// represented by the item from which its units are the least way off.
func TestHeavyItemsAreAlone(t *testing.T) {
	const n = 64
	g := groups{look: make([]float64, n*landmarks), units: make([]uint64, n)}
	for i := range int32(n) {
		g.item = append(g.item, i)
		g.of(i)[0] = float64(i) // on a line
		g.units[i] = 10
	}
	for _, i := range []int{5, 17, 40, 41, 42, 63} {
		g.units[i] = 1000 + uint64(i)
	}
	g.units[10] = 30 // of 8 to 11: the nearest to all of them, by units
	g.cut(4)
	alone := 0
	for c := range g.len() {
		items, middle := g.group(c), g.middle[c]
		if len(items) == 1 && g.units[items[0]] > 1000 {
			alone++
		}
		way := func(to int32) (sum float64) {
			for _, i := range items {
				sum += float64(g.units[i]) * g.distance(i, to)
			}
			return sum
		}
		for _, i := range items {
			if way(i) < way(middle) {
				t.Errorf("group %v: %d is in the middle, %d is nearer", items, middle, i)
			}
		}
	}
	if most := n / oneAlone; alone < most-1 || g.alone > most {
		t.Errorf("%d heavy items are alone, %d groups of one, at most %d", alone, g.alone, most)
	}
}
