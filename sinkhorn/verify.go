package sinkhorn

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// This file recomputes the evidence of a Result. Every number in a verdict is exact: integers,
// rationals, and sums of products of floats in exact accumulators. It shares the types Problem, Result and
// the errors with the solvers and nothing else.

// Verify checks r against p and returns, in lowest terms, bounds that it has proved itself on the
// exact problem, the one without the entropy:
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper.
//
// The lower bound is the dual value of r.Potentials, whose feasibility F_i + G_j <= C_ij is checked for
// every i and j as an exact statement about floats: every plan P from mu to some q in the box costs
//
//	<C, P> >= sum_ij (F_i + G_j) P_ij >= sum_i mu_i F_i + sum_j min(Lo_j G_j, Hi_j G_j).
//
// The upper bound is the cost of a plan from mu to Q, which is not stored: it is made here from r.LogV
// and r.Reg. How it is made does not matter, since any non-negative numbers are a plan between their
// own marginals. P_ij = mu_i v_j exp(-C_ij/Reg) / (the row's sum) in float64; columns that exceed Q are scaled down
// to it; what then is missing in rows and columns is added as a product of the two. These numbers are
// cut to multiples of 2^-62, and from there on everything is exact: row sums, column sums, <C, P>, and
//
//	W(Q, mu) <= <C, P> + maxC * (1 - mass(P) + excess of rows over mu + excess of columns over Q),
//
// because scaling down what exceeds costs nothing, and what is then missing moves at no more than
// the largest cost between a row with mass and a column with Hi > 0. If Q, as floats, sums to more
// than 1, it stands for any distribution below it, and the difference is charged as well. When the
// box is a single point that the bounds describe only up to scale, the target is that exact point
// or Q, whichever is worse.
//
// Verify also checks that Q is in the box to the last bit and sums to 1 as documented, and that
// r.Lower, r.Upper, r.Transport and r.Residual do not promise more than it finds. An error wraps
// ErrCertificate and says what failed; a Problem that is itself invalid gives the errors of Project.
//
// It takes three passes over the cost, with two exponentials and an exact product for every pair of a row
// with mass and a column with room: some 60 ns a pair.
func Verify(p Problem, r Result) (upper, lower *big.Rat, err error) {
	v, err := newVerifier(p)
	if err != nil {
		return nil, nil, err
	}
	if err := v.checkQ(r.Q); err != nil {
		return nil, nil, err
	}
	if q := r.Potentials; len(q.F) != v.k || len(q.G) != v.kv || len(r.LogV) != v.kv {
		return nil, nil, refuse("potentials have %d and %d entries and LogV %d, want %d and %d", len(q.F), len(q.G), len(r.LogV), v.k, v.kv)
	}
	if !(r.Reg > 0) || math.IsInf(r.Reg, 0) {
		return nil, nil, refuse("Reg = %v", r.Reg)
	}
	if lower, err = v.lowerAny(r.Potentials); err != nil {
		return nil, nil, err
	}
	if upper, err = v.upperAny(r); err != nil {
		return nil, nil, err
	}
	for _, x := range []float64{r.Lower, r.Upper, r.Transport, r.Objective, r.Residual, r.Posterior} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, refuse("Lower = %v, Upper = %v, Transport = %v, Objective = %v, Residual = %v, Posterior = %v",
				r.Lower, r.Upper, r.Transport, r.Objective, r.Residual, r.Posterior)
		}
	}
	if num.Rat(r.Lower).Cmp(lower) > 0 {
		return nil, nil, refuse("Lower = %v, but only %v is proved", r.Lower, num.Down(lower))
	}
	if num.Rat(r.Upper).Cmp(upper) < 0 {
		return nil, nil, refuse("Upper = %v, but only %v is proved", r.Upper, num.Up(upper))
	}
	return upper, lower, nil
}

