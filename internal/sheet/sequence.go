package sheet

import (
	"bytes"
	"encoding/csv"
	"slices"
)

// Sequence is maps of the same places, one for each epoch.
type Sequence struct {
	Title, Headline, Facts string
	Notes                  []string
	Tables                 []Table // below the map
	Steps                  []Step
}

// Step is the map of an epoch.
type Step struct {
	Epoch string
	Note  string // beside the epoch
	Sheet Sheet
}

// Encode writes the sequence in the format of a file name: a table or features with the epoch of each, or a page with a
// slider. The errors are ErrFormat and ErrNowhere.
func (q Sequence) Encode(name string) ([]byte, error) {
	first := q.Steps[0].Sheet
	if err := Check(first.Places, name); err != nil {
		return nil, err
	}
	switch format(name) {
	case ".csv":
		return q.csv()
	case ".geojson":
		var lists [][]feature
		for _, s := range q.Steps {
			lists = append(lists, s.Sheet.features(s.Epoch))
		}
		return collection(first, q.Headline, lists)
	}
	return q.page()
}

func (q Sequence) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(slices.Insert(q.Steps[0].Sheet.head(), 0, "epoch"))
	for _, s := range q.Steps {
		s.Sheet.lines(func(line []string) error { return w.Write(slices.Insert(line, 0, s.Epoch)) })
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (q Sequence) page() ([]byte, error) {
	p := Page{Title: q.Title, Headline: q.Headline, Facts: q.Facts, Tables: q.Tables, Notes: q.Notes}
	if first := q.Steps[0].Sheet; first.Places.Flat() {
		p.Steps = Picture{Places: first.Places, Shapes: first.Shapes}
		for _, s := range q.Steps {
			panel := Panel{Title: s.Epoch, Note: s.Note, Shares: s.Sheet.Map}
			panel.describe(s.Sheet)
			p.Steps.Panels = append(p.Steps.Panels, panel)
		}
	}
	return p.HTML()
}
