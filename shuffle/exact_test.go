package shuffle

import (
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// places are the binary places of probabilities.
const places = 192

// wholeConstants are the rationals of the problem: e, c and what follows from them over unit, those of the sum over unit^2.
type wholeConstants struct {
	unit       *big.Int // 2^expPlaces
	e, c       *big.Int // e >= e^eps and c <= e^eps', over unit
	over       bool     // f > 1: there is no such box
	share      fraction // 2 min(f, 1-f): of draws that are not the constant one
	blanket    fraction // gamma
	d, u, v    *big.Int // the sum of X is D (a - a0), a0 = (u M + v t) / D
	difference *big.Int // D - v
}

// fraction is a probability p/(p + q).
type fraction struct{ p, q *big.Int }

func newFraction(p, whole *big.Int) fraction {
	g := new(big.Int).GCD(nil, nil, p, whole)
	if g.Sign() == 0 {
		g.SetInt64(1)
	}
	a, b := new(big.Int).Quo(p, g), new(big.Int).Quo(whole, g)
	return fraction{a, b.Sub(b, a)}
}

func newWholeConstants(p Problem, central float64) wholeConstants {
	k := wholeConstants{unit: new(big.Int).Lsh(big.NewInt(1), expPlaces)}
	_, k.e = num.ExpFixed(num.Rat(p.Epsilon), expPlaces)
	k.c, _ = num.ExpFixed(num.Rat(central), expPlaces)
	g, whole := p.Blanket.Num(), p.Blanket.Denom()
	k.blanket = newFraction(g, whole)
	e1 := new(big.Int).Sub(k.e, k.unit) // e - 1
	c1 := new(big.Int).Sub(k.c, k.unit) // c - 1
	// f = top/bottom
	top := new(big.Int).Sub(whole, g)
	top.Mul(top, k.unit)
	bottom := new(big.Int).Mul(g, e1)
	k.over = top.Cmp(bottom) > 0
	twice := new(big.Int).Lsh(top, 1)
	k.d = new(big.Int).Add(k.unit, k.c)
	k.d.Mul(k.d, e1)
	switch {
	case top.Sign() == 0: // all rows are the blanket
		k.share = fraction{new(big.Int), big.NewInt(1)}
		k.u, k.v = new(big.Int).Mul(c1, k.unit), new(big.Int).Mul(k.c, e1)
	case twice.Cmp(bottom) <= 0:
		k.share = newFraction(twice, bottom)
		k.u, k.v = new(big.Int).Mul(c1, k.unit), new(big.Int).Mul(k.c, e1)
	default:
		rest := new(big.Int).Sub(bottom, top)
		k.share = newFraction(rest.Lsh(rest, 1), bottom)
		k.u, k.v = new(big.Int).Mul(c1, k.e), new(big.Int).Mul(e1, k.unit)
	}
	k.difference = new(big.Int).Sub(k.d, k.v)
	return k
}

// wholeBound returns the upper wholeBound on delta.
func wholeBound(p Problem, g Guarantee) *big.Rat {
	k := newWholeConstants(p, g.Epsilon)
	if k.c.Cmp(k.e) >= 0 {
		return new(big.Rat)
	}
	// what an wholeInner sum leaves out counts as if every X were the largest
	most := new(big.Rat).SetFrac(new(big.Int).Sub(k.e, k.c), k.unit)
	most.Mul(most, p.Blanket)
	weights, below, total := wholeBuckets(p, k, g.Edges)
	sum := new(big.Rat).SetInt(below) // no delta is above 1
	for i, m := range g.Edges {
		if weights[i].Sign() > 0 {
			x := wholeInner(k, m+1, most)
			sum.Add(sum, x.Mul(x, new(big.Rat).SetInt(weights[i])))
		}
	}
	return sum.Quo(sum, new(big.Rat).SetInt(total))
}

// wholeBuckets returns upper bounds on the weights of m in each bucket, and of m below the first, and a lower wholeBound on the
// weight of all.
func wholeBuckets(p Problem, k wholeConstants, edges []int) (weights []*big.Int, below, total *big.Int) {
	weights = make([]*big.Int, len(edges))
	for i := range weights {
		weights[i] = new(big.Int)
	}
	below = new(big.Int)
	w := newWholeWalk(p.Clients-1, k.blanket)
	below.Add(below, w.below())
	at := -1
	for ; ; w.next() {
		for at+1 < len(edges) && edges[at+1] <= w.k {
			at++
		}
		if at < 0 {
			below.Add(below, w.up)
		} else {
			weights[at].Add(weights[at], w.up)
		}
		if w.done() {
			break
		}
	}
	// The rest is in the bucket of the last k, or in later ones, which have smaller values.
	if at < 0 {
		below.Add(below, w.above())
	} else {
		weights[at].Add(weights[at], w.above())
	}
	return weights, below, w.sum
}

// wholeInner returns an upper wholeBound on gamma/M E(sum of M draws of X)_+. What is left out counts as most.
func wholeInner(k wholeConstants, m int, most *big.Rat) *big.Rat {
	w := newWholeWalk(m, k.share)
	left := w.below()
	um := new(big.Int).Mul(k.u, big.NewInt(int64(m)))
	first := new(big.Int).Quo(um, k.difference) // the sum can be positive for t > first
	sum, t, x := new(big.Int), new(big.Int), new(big.Int)
	var tail *wholeHalves
	for ; ; w.next() {
		if first.Cmp(t.SetInt64(int64(w.k))) < 0 {
			// the least a with D a > u M + v t
			a0 := x.Mul(k.v, t)
			a0.Add(a0, um)
			a := int(new(big.Int).Quo(a0, k.d).Int64()) + 1
			if tail == nil {
				tail = newWholeHalves(w.k, a)
			} else {
				tail.wider()
			}
			for tail.a < a {
				tail.raise()
			}
			// D V + (D a - a0) S
			gap := new(big.Int).Mul(k.d, big.NewInt(int64(a)))
			gap.Sub(gap, a0).Mul(gap, tail.sUp)
			gap.Add(gap, x.Mul(k.d, tail.vUp))
			sum.Add(sum, gap.Mul(gap, w.up))
		}
		if w.done() {
			break
		}
	}
	left.Add(left, w.above())
	// gamma / M = p / ((p + q) M)
	whole := new(big.Int).Add(k.blanket.p, k.blanket.q)
	whole.Mul(whole, big.NewInt(int64(m))).Mul(whole, k.unit).Mul(whole, k.unit).Lsh(whole, places).Mul(whole, w.sum)
	out := roundUp(new(big.Rat).SetFrac(sum.Mul(sum, k.blanket.p), whole))
	rest := new(big.Rat).SetFrac(left, w.sum)
	return out.Add(out, roundUp(rest.Mul(rest, most)))
}

// roundUp keeps fractions short.
func roundUp(x *big.Rat) *big.Rat {
	n := new(big.Int).Lsh(x.Num(), places)
	n = ceil(n, x.Denom())
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), places))
}

