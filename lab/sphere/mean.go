package sphere

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/wpm-go/wpm/sphere"
)

// MeanRow is the mean squared error of the unbiased estimate of a unit vector of R^(d+1).
type MeanRow struct {
	Dim     int     `json:"d"`
	Eps     float64 `json:"eps"`
	Optimum float64 `json:"optimum"`
	Grid    Rule    `json:"grid"`
	Search  Rule    `json:"search"`
}

// Rule is what a rule for the parameters makes of (d, eps).
type Rule struct {
	Offset float64 `json:"offset"` // of the cap: <x,y> >= Offset
	Coin   float64 `json:"coin"`   // probability of the cap
	MSE    float64 `json:"mse"`
	Ratio  float64 `json:"ratio"` // MSE over the optimum
	Spent  float64 `json:"spent"` // its true privacy loss, at most eps
}

// capped describes a cap on S^d: its share, and the mean of u over the whole sphere counted on the cap only.
func capped(d int, offset float64) (share, moment float64) {
	a := float64(d) / 2
	share = mathext.RegIncBeta(a, a, (1-offset)/2)
	up, _ := math.Lgamma(a + 0.5)
	down, _ := math.Lgamma(a)
	// C_d (1-t^2)^a / d with C_d = Gamma(a+1/2) / (sqrt(pi) Gamma(a))
	return share, math.Exp(up-down+a*math.Log1p(-offset*offset)) / math.Sqrt(math.Pi) / float64(d)
}

// mean is E<x,y> when the cap has probability coin: the estimate is y over it.
func mean(d int, offset, coin float64) float64 {
	share, moment := capped(d, offset)
	return moment * (coin/share - (1-coin)/(1-share))
}

// condition is the privacy that (16a) and (16b) grant to an offset; n = d+1 coordinates.
func condition(d int, offset float64) float64 {
	n := float64(d + 1)
	if offset >= math.Sqrt(2/n) {
		return math.Log(n)/2 + math.Log(6) - float64(d)/2*math.Log1p(-offset*offset) + math.Log(offset)
	}
	x := offset * math.Sqrt(2*float64(d)/math.Pi)
	if x >= 1 {
		return math.Inf(1)
	}
	return math.Log1p(x) - math.Log1p(-x)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// grid is the rule that tries the shares 0.01 to 0.99 of eps for the offset.
func grid(d int, eps float64) (offset, coin float64) {
	best := math.Inf(-1)
	for b := 1; b < 100; b++ {
		share := float64(b) / 100
		o := largest(d, share*eps)
		c := logistic((1 - share) * eps)
		if m := mean(d, o, c); m > best {
			best, offset, coin = m, o, c
		}
	}
	return offset, coin
}

// largest is the offset that grid takes for a budget: by (16a), or by (16b) if that is satisfied by an offset in its
// range.
func largest(d int, budget float64) float64 {
	n := float64(d + 1)
	a := math.Tanh(budget/2) * math.Sqrt(math.Pi/(2*float64(d)))
	b := min(math.Exp(budget)/(6*math.Sqrt(n)), 1)
	for budget < math.Log(36*n)/2-float64(d)/2*math.Log1p(-b*b)+math.Log(b) {
		b /= 1.01
	}
	if b > math.Sqrt(2/n) {
		return max(a, b)
	}
	return a
}

// search is the rule that minimises the scale 1/mean over the offset, below and above sqrt(2/n).
func search(d int, eps float64) (offset, coin float64) {
	coinOf := func(o float64) (float64, bool) {
		left := eps - condition(d, o)
		return logistic(left), left > 0
	}
	scale := func(o float64) float64 {
		c, ok := coinOf(o)
		if !ok {
			return math.Inf(1)
		}
		return 1 / mean(d, o, c)
	}
	least := func(from, to float64) float64 {
		for range 50 {
			l, r := 0.66*from+0.34*to, 0.34*from+0.66*to
			if scale(l) > scale(r) {
				from = l
			} else {
				to = r
			}
		}
		return (from + to) / 2
	}
	middle := math.Sqrt(2 / float64(d+1))
	offset = least(0, middle)
	if o := least(middle, 1); scale(o) < scale(offset) {
		offset = o
	}
	coin, _ = coinOf(offset)
	return offset, coin
}

func rule(d int, optimum, offset, coin float64) Rule {
	m := mean(d, offset, coin)
	share, _ := capped(d, offset)
	r := Rule{Offset: offset, Coin: coin, MSE: 1/(m*m) - 1}
	r.Ratio = r.MSE / optimum
	r.Spent = math.Log(coin) - math.Log1p(-coin) + math.Log1p(-share) - math.Log(share)
	return r
}

func meanRow(d int, eps float64) (MeanRow, error) {
	m, err := sphere.Solve(d, 2, eps)
	if err != nil {
		return MeanRow{}, err
	}
	row := MeanRow{Dim: d, Eps: eps, Optimum: (1 - m.T) * (1 + m.T) / (m.T * m.T)}
	o, c := grid(d, eps)
	row.Grid = rule(d, row.Optimum, o, c)
	o, c = search(d, eps)
	row.Search = rule(d, row.Optimum, o, c)
	return row, nil
}
