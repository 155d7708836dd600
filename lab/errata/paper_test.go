package errata

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// The evidence behind docs/errata.md that needs no study: the paper's formulas, transcribed
// literally and in as few lines as possible, on the instance where they go wrong.

// clip is the projection of Lemma kl-projection, q_j = min(max(e^theta s_j, lo_j), hi_j) with theta by bisection,
// for s given by its logarithms.
func clip(logS, lo, hi []float64) []float64 {
	at := func(theta float64) (q []float64, sum float64) {
		for j := range logS {
			v := min(max(math.Exp(theta+logS[j]), lo[j]), hi[j])
			q, sum = append(q, v), sum+v
		}
		return q, sum
	}
	a, b := math.Inf(1), math.Inf(-1)
	for j := range logS {
		a = min(a, math.Log(lo[j])-logS[j])
		b = max(b, math.Log(hi[j])-logS[j])
	}
	for range 100 {
		if _, sum := at((a + b) / 2); sum < 1 {
			a = (a + b) / 2
		} else {
			b = (a + b) / 2
		}
	}
	q, _ := at(b)
	return q
}

func logs(x []float64) []float64 {
	y := make([]float64, len(x))
	for j := range x {
		y[j] = math.Log(x[j])
	}
	return y
}

func rowSums(p [][]float64) []float64 {
	s := make([]float64, len(p))
	for i := range p {
		s[i] = num.Sum(p[i])
	}
	return s
}

func colSums(p [][]float64) []float64 {
	s := make([]float64, len(p[0]))
	for i := range p {
		for j := range s {
			s[j] += p[i][j]
		}
	}
	return s
}

func copyOf(p [][]float64) [][]float64 {
	c := make([][]float64, len(p))
	for i := range p {
		c[i] = append([]float64(nil), p[i]...)
	}
	return c
}

// toRows and toColumns are the two projections of Lemma kl-projection, in place.
func toRows(p [][]float64, mu []float64) {
	for i, s := range rowSums(p) {
		for j := range p[i] {
			p[i][j] *= mu[i] / s
		}
	}
}

func toColumns(p [][]float64, lo, hi []float64) {
	s := colSums(p)
	q := clip(logs(s), lo, hi)
	for i := range p {
		for j := range p[i] {
			p[i][j] *= q[j] / s[j]
		}
	}
}

