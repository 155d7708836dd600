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

	"github.com/wpm-go/wpm/internal/atlas"
)

//go:embed page.html
var pageText string

// shades are nine steps from little to much: YlGnBu of ColorBrewer on a light page, and the other way round on a dark
// one.
var shades = [...]string{"#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494",
	"#081d58"}

// panel is one map of a page.
type panel struct {
	Title string
	Box   string
	Dot   string // the diameter of places that are dots; "" for cells
	Paths []path
}

// path is all places of one shade.
type path struct {
	Class int
	D     string
}

type key struct {
	Class int
	Text  string
}

type page struct {
	Sheet
	Light, Dark []template.CSS
	Panels      []panel
	Key         []key
}

// page writes the sheet as HTML that needs no other file and no script.
func (s Sheet) page() ([]byte, error) {
	p := page{Sheet: s}
	for i, c := range shades {
		p.Light = append(p.Light, template.CSS(c))
		p.Dark = append(p.Dark, template.CSS(shades[len(shades)-1-i]))
	}
	if s.Places.Flat() {
		s.draw(&p)
	}
	var b bytes.Buffer
	err := template.Must(template.New("page").Parse(pageText)).Execute(&b, p)
	return b.Bytes(), err
}

// draw adds the panels, on one scale.
func (s Sheet) draw(p *page) {
	in, out := s.Places.Plane()
	atRaw := in
	if len(out) > 0 {
		atRaw = out
	}
	drawn := []struct {
		title string
		share []float64
		at    []atlas.Point
	}{{"truth", s.Truth, in}, {"guess, without a report", s.Guess, in}, {"raw: the reports as they are", s.Raw, atRaw},
		{"map", s.Drawn, in}}
	top := 0.0
	for _, d := range drawn {
		if d.share != nil {
			top = max(top, slices.Max(d.share))
		}
	}
	scale := scaleOf(top)
	frame := frameOf(append(slices.Clone(in), out...), s.Places)
	for _, d := range drawn {
		if d.share == nil {
			continue
		}
		pan := panel{Title: d.title, Box: frame.box()}
		cells := s.Places.Kind == "grid" && len(d.share) == s.Places.Rows*s.Places.Cols
		if !cells {
			pan.Dot = number(frame.dot)
		}
		for class := range shades {
			var text strings.Builder
			for i, v := range d.share {
				if scale.class(v) != class {
					continue
				}
				if cells {
					c, r := i%s.Places.Cols, s.Places.Rows-1-i/s.Places.Cols // row 0 is at the bottom
					fmt.Fprintf(&text, "M%d %dh1v1h-1z", c, r)
				} else {
					x, y := frame.at(d.at[i])
					fmt.Fprintf(&text, "M%s %sh0", number(x), number(y))
				}
			}
			if text.Len() > 0 {
				pan.Paths = append(pan.Paths, path{class, text.String()})
			}
		}
		p.Panels = append(p.Panels, pan)
	}
	for class := range shades {
		p.Key = append(p.Key, key{class, fmt.Sprintf("up to %s", atlas.Percent(scale.above(class)))})
	}
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
	least         atlas.Point
	side          float64 // of the plane that pageUnits are
	width, height float64
	dot           float64
}

const pageUnits = 300

func frameOf(at []atlas.Point, p atlas.Places) frame {
	if p.Kind == "grid" {
		return frame{width: float64(p.Cols), height: float64(p.Rows)}
	}
	least, most := atlas.Bounds(at)
	_, unit := atlas.Spread(at)
	w, h := most.X-least.X, most.Y-least.Y
	f := frame{least: least, side: max(w, h)}
	if f.side == 0 {
		f.side = 1
	}
	f.dot = min(max(0.6*unit/f.side*pageUnits, 2), 24)
	f.width, f.height = w/f.side*pageUnits+f.dot, h/f.side*pageUnits+f.dot
	return f
}

func (f frame) box() string {
	return fmt.Sprintf("0 0 %s %s", number(f.width), number(f.height))
}

// at returns where a point is drawn: y grows downwards there.
func (f frame) at(a atlas.Point) (x, y float64) {
	return (a.X-f.least.X)/f.side*pageUnits + f.dot/2, f.height - (a.Y-f.least.Y)/f.side*pageUnits - f.dot/2
}

func number(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }
