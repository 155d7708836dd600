//go:build unix

package bench

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// foreign are instances as others draw them: masses with heavy tails, as those of shops, airports and words have them;
// few points; far more rows than columns; costs with many ties. A name is space:rows x columns:masses:eps:seed, and eps
// is "transport" where the columns have given masses.
var foreign = []struct {
	line   string // of the table
	spaces []string
	sizes  []string
	masses []string // of the rows and of the columns
	eps    []string
	seeds  int
}{
	{"heavy tails, 500 to 2000", []string{"earth", "cities"}, []string{"500x500", "1000x1000", "2000x2000"},
		[]string{"pareto/dir", "zipf/dir", "pareto/pareto"}, []string{"transport"}, 1},
	{"heavy tails, 1000, five seeds", []string{"earth", "cities", "twice"}, []string{"1000x1000"},
		[]string{"pareto/dir"}, []string{"transport"}, 5},
	{"heavy tails, 4000", []string{"earth", "cities"}, []string{"4000x4000"}, []string{"pareto/dir"}, []string{"transport"}, 1},
	{"heavy tails, eps 0.5, 1000 and 2000", []string{"earth", "annulus"}, []string{"1000x1000", "2000x2000"},
		[]string{"pareto/pareto"}, []string{"0.5"}, 1},
	{"20 points", []string{"clouds", "cities", "random"}, []string{"20x20"}, []string{"dir/dir", "equal/equal"},
		[]string{"transport"}, 3},
	{"50 to 128 points", []string{"clouds", "cities", "random"}, []string{"50x50", "70x70", "100x100", "128x128"},
		[]string{"dir/dir", "equal/equal"}, []string{"transport"}, 1},
	{"4000 x 20", []string{"random", "cities"}, []string{"4000x20"}, []string{"dir/dir"}, []string{"transport"}, 2},
	{"20 x 4000", []string{"random", "cities"}, []string{"20x4000"}, []string{"dir/dir"}, []string{"transport"}, 2},
	{"4000 x 30, eps 1", []string{"random", "cities"}, []string{"4000x30"}, []string{"dir/dir"}, []string{"1"}, 2},
	{"products i j, eps 1", []string{"product"}, []string{"300x300", "1000x1000"}, []string{"dir/dir", "pareto/dir"},
		[]string{"1"}, 1},
	{"20 atoms, 4000 columns", []string{"cities", "earth"}, []string{"20x4000"}, []string{"dir/dir", "pareto/dir"},
		[]string{"0.1", "8"}, 1},
	{"30 x 30, eps 0.1", []string{"cities"}, []string{"30x30"}, []string{"zipf/dir"}, []string{"0.1"}, 3},
	{"200 atoms, 1000 columns", []string{"earth"}, []string{"200x1000"}, []string{"dir/dir", "pareto/dir"},
		[]string{"0.5", "2", "transport"}, 1},
	{"ties: costs 0, 1, 2; copies; L1 of pixels", []string{"few", "copies", "pixels"}, []string{"529x529"},
		[]string{"dir/dir", "equal/equal"}, []string{"transport", "1"}, 1},
}

// foreignNames are the instances of a line.
func foreignNames(n int) (names []string) {
	f := foreign[n]
	for _, size := range f.sizes {
		for _, space := range f.spaces {
			for _, mass := range f.masses {
				for _, eps := range f.eps {
					for seed := range f.seeds {
						names = append(names, fmt.Sprintf("%s:%s:%s:%s:%d", space, size, mass, eps, seed+1))
					}
				}
			}
		}
	}
	return names
}

// newForeign draws the instance of a name. The same name is always the same instance.
func newForeign(name string) (*instance, error) {
	part := strings.Split(name, ":")
	if len(part) != 5 {
		return nil, fmt.Errorf("instance %q: want space:size:masses:eps:seed", name)
	}
	var k, kv int
	if _, err := fmt.Sscanf(part[1], "%dx%d", &k, &kv); err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	h := fnv.New64a()
	h.Write([]byte(part[0] + part[1] + part[4]))
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	m, err := foreignSpace(r, part[0], k, kv)
	if err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	in := &instance{name: name}
	if in.C, err = cost.Materialize(context.Background(), m); err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	rows, columns, _ := strings.Cut(part[2], "/")
	if in.mu, err = masses(r, rows, k); err != nil {
		return nil, err
	}
	if in.target, err = masses(r, columns, kv); err != nil {
		return nil, err
	}
	in.lo, in.hi = slices.Clone(in.target), slices.Clone(in.target)
	if part[3] == "transport" {
		return in, nil
	}
	if _, err := fmt.Sscan(part[3], &in.eps); err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	for j := range in.lo {
		in.lo[j] *= math.Exp(-in.eps / 2)
		in.hi[j] *= math.Exp(in.eps / 2)
	}
	in.param[1], in.param[2] = in.eps, 1
	return in, nil
}

