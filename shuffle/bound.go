package shuffle

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// Every number here is >= 0 and a bound, and says on which side: up and down widen by more than an operation rounds.
// u = 2^-53: (1-u)^2 (1+4u) > 1 and (1+u)^2 (1-4u) < 1. What is near the end of the range of floats gets an absolute
// margin, too.
const (
	wider  = 1 + 0x1p-51
	closer = 1 - 0x1p-51
	tiny   = 0x1p-1000
)

func up(x float64) float64 { return x*wider + tiny }

func down(x float64) float64 {
	if !(x > tiny) {
		return 0
	}
	return x * closer
}

// interval holds a number.
type interval struct{ down, up float64 }

func enclose(p, q *big.Int) interval {
	r := new(big.Rat).SetFrac(p, q)
	return interval{num.Down(r), num.Up(r)}
}

// times returns x a/b.
func (x interval) times(a, b interval) interval {
	return interval{down(down(x.down*a.down) / b.up), up(up(x.up*a.up) / b.down)}
}

func exactly(n int) interval { return interval{float64(n), float64(n)} }

// constants are those of the theorem, from rationals e >= e^eps and c <= e^eps': delta grows with either.
type constants struct {
	over    bool     // f > 1: there is no such box
	none    bool     // c >= e: delta is 0
	blanket odds     // of a draw from the blanket
	share   odds     // 2 min(f, 1-f): of a draw of X that is not the constant one
	u, v    float64  // at most: a0 = u M + v t
	d       float64  // at least: gamma D
	most    float64  // at least: gamma (e - c), the mean of X at its largest
	first   interval // a0 < t where t > first M
}

// odds are of a probability p: p/(1-p), and p and its complement.
type odds struct{ p, ratio interval }

// expPlaces are the binary places of e and c.
const expPlaces = 96

