package mathematics

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/problem"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
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
			kernel[i] = append(kernel[i], reals.Exp(reals.Rat(x.Neg(x))))
		}
	}
	lo, hi := make([]*big.Float, kv), make([]*big.Float, kv)
	v := make([]*big.Float, kv)
	for j := range v {
		lo[j], hi[j], v[j] = reals.Rat(l[j]), reals.Rat(h[j]), reals.Int(1)
	}
	m := make([]*big.Float, k)
	for i := range m {
		m[i] = reals.Rat(mu[i])
	}
	var q, s []*big.Float
	var x *big.Float
	for round, still := 0, false; !still; round++ {
		values.Must(round < 5000, "an iteration that does not end")
		s = make([]*big.Float, kv)
		for j := range s {
			s[j] = reals.Int(0)
		}
		for i := range k {
			if m[i].Sign() == 0 {
				continue
			}
			sum := reals.Int(0)
			for j := range kv {
				sum = reals.Add(sum, reals.Mul(kernel[i][j], v[j]))
			}
			u := reals.Quo(m[i], sum)
			for j := range kv {
				s[j] = reals.Add(s[j], reals.Mul(kernel[i][j], u))
			}
		}
		if q, x = clipTo(s, lo, hi); x.Sign() == 0 {
			return out, false
		}
		still = true
		for j := range v {
			next := reals.Quo(reals.Quo(q[j], s[j]), x)
			d := reals.Sub(next, v[j])
			still = still && (d.Sign() == 0 || d.MantExp(nil) < next.MantExp(nil)-340)
			v[j] = next
		}
	}
	return evidence(c, kernel, m, v, q, lo, hi, reg), true
}

// evidence returns the answer for scalings v, and checks the conditions of optimality.
func evidence(c [][]float64, kernel [][]*big.Float, m, v, q, lo, hi []*big.Float, reg float64) (out entropicOut) {
	k, kv := len(c), len(v)
	transport, entropy := reals.Int(0), reals.Int(0)
	columns := make([]*big.Float, kv)
	for j := range columns {
		columns[j] = reals.Int(0)
	}
	for i := range k {
		sum := reals.Int(0)
		for j := range kv {
			sum = reals.Add(sum, reals.Mul(kernel[i][j], v[j]))
		}
		for j := range kv {
			p := reals.Quo(reals.Mul(m[i], reals.Mul(kernel[i][j], v[j])), sum)
			columns[j] = reals.Add(columns[j], p)
			transport = reals.Add(transport, reals.Mul(p, reals.Float(c[i][j])))
			if p.Sign() > 0 {
				entropy = reals.Add(entropy, reals.Mul(p, reals.Log(p)))
			}
		}
	}
	for j := range v {
		g := reals.Int(0)
		if v[j].Sign() > 0 {
			if d := reals.Sub(v[j], reals.Int(1)); d.Sign() != 0 && d.MantExp(nil) > -330 {
				g = reals.Mul(reals.Float(reg), reals.Log(v[j]))
			}
		}
		off := reals.Sub(columns[j], q[j])
		values.Must(off.Sign() == 0 || off.MantExp(nil) < -300, "column sums that are not q")
		values.Must(g.Sign() <= 0 || q[j].Cmp(lo[j]) == 0, "a price above its bound")
		values.Must(g.Sign() >= 0 || q[j].Cmp(hi[j]) == 0, "a price below its bound")
		out.G = append(out.G, reals.Digits(g))
	}
	out.Q, out.Transport = reals.DigitList(q), reals.Digits(transport)
	out.Objective = reals.Digits(reals.Add(transport, reals.Mul(reals.Float(reg), entropy)))
	return out
}

// Entropic fills in the cases of the kind entropic: entropic projections.
func Entropic(s *cases.Set) {
	r := &s.RNG
	s.Until(205, 105, func(n int) {
		p := problem.Random(r, 4)
		if n%6 == 0 {
			p.Tight(r)
			p.Flags = append(problem.CostFlags(p.C), problem.BoundFlags(p.Lo, p.Hi)...)
		}
		spread := 0.0
		for _, row := range p.C {
			spread = max(spread, slices.Max(row)-slices.Min(row))
		}
		if spread == 0 {
			spread = 1
		}
		reg := spread * values.Pick(r, 0.5, 1, 1, 2, 0.375, 8)
		reason := ""
		if n%3 == 2 {
			if r.Chance(15) {
				reg, reason, p.Flags = values.Pick(r, 0, -1, math.NaN(), math.Inf(1), math.Inf(-1)), "reg", []string{}
			} else {
				p, reason, p.Flags = problem.Broken(r, p)
			}
		}
		in := entropicIn{values.HexMatrix(p.C), values.HexFloats(p.Mu), values.HexFloats(p.Lo), values.HexFloats(p.Hi),
			values.HexFloat(reg)}
		why, l, h := problem.Bounds(p.Lo, p.Hi)
		if reason == "" {
			reason = why
		}
		if reason != "" {
			s.Invalid(reason, in, p.Flags...)
			return
		}
		for j := range p.Lo { // columns that no solver in float64 can price
			if p.Hi[j] < 1e-6 || p.Lo[j] > 0 && p.Lo[j] < 1e-9 {
				return
			}
		}
		mu, err := exact.Distribution(p.Mu)
		values.Must(err == nil, "no distribution")
		if out, ok := entropic(p.C, mu, l, h, reg); ok {
			s.Valid(in, out, p.Flags...)
		}
	})
}
