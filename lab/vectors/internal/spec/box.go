package spec

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/lab/vectors/internal/box"
	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

type boxIn struct {
	Epsilon string   `json:"epsilon"`
	Bits    int      `json:"bits"`
	M       []string `json:"m"`
}

type boxOut struct {
	Lo []string `json:"lo"`
	Hi []string `json:"hi"`
}

// designBox is the ceil rule, by enclosures of e^eps that decide every rounding.
func designBox(epsilon string, bits int, m []float64) (lo, hi []uint64, flags []string) {
	x := values.Rat(epsilon)
	up := func(times *big.Rat, x *big.Rat, divide bool) *big.Int { // times e^x or times / e^x, rounded up
		for precision := 200; ; precision *= 2 {
			a, b := exact.ExpBounds(x, precision)
			if divide {
				a, b = new(big.Rat).Inv(b), new(big.Rat).Inv(a)
			}
			low, high := values.Ceil(exact.Mul(times, a)), values.Ceil(exact.Mul(times, b))
			if low.Cmp(high) == 0 {
				return low
			}
		}
	}
	e := exact.NewExpo(x)
	total := uint64(1) << uint(bits)
	sizes := make([]*big.Int, len(m))
	for j, v := range m {
		sizes[j] = new(big.Int)
		if v > 0 {
			h := up(exact.Mul(values.Power(bits), exact.Rat(v)), exact.Quo(x, big.NewRat(2, 1)), false)
			sizes[j] = up(new(big.Rat).SetInt(h), x, true)
		}
	}
	if level(sizes, values.Int(total)) {
		flags = append(flags, "lowered")
	}
	for _, v := range sizes {
		values.Must(v.IsUint64(), "a bound above 2^64")
		lo = append(lo, v.Uint64())
		hi = append(hi, e.Floor(v.Uint64(), total))
	}
	if missing := new(big.Int).Sub(values.Int(total), values.Sum(hi)); missing.Sign() > 0 {
		flags = append(flags, "raised")
		best := 0
		for j := range lo {
			if lo[j] > lo[best] {
				best = j
			}
		}
		target := missing.Add(missing, values.Int(hi[best]))
		lo[best] = up(new(big.Rat).SetInt(target), x, true).Uint64()
		hi[best] = e.Floor(lo[best], total)
	}
	return lo, hi, flags
}

// level lowers the largest values to a common level until they sum to total, if they sum to more; what is left over
// goes to the first of the lowered ones, a unit each.
func level(sizes []*big.Int, total *big.Int) bool {
	capped := func(at *big.Int) *big.Int {
		s := new(big.Int)
		for _, v := range sizes {
			if v.Cmp(at) < 0 {
				s.Add(s, v)
			} else {
				s.Add(s, at)
			}
		}
		return s
	}
	a, b := new(big.Int), new(big.Int).Lsh(big.NewInt(1), 80)
	if capped(b).Cmp(total) <= 0 {
		return false
	}
	for one := big.NewInt(1); new(big.Int).Sub(b, a).Cmp(one) > 0; {
		mid := new(big.Int).Add(a, b)
		if mid.Rsh(mid, 1); capped(mid).Cmp(total) <= 0 {
			a = mid
		} else {
			b = mid
		}
	}
	rest := new(big.Int).Sub(total, capped(a))
	for j, v := range sizes {
		if v.Cmp(a) > 0 {
			sizes[j] = new(big.Int).Set(a)
			if rest.Sign() > 0 {
				sizes[j].Add(a, big.NewInt(1))
				rest.Sub(rest, big.NewInt(1))
			}
		}
	}
	return true
}

// randomBase returns a base measure of a mass that eps allows.
func randomBase(r *values.RNG, epsilon string, kv int) (m []float64, flags []string) {
	half := exact.Float(values.Rat(epsilon)) / 2
	sum := 0.0
	for range kv {
		v := values.Pick(r, 1, 1, r.Float(), r.Float()*1e-9, 0)
		m = append(m, v)
		sum += v
	}
	if sum == 0 {
		m[0], sum = 1, 1
	}
	mass := 1.0
	switch r.Intn(4) {
	case 0:
		mass = roughExp(half * (2*r.Float() - 1) * 0.98)
	case 1:
		mass, flags = roughExp(half), append(flags, "slack-mass")
	case 2:
		mass, flags = roughExp(-half), append(flags, "slack-mass")
	}
	for j := range m {
		m[j] = m[j] / sum * mass
	}
	if r.Chance(15) {
		m[r.Intn(kv)] = 0x1p-1070 * (1 + float64(r.Intn(9)))
		flags = append(flags, "denormal")
	}
	for _, v := range m {
		if v == 0 {
			return m, append(flags, "zero-mass")
		}
	}
	return m, flags
}

