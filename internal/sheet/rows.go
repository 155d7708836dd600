package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
)

// row is a line of a table, or the properties of a feature. What it has not is nil.
type row struct {
	Epoch string `json:"epoch,omitempty"` // of a sequence
	Kind  string `json:"kind"`            // place, output, group or region; or pair, or the name of an end of pairs
	Label string `json:"label"`
	From  string `json:"from,omitempty"` // of pairs and of regions of them; else ""
	To    string `json:"to,omitempty"`
	With  string `json:"with,omitempty"` // the category
	Share *real  `json:"share"`
	Width *real  `json:"width,omitempty"` // of the line from place to place: the share
	Low   *real  `json:"low"`
	High  *real  `json:"high"`
	Group *int   `json:"group"` // from 1, the largest share first
	Error *real  `json:"error"` // of the whole map
	Guess *real  `json:"guess"`
	Raw   *real  `json:"raw"`
	Truth *real  `json:"truth,omitempty"`
	// Unexplained is of the whole map: no map explains the counts.
	Unexplained bool `json:"unexplained"`

	places []int // that it is about, of the inputs or the outputs
}

// real is a number that is written with a point, also if it is whole: readers of a table take a column for one of
// integers, if all that it has are 0 and 1.
type real float64

// MarshalJSON writes it.
func (v real) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(float64(v))
	if err == nil && !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, err
}

// asReal returns numbers as a row has them.
func asReal(v float64) *real { return (*real)(&v) }

// doubt is what stands for the error of a share without an interval: that of so many people who answer openly.
func (s Sheet) doubt(share float64) float64 {
	n := math.Max(float64(s.Reports), 1)
	return math.Sqrt(max(share, 1/n) / n)
}

// about returns the row of a part: the share to two digits of its error.
func (s Sheet) about(kind string, p Part) row {
	r := row{Kind: kind, Label: p.Label, Guess: asReal(plane.Significant(p.Guess, 4)), Unexplained: s.Unexplained, places: p.Places}
	err := s.doubt(p.Share)
	if p.Known {
		low, high := plane.Outward(p.Low, p.High)
		r.Low, r.High = asReal(low), asReal(high)
		err = (p.High - p.Low) / 2
	}
	r.Share = asReal(plane.Rounded(p.Share, err))
	if s.Error > 0 {
		r.Error = asReal(plane.Significant(s.Error, 2))
	}
	return r
}

// input is the kind of the inputs.
func (s Sheet) input() string {
	if s.Places.Ends != nil {
		return "pair"
	}
	return "place"
}

// ends sets what a pair, or a region of pairs of whatever category, is from and to.
func (s Sheet) ends(r row) row {
	ends, parts := s.Places.Ends, strings.Split(r.Label, plane.Between)
	if n := len(ends); n > len(parts) && ends[n-1].In == nil {
		ends = ends[:n-1]
	}
	if len(ends) != len(parts) {
		return r
	}
	for n, e := range ends {
		switch {
		case e.In == nil:
			r.With = parts[n]
		case n == 0:
			r.From = parts[n]
		default:
			r.To = parts[n]
		}
	}
	return r
}

// marginals are the places of each end, with what all their pairs have.
func (s Sheet) marginals() (list []row) {
	for _, e := range s.Places.Ends {
		guess, share, truth := e.Sums(s.Guess), e.Sums(s.Map), e.Sums(s.Truth)
		for i, label := range e.Labels {
			r := row{Kind: e.Name, Label: label, places: []int{i}}
			if share != nil {
				r.Share = asReal(plane.Rounded(share[i], s.doubt(share[i])))
			}
			if guess != nil {
				r.Guess = asReal(plane.Significant(guess[i], 4))
			}
			if truth != nil {
				r.Truth = asReal(truth[i])
			}
			list = append(list, r)
		}
	}
	return list
}

