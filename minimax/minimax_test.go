package minimax_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/wpmerr"
)

// prove solves and verifies, and returns the bounds in floats.
func prove(t testing.TB, p minimax.Problem) (b minimax.Bound, lower, upper float64) {
	t.Helper()
	b, err := minimax.Solve(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	l, u, err := b.Verify(t.Context(), p)
	if err != nil {
		t.Fatalf("%v: %+v", err, b)
	}
	lower, _ = l.Float64()
	upper, _ = u.Float64()
	if !(lower >= 0 && lower <= upper) {
		t.Errorf("%v to %v", lower, upper)
	}
	return b, lower, upper
}

func grid(t testing.TB, n int) *cost.Grid {
	t.Helper()
	c, err := cost.NewGrid(n, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFigures holds the bounds of 20 x 20 cells, in cells.
func TestFigures(t *testing.T) {
	c := grid(t, 20)
	for _, test := range []struct {
		eps   float64
		n     int
		least float64
	}{
		{1, 5000, 0.39}, {2, 5000, 0.23}, {4, 5000, 0.093},
		{1, 100_000, 0.14}, {2, 100_000, 0.067}, {4, 100_000, 0.022}, {1, 500, 0.71}, {0.5, 0, 13},
	} {
		_, lower, _ := prove(t, minimax.Problem{Cost: c, Epsilon: test.eps, Clients: test.n})
		if !(20*lower >= test.least) {
			t.Errorf("eps %v, %d people: %.4f cells, want at least %v", test.eps, test.n, 20*lower, test.least)
		}
	}
}

// TestTwoPlaces: of two places every eps-LDP report is randomised response with something after it, so the largest error
// under two populations can be summed. The bound is at most that, and not far below it at small eps: at a large one a
// report of many places may tell more than one of two, and the bound allows for that.
func TestTwoPlaces(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 3, 3, 0}}
	for eps, share := range map[float64]float64{0.2: 0.7, 1: 0.55, 3: 0.3} {
		for _, n := range []int{1, 2, 5, 40, 300, 2000} {
			_, lower, _ := prove(t, minimax.Problem{Cost: c, Epsilon: eps, Clients: n})
			best := 0.0
			for eta := 1.0; eta > 0.002; eta *= 0.98 {
				p := 0.5 + eta*math.Tanh(eps/2)/2
				same := 0.0 // of the two laws of the number of ones
				for k := range n + 1 {
					same += math.Min(binomial(n, k, p), binomial(n, k, 1-p))
				}
				best = max(best, 1.5*eta*same)
			}
			if !(lower <= best*(1+1e-9)) || lower < share*best {
				t.Errorf("eps %v, %d people: %v, two populations make %v", eps, n, lower, best)
			}
		}
	}
}

func binomial(n, k int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// TestTold: what one report of any channel tells of all pairs together is at most Phi, which a channel nearly reaches.
func TestTold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 40))
	nearest := 0.0
	for trial := range 3000 {
		eps := []float64{0.3, 1, 2, 4}[trial%4]
		e := math.Exp(eps)
		pairs := 1 + r.IntN(4)
		eta := []float64{0.02, 0.3, 0.7, 1}[r.IntN(4)]
		mass, sum := make([]float64, pairs), 0.0
		for j := range mass {
			mass[j] = r.Float64() + 0.01
			sum += mass[j]
		}
		places := 2 * pairs
		// columns l (1 + (e-1) s), and a last one that fills up: rows in a box, by scaling
		outputs := 2 + r.IntN(6)
		q := make([][]float64, places)
		for i := range q {
			q[i] = make([]float64, outputs)
			total := 0.0
			for y := range q[i] {
				q[i][y] = 1
				if h := i + y*(1+trial%3); h*h%7%2 == 0 == (r.IntN(4) > 0) {
					q[i][y] = e
				}
				total += q[i][y]
			}
			for y := range q[i] {
				q[i][y] /= total
			}
		}
		if trial%5 == 0 { // few ones and many zeros: a column of e at a share 1/(e+1) of the places tells most
			for i := range q {
				hot := 0.0
				if i%2 == 0 {
					hot = 1
				}
				p := (1 + (e-1)*hot) / (1 + e)
				q[i] = []float64{p, 1 - p}
			}
		}
		level := 0.0 // the eps that the channel has
		for y := range q[0] {
			lo, hi := math.Inf(1), 0.0
			for i := range q {
				lo, hi = math.Min(lo, q[i][y]), math.Max(hi, q[i][y])
			}
			level = max(level, math.Log(hi/lo))
		}
		law := func(v []float64) []float64 {
			out := make([]float64, len(q[0]))
			for i := range q {
				sign := v[i/2]
				if i%2 == 1 {
					sign = -sign
				}
				for y := range out {
					out[y] += mass[i/2] / sum / 2 * (1 + eta*sign) * q[i][y]
				}
			}
			return out
		}
		v := make([]float64, pairs)
		for j := range v {
			v[j] = float64(2*r.IntN(2) - 1)
		}
		told := 0.0
		for j := range v {
			w := slices.Clone(v)
			w[j] = -w[j]
			a, b := law(v), law(w)
			h := 0.0
			for y := range a {
				d := math.Sqrt(a[y]) - math.Sqrt(b[y])
				h += d * d
			}
			told += h / (eta * eta * mass[j] / sum)
		}
		k := math.Expm1(level)
		if level < 1e-6 {
			continue // nothing is told
		}
		phi := k / (math.Exp(level/2) + math.Sqrt(math.Exp(level)-k*eta))
		phi *= phi
		if !(told <= phi*(1+1e-9)) {
			t.Fatalf("trial %d: eps %v, eta %v: %v told, Phi is %v", trial, level, eta, told, phi)
		}
		nearest = max(nearest, told/phi)
	}
	if nearest < 0.95 {
		t.Errorf("no channel tells more than %v of Phi", nearest)
	}
}

