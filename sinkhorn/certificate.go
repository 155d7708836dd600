package sinkhorn

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// iterate is what bounds are computed from: scaled costs, live rows and columns.
type iterate struct {
	g    []float64 // reg * (log v - theta)
	logV []float64 // log v, up to a shift
	q    []float64 // the projected distribution
	cols []float64 // column sums of the plan
	reg  float64
	// row writes row i of the plan, of sum mu_i up to rounding, and sweep, if not nil, returns its
	// product with the costs c without writing it, and lowers b to c - f.
	row   func(i int, dst []float64)
	sweep func(i int, c, b []float64, f float64) float64
	// first, if not nil, is what is known of a plan u_i M_ij with M_ij = exp((min_j C_ij - C_ij) / reg); g is then constant.
	first *sweep
	// noise bounds the relative difference between entries of that plan and those that Verify makes
	// from logV, beyond a few roundings.
	noise float64
}

// bounds are bounds on the exact problem with the potentials that prove the lower one, in scaled
// costs, and what else a sweep over plan and cost yields.
type bounds struct {
	f, b             []float64
	upper, lower     float64
	slack            float64 // share of the largest cost that upper has as a margin
	sums             float64 // what of it is for rounding in sums, and no noise in the plan
	transport        float64
	objective        float64 // <C, P> + reg sum P log P
	posterior, prior float64
	residual         float64
}

// coarse is the residual from which on the plan is repaired for the upper bound: below, charging
// the repair at the largest cost adds less than this times half the largest cost.
const coarse = 1e-8

// certify sweeps once over cost and plan.
//
// Lower bound. With f_i = min_j (C_ij - g_j), b_j = min_i (C_ij - f_i) >= g_j is a better potential than g;
// rounded down, f_i + b_j <= C_ij holds exactly for the floats. A shift f + t, b - t by the best t follows.
//
// Upper bound. The plan P has rows mu and columns c. Scale column j by t_j = min(1, q_j/c_j); this
// leaves r_i = mu_i - sum_j P_ij t_j to be moved from the rows and d_j = (q_j - c_j)_+ to be put
// in the columns, both of sum D = |q - c|_1 / 2, and r_i d_j / D does it. When D is small its cost
// is not worth a second look and D times the largest cost is charged.
func (in *instance) certify(c *costs, it *iterate) *bounds {
	m, n := chunks(c.k, c.n), c.n
	out := &bounds{f: make([]float64, c.k), b: make([]float64, n)}
	var t, d []float64
	var left num.Running
	for j, q := range it.q {
		out.residual += math.Abs(q - it.cols[j])
		left.Add(math.Max(0, q-it.cols[j]))
	}
	repair := !(out.residual <= coarse)
	if repair {
		t, d = make([]float64, n), make([]float64, n)
		for j, q := range it.q {
			t[j], d[j] = 1, math.Max(0, q-it.cols[j])
			if q < it.cols[j] {
				t[j] = q / it.cols[j]
			}
		}
	}
	carried := make([]float64, c.k) // cost of every row of the plan
	moved := make([]float64, c.k)   // and of its repaired form
	var part []float64
	swept := it.first != nil && !repair
	if swept {
		// g is constant, and f the least cost of a row but for that.
		copy(out.f, c.min)
		carried, part, m = it.first.carried, it.first.low, len(it.first.low)/n
	} else {
		part = make([]float64, m*n)
		for j := range part {
			part[j] = math.Inf(1)
		}
	}
	sweepRows := func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		p := make([]float64, n)
		low := part[ch*n : (ch+1)*n]
		for i := from; i < to; i++ {
			if (i-from)%lookRows == 0 && c.ended() {
				return
			}
			row := c.row[i]
			f := minDiff(row, it.g)
			out.f[i] = f
			if !repair && it.sweep != nil {
				carried[i] = it.sweep(i, row, low, f)
				continue
			}
			minInto(low, row, f)
			it.row(i, p)
			carried[i] = ge.Ddot(n, p, 1, row, 1)
			if !repair {
				continue
			}
			for j, x := range p {
				p[j] = float64(x * t[j])
			}
			// The row may have lost, by rounding, a little more than it had.
			r := math.Max(0, in.mass[i]-num.Sum(p))
			moved[i] = ge.Ddot(n, p, 1, row, 1)
			if left.Value() > 0 {
				moved[i] += r / left.Value() * ge.Ddot(n, d, 1, row, 1)
			}
		}
	}
	if !swept {
		c.loop(m, sweepRows)
		if c.cut() { // nothing is proved
			return &bounds{f: out.f, b: make([]float64, n), upper: c.most}
		}
	}
	copy(out.b, part[:n])
	for ch := 1; ch < m; ch++ {
		for j, x := range part[ch*n : (ch+1)*n] {
			if x < out.b[j] {
				out.b[j] = x
			}
		}
	}
	for j, x := range out.b {
		// Rounding may have raised C_ij - f_i by half a unit.
		out.b[j] = math.Nextafter(x, math.Inf(-1))
	}
	plain := num.Dot(in.mass, out.f) // dual value of the plan itself
	if !swept {
		plain += num.Dot(it.cols, it.g)
	}
	out.lower = in.shift(out.f, out.b)

	out.transport = num.Sum(carried)
	upper := out.transport + c.most*left.Value()
	if repair {
		upper = math.Min(upper, num.Sum(moved))
	}
	// Verify's plan has other rounding errors, and charges for them at the largest cost: each of its
	// sums is off by an ulp for every term at most, its entries are cut to multiples of 2^-62, and
	// they differ by the noise from those here.
	slack := float64(c.k+n+64)*0x1p-52 + float64(c.k)*float64(n)*0x1p-62 + 4*it.noise + float64(len(in.tiny))*tinyMass
	out.slack, out.sums = slack, slack-4*it.noise
	charge := c.most * slack
	if charge < 0x1p-1022 { // where products lose bits, or all of them
		charge += math.SmallestNonzeroFloat64
	}
	out.upper = math.Min(upper+charge, c.most)

	out.posterior = math.Max(0, out.transport-plain)
	out.prior = it.reg * lambertW0(float64(n-1)/math.E)
	return out
}