// verifier holds the problem as Verify reads it.
type verifier struct {
	c      cost.Matrix
	k, kv  int
	reg    float64
	source []float64 // all k rows
	sum    *dyadic   // of source
	lo, hi []float64
	// scale is 1, or the sum of lo = hi when the box is the point lo / scale.
	scale *dyadic
	point bool
	buf   []float64
	most  float64 // largest cost between a row with mass and a column with room; set by lower
}

var dyadicOne = newDyadic(1)

func newVerifier(p Problem) (*verifier, error) {
	if err := readable(p.Cost); err != nil {
		return nil, err
	}
	v := &verifier{c: p.Cost, reg: p.Reg, scale: dyadicOne}
	v.k, v.kv = p.Cost.Dims()
	if !(p.Reg > 0) || math.IsInf(p.Reg, 0) {
		return nil, fmt.Errorf("%w: Reg = %v", ErrReg, p.Reg)
	}
	for _, e := range []struct {
		name string
		x    []float64
	}{{"Source", p.Source}, {"Lo", p.Lo}, {"Hi", p.Hi}} {
		for n, x := range e.x {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, e.name, n, x)
			}
			if x < 0 {
				return nil, fmt.Errorf("%w: %s[%d] = %v", ErrNegative, e.name, n, x)
			}
		}
	}
	v.source = make([]float64, v.k)
	switch {
	case p.Support == nil && len(p.Source) != v.k, p.Support != nil && len(p.Source) != len(p.Support):
		return nil, fmt.Errorf("%w: Source has %d entries, Support %d, the cost %d rows", ErrShape, len(p.Source), len(p.Support), v.k)
	case p.Support == nil:
		copy(v.source, p.Source)
	}
	for n, i := range p.Support {
		if i < 0 || i >= v.k || n > 0 && i <= p.Support[n-1] {
			return nil, fmt.Errorf("%w: Support[%d] = %d", ErrSupport, n, i)
		}
		v.source[i] = p.Source[n]
	}
	v.sum = dyadicSum(p.Source)
	if v.sum.sign() == 0 {
		return nil, fmt.Errorf("%w: the %d entries of Source sum to 0", ErrMass, len(p.Source))
	}
	if len(p.Lo) != v.kv || len(p.Hi) != v.kv {
		return nil, fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", ErrShape, len(p.Lo), len(p.Hi), v.kv)
	}
	for j, l := range p.Lo {
		if l > p.Hi[j] {
			return nil, fmt.Errorf("%w: Lo[%d] = %v, Hi[%d] = %v", ErrBox, j, l, j, p.Hi[j])
		}
	}
	v.lo, v.hi = p.Lo, p.Hi
	slack := newDyadic(1e-12)
	if over := dyadicSum(p.Lo).minus(dyadicOne); over.sign() >= 0 {
		if over.minus(slack).sign() > 0 {
			return nil, fmt.Errorf("%w: Lo sums to %v", ErrInfeasible, dyadicSum(p.Lo).float())
		}
		v.hi = p.Lo
		v.point, v.scale = over.sign() > 0, dyadicSum(p.Lo)
	} else if under := dyadicOne.minus(dyadicSum(p.Hi)); under.sign() >= 0 {
		if under.minus(slack).sign() > 0 {
			return nil, fmt.Errorf("%w: Hi sums to %v", ErrInfeasible, dyadicSum(p.Hi).float())
		}
		v.lo = p.Hi
		v.point, v.scale = under.sign() > 0, dyadicSum(p.Hi)
	}
	v.buf = make([]float64, v.kv)
	return v, nil
}

