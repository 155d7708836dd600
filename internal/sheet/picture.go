package sheet

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
)

// Picture is maps of the same places side by side, on one scale.
type Picture struct {
	Title  string
	Text   string // below, after the words that say what the colours are
	Colour string // what they are; "": ofPopulation
	Places plane.Places
	Panels []Panel
	Shapes []costio.Shape // polygons of inputs on a sphere; or nil

	Flows []Flow // the largest first, on the only panel; or nil
	Stops Stops  // of flows
}

// ofPopulation is what colours are where nothing else is said.
const ofPopulation = "share of the population in a place"

// Flow is an arrow from one place of a picture to another.
type Flow struct {
	From, To int
	Share    float64 // the width
	Title    string  // what a pointer on it shows
}

// Stops are the places of a picture that flows are between. They are not drawn, but may have names.
type Stops struct {
	In    [][]float64 // as those of the places
	Names []string    // of each; or nil
}

// Panel is one map of a picture.
type Panel struct {
	Title   string
	Note    string // beside the title, as a distance
	Shares  []float64
	Outputs bool // the shares are of the outputs, and not of the inputs

	// Titles says of each place what a pointer on it shows, Names of some what is written there, Outlines which places
	// are drawn as one, and Foot what is below; a panel that has them is the large one.
	Titles   []string
	Names    []Name // fewer than ten
	Outlines [][]int
	Foot     []string
	Unit     string  // of a scale bar; "" for none
	PerUnit  float64 // of the plane, for one of Unit
}

// Name is what is written of a place, or of an outline with it: a number is there, and the text is in a key.
type Name struct {
	Place int
	Text  string
}

// shades are nine steps from little to much: YlGnBu of ColorBrewer on a light page, and the other way round on a dark
// one.
var shades = [...]string{"#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494",
	"#081d58"}

// colours are the shades for a style sheet.
type colours struct {
	Light, Dark []template.CSS
}

func theColours() (c colours) {
	for i, s := range shades {
		c.Light = append(c.Light, template.CSS(s))
		c.Dark = append(c.Dark, template.CSS(shades[len(shades)-1-i]))
	}
	return c
}

// drawing is a panel as paths.
type drawing struct {
	Title, Note string
	Box         string
	Dot         string // the diameter of places that are dots; "" for cells
	Paths       []path
	Spots, Spot string // places beside flows, and how wide they are
	Flows       []path
	Thin        string // how wide lines around flows are
	Outlines    []string
	Names       []text   // numbers
	Named       []string // what they are of
	Leaders     []string
	Foot        []text // in a saved picture
	All         string // the box with Foot
	Bar         string
	Large       bool
	Line, Rim   string // how wide lines are, and what is around a number's
	Font        string // how high letters are
}

// text is letters at a place.
type text struct{ X, Y, Class, Text string }

// path is all places of one shade.
type path struct {
	Class int
	D     string
	Title string
}

type key struct {
	Class int
	Text  string
}

// drawn is a picture as paths.
type drawn struct {
	Title, Text   string
	Colour        string
	Legend        string // what the colours are, as a sentence
	Panels        []drawing
	Large         bool // one of them is
	Key           []key
	width, height float64 // of a panel, in its own units
}

// draw draws the panels, on one scale.
func (p Picture) draw() drawn {
	if p.Flows != nil {
		return p.drawFlows()
	}
	in, out, shapes := p.flat()
	top := 0.0
	for _, panel := range p.Panels {
		top = max(top, slices.Max(panel.Shares))
	}
	scale := scaleOf(top)
	frame := frameOf(slices.Concat(in, out, slices.Concat(slices.Concat(shapes...)...)), p.Places)
	d := drawn{Title: p.Title, Text: p.Text, width: frame.width, height: frame.height}
	grouped := false
	for _, panel := range p.Panels {
		at := in
		if panel.Outputs && len(out) > 0 {
			at = out
		}
		one := drawing{Title: panel.Title, Note: panel.Note, Box: frame.box()}
		cells := p.Places.Kind == "grid" && len(panel.Shares) == p.Places.Rows*p.Places.Cols
		if !cells {
			one.Dot = number(frame.dot)
		}
		own := shapes
		if panel.Outputs && len(panel.Shares) != len(shapes) {
			own = nil
		}
		marks, order := marksOf(p.Places, frame, at, own, cells)
		if !cells && len(at) <= maxCells {
			one.Dot = ""
		}
		if large := panel.Titles != nil && len(at) <= maxCells; large || own != nil { // a path for each place
			for _, i := range order {
				next := path{Class: scale.class(panel.Shares[i]), D: marks[i].d}
				if large {
					next.Title = panel.Titles[i]
				}
				one.Paths = append(one.Paths, next)
			}
			if large {
				one.enlarge(panel, frame, marks, order, middles(frame, at, cells, p.Places))
			}
		} else {
			for class := range shades {
				var text strings.Builder
				for i, v := range panel.Shares {
					if scale.class(v) == class {
						text.WriteString(marks[i].d)
					}
				}
				if text.Len() > 0 {
					one.Paths = append(one.Paths, path{Class: class, D: text.String()})
				}
			}
		}
		d.Panels, d.Large = append(d.Panels, one), d.Large || one.Large
		grouped = grouped || len(one.Outlines) > 0
	}
	d.Colour = cmp.Or(p.Colour, ofPopulation)
	d.Legend = "Colour: the " + d.Colour
	switch {
	case len(p.Panels) == 1:
	case d.Large && p.Panels[1].Titles == nil:
		d.Legend += ", on one scale for this map and those below"
	default:
		d.Legend += ", on one scale for these maps"
	}
	d.Legend += "."
	if grouped {
		d.Text = strings.TrimSpace("An outline is around a group, places that the reports do not tell apart, or around a single place; pieces " +
			"with one number are one group. The colour is for each place: a large pale group may have more people than a small dark one. " + d.Text)
	}
	for class := range shades {
		d.Key = append(d.Key, key{class, plane.Percent(scale.above(class))})
	}
	return d
}

