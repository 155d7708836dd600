package projection

import (
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// An Entropic solves one entropic projection: minimise <C, P> + reg sum P log P over the plans P from Mu to a point of
// the box. The plan is that of Algorithm 1, P_ij = u_i exp(-C_ij/reg) v_j. Like a Projector, it gives the same problem
// the same bits.
type Entropic interface {
	Project(p proptest.Problem, reg float64) (EntropicProjection, error)
}

// ErrNoAnswer is wrapped by the error of an Entropic that reports that it did not converge. The laws then skip the
// instance; a solver that reports this for nine instances in ten fails.
var ErrNoAnswer = errors.New("projection: not converged")

// EntropicFunc is a function as an Entropic.
type EntropicFunc func(p proptest.Problem, reg float64) (EntropicProjection, error)

// Project calls f.
func (f EntropicFunc) Project(p proptest.Problem, reg float64) (EntropicProjection, error) {
	return f(p, reg)
}

// An EntropicProjection is the answer to an entropic problem.
type EntropicProjection struct {
	// Q is the point of the box, and LogV is log v: -Inf in columns with Hi = 0.
	Q, LogV []float64
	// The rest is for EntropicBoundLaws. Lower and Upper enclose the optimum of the exact problem (reg = 0), and Upper is
	// at least the exact cost of moving Mu to Q; an infinite bound claims nothing. Objective is the entropic value,
	// <C, P> + reg sum P log P.
	Lower, Upper, Objective float64
	// G, for EntropicCertificateLaws, proves Lower: see Certificate.
	G []float64
}

// EntropicOn is an Entropic with its own domain for the laws of a converged projection. The spread of C is max_i (max_j
// C_ij - min_j C_ij).
//
// A plain Entropic has DefaultSpread and DefaultReg. A solver that computes exp(-C/reg) in floats may have Reg 0.1.
// With a Spread above 0 the tolerances allow for the rounding of C/reg, as the paper prints it; with Spread 0 a solver
// must work with differences of costs.
type EntropicOn struct {
	Entropic
	Spread float64 // the least spread that is drawn, in units of max C, at most 0.1; but costs without any are, too
	Reg    float64 // the least reg that is drawn, in units of the spread (of 1 without any), at most 0.1; 0 is DefaultReg
}

// The domain of a plain Entropic.
const (
	DefaultSpread = 1e-9
	DefaultReg    = 1e-4
)

// EntropicLaws returns the laws of an entropic projection that has converged, on the domain of the Entropic: see
// EntropicOn.
func EntropicLaws() []proptest.Law[Entropic] {
	return []proptest.Law[Entropic]{
		{Name: "EntropicInBox", Statement: "definition of the entropic mechanism; prop:projection-ldp", Check: EntropicInBox},
		{Name: "EntropicOptimum", Check: EntropicOptimum,
			// many iterations, and bounds that move the limit
			First: []func(proptest.TB, Entropic){func(t proptest.TB, e Entropic) {
				for _, reg := range []float64{0.4, 1} {
					in := proptest.Problem{C: [][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 2.5}}, Mu: []float64{0.375, 0.25, 0.375},
						Lo: []float64{0.05, 0.10, 0.15}, Hi: []float64{0.2, 0.4, 0.6}}
					entropicOptimum(t, e, in, reg)
				}
			}, func(t proptest.TB, e Entropic) { // a row of less mass than the residual, which any v spreads near enough
				const least, reg = 0x1p-40, 0x1.a56p-10
				if on, ok := e.(EntropicOn); ok && on.Reg > 1e-4 { // out of its domain
					return
				}
				entropicOptimum(t, e, proptest.Problem{C: [][]float64{{1.5, 1.5, 1.5}, {0.375, 3, 0.09375}},
					Mu: []float64{least, 1 - least}, Lo: []float64{0, 0, 0}, Hi: []float64{0.04, 0.65, 1.3}}, reg)
			}, func(t proptest.TB, e Entropic) { // Algorithm 1 needs some two thousand iterations
				entropicOptimum(t, e, proptest.Problem{C: [][]float64{{0, 1}, {1, 0}}, Mu: []float64{0.5, 0.5},
					Lo: []float64{0.1, 0.503}, Hi: []float64{0.9, 0.9}}, 0.1)
			}},
			Statement: "thm:convergence: the limit is the optimum; lem:kl-projection"},
		{Name: "EntropicVector", Check: EntropicVector,
			Statement: "thm:convergence: an instance where the projections without correction end elsewhere"},
		{Name: "EntropicPoint", Statement: "lem:kl-projection for a point mass", Check: EntropicPoint},
		{Name: "EntropicGap", Statement: "prop:entropic-gap, the paper's and the sharp bound", Check: EntropicGap},
		{Name: "EntropicAgain", Statement: "convention: the problem alone decides the answer", Check: EntropicAgain},
	}
}

