package cost

import "math"

// Cosine is the cost 1 - cos(x_i, v_j), in [0, 2]. It is not a metric. A zero vector has no
// direction; its distance to every vector, itself included, is 1.
//
// It is computed as |x/|x| - v/|v||²/2, clamped to [0, 2]. This is the same number without the cancellation of 1 - cos:
// vectors that are equal, or multiples by a power of two, have cost exactly 0, and nearly parallel vectors keep their
// digits. The absolute error is at most (n + 8)·2^-52. Lengths do not matter: vectors are scaled by a power of two
// before the norm.
type Cosine struct {
	k, kv, dim int
	x, v       []float64 // as given, for SpecOf
	ux, uv     []float64 // unit vectors, or zero
	zx, zv     []bool    // zero vectors
	same       bool
}

// NewCosine returns the cosine cost between the vectors x (rows) and v (columns); a nil v means x.
// The vectors are copied. The error is ErrShape, ErrTooLarge or ErrPoint.
func NewCosine(x, v [][]float64) (*Cosine, error) {
	s, err := newSides(x, v)
	if err != nil {
		return nil, err
	}
	c := &Cosine{k: s.k, kv: s.kv, dim: s.dim, x: s.x, v: s.v, same: s.same}
	c.ux, c.zx = units(c.x, c.dim)
	if c.same {
		c.uv, c.zv = c.ux, c.zx
	} else {
		c.uv, c.zv = units(c.v, c.dim)
	}
	return c, nil
}

// units returns the vectors divided by their norms, and which of them are zero.
func units(x []float64, dim int) (u []float64, zero []bool) {
	u = make([]float64, len(x))
	zero = make([]bool, len(x)/dim)
	for i := range zero {
		a := x[i*dim : (i+1)*dim]
		m, e := norm(a, nil)
		if m == 0 {
			zero[i] = true
			continue
		}
		for t, b := range a {
			u[i*dim+t] = math.Ldexp(b, -e) / m
		}
	}
	return u, zero
}

// Dim returns the number of coordinates.
func (c *Cosine) Dim() int { return c.dim }

// Dims returns the numbers of vectors x and v.
func (c *Cosine) Dims() (k, kv int) {
	if c == nil {
		return 0, 0
	}
	return c.k, c.kv
}

// Row computes row i in buf; see Matrix.
func (c *Cosine) Row(i int, buf []float64) []float64 {
	x := c.ux[i*c.dim : (i+1)*c.dim]
	buf = buffer(buf, c.kv)
	v := c.uv
	for j := range buf {
		y := v[:len(x)]
		v = v[len(x):]
		if c.zx[i] || c.zv[j] {
			buf[j] = 1
			continue
		}
		buf[j] = min(squares(x, y)/2, 2)
	}
	return buf
}