// TestProgram: with radii and masses of any size, the tangent and its multiplier give no more than the least value of the
// convex programme over x, found by bisection of the multiplier; at the masses that Solve takes, nearly that.
func TestProgram(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 40))
	for trial := range 40 {
		points := make([][]float64, 24)
		for i := range points {
			points[i] = []float64{math.Exp(3 * r.Float64()), r.Float64()}
		}
		c, err := cost.NewPoints(points, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := minimax.Problem{Cost: c, Epsilon: 0.5 + 3*r.Float64(), Clients: 20 + r.IntN(3000)}
		b, _, _ := prove(t, p)
		if trial%2 == 1 {
			for j := range b.Mass {
				b.Mass[j] *= 0.5 + r.Float64()
			}
		}
		l, _, err := b.Verify(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		lower, _ := l.Float64()
		least := program(b, p)
		if !(lower <= least*(1+1e-9)) || trial%2 == 0 && lower < least*(1-1e-6) {
			t.Errorf("trial %d: the tangent gives %v, the programme %v", trial, lower, least)
		}
	}
}

// program minimises sum_j w_j (1 - sqrt(1 - e^-x_j)) subject to sum_j x_j/(eta^2 u_j) = N c Phi.
func program(b minimax.Bound, p minimax.Problem) float64 {
	sum, largest := 0.0, 0.0
	for _, u := range b.Mass {
		sum += u
		largest = max(largest, u)
	}
	eta, k := b.Amplitude, math.Expm1(p.Epsilon)
	phi := k / (math.Exp(p.Epsilon/2) + math.Sqrt(math.Exp(p.Epsilon)-k*eta))
	phi *= phi
	z := eta * eta * largest / sum * phi / 2
	budget := float64(p.Clients) * -math.Log1p(-z) / z * phi
	at := func(multiplier float64) (value, spent float64) {
		for j, m := range b.Mass {
			u := m / sum
			w := eta * u * b.Radius[j]
			low, high := 1e-14, 700.0 // of x_j, at which w e^-x / (2 sqrt(1 - e^-x)) is the multiplier over eta^2 u
			for range 200 {
				x := math.Sqrt(low * high)
				if w*math.Exp(-x)/(2*math.Sqrt(-math.Expm1(-x))) > multiplier/(eta*eta*u) {
					low = x
				} else {
					high = x
				}
			}
			value += w * (1 - math.Sqrt(-math.Expm1(-low)))
			spent += low / (eta * eta * u)
		}
		return value, spent
	}
	low, high := 1e-40, 1e40
	for range 400 {
		mid := math.Sqrt(low * high)
		if _, spent := at(mid); spent > budget {
			low = mid
		} else {
			high = mid
		}
	}
	value, _ := at(high)
	return value
}

// TestNeverAbove: discs, block codes and randomised response, read by the likeliest map or one stopped early, are no
// nearer to the populations of the bound, in the mean over their signs, than the bound.
func TestNeverAbove(t *testing.T) {
	const side, places = 4, 16
	c := grid(t, side)
	r := rand.New(rand.NewPCG(5, 40))
	rows := map[string]func(e float64, i, y int) float64{
		"response": func(e float64, i, y int) float64 {
			if i == y {
				return e
			}
			return 1
		},
		"discs": func(e float64, i, y int) float64 {
			if a, b := i/side-y/side, i%side-y%side; a*a+b*b <= 1 {
				return e
			}
			return 1
		},
		"codes": func(e float64, i, y int) float64 { // Hadamard's
			ones := 0
			for b := i & y; b > 0; b &= b - 1 {
				ones++
			}
			if ones%2 == 0 {
				return e
			}
			return 1
		},
	}
	trials := 40
	if numtest.Full() {
		trials = 200
	}
	ctx := t.Context()
	for _, eps := range []float64{0.5, 1, 3} {
		for _, n := range []int{10, 200, 3000} {
			b, lower, _ := prove(t, minimax.Problem{Cost: c, Epsilon: eps, Clients: n})
			for _, name := range slices.Sorted(maps.Keys(rows)) { // r is drawn from in this order
				weight := rows[name]
				q := make([][]float64, places)
				for i := range q {
					q[i] = make([]float64, places)
					sum := 0.0
					for y := range q[i] {
						q[i][y] = weight(math.Exp(eps), i, y)
						sum += q[i][y]
					}
					for y := range q[i] {
						q[i][y] /= sum
					}
				}
				for _, steps := range []int{0, 3, 100} {
					mean, square := 0.0, 0.0
					for range trials {
						truth := make([]float64, places)
						total := 0.0
						for j := range b.Mass {
							total += b.Mass[j]
						}
						for j := range b.Mass {
							sign := float64(2*r.IntN(2) - 1)
							truth[b.Poles[2*j]] = b.Mass[j] / total / 2 * (1 + sign*b.Amplitude)
							truth[b.Poles[2*j+1]] = b.Mass[j] / total / 2 * (1 - sign*b.Amplitude)
						}
						counts := make([]float64, places)
						for range n {
							counts[draw(r, q[draw(r, truth)])]++
						}
						d, err := mincostflow.Transport(ctx, c, truth, likeliest(q, counts, steps))
						if err != nil {
							t.Fatal(err)
						}
						mean += d.Objective / float64(trials)
						square += d.Objective * d.Objective / float64(trials)
					}
					// four standard errors: a false alarm in some 30,000
					if se := math.Sqrt(max(0, square-mean*mean) / float64(trials)); !(mean+4*se >= lower) {
						t.Errorf("eps %v, %d people, %s, %d steps: mean %v, below the bound %v", eps, n, name, steps, mean, lower)
					}
				}
			}
		}
	}
}

func draw(r *rand.Rand, p []float64) int {
	u := r.Float64()
	for i, x := range p {
		if u -= x; u < 0 {
			return i
		}
	}
	return len(p) - 1
}

// likeliest is EM from the even map.
func likeliest(q [][]float64, counts []float64, steps int) []float64 {
	theta := slices.Repeat([]float64{1 / float64(len(q))}, len(q))
	for range steps {
		next, sum := make([]float64, len(q)), 0.0
		for y, n := range counts {
			at := 0.0
			for i := range q {
				at += theta[i] * q[i][y]
			}
			for i := range q {
				next[i] += n * theta[i] * q[i][y] / at
			}
		}
		for _, x := range next {
			sum += x
		}
		for i := range next {
			theta[i] = next[i] / sum
		}
	}
	return theta
}

// TestMonotone: more people and a larger eps never make the bound larger, beyond what the search of eta leaves open.
func TestMonotone(t *testing.T) {
	c := grid(t, 8)
	for _, eps := range []float64{0, 0.1, 1, 4, 12, 50, 700} {
		last := math.Inf(1)
		for n := 0; n < 1e8; n += 1 + 2*n {
			_, lower, _ := prove(t, minimax.Problem{Cost: c, Epsilon: eps, Clients: n})
			if lower > last*(1+1e-4) {
				t.Errorf("eps %v: %d people have %v, fewer %v", eps, n, lower, last)
			}
			last = lower
			if _, more, _ := prove(t, minimax.Problem{Cost: c, Epsilon: min(700, eps*1.1), Clients: n}); more > lower*(1+1e-4) {
				t.Errorf("%d people: %v at eps %v, %v at more", n, lower, eps, more)
			}
		}
	}
}

// TestKinds: every geometry, some of few places or none apart, or not a distance.
func TestKinds(t *testing.T) {
	ring, err1 := cost.NewRing(9, 1)
	earth, err2 := cost.NewGreatCircle([][2]float64{{52.5, 13.4}, {48.1, 11.6}, {-33.9, 151.2}, {52.5, 13.4}, {48.9, 2.4}}, nil, 1)
	points, err3 := cost.NewPoints([][]float64{{0, 1}, {2.5, 3}, {1, 7}, {1e-9, 1}, {1e6, 1e6}}, nil, 1)
	angle, err4 := cost.NewCosine([][]float64{{1, 0}, {1, 1}, {0, 1}, {1, 2}}, nil)
	taxi, err5 := cost.Manhattan([][]float64{{0, 1}, {2, 3}, {1, 7}}, nil, 1)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 40))
	skew := &cost.Dense{K: 12, Kv: 12, Data: make([]float64, 144)}
	for i := range skew.Data {
		if i%13 != 0 {
			skew.Data[i] = math.Exp(6 * r.NormFloat64())
		}
	}
	for name, c := range map[string]cost.Matrix{
		"ring": ring, "earth": earth, "points": points, "angle": angle, "taxi": taxi, "skew": skew,
		"one": &cost.Dense{K: 1, Kv: 1, Data: []float64{0}}, "same": &cost.Dense{K: 2, Kv: 2, Data: make([]float64, 4)},
		"far": &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1e300, 1e300, 0}},
		"own": &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 2, 2, 0}},
	} {
		for _, n := range []int{0, 1, 100, minimax.MaxClients} {
			_, lower, upper := prove(t, minimax.Problem{Cost: c, Epsilon: 1, Clients: n})
			if name == "same" || name == "one" {
				if lower != 0 || upper != 0 {
					t.Errorf("%s: %v to %v", name, lower, upper)
				}
			} else if !(lower > 0) && name != "skew" && name != "angle" { // which are no distances
				t.Errorf("%s, %d people: no bound", name, n)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	c := grid(t, 3)
	good := minimax.Problem{Cost: c, Epsilon: 1, Clients: 100}
	b, best, _ := prove(t, good)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		p    minimax.Problem
		want error
	}{
		"no cost":      {t.Context(), minimax.Problem{}, minimax.ErrProblem},
		"not square":   {t.Context(), minimax.Problem{Cost: &cost.Dense{K: 1, Kv: 2, Data: make([]float64, 2)}}, minimax.ErrProblem},
		"large":        {t.Context(), minimax.Problem{Cost: grid(t, 65)}, minimax.ErrLimit},
		"negative eps": {t.Context(), minimax.Problem{Cost: c, Epsilon: -1}, minimax.ErrProblem},
		"NaN eps":      {t.Context(), minimax.Problem{Cost: c, Epsilon: math.NaN()}, minimax.ErrProblem},
		"large eps":    {t.Context(), minimax.Problem{Cost: c, Epsilon: 701}, minimax.ErrProblem},
		"people":       {t.Context(), minimax.Problem{Cost: c, Clients: -1}, minimax.ErrProblem},
		"many people":  {t.Context(), minimax.Problem{Cost: c, Clients: minimax.MaxClients + 1}, minimax.ErrProblem},
		"NaN cost":     {t.Context(), minimax.Problem{Cost: &cost.Dense{K: 1, Kv: 1, Data: []float64{math.NaN()}}}, wpmerr.ErrNotFinite},
		"stopped":      {stopped, good, context.Canceled},
	} {
		if _, err := minimax.Solve(test.ctx, test.p); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if _, _, err := b.Verify(test.ctx, test.p); !errors.Is(err, test.want) {
			t.Errorf("%s, verified: %v, want %v", name, err, test.want)
		}
	}
	for name, change := range map[string]func(*minimax.Bound){
		"a pole too few":    func(b *minimax.Bound) { b.Poles = b.Poles[1:] },
		"a mass too few":    func(b *minimax.Bound) { b.Mass = b.Mass[1:] },
		"pole -1":           func(b *minimax.Bound) { b.Poles[0] = -1 },
		"pole K":            func(b *minimax.Bound) { b.Poles[0] = 9 },
		"a pole twice":      func(b *minimax.Bound) { b.Poles[0] = b.Poles[1] },
		"tents that meet":   func(b *minimax.Bound) { b.Radius[0] *= 4 },
		"radius 0":          func(b *minimax.Bound) { b.Radius[0] = 0 },
		"radius NaN":        func(b *minimax.Bound) { b.Radius[0] = math.NaN() },
		"radius Inf":        func(b *minimax.Bound) { b.Radius[0] = math.Inf(1) },
		"mass 0":            func(b *minimax.Bound) { b.Mass[0] = 0 },
		"amplitude above 1": func(b *minimax.Bound) { b.Amplitude = 1.01 },
		"amplitude 0":       func(b *minimax.Bound) { b.Amplitude = 0 },
		"root 1":            func(b *minimax.Bound) { b.Root = 1 },
		"a smaller root":    func(b *minimax.Bound) { b.Root *= 1 - 1e-9 },
		"a larger exponent": func(b *minimax.Bound) { b.Exponent *= 1 + 1e-9 },
		"exponent -1":       func(b *minimax.Bound) { b.Exponent = -1 },
		"centre":            func(b *minimax.Bound) { b.Centre = 9 },
	} {
		changed := b
		changed.Poles, changed.Radius, changed.Mass = slices.Clone(b.Poles), slices.Clone(b.Radius), slices.Clone(b.Mass)
		change(&changed)
		if _, _, err := changed.Verify(t.Context(), good); !errors.Is(err, minimax.ErrEvidence) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// tents that are a little too wide pay for it
	wide := b
	wide.Radius = slices.Clone(b.Radius)
	for j := range wide.Radius {
		wide.Radius[j] *= 1 + 0x1p-29
	}
	if l, _, err := wide.Verify(t.Context(), good); err == nil && l.Cmp(new(big.Rat).SetFloat64(best)) > 0 {
		t.Errorf("wider tents: %v, above %v", l, best)
	}
	tiny := minimax.Bound{Poles: []int{0, 1}, Radius: []float64{0.16}, Mass: []float64{1}, Amplitude: 1, Root: 0.9, Exponent: 1}
	if _, _, err := tiny.Verify(t.Context(), minimax.Problem{Cost: c, Epsilon: 9, Clients: 1}); !errors.Is(err, minimax.ErrEvidence) {
		t.Errorf("one report that tells a sign: %v", err)
	}
}

// Example: 5,000 people on 20 x 20 cells at eps 1.
func Example() {
	ctx := context.Background()
	c, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		panic(err)
	}
	p := minimax.Problem{Cost: c, Epsilon: 1, Clients: 5000}
	b, err := minimax.Solve(ctx, p)
	if err != nil {
		panic(err)
	}
	lower, _, err := b.Verify(ctx, p)
	if err != nil {
		panic(err)
	}
	distance, _ := lower.Float64()
	fmt.Printf("no mechanism stays below %.2f cells\n", 20*distance)
	// Output: no mechanism stays below 0.40 cells
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{20, 45} {
		c := grid(b, n)
		b.Run(fmt.Sprint(n*n), func(b *testing.B) {
			for b.Loop() {
				if _, err := minimax.Solve(b.Context(), minimax.Problem{Cost: c, Epsilon: 1, Clients: 5000}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestNilCosts: a nil pointer to a cost is no cost.
func TestNilCosts(t *testing.T) {
	for _, c := range []cost.Matrix{nil, (*cost.Grid)(nil), (*cost.Dense)(nil), (*cost.Points)(nil)} {
		if _, err := minimax.Solve(context.Background(), minimax.Problem{Cost: c, Epsilon: 1}); !errors.Is(err,
			minimax.ErrProblem) {
			t.Errorf("%T: %v", c, err)
		}
	}
}