// rows returns the inputs, with the raw shares beside them if the outputs are the same, or else the outputs after them;
// then the groups of more than one place, the regions, and the marginals of pairs. A place of such a group has its part
// of the group's share,
// no finer than that is known, and may have anything from nothing to all that the group can have.
func (s Sheet) rows() (list []row) {
	same := s.Same()
	group := make([]int, len(s.Inputs))
	for g, p := range s.Groups {
		for _, i := range p.Places {
			group[i] = g + 1
		}
	}
	for i, label := range s.Inputs {
		r := row{Kind: s.input(), Label: label, places: []int{i}}
		if s.Map != nil {
			p, err := Part{Label: label, Places: r.places, Share: s.Map[i]}, s.doubt(s.Map[i])
			if group[i] > 0 {
				g := s.Groups[group[i]-1]
				if p.Known, p.Low, p.High = g.Known, g.Low, g.High; len(g.Places) > 1 {
					p.Low = 0
				}
				if g.Known && g.Share > 0 { // what is unknown of the group, in proportion
					err = max((g.High-g.Low)/2*p.Share/g.Share, p.Share/100)
				}
			}
			r = s.about(s.input(), p)
			r.Share = asReal(plane.Rounded(p.Share, err))
			if group[i] > 0 {
				r.Group = &group[i]
			}
		}
		r.Guess = nil
		if s.Guess != nil {
			r.Guess = asReal(plane.Significant(s.Guess[i], 4))
		}
		if s.Truth != nil {
			r.Truth = (*real)(&s.Truth[i])
		}
		if same && s.Raw != nil {
			r.Raw = asReal(plane.Significant(s.Raw[i], 4))
		}
		list = append(list, s.ends(r))
	}
	for j := 0; !same && j < len(s.Outputs); j++ {
		r := row{Kind: "output", Label: s.Outputs[j], places: []int{j}}
		if s.Raw != nil {
			r.Raw = asReal(plane.Significant(s.Raw[j], 4))
		}
		list = append(list, r)
	}
	for g, p := range s.Groups {
		if len(p.Places) > 1 {
			number := g + 1
			r := s.about("group", p)
			r.Group = &number
			list = append(list, r)
		}
	}
	for _, p := range s.Regions {
		list = append(list, s.ends(s.about("region", p)))
	}
	return append(list, s.marginals()...)
}

// at returns where a place of a row is, nil if nobody knows.
func (s Sheet) at(r row, i int) []float64 {
	for _, e := range s.Places.Ends {
		if r.Kind == e.Name && e.In != nil {
			return e.In[i]
		} else if r.Kind == e.Name {
			return nil
		}
	}
	list := s.Places.In
	if r.Kind == "output" && s.Places.Out != nil { // else the inputs, under other labels
		list = s.Places.Out
	}
	if list == nil {
		return nil
	}
	return list[i]
}

// csv writes label, the coordinates of a place, truth if there is one, and what a row has. What it has not is empty.
func (s Sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(s.head())
	s.lines(w.Write)
	w.Flush()
	return b.Bytes(), w.Error()
}

func (s Sheet) head() []string {
	head := []string{"label"}
	for _, e := range s.Places.Ends {
		head = append(head, e.Name)
	}
	head = append(head, s.Places.Columns...)
	if s.Truth != nil {
		head = append(head, "truth")
	}
	return append(head, "guess", "raw", "share", "low", "high", "group", "error", "kind", "unexplained")
}