// readable refuses a matrix whose dimensions or rows cannot be asked for.
func readable(c cost.Matrix) error {
	switch d := c.(type) {
	case nil:
		return fmt.Errorf("%w: no cost", ErrShape)
	case *cost.Dense:
		if d == nil || d.K < 1 || d.Kv < 1 || len(d.Data)/d.Kv != d.K || len(d.Data)%d.Kv != 0 {
			return fmt.Errorf("%w: the dense cost is nil or its lengths do not match", ErrShape)
		}
	case *cost.Ring, *cost.Grid, *cost.Points, *cost.Cosine, *cost.GreatCircle:
		if err := cost.Validate(c); err != nil { // constant time: is it nil or empty?
			return fmt.Errorf("%w: %w", ErrShape, err)
		}
	}
	if k, kv := c.Dims(); k < 1 || kv < 1 {
		return fmt.Errorf("%w: %d x %d cost", ErrShape, k, kv)
	}
	return nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCertificate, fmt.Sprintf(format, args...))
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
		if !v.point {
			if !(v.lo[j] <= x && x <= v.hi[j]) {
				return refuse("Q[%d] = %v is outside [%v, %v]", j, x, v.lo[j], v.hi[j])
			}
			continue
		}
		// |x - lo/scale| <= 2^-52 * lo/scale, or the smallest float where floats are no denser.
		d := newDyadic(x).times(v.scale).minus(newDyadic(v.lo[j])).abs()
		if d.minus(newDyadic(0x1p-52).times(newDyadic(v.lo[j]))).sign() > 0 &&
			d.minus(newDyadic(math.SmallestNonzeroFloat64).times(v.scale)).sign() > 0 {
			return refuse("Q[%d] = %v is not the point of the box", j, x)
		}
	}
	d := dyadicSum(q).minus(dyadicOne).abs()
	if d.minus(newDyadic(0x1p-52*float64(v.kv))).sign() > 0 {
		return refuse("Q sums to %v", dyadicSum(q).float())
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

// lower proves the lower bound and finds v.most.
func (v *verifier) lower(p Potentials) (*big.Rat, error) {
	huge := false
	for j, g := range p.G {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			return nil, refuse("G[%d] = %v", j, g)
		}
		huge = huge || math.Abs(g) > math.MaxFloat64/4
	}
	rows := new(num.Acc) // sum of source_i F_i
	for i := range v.k {
		row, err := v.row(i)
		if err != nil {
			return nil, err
		}
		f := p.F[i]
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, refuse("F[%d] = %v", i, f)
		}
		exactly := huge || math.Abs(f) > math.MaxFloat64/4
		for j, c := range row {
			if exactly || c > math.MaxFloat64/2 {
				if newDyadic(c).minus(newDyadic(p.G[j])).minus(newDyadic(f)).sign() < 0 {
					return nil, refuse("F[%d] + G[%d] = %v + %v is above the cost %v", i, j, f, p.G[j], c)
				}
				continue
			}
			// Rounding is monotone: f < fl(c - g) implies f <= c - g. In a tie the exact
			// rounding error (Knuth) decides.
			g := p.G[j]
			d := c - g
			if f < d {
				continue
			}
			b := c - d
			if e := (c - (d + b)) + (b - g); f > d || e < 0 {
				return nil, refuse("F[%d] + G[%d] = %v + %v is above the cost %v", i, j, f, g, c)
			}
		}
		if v.source[i] > 0 {
			rows.AddMul(v.source[i], f)
			for j, c := range row {
				if c > v.most && v.hi[j] > 0 {
					v.most = c
				}
			}
		}
	}
	columns := new(num.Acc) // sum of min(lo_j g_j, hi_j g_j), times scale
	for j, g := range p.G {
		if g >= 0 {
			columns.AddMul(v.lo[j], g)
		} else {
			columns.AddMul(v.hi[j], g)
		}
	}
	bound := rows.Rat()
	bound.Quo(bound, v.sum.rat())
	bound.Add(bound, new(big.Rat).Quo(columns.Rat(), v.scale.rat()))
	if bound.Sign() < 0 {
		bound.SetInt64(0)
	}
	return bound, nil
}

// unit is the quantum of the plan that Verify makes.
const unitBits = 62

