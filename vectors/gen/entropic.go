package main

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest/exact"
)

type entropicIn struct {
	C   [][]string `json:"c"`
	Mu  []string   `json:"mu"`
	Lo  []string   `json:"lo"`
	Hi  []string   `json:"hi"`
	Reg string     `json:"reg"`
}

type entropicOut struct {
	Q         []string `json:"q"`
	G         []string `json:"g"`
	Transport string   `json:"transport"`
	Objective string   `json:"objective"`
}

// entropic iterates u = mu / K v, s = K' u, q = clip(x s), v = q / s until v stands still to 100 digits, and proves the
// answer by the conditions of optimality. A box whose lower bounds take all the mass has no prices; ok is false then.
func entropic(c [][]float64, mu []*big.Rat, l, h []*big.Rat, reg float64) (out entropicOut, ok bool) {
	k, kv := len(c), len(l)
	kernel := make([][]*big.Float, k)
	for i := range kernel {
		for j := range kv {
			x := exact.Quo(exact.Sub(exact.Rat(c[i][j]), exact.Rat(slices.Min(c[i]))), exact.Rat(reg)) // rows may be shifted
			kernel[i] = append(kernel[i], rexp(realRat(x.Neg(x))))
		}
	}
	lo, hi := make([]*big.Float, kv), make([]*big.Float, kv)
	v := make([]*big.Float, kv)
	for j := range v {
		lo[j], hi[j], v[j] = realRat(l[j]), realRat(h[j]), realInt(1)
	}
	m := make([]*big.Float, k)
	for i := range m {
		m[i] = realRat(mu[i])
	}
	var q, s []*big.Float
	var x *big.Float
	for round, still := 0, false; !still; round++ {
		must(round < 5000, "an iteration that does not end")
		s = make([]*big.Float, kv)
		for j := range s {
			s[j] = realInt(0)
		}
		for i := range k {
			if m[i].Sign() == 0 {
				continue
			}
			sum := realInt(0)
			for j := range kv {
				sum = radd(sum, rmul(kernel[i][j], v[j]))
			}
			u := rdiv(m[i], sum)
			for j := range kv {
				s[j] = radd(s[j], rmul(kernel[i][j], u))
			}
		}
		if q, x = clipTo(s, lo, hi); x.Sign() == 0 {
			return out, false
		}
		still = true
		for j := range v {
			next := rdiv(rdiv(q[j], s[j]), x)
			d := rsub(next, v[j])
			still = still && (d.Sign() == 0 || d.MantExp(nil) < next.MantExp(nil)-340)
			v[j] = next
		}
	}
	return evidence(c, kernel, m, v, q, lo, hi, reg), true
}

// evidence returns the answer for scalings v, and checks the conditions of optimality.
func evidence(c [][]float64, kernel [][]*big.Float, m, v, q, lo, hi []*big.Float, reg float64) (out entropicOut) {
	k, kv := len(c), len(v)
	transport, entropy := realInt(0), realInt(0)
	columns := make([]*big.Float, kv)
	for j := range columns {
		columns[j] = realInt(0)
	}
	for i := range k {
		sum := realInt(0)
		for j := range kv {
			sum = radd(sum, rmul(kernel[i][j], v[j]))
		}
		for j := range kv {
			p := rdiv(rmul(m[i], rmul(kernel[i][j], v[j])), sum)
			columns[j] = radd(columns[j], p)
			transport = radd(transport, rmul(p, realFloat(c[i][j])))
			if p.Sign() > 0 {
				entropy = radd(entropy, rmul(p, rlog(p)))
			}
		}
	}
	for j := range v {
		g := realInt(0)
		if v[j].Sign() > 0 {
			if d := rsub(v[j], realInt(1)); d.Sign() != 0 && d.MantExp(nil) > -330 {
				g = rmul(realFloat(reg), rlog(v[j]))
			}
		}
		off := rsub(columns[j], q[j])
		must(off.Sign() == 0 || off.MantExp(nil) < -300, "column sums that are not q")
		must(g.Sign() <= 0 || q[j].Cmp(lo[j]) == 0, "a price above its bound")
		must(g.Sign() >= 0 || q[j].Cmp(hi[j]) == 0, "a price below its bound")
		out.G = append(out.G, digits(g))
	}
	out.Q, out.Transport = digitList(q), digits(transport)
	out.Objective = digits(radd(transport, rmul(realFloat(reg), entropy)))
	return out
}

func entropicVectors(s *set) {
	r := &s.rng
	s.until(205, 105, func(n int) {
		p := randomProblem(r, 4)
		if n%6 == 0 {
			p.tight(r)
			p.flags = append(costFlags(p.c), boundFlags(p.lo, p.hi)...)
		}
		spread := 0.0
		for _, row := range p.c {
			spread = max(spread, slices.Max(row)-slices.Min(row))
		}
		if spread == 0 {
			spread = 1
		}
		reg := spread * pick(r, 0.5, 1, 1, 2, 0.375, 8)
		reason := ""
		if n%3 == 2 {
			if r.chance(15) {
				reg, reason, p.flags = pick(r, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1)), "reg", []string{}
			} else {
				p, reason, p.flags = broken(r, p)
			}
		}
		in := entropicIn{hexMatrix(p.c), hexFloats(p.mu), hexFloats(p.lo), hexFloats(p.hi), hexFloat(reg)}
		why, l, h := boxOf(p.lo, p.hi)
		if reason == "" {
			reason = why
		}
		if reason != "" {
			s.invalid(reason, in, p.flags...)
			return
		}
		for j := range p.lo { // columns that no solver in float64 can price
			if p.hi[j] < 1e-6 || p.lo[j] > 0 && p.lo[j] < 1e-9 {
				return
			}
		}
		mu, err := exact.Distribution(p.mu)
		must(err == nil, "no distribution")
		if out, ok := entropic(p.c, mu, l, h, reg); ok {
			s.valid(in, out, p.flags...)
		}
	})
}
