package proptest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
)

// Slow implementations of every interface, made from the oracles. They must pass every law; the planted
// errors of mutants_test.go are changes of them.

// down and up round to floats outward.
func down(r *big.Rat) float64 {
	f := float(r)
	if rat(f).Cmp(r) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

func up(r *big.Rat) float64 {
	f := float(r)
	if rat(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

// refProject solves a projection by the exact flow.
func refProject(p Problem) (Projection, error) {
	mu, err := normalised(p.Mu)
	if err != nil {
		return Projection{}, err
	}
	l, h, err := exactBox(p.Lo, p.Hi)
	if err != nil {
		return Projection{}, err
	}
	v, q, err := flowValue(exactCost(p.C), mu, l, h)
	if err != nil {
		return Projection{}, err
	}
	r := Projection{
		Objective: float(v), Lower: down(v), Upper: up(v),
		Verify: func() (upper, lower *big.Rat, err error) { return v, v, nil },
	}
	r.Q = floats(q) // rounding is monotone: q stays between two floats it is between
	return r, nil
}

func refTransport(c [][]float64, a, b []float64) (float64, error) {
	v, err := Problem{C: c, Mu: a, Lo: b, Hi: b}.Optimum()
	if err != nil {
		return 0, err
	}
	return float(v), nil
}

// refKnapsack evaluates by the greedy fill in rationals.
type refKnapsack struct{ c [][]float64 }

func newRefKnapsack(c [][]float64) (KnapsackOracle, error) { return refKnapsack{c}, nil }

func (k refKnapsack) Phi(i int, lo, hi []float64) (phi, tau float64) {
	l, h, err := exactBox(lo, hi)
	if err != nil {
		return math.NaN(), math.NaN()
	}
	c := ratsOf(k.c[i])
	v, _ := greedy(c, l, h)
	var best, at *big.Rat
	l, h = ratsOf(lo), ratsOf(hi) // as given: at either end of the mass this settles τ
	for _, eta := range c {
		if d := cut(eta, c, l, h); best == nil || d.Cmp(best) > 0 {
			best, at = d, eta
		}
	}
	return float(v), float(at)
}

func (k refKnapsack) Max(lo, hi []float64) (f float64, i int) {
	i = -1
	for n := range k.c {
		if v, _ := k.Phi(n, lo, hi); i < 0 || v > f {
			f, i = v, n
		}
	}
	return f, i
}

func (k refKnapsack) Subgradient(i int, tau, a, b float64, dst []float64) {
	for j, c := range k.c[i] {
		if c > tau {
			dst[j] = a * (c - tau)
		} else {
			dst[j] = -b * (tau - c)
		}
	}
}

func refKPM(mu []float64, eps float64) ([]float64, float64, error) {
	m, err := normalised(mu)
	if err != nil {
		return nil, 0, err
	}
	if eps == 0 {
		return slices.Repeat([]float64{1 / float64(len(mu))}, len(mu)), 1, nil
	}
	q, r := kpmExact(m, eps)
	var f []float64
	for _, v := range q {
		f = append(f, float(v))
	}
	return f, float(r), nil
}

// bound is the lower bound that weights of the inputs and their thresholds give:
//
//	a = sum w_i eta_i, b_j = sum_i w_i [ (C_ij-eta_i)_+ - E (eta_i-C_ij)_+ ], a + min(min_j b_j, min_j b_j / E),
//
// with E rounded to the safe side in either place.
func bound(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
	_, e := ExpBounds(rat(eps), 120)
	a, least := new(big.Rat), (*big.Rat)(nil)
	for i := range c {
		a.Add(a, mul(w[i], eta[i]))
	}
	for j := range c[0] {
		b := new(big.Rat)
		for i := range c {
			d := sub(rat(c[i][j]), eta[i])
			if d.Sign() < 0 {
				d = mul(e, d)
			}
			b.Add(b, mul(w[i], d))
		}
		least = pickMin(least, b)
	}
	return a.Add(a, minRat(least, quo(least, e)))
}

func pickMin(x, y *big.Rat) *big.Rat {
	if x == nil {
		return y
	}
	return minRat(x, y)
}

// cuts returns equal weights and the thresholds of the measure m.
func cuts(c [][]float64, m []float64, eps float64) (w, eta []*big.Rat) {
	k := refKnapsack{c}
	b := BoxOf(m, eps)
	for i := range c {
		_, tau := k.Phi(i, b.Lo, b.Hi)
		w = append(w, big.NewRat(1, int64(len(c))))
		eta = append(eta, rat(tau))
	}
	return w, eta
}

// refBase is the uniform measure of mass 1: not the best one, but with a valid bound.
func refBase(c [][]float64, eps float64) (Base, error) {
	kv := len(c[0])
	return claim(c, eps, slices.Repeat([]float64{1 / float64(kv)}, kv))
}

// claim states F, Upper and Lower of a measure.
func claim(c [][]float64, eps float64, m []float64) (Base, error) {
	l, h, err := realBox(m, eps)
	if err != nil {
		return Base{}, err
	}
	// The box is rounded outward by 2^-120: raise the value by more than that can hide.
	f := worst(exactCost(c), l, h)
	f.Add(f, mul(rat(0x1p-100), rat(maxCost(c))))
	w, eta := cuts(c, m, eps)
	lower := bound(c, eps, w, eta)
	for _, row := range c { // never below the trivial bound
		lower = maxRat(lower, rat(slices.Min(row)))
	}
	return Base{
		M: m, F: float(f), Upper: up(f), Lower: down(lower),
		Verify: func() (upper, lo *big.Rat, err error) { return f, lower, nil },
	}, nil
}

// refTransitive is the uniform measure at the scale that is optimal on a transitive cost:
// the sorted row gives f* = min_n (κ (C_1+..+C_n) + C_1+..+C_k) / (κ n + k), κ = e^eps - 1, at α m = 1/(κ n + k).
func refTransitive(c [][]float64, eps float64) (Base, error) {
	k := len(c)
	kappa := math.Expm1(eps)
	row := slices.Sorted(slices.Values(c[0]))
	all, near, best, at := 0.0, 0.0, math.Inf(1), 0
	for _, v := range row {
		all += v
	}
	for n := 0; n <= k; n++ {
		if n > 0 {
			near += row[n-1]
		}
		if j := (kappa*near + all) / (kappa*float64(n) + float64(k)); j < best {
			best, at = j, n
		}
	}
	x := 1 / (kappa*float64(at) + float64(k))
	b, err := claim(c, eps, slices.Repeat([]float64{x * math.Exp(eps/2)}, k))
	if err != nil {
		return b, err
	}
	// One threshold for all, f* itself, makes all b_j zero. Just below it they are positive, where only b_j/E counts.
	w, eta := cuts(c, b.M, eps)
	for i := range eta {
		eta[i] = rat(best * (1 - 1e-14))
	}
	lower, upper := bound(c, eps, w, eta), rat(b.Upper)
	b.Lower = down(lower)
	b.Verify = func() (u, l *big.Rat, err error) { return upper, lower, nil }
	return b, nil
}

// refBox is the ceil rule with an exact repair, and a rounding that is optimal by being greedy.
type refBox struct {
	bits   int
	lo, hi []uint64
}

func newRefBox(eps *big.Rat, m []float64, bits int) (IntegerBox, error) {
	b, err := makeRefBox(eps, m, bits)
	return b, err
}

func makeRefBox(eps *big.Rat, m []float64, bits int) (*refBox, error) {
	e := newExpo(eps)
	total := uint64(1) << bits
	_, beta := ExpBounds(mul(eps, big.NewRat(1, 2)), 192)
	_, above := ExpBounds(eps, 192)
	b := &refBox{bits: bits}
	units := integer(total)
	for _, v := range m {
		lo := uint64(0)
		if v > 0 {
			h := ceilQuo(mul(units, beta), quo(big.NewRat(1, 1), rat(v)))
			l := ceilQuo(new(big.Rat).SetInt(h), above)
			if !l.IsUint64() || l.Uint64() > total {
				l.SetUint64(total)
			}
			lo = max(1, l.Uint64())
		}
		b.lo = append(b.lo, lo)
		b.hi = append(b.hi, e.floor(lo, total))
	}
	b.fit(e, total)
	return b, nil
}

// fit lowers the largest lower bounds, or raises them, until there is a point; empty columns stay empty.
func (b *refBox) fit(e *expo, total uint64) {
	var used []int
	for j, n := range b.lo {
		if n > 0 {
			used = append(used, j)
		}
	}
	lo, hi := make([]uint64, len(used)), make([]uint64, len(used))
	for n, j := range used {
		lo[n], hi[n] = b.lo[j], b.hi[j]
	}
	over := new(big.Int)
	for _, n := range lo {
		over.Add(over, new(big.Int).SetUint64(n))
	}
	for over.Sub(over, new(big.Int).SetUint64(total)).Sign() > 0 {
		at := 0
		for n := range lo {
			if lo[n] > lo[at] {
				at = n
			}
		}
		step := new(big.Int).SetUint64(lo[at] - 1)
		if over.Cmp(step) < 0 {
			step.Set(over)
		}
		lo[at] -= step.Uint64()
		hi[at] = e.floor(lo[at], total)
		over.SetInt64(0)
		for _, n := range lo {
			over.Add(over, new(big.Int).SetUint64(n))
		}
	}
	e.fit(lo, hi, total)
	for n, j := range used {
		b.lo[j], b.hi[j] = lo[n], hi[n]
	}
}

func (b *refBox) Len() int        { return len(b.lo) }
func (b *refBox) Bits() int       { return b.bits }
func (b *refBox) Lo(j int) uint64 { return b.lo[j] }
func (b *refBox) Hi(j int) uint64 { return b.hi[j] }

// cutTo returns 2^B q as rationals, cut to the box; NaN and missing entries are lo.
func (b *refBox) cutTo(q []float64) []*big.Rat {
	units := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(b.bits)))
	x := make([]*big.Rat, len(b.lo))
	for j := range x {
		lo := integer(b.lo[j])
		hi := integer(b.hi[j])
		switch {
		case j >= len(q) || math.IsNaN(q[j]) || math.IsInf(q[j], -1):
			x[j] = lo
		case math.IsInf(q[j], 1):
			x[j] = hi
		default:
			x[j] = minRat(maxRat(mul(units, rat(q[j])), lo), hi)
		}
	}
	return x
}

// Round cuts to the box, moves what is missing into the slack in one direction, and rounds the fractions so
// that the sum comes out.
func (b *refBox) Round(q []float64) []uint64 {
	x := b.cutTo(q)
	d := sub(new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(b.bits))), sumRat(x))
	for j := range x {
		side := b.hi[j]
		if d.Sign() < 0 {
			side = b.lo[j]
		}
		room := sub(integer(side), x[j])
		step := d
		if d.Sign() > 0 && room.Cmp(d) < 0 || d.Sign() < 0 && room.Cmp(d) > 0 {
			step = room
		}
		x[j] = add(x[j], step)
		d = sub(d, step)
	}
	n := make([]uint64, len(x))
	frac := make([]*big.Rat, len(x))
	rest := uint64(1) << b.bits
	for j, v := range x {
		f := new(big.Int).Quo(v.Num(), v.Denom())
		n[j] = f.Uint64()
		frac[j] = sub(v, new(big.Rat).SetInt(f))
		rest -= n[j]
	}
	order := indices(len(x))
	slices.SortStableFunc(order, func(a, c int) int { return frac[c].Cmp(frac[a]) })
	for _, j := range order[:rest] {
		n[j]++
	}
	return n
}

