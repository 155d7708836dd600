package assignment

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// matrix are costs in memory. There is no more time once left is negative; every row, and every look, takes one of it.
type matrix struct {
	n    int
	data []float64
	left *int
}

func (m matrix) Row(i int) ([]float64, bool) { return m.data[i*m.n : (i+1)*m.n], m.Going() }

func (m matrix) Going() bool { *m.left--; return *m.left >= 0 }

func (m matrix) Share(n int, t start.Task) bool { return t.Do(0, 0, n, m) }

const unit = 1 << 61

// problem has n equal masses on either side, in units that are rounded as those of a distribution.
func problem(n int, data []float64) start.Problem {
	u := unit / uint64(n)
	p := start.Problem{Supply: slices.Repeat([]uint64{u}, n), Low: slices.Repeat([]uint64{u + 1}, n), Room: make([]uint64, n),
		Top: slices.Max(data), Costs: matrix{n, data, new(math.MaxInt)}}
	p.Supply[0] += unit - uint64(n)*u
	p.Low[0] -= uint64(n)*(u+1) - unit
	return p
}

// families are costs of all kinds, for values that are multiples of an eighth up to 1 or more.
var families = map[string]func(d *numtest.SplitMix64, n int) []float64{
	"random": func(d *numtest.SplitMix64, n int) []float64 {
		return fill(n, func(_, _ int) float64 { return d.Float64() })
	},
	"ties": func(d *numtest.SplitMix64, n int) []float64 {
		return fill(n, func(_, _ int) float64 { return float64(d.Intn(3)) / 8 })
	},
	"equal": func(_ *numtest.SplitMix64, n int) []float64 { return fill(n, func(_, _ int) float64 { return 5 }) },
	"zeros": func(_ *numtest.SplitMix64, n int) []float64 { return make([]float64, n*n) },
	"products": func(_ *numtest.SplitMix64, n int) []float64 {
		return fill(n, func(i, j int) float64 { return float64(i * j) })
	},
	"huge": func(d *numtest.SplitMix64, n int) []float64 {
		return fill(n, func(_, _ int) float64 { return 0x1p999 * d.Float64() })
	},
	"tiny": func(d *numtest.SplitMix64, n int) []float64 {
		return fill(n, func(_, _ int) float64 { return 0x1p-899 * d.Float64() })
	},
	"one large": func(d *numtest.SplitMix64, n int) []float64 {
		data := fill(n, func(_, _ int) float64 { return d.Float64() })
		data[d.Intn(n*n)] = 1e30
		return data
	},
	"shifted cloud": func(d *numtest.SplitMix64, n int) []float64 { // few columns are near: a price war
		x, y := numtest.Cloud(d, n, 2, 0, 1), numtest.Cloud(d, n, 2, 1, 0.5)
		return fill(n, func(i, j int) float64 { return math.Hypot(x[i][0]-y[j][0], x[i][1]-y[j][1]) })
	},
	"lattice": func(d *numtest.SplitMix64, n int) []float64 {
		at := make([]float64, 2*n)
		for i := range at {
			at[i] = float64(d.Intn(6))
		}
		return fill(n, func(i, j int) float64 { return math.Abs(at[i] - at[n+j]) })
	},
}

func fill(n int, cost func(i, j int) float64) []float64 {
	data := make([]float64, n*n)
	for at := range data {
		data[at] = cost(at/n, at%n)
	}
	return data
}

// TestSolve: the sum of the costs is the least that any permutation has.
func TestSolve(t *testing.T) {
	w := new(work) // used again
	for name, family := range families {
		for seed := range numtest.Cases(100, 1000) {
			d := numtest.NewSplitMix64(uint64(seed))
			n := 2 + d.Intn(5)
			p := problem(n, family(d, n))
			if !w.read(p) || !w.solve(p.Costs) {
				t.Fatalf("%s, seed %d: not solved", name, seed)
			}
			sum := int64(0)
			for i, j := range w.col {
				sum += w.of(int32(i))[j]
				if w.row[j] != int32(i) {
					t.Fatalf("%s, seed %d: row %d has column %d, and that has row %d", name, seed, i, j, w.row[j])
				}
			}
			if want := least(w, 0, 0); sum != want {
				t.Fatalf("%s, seed %d: cost %d, want %d", name, seed, sum, want)
			}
		}
	}
}

// least returns the least cost of rows i to n - 1 on columns that are not used.
func least(w *work, i int, used int) int64 {
	if i == w.n {
		return 0
	}
	best := int64(math.MaxInt64)
	for j, c := range w.of(int32(i)) {
		if used>>j&1 == 0 {
			best = min(best, c+least(w, i+1, used|1<<j))
		}
	}
	return best
}

// TestForest: the forest is a tree below row 0, its flows are positive, and its prices prove it optimal: no reduced
// cost is negative.
func TestForest(t *testing.T) {
	for name, family := range families {
		for seed := range numtest.Cases(30, 300) {
			d := numtest.NewSplitMix64(uint64(seed))
			n := fewest + d.Intn(most+1-fewest)
			data := family(d, n)
			p := problem(n, data)
			var f start.Forest
			if !Start(p, &f) {
				t.Fatalf("%s, seed %d: no start for %d rows", name, seed, n)
			}
			check(t, name, p, data, &f)
		}
	}
}

