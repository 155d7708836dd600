package cost

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Points is the Euclidean cost between points of R^n: C_ij = |x_i - v_j|^p.
//
// The distance has a relative error of at most (n/2 + 2)·2^-53, whatever the magnitudes: if squares would overflow or
// lose digits, the differences are scaled by a power of two first. On the line (n = 1), p = 1 gives |x - v| correctly
// rounded.
type Points struct {
	k, kv, dim int
	x, v       []float64 // row-major; v is x when one set serves both sides
	same       bool
	p          power
}

// NewPoints returns the cost between the points x (rows) and v (columns); a nil v means x. All
// points have the same dimension, at least 1. The points are copied.
//
// The error is ErrShape, ErrTooLarge, ErrExponent, ErrPoint (which names the coordinate), or
// ErrNotFinite when a difference or its power overflows. Time and memory are those of the copy,
// unless the box around the points is so large that a power might overflow: then every entry is
// checked.
func NewPoints(x, v [][]float64, p float64) (*Points, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	s, err := newSides(x, v)
	if err != nil {
		return nil, err
	}
	c := &Points{k: s.k, kv: s.kv, dim: s.dim, x: s.x, v: s.v, same: s.same, p: w}
	if err := c.checkRange(); err != nil {
		return nil, err
	}
	return c, nil
}

// checkRange refuses points whose costs overflow. It reads entries only if the box around the points is so large that
// one might.
func (c *Points) checkRange() error {
	if d, e := norm(c.widths(), nil); !c.p.safe(math.Ldexp(d, e)) {
		if err := scan(context.Background(), c); err != nil {
			return fmt.Errorf("cost: points too far apart for p = %v: %w", c.p.p, err)
		}
	}
	return nil
}

// sides is a pair of point sets, copied and checked.
type sides struct {
	k, kv, dim int
	x, v       []float64
	same       bool
}

func newSides(x, v [][]float64) (s sides, err error) {
	if s.x, s.dim, err = newSide("x", x); err != nil {
		return s, err
	}
	s.k = len(x)
	if v == nil {
		s.kv, s.v, s.same = s.k, s.x, true
		return s, nil
	}
	var dim int
	if s.v, dim, err = newSide("v", v); err != nil {
		return s, err
	}
	s.kv = len(v)
	if dim != s.dim {
		return s, fmt.Errorf("%w: points x have %d coordinates, points v have %d", wpmerr.ErrShape, s.dim, dim)
	}
	return s, nil
}

func newSide(name string, points [][]float64) (data []float64, dim int, err error) {
	if err := checkCount("number of points "+name, len(points)); err != nil {
		return nil, 0, err
	}
	data, dim, err = flatten("point "+name, points, wpmerr.ErrShape)
	if err != nil {
		return nil, 0, err
	}
	for at, a := range data {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, 0, fmt.Errorf("%w: %s[%d][%d] = %v, need a finite number", ErrPoint, name, at/dim, at%dim, a)
		}
	}
	return data, dim, nil
}

// norm returns the Euclidean norm of a - b (of a, if b is nil) as m·2^e. m is 0 or +Inf, or
// between 1/2 and 2·sqrt(n).
func norm(a, b []float64) (m float64, e int) {
	diff := func(t int) float64 {
		if b == nil {
			return a[t]
		}
		return a[t] - b[t]
	}
	for t := range a {
		m = max(m, math.Abs(diff(t)))
	}
	if m == 0 || math.IsInf(m, 0) {
		return m, 0
	}
	_, e = math.Frexp(m)
	var s float64
	for t := range a {
		d := math.Ldexp(diff(t), -e) // exact, or negligible beside the largest
		s += float64(d * d)
	}
	return math.Sqrt(s), e
}

