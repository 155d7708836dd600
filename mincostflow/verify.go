package mincostflow

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/cost"
)

// This file recomputes the evidence of a Result in exact rational arithmetic. It shares the types
// Problem, Result and the errors with the solver and nothing else: the arithmetic, the reading
// of the inputs and the argument are its own.

// Verify checks r against p and returns, in lowest terms, bounds that it has proved itself:
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper.
//
// The lower bound uses r.Potentials.G alone, any numbers would do (weak duality): with
// f_i = min_j (C_ij - g_j), every plan P from mu to some q in the box costs
//
//	<C, P> >= sum_ij (f_i + g_j) P_ij = sum_i mu_i f_i + sum_j q_j g_j
//	       >= sum_i mu_i f_i + sum_j min(Lo_j g_j, Hi_j g_j),
//
// and costs are not negative. The upper bound uses r.Plan and r.Q. Scale down the rows of P that
// exceed mu, then the columns that exceed the target t: this removes at most the sum of the
// excesses and costs nothing. What is then missing to mass 1 can be moved from the rows with some left
// to the columns with room left, at no more than the largest cost between a row with mass and a
// column with Hi > 0. So
//
//	W(t, mu) <= <C, P> + maxC * (1 - mass(P) + row excess + column excess over t),
//
// and W(t, mu) <= maxC. Q as floats need not sum to 1. If it sums to s > 1, t is any distribution
// below Q, or Q/s, and columns exceed it by at most s - 1 more than they exceed Q; if to less, t is
// any above it, or Q/s, and they exceed it by no more. When the box is a single point that the
// bounds describe only up to scale, t is that exact point, or Q, whichever is worse.
//
// Verify also checks what r claims: that F and G are feasible as exact numbers, that Q is in the
// box and sums to 1 as documented, that the plan is well formed and leads from the source to Q (or does so in part, if Status is
// Cancelled), and that r.Lower and r.Upper do not promise more than the bounds above. An error wraps ErrCertificate
// and says what failed; a Problem that is itself invalid gives the errors of Project.
//
// It takes one pass over the cost, and big-number operations for every row, column and entry of
// the plan.
func Verify(p Problem, r Result) (upper, lower *big.Rat, err error) {
	v, err := newVerifier(p.Cost, p.Source, p.Support)
	if err != nil {
		return nil, nil, err
	}
	if err := v.readBox(p.Lo, p.Hi); err != nil {
		return nil, nil, err
	}
	return v.run(r)
}

