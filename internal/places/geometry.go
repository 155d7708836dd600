package places

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
)

// Geometry is a cost with the names of its points.
type Geometry struct {
	Cost        cost.Matrix
	Inputs      []string // nil: numbered
	Outputs     []string
	Unit        Unit
	SameSupport bool   // inputs and outputs are the same points
	What        string // in words
	Pairs       string // what pairs the inputs are, as plane.Form has it; or ""
	between     string // unit of distances between places, if it is not that of the cost
}

// Matrix is the geometry of a cost matrix, whose entries are d^p already.
func Matrix(d *cost.Dense) Geometry {
	return Geometry{
		Cost: d, Unit: UnitOf("explicit", 0, 0, 0), SameSupport: zeroDiagonal(d),
		What: fmt.Sprintf("cost matrix, %d x %d", d.K, d.Kv),
	}
}

// zeroDiagonal guesses whether the rows and columns of a matrix are the same points.
func zeroDiagonal(d *cost.Dense) bool {
	for i := range d.K {
		if d.K != d.Kv || d.Data[i*d.Kv+i] != 0 {
			return false
		}
	}
	return true
}

// Ring is n points on a ring.
func Ring(n int, p float64) (Geometry, error) {
	m, err := cost.NewRing(n, p)
	return Geometry{
		Cost: m, Unit: UnitOf("ring", p, 0, 0), SameSupport: true, What: fmt.Sprintf("ring of %d points, p = %v", n, p),
	}, err
}

// Grid is the cells of the unit square.
func Grid(rows, cols int, p float64) (Geometry, error) {
	m, err := cost.NewGrid(rows, cols, p)
	return Geometry{
		Cost: m, Unit: UnitOf("grid", p, rows, cols), SameSupport: true,
		What: fmt.Sprintf("grid of %d x %d cells of the unit square, p = %v", rows, cols, p),
	}, err
}

// Metric names the unit of distances between places themselves: of unit vectors for cosine, whose cost is none.
func (g Geometry) Metric() string {
	return cmp.Or(g.between, g.Unit.Name)
}

// ParseGrid reads ROWSxCOLS.
func ParseGrid(s string) (rows, cols int, err error) {
	r, c, ok := strings.Cut(s, "x")
	if ok {
		var err1, err2 error
		rows, err1 = strconv.Atoi(r)
		cols, err2 = strconv.Atoi(c)
		ok = err1 == nil && err2 == nil && rows > 0 && cols > 0
	}
	if !ok {
		return 0, 0, fmt.Errorf("%q is not of the form 20x20", s)
	}
	return rows, cols, nil
}

// A File is points and the name that errors give their file.
type File struct {
	Name string
	*costio.Points
}

// ErrPower is for a power of a cost that has none.
var ErrPower = errors.New("the cost is 1 - cos, which has no power")

// Points is the geometry of input points, and of output points unless out is nil. metric is euclidean, manhattan,
// cosine, greatcircle, or empty: greatcircle for columns lat and lon, else euclidean. Errors: ErrPower for cosine and
// another p than 1; those of the files name them.
func Points(in File, out *File, metric string, p float64) (g Geometry, err error) {
	to, v := in, [][]float64(nil)
	if out != nil {
		to, v = *out, out.X
		if a, b := len(in.X[0]), len(to.X[0]); a != b {
			return g, fmt.Errorf("%s has %d coordinates a point, %s %d", in.Name, a, to.Name, b)
		}
		if !slices.Equal(in.Columns, to.Columns) {
			return g, fmt.Errorf("%s has the columns %s, %s %s", in.Name, in.columns(), to.Name, to.columns())
		}
	}
	for _, f := range []File{to, in} {
		if err := f.checkLabels(); err != nil {
			return g, err
		}
	}
	if metric == "" {
		metric = "euclidean"
		if in.Geographic() {
			metric = "greatcircle"
		}
	}
	g = Geometry{Inputs: in.Labels, Outputs: to.Labels, SameSupport: v == nil}
	switch metric {
	case "euclidean":
		g.Unit = UnitOf("points", p, 0, 0)
		if in.Geographic() {
			g.Unit.Name = "degrees"
		}
		g.Cost, err = cost.NewPoints(in.X, v, p)
	case "manhattan":
		g.Unit = UnitOf("points", p, 0, 0)
		g.Cost, err = cost.Manhattan(in.X, v, p)
	case "cosine":
		if p != 1 {
			return g, ErrPower
		}
		g.Unit, g.between = UnitOf("cosine", 0, 0, 0), "(distance of unit vectors)"
		g.Cost, err = cost.NewCosine(in.X, v)
	case "greatcircle":
		if !in.Geographic() {
			return g, fmt.Errorf("it needs columns lat and lon, and a header that says which is which; "+
				"%s has %s", in.Name, in.columns())
		}
		g.Unit = UnitOf("greatcircle", p, 0, 0)
		g.Cost, err = cost.NewGreatCircle(latLon(in.X), latLon(v), p)
	default:
		return g, fmt.Errorf("%q is none of euclidean, manhattan, cosine and greatcircle", metric)
	}
	if err != nil {
		return g, fmt.Errorf("%s: %w", in.Name, err)
	}
	g.What = fmt.Sprintf("%d input points, %d output points, %s", len(in.X), len(to.X), metric)
	if g.Unit.P > 0 {
		g.What += fmt.Sprintf(", p = %v", p)
	}
	return g, nil
}

// columns names the coordinates of points.
func (f File) columns() string {
	if f.Columns == nil {
		return "no header"
	}
	return strings.Join(f.Columns, ", ")
}

// checkLabels refuses labels that nobody could type again in a file of counts.
func (f File) checkLabels() error {
	for _, l := range f.Labels {
		if strings.TrimSpace(l) != l {
			return fmt.Errorf("%s: label %q has blanks at an end", f.Name, l)
		}
	}
	return nil
}

// latLon converts points whose columns are lat and lon; nil stays nil.
func latLon(x [][]float64) (places [][2]float64) {
	for _, at := range x {
		places = append(places, [2]float64(at))
	}
	return places
}