// EntropicBoundLaws returns the laws of the other claims of an entropic solver. Lower and Upper must hold at every
// stop, converged or not, for all costs and every reg, here down to a millionth of the spread. Objective must hold for
// a converged answer, on the domain of EntropicLaws.
func EntropicBoundLaws() []proptest.Law[Entropic] {
	return []proptest.Law[Entropic]{
		{Name: "EntropicBounds", Statement: "duality of the exact problem", Check: EntropicBounds},
		{Name: "EntropicSandwich", Check: EntropicSandwich,
			Statement: "app:proof-entropic-gap, OT - reg log N <= OT_reg <= OT"},
	}
}

// EntropicCertificateLaws returns the laws of an entropic solver whose lower bound comes with potentials. Like the
// bound, they must hold at every stop.
func EntropicCertificateLaws() []proptest.Law[Entropic] {
	return []proptest.Law[Entropic]{
		{Name: "EntropicCertificate", Statement: "duality of the exact problem, recomputed", Check: EntropicCertificate},
	}
}

// EntropicTol bounds |q - c|_1, c the column sums of the plan, and with it the distance of the entropic value from its
// optimum, in units of reg and of the largest difference of log v: ten times the residual of an iteration that stops at
// 1e-12.
const EntropicTol = 1e-11

const maxEntropic = 4 // rows and columns

// quotients is how far the logarithm of a plan's entry may be off because costs are divided by reg as they stand: half
// an ulp of C/reg for the quotient, the same for its sums with log v and log u, and all of it again for the sum of the
// row. It is 0 for a method that works with differences of costs, of which the spread is 0.
func quotients(spread float64, in proptest.Problem, reg float64) float64 {
	if spread == 0 {
		return 0
	}
	return 0x1p-50 * proptest.MaxCost(in.C) / reg
}

func spreadOfEntropic(e Entropic) float64 {
	if on, ok := e.(EntropicOn); ok {
		return on.Spread
	}
	return DefaultSpread
}

// costsOf returns costs with a spread of so much of the largest, or none.
func costsOf(k, kv int, spread float64) *rapid.Generator[[][]float64] {
	return proptest.Costs(k, kv).Filter(func(c [][]float64) bool {
		r := proptest.RowRange(c)
		return r == 0 || r >= spread*proptest.MaxCost(c)
	})
}

// drawEntropic draws a problem of the domain of e, with room in its box and masses that sum to 1 up to rounding, and a
// reg relative to the spread, of 10 at most.
func drawEntropic(t *rapid.T, e Entropic) (p proptest.Problem, reg float64) {
	on, _ := e.(EntropicOn)
	spread := spreadOfEntropic(e)
	k, kv := proptest.Size(maxEntropic).Draw(t, "k"), proptest.Size(maxEntropic).Draw(t, "kv")
	b := softBox(kv, false).Draw(t, "box")
	p = proptest.Problem{C: costsOf(k, kv, spread).Draw(t, "C"), Mu: proptest.Normalise(proptest.Mass(k).Draw(t, "mu"), 1),
		Lo: b.Lo, Hi: b.Hi}
	reg = math.Exp(rapid.Float64Range(math.Log(cmp.Or(on.Reg, DefaultReg)), math.Log(10)).Draw(t, "log reg"))
	if r := proptest.RowRange(p.C); r > 0 {
		reg *= r
	}
	return p, reg
}