// ceil returns a/b rounded up, for a >= 0 and b > 0.
func ceil(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// A wholeWalk goes through the outcomes k of Bin(n, p/(p+q)) upwards, from well below the mode until what is left weighs
// next to nothing. Weights are relative to the first.
type wholeWalk struct {
	n, k     int
	mode     int
	p, q     *big.Int
	down, up *big.Int // bounds on the weight of k, over 2^places
	sum      *big.Int // of down so far
	a, b, r  *big.Int // scratch
}

// wholeCut is the weight, relative to all, below which a wholeWalk may end: 2^-wholeCut.
const wholeCut = 100

func newWholeWalk(n int, f fraction) *wholeWalk {
	whole := new(big.Int).Add(f.p, f.q)
	mode := new(big.Int).Mul(f.p, big.NewInt(int64(n)+1))
	w := &wholeWalk{n: n, mode: min(n, int(mode.Quo(mode, whole).Int64())), p: f.p, q: f.q,
		down: new(big.Int).Lsh(big.NewInt(1), places), a: new(big.Int), b: new(big.Int), r: new(big.Int)}
	if w.k = w.mode; f.q.Sign() == 0 {
		w.k = n // with certainty
	} else if f.p.Sign() > 0 {
		ratio, _ := new(big.Rat).SetFrac(f.q, f.p).Float64()
		for weight := 1.0; w.k > 0 && weight > 0x1p-100; w.k-- { // any first k will do
			weight *= float64(w.k) / float64(n-w.k+1) * ratio
		}
	}
	w.up, w.sum = new(big.Int).Set(w.down), new(big.Int).Set(w.down)
	return w
}

// ratio sets a/b to the weight of k+1 over that of k.
func (w *wholeWalk) ratio() {
	w.a.Mul(w.p, w.r.SetInt64(int64(w.n-w.k)))
	w.b.Mul(w.q, w.r.SetInt64(int64(w.k)+1))
}

func (w *wholeWalk) next() {
	w.ratio()
	w.down.Mul(w.down, w.a).Quo(w.down, w.b)
	w.up.Mul(w.up, w.a)
	if w.up.QuoRem(w.up, w.b, w.r); w.r.Sign() > 0 {
		w.up.Add(w.up, one)
	}
	w.k++
	w.sum.Add(w.sum, w.down)
}

var one = big.NewInt(1)

// done reports whether the rest weighs next to nothing.
func (w *wholeWalk) done() bool {
	return w.k == w.n || w.k > w.mode && w.up.BitLen()+wholeCut < w.sum.BitLen()
}

// below bounds the weight of what comes before the first k: a geometric series, as the ratios fall with k.
func (w *wholeWalk) below() *big.Int {
	if w.k == 0 {
		return new(big.Int)
	}
	a := new(big.Int).Mul(w.q, big.NewInt(int64(w.k)))
	b := new(big.Int).Mul(w.p, big.NewInt(int64(w.n-w.k)+1))
	return ceil(new(big.Int).Mul(w.up, a), b.Sub(b, a))
}

// above bounds the weight of what comes after k, which is above the mode, in the same way.
func (w *wholeWalk) above() *big.Int {
	if w.k == w.n {
		return new(big.Int)
	}
	w.ratio()
	return ceil(new(big.Int).Mul(w.up, w.a), w.r.Sub(w.b, w.a))
}

// wholeHalves are tails of X ~ Bin(t, 1/2) at a <= t, over 2^places: bounds on p = P(X = a) and S = P(X >= a), and an upper
// wholeBound on V = E(X - a)_+.
type wholeHalves struct {
	t, a                     int
	pDown, pUp               *big.Int
	sDown, sUp               *big.Int
	vUp                      *big.Int
	beforeDown, beforeUp, at *big.Int // scratch
}

func newWholeHalves(t, a int) *wholeHalves {
	h := &wholeHalves{t: t, a: a, beforeDown: new(big.Int), beforeUp: new(big.Int), at: new(big.Int)}
	w := newWholeWalk(t, fraction{one, one})
	least := new(big.Int).Set(w.below())
	all := new(big.Int).Set(least) // upper wholeBound on all weights
	pDown, pUp, sDown, sUp, vUp := new(big.Int), new(big.Int), new(big.Int), new(big.Int), new(big.Int)
	for ; ; w.next() {
		all.Add(all, w.up)
		if w.k == a {
			pDown.Set(w.down)
			pUp.Set(w.up)
		}
		if w.k >= a {
			sDown.Add(sDown, w.down)
			sUp.Add(sUp, w.up)
			vUp.Add(vUp, h.at.Mul(w.up, h.at.SetInt64(int64(w.k-a))))
		}
		// Beyond a, until the rest is next to nothing even against S; before a, until everything is.
		if w.k == t || w.k > w.mode && w.up.BitLen()+places < w.sum.BitLen() ||
			w.k > a && w.k > w.mode && w.up.BitLen()+places/3 < sDown.BitLen() {
			break
		}
	}
	rest := w.above()
	all.Add(all, rest)
	sUp.Add(sUp, rest)
	if w.k < a {
		pUp.Set(w.up)
		// sums from a are at most those from k + 1
	}
	if w.k < t {
		// the rest in vUp: sum over j >= 1 of rho^j (k - a + j), for the ratio rho = a/b, and k - a at least 0
		vUp.Add(vUp, h.at.Mul(rest, h.at.SetInt64(int64(max(0, w.k-a)))))
		w.ratio()
		more := new(big.Int).Mul(rest, w.b)
		vUp.Add(vUp, ceil(more, h.at.Sub(w.b, w.a)))
	}
	scale := func(x, by *big.Int, upward bool) *big.Int {
		y := new(big.Int).Lsh(x, places)
		if upward {
			return ceil(y, by)
		}
		return y.Quo(y, by)
	}
	h.pDown, h.sDown = scale(pDown, all, false), scale(sDown, all, false)
	h.pUp, h.sUp, h.vUp = scale(pUp, w.sum, true), scale(sUp, w.sum, true), scale(vUp, w.sum, true)
	return h
}

// wider goes from t to t + 1.
func (h *wholeHalves) wider() {
	// P(X = a-1) = P(X = a) a / (t - a + 1)
	h.at.SetInt64(int64(h.a))
	h.beforeDown.Mul(h.pDown, h.at)
	h.beforeUp.Mul(h.pUp, h.at)
	h.at.SetInt64(int64(h.t - h.a + 1))
	h.beforeDown.Quo(h.beforeDown, h.at)
	h.beforeUp.Add(h.beforeUp, h.at).Quo(h.beforeUp, h.at) // at least rounded up
	// V(t+1) = V + S/2, S(t+1) = S + P(X = a-1)/2, P(t+1) = (P(X = a) + P(X = a-1))/2
	halve := func(x *big.Int) *big.Int { return x.Rsh(x.Add(x, one), 1) }
	h.vUp.Add(h.vUp, halve(h.at.Set(h.sUp)))
	h.sDown.Add(h.sDown, h.at.Rsh(h.beforeDown, 1))
	h.sUp.Add(h.sUp, halve(h.at.Set(h.beforeUp)))
	h.pDown.Add(h.pDown, h.beforeDown).Rsh(h.pDown, 1)
	halve(h.pUp.Add(h.pUp, h.beforeUp))
	h.t++
}

// raise goes from a to a + 1.
func (h *wholeHalves) raise() {
	h.sUp.Sub(h.sUp, h.pDown)
	if h.sDown.Sub(h.sDown, h.pUp); h.sDown.Sign() < 0 {
		h.sDown.SetInt64(0)
	}
	h.vUp.Sub(h.vUp, h.sDown) // V(a+1) = V - S(a+1)
	h.at.SetInt64(int64(h.t - h.a))
	h.pDown.Mul(h.pDown, h.at)
	h.pUp.Mul(h.pUp, h.at)
	h.a++
	h.at.SetInt64(int64(h.a))
	h.pDown.Quo(h.pDown, h.at)
	h.pUp.Add(h.pUp, h.at).Quo(h.pUp, h.at)
}
