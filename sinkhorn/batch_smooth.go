package sinkhorn

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// smoothing holds the entropic problem of few rows at one Reg: the plan at the potentials f of the rows, whose columns
// are right and whose rows are not yet,
//
//	P_ij = q_j e_ij / S_j,  e_ij = exp((f_i + b_j - C_ij) / reg),  S_j = sum_i e_ij,  b_j = min_i (C_ij - f_i),
//
// with q the projection of s_j = S_j exp(-b_j / reg) on the box. Terms that hardly count are left out, column by column:
// it steers, and what it finds is proved otherwise.
type smoothing struct {
	at    []int32   // rows of the terms, column by column, ascending
	e     []float64 // the terms
	x     []float64 // and their exponents, times expScale
	end   []int32   // of each column in those
	sum   []float64 // S
	off   float64   // |mu - r|_1, r being the row sums
	level float64   // reg theta, where q_j = e^theta s_j in free columns
}

const (
	// Annealing starts at smoothFirst, relative to the mean cost, beyond the least one, that a row's mass would need alone, and ends with a
	// step at smoothLast. A level is left, by a factor of smoothRate, when at most smoothOff of the mass is in the wrong row.
	smoothFirst, smoothLast, smoothRate = 0.5, 0.2, 0.4
	smoothOff                           = 0.3
	smoothSteps                         = 6 // at most
	// smoothLeast is the least mean cost that counts, over the range of the costs: expRow serves no exponent below -1e9.
	smoothLeast = 1e-8
	// smoothDepth: terms below exp(-smoothDepth) are left out. With more of them steps cost more and get no better.
	smoothDepth = 3
	// smoothShift is the Levenberg shift over the mass in the wrong row.
	smoothShift = 0.1
	// smoothClip is how far a step may change a potential, in units of Reg.
	smoothClip = 3
	// smoothThetas bounds the steps to the multiplier of the projection onto the box; three or four are normal.
	smoothThetas = 20
)

// anneal brings the potentials s.f near those of an optimum, in a few steps, at most limit and none when the context has ended, and returns how
// many. The smoothing starts with width.
func (s *rowSolver) anneal(ctx context.Context, width float64, limit int) int {
	rel := smoothFirst
	limit = min(limit, smoothSteps)
	for n := range limit {
		if ctx.Err() != nil {
			return n
		}
		s.evaluate(rel*width, n == 0)
		if !s.step(rel * width) {
			return n
		}
		if s.smooth.off < smoothOff {
			if rel <= smoothLast {
				return n + 1
			}
			rel = max(rel*smoothRate, smoothLast)
		}
	}
	return limit
}

// evaluate computes the plan for the potentials s.f at reg, and the gradient and the Hessian of the dual in f,
//
//	sum_i mu_i f_i - max over q in the box of reg sum_j q_j log(s_j/q_j).
//
// The gradient is mu - r, r being the row sums. With F the free columns, of mass Q and with row sums r_F, minus reg times
// the Hessian is
//
//	diag(r) - sum over j not in F of q_j p_j p_j' - r_F r_F' / Q,  p_ij = e_ij / S_j.
func (s *rowSolver) evaluate(reg float64, first bool) {
	m, n := s.m, s.n
	sm := &s.smooth
	scale := expScale / reg
	f := s.f[:m]
	c := s.round.c
	var diff [fewRows]float64
	p := 0
	least := math.Inf(1)
	for j := range n {
		col := c[j*m : j*m+m]
		own := int(s.own[j])
		best := col[own] - f[own]
		for i, x := range col {
			d := x - f[i]
			diff[i] = d
			if d < best {
				best, own = d, i
			}
		}
		s.b[j], s.own[j] = best, int32(own)
		if best < least {
			least = best
		}
		cut := best + smoothDepth*reg
		at, x := sm.at[p:p+m], sm.x[p:p+m]
		l := 0
		for i, d := range diff[:m] {
			at[l] = int32(i)
			x[l] = (best - d) * scale
			if d < cut {
				l++
			}
		}
		p += l
		sm.end[j] = int32(p)
	}
	expScaled(sm.e[:p], sm.x[:p])

	// s_j up to a factor, w_j = s_j exp(least / reg): x = e^theta is the unknown. Columns so far above the least b that this
	// is zero stay at lo.
	w := s.w[:n]
	expRow(w, s.b, s.zero[:n], least, scale)
	var total float64
	from := 0
	for j, to := range sm.end[:n] {
		var sum float64
		for _, e := range sm.e[from:to] {
			sum += e
		}
		from = int(to)
		sm.sum[j] = sum
		w[j] *= sum
		total += w[j]
	}
	x := 1 / total
	if y := math.Exp((sm.level - least) / reg); !first && y > 1e-3*x && y < 1e6*x {
		x = y
	}
	x = s.theta(w, x)
	sm.level = least + reg*math.Log(x)

	clear(s.h)
	clear(s.r)
	clear(s.free)
	var inside float64
	from = 0
	for j, to := range sm.end[:n] {
		q := x * w[j]
		inv := 1 / sm.sum[j]
		e := sm.e[from:to]
		at := sm.at[from:to][:len(e)]
		from = int(to)
		if lo, hi := s.lo[j], s.hi[j]; q <= lo {
			q = lo
		} else if q >= hi {
			q = hi
		} else {
			inside += q
			q *= inv
			for l, y := range e {
				y *= q
				i := at[l]
				s.r[i] += y
				s.free[i] += y
			}
			continue
		}
		q *= inv
		for l, y := range e {
			y *= q
			i := int(at[l])
			s.r[i] += y
			y *= inv
			h := s.h[i*m : i*m+m]
			for o, k := range at[:l+1] {
				h[k] -= y * e[o]
			}
		}
	}
	sm.off = 0
	for i, r := range s.r {
		s.d[i] = s.in.mass[i] - r
		sm.off += math.Abs(s.d[i])
	}
	if inside > 0 {
		inside = 1 / inside
		for a := range m {
			y := s.free[a] * inside
			h := s.h[a*m : a*m+a+1]
			for b, x := range s.free[:a+1] {
				h[b] -= y * x
			}
		}
	}
}