func entropic(t proptest.TB, e Entropic, in proptest.Problem, reg float64) EntropicProjection {
	t.Helper()
	work := in.Clone()
	r, err := e.Project(work, reg)
	if errors.Is(err, ErrNoAnswer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("Project: %v\nreg %v, %#v", err, reg, in)
	}
	proptest.SameProblem(t, work, in)
	proptest.Length(t, "Q", r.Q, len(in.Lo))
	proptest.Finite(t, "Q", r.Q...)
	return r
}

// EntropicInBox: lo <= q <= hi bit for bit, and the mass is 1.
func EntropicInBox(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	inBox(t, entropic(t, e, in, reg).Q, in.Lo, in.Hi)
}

// columnSums returns the column sums of the plan P_ij = mu_i v_j exp(-C_ij/reg) / sum, whose rows fit by construction,
// and its entropic value.
func columnSums(in proptest.Problem, reg float64, logV []float64) (c []float64, value float64) {
	c = make([]float64, len(logV))
	for i, row := range in.C {
		if in.Mu[i] == 0 {
			continue
		}
		least, top := row[0], math.Inf(-1)
		for _, v := range row {
			least = min(least, v)
		}
		x := make([]float64, len(row))
		for j, v := range row {
			x[j] = logV[j] - (v-least)/reg
			top = max(top, x[j])
		}
		z := 0.0
		for _, v := range x {
			z += math.Exp(v - top)
		}
		for j, v := range x {
			c[j] += in.Mu[i] * math.Exp(v-top) / z
		}
		value += in.Mu[i] * (least + reg*(math.Log(in.Mu[i])-top-math.Log(z)))
	}
	for j, v := range c {
		if v > 0 {
			value += reg * v * logV[j]
		}
	}
	return c, value
}

// optimal fails the test unless (q, v) is the solution, up to rounding: v is the scaling of a plan with column sums q,
// and q minimises <log v, .> over the box. The second is what the entropic duality gap comes to: with b = reg (log v -
// theta) the value of the plan less that of the dual is reg (<log v, q> - min over the box). The slack is what
// quotients returns.
func optimal(t proptest.TB, in proptest.Problem, reg, slack float64, r EntropicProjection) {
	t.Helper()
	proptest.Length(t, "LogV", r.LogV, len(in.Lo))
	for j, v := range r.LogV {
		if math.IsNaN(v) || math.IsInf(v, 1) || math.IsInf(v, -1) && in.Hi[j] > 1e-200 {
			t.Fatalf("LogV[%d] = %v\nreg %v, %#v", j, v, reg, in)
		}
	}
	logV, q := r.LogV, r.Q
	c, _ := columnSums(in, reg, logV)
	near := EntropicTol*(1+maxLog(logV)*1e-3) + slack
	if off := apart(q, c); !(off <= near) {
		t.Fatalf("|q - c|_1 = %.3g\nq %v, column sums %v, log v %v\nreg %v, %#v", off, q, c, logV, reg, in)
	}
	excess, tol := slackness(in, logV, q)
	if !(excess <= tol) {
		// Masses below the residual may move far at no cost to q. Then the next iterate is the proof, if q is near it.
		next, moved, err := plainStep(in, reg, logV)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := columnSums(in, reg, next)
		if left, tol := slackness(in, next, moved); apart(q, moved) <= near && apart(moved, c) <= near && left <= tol {
			return
		}
		t.Fatalf("q is not optimal: <log v, q> is %.3g above its least value on the box\nq %v, log v %v\nreg %v, %#v",
			excess, q, logV, reg, in)
	}
}

// apart is the distance of x and y in the sum of absolute values.
func apart(x, y []float64) (sum float64) {
	for j := range x {
		sum += math.Abs(x[j] - y[j])
	}
	return sum
}

