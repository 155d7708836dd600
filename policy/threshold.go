package policy

import (
	"cmp"
	"context"
	"crypto/subtle"
	"fmt"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/ldp"
)

// The geometries of a policy.
const (
	Points = "points" // vectors of integers
	Grid   = "grid"   // the cells of a grid over the unit square, row by row
	Ring   = "ring"   // points at equal distances on a circle
)

// Geometry ranks the outputs for each input by an integer key, and outputs with equal keys by index. For points the key
// is the squared Euclidean distance. For a grid it is the squared distance of the vectors (column * Rows, row * Cols),
// which orders cells as the distance of their centres does. For a ring it is the square of the number of steps.
type Geometry struct {
	Kind       string
	Rows, Cols int // of a grid
	Axes       int // of points
	// InputPoints and OutputPoints hold the vectors one after the other. Without InputPoints the inputs are the outputs,
	// as on a grid and a ring.
	InputPoints, OutputPoints []int32
}

// inputs returns the number of inputs, if the geometry is one for kv outputs.
func (g *Geometry) inputs(kv int) int {
	if g.InputPoints == nil {
		return kv
	}
	return len(g.InputPoints) / max(g.Axes, 1)
}

func (g *Geometry) clone() *Geometry {
	c := *g
	c.InputPoints, c.OutputPoints = slices.Clone(c.InputPoints), slices.Clone(c.OutputPoints)
	return &c
}

// places are the vectors of a geometry.
type places struct {
	axes    int
	wrap    int64 // the length of the way round
	in, out []int32
}

// noWrap is a way round that is never the shorter one.
const noWrap = 1 << 33

// maxKey2 is above every key.
const maxKey2 = 1 << 63

// places checks a geometry for k inputs and kv outputs, and returns its vectors. No key of it reaches 2^63: a key is at
// most the sum over the axes of (max - min)^2, and at most 4 max |x|^2.
func (g *Geometry) places(k, kv int) (*places, error) {
	p := &places{axes: g.Axes, wrap: noWrap, in: g.InputPoints, out: g.OutputPoints}
	var size int
	switch g.Kind {
	case Points:
		if size = g.Axes; size < 1 || len(p.out)%size != 0 || len(p.out)/size != kv {
			return nil, fmt.Errorf("%w: %d coordinates on %d axes for %d outputs", ErrShape, len(p.out), size, kv)
		}
	case Grid:
		p.axes = 2
		if g.Rows < 1 || kv%g.Rows != 0 || kv/g.Rows != g.Cols {
			return nil, fmt.Errorf("%w: a grid of %d x %d cells for %d outputs", ErrShape, g.Rows, g.Cols, kv)
		}
		for j := range kv {
			p.out = append(p.out, int32(j%g.Cols*g.Rows), int32(j/g.Cols*g.Cols))
		}
	case Ring:
		p.axes, p.wrap = 1, int64(kv)
		for j := range kv {
			p.out = append(p.out, int32(j))
		}
	default:
		return nil, fmt.Errorf("%w: geometry %.24q", ErrMode, g.Kind)
	}
	if size != g.Axes || g.Kind != Grid && (g.Rows != 0 || g.Cols != 0) || size == 0 && g.InputPoints != nil {
		return nil, fmt.Errorf("%w: a %s with what only another geometry has", ErrShape, g.Kind)
	}
	if p.in == nil {
		p.in = p.out
	}
	if len(p.in)%p.axes != 0 || len(p.in)/p.axes != k {
		return nil, fmt.Errorf("%w: %d coordinates on %d axes for %d inputs", ErrShape, len(p.in), p.axes, k)
	}
	if p.spread() >= maxKey2 && p.length() >= maxKey2/4 {
		return nil, fmt.Errorf("%w: squared distances may reach 2^63", ErrLimit)
	}
	return p, nil
}

// spread returns the sum over the axes of (max - min)^2, and length the largest |x|^2, both at most 2^63.
func (p *places) spread() (sum uint64) {
	for a := range p.axes {
		least, most := int64(p.out[a]), int64(p.out[a])
		for _, list := range [][]int32{p.in, p.out} {
			for n := a; n < len(list); n += p.axes {
				least, most = min(least, int64(list[n])), max(most, int64(list[n]))
			}
		}
		sum = addSquare(sum, most-least)
	}
	return sum
}

func (p *places) length() (most uint64) {
	for _, list := range [][]int32{p.in, p.out} {
		for x := range slices.Chunk(list, p.axes) {
			sum := uint64(0)
			for _, v := range x {
				sum = addSquare(sum, int64(v))
			}
			most = max(most, sum)
		}
	}
	return most
}

// addSquare returns sum + d^2, or 2^63 if that is less; |d| < 2^32.
func addSquare(sum uint64, d int64) uint64 {
	return sum + min(uint64(d)*uint64(d), maxKey2-sum)
}

