package sinkhorn

import (
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// complete fills in the parts of r that a certificate determines, for all rows and columns.
func (in *instance) complete(ctx context.Context, c *core, r *Result, b *certificate) error {
	if r.Reg = in.reg; b.reg != c.reg {
		r.Reg = unscale(b.reg, c.exp, 0)
	}
	r.Q = append(r.Q[:0], in.Lo...)
	for n, x := range b.q {
		r.Q[in.col(n)] = math.Max(x, in.Lo[in.col(n)])
	}
	r.LogV = in.everywhere(nil, math.Inf(-1))
	for n, x := range b.logV {
		r.LogV[in.col(n)] = x
	}
	r.Transport = math.Min(unscale(b.transport, c.exp, 0)+c.offset, math.MaxFloat64)
	r.Upper, r.Lower = b.original(c)
	r.Posterior = unscale(b.posterior, c.exp, 1)
	// objective = transport + reg * entropy; in this form reg may be of any size.
	entropy := (b.objective - b.transport) / b.reg
	r.Objective = r.Transport + float64(r.Reg*entropy)
	if math.IsInf(r.Objective, 0) {
		r.Objective = math.Copysign(math.MaxFloat64, r.Objective)
	}
	if err := in.potentials(ctx, c, r, b); err != nil {
		return err
	}
	if c.exp == 0 && c.base == nil {
		return nil
	}
	r.Lower = in.dual(r.Potentials)
	// Potentials as they are returned may be rounded so much more that the gap is not what it was.
	if set := r.Settings; r.Status == Converged && set.Gap > 0 && set.Tolerance == 0 &&
		!set.met(r.Gap(), r.Upper, c.top*b.slack, c.top) {
		r.Status = Stalled
	}
	return nil
}

// original returns the bounds in units of the cost as it was given.
func (b *certificate) original(c *core) (upper, lower float64) {
	upper, lower = unscale(b.upper, c.exp, 1), unscale(b.lower, c.exp, -1)
	if c.most == math.MaxFloat64 && c.exp != 0 {
		// The largest cost, of a column that takes next to nothing, is beyond the scale of the others.
		upper = math.Min(upper+c.top*b.slack, c.top)
	}
	if c.base == nil {
		return upper, lower
	}
	// The offset is a compensated dot product of masses off by half a unit, and rounding of reduced
	// costs is far below its units. What Verify charges, it charges at the whole largest cost.
	off := c.offset * 0x1p-51
	upper += c.offset
	upper += off + c.top*b.slack + 4*math.SmallestNonzeroFloat64
	lower += c.offset
	lower -= off + lower*0x1p-51 + unscale(c.rng, c.exp, 1)*0x1p-51 + 4*math.SmallestNonzeroFloat64
	return math.Min(upper*(1+0x1p-51), c.top), math.Max(0, lower)
}

// dual returns the dual value of potentials in units of the cost, rounded down, when scaling back has rounded
// them.
func (in *instance) dual(p projection.Potentials) float64 {
	f := make([]float64, len(in.Rows))
	for n, i := range in.Rows {
		f[n] = p.F[i]
	}
	value, off := kl.Dual(in.mass, f, p.G, in.Lo, in.Hi)
	// As in shift; products may also underflow, each by half the smallest float at most.
	value -= off + float64(7*len(f)+3*in.Kv)*math.SmallestNonzeroFloat64
	if !(value > 0) { // also when a term overflows
		return 0
	}
	return math.Min(math.Nextafter(value, 0), math.MaxFloat64)
}

// col returns the column that the n-th live one is.
func (in *instance) col(n int) int {
	if in.cols == nil {
		return n
	}
	return in.cols[n]
}

// everywhere returns kv entries: x in the live columns, other elsewhere.
func (in *instance) everywhere(x []float64, other float64) []float64 {
	y := make([]float64, in.Kv)
	for j := range y {
		y[j] = other
	}
	for n, v := range x {
		y[in.col(n)] = v
	}
	return y
}

// unscale returns x / 2^exp, rounded towards the sign of dir.
func unscale(x float64, exp, dir int) float64 {
	if exp == 0 {
		return x
	}
	y := math.Ldexp(x, -exp)
	if dir != 0 && (math.Ldexp(y, exp) != x || math.IsInf(y, 0)) {
		y = math.Nextafter(y, math.Inf(dir))
	}
	if dir > 0 {
		y = math.Min(y, math.MaxFloat64)
	}
	return math.Max(-math.MaxFloat64, math.Min(y, math.MaxFloat64))
}

// potentials extends the bounds' potentials to columns without a part and to rows without mass, such that f_i + g_j
// <= C_ij for all floats returned. If the context ends on the way, rows that were not read get potentials that hold
// for all costs, as do columns without a part, and the status is Cancelled.
func (in *instance) potentials(ctx context.Context, c *core, r *Result, b *certificate) error {
	f, g := make([]float64, in.K), in.everywhere(b.b, 0)
	in.unscaled(c, b, f, g)
	w := newWatch(ctx)
	if in.cols != nil {
		in.deadColumns(w, c, f, g)
	}
	r.Potentials = projection.Potentials{F: f, G: g}
	err := in.bareRows(w, f, g, r.Settings.AllRows)
	if w.cut() {
		r.Status = Cancelled
	}
	return err
}

// unscaled sets the potentials of rows with mass and live columns, in units of the cost as it was given. g holds those
// of the bounds.
func (in *instance) unscaled(c *core, b *certificate, f, g []float64) {
	down := math.Inf(-1)
	for n, x := range b.f {
		y := unscale(x, c.exp, 0)
		if c.exp != 0 {
			// Scaled costs may be off by the smallest float, and unscaled sums rounded.
			y = math.Nextafter(unscale(x-0x1p-1000, c.exp, -1), down)
		}
		if c.base != nil {
			// Reduced costs may be off by 2^-52 of their range.
			y = math.Nextafter(y-unscale(c.rng, c.exp, 1)*0x1p-52, down)
			y = math.Nextafter(c.base[n]+y, down)
		}
		f[in.Rows[n]] = math.Max(y, -math.MaxFloat64)
	}
	if c.exp == 0 {
		return
	}
	for n, x := range b.b {
		// No potential of a row exceeds the largest float, so the least one will do for any.
		g[in.col(n)] = math.Max(math.Nextafter(unscale(x, c.exp, 0), down), -math.MaxFloat64)
	}
}

// bareRows sets f in the rows without mass: to the largest potentials, from their costs, or to one that holds for all
// costs, since those are not negative.
func (in *instance) bareRows(w *watch, f, g []float64, read bool) error {
	top := max(0, slices.Max(g))
	var bare []int
	n := 0
	for i := range f {
		if n < len(in.Rows) && in.Rows[n] == i {
			if n++; in.mass[n-1] > 0 {
				continue
			}
		}
		f[i] = -top
		bare = append(bare, i)
	}
	if bare == nil || !read || in.gridRows(f, g, bare) {
		return nil
	}
	err := rowcache.Read(w.ctx, in.matrix, bare, nil, func(n int, row []float64) error {
		if err := projection.CheckRow(bare[n], row, in.Kv); err != nil {
			return err
		}
		f[bare[n]] = max(math.Nextafter(loops.MinDiff(row, g), math.Inf(-1)), -math.MaxFloat64)
		return nil
	})
	if err != nil && w.ended() && err == w.ctx.Err() {
		return nil
	}
	return err
}

// deadColumns sets g in the columns that take no part to the largest potentials that will do, or to some that hold for
// all costs if the context ends.
func (in *instance) deadColumns(w *watch, c *core, f, g []float64) {
	least := make([]float64, in.Kv)
	part := slices.Repeat([]float64{math.MaxFloat64}, loops.Chunks(c.k, in.Kv)*in.Kv)
	w.rows(c.k, in.Kv, func(ch, a int) {
		if in.mass[a] > 0 {
			loops.MinInto(part[ch*in.Kv:(ch+1)*in.Kv], c.full[a], f[in.Rows[a]])
		}
	})
	loops.JoinMinima(least, part)
	top := 0.0
	for a, i := range in.Rows {
		if in.mass[a] > 0 {
			top = max(top, f[i])
		}
	}
	for _, j := range in.cols {
		least[j] = math.NaN()
	}
	for j, x := range least {
		switch {
		case math.IsNaN(x): // takes part
		case w.cut():
			g[j] = -top
		default:
			g[j] = max(math.Nextafter(x, math.Inf(-1)), -math.MaxFloat64)
		}
	}
}
