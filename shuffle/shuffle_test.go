package shuffle

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
)

// rational returns x in 40 binary places.
func rational(x float64) *big.Rat { return big.NewRat(int64(math.Ldexp(x, 40)), 1<<40) }

// blanketOf returns the gamma at which rows reach their upper bounds on a share f of the blanket.
func blanketOf(f, eps float64) *big.Rat { return rational(1 / (1 + f*math.Expm1(eps))) }

// shares are those of the discs of a map, roughly.
var shares = map[float64]float64{0.1: 0.45, 1: 0.33, 2: 0.21, 4: 0.077, 6: 0.03}

// every returns all numbers as edges.
func every(clients int) []int {
	edges := make([]int, clients)
	for i := range edges {
		edges[i] = i
	}
	return edges
}

// law returns the law of the counts of draws from rows, by counts.
func law(rows [][]float64) map[[5]int]float64 {
	out := map[[5]int]float64{{}: 1}
	for _, row := range rows {
		next := map[[5]int]float64{}
		for counts, p := range out {
			for j, q := range row {
				c := counts
				c[j]++
				next[c] += p * q
			}
		}
		out = next
	}
	return out
}

// TestNeverAbove: the delta of all multisets of reports of small boxes, by enumeration, is at most the bound, and comes
// near it.
func TestNeverAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 40))
	boxes := 300
	if numtest.Full() {
		boxes = 3000
	}
	nearest := 0.0
	for box := range boxes {
		outputs := 3 + r.IntN(3)
		eps := []float64{0.25, 0.5, 1, 2, 3}[r.IntN(5)]
		e := math.Exp(eps)
		gamma := 1/e + (1-1/e)*r.Float64()
		lo, sum := make([]float64, outputs), 0.0
		for j := range lo {
			lo[j] = math.Pow(r.Float64(), float64(box%3)) + 0x1p-20
			sum += lo[j]
		}
		for j := range lo {
			lo[j] *= gamma / sum
		}
		corner := func() []float64 { // fills outputs in any order
			row, rest := append([]float64(nil), lo...), 1-gamma
			for _, j := range r.Perm(outputs) {
				more := min(rest, (e-1)*lo[j])
				row[j] += more
				rest -= more
			}
			return row
		}
		for n := 2; n <= 6; n++ {
			rows := make([][]float64, n)
			for i := range rows {
				rows[i] = corner()
				if r.IntN(3) == 0 {
					other, mix := corner(), r.Float64()
					for j := range other {
						rows[i][j] += mix * (other[j] - rows[i][j])
					}
				}
			}
			one := law(rows)
			rows[0] = corner()
			other := law(rows)
			p := Problem{Clients: n, Blanket: rational(gamma), Epsilon: eps + 0x1p-30, Delta: 0.5}
			for i := range 4 {
				central := eps * float64(i) / 4
				delta := 0.0
				for counts, q := range one {
					delta += max(0, q-math.Exp(central)*other[counts])
				}
				got, err := Guarantee{central, every(n)}.Delta(p)
				if err != nil {
					t.Fatal(err)
				}
				// gamma is rounded down by up to 2^-40, and the enumeration rounds
				if !(delta <= got*(1+1e-9)+1e-12) {
					t.Errorf("%d clients, eps %v, gamma %v, eps' %v: delta is %v, above %v", n, eps, gamma, central, delta, got)
				}
				if got > 1e-6 {
					nearest = max(nearest, delta/got)
				}
			}
		}
	}
	if nearest < 0.9 {
		t.Errorf("the bound is never reached: at most %v of it", nearest)
	}
	t.Logf("%d boxes, at most %.4f of the bound", boxes, nearest)
}

// attained returns the delta of a box in which three rows reach their upper bounds on disjoint sets of mass f of the
// blanket, and all other clients have the third: a lower bound for all boxes of these numbers. The sum over the counts
// (s, a, b) on the three sets is cut at nine standard deviations.
func attained(n int, f, eps, central float64) float64 {
	e, c := math.Exp(eps), math.Exp(central)
	gamma := 1 / (1 + f*(e-1))
	law := func(n int, p float64) (int, []float64) {
		mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
		first, last := max(0, int(mean-9*sd-9)), min(n, int(mean+9*sd+9))
		out := make([]float64, last-first+1)
		for i := range out {
			out[i] = binomial(n, first+i, p)
		}
		return first, out
	}
	// Of draws outside the third set, a share on each of the first two.
	share := f * gamma / (1 - f*gamma*e)
	s0, ss := law(n, f*gamma*e)
	sum := 0.0
	for i, ps := range ss {
		s := s0 + i
		a0, as := law(n-s, share)
		for j, pa := range as {
			a := a0 + j
			if ps*pa < 1e-16 {
				continue
			}
			b0, bs := law(n-s-a, share/(1-share))
			// the likelihoods, against n draws of the third row
			for l, pb := range bs {
				b := b0 + l
				rest := float64(s)/e + float64(n-s-a-b)
				sum += ps * pa * pb * max(0, e*float64(a)+float64(b)+rest-c*(float64(a)+e*float64(b)+rest))
			}
		}
	}
	return sum / float64(n)
}

