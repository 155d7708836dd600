package policy

import (
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
	var p *places
	var err error
	switch g.Kind {
	case Points:
		p, err = g.points(kv)
	case Grid:
		p, err = g.cells(kv)
	case Ring:
		p, err = g.steps(kv)
	default:
		err = fmt.Errorf("%w: geometry %.24q", ErrMode, g.Kind)
	}
	if err != nil {
		return nil, err
	}
	if len(p.in)%p.axes != 0 || len(p.in)/p.axes != k {
		return nil, fmt.Errorf("%w: %d coordinates on %d axes for %d inputs", ErrShape, len(p.in), p.axes, k)
	}
	if p.spread() >= maxKey2 && p.length() >= maxKey2/4 {
		return nil, fmt.Errorf("%w: squared distances may reach 2^63", ErrLimit)
	}
	return p, nil
}

// alien says that a geometry has what only one of another kind has.
func (g *Geometry) alien() error {
	return fmt.Errorf("%w: a %s with what only another geometry has", ErrShape, g.Kind)
}

func (g *Geometry) points(kv int) (*places, error) {
	p := &places{axes: g.Axes, wrap: noWrap, in: g.InputPoints, out: g.OutputPoints}
	if g.Axes < 1 || len(p.out)%g.Axes != 0 || len(p.out)/g.Axes != kv {
		return nil, fmt.Errorf("%w: %d coordinates on %d axes for %d outputs", ErrShape, len(p.out), g.Axes, kv)
	}
	if g.Rows != 0 || g.Cols != 0 {
		return nil, g.alien()
	}
	if p.in == nil {
		p.in = p.out
	}
	return p, nil
}

func (g *Geometry) cells(kv int) (*places, error) {
	if g.Rows < 1 || kv%g.Rows != 0 || kv/g.Rows != g.Cols {
		return nil, fmt.Errorf("%w: a grid of %d x %d cells for %d outputs", ErrShape, g.Rows, g.Cols, kv)
	}
	if g.Axes != 0 || g.InputPoints != nil || g.OutputPoints != nil {
		return nil, g.alien()
	}
	p := &places{axes: 2, wrap: noWrap}
	for j := range kv {
		p.out = append(p.out, int32(j%g.Cols*g.Rows), int32(j/g.Cols*g.Cols))
	}
	p.in = p.out
	return p, nil
}

func (g *Geometry) steps(kv int) (*places, error) {
	if g.Axes != 0 || g.Rows != 0 || g.Cols != 0 || g.InputPoints != nil || g.OutputPoints != nil {
		return nil, g.alien()
	}
	p := &places{axes: 1, wrap: int64(kv)}
	for j := range kv {
		p.out = append(p.out, int32(j))
	}
	p.in = p.out
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
	clear(keys)
	for a, v := range x {
		at := p.out[a:]
		for j := range keys {
			d := int64(v) - int64(at[j*p.axes])
			keys[j] += uint64(d) * uint64(d)
		}
	}
}

// raise sets row to the row that ends before column t of a key: what comes before it in the order for x is at hi, the
// rest at lo. It returns the sum of the row, as over 2^64 + sum, and whether anything comes before t, as 1 or 0. It has
// no branch on the key, on t or on what is in x.
func (c *content) raise(row []uint64, x []int32, key uint64, t int) (sum, over, some uint64) {
	c.places.keys(x, row)
	lo, width := c.columns()
	var carry uint64
	for j, k := range row {
		first := before(k, j, key, t)
		row[j] = lo[j] + width[j]&-first
		sum, carry = bits.Add64(sum, row[j], 0)
		over += carry
		some |= first
	}
	return sum, over, some
}

// before returns 1 if an output of a key comes before another in the order, else 0.
func before(key uint64, j int, otherKey uint64, other int) uint64 {
	_, less := bits.Sub64(key, otherKey, 0)
	_, differ := bits.Sub64(0, key^otherKey, 0)
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
	n := make([]uint64, box.Len())
	sum, over, _ := c.raise(n, x, p.key(x, scan(p.out, p.axes, t)), t)
	_, width := c.columns()
	room := uint64(0) // the width of t
	for j, v := range width {
		room |= v & -uint64(subtle.ConstantTimeEq(int32(j), int32(t)))
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
	x := c.places.input(i)
	sum, over, _ := c.raise(row, x, c.places.key(x, c.places.output(t)), t)
	_, width := c.columns()
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
	if c.Codes != nil { // whose discs have the inputs for outputs
		c.places, err = c.Geometry.places(c.Inputs, c.Inputs)
		return err
	}
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

// Thresholds returns those of Config: nil for a policy without a geometry, and with codes.
func (p Policy) Thresholds() []int32 { return slices.Clone(p.get().Thresholds) }
