package cost

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A Metric is a Matrix that knows the distance behind its entries: C_ij = Scale·d(x_i, v_j)^Power between inputs x_i
// and outputs v_j. It is an optional interface. Every cost of this package but Dense implements it, and a type of
// another package may. All that a program wants to know about the geometry of a cost, it asks here. So a new metric
// needs no change elsewhere to have bounds by the triangle inequality, groups of places, maps and forecasts.
//
// As Matrix, this is a contract between programs, not a check on data. A type that states a wrong Space gets wrong
// bounds, but no wrong policy: what a policy states is proved from its entries.
type Metric interface {
	Matrix

	// Space says how entries come from distances. It takes O(k) time at most.
	Space() Space

	// Distances returns d(x_i, x_j), k x k: the distances of the inputs from each other, symmetric, zero on the diagonal,
	// and with the triangle inequality but for the errors that Space states. The error is ErrNotFinite if one overflows.
	Distances() (Matrix, error)

	// Between returns the cost of the inputs as outputs, k x k. It is the cost itself if Space().Same. The error is
	// ErrNotFinite if an entry overflows.
	Between() (Matrix, error)
}

// Space says how the entries of a Metric come from distances, and which rows are alike.
type Space struct {
	Power float64 // p of C = Scale·d^p, finite and > 0
	Scale float64 // finite and > 0; 1 but for Cosine
	Same  bool    // the outputs are the inputs

	// Rel and Abs bound how far (C_ij/Scale)^(1/Power), in floats, is from the distance: relative, and absolute beyond
	// that. Abs is +Inf if some entries are those of no distance; Distances then serves maps, but proves nothing.
	Rel, Abs float64

	// First says that no input costs more than input 0: the row of any input, with its entries in another order, is
	// nowhere above row 0, but for the errors of both. Exact says that there are no errors: it is so to the last bit.
	First, Exact bool
	// Transitive says that each row, and each column, is row 0 in another order, bit for bit. It implies First and Exact.
	Transitive bool
	// Far holds inputs far from input 0 which cost as much, if First.
	Far []int
}

// SpaceOf returns the Space of a valid matrix, or the zero Space if it is no Metric, or states no power and scale.
func SpaceOf(m Matrix) Space {
	metric, ok := m.(Metric)
	if !ok || checkDims(m) != nil {
		return Space{}
	}
	s := metric.Space()
	if positive := func(x float64) bool { return x > 0 && x <= math.MaxFloat64 }; !positive(s.Power) || !positive(s.Scale) {
		return Space{}
	}
	return s
}

// PowerKey names the metadata of a policy that state the power of a matrix whose entries are distances to that power: a
// Spec writes out a Metric of another package without it.
const PowerKey = "cost_power"

// PowerOf returns the power that metadata state, or 0 if they state none. The error is ErrExponent.
func PowerOf(metadata map[string]string) (float64, error) {
	text, ok := metadata[PowerKey]
	if !ok {
		return 0, nil
	}
	p, err := strconv.ParseFloat(text, 64)
	if err != nil || !(p > 0 && p <= math.MaxFloat64) {
		return 0, fmt.Errorf("%w: the metadata %s are %.40q", ErrExponent, PowerKey, text)
	}
	return p, nil
}

// structured is what the costs of this package have in common that compute their entries.
type structured interface {
	Metric
	bound() float64 // see Bound
	spec() Spec     // see SpecOf
}

// Structured reports whether m is a type of this package that computes its entries. These were checked when m was
// built, and cannot change.
func Structured(m Matrix) bool {
	_, ok := m.(structured)
	return ok
}

// Exponent returns the p with C = d^p for a distance d, if m is a Metric of scale 1. W_p is then the objective to the
// power 1/p. For any other matrix ok is false, also for Cosine, which is half the square of a distance.
func Exponent(m Matrix) (p float64, ok bool) {
	s := SpaceOf(m)
	if s.Scale != 1 {
		return 0, false
	}
	return s.Power, true
}

// Separable returns m if it is a grid at squared distance, or nil. Its kernel exp(-C/Reg) is that of the rows of cells
// times that of the columns.
func Separable(m Matrix) *Grid {
	if g, ok := m.(*Grid); ok && g != nil && g.p.p == 2 {
		return g
	}
	return nil
}

// relOf bounds the relative error of the root of a cost of so many axes: of distances (axes/2 + 2)·2^-53, of powers and
// roots a few 2^-53.
func relOf(axes int) float64 { return float64(axes+32) * 0x1p-52 }

// boundOf is a bound on d^p for distances up to the given one.
func (w power) boundOf(distance float64) float64 {
	const slack = 1 + 1e-9 // far more than distances and powers are off
	d := w.of(distance*slack)*slack + math.SmallestNonzeroFloat64
	return min(d, math.MaxFloat64) // entries are finite
}

// Space returns what is known of the distance: see Metric.
func (r *Ring) Space() Space {
	return Space{Power: r.p.p, Scale: 1, Same: true, Rel: relOf(2), First: true, Exact: true, Transitive: true,
		Far: []int{r.n / 2}}
}

// Distances returns the ring with p = 1. There is no error.
func (r *Ring) Distances() (Matrix, error) { return built(NewRing(r.n, 1)) }

// Between returns the ring. There is no error.
func (r *Ring) Between() (Matrix, error) { return r, nil }

func (r *Ring) bound() float64 { return maxOf(r.table) }
func (r *Ring) spec() Spec     { return Spec{Kind: "ring", N: r.n, P: r.p.p} }