// refMechanism projects exactly and rounds.
type refMechanism struct {
	c   [][]float64
	box IntegerBox
}

func newRefMechanism(c [][]float64, eps *big.Rat, m []float64, bits int) (Mechanism, error) {
	b, err := makeRefBox(eps, m, bits)
	return refMechanism{c, b}, err
}

func (r refMechanism) Weights(mu []float64) ([]uint64, error) {
	exact, err := normalised(mu)
	if err != nil {
		return nil, err
	}
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(r.box.Bits())))
	var lo, hi []*big.Rat
	for j := range r.c[0] {
		lo = append(lo, quo(integer(r.box.Lo(j)), total))
		hi = append(hi, quo(integer(r.box.Hi(j)), total))
	}
	_, q, err := flowValue(exactCost(r.c), exact, lo, hi)
	if err != nil {
		return nil, err
	}
	return r.box.Round(floats(q)), nil
}

func refChannel(c [][]float64, eps *big.Rat, m []float64, bits int) (Channel, error) {
	b, err := makeRefBox(eps, m, bits)
	if err != nil {
		return Channel{}, err
	}
	ch := Channel{Bits: bits, Lo: b.lo, Hi: b.hi}
	for i := range c {
		ch.Rows = append(ch.Rows, fill(b.lo, b.hi, 1<<bits, func(j int) float64 { return c[i][j] }))
	}
	return ch, nil
}