// plan writes row i of the plan of r as float64s.
func (v *verifier) plan(r *Result, i int, row, dst []float64) {
	least := math.Inf(1)
	for j, c := range row {
		if r.LogV[j] > math.Inf(-1) {
			least = math.Min(least, c)
		}
	}
	top := math.Inf(-1)
	for j, c := range row {
		dst[j] = math.Inf(-1)
		if r.LogV[j] > math.Inf(-1) {
			dst[j] = r.LogV[j] - (c-least)/r.Reg
			top = math.Max(top, dst[j])
		}
	}
	var z float64
	for j, x := range dst {
		dst[j] = 0
		if x -= top; x > -745 {
			dst[j] = math.Exp(x)
			z += dst[j]
		}
	}
	m, _ := newDyadic(v.source[i]).over(v.sum).Float64()
	for j, x := range dst {
		if x > 0 {
			dst[j] = math.Min(x/z, 1) * m
		}
	}
}

// upper proves the upper bound and checks Transport and Residual.
func (v *verifier) upper(r Result) (*big.Rat, error) {
	for j, x := range r.LogV {
		if math.IsNaN(x) || math.IsInf(x, 1) || v.hi[j] == 0 && !math.IsInf(x, -1) {
			return nil, refuse("LogV[%d] = %v", j, x)
		}
	}
	p := make([]float64, v.kv)
	colSum := make([]float64, v.kv)
	var transport float64
	for i, m := range v.source {
		if m == 0 {
			continue
		}
		row, err := v.row(i)
		if err != nil {
			return nil, err
		}
		v.plan(&r, i, row, p)
		for j, x := range p {
			colSum[j] += x
			if x > 0 {
				transport += row[j] / v.mostOr1() * x
			}
		}
	}
	if d := math.Abs(transport - r.Transport/v.mostOr1()); !(d <= claimSlack+4*math.SmallestNonzeroFloat64/v.mostOr1()) {
		return nil, refuse("Transport = %v, but the plan of LogV costs %v", r.Transport, transport*v.mostOr1())
	}
	scale, add := make([]float64, v.kv), make([]float64, v.kv)
	var lacking, residual float64
	for j, q := range r.Q {
		scale[j] = 1
		if q < colSum[j] {
			scale[j] = q / colSum[j]
		}
		add[j] = math.Max(0, q-colSum[j])
		lacking += add[j]
		residual += math.Abs(q - colSum[j])
	}
	if d := math.Abs(residual - r.Residual); !(d <= claimSlack) {
		return nil, refuse("Residual = %v, but the columns of the plan are off Q by %v", r.Residual, residual)
	}

	move := v.mover(r.Flow, colSum, r.Q, scale, add, &lacking)

	// From here on exact.
	carried := new(num.Acc)       // <C, P> * 2^62
	units := make([]uint64, v.kv) // column sums
	var mass uint64               // of P
	rowExcess := newDyadic(0)     // over the source, times sum, in units
	unit := newDyadic(0x1p62)
	for i, m := range v.source {
		if m == 0 {
			continue
		}
		row, err := v.row(i)
		if err != nil {
			return nil, err
		}
		v.plan(&r, i, row, p)
		move(p)
		mu, _ := newDyadic(m).over(v.sum).Float64()
		var s float64
		for j, x := range p {
			p[j] = x * scale[j]
			s += p[j]
		}
		// What is missing in this row, as a share of what is lacking in the columns.
		share := 0.0
		if lacking > 0 {
			share = math.Max(0, mu-s) / lacking
		}
		var sum uint64
		for j, x := range p {
			// At most twice mu_i in all, whatever the rounding: no sum of units overflows.
			y := math.Floor(math.Min(x+share*add[j], mu) * (1 << unitBits))
			if !(y >= 1) {
				continue
			}
			n := uint64(y)
			carried.AddMul(row[j], y)
			units[j] += n
			sum += n
		}
		mass += sum
		// sum / 2^62 - m / v.sum, times both.
		if d := newDyadicUint(sum).times(v.sum).minus(newDyadic(m).times(unit)); d.sign() > 0 {
			rowExcess = rowExcess.plus(d)
		}
	}
	excess, scaled := newDyadic(0), newDyadic(0) // in units
	for j, n := range units {
		x := newDyadicUint(n)
		if d := x.minus(newDyadic(r.Q[j]).times(unit)); d.sign() > 0 {
			excess = excess.plus(d)
		}
		if v.point {
			// Over the smaller of q_j and lo_j / scale.
			d := x.times(v.scale).minus(newDyadic(v.lo[j]).times(unit))
			if e := x.minus(newDyadic(r.Q[j]).times(unit)).times(v.scale); e.minus(d).sign() > 0 {
				d = e
			}
			if d.sign() > 0 {
				scaled = scaled.plus(d)
			}
		}
	}
	missing := unit.minus(newDyadicUint(mass)).over(unit)
	missing.Add(missing, rowExcess.over(v.sum.times(unit)))
	if v.point {
		missing.Add(missing, scaled.over(v.scale.times(unit)))
	} else {
		missing.Add(missing, excess.over(unit))
	}
	if d := dyadicSum(r.Q).minus(dyadicOne); d.sign() > 0 {
		missing.Add(missing, d.rat())
	}
	if missing.Sign() < 0 {
		missing.SetInt64(0)
	}
	most := num.Rat(v.most)
	bound := carried.Rat()
	bound.Quo(bound, unit.rat())
	bound.Add(bound, missing.Mul(missing, most))
	if bound.Cmp(most) > 0 {
		bound = most
	}
	return bound, nil
}

