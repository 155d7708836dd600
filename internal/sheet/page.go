package sheet

import (
	"bytes"
	"cmp"
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
	if t := partTable("Regions", "region", s.Level, s.Regions); t.Rows != nil {
		p.Tables = append(p.Tables, s.apart(t))
	}
	if n := len(s.Groups); n > named { // else all are beside the map
		title, most := fmt.Sprintf("The %d parts of the map", n), min(n, listed)
		if rest := 0.0; n > most {
			for _, g := range s.Groups[most:] {
				rest += g.Share
			}
			title = fmt.Sprintf("The %d largest of %d parts; the others have %s together", most, n, plane.Percent(rest))
		}
		p.Tables = append(p.Tables, partTable(title, "places", s.Level, s.Groups[:most]))
	}
	if flows := s.flows(); flows.Flows != nil {
		p.Pictures = append(p.Pictures, flows)
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
		if s.Places.Kind == "grid" && s.Inputs[0] == "0" {
			picture.Text = strings.TrimSpace(picture.Text + " Places are numbered from 0, row by row from the lower left.")
		}
		large := s.large("Where people are: the map")
		large.Shares = s.Map
		if s.Map != nil {
			large.describe(s)
		}
		for _, panel := range []Panel{
			large, {Title: "truth", Shares: s.Truth}, s.guess(),
			{Title: "raw: the reports as they are", Note: "each is moved at random, so this is no map", Shares: s.Raw, Outputs: true},
		} {
			if panel.Shares != nil {
				picture.Panels = append(picture.Panels, panel)
			}
		}
		p.Pictures = append(p.Pictures, picture)
	}
	return p.HTML()
}

// guess is the panel of the guess.
func (s Sheet) guess() Panel {
	p := Panel{Title: "guess, without a report", Shares: s.Guess}
	if s.Guess != nil && slices.Max(s.Guess) == slices.Min(s.Guess) {
		p.Note = "every place alike"
	}
	return p
}

// large is the large panel, without what is at its places.
func (s Sheet) large(title string) Panel {
	p := Panel{Title: title}
	if slices.ContainsFunc(slices.Concat(s.Groups, s.Regions), func(g Part) bool { return g.Known }) {
		level := fmt.Sprintf("%v %%", plane.Significant(100*s.Level, 12))
		p.Foot = append(p.Foot, "Ranges are "+level+" intervals.")
		p.Note = "Ranges are " + level + " intervals: a true share is in its interval in about " + level + " of cases. The " +
			"share of the map need not be in the middle."
	}
	if error, _, ok := strings.Cut(s.Headline, ". "); ok && (s.Error > 0 || s.Unexplained) { // its first sentence is about the map
		p.Foot = append(p.Foot, error+".")
	}
	p.Foot = append(p.Foot, s.Facts)
	switch places := s.places(); places.Kind {
	case "grid":
		if places.Rows == places.Cols {
			p.Unit, p.PerUnit = "cells", 1
		}
	case "greatcircle":
		p.Unit, p.PerUnit = "km", 360/(2*math.Pi*earth)
	case "points":
		p.Unit, p.PerUnit = "units", 1
	}
	return p
}

// apart gives both ends of flows a column of their own.
func (s Sheet) apart(t Table) Table {
	if ends := s.Places.Ends; len(ends) < 2 || ends[1].In == nil {
		return t
	}
	t.Head = slices.Concat([]string{"from", "to"}, t.Head[1:])
	for n, row := range t.Rows {
		from, to, _ := strings.Cut(row[0], plane.Between)
		t.Rows[n] = slices.Concat([]string{from, to}, row[1:])
	}
	return t
}

// earth is the mean radius in km, as cost.NewGreatCircle has it.
const earth = 6371.0088

// named is how many of the largest groups have numbers on the map, and listed how many are in a table.
const named, listed = 9, 20

// percent prints a share, which is rounded already.
func percent(v *real) string { return plane.Exact(float64(*v)) }

// words says the share of a row, with its interval.
func (r row) words() string {
	share, interval := r.brief()
	return strings.TrimSuffix(share+", "+interval, ", ")
}

