// Package sheet writes a map of a population as a table, as GeoJSON, or as a page that needs no other file. It is apart
// from package estimate/atlas so that programs without pages are linked without templates.
package sheet

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/internal/plane"
)

var (
	// ErrFormat: a file name that does not say what to write.
	ErrFormat = errors.New("want a name that ends in .csv, .geojson or .html")
	// ErrNowhere: places without coordinates that the format could hold.
	ErrNowhere = errors.New("the places have no coordinates for GeoJSON, which has two or three axes")
)

// Sheet is a map to be written.
type Sheet struct {
	Title    string
	Headline string   // the answer, in a sentence or two
	Notes    []string // what a reader must know of it
	Tables   []Table  // below the map
	Places   plane.Places
	Inputs   []string // labels
	Outputs  []string

	// Shares, nil where there are none: of the inputs, but for Raw, which is of the outputs.
	Truth, Guess, Raw, Map []float64
	Drawn                  []float64 // Map as coarse as it is drawn
	Coarse                 string    // how coarse that is, in words
}

// Table is rows of text.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Check refuses a file that Encode would not write.
func Check(p plane.Places, name string) error {
	switch format(name) {
	case ".geojson":
		if p.Columns == nil || p.Kind == "cosine" || len(p.Columns) > 3 {
			return fmt.Errorf("%s: %w", name, ErrNowhere)
		}
	case ".csv", ".html":
	default:
		return fmt.Errorf("%s: %w", name, ErrFormat)
	}
	return nil
}

func format(name string) string { return strings.ToLower(filepath.Ext(name)) }

// Encode writes the sheet in the format of a file name. The errors are ErrFormat and ErrNowhere.
func (s Sheet) Encode(name string) ([]byte, error) {
	if err := Check(s.Places, name); err != nil {
		return nil, err
	}
	switch format(name) {
	case ".csv":
		return s.csv()
	case ".geojson":
		return s.geoJSON()
	}
	return s.page()
}

// Same says that the outputs are the inputs, row by row.
func (s Sheet) Same() bool {
	if s.Places.Out != nil || len(s.Inputs) != len(s.Outputs) {
		return false
	}
	for i, label := range s.Inputs {
		if s.Outputs[i] != label {
			return false
		}
	}
	return true
}

// line is a place with its numbers, nil where it has none.
type line struct {
	label                  string
	at                     []float64
	truth, guess, raw, est *float64
	place                  int // among the inputs or the outputs
}

// lines returns the inputs, with the raw shares beside them if the outputs are the same, or else the outputs after
// them.
func (s Sheet) lines() []line {
	of := func(list []float64, i int) *float64 {
		if list == nil {
			return nil
		}
		return &list[i]
	}
	at := func(list [][]float64, i int) []float64 {
		if list == nil {
			return nil
		}
		return list[i]
	}
	same := s.Same()
	var out []line
	for i, label := range s.Inputs {
		l := line{label: label, at: at(s.Places.In, i), truth: of(s.Truth, i), guess: of(s.Guess, i), est: of(s.Map, i),
			place: i}
		if same {
			l.raw = of(s.Raw, i)
		}
		out = append(out, l)
	}
	if !same {
		outputs := s.Places.Out
		if outputs == nil { // the inputs, under other labels
			outputs = s.Places.In
		}
		for j, label := range s.Outputs {
			out = append(out, line{label: label, at: at(outputs, j), raw: of(s.Raw, j), place: j})
		}
	}
	return out
}

// csv writes label, the coordinates, truth if there is one, guess, raw and map. What a place has not is empty.
func (s Sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	head := append([]string{"label"}, s.Places.Columns...)
	if s.Truth != nil {
		head = append(head, "truth")
	}
	_ = w.Write(append(head, "guess", "raw", "map"))
	for _, l := range s.lines() {
		row := []string{l.label}
		for n := range s.Places.Columns {
			var v *float64
			if n < len(l.at) {
				v = &l.at[n]
			}
			row = append(row, number(v))
		}
		if s.Truth != nil {
			row = append(row, number(l.truth))
		}
		_ = w.Write(append(row, number(l.guess), number(l.raw), number(l.est)))
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

type feature struct {
	Type       string         `json:"type"`
	Geometry   shape          `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

type shape struct {
	Type        string `json:"type"`
	Coordinates any    `json:"coordinates"`
}

// values says in a file what its numbers are.
const values = "guess, map and truth: shares of the population; raw: shares of the reports; each sums to 1"

// geoJSON writes a feature for each place: the polygon of a cell of a grid, else a point.
// The other members of the collection have names that RFC 7946 (section 7.1) leaves free.
func (s Sheet) geoJSON() ([]byte, error) {
	note := "WGS 84: longitude and latitude in degrees"
	switch s.Places.Kind {
	case "greatcircle":
	case "grid":
		note = "the unit square, not WGS 84"
	case "ring":
		note = "the unit circle, not WGS 84"
	default:
		note = "those of the policy's points, not WGS 84"
	}
	var b bytes.Buffer
	title, err := json.Marshal(s.Headline)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b,
		"{\"type\":\"FeatureCollection\",\n\"positions\":%q,\n\"values\":%q,\n\"headline\":%s,\n\"features\":[", note, values,
		title)
	for n, l := range s.lines() {
		props := map[string]any{"label": l.label, "guess": l.guess, "raw": l.raw, "map": l.est}
		if s.Truth != nil {
			props["truth"] = l.truth
		}
		text, err := json.Marshal(feature{Type: "Feature", Geometry: shapeOf(s.Places, l), Properties: props})
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

// shapeOf says where a line is: positions are x, y, z, or longitude, latitude.
func shapeOf(p plane.Places, l line) shape {
	switch {
	case p.Kind == "grid":
		corner := func(c, r int) []float64 { return []float64{float64(c) / float64(p.Cols), float64(r) / float64(p.Rows)} }
		c, r := l.place%p.Cols, l.place/p.Cols
		return shape{"Polygon", [][][]float64{{corner(c, r), corner(c+1, r), corner(c+1, r+1), corner(c, r+1), corner(c, r)}}}
	case p.Kind == "greatcircle":
		return shape{"Point", []float64{math.Remainder(l.at[1], 360), l.at[0]}}
	case len(l.at) == 1:
		return shape{"Point", []float64{l.at[0], 0}}
	}
	return shape{"Point", l.at}
}
