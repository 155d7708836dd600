package sheet

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/internal/plane"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.Must(template.New("page").Parse(pageText)).Parse(panelText))

// Page is pictures and tables as HTML that needs no other file and no script.
type Page struct {
	Title    string
	Headline string // the answer, in a sentence or two
	Facts    string // about the policy and the reports, below it
	Pictures []Picture
	Steps    Picture // the same map at several times, of which a slider shows one; or no panels
	Tables   []Table // below the pictures
	Notes    []string
	Files    []File // beside the page, to be linked
}

// File is a file beside a page.
type File struct {
	Name, Text string
}

// HTML writes the page.
func (p Page) HTML() ([]byte, error) {
	view := struct {
		Page
		colours
		Pictures []drawn
		Steps    drawn
		Last     int  // of the steps, from 0
		Large    bool // there is a large panel
	}{Page: p, colours: theColours(), Last: len(p.Steps.Panels) - 1}
	if view.Last >= 0 {
		view.Steps = p.Steps.draw()
	}
	for _, picture := range p.Pictures {
		d := picture.draw()
		view.Large = view.Large || d.Large
		view.Pictures = append(view.Pictures, d)
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, view)
	return b.Bytes(), err
}

// page is the sheet as a page: one picture, if the places are flat.
func (s Sheet) page() ([]byte, error) {
	p := Page{Title: s.Title, Headline: s.Headline, Facts: s.Facts, Tables: s.Tables, Notes: s.Notes}
	if t := partTable("Regions", s.Level, s.Regions); t.Rows != nil {
		p.Tables = append(p.Tables, t)
	}
	if t := partTable("What the reports tell apart", s.Level, s.Groups); len(t.Rows) > 1 {
		p.Tables = append(p.Tables, t)
	}
	for _, e := range s.Places.Ends {
		if !e.Flat() || s.Map == nil {
			continue
		}
		p.Pictures = append(p.Pictures, Picture{Title: "Where pairs are " + e.Name, Places: e.Places, Panels: []Panel{
			{Title: "the map", Shares: e.Sums(s.Map)}, {Title: "guess, without a report", Shares: e.Sums(s.Guess)}}})
	}
	if s.Places.Flat() {
		picture := Picture{Places: s.Places, Text: s.Coarse, Shapes: s.Shapes}
		large := Panel{Title: "Where people are: the map", Shares: s.Map}
		if slices.ContainsFunc(s.Groups, func(g Part) bool { return g.Known }) {
			large.Foot = append(large.Foot, fmt.Sprintf("Ranges are %v %% intervals.", plane.Significant(100*s.Level, 12)))
		}
		if error, _, ok := strings.Cut(s.Headline, ". "); ok && (s.Error > 0 || s.Unexplained) { // its first sentence is about the map
			large.Foot = append(large.Foot, error+".")
		}
		large.Foot = append(large.Foot, s.Facts)
		switch s.Places.Kind {
		case "greatcircle":
			large.Unit, large.PerUnit = "km", 360/(2*math.Pi*earth)
		case "points":
			large.Unit, large.PerUnit = "units", 1
		}
		if s.Map != nil {
			large.describe(s)
		}
		for _, panel := range []Panel{
			large, {Title: "truth", Shares: s.Truth}, {Title: "guess, without a report", Shares: s.Guess},
			{Title: "raw: the reports as they are", Shares: s.Raw, Outputs: true},
		} {
			if panel.Shares != nil {
				picture.Panels = append(picture.Panels, panel)
			}
		}
		p.Pictures = append(p.Pictures, picture)
	}
	return p.HTML()
}

// earth is the mean radius in km, as cost.NewGreatCircle has it.
const earth = 6371.0088

// named is how many of the largest groups have their names on the map.
const named = 5

// percent prints a share, which is rounded already.
func percent(v *real) string { return plane.Exact(float64(*v)) }

// words says the share of a row, with its interval.
func (r row) words() string {
	text := percent(r.Share)
	if r.Low != nil {
		text += ", " + r.interval()
	}
	return text
}

func (r row) interval() string {
	return plane.Interval(float64(*r.Low), float64(*r.High))
}

// describe sets what the map says at its places.
func (p *Panel) describe(s Sheet) {
	for _, r := range s.rows()[:len(s.Inputs)] {
		title := r.Label + ": " + r.words()
		if r.Group != nil && len(s.Groups[*r.Group-1].Places) > 1 {
			g := s.about("group", s.Groups[*r.Group-1])
			title = fmt.Sprintf("%s: %s, its part of %s: %s", r.Label, percent(r.Share), g.Label, g.words())
		}
		p.Titles = append(p.Titles, title)
	}
	for n, g := range s.Groups {
		if len(g.Places) > 1 {
			p.Outlines = append(p.Outlines, g.Places)
		}
		if n < named && len(s.Groups) > 1 {
			p.Names = append(p.Names, Name{g.Center, g.Label + ": " + s.about("group", g).words()})
		}
	}
}

// partTable lists parts in percent.
func partTable(title string, level float64, parts []Part) Table {
	interval := fmt.Sprintf("%v %% interval", plane.Significant(100*level, 12))
	t := Table{Title: title + ": the guess, the share, and the shares that agree with the reports",
		Head: []string{"places", "guess", "share", interval}}
	remarks := slices.ContainsFunc(parts, func(p Part) bool { return p.Remark != "" })
	if remarks {
		t.Head = append(t.Head, "remark")
	}
	for _, p := range parts {
		r := Sheet{}.about("", p)
		between := "-"
		if p.Known {
			between = r.interval()
		}
		line := []string{p.Label, plane.Percent(p.Guess), percent(r.Share), between}
		if remarks {
			line = append(line, p.Remark)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
