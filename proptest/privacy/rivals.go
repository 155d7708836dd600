package privacy

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// LocalSampler is the locally minimax-optimal sampler of arXiv 2510.09485 for a public distribution: mu/r clamped to
// [b P, e^eps b P], b = (gamma+1)/(e^eps + gamma).
type LocalSampler func(public, mu []float64, eps, gamma float64) (q []float64, err error)

// LinearSampler is the linear sampler of arXiv 2411.08791, q = mu K with P K = P for the public distribution P.
type LinearSampler func(public, mu []float64, eps float64) (q []float64, err error)

// Disk is the Disk Area Mechanism of arXiv 2412.06541 on a grid of square cells: the law of the reports of a user at a
// cell, those outside of the grid among them.
type Disk func(rows, cols, radius int, eps float64, cell int) (reports []float64, err error)

// Oracle is a frequency oracle whose reports are sets of items: the probabilities that a set has the user's own item
// and some other one, and the unbiased estimate from how many of the reports have each item.
type Oracle func(k int, eps float64) (own, other float64, estimate Estimate, err error)

// Estimate is the estimate of an Oracle: the share of each item.
type Estimate func(counts []uint64, reports uint64) ([]float64, error)

// LocalLaws returns the laws of the locally minimax-optimal sampler.
func LocalLaws() []proptest.Law[LocalSampler] {
	return []proptest.Law[LocalSampler]{
		{Name: "LocalInBox", Statement: "arXiv 2510.09485, pure LDP: the sampler's bounds", Check: LocalInBox},
		{Name: "LocalClamped", Statement: "arXiv 2510.09485, pure LDP: one normaliser for all points", Check: LocalClamped},
	}
}

// LinearLaws returns the laws of the linear sampler.
func LinearLaws() []proptest.Law[LinearSampler] {
	return []proptest.Law[LinearSampler]{
		{Name: "LinearPrivate", Statement: "arXiv 2411.08791: rows are within e^eps of each other", Check: LinearPrivate},
		{Name: "LinearKeepsPublic", Statement: "arXiv 2411.08791: P K = P", Check: LinearKeepsPublic},
		{Name: "LinearUniform", Statement: "arXiv 2411.08791 with a uniform P: randomised response", Check: LinearUniform},
	}
}

// DiskLaws returns the laws of the Disk Area Mechanism.
func DiskLaws() []proptest.Law[Disk] {
	return []proptest.Law[Disk]{
		{Name: "DiskPrivate", Statement: "arXiv 2412.06541: densities within e^eps", Check: DiskPrivate},
		{Name: "DiskArea", Statement: "arXiv 2412.06541: the full part of the disk, whatever the cell", Check: DiskArea},
	}
}

// OracleLaws returns the laws of a frequency oracle.
func OracleLaws() []proptest.Law[Oracle] {
	return []proptest.Law[Oracle]{
		{Name: "OraclePrivate", Statement: "what eps-LDP asks of one item of a set", Check: OraclePrivate},
		{Name: "OracleUnbiased", Statement: "Wang and others 2017, pure protocols: the estimate", Check: OracleUnbiased},
	}
}

// rivalTol bounds the relative error of an entry: e^eps, sums and products of a dozen terms, each good to a few 2^-53,
// eps up to 50 times 2^-53 in the exponent.
const rivalTol = 1e-12

// scaleOf is the size of an entry for a tolerance: of one near the least floats, whose roundings are absolute, 2^-1000.
func scaleOf(x *big.Rat) float64 { return max(exact.Float(x), 0x1p-1000) }

// drawRival draws a public distribution and eps.
func drawRival(t *rapid.T) (public []float64, eps float64) {
	return proptest.Mass(proptest.Size(maxKPM).Draw(t, "k")).Draw(t, "public"), proptest.Epsilon().Draw(t, "eps")
}

// lawOf checks what every law must be: finite, not negative, of mass 1, with its inputs left alone.
func lawOf(t *rapid.T, what string, inputs [][]float64, f func(inputs [][]float64) ([]float64, error)) []float64 {
	t.Helper()
	work := make([][]float64, len(inputs))
	for i, x := range inputs {
		work[i] = proptest.Clone(x)
	}
	q, err := f(work)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i := range inputs {
		proptest.SameFloats(t, what, work[i], inputs[i])
	}
	proptest.Finite(t, what, q...)
	for j, x := range q {
		if x < 0 {
			t.Fatalf("%s: q[%d] = %v", what, j, x)
		}
	}
	proptest.Near(t, "sum of "+what, exact.Sum(exact.Rats(q)), big.NewRat(1, 1), rivalTol, 1)
	return q
}

