package basemeasure

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Verify recomputes the bounds of a Result in exact rational arithmetic, from M, Weights, Thresholds and the
// objective in Settings alone: upper >= the objective at M, lower <= the objective of every eps-LDP mechanism. It
// returns ErrCertificate if the evidence is malformed, or if Result.Upper or Result.Lower claim more than it proves.
// eps, the costs, Mix and InputWeights count as the rationals that the float64 values are; weights count
// relative to their sum. Errors in the arguments: ErrShape, ErrNotFinite, ErrNegative, ErrEpsilon, ErrSettings.
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
// times a number in [1/E, 1]. An objective t * worst + (1-t) * average with weights v is at least the same mean with
// the weights t w + (1-t) v instead of w.
func Verify(c cost.Matrix, eps float64, r Result) (upper, lower *big.Rat, err error) {
	if err := cost.Validate(c); err != nil {
		return nil, nil, tableError(err)
	}
	if err := checkEps(eps); err != nil {
		return nil, nil, err
	}
	k, kv := c.Dims()
	goal, err := newGoal(k, r.Settings)
	if err != nil {
		return nil, nil, err
	}
	if err := r.wellFormed(k, kv); err != nil {
		return nil, nil, err
	}
	weights, total, err := goal.combine(r.Weights)
	if err != nil {
		return nil, nil, err
	}

	half := new(big.Rat).SetFloat64(eps)
	down, up := num.ExpFixed(half.Quo(half, big.NewRat(2, 1)), expBits)
	u, err := newUpperCheck(c, r.M, down, goal)
	if err != nil {
		return nil, nil, err
	}
	l := newLowerCheck(c, weights, total, r.Thresholds, up)
	buf := make([]float64, kv) // never a row that Row returned: that may be the matrix's own
	for i := range k {
		row := c.Row(i, buf)
		u.row(i, row)
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

// wellFormed checks lengths and ranges of the evidence.
func (r *Result) wellFormed(k, kv int) error {
	if len(r.M) != kv || len(r.Weights) != k || len(r.Thresholds) != k {
		return fmt.Errorf("%w: lengths %d, %d, %d of M, Weights, Thresholds for a %d x %d cost",
			ErrCertificate, len(r.M), len(r.Weights), len(r.Thresholds), k, kv)
	}
	for _, v := range []struct {
		what string
		list []float64
	}{{"M", r.M}, {"Weights", r.Weights}} {
		for at, x := range v.list {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return fmt.Errorf("%w: %s[%d] = %v", ErrCertificate, v.what, at, x)
			}
		}
	}
	for i, x := range r.Thresholds {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return fmt.Errorf("%w: Thresholds[%d] = %v", ErrCertificate, i, x)
		}
	}
	return nil
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

// goal is the objective in exact terms: mix/(mix+rest) times the maximum over the inputs that count, plus
// rest/(mix+rest) times the mean with the weights average/sum of them.
type goal struct {
	mix, rest *big.Int
	counts    []bool
	average   []*big.Int // nil if rest is zero
	sum       *big.Int   // of average
}

func newGoal(k int, s Settings) (*goal, error) {
	if _, err := s.resolve(k, 1, false); err != nil {
		return nil, err
	}
	g := &goal{mix: big.NewInt(1), rest: new(big.Int), counts: make([]bool, k)}
	for i := range g.counts {
		g.counts[i] = !slices.Contains(s.Exclude, i)
	}
	switch s.Objective {
	case Average:
		g.mix, g.rest = g.rest, g.mix
	case Mixed:
		t := new(big.Rat).SetFloat64(s.Mix)
		g.mix.Set(t.Num())
		g.rest.Sub(t.Denom(), t.Num())
	}
	if g.rest.Sign() == 0 {
		return g, nil
	}
	var find gridFinder
	find.see(s.InputWeights)
	g.sum = new(big.Int)
	for i := range k {
		w := big.NewInt(1)
		if s.InputWeights != nil {
			find.grid().set(w, s.InputWeights[i])
		}
		g.average = append(g.average, w)
		g.sum.Add(g.sum, w)
	}
	return g, nil
}

// combine returns the weight of each input in the bound, in units of its total: mix times the adversary's weights
// plus rest times those of the average, each relative to their sum.
func (g *goal) combine(adversary []float64) (weights []*big.Int, total *big.Int, err error) {
	var find gridFinder
	find.see(adversary)
	sum := big.NewInt(1) // any number does where the adversary has no part
	for i, w := range adversary {
		if !g.counts[i] && w != 0 {
			return nil, nil, fmt.Errorf("%w: Weights[%d] = %v for an input that is left out", ErrCertificate, i, w)
		}
	}
	if g.mix.Sign() != 0 {
		if !find.some {
			return nil, nil, fmt.Errorf("%w: all weights are zero", ErrCertificate)
		}
		sum.SetInt64(0)
		for _, w := range adversary {
			sum.Add(sum, find.grid().set(new(big.Int), w))
		}
	}
	// weight = mix * a/sum + rest * v/g.sum, times sum * g.sum.
	total = new(big.Int).Add(g.mix, g.rest)
	total.Mul(total, sum)
	if g.average != nil {
		total.Mul(total, g.sum)
	}
	for i, a := range adversary {
		w := new(big.Int)
		if g.mix.Sign() != 0 {
			find.grid().set(w, a)
			w.Mul(w, g.mix)
		}
		if g.average != nil {
			w.Mul(w, g.sum)
			v := new(big.Int).Mul(g.rest, g.average[i])
			w.Add(w, v.Mul(v, sum))
		}
		weights = append(weights, w)
	}
	return weights, total, nil
}

// upperCheck computes the objective of the greedy fills in the box [M/b, b*M], b = down/2^expBits.
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
	goal         *goal
	best, mean   *big.Int // the largest b*phi so far in units of costs * masses * 2^(-2 expBits), T*phi for a point; their weighted sum

	// Scratch of row.
	order                []int
	cost                 []*big.Int
	all, dist, mass, tmp *big.Int // A, D, S
}