// slackness returns what <log v, q> is above its least value on the box, and what rounding may leave of it.
func slackness(in proptest.Problem, logV, q []float64) (excess, tol float64) {
	low, top := math.Inf(1), math.Inf(-1)
	for _, v := range logV {
		if !math.IsInf(v, -1) {
			low, top = min(low, v), max(top, v)
		}
	}
	// The least <log v, .>: cheapest columns first.
	order := proptest.Indices(len(logV))
	for a := range order { // a dozen at most: insertion
		for b := a; b > 0 && logV[order[b]] < logV[order[b-1]]; b-- {
			order[b], order[b-1] = order[b-1], order[b]
		}
	}
	rest := 1.0
	for _, v := range in.Lo {
		rest -= v
	}
	for _, j := range order {
		up := min(max(rest, 0), in.Hi[j]-in.Lo[j])
		rest -= up
		if !math.IsInf(logV[j], -1) {
			excess += (q[j] - in.Lo[j] - up) * (logV[j] - low)
		}
	}
	return excess, EntropicTol * (1 + top - low)
}

// EntropicOptimum: Algorithm 1 ends in the entropic projection. A duality gap proves it: see the comment in the code.
func EntropicOptimum(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	entropicOptimum(t, e, in, reg)
}

func entropicOptimum(t proptest.TB, e Entropic, in proptest.Problem, reg float64) {
	t.Helper()
	optimal(t, in, reg, quotients(spreadOfEntropic(e), in, reg), entropic(t, e, in, reg))
}

// EntropicVector: the instance C = [[0,3,3],[3,1,3],[0,3,3]], mu = (.4,.2,.4), lo = (.05,.10,.15), hi = 4 lo, reg = 1,
// has q = (.2,.4,.4); alternating the two projections of the lemma without Dykstra's correction ends in (.2,.274,.526).
// So have its relatives: names exchanged, costs in another unit, constants added to rows, rows split.
func EntropicVector(t *rapid.T, e Entropic) {
	const tol = 1e-9 // q is good to about the square root of nothing worse: reg is large
	unit := math.Ldexp(1, rapid.IntRange(-30, 30).Draw(t, "unit"))
	cols := rapid.Permutation(proptest.Indices(3)).Draw(t, "columns")
	in := proptest.Problem{Lo: proptest.Pick([]float64{0.05, 0.10, 0.15}, cols),
		Hi: proptest.Pick([]float64{0.2, 0.4, 0.6}, cols)}
	want := proptest.Pick([]float64{0.2, 0.4, 0.4}, cols)
	for _, i := range rapid.Permutation(proptest.Indices(3)).Draw(t, "rows") {
		row, mu := [][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}}[i], []float64{0.4, 0.2, 0.4}[i]
		add := float64(rapid.IntRange(0, 5).Draw(t, "shift"))
		c := make([]float64, 3)
		for j, v := range proptest.Pick(row, cols) {
			c[j] = unit * (v + add)
		}
		share := rapid.SampledFrom([]float64{1, 0.5, 0.25}).Draw(t, "share")
		in.C, in.Mu = append(in.C, c), append(in.Mu, mu*share)
		if share < 1 {
			in.C, in.Mu = append(in.C, proptest.Clone(c)), append(in.Mu, mu*(1-share))
		}
	}
	q := entropic(t, e, in, unit).Q
	for j := range q {
		if !(math.Abs(q[j]-want[j]) <= tol) {
			t.Fatalf("q = %v, want %v (alternating projections without the division by s end elsewhere: docs/errata.md, 7)"+
				"\nreg %v, %#v", q, want, unit, in)
		}
	}
}

