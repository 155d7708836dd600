// Package problem makes problems of floats, feasible and broken: a cost, a box and a distribution.
package problem

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// A Problem is a cost C with a box of its columns and, for some kinds, masses Mu of its rows. Flags say what is
// special.
type Problem struct {
	C      [][]float64
	Mu     []float64
	Lo, Hi []float64
	Flags  []string
}

// Random returns a feasible problem of 1 to most rows and columns, whose numbers lean to edges.
func Random(r *values.RNG, most int) Problem {
	k, kv := r.Between(1, most), r.Between(1, most)
	coarse := r.Chance(65)
	p := Problem{}
	scale := values.Pick(r, 1, 1, 1, 0x1p-30, 1e12, 3)
	for range k {
		row := make([]float64, kv)
		for j := range row {
			row[j] = values.Grain(r, coarse) * scale
		}
		p.C = append(p.C, row)
	}
	switch r.Intn(6) {
	case 0: // a metric: a ring
		for i := range k {
			for j := range kv {
				d := math.Abs(float64(i%kv - j))
				p.C[i][j] = math.Pow(min(d, float64(kv)-d), 2)
			}
		}
	case 1: // one size of cost for all
		for i := range p.C {
			for j := range p.C[i] {
				p.C[i][j] = values.Pick(r, 0, 1.0)
			}
		}
	}
	p.Flags = CostFlags(p.C)
	for range k {
		p.Mu = append(p.Mu, values.Pick(r, values.Grain(r, coarse), values.Grain(r, coarse), float64(r.Intn(100)), 0))
	}
	if !slices.ContainsFunc(p.Mu, func(v float64) bool { return v > 0 }) {
		p.Mu[0] = 1
	}
	if slices.Contains(p.Mu, 0) {
		p.Flags = append(p.Flags, "zero-mass")
	}
	p.Lo, p.Hi = make([]float64, kv), make([]float64, kv)
	for {
		for j := range kv {
			p.Lo[j] = values.Grain(r, coarse) / float64(kv) * values.Pick(r, 0, 0.5, 1)
			p.Hi[j] = p.Lo[j] + values.Grain(r, coarse)*values.Pick(r, 0, 1.0, 2)/float64(kv)*1.5
		}
		switch r.Intn(8) {
		case 0: // the same factor for all
			for j := range kv {
				p.Hi[j] = 8 * p.Lo[j]
			}
		case 1:
			p.Hi[r.Intn(kv)] = values.Pick(r, 1, 1e300, 2)
		case 2:
			j := r.Intn(kv)
			p.Lo[j], p.Hi[j] = 0, 0
		case 3:
			p.Lo[r.Intn(kv)] = values.Pick(r, 0x1p-1074, 0x1p-1040, 0)
		}
		for j := range kv {
			p.Hi[j] = max(p.Hi[j], p.Lo[j])
		}
		if reason, _, _ := Bounds(p.Lo, p.Hi); reason == "" {
			break
		}
	}
	p.Flags = append(p.Flags, BoundFlags(p.Lo, p.Hi)...)
	return p
}

// CostFlags returns the flags of a cost.
func CostFlags(c [][]float64) (flags []string) {
	k, kv := len(c), len(c[0])
	if k != kv {
		flags = append(flags, "k!=kv")
	}
	if k == 1 {
		flags = append(flags, "one-row")
	}
	if kv == 1 {
		flags = append(flags, "one-column")
	}
	for _, row := range c {
		row = slices.Clone(row)
		slices.Sort(row)
		if len(slices.Compact(row)) < kv {
			return append(flags, "tie")
		}
	}
	return flags
}

// BoundFlags returns the flags of bounds.
func BoundFlags(lo, hi []float64) (flags []string) {
	one := big.NewRat(1, 1)
	sl, sh := exact.Sum(exact.Rats(lo)), exact.Sum(exact.Rats(hi))
	switch {
	case sl.Cmp(one) == 0 || sh.Cmp(one) == 0:
		flags = append(flags, "tight-mass")
	case sl.Cmp(one) > 0 || sh.Cmp(one) < 0:
		flags = append(flags, "rounded-box")
	}
	for _, list := range [][]float64{lo, hi} {
		for _, v := range list {
			switch {
			case v > 0 && v < 0x1p-1022:
				return append(flags, "denormal")
			case v > 1e100:
				return append(flags, "huge")
			}
		}
	}
	return flags
}