// VerifyTransport is Verify for a Result of Transport.
func VerifyTransport(c cost.Matrix, a, b []float64, r Result) (upper, lower *big.Rat, err error) {
	k, kv, err := shape(c)
	if err != nil {
		return nil, nil, err
	}
	if f, g := r.Potentials.F, r.Potentials.G; a == nil || b == nil {
		// Before slices are made as long as the matrix claims to be, there are some of that length.
		if len(f) != k || len(g) != kv {
			return nil, nil, refuse("potentials have %d and %d entries, want %d and %d", len(f), len(g), k, kv)
		}
		if a == nil {
			a = slices.Repeat([]float64{1}, k)
		}
		if b == nil {
			b = slices.Repeat([]float64{1}, kv)
		}
	}
	v, err := newVerifier(c, a, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := v.readTarget(b); err != nil {
		return nil, nil, err
	}
	return v.run(r)
}

// The documented tolerances, as exact numbers.
var (
	boxSlack = exactFloat(1e-12)
	one      = exactFloat(1)
)

// planSlack is how far, in total, the row and column sums of a plan may be from the source and Q
// before Verify calls it a plan for something else. Any value is sound, since the upper bound
// charges for the difference; solvers stay below 1e-14.
var planSlack = exactFloat(1e-9)

// objectiveSlack is how far Objective may be from the cost of the plan, relative to the largest
// cost: a rounding or two.
const objectiveSlack = 0x1p-51

// exact is the number n * 2^e. Sums and products of floats are of this form, and stay so.
type exact struct {
	n big.Int
	e int
}

// exactFloat returns the finite x.
func exactFloat(x float64) *exact {
	m, e := math.Frexp(x)
	z := &exact{e: e - 53}
	z.n.SetInt64(int64(math.Ldexp(m, 53)))
	return z
}

// add adds s*y for s = 1 or -1.
func (x *exact) add(y *exact, s int) {
	if y.n.Sign() == 0 {
		return
	}
	var t big.Int
	switch {
	case x.n.Sign() == 0:
		x.e = y.e
	case y.e < x.e:
		x.n.Lsh(&x.n, uint(x.e-y.e))
		x.e = y.e
	}
	t.Lsh(&y.n, uint(y.e-x.e))
	if s < 0 {
		t.Neg(&t)
	}
	x.n.Add(&x.n, &t)
}

// addProduct adds a*b.
func (x *exact) addProduct(a, b float64) { x.add(exactFloat(a).times(exactFloat(b)), 1) }

// times returns x*y.
func (x *exact) times(y *exact) *exact {
	z := &exact{e: x.e + y.e}
	z.n.Mul(&x.n, &y.n)
	return z
}

// less returns x - y.
func (x *exact) less(y *exact) *exact {
	z := &exact{e: x.e}
	z.n.Set(&x.n)
	z.add(y, -1)
	return z
}

func (x *exact) sign() int { return x.n.Sign() }

// over returns x/y for y != 0.
func (x *exact) over(y *exact) *big.Rat {
	num, den := new(big.Int).Set(&x.n), new(big.Int).Set(&y.n)
	if d := x.e - y.e; d >= 0 {
		num.Lsh(num, uint(d))
	} else {
		den.Lsh(den, uint(-d))
	}
	return new(big.Rat).SetFrac(num, den)
}

// float returns about x, for messages.
func (x *exact) float() float64 {
	f, _ := x.over(one).Float64()
	return f
}

// exactSum returns the sum of xs.
func exactSum(xs []float64) *exact {
	z := new(exact)
	for _, x := range xs {
		z.add(exactFloat(x), 1)
	}
	return z
}

// verifier holds the problem as Verify reads it.
type verifier struct {
	c       cost.Matrix
	k, kv   int
	given   []float64 // the source as it came, with its support (nil: all rows)
	support []int
	source  []float64 // for all k rows, made by run once the certificate has k potentials
	sum     *exact    // of source
	lo, hi  []float64
	// scale is 1, or the sum of lo = hi when the box is the point lo / scale.
	scale *exact
	point bool
	buf   []float64
}

// shape returns the dimensions of c.
func shape(c cost.Matrix) (k, kv int, err error) {
	switch d := c.(type) {
	case nil:
		return 0, 0, fmt.Errorf("%w: no cost", ErrShape)
	case *cost.Dense:
		if d == nil || d.K < 1 || d.Kv < 1 || len(d.Data)/d.Kv != d.K || len(d.Data)%d.Kv != 0 {
			return 0, 0, fmt.Errorf("%w: the dense cost is nil or its lengths do not match", ErrShape)
		}
	case *cost.Ring, *cost.Grid, *cost.Points, *cost.Cosine, *cost.GreatCircle:
		if err := cost.Validate(c); err != nil { // constant time: is it nil or empty?
			return 0, 0, fmt.Errorf("%w: %w", ErrShape, err)
		}
	}
	k, kv = c.Dims()
	const most = math.MaxInt32 // rows and columns have int32 indices in every solver
	if k < 1 || kv < 1 || k > most || kv > most {
		return 0, 0, fmt.Errorf("%w: %d x %d cost", ErrShape, k, kv)
	}
	return k, kv, nil
}

func newVerifier(c cost.Matrix, source []float64, support []int) (*verifier, error) {
	v := &verifier{c: c, scale: one}
	var err error
	if v.k, v.kv, err = shape(c); err != nil {
		return nil, err
	}
	if support == nil {
		if len(source) != v.k {
			return nil, fmt.Errorf("%w: source of %d for %d rows", ErrShape, len(source), v.k)
		}
	} else if len(source) != len(support) {
		return nil, fmt.Errorf("%w: source of %d for a support of %d", ErrShape, len(source), len(support))
	}
	if err := masses("source", source); err != nil {
		return nil, err
	}
	v.given, v.support = source, support
	for n, i := range support {
		if i < 0 || i >= v.k || n > 0 && i <= support[n-1] {
			return nil, fmt.Errorf("%w: entry %d is %d", ErrSupport, n, i)
		}
	}
	v.sum = exactSum(source)
	if v.sum.sign() <= 0 {
		return nil, fmt.Errorf("%w: the source sums to 0", ErrMass)
	}
	return v, nil
}

// negative returns -x.
func negative(x *exact) *exact { return new(exact).less(x) }

// masses refuses what is not finite and >= 0.
func masses(name string, xs []float64) error {
	for n, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s %d is %v", ErrNotFinite, name, n, x)
		}
		if x < 0 {
			return fmt.Errorf("%w: %s %d is %v", ErrNegative, name, n, x)
		}
	}
	return nil
}