// masses draws n masses, in random order: equal, dir (Dirichlet(1)), pareto (tail index 0.6) or zipf (rank^-1.5).
func masses(r *rand.Rand, kind string, n int) ([]float64, error) {
	x, sum := make([]float64, n), 0.0
	rank := r.Perm(n)
	for i := range x {
		switch kind {
		case "equal":
			x[i] = 1
		case "dir":
			x[i] = r.ExpFloat64()
		case "pareto":
			x[i] = math.Pow(1-r.Float64(), -1/0.6)
		case "zipf":
			x[i] = math.Pow(float64(rank[i]+1), -1.5)
		default:
			return nil, fmt.Errorf("masses %q: unknown", kind)
		}
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x, nil
}

// foreignSpace draws a cost: places on the earth or in the plane that crowd around cities of many sizes, Gaussian
// clouds, random numbers, products of ranks, and costs with many ties.
func foreignSpace(r *rand.Rand, space string, k, kv int) (cost.Matrix, error) {
	square := func(i, j int) float64 { return float64(i * j) }
	switch space {
	case "earth":
		at := towns(r, 40)
		return cost.NewGreatCircle(onEarth(at(k)), onEarth(at(kv)), 1)
	case "cities":
		at := towns(r, 40)
		return cost.NewPoints(at(k), at(kv), 2)
	case "twice": // the same places on both sides
		x := towns(r, 40)(k)
		return cost.NewPoints(x, x[:kv], 1)
	case "annulus": // a disc, and a ring far around it
		x, v := points(k, 2, r.NormFloat64), points(kv, 2, r.NormFloat64)
		for _, p := range v {
			far := (8 + 2*r.Float64()) / math.Hypot(p[0], p[1])
			p[0], p[1] = p[0]*far, p[1]*far
		}
		return cost.NewPoints(x, v, 1)
	case "clouds":
		return cost.NewPoints(points(k, 2, r.NormFloat64),
			points(kv, 2, func() float64 { return 1 + 0.8*r.NormFloat64() }), 1)
	case "random":
		return filled(k, kv, func(_, _ int) float64 { return r.Float64() }), nil
	case "product":
		return filled(k, kv, square), nil
	case "few":
		return filled(k, kv, func(_, _ int) float64 { return float64(r.IntN(3)) }), nil
	case "copies": // every place four times
		x, v := points((k+3)/4, 2, r.Float64), points((kv+3)/4, 2, r.Float64)
		for len(x) < k {
			x = append(x, x[r.IntN(len(x))])
		}
		for len(v) < kv {
			v = append(v, v[r.IntN(len(v))])
		}
		return cost.NewPoints(x, v, 1)
	case "pixels":
		side := int(math.Sqrt(float64(k)))
		return filled(k, kv, func(i, j int) float64 {
			return math.Abs(float64(i/side-j/side)) + math.Abs(float64(i%side-j%side))
		}), nil
	}
	return nil, fmt.Errorf("unknown space %q", space)
}

func filled(k, kv int, at func(i, j int) float64) *cost.Dense {
	c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for i := range k {
		for j := range kv {
			c.Data[i*kv+j] = at(i, j)
		}
	}
	return c
}

// towns draws so many towns in the square, whose sizes and widths have heavy tails, and returns what draws places in
// them.
func towns(r *rand.Rand, many int) func(n int) [][]float64 {
	centres, sum := points(many, 2, r.Float64), make([]float64, many)
	width := make([]float64, many)
	total := 0.0
	for c := range centres {
		total += math.Pow(1-r.Float64(), -1)
		sum[c], width[c] = total, 0.004*math.Pow(1-r.Float64(), -0.8)
	}
	return func(n int) [][]float64 {
		x := points(n, 2, r.NormFloat64)
		for _, p := range x {
			c, _ := slices.BinarySearch(sum, r.Float64()*total)
			for d := range p {
				p[d] = centres[c][d] + min(width[c], 0.2)*p[d]
			}
		}
		return x
	}
}

// onEarth makes latitudes and longitudes of points of the square.
func onEarth(x [][]float64) [][2]float64 {
	at := make([][2]float64, len(x))
	for i, p := range x {
		at[i] = [2]float64{math.Asin(min(max(2*p[0]-1, -1), 1)) * 180 / math.Pi, math.Remainder(360*p[1], 360)}
	}
	return at
}

func foreigns(c *config, w io.Writer) error {
	fmt.Fprint(w, "Places on the earth (great circle) and in the plane that crowd around towns whose sizes and "+
		"widths have heavy tails, and other\ncosts; masses: Pareto(0.6), Zipf(1.5), Dirichlet(1), equal. Where no eps is named: "+
		"plain transport. LEMON: the best of its pivot rules.\n\n")
	t := c.lines("LEMON", "POT")
	worst := 0.0
	for n, f := range foreign {
		for _, name := range foreignNames(n) {
			if !strings.Contains(name, c.Only) {
				continue
			}
			in, err := newForeign(name)
			if err != nil {
				return err
			}
			pivots, err := c.foreignLine(in, f.line, t)
			if err != nil {
				return err
			}
			worst = max(worst, pivots)
		}
	}
	t.write(w)
	fmt.Fprintf(w, "\nwpm takes at most %.1f pivots for each row or column.\n", worst)
	return nil
}

// foreignLine adds an instance, with the best of LEMON's rules and POT, and returns wpm's pivots for a row or column. A
// peer whose objective differs by more than its own rounding is an error.
func (c *config) foreignLine(in *instance, line string, t *lines) (pivots float64, err error) {
	file := c.tmp + "/foreign.bin"
	p := projection.Problem{Cost: in.C, Lo: in.lo, Hi: in.hi}
	p.Support, p.Source = in.support()
	var stats mincostflow.Stats
	solve := func() (answer, error) {
		r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
		stats = r.Stats
		return answer{Value: r.Objective, Met: true}, err
	}
	driver := "pot_exact.py"
	if in.eps == 0 {
		driver = "pot_transport.py"
		solve = func() (answer, error) {
			r, err := mincostflow.Transport(context.Background(), in.C, in.mu, in.target)
			stats = r.Stats
			return answer{Value: r.Objective, Met: true}, err
		}
		in.lo, in.hi = slices.Clone(in.target), slices.Clone(in.target)
		for j := range in.hi { // LEMON counts masses in units: room for their roundings
			in.lo[j] = max(0, in.lo[j]-1e-12)
			in.hi[j] += 1e-12
		}
	}
	if err := in.write(file); err != nil {
		return 0, err
	}
	all := []runner{often(solve)}
	defer func() {
		for _, r := range all {
			r.close()
		}
	}()
	for _, rule := range lemonRules {
		r, err := c.compiled("lemon_exact", file, rule)
		if err != nil {
			return 0, err
		}
		all = append(all, r)
	}
	pot, err := c.python(driver, file)
	if err != nil {
		return 0, err
	}
	got, err := c.compare(append(all, pot)...)
	all = append(all, pot)
	if err != nil {
		return 0, err
	}
	lemon := math.Inf(1)
	for n, a := range got[1:] {
		if n < len(lemonRules) {
			lemon = min(lemon, a.CPU)
		}
		d := math.Abs(a.Value - got[0].Value)
		if got[0].Value > 0 { // ties may cost nothing
			d /= got[0].Value
		}
		switch {
		case !(d <= 1e-6):
			return 0, fmt.Errorf("%s: peer %d finds %v, wpm %v", in.name, n, a.Value, got[0].Value)
		case d > 1e-9: // wpm's bounds are proved
			fmt.Fprintf(c.Log, "%s: peer %d is wrong by %.0e of the optimum\n", in.name, n, d)
		}
	}
	t.add(line, in.name, got[0].CPU, lemon, got[4].CPU)
	return float64(stats.Pivots) / float64(in.C.K+in.C.Kv), nil
}