// Bounds returns what the bounds of a box mean, as rationals, or the reason why they mean nothing.
func Bounds(lo, hi []float64) (reason string, l, h []*big.Rat) {
	if len(lo) != len(hi) || len(lo) == 0 {
		return "shape", nil, nil
	}
	for j := range lo {
		for _, v := range []float64{lo[j], hi[j]} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return "finite", nil, nil
			}
		}
	}
	for j := range lo {
		if lo[j] < 0 || hi[j] < 0 {
			return "negative", nil, nil
		}
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return "bounds", nil, nil
		}
	}
	l, h, err := exact.Box(lo, hi)
	if err != nil {
		return "infeasible", nil, nil
	}
	return "", l, h
}

// Tight makes the sum of one side of the bounds 1, exactly or up to rounding.
func (p *Problem) Tight(r *values.RNG) {
	side := p.Lo
	if r.Chance(50) {
		side = p.Hi
	}
	n := len(side)
	switch r.Intn(3) {
	case 0: // in quarters of 2^-4
		rest := 64
		for j := range side {
			units := r.Intn(rest + 1)
			if j == n-1 {
				units = rest
			}
			rest -= units
			side[j] = float64(units) / 64
		}
	case 1: // off by rounding
		for j := range side {
			side[j] = 1 / float64(n)
		}
		side[0] += values.Pick(r, 1e-13, -1e-13, 5e-13, -5e-13, 0x1p-52, -0x1p-52)
		side[0] = max(side[0], 0)
	case 2:
		for j := range side {
			side[j] = 1 / float64(n)
		}
	}
	for j := range side {
		p.Lo[j], p.Hi[j] = min(p.Lo[j], side[j]), max(p.Hi[j], side[j])
	}
}

// Broken returns p with a fault, the reason to refuse it, and the flags of the fault.
func Broken(r *values.RNG, p Problem) (Problem, string, []string) {
	j, i := r.Intn(len(p.Lo)), r.Intn(len(p.C))
	bad, flag := values.Bad(r)
	switch r.Intn(9) {
	case 0:
		p.Lo[j] = bad
	case 1:
		p.Hi[j] = bad
	case 2:
		p.C[i][r.Intn(len(p.Lo))] = bad
	case 3:
		p.Lo, flag = append(p.Lo, 0), "long"
	case 4:
		p.Hi, flag = p.Hi[:len(p.Hi)-1], "short"
	case 5: // too much, by a little more than rounding
		flag = "sums-out"
		share := (1 + values.Pick(r, 4e-12, 1e-9, 0.5, 1e300)) / float64(len(p.Lo))
		for j := range p.Lo {
			p.Lo[j], p.Hi[j] = share, 2*share
		}
	case 6: // too little
		flag = "sums-out"
		share := (1 - values.Pick(r, 4e-12, 1e-9, 0.5, 1)) / float64(len(p.Lo))
		for j := range p.Lo {
			p.Lo[j], p.Hi[j] = share/2, share
		}
	case 7:
		flag = "wrong-order"
		p.Lo[j], p.Hi[j] = p.Hi[j]+values.Pick(r, 0x1p-60, 0.25, 0x1p-1074), p.Lo[j]
		if p.Lo[j] <= p.Hi[j] {
			p.Lo[j] = p.Hi[j] + 0.5
		}
	case 8:
		if p.Mu == nil {
			p.Hi[j] = math.NaN()
			return p, "finite", []string{"nan"}
		}
		switch r.Intn(4) {
		case 0:
			p.Mu[i] = bad
		case 1:
			for i := range p.Mu {
				p.Mu[i] = 0
			}
			return p, "mass", []string{"zero-mass"}
		case 2:
			p.Mu, flag = append(p.Mu, 1), "long"
		case 3:
			p.Mu, flag = p.Mu[:len(p.Mu)-1], "short"
		}
	}
	return p, faultOf(p), []string{flag}
}

// faultOf returns why a problem with one fault is refused.
func faultOf(p Problem) string {
	reason, _, _ := Bounds(p.Lo, p.Hi)
	if len(p.Lo) != len(p.C[0]) || p.Mu != nil && len(p.Mu) != len(p.C) {
		reason = "shape"
	}
	if reason == "" || reason == "infeasible" || reason == "bounds" {
		for _, list := range append(slices.Clone(p.C), p.Mu) {
			for _, v := range list {
				switch {
				case math.IsNaN(v) || math.IsInf(v, 0):
					return "finite"
				case v < 0:
					return "negative"
				}
			}
		}
	}
	return reason
}