// readBox takes the bounds, by the rule for inexact masses.
func (v *verifier) readBox(lo, hi []float64) error {
	if len(lo) != v.kv || len(hi) != v.kv {
		return fmt.Errorf("%w: bounds of %d and %d for %d columns", ErrShape, len(lo), len(hi), v.kv)
	}
	if err := masses("lower bound", lo); err != nil {
		return err
	}
	if err := masses("upper bound", hi); err != nil {
		return err
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return fmt.Errorf("%w: column %d, %v > %v", ErrBox, j, lo[j], hi[j])
		}
	}
	v.lo, v.hi = lo, hi
	low, high := exactSum(lo), exactSum(hi)
	switch above, below := low.less(one), one.less(high); {
	case above.less(boxSlack).sign() > 0 || below.less(boxSlack).sign() > 0:
		return fmt.Errorf("%w: no distribution in the box: the bounds sum to %v and %v", ErrInfeasible, low.float(), high.float())
	case above.sign() > 0:
		v.hi, v.scale, v.point = lo, low, true
	case below.sign() > 0:
		v.lo, v.scale, v.point = hi, high, true
	}
	return nil
}

// readTarget takes the target of plain transport.
func (v *verifier) readTarget(b []float64) error {
	if len(b) != v.kv {
		return fmt.Errorf("%w: target of %d for %d columns", ErrShape, len(b), v.kv)
	}
	if err := masses("target", b); err != nil {
		return err
	}
	v.lo, v.hi, v.scale, v.point = b, b, exactSum(b), true
	if v.scale.sign() <= 0 {
		return fmt.Errorf("%w: the target sums to 0", ErrMass)
	}
	return nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCertificate, fmt.Sprintf(format, args...))
}

func (v *verifier) run(r Result) (upper, lower *big.Rat, err error) {
	if err := v.checkQ(r.Q); err != nil {
		return nil, nil, err
	}
	if p := r.Potentials; len(p.F) != v.k || len(p.G) != v.kv {
		return nil, nil, refuse("potentials have %d and %d entries, want %d and %d", len(p.F), len(p.G), v.k, v.kv)
	}
	// The lengths that the matrix claims are now those of slices that exist.
	v.buf, v.source = make([]float64, v.kv), v.given
	if v.support != nil {
		v.source = make([]float64, v.k)
		for n, i := range v.support {
			v.source[i] = v.given[n]
		}
	}
	lower, most, err := v.lower(r.Potentials)
	if err != nil {
		return nil, nil, err
	}
	upper, err = v.upper(r, most)
	if err != nil {
		return nil, nil, err
	}
	if err := claimed(r, upper, lower); err != nil {
		return nil, nil, err
	}
	return upper, lower, nil
}

// claimed compares the bounds of r with the proven ones.
func claimed(r Result, upper, lower *big.Rat) error {
	for _, x := range []float64{r.Lower, r.Upper, r.Objective} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return refuse("Lower = %v, Upper = %v, Objective = %v", r.Lower, r.Upper, r.Objective)
		}
	}
	if new(big.Rat).SetFloat64(r.Lower).Cmp(lower) > 0 {
		f, _ := lower.Float64()
		return refuse("Lower = %v, but only %v is proved", r.Lower, f)
	}
	if new(big.Rat).SetFloat64(r.Upper).Cmp(upper) < 0 {
		f, _ := upper.Float64()
		return refuse("Upper = %v, but only %v is proved", r.Upper, f)
	}
	return nil
}