// scan sets b and the rows that it comes from. They are seldom others than the last time: one comparison for each cell, nearly always false.
func (s *rowSolver) scan() {
	m := s.m
	f := s.f[:m]
	for j := range s.b {
		col := s.round.c[j*m : j*m+m]
		own := int(s.own[j])
		best := col[own] - f[own]
		for i, x := range col {
			if d := x - f[i]; d < best {
				best, own = d, i
			}
		}
		s.b[j], s.own[j] = best, int32(own)
	}
}

// theta finds x such that clip(x w, lo, hi) sums to 1, about, starting from x.
func (s *rowSolver) theta(w []float64, x float64) float64 {
	lo, hi := s.lo[:len(w)], s.hi[:len(w)]
	for range smoothThetas {
		var fixed, free float64
		for j, y := range w {
			switch q := x * y; {
			case q <= lo[j]:
				fixed += lo[j]
			case q >= hi[j]:
				fixed += hi[j]
			default:
				free += y
			}
		}
		next := (1 - fixed) / free
		if !(next > 0) || math.IsInf(next, 1) {
			next = x / 2
			if fixed < 1 {
				next = 2 * x
			}
		}
		done := math.Abs(next-x) <= 1e-3*x
		if x = next; done {
			break
		}
	}
	return x
}

// step takes a Newton step from what evaluate found. The Hessian is shifted by |mu - r|_1 diag(r + mu). Steps are
// clipped: they need not even ascend, for what comes next is right for any f, and only the faster the better f is.
func (s *rowSolver) step(reg float64) bool {
	m := s.m
	off := s.smooth.off * smoothShift
	for a := range m {
		s.h[a*m+a] += s.r[a]*(1+off) + off*s.in.mass[a] + 1e-12
	}
	if !cholesky(s.h, s.d) {
		return false
	}
	for i, d := range s.d {
		s.f[i] += reg * min(max(d, -smoothClip), smoothClip)
	}
	return true
}

// expScaled sets dst[l] = exp(x[l] / expScale) to 12 digits; see expRow.
func expScaled(dst, x []float64) {
	x = x[:len(dst)]
	for l, z := range x {
		t := z + expMagic
		n := int64(math.Float64bits(t) - expMagicBits)
		r := z - (t - expMagic)
		b := expTable[n&2047]
		y := b + float64(b*float64(r*(expC1+float64(r*expC2))))
		keep := ^((n - expMin) >> 63)
		dst[l] = math.Float64frombits((math.Float64bits(y) + uint64(n>>11)<<52) & uint64(keep))
	}
}

// dual shifts the potentials f by the level t of the columns, sets b to what then belongs to them, rounded down, and returns the dual
// value, rounded down.
func (s *rowSolver) dual(t float64) float64 {
	for i := range s.f {
		s.f[i] += t
	}
	s.scan()
	down := math.Inf(-1)
	var size float64
	for j, x := range s.b {
		x = math.Nextafter(x, down)
		s.b[j] = x
		y := float64(s.lo[j] * x)
		if x < 0 {
			y = float64(s.hi[j] * x)
		}
		s.x[j] = y
		size += math.Abs(y)
	}
	dual := num.Sum(s.x) + num.Dot(s.in.mass, s.f)
	for i, x := range s.f {
		size += s.in.mass[i] * math.Abs(x)
	}
	return max(0, dual-size*0x1p-50-0x1p-1000)
}