func local(t *rapid.T, f LocalSampler) (public, mu []float64, e, b *big.Rat, q []float64) {
	t.Helper()
	public, eps := drawRival(t)
	mu = proptest.Mass(len(public)).Draw(t, "mu")
	gamma := rapid.SampledFrom([]float64{1, 1.5, 2, 10, 1e6}).Draw(t, "gamma")
	what := fmt.Sprintf("local(%v, %v, %v, %v)", public, mu, eps, gamma)
	q = lawOf(t, what, [][]float64{public, mu}, func(x [][]float64) ([]float64, error) {
		return f(x[0], x[1], eps, gamma)
	})
	proptest.Length(t, what, q, len(mu))
	e, _ = exact.ExpBounds(exact.Rat(eps), 120)
	b = exact.Quo(exact.Add(exact.Rat(gamma), big.NewRat(1, 1)), exact.Add(e, exact.Rat(gamma)))
	return public, mu, e, b, q
}

// LocalInBox: b P <= q <= e^eps b P.
func LocalInBox(t *rapid.T, f LocalSampler) {
	public, _, e, b, q := local(t, f)
	p, err := exact.Distribution(public)
	if err != nil {
		t.Fatal(err)
	}
	for j := range q {
		lo := exact.Mul(b, p[j])
		proptest.AtMost(t, "lower bound", lo, exact.Rat(q[j]), rivalTol, scaleOf(lo))
		hi := exact.Mul(e, lo)
		proptest.AtMost(t, "upper bound", exact.Rat(q[j]), hi, rivalTol, scaleOf(hi))
	}
}

// LocalClamped: mu_j/q_j is the same r for all points off both bounds, at least r at the upper bound, at most r at the
// lower one.
func LocalClamped(t *rapid.T, f LocalSampler) {
	public, mu, e, b, q := local(t, f)
	p, err := exact.Distribution(public)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q {
		for j := range q {
			lo := exact.Float(exact.Mul(b, p[i]))
			hi := exact.Float(exact.Mul(e, exact.Mul(b, p[j])))
			if !(q[i] > lo*(1+rivalTol)+rivalTol) || !(q[j] < hi*(1-rivalTol)-rivalTol) {
				continue
			}
			// Mass may go from i to j: that must not bring q nearer to mu.
			if !(mu[j]*q[i] <= mu[i]*q[j]+rivalTol) {
				t.Fatalf("mu_j/q_j = %v/%v and %v/%v, both free", mu[i], q[i], mu[j], q[j])
			}
		}
	}
}

func linearLaw(t *rapid.T, f LinearSampler, public, mu []float64, eps float64) []float64 {
	t.Helper()
	what := fmt.Sprintf("linear(%v, %v, %v)", public, mu, eps)
	q := lawOf(t, what, [][]float64{public, mu}, func(x [][]float64) ([]float64, error) { return f(x[0], x[1], eps) })
	proptest.Length(t, what, q, len(mu))
	return q
}

// LinearPrivate: the laws of two point masses are within e^eps of each other everywhere.
func LinearPrivate(t *rapid.T, f LinearSampler) {
	public, eps := drawRival(t)
	rows := make([][]float64, len(public))
	for i := range rows {
		mu := make([]float64, len(public))
		mu[i] = 1
		rows[i] = linearLaw(t, f, public, mu, eps)
	}
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	for i, a := range rows {
		for k, b := range rows {
			for j := range a {
				most := exact.Mul(e, exact.Rat(b[j]))
				what := fmt.Sprintf("K[%d,%d] against K[%d,%d]", i, j, k, j)
				proptest.AtMost(t, what, exact.Rat(a[j]), most, rivalTol, scaleOf(most))
			}
		}
	}
}

// LinearKeepsPublic: a user with the public distribution releases it unchanged, and the law is linear in mu.
func LinearKeepsPublic(t *rapid.T, f LinearSampler) {
	public, eps := drawRival(t)
	for j, x := range linearLaw(t, f, public, public, eps) {
		if !(math.Abs(x-public[j]) <= 2e-9) { // Mass may be off 1 by 9e-10
			t.Fatalf("P K = %v in column %d, P = %v", x, j, public[j])
		}
	}
	mu := proptest.Mass(len(public)).Draw(t, "mu")
	half := make([]float64, len(mu))
	for j := range half {
		half[j] = mu[j]/2 + public[j]/2
	}
	q, p := linearLaw(t, f, public, mu, eps), linearLaw(t, f, public, public, eps)
	both := linearLaw(t, f, public, half, eps)
	for j := range q {
		if !(math.Abs(both[j]-(q[j]+p[j])/2) <= 2e-9) {
			t.Fatalf("column %d: %v for the mean of two, whose laws have %v and %v", j, both[j], q[j], p[j])
		}
	}
}

// LinearUniform: with a uniform P, K is e^eps a on the diagonal and a elsewhere, a = 1/(e^eps + k - 1).
func LinearUniform(t *rapid.T, f LinearSampler) {
	public, eps := drawRival(t)
	k := len(public)
	for j := range public {
		public[j] = 1 / float64(k)
	}
	mu := make([]float64, k)
	at := rapid.IntRange(0, k-1).Draw(t, "at")
	mu[at] = 1
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	a := exact.Quo(big.NewRat(1, 1), exact.Add(e, big.NewRat(int64(k)-1, 1)))
	for j, x := range linearLaw(t, f, public, mu, eps) {
		want := a
		if j == at {
			want = exact.Mul(e, a)
		}
		proptest.Near(t, fmt.Sprintf("K[%d,%d]", at, j), exact.Rat(x), want, rivalTol, exact.Float(want))
	}
}