func refVerify(eps *big.Rat, lo, hi []uint64, bits int) error {
	return boxHolds(newExpo(eps), lo, hi, bits)
}

func refSampler(weights []uint64, bits int) (func(io.Reader) (int, error), error) {
	return func(r io.Reader) (int, error) {
		b := make([]byte, (bits+7)/8)
		if _, err := io.ReadFull(r, b); err != nil {
			return -1, fmt.Errorf("no random bits: %w", err)
		}
		x := uint64(0)
		for i, v := range b {
			x |= uint64(v) << (8 * i)
		}
		x &= 1<<bits - 1
		for j, n := range weights {
			if x < n {
				return j, nil
			}
			x -= n
		}
		return -1, errors.New("weights do not sum to 2^bits")
	}, nil
}

// refKL is the projection in divergence by bisection, twice: the second time around the first theta, where it has more digits.
func refKL(logS, lo, hi []float64) ([]float64, float64, error) {
	x, theta, width := clone(logS), 0.0, 1000+maxLog(logS)
	var q []float64
	for range 2 {
		at := func(theta float64) (sum float64) {
			q = q[:0]
			for j := range x {
				q = append(q, min(max(math.Exp(theta+x[j]), lo[j]), hi[j]))
				sum += q[j]
			}
			return sum
		}
		a, b := -width, width
		for range 80 {
			if at((a+b)/2) < 1 {
				a = (a + b) / 2
			} else {
				b = (a + b) / 2
			}
		}
		at(b)
		for j := range x {
			x[j] += b
		}
		theta, width = theta+b, 1
	}
	return q, theta, nil
}