// claimSlack is how far Transport, over the largest cost, and Residual may be from what Verify
// computes from LogV in float64. Entries of the plan are off by the rounding of LogV and C/Reg, which Project
// limits to 1e9 and so to 1e-6 relative; the bounds do not depend on these two claims.
const claimSlack = 4e-6

// mostOr1 is the largest cost, to divide by.
func (v *verifier) mostOr1() float64 {
	if v.most > 0 {
		return v.most
	}
	return 1
}

// dyadic is the number n * 2^e. Sums and products of floats are of this form, and stay so.
type dyadic struct {
	n *big.Int
	e int
}

// newDyadic returns the finite x.
func newDyadic(x float64) *dyadic {
	m, e := math.Frexp(x)
	return &dyadic{big.NewInt(int64(math.Ldexp(m, 53))), e - 53}
}

func newDyadicUint(x uint64) *dyadic { return &dyadic{new(big.Int).SetUint64(x), 0} }

func dyadicSum(xs []float64) *dyadic {
	r := num.SumRat(xs)
	return &dyadic{new(big.Int).Set(r.Num()), -(r.Denom().BitLen() - 1)} // the denominator is a power of two
}

func (x *dyadic) plus(y *dyadic) *dyadic {
	if x.e < y.e {
		x, y = y, x
	}
	z := new(big.Int).Lsh(x.n, uint(x.e-y.e))
	return &dyadic{z.Add(z, y.n), y.e}
}

func (x *dyadic) minus(y *dyadic) *dyadic {
	return x.plus(&dyadic{new(big.Int).Neg(y.n), y.e})
}

func (x *dyadic) times(y *dyadic) *dyadic { return &dyadic{new(big.Int).Mul(x.n, y.n), x.e + y.e} }

func (x *dyadic) abs() *dyadic { return &dyadic{new(big.Int).Abs(x.n), x.e} }

func (x *dyadic) sign() int { return x.n.Sign() }

// over returns x/y for y != 0.
func (x *dyadic) over(y *dyadic) *big.Rat {
	a, b := new(big.Int).Set(x.n), new(big.Int).Set(y.n)
	if d := x.e - y.e; d >= 0 {
		a.Lsh(a, uint(d))
	} else {
		b.Lsh(b, uint(-d))
	}
	return new(big.Rat).SetFrac(a, b)
}

func (x *dyadic) rat() *big.Rat { return x.over(&dyadic{big.NewInt(1), 0}) }

// float returns about x, for messages.
func (x *dyadic) float() float64 {
	f, _ := x.rat().Float64()
	return f
}
