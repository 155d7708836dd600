package discs

import (
	"sort"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// Rows are the rows of a policy, read by their thresholds. They are safe for concurrent use.
type Rows struct {
	*Tree
	in, out    []int32
	thresholds []int32
	box        *ldp.Polytope
	base       uint64 // sum lo
	lo, width  Sums   // of lo, and of hi - lo
}

// Of returns the rows of a policy whose geometry is points or a grid, and nil for any other policy.
func Of(p policy.Policy) *Rows {
	g := p.Geometry()
	if g == nil || p.HasCodes() {
		return nil
	}
	box, kv, axes := p.Polytope(), p.Outputs(), g.Axes
	r := &Rows{in: g.InputPoints, out: g.OutputPoints, thresholds: p.Thresholds(), box: box}
	switch g.Kind {
	case policy.Points:
	case policy.Grid:
		axes = 2
		for j := range kv { // see policy.Geometry
			r.out = append(r.out, int32(j%g.Cols*g.Rows), int32(j/g.Cols*g.Cols))
		}
	default:
		return nil
	}
	if r.in == nil {
		r.in = r.out
	}
	r.Tree = NewTree(r.out, axes)
	r.lo, r.width = r.Sums(box.Lo), r.Sums(func(j int) uint64 { return box.Hi(j) - box.Lo(j) })
	r.base = r.lo.exact[kv]
	return r
}

// Disc appends to spans the positions of the outputs that row i has at hi, and returns its threshold and what the
// threshold has above lo. ok is false if the threshold is wrong, and the row the policy's fallback.
func (r *Rows) Disc(i int, spans []int32) (_ []int32, threshold int, rest uint64, ok bool) {
	t, x := r.thresholds[i], r.in[i*r.axes:][:r.axes]
	key := uint64(0)
	for a, v := range x {
		d := int64(v) - int64(r.out[int(t)*r.axes+a])
		key += uint64(d) * uint64(d)
	}
	from := len(spans)
	spans = r.Before(x, key, t, spans)
	sum, ok := r.width.Of(spans[from:])
	left := r.box.Total() - r.base
	if !ok || sum > left || left-sum > r.box.Hi(int(t))-r.box.Lo(int(t)) {
		return spans, int(t), 0, false
	}
	return spans, int(t), left - sum, true
}

// Draw returns the output that a uniform word draws from row i; ok is as for Disc.
func (r *Rows) Draw(i int, word uint64) (j int, ok bool) {
	x := word >> (64 - r.box.Bits())
	spans, t, _, ok := r.Disc(i, make([]int32, 0, 256))
	if !ok {
		return 0, false
	}
	find := func(sums []uint64, from, to int32, x uint64) int { // the position in which sums goes above x
		n := sort.Search(int(to-from), func(n int) bool { return sums[int(from)+n+1]-sums[from] > x })
		return int(r.cols[int(from)+n])
	}
	if x < r.base {
		return find(r.lo.exact, 0, int32(len(r.cols)), x), true
	}
	x -= r.base
	for s := 0; s < len(spans); s += 2 {
		part := r.width.exact[spans[s+1]] - r.width.exact[spans[s]]
		if x < part {
			return find(r.width.exact, spans[s], spans[s+1], x), true
		}
		x -= part
	}
	return t, true
}