func newUpperCheck(c cost.Matrix, m []float64, down *big.Int, goal *goal) (*upperCheck, error) {
	_, kv := c.Dims()
	u := &upperCheck{goal: goal, best: new(big.Int), mean: new(big.Int), b: down, total: new(big.Int), tmp: new(big.Int), all: new(big.Int), dist: new(big.Int), mass: new(big.Int)}
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

// row takes the cost of input i into account.
func (u *upperCheck) row(i int, row []float64) {
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
	if u.goal.average != nil {
		u.mean.Add(u.mean, u.tmp.Mul(value, u.goal.average[i]))
	}
	if u.goal.counts[i] && value.Cmp(u.best) > 0 {
		u.best = value
	}
}

func (u *upperCheck) result() *big.Rat {
	g := u.goal
	sum := new(big.Int).Mul(g.mix, u.best)
	parts := new(big.Int).Add(g.mix, g.rest)
	if g.average != nil {
		sum.Mul(sum, g.sum)
		sum.Add(sum, u.tmp.Mul(g.rest, u.mean))
		parts.Mul(parts, g.sum)
	}
	exp, unit := u.cGrid.exp, new(big.Rat).SetInt(u.total)
	if !u.point {
		exp, unit = exp+u.mGrid.exp-2*expBits, scaled(u.b, -expBits)
	}
	value := scaled(sum, exp)
	return value.Quo(value, unit.Mul(unit, new(big.Rat).SetInt(parts)))
}

// lowerCheck accumulates sum_i w_i (C_ij - eta_i)_+ and sum_i w_i (eta_i - C_ij)_+ for every column.
type lowerCheck struct {
	square       *big.Int // E = (up/2^expBits)^2 in units of 2^(-2 expBits)
	grid         grid     // costs and thresholds
	weights      []*big.Int
	total        *big.Int // of the weights
	thresholds   []float64
	above, below []*big.Int
	sum          *big.Int // sum w*eta
	eta, x       *big.Int
}

func newLowerCheck(c cost.Matrix, weights []*big.Int, total *big.Int, thresholds []float64, up *big.Int) *lowerCheck {
	_, kv := c.Dims()
	l := &lowerCheck{
		square: new(big.Int).Mul(up, up), weights: weights, total: total, thresholds: thresholds,
		sum: new(big.Int), eta: new(big.Int), x: new(big.Int),
	}
	var g gridFinder
	g.seeMatrix(c)
	for i, w := range weights {
		if w.Sign() > 0 {
			g.see(thresholds[i : i+1])
		}
	}
	l.grid = g.grid()
	for range kv {
		l.above = append(l.above, new(big.Int))
		l.below = append(l.below, new(big.Int))
	}
	return l
}

func (l *lowerCheck) row(i int, row []float64) {
	w := l.weights[i]
	if w.Sign() == 0 {
		return
	}
	l.grid.set(l.eta, l.thresholds[i])
	l.sum.Add(l.sum, l.x.Mul(w, l.eta))
	for j, c := range row {
		l.grid.set(l.x, c)
		l.x.Sub(l.x, l.eta)
		into := l.above[j]
		if l.x.Sign() < 0 {
			into = l.below[j]
		}
		into.Add(into, l.x.Mul(l.x, w)) // below collects negative numbers
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
	b := scaled(least, l.grid.exp-2*expBits)
	if b.Sign() > 0 {
		b.Quo(b, scaled(l.square, -2*expBits))
	}
	b.Add(b, scaled(l.sum, l.grid.exp))
	return b.Quo(b, new(big.Rat).SetInt(l.total))
}