// lines writes the rows below head.
func (s Sheet) lines(write func([]string) error) {
	number := func(v *real) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(float64(*v), 'g', -1, 64)
	}
	for _, r := range s.rows() {
		line := []string{r.Label}
		skip := 0 // columns of the other end
		for n, e := range s.Places.Ends {
			text := [...]string{r.From, r.To}[min(n, 1)]
			if e.In == nil {
				text = r.With
			}
			if r.Kind == e.Name {
				text, skip = r.Label, n*len(e.Columns)
			}
			line = append(line, text)
		}
		var at []float64
		if r.single() {
			at = s.at(r, r.places[0])
		}
		for n := range s.Places.Columns {
			var v *real
			if n -= skip; n >= 0 && n < len(at) {
				v = (*real)(&at[n])
			}
			line = append(line, number(v))
		}
		if s.Truth != nil {
			line = append(line, number(r.Truth))
		}
		group := ""
		if r.Group != nil {
			group = strconv.Itoa(*r.Group)
		}
		_ = write(append(line, number(r.Guess), number(r.Raw), number(r.Share), number(r.Low), number(r.High), group,
			number(r.Error), r.Kind, strconv.FormatBool(r.Unexplained)))
	}
}

// single reports whether a row is about one input, output or place of an end.
func (r row) single() bool { return r.Kind != "group" && r.Kind != "region" }

type feature struct {
	Type       string   `json:"type"`
	Geometry   geometry `json:"geometry"`
	Properties row      `json:"properties"`
}

type geometry struct {
	Type        string `json:"type"`
	Coordinates any    `json:"coordinates"`
}

// values says in a file what its numbers are.
const values = "share, guess and truth: of the population; low to high: the interval of a share; raw: of the reports; " +
	"group: what the reports do not tell apart; error: how far the whole map is from the truth; unexplained: no map explains " +
	"the counts, and the error is not known. Shares are rounded to what is known of them. Sum over one kind only: place or " +
	"pair, group (of more than one), region, from or to"

// geoJSON writes a feature for each row: polygons where there are any, else points.
// The other members of the collection have names that RFC 7946 (section 7.1) leaves free.
func (s Sheet) geoJSON() ([]byte, error) {
	return collection(s, s.Headline, [][]feature{s.features("")})
}

// features are those of the rows, of an epoch if it has a name.
func (s Sheet) features(epoch string) (list []feature) {
	for _, r := range s.rows() {
		r.Epoch = epoch
		g := s.geometry(r)
		if g == nil { // a value of a category
			continue
		}
		if g.Type == "LineString" {
			r.Width = r.Share
		}
		list = append(list, feature{Type: "Feature", Geometry: *g, Properties: r})
	}
	return list
}