func check(t *testing.T, name string, p start.Problem, data []float64, f *start.Forest) {
	t.Helper()
	n := len(p.Supply)
	_, e := math.Frexp(p.Top)
	price, known := make([]int64, 2*n), make([]bool, 2*n) // what it costs more than at row 0 to be at a node
	flow := make([]int64, 2*n)                            // what a subtree has
	for v := range 2 * n {
		var path []int // the last of it is row 0
		for at := int32(v); at >= 0 && !known[at]; at = f.Parent[at] {
			if path = append(path, int(at)); len(path) > 2*n {
				t.Fatalf("%s: a cycle at node %d", name, v)
			}
		}
		for _, at := range slices.Backward(path) {
			known[at] = true
			up := f.Parent[at]
			if (up < 0) != (at == 0) {
				t.Fatalf("%s: node %d hangs from %d", name, at, up)
			} else if up < 0 {
				continue
			}
			i, j := at, int(up)-n
			if at >= n {
				i, j = int(up), at-n
			}
			if i < 0 || i >= n || j < 0 || f.Cost[at] != data[i*n+j] {
				t.Fatalf("%s: node %d hangs from %d at %v", name, at, up, f.Cost[at])
			}
			if c := integer(data[i*n+j], e); at >= n {
				price[at] = price[up] + c
			} else {
				price[at] = price[up] - c
			}
		}
		has := int64(0)
		if v < n {
			has = int64(p.Supply[v])
		} else {
			has = -int64(f.Need[v-n])
			if off := has + int64(p.Low[v-n]); off < -2*rounding || off > 2*rounding {
				t.Fatalf("%s: column %d is off by %d units", name, v-n, off)
			}
		}
		for at := int32(v); at >= 0; at = f.Parent[at] {
			flow[at] += has
		}
	}
	for v, x := range flow {
		if want := v != 0; (x != 0) != want || v > 0 && (x > 0) != (v < n) {
			t.Fatalf("%s: the subtree of node %d has %d units", name, v, x)
		}
	}
	for at, c := range data {
		if i, j := at/n, at%n; integer(c, e)-price[n+j]+price[i] < 0 {
			t.Fatalf("%s: the arc from %d to %d improves the plan", name, i, j)
		}
	}
}

// integer rounds a cost as the simplex does.
func integer(c float64, e int) int64 { return int64(math.RoundToEven(math.Ldexp(c, costBits-e))) }

// TestRefused: there is no start for other problems.
func TestRefused(t *testing.T) {
	ones := func(n int) []float64 { return fill(n, func(_, _ int) float64 { return 1 }) }
	for name, change := range map[string]func(p *start.Problem){
		"nothing":          func(*start.Problem) {},
		"room":             func(p *start.Problem) { p.Room[3] = 1 },
		"a column less":    func(p *start.Problem) { p.Low, p.Room = p.Low[1:], p.Room[1:] },
		"a heavy row":      func(p *start.Problem) { p.Supply[0] += 2 * rounding },
		"a light column":   func(p *start.Problem) { p.Low[0] -= 2 * rounding },
		"a row of another": func(p *start.Problem) { p.Supply[5]++ },
		"another column":   func(p *start.Problem) { p.Low[5]-- },
		"whole units": func(p *start.Problem) {
			for i := range p.Supply {
				p.Supply[i], p.Low[i] = 1, 1
			}
		},
	} {
		p := problem(20, ones(20))
		change(&p)
		var f start.Forest
		if got, want := Start(p, &f), name == "nothing"; got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for n, want := range map[int]bool{1: false, fewest - 1: false, fewest: true, most: true, most + 1: false} {
		if got := Start(problem(n, ones(n)), new(start.Forest)); got != want {
			t.Errorf("%d rows: %v", n, got)
		}
	}
}

// TestNoTime: whenever there is no more time, there is no start, and nothing is asked for after that.
func TestNoTime(t *testing.T) {
	d := numtest.NewSplitMix64(3)
	const n = 40
	p := problem(n, families["shifted cloud"](d, n))
	m := p.Costs.(matrix)
	for looks := 0; ; looks++ {
		*m.left = looks
		if Start(p, new(start.Forest)) {
			if looks < 3*n { // every row is read three times
				t.Errorf("a start after %d looks", looks)
			}
			return
		}
		if *m.left != -1 {
			t.Fatalf("%d looks after the last", -1-*m.left)
		}
	}
}

// TestMuchWork: the start is given up when it has looked at cells too often, at every stage.
func TestMuchWork(t *testing.T) {
	d := numtest.NewSplitMix64(4)
	const n = 40
	p := problem(n, families["shifted cloud"](d, n))
	w := new(work)
	w.read(p)
	full := w.looks
	w.solve(p.Costs)
	spent := full - w.looks
	if spent > full/2 {
		t.Errorf("%d of %d looks were needed", spent, full)
	}
	for _, part := range []int{0, 1, 2, 4, 6} {
		w.read(p)
		w.looks = spent * part / 8
		if w.solve(p.Costs) {
			t.Errorf("solved with %d looks of %d", spent*part/8, spent)
		}
		if w.looks < -5*n*n { // four passes, and a path
			t.Errorf("%d looks too many", -w.looks)
		}
	}
}

// TestNoAllocations: a workspace that is used again allocates nothing.
func TestNoAllocations(t *testing.T) {
	d := numtest.NewSplitMix64(5)
	const n = 40
	p := problem(n, families["shifted cloud"](d, n))
	w, f := new(work), new(start.Forest)
	if got := testing.AllocsPerRun(10, func() {
		if !w.read(p) || !w.solve(p.Costs) || !w.forest(p, f) {
			t.Fatal("no start")
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
