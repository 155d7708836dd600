// Package sheet writes a map of a population as a table, as GeoJSON, or as a page that needs no other file. It is apart
// from package estimate/atlas so that programs without pages are linked without templates.
package sheet

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
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
	Truth, Guess, Raw []float64
	Map               []float64 // as coarse as the reports support
	Coarse            string    // how coarse that is, in words

	Facts   string // about the policy and the reports, in a line
	Reports uint64
	Error   float64 // distance of the map from the truth that is expected; 0 if it is not known
	Unit    string  // of the error
	// Unexplained: no map explains the counts, and Error is not known.
	Unexplained bool
	Level       float64        // of the intervals
	Groups      []Part         // that the reports tell apart, the largest share first; each place is in one
	Regions     []Part         // of the reader's own
	Shapes      []costio.Shape // polygons of the inputs, nil where there are none; or nil
}

// places are the places, or of pairs those of their first end.
func (s Sheet) places() plane.Places {
	if s.Places.Ends != nil {
		return s.Places.Ends[0].Places
	}
	return s.Places
}

// Part is some places, with the share that they have together and its interval.
type Part struct {
	Label        string
	Center       int // the place that it is named by
	Remark       string
	Places       []int // of the inputs
	Guess, Share float64
	Known        bool // Low and High say something
	Low, High    float64
}

// Table is rows of text.
type Table struct {
	Title  string
	Head   []string
	Rows   [][]string
	Detail bool // folded until it is asked for
}

// Check refuses a file that Encode would not write.
func Check(p plane.Places, name string) error {
	switch format(name) {
	case ".geojson":
		if p = (Sheet{Places: p}).places(); p.Columns == nil || p.Kind == "cosine" || len(p.Columns) > 3 {
			return fmt.Errorf("%s: %w", name, ErrNowhere)
		}
	case ".csv", ".html":
	default:
		return fmt.Errorf("%s: %w", name, ErrFormat)
	}
	return nil
}

func format(name string) string { return strings.ToLower(filepath.Ext(name)) }

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
