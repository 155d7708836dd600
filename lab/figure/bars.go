package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a grouped bar chart: in each group one bar per series, from zero up.
type Bars struct {
	Title  string
	YLabel string   // with units
	Groups []string // labels below the groups
	Series []BarSeries
}

// BarSeries is one bar of every group.
type BarSeries struct {
	Name   string
	Values []float64 // one per group, >= 0
	Err    []float64 // half widths of error bars, nil for none
	Look   int       // as in Series
}

func (b Bars) heading() string { return b.Title }

func (b Bars) size() (w, h vg.Length) {
	return width, 3*vg.Inch + titleHeight(b.Title, width) + b.legend().height()
}

// legend names the series, as yet without their thumbnails.
func (b Bars) legend() legend {
	names := make([]string, len(b.Series))
	for i, s := range b.Series {
		names[i] = s.Name
	}
	return newLegend(names)
}

func (b Bars) check() error {
	if len(b.Groups) == 0 || len(b.Series) == 0 {
		return fmt.Errorf("%w: bar chart of %d groups and %d series", ErrEmpty, len(b.Groups), len(b.Series))
	}
	for _, s := range b.Series {
		if len(s.Values) != len(b.Groups) || s.Err != nil && len(s.Err) != len(b.Groups) {
			return fmt.Errorf("%w: bars %q: %d values, %d error bars, %d groups", ErrShape, s.Name, len(s.Values), len(s.Err),
				len(b.Groups))
		}
		if err := checkLook(fmt.Sprintf("bars %q", s.Name), s.Look); err != nil {
			return err
		}
		for i, v := range s.Values {
			where := fmt.Sprintf("bars %q: value %d", s.Name, i)
			if err := checkValue(where, v, Linear); err != nil {
				return err
			}
			if v < 0 {
				return fmt.Errorf("%w: %s = %v is negative", ErrValue, where, v)
			}
		}
		for i, v := range s.Err {
			where := fmt.Sprintf("bars %q: error bar %d", s.Name, i)
			if err := checkValue(where, v, Linear); err != nil {
				return err
			}
			if v < 0 {
				return fmt.Errorf("%w: %s = %v is negative", ErrValue, where, v)
			}
		}
	}
	return nil
}

func (b Bars) draw(c draw.Canvas) error {
	c = frame(c, b.Title)
	p := newPlot("")
	yr := newSpan()
	yr.add(0)
	for _, s := range b.Series {
		for i, v := range s.Values {
			yr.add(v)
			if s.Err != nil {
				yr.add(v + s.Err[i])
			}
		}
	}
	_, p.Y.Max = yr.axis(Linear, true)
	p.Y.Min = 0
	p.X.Min, p.X.Max = -0.5, float64(len(b.Groups))-0.5
	var t []plot.Tick
	for i, g := range b.Groups {
		t = append(t, plot.Tick{Value: float64(i), Label: g})
	}
	p.X.Tick.Marker = plot.ConstantTicks(t)
	p.X.Tick.Length = 0
	p.X.Padding, p.Y.Padding = 0, 0
	g := gridLines()
	g.Vertical.Color = nil
	p.Add(g)

	entries := b.legend()
	for i, s := range b.Series {
		col := resolveLook(s.Look, i).color
		p.Add(barPlotter{s: s, at: i, of: len(b.Series), color: col})
		entries[i].thumbs = []plot.Thumbnailer{swatch{col}}
	}
	drawPlot(c, p, b.YLabel, entries)
	return nil
}

// barPlotter draws bar number at of each group of of bars. (plotter.BarChart has widths in points, which would not
// follow the number of groups.)
type barPlotter struct {
	s      BarSeries
	at, of int
	color  color.Color
}

func (b barPlotter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const filled = 0.8 // of the width of a group
	w := filled / float64(b.of)
	for i, v := range b.s.Values {
		l := float64(i) - filled/2 + float64(b.at)*w
		r := vg.Rectangle{Min: vg.Point{X: x(l + 0.04*w), Y: y(0)}, Max: vg.Point{X: x(l + 0.96*w), Y: y(v)}}
		c.FillPolygon(b.color, corners(r))
		if b.s.Err == nil {
			continue
		}
		mid, lo, hi := x(l+w/2), y(max(0, v-b.s.Err[i])), y(v+b.s.Err[i])
		sty := draw.LineStyle{Color: ink, Width: 1}
		c.StrokeLine2(sty, mid, lo, mid, hi)
		c.StrokeLine2(sty, mid-3, lo, mid+3, lo)
		c.StrokeLine2(sty, mid-3, hi, mid+3, hi)
	}
}

// swatch is the coloured square of a bar series in the legend.
type swatch struct{ color color.Color }

func (s swatch) Thumbnail(c *draw.Canvas) {
	r := c.Rectangle
	r.Min.X = r.Max.X - r.Size().Y
	c.FillPolygon(s.color, corners(r))
}
