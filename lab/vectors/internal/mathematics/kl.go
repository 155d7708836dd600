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

type klIn struct {
	LogS []string `json:"log_s"`
	Lo   []string `json:"lo"`
	Hi   []string `json:"hi"`
}

type klOut struct {
	Q     []string `json:"q"`
	Theta string   `json:"theta"`
}

// klProject clips x s to the box for the x that makes the mass 1; theta = log x is nil if a whole interval does.
func klProject(logS []float64, l, h []*big.Rat) (q []*big.Float, theta *big.Float, ok bool) {
	one := big.NewRat(1, 1)
	for _, bound := range [][]*big.Rat{l, h} {
		if exact.Sum(bound).Cmp(one) == 0 { // a single point
			for _, v := range bound {
				q = append(q, reals.Rat(v))
			}
			return q, nil, true
		}
	}
	reach := new(big.Rat)
	top := math.Inf(-1)
	for j, v := range logS {
		reach.Add(reach, l[j])
		if !math.IsInf(v, -1) {
			reach.Add(reach, exact.Sub(h[j], l[j]))
			top = max(top, v)
		}
	}
	if reach.Cmp(one) < 0 {
		return nil, nil, false
	}
	s := make([]*big.Float, len(logS))
	lo, hi := make([]*big.Float, len(logS)), make([]*big.Float, len(logS))
	for j, v := range logS {
		s[j], lo[j], hi[j] = reals.Int(0), reals.Rat(l[j]), reals.Rat(h[j])
		if !math.IsInf(v, -1) {
			s[j] = reals.Exp(reals.Sub(reals.Float(v), reals.Float(top)))
		}
	}
	q, x := clipTo(s, lo, hi)
	for j, v := range q {
		if reals.Less60(lo[j], v) && reals.Less60(v, hi[j]) {
			return q, reals.Sub(reals.Log(x), reals.Float(top)), true
		}
	}
	return q, nil, true
}

// clipTo returns x s clipped to [lo, hi] for an x that makes the mass 1. Columns with s = 0 stay at lo.
func clipTo(s, lo, hi []*big.Float) (q []*big.Float, x *big.Float) {
	one := reals.Int(1)
	var breaks []*big.Float
	for j := range s {
		if s[j].Sign() > 0 {
			breaks = append(breaks, reals.Quo(lo[j], s[j]), reals.Quo(hi[j], s[j]))
		}
	}
	slices.SortFunc(breaks, func(a, b *big.Float) int { return a.Cmp(b) })
	clip := func(x *big.Float) (q []*big.Float, mass *big.Float) {
		mass = reals.Int(0)
		for j := range s {
			v := reals.Mul(x, s[j])
			if s[j].Sign() == 0 || v.Cmp(lo[j]) < 0 {
				v = lo[j]
			} else if v.Cmp(hi[j]) > 0 {
				v = hi[j]
			}
			q, mass = append(q, v), reals.Add(mass, v)
		}
		return q, mass
	}
	// The last break at which the mass is at most 1, and the next: between them the free columns are known.
	at := 0
	for n, b := range breaks {
		if _, mass := clip(b); mass.Cmp(one) <= 0 {
			at = n
		}
	}
	left := breaks[at]
	right := left
	for _, b := range breaks[at:] {
		if right = b; right.Cmp(left) > 0 {
			break
		}
	}
	mid := reals.Quo(reals.Add(left, right), reals.Int(2))
	free, fixed := reals.Int(0), reals.Int(0)
	for j := range s {
		switch v := reals.Mul(mid, s[j]); {
		case s[j].Sign() == 0 || v.Cmp(lo[j]) <= 0:
			fixed = reals.Add(fixed, lo[j])
		case v.Cmp(hi[j]) >= 0:
			fixed = reals.Add(fixed, hi[j])
		default:
			free = reals.Add(free, s[j])
		}
	}
	x = left
	if free.Sign() > 0 {
		x = reals.Quo(reals.Sub(one, fixed), free)
	}
	q, mass := clip(x)
	off := reals.Sub(mass, one)
	values.Must(off.Sign() == 0 || off.MantExp(nil) < -400, "a divergence projection that does not sum to 1")
	return q, x
}

// KL fills in the cases of the kind kl: projections in divergence.
func KL(s *cases.Set) {
	r := &s.RNG
	s.Until(220, 110, func(n int) {
		p := problem.Random(r, 7)
		if n%6 == 0 {
			p.Tight(r)
		}
		logS := make([]float64, len(p.Lo))
		flags := []string{}
		for j := range logS {
			logS[j] = values.Pick(r, -values.Grain(r, true)*8, (r.Float()-0.5)*20, float64(r.Intn(3)), -700*r.Float(),
				700*r.Float(), -3)
			if r.Chance(6) {
				logS[j] = math.Inf(-1)
			}
		}
		p.C, p.Mu = [][]float64{p.Lo}, nil
		reason := ""
		if n%3 == 2 {
			i := r.Intn(len(logS))
			switch r.Intn(5) {
			case 0:
				logS[i], reason, flags = math.NaN(), "finite", []string{"nan"}
			case 1:
				logS[i], reason, flags = math.Inf(1), "finite", []string{"infinite"}
			case 2:
				logS, reason, flags = append(logS, 0), "shape", []string{"long"}
			default:
				for reason == "" {
					q, _, more := problem.Broken(r, problem.Problem{
						C: [][]float64{make([]float64, len(p.Lo))}, Lo: slices.Clone(p.Lo), Hi: slices.Clone(p.Hi),
					})
					if why, _, _ := problem.Bounds(q.Lo, q.Hi); why != "" {
						p.Lo, p.Hi, reason, flags = q.Lo, q.Hi, why, more
					}
				}
			}
		}
		in := klIn{values.HexFloats(logS), values.HexFloats(p.Lo), values.HexFloats(p.Hi)}
		why, l, h := problem.Bounds(p.Lo, p.Hi)
		if reason == "" {
			reason = why
		}
		if reason != "" {
			s.Invalid(reason, in, flags...)
			return
		}
		flags = append(flags, problem.BoundFlags(p.Lo, p.Hi)...)
		if slices.ContainsFunc(logS, func(v float64) bool { return math.IsInf(v, -1) }) {
			flags = append(flags, "zero-mass")
		}
		q, theta, ok := klProject(logS, l, h)
		if !ok {
			s.Invalid("infeasible", in, append(flags, "zero-mass")...)
			return
		}
		out := klOut{Q: reals.DigitList(q)}
		if theta != nil {
			out.Theta = reals.Digits(theta)
		}
		s.Valid(in, out, flags...)
	})
}

type kpmIn struct {
	Mu  []string `json:"mu"`
	Eps string   `json:"eps"`
}

type kpmOut struct {
	Q []string `json:"q"`
	R string   `json:"r"`
}

// kpm is the KL projection mechanism: q_j = max(mu_j / r, 1/(E+k-1)), for the r that makes the sum 1, found by trying
// every number n of entries above the floor.
func kpm(mu []float64, eps float64) (q []*big.Float, r *big.Float) {
	k := int64(len(mu))
	m, err := exact.Distribution(mu)
	values.Must(err == nil, "no distribution")
	order := slices.Clone(m)
	slices.SortFunc(order, func(a, b *big.Rat) int { return b.Cmp(a) })
	e := reals.Exp(reals.Float(eps))
	floor := reals.Quo(reals.Int(1), reals.Add(e, reals.Int(k-1)))
	top := new(big.Rat)
	if eps == 0 {
		r = reals.Rat(exact.Mul(order[0], big.NewRat(k, 1)))
	}
	for n := int64(1); n <= k && r == nil; n++ {
		top.Add(top, order[n-1])
		at := reals.Quo(reals.Rat(top), reals.Sub(reals.Int(1), reals.Mul(reals.Int(k-n), floor)))
		// The n-th is at or above the floor and the next at or below it.
		if reals.Quo(reals.Rat(order[n-1]), at).Cmp(reals.Mul(floor, reals.Sub(reals.Int(1), reals.Float(0x1p-400)))) >= 0 &&
			(n == k || reals.Quo(reals.Rat(order[n]),
				at).Cmp(reals.Mul(floor, reals.Add(reals.Int(1), reals.Float(0x1p-400)))) <= 0) {
			r = at
		}
	}
	sum := reals.Int(0)
	for _, v := range m {
		x := reals.Quo(reals.Rat(v), r)
		if x.Cmp(floor) < 0 {
			x = floor
		}
		q, sum = append(q, x), reals.Add(sum, x)
	}
	off := reals.Sub(sum, reals.Int(1))
	values.Must(off.Sign() == 0 || off.MantExp(nil) < -400, "a KPM that does not sum to 1")
	return q, r
}