// Space returns what is known of the distance: see Metric. The first cell costs most: at least n+1 of R rows are n < R
// steps at most from any row, and just so many from the first. So the rows can be numbered by a permutation that takes
// each to one that is as far from the first, or farther; so can the columns.
func (g *Grid) Space() Space {
	k := g.rows * g.cols
	return Space{Power: g.p.p, Scale: 1, Same: true, Rel: relOf(2), First: true, Exact: g.sorted,
		Far: []int{g.cols - 1, k - g.cols, k - 1}}
}

// Distances returns the grid with p = 1. There is no error.
func (g *Grid) Distances() (Matrix, error) { return built(NewGrid(g.rows, g.cols, 1)) }

// Between returns the grid. There is no error.
func (g *Grid) Between() (Matrix, error) { return g, nil }

func (g *Grid) bound() float64 { return maxOf(g.table) }
func (g *Grid) spec() Spec     { return Spec{Kind: "grid", Rows: g.rows, Cols: g.cols, P: g.p.p} }

// Space returns what is known of the distance: see Metric.
func (c *Points) Space() Space { return Space{Power: c.p.p, Scale: 1, Same: c.same, Rel: relOf(c.dim)} }

// Distances returns the distances of the points x. The error is ErrNotFinite if one overflows.
func (c *Points) Distances() (Matrix, error) { return c.among(power{p: 1}) }

// Between returns the cost between the points x. The error is ErrNotFinite if an entry overflows.
func (c *Points) Between() (Matrix, error) { return c.among(c.p) }

// among returns the points x on both sides, at a power.
func (c *Points) among(p power) (Matrix, error) {
	if c.same && c.p == p {
		return c, nil
	}
	d := &Points{k: c.k, kv: c.k, dim: c.dim, x: c.x, v: c.x, same: true, p: p}
	return built(d, d.checkRange())
}

func (c *Points) bound() float64 {
	d, e := norm(c.widths(), nil)
	return c.p.boundOf(math.Ldexp(d, e))
}

func (c *Points) spec() Spec {
	s := sides{x: c.x, v: c.v, dim: c.dim, same: c.same}.spec("points")
	s.P = c.p.p
	return s
}

// Space returns what is known of the distance: see Metric.
func (c *GreatCircle) Space() Space {
	return Space{Power: c.p.p, Scale: 1, Same: c.same, Rel: relOf(2), Abs: 1e-10} // km, ten times what the type states
}

// Distances returns the kilometres between the places x. There is no error.
func (c *GreatCircle) Distances() (Matrix, error) { return c.among(power{p: 1}) }

// Between returns the cost between the places x. The error is ErrNotFinite if an entry overflows.
func (c *GreatCircle) Between() (Matrix, error) { return c.among(c.p) }

// among returns the places x on both sides, at a power.
func (c *GreatCircle) among(p power) (Matrix, error) {
	if c.same && c.p == p {
		return c, nil
	}
	d := &GreatCircle{x: c.x, v: c.x, same: true, haversine: c.haversine, p: p}
	return built(d, d.checkRange())
}

// bound goes round by the first places, if that is no further than half round the Earth.
func (c *GreatCircle) bound() float64 {
	var in, out float64
	for _, x := range c.x {
		in = max(in, c.kilometres(x, c.v[0]))
	}
	for _, v := range c.v {
		out = max(out, c.kilometres(c.x[0], v))
	}
	return c.p.boundOf(min(in+c.kilometres(c.x[0], c.v[0])+out+1e-9, math.Pi*EarthRadius))
}

func (c *GreatCircle) spec() Spec {
	flat := func(at []place) (out []float64) {
		for _, a := range at {
			out = append(out, a.lat, a.lon)
		}
		return out
	}
	kind := "greatcircle-2"
	if c.haversine {
		kind = "greatcircle"
	}
	s := sides{x: flat(c.x), v: flat(c.v), dim: 2, same: c.same}.spec(kind)
	s.P = c.p.p
	return s
}

// Space returns what is known of the distance, which is that of unit vectors: 1 - cos is half its square. A zero vector
// among x is at cost 1 from itself, which is no distance.
func (c *Cosine) Space() Space {
	s := Space{Power: 2, Scale: 0.5, Same: c.same, Rel: relOf(c.dim)}
	s.Abs = math.Sqrt(2 * float64(c.dim+8) * 0x1p-52) // the cost is off by half of that, squared
	if slices.Contains(c.zx, true) {
		s.Abs = math.Inf(1)
	}
	return s
}

// Distances returns the chords between the directions of the vectors x. A zero vector is as far from all others as a
// right angle. There is no error.
func (c *Cosine) Distances() (Matrix, error) { return chords{c.among()}, nil }

// Between returns the cost between the vectors x. There is no error.
func (c *Cosine) Between() (Matrix, error) { return c.among(), nil }

func (c *Cosine) among() *Cosine {
	if c.same {
		return c
	}
	return &Cosine{k: c.k, kv: c.k, dim: c.dim, x: c.x, v: c.x, ux: c.ux, uv: c.ux, zx: c.zx, zv: c.zx, same: true}
}

func (c *Cosine) bound() float64 { return 2 }
func (c *Cosine) spec() Spec {
	return sides{x: c.x, v: c.v, dim: c.dim, same: c.same}.spec("cosine")
}

// chords are the distances of unit vectors with costs 1 - cos.
type chords struct{ *Cosine }

func (c chords) Row(i int, buf []float64) []float64 {
	row := c.Cosine.Row(i, buf)
	for j, v := range row {
		row[j] = math.Sqrt(2 * v)
	}
	row[i] = 0
	return row
}

// spec returns copies of the points.
func (s sides) spec(kind string) Spec {
	out := Spec{Kind: kind, X: unflatten(s.x, s.dim)}
	if !s.same {
		out.V = unflatten(s.v, s.dim)
	}
	return out
}