// TestErrataAlgorithmOneIsDykstra: Algorithm 1 of the paper is Dykstra's algorithm, correction included.
// Without the correction the two projections alternate towards another point.
func TestErrataAlgorithmOneIsDykstra(t *testing.T) {
	const reg = 1.0
	c := [][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}}
	mu, lo, hi := []float64{0.4, 0.2, 0.4}, []float64{0.05, 0.10, 0.15}, []float64{0.2, 0.4, 0.6}
	kernel := copyOf(c)
	for i := range c {
		for j := range c[i] {
			kernel[i][j] = math.Exp(-c[i][j] / reg)
		}
	}
	objective := func(p [][]float64) float64 {
		v := 0.0
		for i := range p {
			for j, m := range p[i] {
				v += c[i][j]*m + reg*m*math.Log(m)
			}
		}
		return v
	}

	// Algorithm 1, from v = 1.
	algorithm := func(v []float64) (plan [][]float64, q, next []float64) {
		plan = copyOf(kernel)
		s := make([]float64, len(v))
		for i := range c {
			kv := 0.0
			for j := range v {
				kv += kernel[i][j] * v[j]
			}
			for j := range v {
				s[j] += kernel[i][j] * mu[i] / kv
				plan[i][j] *= mu[i] / kv
			}
		}
		q = clip(logs(s), lo, hi)
		for j := range v {
			next = append(next, q[j]/s[j])
		}
		for i := range plan {
			for j := range v {
				plan[i][j] *= next[j]
			}
		}
		return plan, q, next
	}
	// Dykstra: each projection first undoes its own last change.
	dykstra := copyOf(kernel)
	undoRows, undoCols := ones(3, 3), ones(3, 3)
	step := func(undo [][]float64, project func(p [][]float64)) {
		before := copyOf(dykstra)
		for i := range before {
			for j := range before[i] {
				before[i][j] *= undo[i][j]
			}
		}
		dykstra = copyOf(before)
		project(dykstra)
		for i := range before {
			for j := range before[i] {
				undo[i][j] = before[i][j] / dykstra[i][j]
			}
		}
	}
	free := copyOf(kernel) // no correction

	v := []float64{1, 1, 1}
	var plan [][]float64
	var q []float64
	for range 400 {
		plan, q, v = algorithm(v)
		step(undoRows, func(p [][]float64) { toRows(p, mu) })
		step(undoCols, func(p [][]float64) { toColumns(p, lo, hi) })
		numtest.NearSlice(t, "column sums of Dykstra's plan", colSums(dykstra), q,
			numtest.Tol{Abs: 1e-12, Why: "a few hundred iterations of contractions, each good to 1e-15"})
		toRows(free, mu)
		toColumns(free, lo, hi)
	}
	limit := numtest.Tol{Abs: 1e-8, Why: "the vectors have eight digits; both iterations have converged"}
	numtest.NearSlice(t, "Algorithm 1", q, []float64{0.2, 0.4, 0.4}, limit)
	numtest.NearSlice(t, "no correction", colSums(free), []float64{0.2, 0.27422911, 0.52577089}, limit)
	if a, b := objective(plan), objective(free); !(b > a+0.1) {
		t.Errorf("objectives: Algorithm 1 %v, no correction %v; want the second to be worse by 0.1", a, b)
	}

	// The limit is the optimum: the entropic dual at b_j = reg (log v_j - theta) equals the primal, where
	// e^theta = q_j/s_j = v_j on the column strictly inside the box, the third.
	dual := 0.0
	for i := range c {
		x := make([]float64, 3)
		for j := range x {
			x[j] = math.Log(v[j]/v[2]) - c[i][j]/reg
		}
		dual -= reg * mu[i] * (num.LogSumExp(x) - math.Log(mu[i]))
	}
	for j := range lo {
		b := reg * math.Log(v[j]/v[2])
		dual += min(lo[j]*b, hi[j]*b)
	}
	numtest.Near(t, "entropic dual of the limit", dual, objective(plan),
		numtest.Tol{Abs: 1e-12, Why: "a few dozen operations"})
}

func ones(k, kv int) [][]float64 {
	p := make([][]float64, k)
	for i := range p {
		p[i] = make([]float64, kv)
		for j := range p[i] {
			p[i][j] = 1
		}
	}
	return p
}

// TestErrataEntropicGap: for k = 1 the bound of Proposition entropic-gap is 2 reg log 1 = 0, but the entropic
// projection is not exact. The sharp bound reg W0((n-1)/e), n outputs, holds and is attained.
func TestErrataEntropicGap(t *testing.T) {
	const reg = 0.5
	for _, n := range []int{2, 5, 30, 1000} {
		// W0(y), y = (n-1)/e, by Newton's method on w e^w = y.
		y := float64(n-1) / math.E
		w := math.Log1p(y)
		for range 50 {
			w -= (w*math.Exp(w) - y) / (math.Exp(w) * (1 + w))
		}
		// One input, a box without bounds (eps -> infinity), one cost 0 and the others reg (1 + W0): the entropic
		// projection is the Gibbs law, the exact one sits on the first output and costs nothing.
		d := reg * (1 + w)
		rest := float64(n-1) * math.Exp(-d/reg)
		gap := d * rest / (1 + rest)
		if !(gap > 2*reg*math.Log(1)) {
			t.Errorf("n = %d: gap %v does not exceed the bound of the paper for k = 1", n, gap)
		}
		numtest.Near(t, "gap against the sharp bound", gap, reg*w,
			numtest.Tol{Rel: 1e-12, Why: "closed forms of a few operations"})
	}
}