// spoilKPM gives an input a fault.
func spoilKPM(r *values.RNG, mu []float64, eps float64) (_ float64, reason string, flags []string) {
	i := r.Intn(len(mu))
	bad, flag := values.Bad(r)
	flags = []string{flag}
	switch r.Intn(4) {
	case 0:
		if mu[i] = bad; bad < 0 && !math.IsInf(bad, 0) {
			reason = "negative"
		} else {
			reason = "finite"
		}
	case 1:
		mu[i], reason, flags = mu[i]+values.Pick(r, 2e-9, 1, 1e300, 1e-3), "mass", []string{"sums-out"}
	case 2:
		for i := range mu {
			mu[i] *= values.Pick(r, 0.5, 0, 0.999)
		}
		reason, flags = "mass", []string{"sums-out"}
	case 3:
		eps, reason = values.Pick(r, bad, 701, -1, math.Nextafter(700, 1000)), "epsilon"
		flags = []string{}
	}
	return eps, reason, flags
}

// KPM fills in the cases of the kind kpm: the KL projection mechanism.
func KPM(s *cases.Set) {
	r := &s.RNG
	s.Until(220, 110, func(n int) {
		k := values.Pick(r, 1, 2, 3, 4, 6, 10)
		mu := make([]float64, k)
		flags := []string{}
		sum := 0.0
		coarse := r.Chance(40)
		for i := range mu {
			mu[i] = values.Pick(r, values.Grain(r, coarse), values.Grain(r, coarse)*1e-6, 0, 1)
			sum += mu[i]
		}
		if sum == 0 {
			mu[0], sum = 1, 1
		}
		for i := range mu {
			mu[i] /= sum
		}
		if r.Chance(10) {
			mu[r.Intn(k)] += values.Pick(r, 1e-10, 5e-10)
			flags = append(flags, "slack-mass")
		}
		if r.Chance(10) {
			mu[r.Intn(k)] = 0x1p-1074
		}
		eps := values.Pick(r, 0, 0x1p-30, 0.5, 1, 2, 5.25, 20, 700, r.Float(), 10*r.Float())
		switch {
		case eps == 0:
			flags = append(flags, "zero-eps")
		case eps >= 20:
			flags = append(flags, "large-eps")
		case eps <= 1e-6:
			flags = append(flags, "small-eps")
		}
		if slices.Contains(mu, 0) {
			flags = append(flags, "zero-mass")
		}
		if slices.Contains(mu, 0x1p-1074) {
			flags = append(flags, "denormal")
		}
		reason := ""
		if n%3 == 2 {
			eps, reason, flags = spoilKPM(r, mu, eps)
		}
		in := kpmIn{values.HexFloats(mu), values.HexFloat(eps)}
		if reason != "finite" && reason != "negative" {
			off := exact.Float(exact.Sub(exact.Sum(exact.Rats(mu)), big.NewRat(1, 1)))
			if off = math.Abs(off); off < 1.1e-9 && off > 0.9e-9 {
				return
			} else if off >= 1e-9 && reason == "epsilon" {
				return // two faults
			} else if off >= 1e-9 {
				reason, flags = "mass", []string{"sums-out"}
			} else if reason == "mass" {
				reason = ""
			}
		}
		if reason != "" {
			s.Invalid(reason, in, flags...)
			return
		}
		q, ratio := kpm(mu, eps)
		s.Valid(in, kpmOut{reals.DigitList(q), reals.Digits(ratio)}, flags...)
	})
	s.Invalid("shape", kpmIn{[]string{}, values.HexFloat(1)}, "short")
}
