package basemeasure

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/cost"
)

// Verify recomputes the bounds of a Result in exact rational arithmetic, from M, Weights and Thresholds
// alone: upper >= f(M), lower <= the worst case of every eps-LDP mechanism. It returns ErrCertificate if the
// evidence is malformed, or if Result.Upper or Result.Lower claim more than it proves. eps and the costs
// count as the rationals that the float64 values are. Errors in the arguments: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon.
//
// It shares no code with the functions that make a Result. Rationals are integers over common powers of
// two, so nothing is reduced until the end.
//
// Upper. Let b <= e^(eps/2) be rational, b >= 1. The box [M/b, b*M] lies inside the box of M, so the cost of
// an input in it, a greedy fill, is at least the cost in the box of M. Its mass can fall outside by the
// rounding of M; by the convention for inexact masses (1e-12) the box of M is then the point M / sum M.
//
// Lower. With E >= e^eps rational, w >= 0 and sum w = 1, and any eta: an eps-LDP mechanism lies in the box of
// some m, that is, for x = e^(-eps/2) m, x <= q <= e^eps x <= E x and 1/E <= sum x <= 1. Its cost for input i is
//
//	sum_j C_ij q_j = eta_i + sum_j (C_ij - eta_i) q_j >= eta_i + sum_j x_j h(C_ij - eta_i),
//
// where h(u) = u for u > 0 and E*u otherwise. The worst input costs at least the mean with weights w,
// sum_i w_i eta_i + sum_j x_j b_j with b_j = sum_i w_i h(C_ij - eta_i), and sum_j x_j b_j is at least min_j b_j
// times a number in [1/E, 1].
func Verify(c cost.Matrix, eps float64, r Result) (upper, lower *big.Rat, err error) {
	if err := cost.Validate(c); err != nil {
		return nil, nil, tableError(err)
	}
	if err := checkEps(eps); err != nil {
		return nil, nil, err
	}
	k, kv := c.Dims()
	if len(r.M) != kv || len(r.Weights) != k || len(r.Thresholds) != k {
		return nil, nil, fmt.Errorf("%w: lengths %d, %d, %d of M, Weights, Thresholds for a %d x %d cost",
			ErrCertificate, len(r.M), len(r.Weights), len(r.Thresholds), k, kv)
	}
	for _, v := range []struct {
		what string
		list []float64
	}{{"M", r.M}, {"Weights", r.Weights}} {
		for at, x := range v.list {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return nil, nil, fmt.Errorf("%w: %s[%d] = %v", ErrCertificate, v.what, at, x)
			}
		}
	}
	for i, x := range r.Thresholds {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return nil, nil, fmt.Errorf("%w: Thresholds[%d] = %v", ErrCertificate, i, x)
		}
	}

	down, up := expHalf(eps)
	u, err := newUpperCheck(c, r.M, down)
	if err != nil {
		return nil, nil, err
	}
	l, err := newLowerCheck(c, r.Weights, r.Thresholds, up)
	if err != nil {
		return nil, nil, err
	}
	buf := make([]float64, kv) // never a row that Row returned: that may be the matrix's own
	for i := range k {
		row := c.Row(i, buf)
		u.row(row)
		l.row(i, row)
	}
	upper, lower = u.result(), l.result()
	switch {
	case lower.Cmp(upper) > 0:
		// Impossible for evidence about one cost: the two theorems above contradict each other.
		return upper, lower, fmt.Errorf("%w: lower bound %v above upper bound %v", ErrCertificate, show(lower), show(upper))
	case !claimed(r.Upper, upper, 1):
		return upper, lower, fmt.Errorf("%w: Upper = %v, proved %v", ErrCertificate, r.Upper, show(upper))
	case !claimed(r.Lower, lower, -1):
		return upper, lower, fmt.Errorf("%w: Lower = %v, proved %v", ErrCertificate, r.Lower, show(lower))
	}
	return upper, lower, nil
}