// EntropicPoint: for a point mass the plan is q itself, and q is the projection of the Gibbs law, q_j = min(max(e^theta
// exp(-C_ij/reg), lo_j), hi_j) for some theta. Two columns off their bounds have the ratio of the kernel.
func EntropicPoint(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	i := rapid.IntRange(0, len(in.Mu)-1).Draw(t, "point mass")
	clear(in.Mu)
	in.Mu[i] = 1
	q := entropic(t, e, in, reg).Q
	// theta is at least log(q_a/s_a) where q_a > lo_a and at most log(q_b/s_b) where q_b < hi_b.
	const tol = 1e-9
	slack := quotients(spreadOfEntropic(e), in, reg)
	for a := range q {
		for b := range q {
			if q[a] > in.Lo[a]*(1+tol)+1e-200 && q[b] < in.Hi[b]*(1-tol) && q[b] > 0 {
				left, right := math.Log(q[a])+in.C[i][a]/reg, math.Log(q[b])+in.C[i][b]/reg
				// EntropicTol is absolute: it may be much of a small entry.
				if !(left-right <= tol*(1+in.C[i][a]/reg*1e-4)+10*EntropicTol/min(q[a], q[b])+slack) {
					t.Fatalf("q[%d] could be smaller and q[%d] larger: %v > %v\nq %v, reg %v, %#v", a, b, left, right, q, reg, in)
				}
			}
			// Column a says that theta is at least left, so that q_b = 0 only where e^theta s_b is below the least float,
			// e^-744.
			if q[b] == 0 && in.Hi[b] > 1e-200 && q[a] > in.Lo[a]*(1+tol)+1e-3 {
				if x := math.Log(q[a]) + (in.C[i][a]-in.C[i][b])/reg; !(x <= -740+slack) {
					t.Fatalf("q[%d] = 0, and should be e^%.4g\nq %v, reg %v, %#v", b, x, q, reg, in)
				}
			}
		}
	}
}

// lambertW0 solves w e^w = y for y >= 0 by Newton's method.
func lambertW0(y float64) float64 {
	w := math.Log1p(y)
	for range 50 {
		w -= (w*math.Exp(w) - y) / (math.Exp(w) * (1 + w))
	}
	return w
}

// SharpGap is reg W0((n-1)/e), the sharp bound on the extra distance of an entropic projection over the exact one, with
// n outputs that may have mass.
func SharpGap(reg float64, n int) float64 { return reg * lambertW0(float64(n-1)/math.E) }

// excessOf returns W_p^p(q, mu) - optimum, exactly.
func excessOf(t *rapid.T, in proptest.Problem, q []float64) *big.Rat {
	t.Helper()
	mu, err := exact.Distribution(in.Mu)
	if err != nil {
		t.Fatal(err)
	}
	w, err := proptest.TransportTo(proptest.ExactCost(in.C), mu, q)
	if err != nil {
		t.Fatalf("q is not a distribution: %v", err)
	}
	return exact.Sub(w, optimum(t, in))
}

// EntropicGap: 0 <= W_p^p(q, mu) - optimum <= reg W0((n-1)/e), and where kv <= k the paper's 2 reg log k (for p = 1,
// which implies the others). One input with cost 0 at one output and reg (1 + W0) at the others attains the sharp
// bound.
func EntropicGap(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	gap := excessOf(t, in, entropic(t, e, in, reg).Q)
	n := 0
	for _, v := range in.Hi {
		if v > 0 {
			n++
		}
	}
	// A float q misses mass 1 by EntropicMassTol at most, and its exact counterpart by EntropicTol, at most one spread
	// away.
	slack := 10*EntropicTol*proptest.RowRange(in.C) + reg*quotients(spreadOfEntropic(e), in, reg)
	if gap.Cmp(exact.Rat(-slack)) < 0 || gap.Cmp(exact.Rat(SharpGap(reg, n)*(1+proptest.KLTol)+slack)) > 0 {
		t.Fatalf("the gap %.17g is outside [0, %.17g]\nreg %v, %#v", exact.Float(gap), SharpGap(reg, n), reg, in)
	}
	if k, kv := len(in.Mu), len(in.Lo); kv <= k && gap.Cmp(exact.Rat(2*reg*math.Log(float64(k))+slack)) > 0 {
		t.Fatalf("the gap %.17g exceeds 2 reg log k, which holds for kv <= k (docs/errata.md, 6)\nreg %v, %#v",
			exact.Float(gap), reg, in)
	}

	n = rapid.IntRange(2, 8).Draw(t, "outputs")
	in = proptest.Problem{C: [][]float64{make([]float64, n)}, Mu: []float64{1},
		Lo: make([]float64, n), Hi: make([]float64, n)}
	for j := range n {
		in.Hi[j] = 1
		if j > 0 {
			in.C[0][j] = reg + SharpGap(reg, n)
		}
	}
	if gap := exact.Float(excessOf(t, in, entropic(t, e, in, reg).Q)); !(math.Abs(gap/SharpGap(reg, n)-1) <= 1e-9) {
		t.Fatalf("the gap %.17g does not attain %.17g\nreg %v, %#v", gap, SharpGap(reg, n), reg, in)
	}
}

// EntropicAgain: the answer does not depend on earlier problems, bit for bit, and a problem that differs from the last
// one only in mu gets its own answer.
func EntropicAgain(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	out := in.Clone()
	out.Mu = proptest.Normalise(proptest.Mass(len(in.Mu)).Draw(t, "other mu"), 1)
	a := entropic(t, e, in, reg)
	optimal(t, out, reg, quotients(spreadOfEntropic(e), in, reg), entropic(t, e, out, reg))
	b := entropic(t, e, in, reg)
	sameBits(t, append(a.Q, a.LogV...), append(b.Q, b.LogV...))
}

// EntropicBounds: Lower <= optimum without entropy <= W_p^p(q, mu) <= Upper, whatever reg.
func EntropicBounds(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, EntropicOn{Reg: 1e-6})
	r := entropic(t, e, in, reg)
	claims(t, r.Lower, r.Upper)
	inBox(t, r.Q, in.Lo, in.Hi)
	want := optimum(t, in)
	if above(r.Lower, want) || below(r.Upper, want) {
		t.Fatalf("[Lower, Upper] = [%.17g, %.17g] misses the optimum %.17g\nreg %v, %#v",
			r.Lower, r.Upper, exact.Float(want), reg, in)
	}
	// The statement about q holds up to what q misses of mass 1: its mass is moved nowhere in particular.
	if !math.IsInf(r.Upper, 1) {
		over := exact.Sub(exact.Add(want, excessOf(t, in, r.Q)), exact.Rat(r.Upper))
		proptest.AtMost(t, "W_p^p(q, mu) against Upper", over, new(big.Rat), EntropicMassTol, proptest.MaxCost(in.C))
	}
}

// EntropicCertificate: Lower claims no more than the potentials prove, in exact arithmetic.
func EntropicCertificate(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, EntropicOn{Reg: 1e-6})
	r := entropic(t, e, in, reg)
	claims(t, r.Lower, r.Upper)
	lower, err := Lower(in, r.G)
	if err != nil {
		t.Fatalf("%v\nreg %v, %#v", err, reg, in)
	}
	if above(r.Lower, lower) {
		t.Fatalf("Lower = %.17g, but G = %v proves %.17g only\nreg %v, %#v", r.Lower, r.G, exact.Float(lower), reg, in)
	}
}

// stopTol is how far, in mass, a plan may be from q where a method stopped at its limit for EntropicSandwich to say
// something. It costs as much at the largest cost, which is added to the tolerance.
const stopTol = 1e-4

// EntropicSandwich: Objective is the entropic value of the plan that log v stands for, and lies between W_p^p(q, mu)
// less reg log(k kv) and W_p^p(q, mu).
func EntropicSandwich(t *rapid.T, e Entropic) {
	in, reg := drawEntropic(t, e)
	r := entropic(t, e, in, reg)
	proptest.Finite(t, "Objective", r.Objective)
	proptest.Length(t, "LogV", r.LogV, len(in.Lo))
	c, value := columnSums(in, reg, r.LogV)
	off := 0.0 // from q to what the plan brings: a method with a limit may stop before it arrives
	for j, x := range c {
		off += math.Abs(x - r.Q[j])
	}
	if !(off <= stopTol) {
		t.Skipf("|q - c|_1 = %.3g: not converged", off) // in nine of ten instances rapid says that this is too often
	}
	w := exact.Add(optimum(t, in), excessOf(t, in, r.Q))
	n := math.Log(float64(len(in.Mu) * len(in.Lo)))
	scale := proptest.MaxCost(in.C) + reg*(1+n+maxLog(r.LogV))
	if !(math.Abs(r.Objective-value) <= 10*EntropicTol*scale) {
		t.Fatalf("Objective = %.17g, the plan has %.17g\nreg %v, %#v", r.Objective, value, reg, in)
	}
	proptest.AtMost(t, "OT_reg against OT", exact.Rat(r.Objective), w, 10*EntropicTol+off, scale)
	proptest.AtMost(t, "OT - reg log N against OT_reg",
		exact.Sub(w, exact.Mul(exact.Rat(reg), exact.Rat(n))), exact.Rat(r.Objective), 10*EntropicTol+off, scale)
}

// EntropicAgreement: two solvers, or two ways to call one, give the same answer to a problem of any number of atoms:
// each Q is as near to the minimiser as an iteration that stops at EntropicTol leaves it, the bounds of both enclose
// the same optimum, and so they overlap.
func EntropicAgreement(t *rapid.T, one, other Entropic) {
	atoms, kv := rapid.IntRange(1, 200).Draw(t, "atoms"), rapid.IntRange(1, 40).Draw(t, "kv")
	extra := rapid.SampledFrom([]int{0, 1, 30}).Draw(t, "rows without mass")
	seed := rapid.Uint64().Draw(t, "seed") // drawing every cost would take most of the time
	r := rand.New(rand.NewPCG(seed, 1))
	in := proptest.Problem{C: make([][]float64, atoms+extra), Mu: make([]float64, atoms+extra),
		Lo: make([]float64, kv), Hi: make([]float64, kv)}
	sum := 0.0
	for i := range in.C {
		in.C[i] = make([]float64, kv)
		for j := range kv {
			in.C[i][j] = r.Float64()
		}
		if i < atoms {
			in.Mu[i] = r.ExpFloat64()
			sum += in.Mu[i]
		}
	}
	for i := range in.Mu {
		in.Mu[i] /= sum
	}
	r.Shuffle(len(in.Mu), func(a, b int) { in.Mu[a], in.Mu[b] = in.Mu[b], in.Mu[a] })
	for j := range kv {
		in.Lo[j], in.Hi[j] = (1+r.Float64())/4/float64(kv), (1+2*r.Float64())/float64(kv)
	}
	reg := rapid.SampledFrom([]float64{0.1, 0.5, 3}).Draw(t, "reg")
	a, b := entropic(t, one, in, reg), entropic(t, other, in, reg)
	off := 0.0
	for j, q := range a.Q {
		off += math.Abs(q - b.Q[j])
	}
	if !(off <= AgreementTol) {
		t.Fatalf("Q is off by %v, with %d atoms on %d columns, reg %v, seed %d", off, atoms, kv, reg, seed)
	}
	if a.Lower > b.Upper || b.Lower > a.Upper {
		t.Fatalf("[%v, %v] and [%v, %v] are apart, with %d atoms on %d columns, reg %v, seed %d",
			a.Lower, a.Upper, b.Lower, b.Upper, atoms, kv, reg, seed)
	}
}

// AgreementTol bounds |q - q'|_1 of two answers whose residuals are at most EntropicTol. Costs are in [0, 1] and reg is
// at least 0.1, so that the kernel's diameter is at most 20 and an iteration contracts d_H by tanh(5)^2, 1 - 2e-4: two
// points that an iteration moves by twice the residual over the least mass of a column, 1/160, are each 2e-11 * 160 /
// 2e-4 = 2e-5 from its limit at most.
const AgreementTol = 5e-5