// TestAttained: where three sets of mass f are disjoint, eps' is at most 2 % above what some box has.
func TestAttained(t *testing.T) {
	for _, test := range []struct {
		eps, f float64
		n      int
	}{{1, 0.33, 200}, {2, 0.21, 200}, {2, 0.21, 500}, {4, 0.077, 500}, {4, 0.077, 2000}, {6, 0.03, 500}, {6, 0.03, 2000}} {
		if test.n > 200 && !numtest.Full() {
			continue
		}
		p := Problem{Clients: test.n, Blanket: blanketOf(test.f, test.eps), Epsilon: test.eps, Delta: 1e-6}
		g, err := Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		if d := attained(test.n, test.f, test.eps, g.Epsilon*0.98); !(d > p.Delta) {
			t.Errorf("%+v: eps' %v is more than 2 %% too large: at .98 of it the delta of a box is %v", test, g.Epsilon, d)
		}
		if d := attained(test.n, test.f, test.eps, g.Epsilon); !(d <= p.Delta) {
			t.Errorf("%+v: a box has delta %v at eps' %v", test, d, g.Epsilon)
		}
	}
}

// TestWhole: intervals of floats against integers of any length, of which every quotient is rounded upwards: at most a
// relative 1e-6 apart, and no float below what the integers prove without their own rounding.
func TestWhole(t *testing.T) {
	for eps, f := range shares {
		for _, n := range []int{1, 2, 7, 60, 500, 3000} {
			if n > 100 && !numtest.Full() && eps != 4 {
				continue
			}
			p := Problem{Clients: n, Blanket: blanketOf(f, eps), Epsilon: eps, Delta: 1e-6}
			for _, delta := range []float64{1e-2, 1e-6, 1e-9} {
				p.Delta = delta
				g, err := Solve(p)
				if err != nil {
					t.Fatal(err)
				}
				if g.Epsilon == eps {
					continue
				}
				got, err := g.Delta(p)
				if err != nil {
					t.Fatal(err)
				}
				want, _ := wholeBound(p, g).Float64()
				if !(got >= want*(1-1e-12) && got <= want*(1+1e-6)) {
					t.Errorf("eps %v, %d clients: delta at %v is %v, by integers %v", eps, n, g.Epsilon, got, want)
				}
			}
		}
	}
	// f above 1/2, nothing but the blanket, and nothing but the upper bounds
	for _, gamma := range []*big.Rat{big.NewRat(1, 2), big.NewRat(3, 5), big.NewRat(1, 1), big.NewRat(1, 7)} {
		p := Problem{Clients: 40, Blanket: gamma, Epsilon: 2, Delta: 0.1}
		for _, central := range []float64{0, 0.01, 0.3, 1, 1.9} {
			g := Guarantee{central, every(40)}
			got, err := g.Delta(p)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := wholeBound(p, g).Float64()
			if !(got >= want*(1-1e-12) && got <= want*(1+1e-6)+1e-28) {
				t.Errorf("gamma %v: delta at %v is %v, by integers %v", gamma, central, got, want)
			}
		}
	}
}

// TestRare: where hardly anybody draws from anything but the blanket, laws are far from normal, and what a walk leaves out
// is next to nothing of a small delta all the same. The delta is summed over all counts, from its definition.
func TestRare(t *testing.T) {
	for _, test := range []struct{ gamma, eps, central float64 }{
		{1023.0 / 1024, 0.0625, 0.02}, {4095.0 / 4096, 0.0625, 0.005}, {1023.0 / 1024, 1, 0.125}, {1 - 0x1p-20, 0.0625, 0.003},
	} {
		const n = 24
		p := Problem{Clients: n, Blanket: rational(test.gamma), Epsilon: test.eps, Delta: 0.5}
		got, err := Guarantee{test.central, every(n)}.Delta(p)
		if err != nil {
			t.Fatal(err)
		}
		e, c := math.Exp(test.eps), math.Exp(test.central)
		f := (1 - test.gamma) / (test.gamma * (e - 1))
		want := 0.0
		for m := 1; m <= n; m++ {
			inner := 0.0
			for a := range m + 1 {
				for b := range m + 1 - a {
					x := float64(a)*(e-c) + float64(b)*(1-e*c) + float64(m-a-b)*(1-c)
					inner += binomial(m, a, f) * binomial(m-a, b, f/(1-f)) * max(0, x)
				}
			}
			want += binomial(n-1, m-1, test.gamma) * test.gamma / float64(m) * inner
		}
		if !(got >= want*(1-1e-9) && got <= want*(1+1e-9)) {
			t.Errorf("%+v: %v, want %v", test, got, want)
		}
	}
}