// TestErrataRegret: the regret bound for one step of the unnormalised exponentiated gradient, with the factor 1/2,
// fails for a genuine subgradient of φ, because e^-y <= 1 - y + y^2/2 needs y >= 0.
func TestErrataRegret(t *testing.T) {
	const eps = 2.0
	c, err := cost.FromRows([][]float64{{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	m := []float64{0.2, 0.5}
	_, tau := table.Phi(0, []float64{alpha * m[0], alpha * m[1]}, []float64{beta * m[0], beta * m[1]})
	g := make([]float64, 2)
	table.Subgradient(0, tau, alpha, beta, g)
	if g[0] >= 0 {
		t.Fatalf("g = %v: want a negative entry", g)
	}
	step := 1 / beta
	u := []float64{m[0] * math.Exp(-step*g[0]), m[1]} // a base measure: its mass is below 1/alpha
	if mass := u[0] + u[1]; !(mass >= 1/beta && mass <= 1/alpha) {
		t.Fatalf("mass %v is out of range", mass)
	}
	regret, divergence, local := 0.0, 0.0, 0.0
	for j := range m {
		regret += g[j] * (m[j] - u[j])
		divergence += u[j]*math.Log(u[j]/m[j]) - u[j] + m[j]
		local += m[j] * g[j] * g[j]
	}
	if cited := divergence/step + step/2*local; !(regret > 1.1*cited) {
		t.Errorf("regret %v, cited bound %v: want it exceeded by a tenth", regret, cited)
	}
	// What strong convexity gives, and what the proposition needs: the square of the largest entry over 2 alpha.
	if repaired := divergence/step + step/2*beta*beta/alpha; !(regret <= repaired) {
		t.Errorf("regret %v exceeds the repaired bound %v", regret, repaired)
	}
}

// TestErrataMirrorBound: with more outputs than inputs the bound of Proposition mirror-descent-base-measure
// is false; log kv in place of log k repairs it. The algorithm is the paper's, step for step.
func TestErrataMirrorBound(t *testing.T) {
	const (
		kv    = 100_000
		eps   = 0.01
		steps = 30
	)
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	m, mean := make([]float64, kv), make([]float64, kv)
	for j := range m {
		m[j] = 1 / (alpha * kv)
	}
	// One input with cost 0 at the first output and 1 elsewhere: f* = 0, all mass there.
	phi := func(m []float64) (value, tau float64) {
		rest := 1 - alpha*num.Sum(m)
		fill := min(max(rest, 0), (beta-alpha)*m[0])
		if rest > fill {
			tau = 1
		}
		return 1 - alpha*m[0] - fill, tau
	}
	rate := math.Sqrt(2*(1+math.Log(1))) / (beta * math.Sqrt(steps))
	for range steps {
		for j := range m {
			mean[j] += m[j] / steps
		}
		if _, tau := phi(m); tau == 1 {
			m[0] *= math.Exp(rate * beta) // g = -beta there, 0 elsewhere
		} else {
			for j := 1; j < kv; j++ {
				m[j] *= math.Exp(-rate * alpha)
			}
		}
		s := num.Sum(m)
		clipped := min(max(s, 1/beta), 1/alpha)
		for j := range m {
			m[j] *= clipped / s
		}
	}
	gap, _ := phi(mean)
	stated := beta / alpha * math.Sqrt(2*(1+math.Log(1))/steps)
	repaired := beta / alpha * math.Sqrt(2*math.Log(kv)/steps)
	if !(gap > 3*stated) {
		t.Errorf("gap %v, bound of the paper %v: want it exceeded threefold", gap, stated)
	}
	// The repaired bound for the step that goes with it; this step is shorter, which costs at most the ratio.
	if repaired *= math.Sqrt(math.Log(kv)); !(gap <= repaired) {
		t.Errorf("gap %v exceeds the repaired bound %v", gap, repaired)
	}
}

// TestErrataTauEnds: at the start that the paper prescribes, sum m = 1/alpha, the set that defines τ is the whole
// line in exact arithmetic and often in floats; at sum m = 1/beta it is often empty in floats.
func TestErrataTauEnds(t *testing.T) {
	r := numtest.NewSplitMix64(1)
	const trials = 500
	line, empty := 0, 0
	for range trials {
		kv := 2 + r.Intn(9)
		eps := 0.1 + 5*r.Float64()
		alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
		m := make([]float64, kv)
		for j := range m {
			m[j] = r.Float64()
		}
		s := 0.0
		for _, v := range m {
			s += v
		}
		low, high := 0.0, 0.0
		for j := range m {
			low += alpha * (m[j] / s / alpha) // t below every cost: all columns count alpha m_j
			high += beta * (m[j] / s / beta)  // t above every cost
		}
		if low >= 1 {
			line++
		}
		if high < 1 {
			empty++
		}
	}
	if line < trials/4 || empty < trials/20 {
		t.Errorf("in %d trials the set was the whole line %d times, empty %d times", trials, line, empty)
	}
	// The module's conventions at both ends.
	c, err := cost.FromRows([][]float64{{3, 1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	q := []float64{0.5, 0.25, 0.25}
	if _, tau := table.Phi(0, q, []float64{1, 1, 1}); tau != 1 {
		t.Errorf("tau with no mass left = %v, want the least cost, 1", tau)
	}
	if _, tau := table.Phi(0, []float64{0, 0, 0}, q); tau != 3 {
		t.Errorf("tau with every column full = %v, want the largest cost, 3", tau)
	}
}

// TestErrataFloatsAreNotPrivate: the box of the paper, computed in floats as written, allows ratios above e^eps in
// about half of its columns. (Package ldp decides in integers.)
func TestErrataFloatsAreNotPrivate(t *testing.T) {
	r := numtest.NewSplitMix64(2)
	const trials = 2000
	broken, upper := 0, map[float64]*big.Rat{}
	for range trials {
		eps := float64(1+r.Intn(50)) / 10
		m := r.Float64()
		lo, hi := math.Exp(-eps/2)*m, math.Exp(eps/2)*m
		if upper[eps] == nil {
			_, upper[eps] = exact.ExpBounds(new(big.Rat).SetFloat64(eps), 120)
		}
		limit := new(big.Rat).Mul(upper[eps], new(big.Rat).SetFloat64(lo))
		if new(big.Rat).SetFloat64(hi).Cmp(limit) > 0 {
			broken++
		}
	}
	if broken < trials/4 {
		t.Errorf("%d of %d float boxes exceed e^eps; expected about half", broken, trials)
	}
}

// TestErrataContractionRate: 1 - c of the convergence theorem, computed as written, is zero in floats for kernels
// of everyday problems; as a hyperbolic secant it keeps its digits.
func TestErrataContractionRate(t *testing.T) {
	const diameter = 80.0 // R = 1, reg = 1/40
	tau := math.Tanh(diameter / 4)
	if 1-tau*tau != 0 {
		t.Errorf("1 - tanh^2 = %v, expected to vanish", 1-tau*tau)
	}
	sech := 1 / math.Cosh(diameter/4)
	numtest.Near(t, "sech^2", sech*sech, 4*math.Exp(-diameter/2),
		numtest.Tol{Rel: 1e-12, Why: "the next term is e^-20 of it squared"})
}

// TestErrataRegUnit: reg has the unit of the cost. The same problem in another unit of length, with the paper's
// reg = 0.01 and 40 iterations, is a different approximation.
func TestErrataRegUnit(t *testing.T) {
	const side, iterations = 10, 40
	const n = side * side
	grid, err := cost.NewGrid(side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := numtest.NewSplitMix64(1)
	mu, lo, hi := make([]float64, n), make([]float64, n), make([]float64, n)
	for range 10 { // neighbours that compete for the same cells
		mu[r.Intn(n)] -= math.Log(r.Float64())
	}
	mu = normalised(mu)
	for j := range lo { // uniform base measure of mass one at eps = 4
		lo[j], hi[j] = math.Exp(-2)/n, math.Exp(2)/n
	}
	c := rowsOf(grid)
	// excess runs Algorithm 1 in the log domain and compares the plan's cost with the optimum, in relative terms.
	excess := func(unit, reg float64) float64 {
		logV := make([]float64, n)
		var last []float64
		for range iterations {
			logS := make([]float64, n)
			logU := make([]float64, n)
			x := make([]float64, n)
			for i := range n {
				for j := range n {
					x[j] = logV[j] - c[i][j]*unit/reg
				}
				logU[i] = math.Log(mu[i]) - num.LogSumExp(x)
			}
			for j := range n {
				for i := range n {
					x[i] = logU[i] - c[i][j]*unit/reg
				}
				logS[j] = num.LogSumExp(x)
			}
			q := clip(logS, lo, hi)
			for j := range q {
				logV[j] = math.Log(q[j]) - logS[j]
			}
			last = normalised(q)
		}
		// The plan's rows need not fit yet: what counts is the exact distance of q.
		total, err := transport(c, mu, last)
		if err != nil {
			t.Fatal(err)
		}
		best, err := mincostflow.Project(context.Background(), projection.Problem{Cost: grid, Source: mu, Lo: lo, Hi: hi},
			mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return total/best.Objective - 1
	}
	fine, coarse := excess(1, 0.01), excess(side, 0.01)
	if !(fine < 0.01 && coarse > 0.2) {
		t.Errorf("relative excess after %d iterations: %v with lengths in sides of the square, %v with lengths in cells",
			iterations, fine, coarse)
	}
}

// TestErrataNoMetric: nothing discrete uses the triangle inequality: the bound on all mechanisms holds for a cost
// that violates it grossly.
func TestErrataNoMetric(t *testing.T) {
	c, err := cost.FromRows([][]float64{{0, 100, 1}, {100, 0, 1}, {1, 1, 0}})
	if err != nil {
		t.Fatal(err)
	}
	const eps = 1.0
	r, err := basemeasure.Uniform(context.Background(), c, eps, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	upper, lower, err := basemeasure.Verify(context.Background(), c, eps, r)
	if err != nil || lower.Cmp(upper) > 0 || lower.Sign() <= 0 {
		t.Errorf("bounds [%v, %v], error %v", lower, upper, err)
	}
}

// TestRingOfThePaper: the closed form for transitive spaces on the ring of the experiments, k = 30, p = 2, eps = 5:
// f* = (10 κ + 2255) / (5 κ + 30), κ = e^5 - 1.
func TestRingOfThePaper(t *testing.T) {
	c, err := cost.NewRing(30, 2)
	if err != nil {
		t.Fatal(err)
	}
	r, err := basemeasure.Uniform(context.Background(), c, 5, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	kappa := math.Expm1(5)
	want := (10*kappa + 2255) / (5*kappa + 30)
	tol := numtest.Tol{Rel: 1e-13, Why: "a few hundred floating point operations on positive terms"}
	numtest.Near(t, "f*", r.F, want, tol)
	numtest.Near(t, "upper bound", r.Upper, want, tol)
	numtest.Near(t, "lower bound on every mechanism", r.Lower, want, tol)
}

// TestErrataFirstIterates: "converges rapidly near the exact projection" is true of large reg. On the paper's ring (k =
// 30, p = 2, eps = 5) with a small one the first iterates of Algorithm 1 are farther from the input than the KL
// projection mechanism, which knows no distances; with a large one they are near their limit at once, and the limit is
// farther off.
func TestErrataFirstIterates(t *testing.T) {
	const k, eps = 30, 5
	ring, err := cost.NewRing(k, 2)
	if err != nil {
		t.Fatal(err)
	}
	base, err := basemeasure.Uniform(context.Background(), ring, eps, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	box := proptest.BoxOf(base.M, eps)
	// An input like a draw of the Dirichlet law with concentration 0.1: a few points have nearly all of the mass.
	mu := make([]float64, k)
	for i := range mu {
		mu[i] = 1e-6
	}
	mu[3], mu[4], mu[17] = 0.55, 0.25, 0.2
	mu = normalised(mu)
	distance := func(q []float64) float64 {
		w, err := transport(rowsOf(ring), mu, normalised(q))
		if err != nil {
			t.Fatal(err)
		}
		return math.Sqrt(w)
	}
	iterate := func(reg float64, n int) float64 {
		q, err := entropic(sinkhorn.Problem{Problem: projection.Problem{Cost: ring, Source: mu, Lo: box.Lo, Hi: box.Hi},
			Reg: reg},
			sinkhorn.Settings{Method: sinkhorn.Paper, MaxIterations: n})
		if err != nil {
			t.Fatal(err)
		}
		return distance(q)
	}
	kpm, _, err := baseline.KPM(mu, eps)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := mincostflow.Project(context.Background(), projection.Problem{Cost: ring, Source: mu, Lo: box.Lo, Hi: box.Hi},
		mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	rival, best := distance(kpm), math.Sqrt(exact.Objective)
	small, end := iterate(0.1, 1), iterate(0.1, 20000)
	if !(small > rival && end < 1.01*best && best < rival) {
		t.Errorf("reg 0.1: W_2 = %v after one step, %v in the end; KPM %v, exact %v", small, end, rival, best)
	}
	large, limit := iterate(10, 3), iterate(10, 20000)
	if !(large < 1.02*limit && limit > 1.1*best) {
		t.Errorf("reg 10: W_2 = %v after three steps, %v in the end; exact %v", large, limit, best)
	}
}

// TestErrataManyProjections: the exact projection need not be unique. Two points of one box at the same, least
// distance; the entropic projection lies between them for every reg.
func TestErrataManyProjections(t *testing.T) {
	p := proptest.Problem{C: [][]float64{{0, 1, 1}}, Mu: []float64{1}, Lo: []float64{0, 0, 0},
		Hi: []float64{0.5, 0.5, 0.5}}
	least, err := p.Optimum()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range [][]float64{{0.5, 0.5, 0}, {0.5, 0, 0.5}} {
		at := proptest.Problem{C: p.C, Mu: p.Mu, Lo: q, Hi: q}
		if v, err := at.Optimum(); err != nil || v.Cmp(least) != 0 {
			t.Errorf("W(%v) = %v (%v), the least is %v", q, v, err, least)
		}
	}
	for _, reg := range []float64{1, 0.1, 0.01} {
		q, err := entropic(sinkhorn.Problem{Problem: projection.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi},
			Reg: reg}, sinkhorn.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		numtest.Near(t, "q_1 of the entropic projection", q[1], q[2],
			numtest.Tol{Abs: 1e-11, Why: "equal by symmetry, up to the residual"})
	}
}

// TestErrataMirrorSteps: the number of steps that the bound asks for has e^(2 eps) in it, which "O(log k / accuracy^2)"
// leaves out: for one percent of the largest cost on the paper's ring it is nearly 2e9.
func TestErrataMirrorSteps(t *testing.T) {
	steps := func(k, eps, share float64) float64 { // E sqrt(2 (1 + log k)/T) = share
		return 2 * (1 + math.Log(k)) * math.Exp(2*eps) / (share * share)
	}
	if got := steps(30, 5, 0.01); !(got > 1.9e9 && got < 2e9) {
		t.Errorf("T = %v", got)
	}
	// It is not the bound alone: after 2000 steps the average is several times f*.
	ring, err := cost.NewRing(30, 2)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cost.Materialize(context.Background(), ring)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mirrorDescend(d, 5, mirror.Settings{Steps: 2000})
	if err != nil {
		t.Fatal(err)
	}
	const best = 4.86155374524601
	if !(r.FAverage > 5*best) {
		t.Errorf("after 2000 steps f(average) = %v, f* = %v: want it worse than fivefold", r.FAverage, best)
	}
}

func normalised(q []float64) []float64 {
	s := 0.0
	for _, v := range q {
		s += v
	}
	p := make([]float64, len(q))
	for j := range q {
		p[j] = q[j] / s
	}
	return p
}

func rowsOf(m cost.Matrix) [][]float64 {
	k, _ := m.Dims()
	c := make([][]float64, k)
	for i := range c {
		c[i] = append([]float64(nil), m.Row(i, nil)...)
	}
	return c
}

func transport(c [][]float64, a, b []float64) (float64, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return 0, err
	}
	r, err := mincostflow.Transport(context.Background(), d, a, b)
	return r.Objective, err
}

func mirrorDescend(d *cost.Dense, eps float64, s mirror.Settings) (mirror.Result, error) {
	table, err := knapsack.New(context.Background(), d)
	if err != nil {
		return mirror.Result{}, err
	}
	return mirror.Descend(context.Background(), table, eps, s)
}

// entropic is the projection after at most so many iterations, if the settings say how many. Its bounds hold either way.
func entropic(p sinkhorn.Problem, s sinkhorn.Settings) ([]float64, error) {
	r, err := sinkhorn.Project(context.Background(), p, s)
	if err != nil && !(s.MaxIterations > 0 && errors.Is(err, wpmerr.ErrNotConverged)) {
		return nil, err
	}
	_, _, err = sinkhorn.Verify(context.Background(), p, r)
	return r.Q, err
}