// roughExp is e^x to the last digit or so, by the oracle: math.Exp differs among processors.
func roughExp(x float64) float64 {
	if x == 0 {
		return 1
	}
	lower, _ := exact.ExpBounds(exact.Rat(math.Abs(x)), 80)
	if x < 0 {
		lower.Inv(lower)
	}
	return exact.Float(lower)
}

// feasibleMass reports whether the mass of m is clearly in its range, and whether it is clearly not.
func feasibleMass(epsilon string, m []float64) (in, out bool) {
	sum := exact.Sum(exact.Rats(m))
	lower, _ := exact.ExpBounds(exact.Quo(values.Rat(epsilon), big.NewRat(2, 1)), 200)
	edge := func(slack string) bool {
		most := exact.Mul(lower, exact.Add(big.NewRat(1, 1), values.Rat(slack)))
		return sum.Cmp(most) <= 0 && exact.Mul(sum, most).Cmp(big.NewRat(1, 1)) >= 0
	}
	return edge("1/1100000000"), !edge("1/900000000")
}

// Box fills in the cases of the kind box: base measures and the boxes that they become.
func Box(s *cases.Set) {
	r := &s.RNG
	put := func(epsilon string, bits int, m []float64, flags ...string) {
		in := boxIn{epsilon, bits, values.HexFloats(m)}
		flags = append(append(flags, box.EpsFlags(epsilon)...), box.BitsFlags(bits)...)
		support := 0
		for _, v := range m {
			if v > 0 {
				support++
			}
		}
		yes, no := feasibleMass(epsilon, m)
		switch {
		case no:
			s.Invalid("infeasible", in, append(flags, "sums-out")...)
		case !yes: // too close to the edge of the tolerance to be a vector
		case bits < 62 && support > 1<<uint(bits):
			s.Invalid("bits", in, flags...)
		default:
			lo, hi, more := designBox(epsilon, bits, m)
			s.Valid(in, boxOut{values.Decimals(lo), values.Decimals(hi)}, append(flags, more...)...)
		}
	}
	for _, text := range box.BadEpsilons {
		s.Invalid("epsilon", boxIn{text, 16, values.HexFloats([]float64{0.5, 0.5})})
	}
	for _, bits := range []int{0, -1, 63, 64, 1000} {
		s.Invalid("bits", boxIn{"1", bits, values.HexFloats([]float64{1})})
	}
	s.Invalid("base", boxIn{"1", 16, []string{}}, "short")
	for n := range 12 {
		m := []float64{0.25, 0.5, 0.25, 0.25}
		m[n%4] = []float64{math.NaN(), math.Inf(1), -0.25, -0x1p-1074, math.Inf(-1), -1}[n%6]
		s.Invalid("base", boxIn{values.Pick(r, box.Epsilons[:8]...), 32, values.HexFloats(m)},
			[][]string{{"nan"}, {"infinite"}, {"negative"}, {"negative", "denormal"}, {"infinite"}, {"negative"}}[n%6]...)
	}
	s.Invalid("infeasible", boxIn{"1", 16, values.HexFloats([]float64{0, 0})}, "zero-mass")
	s.Invalid("infeasible", boxIn{"1", 16, values.HexFloats([]float64{0x1p-1074})}, "denormal")
	s.Invalid("infeasible", boxIn{"1", 16, values.HexFloats([]float64{math.MaxFloat64, math.MaxFloat64})}, "huge")
	put("1", 1, []float64{0.5, 0.5})
	put("1", 1, []float64{0.4, 0.3, 0.3})
	put("0.5", 2, []float64{0.2, 0.2, 0.2, 0.2, 0.2})
	s.Until(280, 130, func(n int) {
		epsilon := values.Pick(r, box.Epsilons...)
		kv := values.Pick(r, 1, 2, 3, 4, 5, 8, 13)
		m, flags := randomBase(r, epsilon, kv)
		if n%4 == 0 { // out of range, by a little or by much
			f := values.Pick(r, 2, 1e6, 1+3e-9, 1e300)
			half := roughExp(exact.Float(values.Rat(epsilon)) / 2)
			if r.Chance(50) {
				half, f = 1/half, 1/f
			}
			sum := exact.Float(exact.Sum(exact.Rats(m)))
			for j := range m {
				m[j] = min(m[j]/sum*half*f, 1e308)
			}
			flags = []string{}
		}
		bits := values.Pick(r, 4, 6, 8, 16, 31, 32, 53, 54, 62, 62)
		if kv >= 10 {
			flags = append(flags, "large")
		}
		put(epsilon, bits, m, flags...)
	})
}