func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// TestMonotone: more clients, a larger delta and, at one gamma, a smaller eps never cost more than what edges round,
// a relative .01, and the search, 2^-13; with every number an edge, the search alone.
func TestMonotone(t *testing.T) {
	solve := func(p Problem) float64 {
		t.Helper()
		g, err := Solve(p)
		if err != nil {
			t.Fatal(err)
		}
		return g.Epsilon
	}
	for eps, f := range shares {
		last, slack := math.Inf(1), 1+0x1p-12
		most := 10_000
		if numtest.Full() {
			most = 300_000
		}
		for n := 1; n <= most; n += 1 + n/2 {
			if n > 60 {
				slack = 1.01
			}
			now := solve(Problem{Clients: n, Blanket: blanketOf(f, eps), Epsilon: eps, Delta: 1e-6})
			if now > last*slack {
				t.Errorf("eps %v: %d clients have eps' %v, fewer %v", eps, n, now, last)
			}
			last = now
		}
		last = math.Inf(1)
		for _, delta := range []float64{1e-12, 1e-9, 1e-6, 1e-5, 1e-3, 0.1} {
			now := solve(Problem{Clients: 5000, Blanket: blanketOf(f, eps), Epsilon: eps, Delta: delta})
			if now > last*1.01 {
				t.Errorf("eps %v: at delta %v eps' is %v, at a smaller one %v", eps, delta, now, last)
			}
			last = now
		}
	}
	last := 0.0
	for _, eps := range []float64{1.7, 2, 2.5, 3, 4, 6} {
		now := solve(Problem{Clients: 5000, Blanket: big.NewRat(1, 5), Epsilon: eps, Delta: 1e-6})
		if now < last/1.01 {
			t.Errorf("eps %v of gamma 1/5: eps' is %v, of a smaller eps %v", eps, now, last)
		}
		last = now
	}
}

// TestEdges: 64 edges cost less than a relative .005, against every second number.
func TestEdges(t *testing.T) {
	const n = 20_000
	p := Problem{Clients: n, Blanket: blanketOf(0.077, 4), Epsilon: 4, Delta: 1e-6}
	g, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	var edges []int
	for m := g.Edges[0]; m <= g.Edges[len(g.Edges)-1]; m += 2 {
		edges = append(edges, m)
	}
	fine := Guarantee{g.Epsilon * 0.995, edges[:min(len(edges), maxEdges)]}
	if err := fine.Verify(p); !errors.Is(err, ErrDelta) {
		t.Errorf("all numbers prove eps' %v, 64 edges %v (%v)", fine.Epsilon, g.Epsilon, err)
	}
}

// TestKnown holds the generic bound on any eps-LDP reports, the clones of 2021, as a program of another hand computed it:
// it is larger, but not by more than the blanket can explain.
func TestKnown(t *testing.T) {
	clones := map[float64]map[int]float64{ // at delta 1e-6, from its sums
		1: {500: 0.267, 5000: 0.077, 100000: 0.0153},
		2: {500: 0.831, 5000: 0.226, 100000: 0.0451},
		4: {500: 4.00, 5000: 0.923, 100000: 0.170},
		6: {100000: 0.528},
	}
	for eps, row := range clones {
		for n, clone := range row {
			g, err := Solve(Problem{Clients: n, Blanket: blanketOf(shares[eps], eps), Epsilon: eps, Delta: 1e-6})
			if err != nil {
				t.Fatal(err)
			}
			if !(g.Epsilon < 0.8*clone && g.Epsilon > 0.4*clone) {
				t.Errorf("eps %v, %d clients: eps' %v, the clones' %v", eps, n, g.Epsilon, clone)
			}
		}
	}
}

// TestBlanketOnly: rows that are all the blanket tell nothing; two clients are not hidden by each other.
func TestBlanketOnly(t *testing.T) {
	g, err := Solve(Problem{Clients: 2, Blanket: big.NewRat(1, 1), Epsilon: 3, Delta: 1e-9})
	if err != nil || g.Epsilon > 1e-11 {
		t.Errorf("%v, %v: rows that are equal", g.Epsilon, err)
	}
	g, err = Solve(Problem{Clients: 2, Blanket: big.NewRat(1, 4), Epsilon: 3, Delta: 1e-9})
	if err != nil || g.Epsilon != 3 {
		t.Errorf("%v, %v: two clients", g.Epsilon, err)
	}
	// the smallest delta of all
	g, err = Solve(Problem{Clients: 1000, Blanket: big.NewRat(3, 4), Epsilon: 1, Delta: math.SmallestNonzeroFloat64})
	if err != nil || g.Epsilon != 1 || g.Verify(Problem{Clients: 1000, Blanket: big.NewRat(3, 4), Epsilon: 1, Delta: 5e-324}) != nil {
		t.Errorf("%v, %v: delta 5e-324", g, err)
	}
	if g, err = Solve(Problem{Clients: 9, Blanket: big.NewRat(1, 1), Epsilon: 0, Delta: 0.1}); err != nil || g.Epsilon != 0 {
		t.Errorf("%v, %v: eps 0", g.Epsilon, err)
	}
}