// checkQ checks that q is a distribution in the box.
func (v *verifier) checkQ(q []float64) error {
	if len(q) != v.kv {
		return refuse("Q has %d entries, want %d", len(q), v.kv)
	}
	for j, x := range q {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return refuse("Q[%d] = %v", j, x)
		}
		if x != 0 && v.hi[j] == 0 {
			return refuse("Q[%d] = %v in a column that takes nothing", j, x)
		}
		if !v.point {
			if !(v.lo[j] <= x && x <= v.hi[j]) {
				return refuse("Q[%d] = %v is outside [%v, %v]", j, x, v.lo[j], v.hi[j])
			}
			continue
		}
		// |x - lo/scale| <= 2^-52 * lo/scale, or 4 * 2^-1074 where floats are hardly denser.
		d := exactFloat(x).times(v.scale).less(exactFloat(v.lo[j]))
		if d.sign() < 0 {
			d = negative(d)
		}
		ulp := exactFloat(0x1p-52).times(exactFloat(v.lo[j]))
		least := exactFloat(0x1p-1072).times(v.scale)
		if d.less(ulp).sign() > 0 && d.less(least).sign() > 0 {
			return refuse("Q[%d] = %v is not the point of the box", j, x)
		}
	}
	d := exactSum(q).less(one)
	if d.sign() < 0 {
		d = negative(d)
	}
	if d.less(exactFloat(0x1p-52*float64(v.kv))).sign() > 0 {
		return refuse("Q sums to %v", exactSum(q).float())
	}
	return nil
}

// row returns row i of the cost, checked.
func (v *verifier) row(i int) ([]float64, error) {
	row := v.c.Row(i, v.buf)
	if len(row) != v.kv {
		return nil, fmt.Errorf("%w: row %d of the cost has %d entries, want %d", ErrShape, i, len(row), v.kv)
	}
	for j, c := range row {
		if !(c >= 0 && c <= math.MaxFloat64) {
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return nil, fmt.Errorf("%w: cost of row %d, column %d is %v", ErrNotFinite, i, j, c)
			}
			return nil, fmt.Errorf("%w: cost of row %d, column %d is %v", ErrNegative, i, j, c)
		}
	}
	return row, nil
}

// lower proves the lower bound and finds the largest cost between a row with mass and a column
// that may take some.
func (v *verifier) lower(p Potentials) (bound *big.Rat, most float64, err error) {
	large := false
	for j, g := range p.G {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return nil, 0, refuse("G[%d] = %v", j, g)
		}
		large = large || math.Abs(g) > largePotential
	}
	rows := new(exact) // sum of source_i * f_i
	for i := range v.k {
		row, err := v.row(i)
		if err != nil {
			return nil, 0, err
		}
		f := p.F[i]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, 0, refuse("F[%d] = %v", i, f)
		}
		var least *exact
		if large || math.Abs(f) > largePotential || !(slices.Max(row) < math.MaxFloat64/2) {
			least = slackBig(row, p.G)
			if exactFloat(f).less(least).sign() > 0 {
				return nil, 0, refuse("F[%d] = %v is above min_j C[%d][j] - G[j] = %v", i, f, i, least.float())
			}
		} else {
			x, e := slack2(row, p.G)
			// x is the float nearest to x + e, so f <= x + e iff f < x, or f = x and e >= 0.
			if f > x || f == x && e < 0 {
				return nil, 0, refuse("F[%d] = %v is above min_j C[%d][j] - G[j] = %v + %v", i, f, i, x, e)
			}
			if v.source[i] > 0 {
				least = exactFloat(x)
				least.add(exactFloat(e), 1)
			}
		}
		if v.source[i] > 0 {
			rows.add(least.times(exactFloat(v.source[i])), 1)
			for j, c := range row {
				if c > most && v.hi[j] > 0 {
					most = c
				}
			}
		}
	}
	columns := new(exact) // sum of min(lo_j g_j, hi_j g_j), times scale
	for j, g := range p.G {
		if g >= 0 {
			columns.addProduct(v.lo[j], g)
		} else {
			columns.addProduct(v.hi[j], g)
		}
	}
	bound = rows.over(v.sum)
	bound.Add(bound, columns.over(v.scale))
	if bound.Sign() < 0 {
		bound.SetInt64(0)
	}
	return bound, most, nil
}

// largePotential is up to where differences of two numbers stay in range for slack2: costs below half the
// largest float less or plus that much. Above, slackBig takes over.
const largePotential = math.MaxFloat64 / 4

// slack2 returns min_j (row_j - g_j) as an unevaluated sum x + e of two floats. The error of a
// rounded difference is a float, and rounding is monotone, so the least of the exact ones is
// among those that round to the least.
func slack2(row, g []float64) (x, e float64) {
	x = math.Inf(1)
	for j, c := range row {
		h := g[j]
		if d := c - h; d <= x {
			// Knuth's exact error of a difference.
			b := c - d
			r := (c - (d + b)) + (b - h)
			if d < x || r < e {
				x, e = d, r
			}
		}
	}
	return x, e
}