// flat puts the places on the plane, and the polygons of the inputs, ring by ring.
func (p Picture) flat() (in, out []plane.Point, shapes [][][]plane.Point) {
	if p.Shapes == nil || p.Places.Kind != "greatcircle" {
		in, out = p.Places.Plane()
		return in, out, nil
	}
	wind := make([]costio.Shape, len(p.Shapes)) // holes the other way round, so that what overlaps stays filled
	for i, shape := range p.Shapes {
		wind[i] = woundAll(shape)
	}
	with := p.Places
	with.In = slices.Clone(with.In)
	for _, shape := range wind {
		for _, polygon := range shape {
			for _, ring := range polygon {
				for _, a := range ring {
					with.In = append(with.In, []float64{a[1], a[0]})
				}
			}
		}
	}
	in, out = with.Plane()
	rest := in[len(p.Places.In):]
	for _, shape := range wind {
		var rings [][]plane.Point
		for _, polygon := range shape {
			for _, ring := range polygon {
				rings, rest = append(rings, rest[:len(ring)]), rest[len(ring):]
			}
		}
		shapes = append(shapes, rings)
	}
	return in[:len(p.Places.In)], out, shapes
}

// middles are the points of the places as they are drawn.
func middles(f frame, at []plane.Point, cells bool, p plane.Places) (list []plane.Point) {
	if !cells {
		return f.all(at)
	}
	for i := range at {
		list = append(list, plane.Point{X: float64(i%p.Cols) + 0.5, Y: float64(p.Rows-1-i/p.Cols) + 0.5})
	}
	return list
}

// The measures of a picture in a file of its own: letters, a panel, what is between two, and around all.
const (
	letters   = 15
	panelSide = 220
	gap       = 16
	around    = 14
)

//go:embed panel.html
var panelText string

//go:embed picture.svg
var pictureText string

var pictureTemplate = template.Must(template.Must(template.New("picture").Parse(pictureText)).Parse(panelText))

// placed is a part of a picture with its place.
type placed struct {
	drawing
	key
	X, Y, Width, Height float64
}

// SVG writes the picture as a file of its own: the panels in a row, the legend below. A grid or other flat places are
// needed: see plane.Places.
func (p Picture) SVG() ([]byte, error) {
	d := p.draw()
	n := float64(max(len(d.Panels), 4)) // the legend needs the width of four panels
	file := struct {
		colours
		Title, Summary string
		Colour         string
		Width, Height  float64
		Panels, Key    []placed
		LegendY        float64
	}{colours: theColours(), Title: p.Title, Colour: strings.ToUpper(d.Colour[:1]) + d.Colour[1:],
		Width: 2*around + n*panelSide + (n-1)*gap}
	height := math.Round(panelSide * d.height / d.width)
	for i, panel := range d.Panels {
		file.Panels = append(file.Panels, placed{drawing: panel, X: around + float64(i)*(panelSide+gap),
			Y: around + 5*letters, Width: panelSide, Height: height})
	}
	file.LegendY = around + 5*letters + height + 2*letters
	step := (file.Width - 2*around) / float64(len(d.Key))
	for i, k := range d.Key {
		file.Key = append(file.Key, placed{key: k, X: around + math.Round(float64(i)*step), Y: file.LegendY + letters, Width: step})
	}
	file.Height = file.LegendY + 2.5*letters + around
	file.Summary = p.summary()
	var b bytes.Buffer
	err := pictureTemplate.Execute(&b, file)
	return b.Bytes(), err
}

// summary is what a picture says to those who cannot see it.
func (p Picture) summary() string {
	var words []string
	for _, panel := range p.Panels {
		text := panel.Title
		if panel.Note != "" {
			text += ", " + panel.Note
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}

// scale maps shares to shades by their square root, so that small ones differ.
type scale struct{ top float64 }

func scaleOf(top float64) scale {
	if !(top > 0) {
		top = 1
	}
	return scale{top}
}

// class returns the shade of a share.
func (s scale) class(v float64) int {
	return min(int(math.Sqrt(max(v, 0)/s.top)*float64(len(shades))), len(shades)-1)
}

// above returns the largest share of a shade.
func (s scale) above(class int) float64 {
	t := float64(class+1) / float64(len(shades))
	return s.top * t * t
}