// parts are the quantities of one iteration of Algorithm 1, in logarithms: log s, and log of the column sums v s.
func parts(p Problem, reg float64, logV []float64) (logS, logC []float64) {
	rows, kv := make([][]float64, 0, len(p.C)), len(logV)
	for i, row := range p.C {
		if p.Mu[i] == 0 {
			continue
		}
		least := slices.Min(row)
		x := make([]float64, kv)
		for j := range row {
			x[j] = logV[j] - (row[j]-least)/reg
		}
		u := math.Log(p.Mu[i]) - logSum(x)
		for j := range row {
			x[j] = u - (row[j]-least)/reg
		}
		rows = append(rows, x)
	}
	for j := range kv {
		var x []float64
		for _, row := range rows {
			x = append(x, row[j])
		}
		s := logSum(x)
		logS, logC = append(logS, s), append(logC, s+logV[j])
	}
	return logS, logC
}

func logSum(x []float64) float64 {
	top := slices.Max(x)
	if math.IsInf(top, -1) {
		return top
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

func refStep(p Problem, reg float64, logV []float64) (next, q []float64, err error) {
	logS, _ := parts(p, reg, logV)
	q, _, err = refKL(logS, p.Lo, p.Hi)
	return minus(logsOf(q), logS), q, err
}

// iterate runs steps until the residual is small or the patience is at an end, and adds the exact bounds.
func iterate(f CompositeMap, most int) EntropicFunc {
	return func(p Problem, reg float64) (EntropicProjection, error) {
		r := EntropicProjection{LogV: make([]float64, len(p.Lo))}
		for j, v := range p.Hi {
			if v == 0 {
				r.LogV[j] = math.Inf(-1)
			}
		}
		for range most {
			next, q, err := f(p, reg, r.LogV)
			if err != nil {
				return r, err
			}
			r.Q = q
			off := 0.0
			_, logC := parts(p, reg, r.LogV)
			for j := range q {
				off += math.Abs(q[j] - math.Exp(logC[j]))
			}
			if off <= 1e-13 {
				break
			}
			r.LogV = next
		}
		v, err := p.Optimum()
		if err != nil {
			return r, err
		}
		mu, err := normalised(p.Mu)
		if err != nil {
			return r, err
		}
		w, err := transportTo(exactCost(p.C), mu, r.Q)
		if err != nil {
			return r, err
		}
		w = maxRat(v, w) // q is rounded, and may have left the box by that
		r.Lower, r.Upper = down(v), up(w)
		r.Verify = func() (upper, lower *big.Rat, err error) { return w, v, nil }
		_, r.Objective = columnSums(p, reg, r.LogV)
		return r, nil
	}
}

func refEntropic(p Problem, reg float64) (EntropicProjection, error) {
	return iterate(refStep, 20000)(p, reg)
}

// refHilbert works with exact ratios.
type refHilbert struct{}

func (refHilbert) Distance(x, y []float64) (float64, error) {
	var a, b []*big.Rat
	for i := range x {
		switch {
		case x[i] == 0 && y[i] == 0:
		case x[i] == 0 || y[i] == 0:
			return math.Inf(1), nil
		default:
			a, b = append(a, rat(x[i])), append(b, rat(y[i]))
		}
	}
	if len(a) == 0 {
		return 0, nil
	}
	return spreadOf(ratios(a, b)), nil
}

func (refHilbert) Diameter(a [][]float64) (float64, error) { return exactDiameter(a), nil }

func (refHilbert) Contraction(d float64) (tau, oneMinusTau float64) {
	return math.Tanh(d / 4), 2 / (math.Exp(d/2) + 1)
}

// refDescend is the listing of the appendix. step may change the length of a step, from outside nil.
func refDescend(c [][]float64, eps float64, steps int) (Descent, error) {
	return descentWith(nil, nil)(c, eps, steps)
}

func descentWith(change func(eta float64) float64, project GKLProjector) Descender {
	if project == nil {
		project = paperProject
	}
	return func(c [][]float64, eps float64, steps int) (Descent, error) {
		k, kv := len(c), len(c[0])
		alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
		d, r := maxCost(c), rowRange(c)
		m, mean := make([]float64, kv), make([]float64, kv)
		for j := range m {
			m[j] = 1 / (alpha * float64(kv))
		}
		eta := math.Sqrt(2*(1+math.Log(float64(k)))/float64(steps)) / beta // times 1/D
		if change != nil {
			eta = change(eta)
		}
		g := make([]float64, kv)
		unit := refKnapsack{[][]float64{make([]float64, kv)}}
		for range steps {
			for j := range m {
				mean[j] += m[j] / float64(steps)
			}
			at, tau, top := 0, 0.0, math.Inf(-1)
			for i := range c {
				if v, u, _ := fillFloats(c[i], m, eps); v > top {
					at, tau, top = i, u, v
				}
			}
			if d == 0 {
				continue
			}
			for j := range g {
				unit.c[0][j] = c[at][j] / d
			}
			unit.Subgradient(0, tau/d, alpha, beta, g)
			for j := range m {
				m[j] *= math.Exp(-eta * g[j])
			}
			var err error
			if m, err = project(m, eps); err != nil {
				return Descent{}, err
			}
		}
		out := Descent{Average: mean}
		if r > 0 {
			l := max(1, math.Log(float64(kv)))
			x := eta * beta * r / d
			out.Bound = beta / alpha * r * (l/(x*float64(steps)) + x/2)
		}
		l, h, err := realBox(mean, eps)
		if err != nil {
			return out, err
		}
		lower := 0.0
		for _, row := range c {
			lower = max(lower, slices.Min(row))
		}
		out.History = []DescentReport{{steps, float(worst(exactCost(c), l, h)), out.Bound, lower}}
		return out, nil
	}
}