// slackBig is slack2 where floats could overflow.
func slackBig(row, g []float64) *exact {
	var least *exact
	for j, c := range row {
		if d := exactFloat(c).less(exactFloat(g[j])); least == nil || d.less(least).sign() < 0 {
			least = d
		}
	}
	return least
}

// upper proves the upper bound.
func (v *verifier) upper(r Result, most float64) (*big.Rat, error) {
	part := r.Status == Cancelled // the plan need not move everything
	carried := new(exact)         // <C, P>
	mass := new(exact)
	rowSum := make([]exact, v.k)
	colSum := make([]exact, v.kv)
	lastI, lastJ := -1, -1
	var row []float64
	for n, a := range r.Plan {
		if a.I < 0 || a.I >= v.k || a.J < 0 || a.J >= v.kv {
			return nil, refuse("Plan[%d] is at (%d, %d), outside %d x %d", n, a.I, a.J, v.k, v.kv)
		}
		if a.I < lastI || a.I == lastI && a.J <= lastJ {
			return nil, refuse("Plan[%d] at (%d, %d) does not come after (%d, %d)", n, a.I, a.J, lastI, lastJ)
		}
		if !(a.Mass >= 0 && a.Mass <= 2) {
			return nil, refuse("Plan[%d] has mass %v", n, a.Mass)
		}
		if a.I != lastI {
			var err error
			if row, err = v.row(a.I); err != nil {
				return nil, err
			}
		}
		lastI, lastJ = a.I, a.J
		carried.addProduct(row[a.J], a.Mass)
		m := exactFloat(a.Mass)
		mass.add(m, 1)
		rowSum[a.I].add(m, 1)
		colSum[a.J].add(m, 1)
	}

	// Rows times the sum of the source.
	rowOff, rowExcess := new(exact), new(exact)
	for i := range rowSum {
		apportion(rowSum[i].times(v.sum).less(exactFloat(v.source[i])), rowOff, rowExcess)
	}
	if part { // of the source is enough
		rowOff = rowExcess
	}
	if rowOff.less(planSlack.times(v.sum)).sign() > 0 {
		return nil, refuse("row sums of the plan are off the source by %v in total", rowOff.float())
	}
	// Columns as they are; over the exact point also times its scale.
	colOff, colExcess := new(exact), new(exact)
	scaled := new(exact)
	for j := range colSum {
		apportion(colSum[j].less(exactFloat(r.Q[j])), colOff, colExcess)
		if v.point {
			// Over the smaller of q_j and lo_j / scale.
			x := colSum[j].times(v.scale).less(exactFloat(v.lo[j]))
			if y := colSum[j].less(exactFloat(r.Q[j])).times(v.scale); y.less(x).sign() > 0 {
				x = y
			}
			apportion(x, new(exact), scaled)
		}
	}
	if part {
		colOff = colExcess
	}
	if colOff.less(planSlack).sign() > 0 {
		return nil, refuse("column sums of the plan are off Q by %v in total", colOff.float())
	}

	d := exactFloat(r.Objective).less(carried)
	if d.sign() < 0 {
		d = negative(d)
	}
	slack := exactFloat(objectiveSlack).times(exactFloat(most))
	slack.add(exactFloat(math.SmallestNonzeroFloat64), 1) // where floats are no denser
	if d.less(slack).sign() > 0 {
		return nil, refuse("Objective = %v, but the plan costs %v", r.Objective, carried.float())
	}

	missing := one.less(mass).over(one)
	missing.Add(missing, rowExcess.over(v.sum))
	if v.point {
		missing.Add(missing, scaled.over(v.scale))
	} else {
		missing.Add(missing, colExcess.over(one))
	}
	if d = exactSum(r.Q).less(one); d.sign() > 0 {
		missing.Add(missing, d.over(one))
	}
	bound := new(big.Rat).SetFloat64(most)
	missing.Mul(missing, bound)
	missing.Add(missing, carried.over(one))
	if missing.Cmp(bound) < 0 {
		bound = missing
	}
	return bound, nil
}

// apportion adds |x| to off, and x to excess if it is positive.
func apportion(x, off, excess *exact) {
	if x.sign() > 0 {
		off.add(x, 1)
		excess.add(x, 1)
	} else {
		off.add(x, -1)
	}
}