// claimed reports whether the float claim is on the stated side of proved, or equal to it.
func claimed(claim float64, proved *big.Rat, side int) bool {
	if math.IsNaN(claim) || math.IsInf(claim, 0) {
		return false
	}
	return new(big.Rat).SetFloat64(claim).Cmp(proved)*side >= 0
}

func show(r *big.Rat) string {
	x, _ := r.Float64()
	return fmt.Sprintf("%.17g", x)
}

// expBits is the number of binary places of the bounds on e^(eps/2).
const expBits = 256

// expHalf returns integers with down <= 2^expBits e^(eps/2) <= up, down >= 2^expBits. Each Taylor term
// y^n/n! is rounded down in one sum and up in the other; all terms are positive. Once n+2 >= 2y the
// rest of the series is at most twice its first term.
func expHalf(eps float64) (down, up *big.Int) {
	y := new(big.Rat).SetFloat64(eps)
	y.Quo(y, big.NewRat(2, 1))
	one := new(big.Int).Lsh(big.NewInt(1), expBits)
	down, up = new(big.Int).Set(one), new(big.Int).Set(one)
	termDown, termUp := new(big.Int).Set(one), new(big.Int).Set(one)
	den := new(big.Int)
	for n := int64(1); ; n++ {
		den.Mul(y.Denom(), big.NewInt(n))
		termDown.Mul(termDown, y.Num()).Quo(termDown, den)
		termUp.Mul(termUp, y.Num())
		ceilQuo(termUp, termUp, den)
		down.Add(down, termDown)
		up.Add(up, termUp)
		if float64(n) >= eps && termUp.Cmp(big.NewInt(1)) <= 0 {
			// The terms left out are at most termUp/2 + termUp/4 + ... <= 1.
			return down, up.Add(up, big.NewInt(1))
		}
	}
}

// ceilQuo sets z to the quotient of x >= 0 and y > 0 rounded up.
func ceilQuo(z, x, y *big.Int) {
	rem := new(big.Int)
	z.QuoRem(x, y, rem)
	if rem.Sign() > 0 {
		z.Add(z, big.NewInt(1))
	}
}

// grid writes floats as integers in units of 2^exp.
type grid struct{ exp int }

// gridFinder finds the coarsest grid that holds all the numbers it is shown.
type gridFinder struct {
	exp  int
	some bool
}

func (g *gridFinder) see(list []float64) {
	for _, x := range list {
		if x == 0 {
			continue
		}
		mant, exp := math.Frexp(x)
		// mant * 2^53 is an integer; its trailing zeros are not needed.
		zeros := bits.TrailingZeros64(uint64(math.Abs(mant) * 0x1p53))
		if exp = exp - 53 + zeros; !g.some || exp < g.exp {
			g.exp, g.some = exp, true
		}
	}
}

func (g *gridFinder) seeMatrix(c cost.Matrix) {
	k, kv := c.Dims()
	buf := make([]float64, kv)
	for i := range k {
		g.see(c.Row(i, buf))
	}
}

func (g gridFinder) grid() grid { return grid{g.exp} }

// set sets z to x in units of the grid, exactly.
func (g grid) set(z *big.Int, x float64) *big.Int {
	mant, exp := math.Frexp(x)
	z.SetInt64(int64(mant * 0x1p53))
	shift := exp - 53 - g.exp
	if shift < 0 {
		return z.Rsh(z, uint(-shift)) // only zeros go
	}
	return z.Lsh(z, uint(shift))
}

// scaled returns n*2^exp.
func scaled(n *big.Int, exp int) *big.Rat {
	if exp >= 0 {
		return new(big.Rat).SetInt(new(big.Int).Lsh(n, uint(exp)))
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), uint(-exp)))
}

