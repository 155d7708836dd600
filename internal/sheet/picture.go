package sheet

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
)

// Picture is maps of the same places side by side, on one scale.
type Picture struct {
	Title  string
	Text   string // below, after the words that say what the colours are
	Places plane.Places
	Panels []Panel
	Shapes []costio.Shape // polygons of inputs on a sphere; or nil
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
	Names    []Name // the first ones stay where they are
	Outlines [][]int
	Foot     []string
	Unit     string  // of a scale bar; "" for none
	PerUnit  float64 // of the plane, for one of Unit
}

// Name is what is written at a place.
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
	Outlines    []string
	Names       []text
	Foot        []text
	Bar         string
	Large       bool
	Line, Font  string // how wide and high they are
}

// text is letters at a place.
type text struct{ X, Y, Anchor, Text string }

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
	Panels        []drawing
	Key           []key
	width, height float64 // of a panel, in its own units
}

// draw draws the panels, on one scale.
func (p Picture) draw() drawn {
	in, out, shapes := p.flat()
	top := 0.0
	for _, panel := range p.Panels {
		top = max(top, slices.Max(panel.Shares))
	}
	scale := scaleOf(top)
	frame := frameOf(slices.Concat(in, out, slices.Concat(slices.Concat(shapes...)...)), p.Places)
	d := drawn{Title: p.Title, Text: p.Text, width: frame.width, height: frame.height}
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
		marks, corners := p.marks(frame, at, own, cells)
		if !cells && len(at) <= maxCells {
			one.Dot = ""
		}
		if panel.Titles != nil && len(at) <= maxCells { // the large one: a path for each place
			for i, v := range panel.Shares {
				one.Paths = append(one.Paths, path{scale.class(v), marks[i], panel.Titles[i]})
			}
			one.enlarge(panel, frame, corners)
		} else {
			for class := range shades {
				var text strings.Builder
				for i, v := range panel.Shares {
					if scale.class(v) == class {
						text.WriteString(marks[i])
					}
				}
				if text.Len() > 0 {
					one.Paths = append(one.Paths, path{Class: class, D: text.String()})
				}
			}
		}
		d.Panels = append(d.Panels, one)
	}
	for class := range shades {
		d.Key = append(d.Key, key{class, plane.Percent(scale.above(class))})
	}
	return d
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
		Width, Height  float64
		Panels, Key    []placed
		LegendY        float64
	}{colours: theColours(), Title: p.Title, Width: 2*around + n*panelSide + (n-1)*gap}
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

// frame is the part of the plane that is drawn, the longer side in pageUnits.
type frame struct {
	least         plane.Point
	side          float64 // of the plane that pageUnits are
	width, height float64
	dot           float64
}

const pageUnits = 300

func frameOf(at []plane.Point, p plane.Places) frame {
	if p.Kind == "grid" {
		return frame{width: float64(p.Cols), height: float64(p.Rows)}
	}
	least, most := plane.Bounds(at)
	_, unit := plane.Spread(at)
	w, h := most.X-least.X, most.Y-least.Y
	f := frame{least: least, side: max(w, h)}
	if f.side == 0 {
		f.side = 1
	}
	f.dot = min(max(unit/f.side*pageUnits, 4), 36)
	f.width, f.height = w/f.side*pageUnits+f.dot, h/f.side*pageUnits+f.dot
	return f
}

func (f frame) box() string {
	return fmt.Sprintf("0 0 %s %s", number(f.width), number(f.height))
}

// at returns where a point is drawn: y grows downwards there.
func (f frame) at(a plane.Point) (x, y float64) {
	return (a.X-f.least.X)/f.side*pageUnits + f.dot/2, f.height - (a.Y-f.least.Y)/f.side*pageUnits - f.dot/2
}

func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }
