package projection

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A Projector solves one projection exactly, up to rounding. It must not modify the problem, and must give the same
// problem the same bits, whatever problems came before.
type Projector interface {
	Project(p proptest.Problem) (Projection, error)
}

// ProjectorFunc is a function as a Projector.
type ProjectorFunc func(p proptest.Problem) (Projection, error)

// Project calls f.
func (f ProjectorFunc) Project(p proptest.Problem) (Projection, error) { return f(p) }

// A Projection is the answer to a Problem.
type Projection struct {
	// Q is the point of the box.
	Q []float64
	// Objective is the cost of the plan found: W_p^p(Q, Mu) up to rounding.
	Objective float64
	// Lower and Upper, for ProjectorBoundLaws, enclose the optimum, rounding included, and are proptest.ValueTol max C
	// apart at most; an infinite one claims nothing.
	Lower, Upper float64
	// Certificate, for ProjectorCertificateLaws, proves the bounds.
	Certificate Certificate
}

// A Transporter returns the optimal cost of plain transport from a to b.
type Transporter func(c [][]float64, a, b []float64) (float64, error)

// Sizes of the instances: the exact oracle is slow, and bugs show in small ones.
const (
	maxRows = 5
	maxCols = 5
)

// ProjectorLaws returns the laws of a projection: of Q and Objective.
func ProjectorLaws() []proptest.Law[Projector] {
	return []proptest.Law[Projector]{
		{Name: "ProjectInBox", Statement: "definition of the mechanism; promise of the module on q", Check: ProjectInBox,
			First: on(projectInBox)},
		{Name: "FlowEquivalence", Statement: "app:lp-projection", Check: FlowEquivalence, First: on(flowEquivalence)},
		{Name: "ProjectPermutation", Statement: "symmetry of the problem", Check: ProjectPermutation},
		{Name: "ProjectShift", Statement: "row sums of a plan are mu", Check: ProjectShift},
		{Name: "ProjectScale", Statement: "the objective is linear in C", Check: ProjectScale},
		{Name: "ProjectMonotone", Statement: "a larger box cannot be farther", Check: ProjectMonotone},
		{Name: "UniformOptimality", Statement: "thm:projection", Check: UniformOptimality},
		{Name: "DiracReduction", Statement: "prop:dirac", Check: DiracReduction},
		{Name: "DiracMSE", Statement: "app:related-work", Check: DiracMSE},
		{Name: "ProjectAgain", Statement: "convention: the problem alone decides the answer", Check: ProjectAgain},
	}
}

// ProjectorBoundLaws returns the laws of Lower and Upper.
func ProjectorBoundLaws() []proptest.Law[Projector] {
	return []proptest.Law[Projector]{
		{Name: "ProjectBounds", Statement: "linear programming duality for app:lp-projection", Check: ProjectBounds},
	}
}

// ProjectorCertificateLaws returns the laws of a projection that comes with a plan and potentials. The laws recompute
// what these prove, so they do not rely on the solver, and an instance can be large.
func ProjectorCertificateLaws() []proptest.Law[Projector] {
	return []proptest.Law[Projector]{
		{Name: "WeakDuality", Statement: "linear programming duality for app:lp-projection", Check: WeakDuality,
			First: on(weakDuality)},
		{Name: "WeakDualityLarge", Statement: "the same, on up to some thousand pairs", Check: WeakDualityLarge,
			// beyond a byte, and beyond blocks of 8 and 64
			First: []func(proptest.TB, Projector){func(t proptest.TB, p Projector) {
				for _, n := range [][2]int{{257, 17}, {17, 257}, {65, 67}, {3, 1025}} {
					weakDuality(t, p, large(n[0], n[1], 1<<20, 1))
				}
			}}},
	}
}

// first are problems that errors survive rarely.
var first = []proptest.Problem{
	// A rounding of mass costs far more in a column that the box leaves empty than all others together cost in theirs.
	{C: [][]float64{{0.625, 1, 1, 8.352389719038111e-53, 1}, {1, 1, 1, 0, 1}}, Mu: []float64{3.614007241618348e-20, 1},
		Lo: []float64{0, 0, 0, 1, 0}, Hi: []float64{1, 0, 0, 1, 0}},
	// The floats of q sum to 1 + 2^-52 and two of them are at their bounds: dividing by the sum leaves the box.
	{C: [][]float64{{0, 0, 0, 0}}, Mu: []float64{1},
		Lo: []float64{0.20217688657087782, 0.20217688657087782, 0.10108844328543891, 0.10108844328543891},
		Hi: []float64{0.5495737569000428, 0.5495737569000428, 0.2747868784500214, 0.2747868784500214}},
	// Lower bounds that cost something, and nothing else.
	{C: [][]float64{{0, 1}}, Mu: []float64{1}, Lo: []float64{0.25, 0.5}, Hi: []float64{1, 1}},
	// A row of little mass and large cost.
	{C: [][]float64{{0, 1}, {1000, 2}}, Mu: []float64{0.9995, 0.0005}, Lo: []float64{0, 0}, Hi: []float64{1, 1}},
	// Near ties that a float32 does not see.
	{C: [][]float64{{1, 1 + 0x1p-30}, {1 + 0x1p-30, 1}}, Mu: []float64{0.5, 0.5}, Lo: []float64{0.25, 0.25},
		Hi: []float64{0.75, 0.75}},
}

// on returns a law on each of these.
func on(law func(t proptest.TB, p Projector, in proptest.Problem)) (laws []func(t proptest.TB, p Projector)) {
	for _, in := range first {
		laws = append(laws, func(t proptest.TB, p Projector) { law(t, p, in) })
	}
	return laws
}

// project runs p on a copy and fails the test on an error, a NaN or a changed input.
func project(t proptest.TB, p Projector, in proptest.Problem) Projection {
	t.Helper()
	work := in.Clone()
	r, err := p.Project(work)
	if err != nil {
		t.Fatalf("Project: %v\non %#v", err, in)
	}
	proptest.SameProblem(t, work, in)
	proptest.Length(t, "Q", r.Q, len(in.Lo))
	proptest.Finite(t, "Q", r.Q...)
	proptest.Finite(t, "Objective", r.Objective)
	return r
}

func optimum(t proptest.TB, in proptest.Problem) *big.Rat {
	t.Helper()
	v, err := in.Optimum()
	if err != nil {
		t.Fatalf("%v\non %#v", err, in)
	}
	return v
}

// ProjectInBox: lo <= q <= hi bit for bit and |sum q - 1| <= kv 2^-52. Where the sums of the box miss 1
// by rounding the box is one point, and q must be that point up to rounding.
func ProjectInBox(t *rapid.T, p Projector) {
	projectInBox(t, p, proptest.Problems(maxRows, maxCols).Draw(t, "problem"))
}

func projectInBox(t proptest.TB, p Projector, in proptest.Problem) {
	t.Helper()
	q := project(t, p, in).Q
	kv := float64(len(q))
	proptest.Near(t, "sum q", exact.Sum(exact.Rats(q)), big.NewRat(1, 1), proptest.MassTol, kv)
	l, h, err := exact.Box(in.Lo, in.Hi)
	if err != nil {
		t.Fatalf("%v\non %#v", err, in)
	}
	moved := l[0] == h[0] // exactBox returns the same numbers twice
	for j := range q {
		if moved {
			proptest.Near(t, "q of a box that is one point", exact.Rat(q[j]), l[j], proptest.MassTol, kv)
		} else if !(in.Lo[j] <= q[j] && q[j] <= in.Hi[j]) {
			t.Fatalf("q[%d] = %v is outside [%v, %v]\non %#v", j, q[j], in.Lo[j], in.Hi[j], in)
		}
	}
}

// FlowEquivalence (app:lp-projection): the value is that of a minimum-cost flow. Objective is near the exact value
// found by successive shortest paths in the paper's graph, and the distance of q from mu has this value.
func FlowEquivalence(t *rapid.T, p Projector) {
	flowEquivalence(t, p, proptest.Problems(maxRows, maxCols).Draw(t, "problem"))
}

func flowEquivalence(t proptest.TB, p Projector, in proptest.Problem) {
	t.Helper()
	r := project(t, p, in)
	want, scale := optimum(t, in), proptest.MaxCost(in.C)
	proptest.Near(t, "Objective", exact.Rat(r.Objective), want, proptest.ValueTol, scale)
	mu, err := exact.Distribution(in.Mu)
	if err != nil {
		t.Fatal(err)
	}
	w, err := proptest.TransportTo(proptest.ExactCost(in.C), mu, r.Q)
	if err != nil {
		t.Fatalf("q is not a distribution: %v", err)
	}
	proptest.Near(t, "W_p^p(q, mu) against the optimum", w, want, proptest.ValueTol, scale)
}

// ProjectBounds: Lower and Upper enclose the optimum, and are near each other.
func ProjectBounds(t *rapid.T, p Projector) {
	in := proptest.Problems(maxRows, maxCols).Draw(t, "problem")
	r := project(t, p, in)
	claims(t, r.Lower, r.Upper)
	if want := optimum(t, in); above(r.Lower, want) || below(r.Upper, want) {
		t.Fatalf("[Lower, Upper] = [%.17g, %.17g] misses the optimum %.17g\non %#v", r.Lower, r.Upper, exact.Float(want), in)
	}
	if !math.IsInf(r.Lower, 0) && !math.IsInf(r.Upper, 0) {
		proptest.Near(t, "Upper against Lower", exact.Rat(r.Upper), exact.Rat(r.Lower), proptest.ValueTol,
			proptest.MaxCost(in.C))
	}
}

// WeakDuality: plan and potentials enclose the optimum in an interval that leaves no more than rounding, and Lower and
// Upper claim no more than they prove.
func WeakDuality(t *rapid.T, p Projector) {
	weakDuality(t, p, proptest.Problems(maxRows, maxCols).Draw(t, "problem"))
}

func weakDuality(t proptest.TB, p Projector, in proptest.Problem) {
	t.Helper()
	r := project(t, p, in)
	what := "" // large problems do not help a reader
	if len(in.Mu)*len(in.Lo) <= maxRows*maxCols {
		what = fmt.Sprintf("\non %#v", in)
	}
	lower, err := Lower(in, r.Certificate.G)
	if err != nil {
		t.Fatalf("%v%s", err, what)
	}
	upper, err := Upper(in, r.Q, r.Certificate.Plan)
	if err != nil {
		t.Fatalf("%v%s", err, what)
	}
	scale := proptest.MaxCost(in.C)
	proptest.Near(t, "what the plan proves against what the potentials prove"+what, upper, lower, proptest.ValueTol, scale)
	proptest.Near(t, "Objective against the plan"+what, exact.Rat(r.Objective), upper, proptest.ValueTol, scale)
	claims(t, r.Lower, r.Upper)
	if above(r.Lower, lower) {
		t.Fatalf("Lower = %.17g, but G proves %.17g only%s", r.Lower, exact.Float(lower), what)
	}
	// Upper must be above the optimum, so above what G proves; of what the plan lacks by rounding, a solver may know
	// better than that it costs max C.
	slack := exact.Mul(exact.Rat(proptest.ValueTol), exact.Rat(scale))
	if below(r.Upper, lower) || below(r.Upper, exact.Sub(upper, slack)) {
		t.Fatalf("Upper = %.17g, but the plan proves %.17g only%s", r.Upper, exact.Float(upper), what)
	}
	proptest.Near(t, "sum q"+what, exact.Sum(exact.Rats(r.Q)), big.NewRat(1, 1), proptest.MassTol, float64(len(r.Q)))
}

// WeakDualityLarge is WeakDuality next to powers of two, where blocks, lanes and narrow indices end, up to 8192 pairs.
// Costs, masses and bounds are integers over a power of two, many of them equal.
func WeakDualityLarge(t *rapid.T, p Projector) {
	side := rapid.SampledFrom([]int{1, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1025})
	k, kv := side.Draw(t, "k"), side.Draw(t, "kv")
	for k*kv > 8192 {
		k, kv = (k+1)/2, (kv+1)/2
	}
	most := rapid.SampledFrom([]int64{2, 16, 1 << 20}).Draw(t, "costs below")
	seed := rapid.Uint64().Draw(t, "seed") // drawing every cost would take most of the time
	weakDuality(t, p, large(k, kv, most, seed))
}

// large returns a problem of which every number is a small integer over a power of two.
func large(k, kv int, most int64, seed uint64) proptest.Problem {
	r := rand.New(rand.NewPCG(seed, 2))
	p := proptest.Problem{C: make([][]float64, k), Mu: make([]float64, k), Lo: make([]float64, kv),
		Hi: make([]float64, kv)}
	for i := range p.C {
		p.C[i] = make([]float64, kv)
		for j := range kv {
			p.C[i][j] = float64(r.Int64N(most))
		}
		p.Mu[i] = float64(r.IntN(4)) // a quarter has none
	}
	p.Mu[r.IntN(k)]++
	const unit = 1 << 30
	even := unit / float64(kv)
	for j := range kv {
		p.Lo[j] = math.Floor(even*r.Float64()) / unit
		p.Hi[j] = math.Ceil(even*(1+3*r.Float64())) / unit
	}
	return p
}

// ProjectPermutation: renaming inputs and outputs changes nothing.
func ProjectPermutation(t *rapid.T, p Projector) {
	in := proptest.Problems(maxRows, maxCols).Draw(t, "problem")
	rows := rapid.Permutation(proptest.Indices(len(in.Mu))).Draw(t, "rows")
	cols := rapid.Permutation(proptest.Indices(len(in.Lo))).Draw(t, "columns")
	out := proptest.Problem{Mu: proptest.Pick(in.Mu, rows), Lo: proptest.Pick(in.Lo, cols), Hi: proptest.Pick(in.Hi, cols)}
	for _, i := range rows {
		out.C = append(out.C, proptest.Pick(in.C[i], cols))
	}
	a, b := project(t, p, in), project(t, p, out)
	proptest.Near(t, "objective of the permuted problem",
		exact.Rat(b.Objective), exact.Rat(a.Objective), 2*proptest.ValueTol, proptest.MaxCost(in.C))
}

// ProjectShift: adding f_i to row i of C adds sum mu_i f_i to the value, whatever the box.
func ProjectShift(t *rapid.T, p Projector) {
	in := proptest.GridProblems(maxRows, maxCols).Draw(t, "problem")
	out, moved := in.Clone(), new(big.Rat)
	mu, err := exact.Distribution(in.Mu)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range out.C {
		f := float64(rapid.IntRange(0, 100).Draw(t, "f")) // C + f is exact
		moved.Add(moved, exact.Mul(mu[i], exact.Rat(f)))
		for j := range row {
			row[j] += f
		}
	}
	a, b := project(t, p, in), project(t, p, out)
	proptest.Near(t, "objective of the shifted problem",
		exact.Rat(b.Objective), exact.Add(exact.Rat(a.Objective), moved), 2*proptest.ValueTol, proptest.MaxCost(out.C))
}

// ProjectScale: scaling C by a power of two scales the value by it.
func ProjectScale(t *rapid.T, p Projector) {
	in := proptest.GridProblems(maxRows, maxCols).Draw(t, "problem")
	e := rapid.IntRange(-200, 200).Draw(t, "exponent")
	out := in.Clone()
	for _, row := range out.C {
		for j := range row {
			row[j] = math.Ldexp(row[j], e)
		}
	}
	a, b := project(t, p, in), project(t, p, out)
	proptest.Near(t, "objective of the scaled problem",
		exact.Rat(b.Objective), exact.Rat(math.Ldexp(a.Objective, e)), 2*proptest.ValueTol, proptest.MaxCost(out.C))
}

// ProjectMonotone: a box inside another one is no nearer.
func ProjectMonotone(t *rapid.T, p Projector) {
	in := proptest.Problems(maxRows, maxCols).Draw(t, "problem")
	out := in.Clone()
	for j := range out.Lo {
		out.Lo[j] *= rapid.SampledFrom([]float64{1, 0.5, 0}).Draw(t, "lower")
		out.Hi[j] += rapid.SampledFrom([]float64{0, 1e-9, 0.25}).Draw(t, "raise")
	}
	a, b := project(t, p, in), project(t, p, out)
	proptest.AtMost(t, "objective in the larger box",
		exact.Rat(b.Objective), exact.Rat(a.Objective), 2*proptest.ValueTol, proptest.MaxCost(in.C))
}

// relative returns a problem that shares all but one part with in.
func relative(t *rapid.T, in proptest.Problem) proptest.Problem {
	out := in.Clone()
	other := proptest.Problem{C: proptest.Costs(len(in.Mu), len(in.Lo)).Draw(t, "other C"),
		Mu: proptest.Mass(len(in.Mu)).Draw(t, "other mu")}
	switch rapid.SampledFrom([]string{"C", "Mu", "Lo and Hi"}).Draw(t, "part") {
	case "C":
		out.C = other.C
	case "Mu":
		out.Mu = other.Mu
	default:
		for j := range out.Lo {
			out.Lo[j], out.Hi[j] = out.Lo[j]/2, 2*out.Hi[j]
		}
	}
	return out
}

// ProjectAgain: the answer does not depend on earlier problems, bit for bit, and a problem that differs from the last
// one in a single part gets its own answer.
func ProjectAgain(t *rapid.T, p Projector) {
	in := proptest.Problems(maxRows, maxCols).Draw(t, "problem")
	out := relative(t, in)
	a := project(t, p, in)
	b := project(t, p, out)
	proptest.Near(t, "Objective after a similar problem", exact.Rat(b.Objective), optimum(t, out), proptest.ValueTol,
		proptest.MaxCost(out.C))
	c := project(t, p, in)
	sameBits(t, append(a.Q, a.Objective, a.Lower, a.Upper), append(c.Q, c.Objective, c.Lower, c.Upper))
}

// sameBits fails the test unless two answers to one problem have the same bits.
func sameBits(t proptest.TB, first, second []float64) {
	t.Helper()
	for n := range first {
		if math.Float64bits(first[n]) != math.Float64bits(second[n]) {
			t.Fatalf("two answers to one problem differ: %v and %v", first, second)
		}
	}
}

// ZeroEpsilon: in a box of one point (eps = 0) the projection is plain transport to it.
func ZeroEpsilon(t *rapid.T, p Projector, transport Transporter) {
	k, kv := proptest.Size(maxRows).Draw(t, "k"), proptest.Size(maxCols).Draw(t, "kv")
	in := proptest.Problem{C: proptest.Costs(k, kv).Draw(t, "C"), Mu: proptest.Mass(k).Draw(t, "mu"),
		Lo: proptest.Shapes(kv).Draw(t, "b")}
	in.Hi = proptest.Clone(in.Lo)
	r := project(t, p, in)
	work := in.Clone()
	w, err := transport(work.C, work.Mu, work.Lo)
	if err != nil {
		t.Fatalf("transport: %v\non %#v", err, in)
	}
	proptest.SameProblem(t, work, in)
	proptest.Finite(t, "transport", w)
	want := optimum(t, in)
	proptest.Near(t, "transport", exact.Rat(w), want, proptest.ValueTol, proptest.MaxCost(in.C))
	proptest.Near(t, "projection onto one point", exact.Rat(r.Objective), want, proptest.ValueTol, proptest.MaxCost(in.C))
}

// UniformOptimality (thm:projection): take any eps-LDP mechanism and any of the base measures that its
// proof allows, max/β <= m <= min/α. On every input the projection is at least as near as the mechanism.
func UniformOptimality(t *rapid.T, p Projector) {
	k, kv := rapid.IntRange(1, 4).Draw(t, "k"), rapid.IntRange(1, 4).Draw(t, "kv")
	f := proptest.Families(rapid.IntRange(1, 4).Draw(t, "inputs"), kv).Draw(t, "mechanism")
	in := proptest.Problem{C: proptest.Costs(k, kv).Draw(t, "C"), Mu: proptest.Mass(k).Draw(t, "mu"),
		Lo: make([]float64, kv), Hi: make([]float64, kv)}
	// In x = α m: max/E <= x <= min. theta places x between the ends; 1/2 is the paper's choice. Rounding
	// is outward, so that the box never loses a row.
	theta := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "theta")
	lo, hi := f.Span()
	total := math.Ldexp(1, f.Bits)
	e := math.Exp(exact.Float(f.Epsilon))
	for j := range lo {
		least, most := float64(lo[j])/total, float64(hi[j])/total // exact: 2^48 at most
		x := math.Exp((1-theta)*math.Log(most/e) + theta*math.Log(least))
		if most == 0 {
			x = 0
		}
		in.Lo[j] = min(x, least)
		in.Hi[j] = max(e*x, most)
	}
	mu, err := exact.Distribution(in.Mu)
	if err != nil {
		t.Fatal(err)
	}
	r := project(t, p, in)
	for _, row := range f.Rows {
		q := make([]*big.Rat, kv)
		for j, n := range row {
			q[j] = exact.Rat(float64(n) / total)
		}
		w, _, err := exact.Flow(proptest.ExactCost(in.C), mu, q, q)
		if err != nil {
			t.Fatal(err)
		}
		proptest.AtMost(t, "projection against the mechanism",
			exact.Rat(r.Objective), w, proptest.ValueTol, proptest.MaxCost(in.C))
	}
}

// DiracReduction (prop:dirac and its proof): with ν_i the projections of the point masses and φ_i their
// costs, W_p^p(sum mu_i ν_i, mu) <= sum mu_i φ_i <= max φ_i, and the projection of mu is no worse than
// that mixture. The point masses attain the maximum.
func DiracReduction(t *rapid.T, p Projector) {
	in := proptest.Problems(maxRows, maxCols).Draw(t, "problem")
	c, scale := proptest.ExactCost(in.C), proptest.MaxCost(in.C)
	mu, err := exact.Distribution(in.Mu)
	if err != nil {
		t.Fatal(err)
	}
	l, h, err := exact.Box(in.Lo, in.Hi)
	if err != nil {
		t.Fatal(err)
	}
	mix, mean := exact.Zeros(len(l)), new(big.Rat)
	for i := range mu {
		phi, nu := exact.Greedy(c[i], l, h)
		mean.Add(mean, exact.Mul(mu[i], phi))
		for j := range mix {
			mix[j].Add(mix[j], exact.Mul(mu[i], nu[j]))
		}
	}
	w, _, err := exact.Flow(c, mu, mix, mix)
	if err != nil {
		t.Fatal(err)
	}
	if w.Cmp(mean) > 0 { // exact: a theorem, no tolerance
		t.Fatalf("the mixture costs %v, more than its plan %v\non %#v", exact.Float(w), exact.Float(mean), in)
	}
	proptest.AtMost(t, "projection against the mixture",
		exact.Rat(project(t, p, in).Objective), w, proptest.ValueTol, scale)

	i := rapid.IntRange(0, len(mu)-1).Draw(t, "point mass")
	point := in.Clone()
	point.Mu = make([]float64, len(mu))
	point.Mu[i] = 1
	phi, _ := exact.Greedy(c[i], l, h)
	proptest.Near(t, "projection of a point mass against its knapsack",
		exact.Rat(project(t, p, point).Objective), phi, proptest.ValueTol, scale)
}

// DiracMSE (app:related-work): for a point mass at x, p = 2 and the Euclidean distance, the objective is the
// mean squared error of the released point.
func DiracMSE(t *rapid.T, p Projector) {
	kv := proptest.Size(maxCols).Draw(t, "kv")
	coordinate := rapid.IntRange(-8, 8)
	x := [2]int{coordinate.Draw(t, "x"), coordinate.Draw(t, "y")}
	v := make([][2]int, kv)
	row := make([]float64, kv)
	for j := range v {
		v[j] = [2]int{coordinate.Draw(t, "vx"), coordinate.Draw(t, "vy")}
		dx, dy := float64(x[0]-v[j][0]), float64(x[1]-v[j][1])
		row[j] = dx*dx + dy*dy
	}
	b := proptest.Boxes(kv).Draw(t, "box")
	r := project(t, p, proptest.Problem{C: [][]float64{row}, Mu: []float64{1}, Lo: b.Lo, Hi: b.Hi})
	mse := new(big.Rat)
	for j, q := range r.Q {
		dx, dy := int64(x[0]-v[j][0]), int64(x[1]-v[j][1])
		mse.Add(mse, exact.Mul(exact.Rat(q), big.NewRat(dx*dx+dy*dy, 1)))
	}
	proptest.Near(t, "objective against the mean squared error",
		exact.Rat(r.Objective), mse, proptest.ValueTol, max(proptest.MaxCost([][]float64{row}), 1))
}