// shift finds the best t for f + t, b - t, applies it so that the sums do not grow, and returns the
// dual value, rounded down.
func (in *instance) shift(f, b []float64) float64 {
	lo, hi := in.compact(in.lo), in.compact(in.hi)
	if t := bestShift(b, lo, hi, make([]int32, len(b))); t != 0 {
		for i, x := range f {
			f[i] = math.Nextafter(x+t, math.Inf(-1))
		}
		for j, x := range b {
			b[j] = math.Nextafter(x-t, math.Inf(-1))
		}
	}
	var size float64
	terms := make([]float64, len(b))
	for j, x := range b {
		if x >= 0 {
			terms[j] = float64(lo[j] * x)
		} else {
			terms[j] = float64(hi[j] * x)
		}
		size += math.Abs(terms[j])
	}
	for i, x := range f {
		size += in.mass[i] * math.Abs(x)
	}
	// Products, normalised masses and the two compensated sums err by half a unit each, relative to
	// the terms, the plain sum size by less than 2^-20 of itself.
	value := num.Dot(in.mass, f) + num.Sum(terms)
	// Columns that take no part have g_j >= -max f, and enter with hi_j g_j at least.
	for _, x := range f {
		size = math.Max(size, float64(len(in.tiny))*math.Max(0, x))
	}
	return math.Max(0, value-size*0x1p-50-0x1p-1000)
}

// compact returns the entries of the live columns.
func (in *instance) compact(x []float64) []float64 {
	if in.cols == nil {
		return x
	}
	y := make([]float64, len(in.cols))
	for n, j := range in.cols {
		y[n] = x[j]
	}
	return y
}

// bestShift maximises t + sum_j min(lo_j (b_j - t), hi_j (b_j - t)), concave and piecewise linear in t with breaks at b_j. Its
// slope is 1 - (sum of lo where b_j > t) - (sum of hi where b_j < t): the answer is where it changes sign. It returns 0 if
// that is as good. order is scratch space, one for every column.
func bestShift(b, lo, hi []float64, order []int32) float64 {
	left, right := 1.0, 1.0 // slopes at 0
	for j, x := range b {
		if x >= 0 {
			left -= lo[j]
		} else {
			left -= hi[j]
		}
		if x > 0 {
			right -= lo[j]
		} else {
			right -= hi[j]
		}
	}
	if left >= 0 && right <= 0 {
		return 0
	}
	return threshold(b, lo, hi, order)
}

// threshold finds t such that lo where b > t and hi where b < t leave no more than one column in doubt. It uses order, one for every column.
func threshold(b, lo, hi []float64, order []int32) float64 {
	mass := 0.0 // of the settled columns
	for j := range order {
		order[j] = int32(j)
		mass += lo[j]
	}
	need := 1 - mass // to be found in hi - lo of the least b
	open := order
	t := 0.0
	for len(open) > 0 {
		x, y, z := b[open[0]], b[open[len(open)/2]], b[open[len(open)-1]]
		t = math.Max(math.Min(x, y), math.Min(math.Max(x, y), z)) // their median
		// Partition into < t, = t, > t.
		l, r := 0, len(open)
		var less, same float64
		for i := 0; i < r; {
			j := open[i]
			switch x := b[j]; {
			case x < t:
				less += hi[j] - lo[j]
				open[i], open[l] = open[l], j
				l++
				i++
			case x > t:
				r--
				open[i], open[r] = open[r], j
			default:
				same += hi[j] - lo[j]
				i++
			}
		}
		switch {
		case need < less:
			open = open[:l]
		case need <= less+same:
			return t
		default:
			need -= less + same
			open = open[r:]
		}
	}
	return t
}

// lambertW0 returns the w >= 0 with w e^w = x, for x >= 0.
func lambertW0(x float64) float64 {
	w := math.Log1p(x)
	if x > 3 {
		w -= math.Log(w)
	}
	for range 20 {
		e := math.Exp(w)
		d := (w*e - x) / (e * (1 + w))
		w -= d
		if math.Abs(d) <= 0x1p-52*w {
			break
		}
	}
	return math.Max(0, w)
}