// input and output return vector number i of each.
func (p *places) input(i int) []int32  { return p.in[i*p.axes:][:p.axes] }
func (p *places) output(j int) []int32 { return p.out[j*p.axes:][:p.axes] }

// key returns the key of y for x, without a branch on what is in them.
func (p *places) key(x, y []int32) (sum uint64) {
	for a, v := range x {
		d := int64(v) - int64(y[a])
		d = d ^ d>>63 - d>>63
		other := p.wrap - 2*d // below 0 if the other way round is shorter
		d += other & (other >> 63)
		sum += uint64(d) * uint64(d)
	}
	return sum
}

// keys sets the keys of all outputs for x.
func (p *places) keys(x []int32, keys []uint64) {
	if p.wrap != noWrap {
		for j := range keys {
			keys[j] = p.key(x, p.output(j))
		}
		return
	}
	for a, v := range x {
		at := p.out[a:]
		for j := range keys {
			d := int64(v) - int64(at[j*p.axes])
			if a == 0 {
				keys[j] = 0
			}
			keys[j] += uint64(d) * uint64(d)
		}
	}
}

// before returns 1 if a column of a key comes before another, else 0.
func before(key uint64, j int, otherKey uint64, other int) uint64 {
	_, less := bits.Sub64(key, otherKey, 0)
	d := key ^ otherKey
	_, differ := bits.Sub64(0, d, 0)
	_, first := bits.Sub64(uint64(j), uint64(other), 0)
	return less | (1-differ)&first
}

// scan returns vector number i of a list, by reading all of them.
func scan(list []int32, axes, i int) []int32 {
	x := make([]int32, axes)
	for n := range len(list) / axes {
		mask := -int32(subtle.ConstantTimeEq(int32(n), int32(i)))
		y := list[n*axes:]
		for a := range x {
			x[a] |= mask & y[a]
		}
	}
	return x
}

// fill returns the row of input i: what comes before its threshold is at hi, what comes after at lo, the threshold
// takes the rest. If the rest does not fit, or usable is 0 and not 1, it is the fallback row, by the same work.
//
// Neither the order nor the threshold matters to privacy: any point of the box is private, and ldp checks that this is
// one.
func (c *content) fill(i, usable int) (ldp.Weights, error) {
	p, box := c.places, c.Polytope
	x, t := scan(p.in, p.axes, i), int(scan(c.Thresholds, 1, i)[0])
	key := p.key(x, scan(p.out, p.axes, t))
	n, width := columns(box)
	var over, carry, room uint64 // over * 2^64 + sum is what is taken, room the width of t
	sum := c.base
	for j := range n {
		add := width[j] & -before(p.key(x, p.output(j)), j, key, t)
		n[j] += add
		sum, carry = bits.Add64(sum, add, 0)
		over += carry
		room |= width[j] & -uint64(subtle.ConstantTimeEq(int32(j), int32(t)))
	}
	rest, short := bits.Sub64(box.Total(), sum, 0)
	_, above := bits.Sub64(room, rest, 0)
	_, more := bits.Sub64(0, over, 0)
	good := -(uint64(usable) & (1 - short) & (1 - above) & (1 - more))
	for j := range n {
		n[j] += rest & -uint64(subtle.ConstantTimeEq(int32(j), int32(t)))
		n[j] = n[j]&good | c.fallback.At(j)&^good
	}
	return box.Weights(n)
}

// appendFill appends the weights of fill(i, 1), by the shortest way.
func (c *content) appendFill(n []uint64, i int) []uint64 {
	box, t, from := c.Polytope, int(c.Thresholds[i]), len(n)
	n = append(n, make([]uint64, box.Len())...)
	row := n[from:]
	c.places.keys(c.places.input(i), row)
	key := row[t]
	lo, width := c.columns()
	var sum, over, carry uint64
	for j, k := range row {
		row[j] = lo[j] + width[j]&-before(k, j, key, t)
		sum, carry = bits.Add64(sum, row[j], 0)
		over += carry
	}
	if rest := box.Total() - sum; over == 0 && sum <= box.Total() && rest <= width[t] {
		row[t] += rest
		return n
	}
	for j := range row {
		row[j] = c.fallback.At(j)
	}
	return n
}

func (c *content) checkGeometry() (err error) {
	if c.Geometry == nil {
		if c.Thresholds != nil {
			return fmt.Errorf("%w: thresholds without a geometry", ErrShape)
		}
		return nil
	}
	if c.Rows != nil {
		return fmt.Errorf("%w: rows beside a geometry, which gives them", ErrShape)
	}
	c.Geometry = c.Geometry.clone()
	if c.places, err = c.Geometry.places(c.Inputs, c.Polytope.Len()); err != nil {
		return err
	}
	c.Thresholds = slices.Clone(c.Thresholds)
	if len(c.Thresholds) != c.Inputs {
		return place("thresholds", fmt.Errorf("%w: %d thresholds for %d inputs", ErrShape, len(c.Thresholds), c.Inputs))
	}
	for i, t := range c.Thresholds {
		if t < 0 || int(t) >= c.Polytope.Len() {
			err := fmt.Errorf("%w: the threshold of input %d is output %d of %d", ErrRow, i, t, c.Polytope.Len())
			return place("thresholds", err)
		}
	}
	return nil
}

