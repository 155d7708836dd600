package costio

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// Points are labelled points of R^n, as NewPoints, NewCosine and NewGreatCircle of package cost take
// them.
type Points struct {
	// the names of the coordinates in the order of X: lat, lon; x, y, z; or x1, x2, ...; nil if the file has no header
	Columns []string
	Labels  []string // distinct
	X       [][]float64
	// Ignored names the columns of a file that nothing was taken from.
	Ignored []string
	// Shapes has, for points from GeoJSON, the polygons of each point's feature, in rings of longitude and latitude; a
	// feature that is a point has none. Nil if no feature has.
	Shapes []Shape
}

// Shape is the polygons of a feature: rings, the first one outside, of positions [longitude, latitude] in degrees.
type Shape [][][][2]float64

// Geographic reports whether the coordinates are a latitude and a longitude, in degrees.
func (p *Points) Geographic() bool { return slices.Equal(p.Columns, latLon) }

// ReadPoints reads points from CSV, or from GeoJSON as [ReadGeoJSON] does. A header gives the columns, in any order; rows
// without one are label,x1,...,xn. The package comment has the names. name stands for the file in errors. Errors: an
// *Error.
func ReadPoints(r io.Reader, name string) (*Points, error) {
	src, err := newSource(r, name, MaxBytes, true)
	if err != nil {
		return nil, err
	}
	if first, err := src.Peek(1); err == nil && first[0] == '{' {
		return readGeoJSON(src, "")
	}
	t, err := tableOf(src)
	if err != nil {
		return nil, err
	}
	var p Points
	var c columns
	seen := make(map[string]int)
	n := 0
	header := func() (found bool, err error) {
		if len(t.record) < 2 {
			return false, t.bad(0, ErrFormat,
				"one field, need a label and at least one coordinate, separated by commas, or by semicolons")
		}
		c, found, err = t.pointColumns()
		n, p.Columns, p.Ignored = len(c.fields), c.names, c.idle
		return found, err
	}
	for err := range t.rows(header) {
		if err != nil {
			return nil, err
		}
		if len(p.X) >= min(cost.MaxPoints, cost.MaxEntries/n) {
			return nil, t.bad(0, wpmerr.ErrTooLarge, "more points than allowed: "+strconv.Itoa(len(p.X)))
		}
		label, err := t.label(c.label)
		if err != nil {
			return nil, err
		}
		if line, twice := seen[label]; twice {
			return nil, t.bad(c.label, ErrDuplicate, fmt.Sprintf("label %s is on line %d already", quote(label), line))
		}
		seen[label] = t.line
		x := make([]float64, n)
		for j, f := range c.fields {
			if x[j], err = t.number(f); err != nil {
				return nil, err
			}
		}
		if p.Geographic() {
			if !(math.Abs(x[0]) <= 90) {
				return nil, t.bad(c.fields[0], cost.ErrPoint, quote(t.record[c.fields[0]-1])+" is not a latitude from -90 to 90")
			}
			if !(x[1] >= -180 && x[1] <= 360) {
				return nil, t.bad(c.fields[1], cost.ErrPoint, quote(t.record[c.fields[1]-1])+" is not a longitude from -180 to 360")
			}
		}
		p.Labels = append(p.Labels, label)
		p.X = append(p.X, x)
	}
	if len(p.X) == 0 {
		return nil, t.empty("points")
	}
	return &p, nil
}

// ReadPointsFile is ReadPoints on a file. Errors: those of ReadPoints and of the file.
func ReadPointsFile(path string) (*Points, error) { return withFile(path, ReadPoints) }

// WritePoints writes points as CSV with the header label and p.Columns; nil stands for x1,...,xn. Points that would not
// read back are refused before anything is written: ErrFormat, ErrLabel, ErrDuplicate, wpmerr.ErrNotFinite or
// cost.ErrPoint.
func WritePoints(w io.Writer, p *Points) error {
	if p == nil || len(p.X) == 0 || len(p.X) != len(p.Labels) || len(p.X[0]) == 0 {
		return fmt.Errorf("%w: need as many labels as points, at least one, with at least one coordinate", ErrFormat)
	}
	n := len(p.X[0])
	names := p.Columns
	if names == nil {
		names = family("", n)
	}
	if len(names) != n || !slices.Equal(names, family(names[0], n)) {
		return fmt.Errorf("%w: columns %q for points of %d coordinates", ErrFormat, p.Columns, n)
	}
	if err := checkLabels(p.Labels); err != nil {
		return err
	}
	for i, x := range p.X {
		if len(x) != n {
			return fmt.Errorf("%w: point %d has %d coordinates, point 0 has %d", ErrFormat, i, len(x), n)
		}
		for j, a := range x {
			if math.IsNaN(a) || math.IsInf(a, 0) {
				return fmt.Errorf("%w: coordinate %d of point %d is %v", wpmerr.ErrNotFinite, j, i, a)
			}
		}
		if p.Geographic() && !(math.Abs(x[0]) <= 90 && x[1] >= -180 && x[1] <= 360) {
			return fmt.Errorf("%w: point %d has latitude %v and longitude %v", cost.ErrPoint, i, x[0], x[1])
		}
	}
	return writeAll(w, func(write func([]string) error) error {
		rec := append([]string{"label"}, names...)
		if err := write(rec); err != nil {
			return err
		}
		for i, x := range p.X {
			rec[0] = p.Labels[i]
			for j, a := range x {
				rec[j+1] = formatNumber(a)
			}
			if err := write(rec); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkLabels refuses bad and equal labels.
func checkLabels(labels []string) error {
	seen := make(map[string]int, len(labels))
	for i, s := range labels {
		if why := labelFault(s); why != "" {
			return fmt.Errorf("%w: label %d, %s, %s", ErrLabel, i, quote(s), why)
		}
		if j, twice := seen[s]; twice {
			return fmt.Errorf("%w: labels %d and %d are both %s", ErrDuplicate, j, i, quote(s))
		}
		seen[s] = i
	}
	return nil
}