func newConstants(p Problem, central float64) (k constants) {
	unit := new(big.Int).Lsh(big.NewInt(1), expPlaces)
	_, e := num.ExpFixed(num.Rat(p.Epsilon), expPlaces)
	c, _ := num.ExpFixed(num.Rat(central), expPlaces)
	minus := func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
	times := func(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
	g, whole := p.Blanket.Num(), p.Blanket.Denom()
	e1, c1 := minus(e, unit), minus(c, unit)
	top, bottom := times(minus(whole, g), unit), times(g, e1) // f
	k.over, k.none = top.Cmp(bottom) > 0, c.Cmp(e) >= 0
	if k.over || k.none {
		return k
	}
	k.blanket = newOdds(g, whole)
	d := times(e1, new(big.Int).Add(unit, c)) // over unit^2, as u and v
	var u, v *big.Int
	if twice := new(big.Int).Lsh(top, 1); twice.Cmp(bottom) <= 0 {
		k.share = newOdds(twice, bottom)
		u, v = times(c1, unit), times(c, e1)
	} else {
		rest := minus(bottom, top)
		k.share = newOdds(rest.Lsh(rest, 1), bottom)
		u, v = times(c1, e), times(e1, unit)
	}
	k.u, k.v, k.first = enclose(u, d).down, enclose(v, d).down, enclose(u, minus(d, v))
	k.d = enclose(times(g, d), times(whole, times(unit, unit))).up
	k.most = enclose(times(g, minus(e, c)), times(whole, unit)).up
	return k
}

func newOdds(p, whole *big.Int) odds {
	o := odds{p: enclose(p, whole), ratio: interval{math.Inf(1), math.Inf(1)}}
	if p.Cmp(whole) < 0 {
		o.ratio = enclose(p, new(big.Int).Sub(whole, p))
	}
	return o
}

// bound returns an upper bound on the delta at central.
func bound(p Problem, central float64, edges []int) float64 {
	k := newConstants(p, central)
	if k.none {
		return 0
	}
	masses, below := buckets(p, k, edges)
	sum := below // no delta is above 1
	for i, mass := range masses {
		if mass > 0 {
			sum = up(sum + up(mass*k.inner(edges[i]+1)))
		}
	}
	return sum
}

// buckets returns upper bounds on the probabilities that m is in each bucket, and below the first.
func buckets(p Problem, k constants, edges []int) (masses []float64, below float64) {
	masses = make([]float64, len(edges))
	w := newWalk(p.Clients-1, k.blanket)
	into, at := &below, 0
	*into = w.before()
	for ; ; w.next() {
		for at < len(edges) && edges[at] <= w.k {
			into = &masses[at]
			at++
		}
		*into = up(*into + w.weight.up)
		if w.done() {
			break
		}
	}
	// The rest is in the bucket of the last k, or in later ones, of smaller values.
	*into = up(*into + w.after())
	for i := range masses {
		masses[i] = up(masses[i] / w.sum)
	}
	return masses, up(below / w.sum)
}

// inner returns an upper bound on gamma/M E(sum of M draws of X)_+.
func (k constants) inner(m int) float64 {
	w := newWalk(m, k.share)
	left := w.before() // counts as if every X were the largest
	um := down(k.u * float64(m))
	first := down(k.first.down * float64(m))
	sum := 0.0
	var x *halves
	for ; ; w.next() {
		if t := float64(w.k); t > first {
			// The largest a that is sure to be at most floor(a0) + 1: no draw above a0 is left out.
			a0 := down(um + down(k.v*t))
			a := min(w.k, int(a0)+1)
			switch {
			case x != nil:
				x.grow()
			case rare(w.k, a):
				left = up(left + w.weight.up*1e-200)
			default:
				x = newHalves(w.k, a)
			}
			if x != nil {
				for x.a < a {
					x.raise()
				}
				// (X - a0)_+ <= (X - a)_+ + (a - a0)_+ where X >= a, and it is 0 elsewhere.
				sum = up(sum + up(w.weight.up*up(x.v+up(up(max(0, float64(x.a)-a0))*x.s.up))))
			}
		}
		if w.done() {
			break
		}
	}
	left = up(left + w.after())
	return up(up(up(up(sum*k.d)/float64(m))+up(left*k.most)) / w.sum)
}

// rare reports whether P(X >= a) < 10^-250 for X ~ Bin(t, 1/2) and t/2 < a <= t, by Chernoff's bound
// e^-D, D = a log(2a/t) + (t-a) log(2(t-a)/t): 600 is 10^-260, with room for rounding. Tails grow fast
// with t where they are so small, so that halves would lose all digits there; so small, they count as 10^-200.
func rare(t, a int) bool {
	part := func(k int) float64 {
		if k == 0 {
			return 0
		}
		return float64(k) * math.Log(2*float64(k)/float64(t))
	}
	return part(a)+part(t-a) > 600
}

// A walk goes through the outcomes k of Bin(n, p) upwards, from well below the mode until what is left weighs next to
// nothing. Weights are relative to the first: floats decide where that is, and bounds hold for any.
type walk struct {
	n, k, mode int
	ratio      interval // p/(1-p)
	weight     interval // of k
	sum        float64  // at most: of the weights so far
}

// cut ends a walk, where the weight of an outcome is so small a share of all so far. It begins where it is as small a
// share of the mode's. So some 10^-30 is left on either side, which counts as known.
const cut = 0x1p-100

func newWalk(n int, o odds) *walk {
	w := &walk{n: n, mode: min(n, int(float64(n+1)*o.p.up)), ratio: o.ratio, weight: interval{1, 1}, sum: closer}
	if math.IsInf(o.ratio.down, 1) {
		w.k = n // with certainty
		return w
	}
	w.k = w.mode
	for weight := 1.0; w.k > 0 && weight > cut; w.k-- {
		weight *= float64(w.k) / (float64(n-w.k+1) * o.ratio.up)
	}
	return w
}

func (w *walk) next() {
	w.weight = w.over(w.k)
	w.k++
	w.sum = down(w.sum + w.weight.down)
}

// over returns the weight of k times the ratio of the outcomes i+1 and i.
func (w *walk) over(i int) interval {
	return w.weight.times(w.ratio, interval{1, 1}).times(exactly(w.n-i), exactly(i+1))
}

// done reports whether the rest weighs next to nothing.
func (w *walk) done() bool { return w.k == w.n || w.k > w.mode && w.weight.up < cut*w.sum }

// before bounds the weight of what comes before the first k: a geometric series, as the ratios grow with k.
func (w *walk) before() float64 {
	if w.k == 0 || math.IsInf(w.ratio.down, 1) {
		return 0
	}
	ratio := up(up(float64(w.k)/float64(w.n-w.k+1)) / w.ratio.down)
	return series(w.weight.up, ratio)
}

// after bounds the weight of what comes after k, in the same way.
func (w *walk) after() float64 {
	if w.k == w.n {
		return 0
	}
	return series(w.weight.up, up(up(w.ratio.up*float64(w.n-w.k))/float64(w.k+1)))
}

// series returns at least first (ratio + ratio^2 + ...), +Inf if that does not converge.
func series(first, ratio float64) float64 {
	if !(ratio < 1) {
		return math.Inf(1)
	}
	return up(up(first*ratio) / down(1-ratio))
}

// halves are tails of X ~ Bin(t, 1/2) at a <= t.
type halves struct {
	t, a int
	p, s interval // P(X = a), P(X >= a)
	v    float64  // at least: E(X - a)_+
}

func newHalves(t, a int) *halves {
	h := &halves{t: t, a: a}
	w := newWalk(t, odds{interval{0.5, 0.5}, interval{1, 1}})
	all := w.before() // at least: of all weights
	for ; ; w.next() {
		all = up(all + w.weight.up)
		if w.k == a {
			h.p = w.weight
		}
		if w.k >= a {
			h.s = interval{down(h.s.down + w.weight.down), up(h.s.up + w.weight.up)}
			h.v = up(h.v + up(w.weight.up*float64(w.k-a)))
		}
		// Before a, until all that is left is nothing; beyond it, until it is next to nothing of S.
		if w.k == t || w.k > w.mode && w.weight.up < 0x1p-900*w.sum || w.k > max(a, w.mode) && w.weight.up < cut*h.s.down {
			break
		}
	}
	rest := w.after()
	all, h.s.up = up(all+rest), up(h.s.up+rest)
	if w.k < a {
		h.p.up = w.weight.up // and S is at most the rest
	}
	if w.k < t {
		// The rest of V: the sum over j >= 1 of (k - a + j) w ratio^j, and of j ratio^j it is ratio/(1-ratio)^2.
		h.v = up(h.v + up(rest*float64(max(0, w.k-a))))
		h.v = up(h.v + up(rest/down(1-up(float64(t-w.k)/float64(w.k+1)))))
	}
	scale := func(x interval) interval { return interval{down(x.down / all), up(x.up / w.sum)} }
	h.p, h.s, h.v = scale(h.p), scale(h.s), up(h.v/w.sum)
	return h
}

// grow goes from t to t + 1.
func (h *halves) grow() {
	before := h.p.times(exactly(h.a), exactly(h.t-h.a+1)) // P(X = a-1)
	h.v = up(h.v + h.s.up/2)
	h.s = interval{down(h.s.down + before.down/2), up(h.s.up + before.up/2)}
	h.p = interval{down(h.p.down+before.down) / 2, up(h.p.up+before.up) / 2}
	h.t++
}

// raise goes from a to a + 1.
func (h *halves) raise() {
	h.s = interval{down(h.s.down - h.p.up), up(max(0, h.s.up-h.p.down))}
	h.v = up(max(0, h.v-h.s.down)) // E(X - a - 1)_+ = E(X - a)_+ - P(X >= a+1)
	h.p = h.p.times(exactly(h.t-h.a), exactly(h.a+1))
	h.a++
}