// VerifyRows checks that the thresholds of the inputs from (included) to (excluded) of a policy with a geometry are
// those of the greedy fill. Right thresholds make the rows useful; the rows are private whatever the thresholds are.
// The error is about the first input with a wrong threshold. To use several cores, call it for a part on each, and take
// the error of the lowest part. It takes O((to - from) kv axes). A policy without a geometry has nothing to check.
//
// Errors: ErrPolicy, ErrShape for inputs that do not exist, ErrRow, and that of ctx, which is checked about every
// millisecond.
func VerifyRows(ctx context.Context, p Policy, from, to int) error {
	c := p.c
	switch {
	case c == nil:
		return ErrPolicy
	case from < 0 || to > c.Inputs || from > to:
		return fmt.Errorf("%w: inputs %d to %d of %d", ErrShape, from, to, c.Inputs)
	case c.Geometry == nil:
		return nil
	}
	_, width := columns(c.Polytope)
	stride := max(1, checkEvery/c.places.axes)
	for i, left := from, 0; i < to; i++ {
		x, t, sum := c.places.input(i), int(c.Thresholds[i]), c.base
		key := c.places.key(x, c.places.output(t))
		var over, carry, some uint64 // over * 2^64 + sum; in the order of the outputs a branch would be hard to predict
		for j, v := range width {
			if left--; left < 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
				left = stride
			}
			first := before(c.places.key(x, c.places.output(j)), j, key, t)
			sum, carry = bits.Add64(sum, v&-first, 0)
			over += carry
			some |= first
		}
		if some != 0 && (over > 0 || sum >= c.Polytope.Total()) { // where sum lo is 2^B, the threshold is the first of all
			return fmt.Errorf("%w: output %d is too late a threshold for input %d", ErrRow, t, i)
		}
		if sum+width[t] < c.Polytope.Total() {
			return fmt.Errorf("%w: output %d is too early a threshold for input %d", ErrRow, t, i)
		}
	}
	return nil
}

// checkEvery is how many coordinates VerifyRows reads between two looks at its context: about a millisecond.
const checkEvery = 1 << 18

// Thresholds returns the thresholds of the inputs from (included) to (excluded) in a box: for each input the first
// output in its order at which sum lo, plus the widths hi - lo of all outputs up to and including it, reaches 2^B. New
// calls Thresholds if Config has none. To use several cores, call it for a part on each. It takes O((to - from) kv
// axes) expected time.
//
// Errors: ErrShape, ErrLimit, ErrMode.
func (g *Geometry) Thresholds(box *ldp.Polytope, from, to int) ([]int32, error) {
	k := g.inputs(box.Len())
	p, err := g.places(k, box.Len())
	if err != nil {
		return nil, err
	}
	if from < 0 || to > k || from > to {
		return nil, fmt.Errorf("%w: inputs %d to %d of %d", ErrShape, from, to, k)
	}
	lo, width := columns(box)
	need := box.Total()
	for _, v := range lo {
		need -= v
	}
	out, all := make([]int32, 0, to-from), make([]ranked, box.Len())
	for i := from; i < to; i++ {
		for j := range all {
			all[j] = ranked{p.key(p.input(i), p.output(j)), int32(j)}
		}
		out = append(out, reach(all, width, need))
	}
	return out, nil
}

// ranked is a column with its key.
type ranked struct {
	key uint64
	col int32
}

func (a ranked) less(b ranked) bool { return a.key < b.key || a.key == b.key && a.col < b.col }

// reach returns the first column, in the order of all, up to and with which the widths sum to need. It selects, as
// Hoare's quickselect does (1961), and puts all in another order.
func reach(all []ranked, width []uint64, need uint64) int32 {
	for len(all) > 16 {
		a, b, c := all[0], all[len(all)/2], all[len(all)-1]
		if b.less(a) {
			a, b = b, a
		}
		if c.less(a) {
			c = a
		}
		pivot := b // the middle one
		if c.less(b) {
			pivot = c
		}
		m, sum := 0, uint64(0)
		for n, r := range all {
			if r.less(pivot) {
				all[n], all[m] = all[m], r
				m++
				if sum < need { // or it might overflow
					sum += width[r.col]
				}
			}
		}
		if sum >= need && m > 0 {
			all = all[:m]
		} else {
			all, need = all[m:], need-sum
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.col, b.col)) })
	for _, r := range all {
		if width[r.col] >= need {
			return r.col
		}
		need -= width[r.col]
	}
	return all[len(all)-1].col // not possible: sum hi >= 2^B
}