// brief is the share of a row, and its interval or "".
func (r row) brief() (share, interval string) {
	if r.Low == nil {
		return percent(r.Share), ""
	}
	return plane.Brief(float64(*r.Share), float64(*r.Low), float64(*r.High))
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
	groups := slices.ContainsFunc(s.Groups, func(g Part) bool { return len(g.Places) > 1 })
	for n, g := range s.Groups {
		if groups { // a place by itself beside groups has an outline, too
			p.Outlines = append(p.Outlines, g.Places)
		}
		if n < named && len(s.Groups) > 1 {
			p.Names = append(p.Names, Name{g.Center, g.Label + ": " + s.about("group", g).words()})
		}
	}
}

// partTable lists parts in percent.
func partTable(title, of string, level float64, parts []Part) Table {
	interval := fmt.Sprintf("%v %% interval", plane.Significant(100*level, 12))
	t := Table{Title: title, Head: []string{of, "guess", "share", interval}}
	remarks := slices.ContainsFunc(parts, func(p Part) bool { return p.Remark != "" })
	if remarks {
		t.Head = append(t.Head, "remark")
	}
	for _, p := range parts {
		share, interval := Sheet{}.about("", p).brief()
		line := []string{p.Label, plane.Percent(p.Guess), share, cmp.Or(interval, "-")}
		if remarks {
			line = append(line, p.Remark)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

// mostFlows is the largest number of arrows of a picture.
const mostFlows = 40

// flows is the picture of what goes from where to where: between the regions, or else of the largest groups. It has no
// arrows where pairs are not of two flat places, or no map.
func (s Sheet) flows() (p Picture) {
	ends := s.Places.Ends
	if len(ends) < 2 || ends[1].In == nil || !ends[0].Flat() || s.Map == nil {
		return p
	}
	p.Places = ends[0].Places
	p.Places.In = slices.Concat(ends[0].In, ends[1].In)
	panel := s.large("From where to where: the map")
	parts, kind := s.between(), "region"
	all := len(parts)
	if all > 0 {
		p.Title, panel.Title = "Flows between regions", "From region to region: the map"
	} else {
		parts, kind = s.Groups, "group"
		all = len(parts)
		p.Title = "The largest flows"
		parts = parts[:min(len(parts), mostFlows/2)]
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	parts = parts[:min(len(parts), mostFlows)]
	number := map[string]int{}
	times := map[int]float64{} // of a region
	for n, part := range parts {
		r := s.ends(s.about(kind, part))
		names := [2]string{r.From, r.To}
		if kind == "group" { // each has its own stops
			names = [2]string{fmt.Sprint(n, " from"), fmt.Sprint(n, " to")}
		}
		var at [2]int
		for e, name := range names {
			middle := s.middle(ends[e], part.Places)
			if ends[e].Kind == "greatcircle" {
				middle[0], middle[1] = middle[1], middle[0]
			}
			i, ok := number[name]
			if !ok {
				i = len(p.Stops.In)
				number[name] = i
				p.Stops.In = append(p.Stops.In, make([]float64, len(middle)))
				if kind == "region" {
					p.Stops.Names = append(p.Stops.Names, name)
				}
			}
			mean := p.Stops.In[i]
			times[i]++
			for a, v := range middle {
				if a == 1 && times[i] > 1 && ends[e].Kind == "greatcircle" {
					v = mean[a] + math.Remainder(v-mean[a], 360)
				}
				mean[a] += (v - mean[a]) / times[i]
			}
			at[e] = i
		}
		title := part.Label + ": " + r.words()
		if kind == "region" {
			title = r.From + " to " + r.To + ": " + r.words()
		}
		p.Flows = append(p.Flows, Flow{at[0], at[1], part.Share, title})
		if n < named {
			panel.Names = append(panel.Names, Name{Text: title})
		}
	}
	if len(parts) < all {
		p.Text = fmt.Sprintf("The picture has the %d largest of %d flows.", len(parts), all)
	}
	if kind == "group" {
		p.Text += " A flow here is a group of pairs that the reports do not tell apart. Its arrow goes from the middle of the places at " +
			"one end to the middle of those at the other. " + s.Coarse
	}
	p.Text, p.Panels = strings.TrimSpace(p.Text), []Panel{panel}
	return p
}

// between are the regions that have a name at both ends.
func (s Sheet) between() (list []Part) {
	for _, r := range s.Regions {
		if from, to, ok := strings.Cut(r.Label, plane.Between); ok && from != plane.Anywhere && to != plane.Anywhere && len(r.Places) > 0 {
			list = append(list, r)
		}
	}
	return list
}