func TestErrors(t *testing.T) {
	good := Problem{Clients: 10, Blanket: big.NewRat(1, 2), Epsilon: 1, Delta: 1e-6}
	for name, change := range map[string]func(*Problem){
		"no clients":      func(p *Problem) { p.Clients = 0 },
		"too many":        func(p *Problem) { p.Clients = MaxClients + 1 },
		"no blanket":      func(p *Problem) { p.Blanket = nil },
		"blanket of 0":    func(p *Problem) { p.Blanket = new(big.Rat) },
		"blanket above 1": func(p *Problem) { p.Blanket = big.NewRat(9, 8) },
		"long blanket":    func(p *Problem) { p.Blanket = new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 65)) },
		"no box":          func(p *Problem) { p.Blanket = big.NewRat(1, 3) },
		"negative eps":    func(p *Problem) { p.Epsilon = -1 },
		"NaN eps":         func(p *Problem) { p.Epsilon = math.NaN() },
		"large eps":       func(p *Problem) { p.Epsilon = 701 },
		"no delta":        func(p *Problem) { p.Delta = 0 },
		"NaN delta":       func(p *Problem) { p.Delta = math.NaN() },
		"delta of 1":      func(p *Problem) { p.Delta = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := good
			change(&p)
			if _, err := Solve(p); !errors.Is(err, ErrProblem) {
				t.Errorf("%s: %v", name, err)
			}
			if err := (Guarantee{0.5, []int{0}}).Verify(p); !errors.Is(err, ErrProblem) {
				t.Errorf("%s, verified: %v", name, err)
			}
		})
	}
	for name, g := range map[string]Guarantee{
		"negative": {-1, []int{0}}, "NaN": {math.NaN(), []int{0}}, "infinite": {math.Inf(1), []int{0}}, "no edges": {0.5, nil},
		"edges that fall": {0.5, []int{1, 0}}, "equal edges": {0.5, []int{1, 1}}, "edge -1": {0.5, []int{-1}},
		"edge N": {0.5, []int{10}}, "many edges": {0.5, make([]int, 5000)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := g.Verify(good); !errors.Is(err, ErrEvidence) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if err := (Guarantee{0.5, []int{0}}).Verify(good); !errors.Is(err, ErrDelta) {
		t.Errorf("an eps' that is too small: %v", err)
	}
	if err := (Guarantee{1, []int{0}}).Verify(good); err != nil {
		t.Errorf("the eps of the reports: %v", err)
	}
}

// TestSame: the same bits at any GOMAXPROCS.
func TestSame(t *testing.T) {
	p := Problem{Clients: 3000, Blanket: big.NewRat(1, 5), Epsilon: 3, Delta: 1e-6}
	want, err := Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{1, 8} {
		old := runtime.GOMAXPROCS(threads)
		got, err := Solve(p)
		runtime.GOMAXPROCS(old)
		if err != nil || got.Epsilon != want.Epsilon {
			t.Errorf("%d threads: %v, %v", threads, got.Epsilon, err)
		}
	}
}

// TestBlanket: the sum of the lower bounds, of a box of integers.
func TestBlanket(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{1, 2, 3}, []uint64{2, 5, 8}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if g := Blanket(box); g.Cmp(big.NewRat(3, 4)) != 0 {
		t.Errorf("gamma is %v", g)
	}
}

// Example: 100,000 people at eps 4.
func Example() {
	g, err := Solve(Problem{Clients: 100_000, Blanket: big.NewRat(1, 5), Epsilon: 4, Delta: 1e-6})
	if err != nil {
		panic(err)
	}
	fmt.Printf("(%.2f, 1e-6)-DP\n", g.Epsilon)
	// Output: (0.11, 1e-6)-DP
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := Problem{Clients: n, Blanket: blanketOf(0.33, 1), Epsilon: 1, Delta: 1e-6}
			for b.Loop() {
				if _, err := Solve(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestBlanketOfNothing: a nil and a zero box have a blanket that no Problem takes.
func TestBlanketOfNothing(t *testing.T) {
	for _, box := range []*ldp.Polytope{nil, new(ldp.Polytope)} {
		if g := Blanket(box); g.Sign() != 0 {
			t.Errorf("gamma %v", g)
		}
	}
}