func diskLaws(t *rapid.T, f Disk) (eps float64, radius int, laws [][]float64) {
	t.Helper()
	rows, cols := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "cols")
	radius, eps = rapid.IntRange(0, 6).Draw(t, "radius"), proptest.Epsilon().Draw(t, "eps")
	for cell := range rows * cols {
		what := fmt.Sprintf("disk(%d, %d, %d, %v, %d)", rows, cols, radius, eps, cell)
		laws = append(laws, lawOf(t, what, nil, func([][]float64) ([]float64, error) {
			return f(rows, cols, radius, eps, cell)
		}))
		proptest.Length(t, what, laws[cell], len(laws[0]))
	}
	return eps, radius, laws
}

// DiskPrivate: the laws of two cells are within e^eps of each other in every report.
func DiskPrivate(t *rapid.T, f Disk) {
	eps, _, laws := diskLaws(t, f)
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	for j := range laws[0] {
		least, greatest := math.Inf(1), 0.0
		for _, law := range laws {
			least, greatest = min(least, law[j]), max(greatest, law[j])
		}
		most := exact.Mul(e, exact.Rat(least))
		proptest.AtMost(t, fmt.Sprintf("report %d", j), exact.Rat(greatest), most, rivalTol, scaleOf(most))
	}
}

// DiskArea: no report is more likely than e^eps times the least likely of all, and the number of reports that are this
// likely is the number of cells with their centre within the radius.
func DiskArea(t *rapid.T, f Disk) {
	eps, radius, laws := diskLaws(t, f)
	inside := 0 // cells
	for y := -radius; y <= radius; y++ {
		for x := -radius; x <= radius; x++ {
			if x*x+y*y <= radius*radius {
				inside++
			}
		}
	}
	e := math.Exp(eps)
	least := math.Inf(1)
	for _, law := range laws {
		for _, p := range law {
			least = min(least, p)
		}
	}
	for cell, law := range laws {
		full := 0
		for j, p := range law {
			if !(p <= e*least*(1+rivalTol)) {
				t.Fatalf("report %d of cell %d: %v, the least of all is %v", j, cell, p, least)
			}
			if p >= e*least*(1-rivalTol) {
				full++
			}
		}
		// At an eps near 0 nothing can be told apart; a lone cell has no report outside of its disk.
		if eps > 1e-3 && len(laws) > 1 && full != inside {
			t.Fatalf("cell %d: %d reports of e^eps times the least, want %d within radius %d", cell, full, inside, radius)
		}
	}
}

func oracle(t *rapid.T, f Oracle) (k int, eps, own, other float64, estimate Estimate) {
	t.Helper()
	k, eps = proptest.Size(9).Draw(t, "k"), proptest.Epsilon().Draw(t, "eps")
	own, other, estimate, err := f(k, eps)
	if err != nil {
		t.Fatalf("oracle of %d items at eps %v: %v", k, eps, err)
	}
	return k, eps, own, other, estimate
}

// OraclePrivate: own <= e^eps other, and the same for their complements. Otherwise one item of a set would reveal too
// much.
func OraclePrivate(t *rapid.T, f Oracle) {
	k, eps, own, other, _ := oracle(t, f)
	if k == 1 {
		return // there is no other item
	}
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	proptest.AtMost(t, "own", exact.Rat(own), exact.Mul(e, exact.Rat(other)), rivalTol, own)
	one := big.NewRat(1, 1)
	// 1 - own has the rounding of own = 1 / (1 + odds), 1.5 * 2^-53 at most, which is not small beside it.
	proptest.AtMost(t, "1 - other", exact.Sub(one, exact.Rat(other)), exact.Mul(e, exact.Sub(one, exact.Rat(own))),
		rivalTol, 1+exact.Float(e)*0x1p-12)
}

// OracleUnbiased: from the expected counts, the estimate is the truth.
func OracleUnbiased(t *rapid.T, f Oracle) {
	k, eps, own, other, estimate := oracle(t, f)
	theta := proptest.Normalise(proptest.Mass(k).Draw(t, "theta"), 1)
	const reports = 1 << 52
	counts := make([]uint64, k)
	for j, x := range theta {
		counts[j] = uint64(math.Round(reports * min(x*own+max(1-x, 0)*other, 1)))
	}
	got, err := estimate(counts, reports)
	if err != nil {
		t.Fatal(err)
	}
	// Shares are good to a few 2^-52, divided by own - other, which is tanh(eps/2)/9 or more.
	tol := 0x1p-48 * 9 / math.Tanh(eps/2)
	for j, x := range got {
		if !(math.Abs(x-theta[j]) <= tol) {
			t.Fatalf("%d items, eps %v: estimate %v of item %d, whose share is %v", k, eps, x, j, theta[j])
		}
	}
}