// collection writes features of the places of a sheet.
func collection(s Sheet, headline string, lists [][]feature) ([]byte, error) {
	note := "WGS 84: longitude and latitude in degrees"
	switch s.places().Kind {
	case "greatcircle":
	case "grid":
		note = "the unit square, not WGS 84"
	case "ring":
		note = "the unit circle, not WGS 84"
	default:
		note = "those of the policy's points, not WGS 84"
	}
	head := []struct{ name, text string }{{"positions", note}, {"values", values}, {"headline", headline}, {"unit", s.Unit}}
	var b bytes.Buffer
	b.WriteString("{\"type\":\"FeatureCollection\"")
	for _, h := range head {
		text, err := json.Marshal(h.text)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, ",\n%q:%s", h.name, text)
	}
	b.WriteString(",\n\"features\":[")
	for n, f := range slices.Concat(lists...) {
		text, err := json.Marshal(f)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(text)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// geometry says where a row is: positions are x, y, z, or longitude, latitude. Several places are a MultiPoint or a
// MultiPolygon; where some have polygons and some have none, they are all points. Pairs of places are a line from the
// middle of those of one end to that of the other. It is nil for what is nowhere.
func (s Sheet) geometry(r row) *geometry {
	if ends := s.Places.Ends; len(ends) > 1 && ends[1].In != nil && s.at(r, r.places[0]) != nil && !s.marginal(r) {
		return &geometry{"LineString", [][]float64{s.middle(ends[0], r.places), s.middle(ends[1], r.places)}}
	}
	var polygons costio.Shape
	var points [][]float64
	all := true
	for _, i := range r.places {
		at := s.at(r, i)
		if at == nil {
			return nil
		}
		shape := s.shape(r, i)
		all = all && shape != nil
		polygons, points = append(polygons, shape...), append(points, s.position(at))
	}
	switch one := r.single(); {
	case all && one && len(polygons) == 1:
		return &geometry{"Polygon", polygons[0]}
	case all:
		return &geometry{"MultiPolygon", polygons}
	case one:
		return &geometry{"Point", points[0]}
	}
	return &geometry{"MultiPoint", points}
}

// marginal reports whether a row is of an end of pairs.
func (s Sheet) marginal(r row) bool {
	return slices.ContainsFunc(s.Places.Ends, func(e plane.End) bool { return e.Name == r.Kind })
}

// middle is the mean of the positions that some pairs have at one end, each as often as it is there. Longitudes are taken
// as near to the first one as they are.
func (s Sheet) middle(e plane.End, pairs []int) []float64 {
	first := s.positionOf(e, pairs[0])
	mean := make([]float64, len(first))
	for _, i := range pairs {
		at := s.positionOf(e, i)
		for a, v := range at {
			if e.Kind == "greatcircle" && a == 0 {
				v = first[0] + math.Remainder(v-first[0], 360)
			}
			mean[a] += v / float64(len(pairs))
		}
	}
	if e.Kind == "greatcircle" {
		mean[0] = math.Remainder(mean[0], 360)
	}
	for a, v := range mean { // as fine as places are
		mean[a] = plane.Significant(v, 9)
	}
	if len(pairs) == 1 {
		return first
	}
	return mean
}

func (s Sheet) positionOf(e plane.End, pair int) []float64 { return position(e.Kind, e.In[e.Of[pair]]) }

// shape returns the polygons of a place, nil if there are none.
func (s Sheet) shape(r row, i int) costio.Shape {
	p := s.Places
	switch {
	case p.Kind == "grid":
		corner := func(c, r int) [2]float64 {
			return [2]float64{float64(c) / float64(p.Cols), float64(r) / float64(p.Rows)}
		}
		c, r := i%p.Cols, i/p.Cols
		return costio.Shape{{{corner(c, r), corner(c+1, r), corner(c+1, r+1), corner(c, r+1), corner(c, r)}}}
	case s.Shapes == nil || r.Kind == "output" && !s.Same():
		return nil
	}
	return woundAll(s.Shapes[i])
}

func woundAll(from costio.Shape) (shape costio.Shape) {
	for _, rings := range from {
		var polygon [][][2]float64
		for n, ring := range rings {
			polygon = append(polygon, wound(ring, n == 0))
		}
		shape = append(shape, polygon)
	}
	return shape
}

// wound returns a ring as RFC 7946 wants it: closed, to the left if it is outside and to the right if it is a hole, and
// with longitudes up to 180 degrees if it is beyond them altogether.
func wound(ring [][2]float64, outside bool) [][2]float64 {
	ring = slices.Clone(ring)
	if ring[0] != ring[len(ring)-1] {
		ring = append(ring, ring[0])
	}
	east, area, o := true, 0.0, ring[0]
	for n, a := range ring {
		east = east && a[0] >= 180
		b := ring[(n+1)%len(ring)]
		area += (a[0]-o[0])*(b[1]-o[1]) - (b[0]-o[0])*(a[1]-o[1])
	}
	if (area > 0) != outside {
		slices.Reverse(ring)
	}
	for n := range ring {
		if east {
			ring[n][0] -= 360
		}
	}
	return ring
}

// position is a point as GeoJSON has it.
func (s Sheet) position(at []float64) []float64 {
	return position(s.places().Kind, at)
}

func position(kind string, at []float64) []float64 {
	switch {
	case kind == "greatcircle":
		return []float64{math.Remainder(at[1], 360), at[0]}
	case len(at) == 1:
		return []float64{at[0], 0}
	}
	return at
}