// squares returns the sum of (x_t - y_t)², plainly, in four interleaved sums. It is symmetric, as
// the squares are never fused with the additions.
func squares(x, y []float64) float64 {
	y = y[:len(x)]
	var s, s1, s2, s3 float64
	for ; len(x) >= 4; x, y = x[4:], y[4:] {
		_ = y[3]
		d, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s += float64(d * d)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for t, a := range x {
		d := a - y[t]
		s += float64(d * d)
	}
	return (s + s1) + (s2 + s3)
}

// P returns the exponent.
func (c *Points) P() float64 { return c.p.p }

// Dim returns the number of coordinates.
func (c *Points) Dim() int { return c.dim }

// Dims returns the numbers of points x and v.
func (c *Points) Dims() (k, kv int) {
	if c == nil {
		return 0, 0
	}
	return c.k, c.kv
}

// Row computes row i in buf; see Matrix.
func (c *Points) Row(i int, buf []float64) []float64 {
	x := c.x[i*c.dim : (i+1)*c.dim]
	buf = buffer(buf, c.kv)
	switch c.dim {
	case 1:
		lineSquares(buf, c.v, x[0])
	case 2:
		planeSquares(buf, c.v, x[0], x[1])
	case 3:
		spaceSquares(buf, c.v, x[0], x[1], x[2])
	default:
		for j := range buf {
			buf[j] = squares(x, c.v[j*c.dim:(j+1)*c.dim])
		}
	}
	c.powers(buf, x)
	return buf
}

// powers makes the squared distances from x to the points v the entries of its row.
func (c *Points) powers(row, x []float64) {
	switch c.p.p {
	case 1:
		for j, s := range row {
			if row[j] = math.Sqrt(s); !plain(s) {
				row[j] = c.far(x, c.v[j*c.dim:(j+1)*c.dim])
			}
		}
	case 2:
		for j, s := range row {
			if !plain(s) {
				row[j] = c.far(x, c.v[j*c.dim:(j+1)*c.dim])
			}
		}
	default:
		for j, s := range row {
			if row[j] = c.p.ofSquare(s); !plain(s) {
				row[j] = c.far(x, c.v[j*c.dim:(j+1)*c.dim])
			}
		}
	}
}

// plain reports whether a sum of squares, which is no negative number, is good to the last bits. Above 2^-960 the
// squares that underflowed, each off by less than 2^-1074, do not matter.
func plain(s float64) bool {
	const least, most = (1023 - 960) << 52, 0x7ff<<52 - 1 // the bits of 2^-960 and of the largest float64
	return math.Float64bits(s)-least <= most-least
}

// lineSquares is squares for all points v of the line.
func lineSquares(dst, v []float64, x float64) {
	v = v[:len(dst)]
	for j, y := range v {
		d := x - y
		dst[j] = d * d
	}
}

// planeSquares is squares for all points v of the plane.
func planeSquares(dst, v []float64, x0, x1 float64) {
	for len(dst) >= 4 && len(v) >= 8 {
		d0, d1, d2, d3 := x0-v[0], x1-v[1], x0-v[2], x1-v[3]
		dst[0], dst[1] = float64(d0*d0)+float64(d1*d1), float64(d2*d2)+float64(d3*d3)
		d0, d1, d2, d3 = x0-v[4], x1-v[5], x0-v[6], x1-v[7]
		dst[2], dst[3] = float64(d0*d0)+float64(d1*d1), float64(d2*d2)+float64(d3*d3)
		dst, v = dst[4:], v[8:]
	}
	for j := range dst {
		d0, d1 := x0-v[2*j], x1-v[2*j+1]
		dst[j] = float64(d0*d0) + float64(d1*d1)
	}
}

// spaceSquares is squares for all points v of space.
func spaceSquares(dst, v []float64, x0, x1, x2 float64) {
	for j := range dst {
		y := v[3*j : 3*j+3 : 3*j+3]
		d0, d1, d2 := x0-y[0], x1-y[1], x2-y[2]
		dst[j] = float64(d0*d0) + float64(d1*d1) + float64(d2*d2)
	}
}

// far is the entry for points that are equal, or so near or so far that squares leave the range.
func (c *Points) far(x, y []float64) float64 {
	m, e := norm(x, y)
	if c.p.p == 2 {
		return math.Ldexp(m*m, 2*e)
	}
	return c.p.of(math.Ldexp(m, e))
}