// upperCheck computes max_i of the greedy fill in the box [M/b, b*M], b = down/2^expBits.
//
// In units of 2^m.exp for masses: T = sum M, S = the mass of the cheapest columns that are full, D = sum C*M over
// those, A = sum C*M over all. With c the cost of the column at which the fill ends,
//
//	phi = (A - D - c*M_end)/b + b*D + c*(1 - (T - S - M_end)/b - b*S)
//	    = (A - D)/b + b*D + c*(1 - (T - S)/b - b*S),
//
// since c*M_end cancels. The fill ends at the first column, in order of cost, with
// b*S' + (T - S')/b >= 1, S' = S + M_end, that is S'*(b^2 - 1) >= b - T.
type upperCheck struct {
	b, square    *big.Int // b in units of 2^-expBits, b^2 in units of 2^(-2 expBits)
	cGrid, mGrid grid
	m            []*big.Int
	one, total   *big.Int // 1 and T, in units of the masses
	point        bool     // the box is the point M/T
	enough       *big.Int // the least S' at which the fill ends
	best         *big.Int // the largest b*phi so far in units of costs * masses * 2^(-2 expBits); T*phi for a point

	// Scratch of row.
	order                []int
	cost                 []*big.Int
	all, dist, mass, tmp *big.Int // A, D, S
}

func newUpperCheck(c cost.Matrix, m []float64, down *big.Int) (*upperCheck, error) {
	_, kv := c.Dims()
	u := &upperCheck{b: down, total: new(big.Int), tmp: new(big.Int), all: new(big.Int), dist: new(big.Int), mass: new(big.Int)}
	var g gridFinder
	g.seeMatrix(c)
	u.cGrid = g.grid()
	g = gridFinder{}
	g.see(m)
	g.see([]float64{1}) // so that 1 is an integer number of units too
	u.mGrid = g.grid()
	for j, x := range m {
		u.m = append(u.m, u.mGrid.set(new(big.Int), x))
		u.total.Add(u.total, u.m[j])
		u.order = append(u.order, j)
	}
	for range kv {
		u.cost = append(u.cost, new(big.Int))
	}
	u.one = u.mGrid.set(new(big.Int), 1)

	// How far T/b is above 1 or b*T below it decides whether there is a box at all.
	b := scaled(down, -expBits)
	t := scaled(u.total, u.mGrid.exp)
	low, high := new(big.Rat).Quo(t, b), new(big.Rat).Mul(t, b)
	one, slack := big.NewRat(1, 1), new(big.Rat).SetFloat64(1e-12)
	if low.Cmp(new(big.Rat).Add(one, slack)) > 0 || high.Cmp(new(big.Rat).Sub(one, slack)) < 0 {
		return nil, fmt.Errorf("%w: sum M = %s, want a mass in [e^(-eps/2), e^(eps/2)]", ErrCertificate, show(t))
	}
	u.square = new(big.Int).Mul(down, down)
	gain := new(big.Int).Sub(u.square, new(big.Int).Lsh(big.NewInt(1), 2*expBits)) // (b^2 - 1) * 2^(2 expBits)
	if u.point = low.Cmp(one) >= 0 || high.Cmp(one) <= 0 || gain.Sign() == 0; !u.point {
		need := new(big.Int).Mul(down, u.one) // (b - T) * 2^expBits
		need.Sub(need, new(big.Int).Lsh(u.total, expBits))
		need.Lsh(need, expBits)
		u.enough = new(big.Int)
		ceilQuo(u.enough, need, gain)
	}
	return u, nil
}

// row takes the cost of one input into account.
func (u *upperCheck) row(row []float64) {
	u.all.SetInt64(0)
	for j, c := range row {
		u.cGrid.set(u.cost[j], c)
		if u.m[j].Sign() != 0 {
			u.all.Add(u.all, u.tmp.Mul(u.cost[j], u.m[j]))
		}
	}
	value := new(big.Int)
	if u.point {
		value.Set(u.all) // T*phi
	} else {
		slices.SortFunc(u.order, func(a, b int) int {
			switch {
			case row[a] < row[b]:
				return -1
			case row[a] > row[b]:
				return 1
			}
			return a - b
		})
		u.dist.SetInt64(0)
		u.mass.SetInt64(0)
		var end *big.Int
		for _, j := range u.order {
			if u.tmp.Add(u.mass, u.m[j]); u.tmp.Cmp(u.enough) >= 0 {
				end = u.cost[j]
				break
			}
			u.mass.Set(u.tmp)
			u.dist.Add(u.dist, u.tmp.Mul(u.cost[j], u.m[j]))
		}
		// b*phi = (A - D) + b^2 D + c (b - (T - S) - b^2 S), all times 2^(2 expBits).
		value.Sub(u.all, u.dist)
		value.Lsh(value, 2*expBits)
		value.Add(value, u.tmp.Mul(u.square, u.dist))
		rest := new(big.Int).Lsh(u.tmp.Mul(u.b, u.one), expBits)
		rest.Sub(rest, u.tmp.Lsh(u.tmp.Sub(u.total, u.mass), 2*expBits))
		rest.Sub(rest, u.tmp.Mul(u.square, u.mass))
		value.Add(value, rest.Mul(rest, end))
	}
	if u.best == nil || value.Cmp(u.best) > 0 {
		u.best = value
	}
}

func (u *upperCheck) result() *big.Rat {
	if u.point {
		value := scaled(u.best, u.cGrid.exp)
		return value.Quo(value, new(big.Rat).SetInt(u.total))
	}
	value := scaled(u.best, u.cGrid.exp+u.mGrid.exp-2*expBits)
	return value.Quo(value, scaled(u.b, -expBits))
}

// lowerCheck accumulates sum_i w_i (C_ij - eta_i)_+ and sum_i w_i (eta_i - C_ij)_+ for every column.
type lowerCheck struct {
	square       *big.Int // E = (up/2^expBits)^2 in units of 2^(-2 expBits)
	cGrid, wGrid grid     // costs and thresholds; weights
	weights      []float64
	thresholds   []float64
	above, below []*big.Int
	sum, total   *big.Int // sum w*eta, sum w
	w, eta, x    *big.Int
}

func newLowerCheck(c cost.Matrix, weights, thresholds []float64, up *big.Int) (*lowerCheck, error) {
	_, kv := c.Dims()
	l := &lowerCheck{
		square: new(big.Int).Mul(up, up), weights: weights, thresholds: thresholds,
		sum: new(big.Int), total: new(big.Int), w: new(big.Int), eta: new(big.Int), x: new(big.Int),
	}
	var g gridFinder
	g.see(weights)
	if !g.some {
		return nil, fmt.Errorf("%w: all weights are zero", ErrCertificate)
	}
	l.wGrid = g.grid()
	g = gridFinder{}
	g.seeMatrix(c)
	for i, w := range weights {
		if w > 0 {
			g.see(thresholds[i : i+1])
		}
	}
	l.cGrid = g.grid()
	for range kv {
		l.above = append(l.above, new(big.Int))
		l.below = append(l.below, new(big.Int))
	}
	return l, nil
}

func (l *lowerCheck) row(i int, row []float64) {
	if l.weights[i] == 0 {
		return
	}
	l.wGrid.set(l.w, l.weights[i])
	l.cGrid.set(l.eta, l.thresholds[i])
	l.total.Add(l.total, l.w)
	l.sum.Add(l.sum, l.x.Mul(l.w, l.eta))
	for j, c := range row {
		l.cGrid.set(l.x, c)
		l.x.Sub(l.x, l.eta)
		into := l.above[j]
		if l.x.Sign() < 0 {
			into = l.below[j]
		}
		into.Add(into, l.x.Mul(l.x, l.w)) // below collects negative numbers
	}
}

func (l *lowerCheck) result() *big.Rat {
	least := new(big.Int)
	for j := range l.above {
		b := new(big.Int).Lsh(l.above[j], 2*expBits)
		b.Add(b, l.x.Mul(l.square, l.below[j]))
		if j == 0 || b.Cmp(least) < 0 {
			least.Set(b)
		}
	}
	unit := l.cGrid.exp + l.wGrid.exp
	b := scaled(least, unit-2*expBits)
	if b.Sign() > 0 {
		b.Quo(b, scaled(l.square, -2*expBits))
	}
	b.Add(b, scaled(l.sum, unit))
	return b.Quo(b, scaled(l.total, l.wGrid.exp))
}
