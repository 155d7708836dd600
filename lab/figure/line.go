package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Line is a line chart: one or more series over common axes.
type Line struct {
	Title          string // what to see; runs over several lines if need be
	XLabel, YLabel string // with units
	X, Y           Scale  // Linear or Log
	XTicks         []float64
	YZero          bool    // a linear y axis starts at zero, so that ratios can be seen
	YMin           float64 // a log y axis starts at or below this, if it is not 0
	Series         []Series
}

// Series is one line of a chart.
type Series struct {
	Name string
	X, Y []float64 // same length, at least one point; X in the order to be joined
	Err  []float64 // half widths of error bars, nil for none
	Band bool      // draw Err as a shaded band instead of bars
	Bare bool      // no markers (for curves of many points and reference lines)
	Look int       // 0: by position; 1..Looks: the same look in every figure
	Thin bool      // a secondary line: thinner and paler
	// each point on a stem from the bottom of the axis, unconnected: for values at points that have no order
	Stem bool
}

// Alpha of secondary lines, and of bands.
const (
	paler  = 0xb0
	shaded = 0x30
)

// width of a chart: at that of a telephone's screen, 390 pixels, its text is as high as small print.
const width = 5 * vg.Inch

func (l Line) heading() string { return l.Title }

func (l Line) size() (w, h vg.Length) {
	return width, 3.3*vg.Inch + titleHeight(l.Title, width) + l.legend().height()
}

// legend names the series, as yet without their thumbnails.
func (l Line) legend() legend {
	names := make([]string, len(l.Series))
	for i, s := range l.Series {
		names[i] = s.Name
	}
	return newLegend(names)
}

func (l Line) check() error {
	if len(l.Series) == 0 {
		return fmt.Errorf("%w: line chart without series", ErrEmpty)
	}
	if l.X != Linear && l.X != Log || l.Y != Linear && l.Y != Log {
		return fmt.Errorf("%w: axes %v (x) and %v (y), want linear or log", ErrOption, l.X, l.Y)
	}
	for i, v := range l.XTicks {
		if err := checkValue(fmt.Sprintf("x tick %d", i), v, l.X); err != nil {
			return err
		}
	}
	if l.YMin != 0 {
		if err := checkValue("bottom of the y axis", l.YMin, Log); err != nil {
			return err
		}
	}
	for _, s := range l.Series {
		if err := s.check(l.X, l.Y); err != nil {
			return err
		}
	}
	return nil
}

// check is check of one series on axes of scales x and y.
func (s Series) check(x, y Scale) error {
	if len(s.X) == 0 {
		return fmt.Errorf("%w: series %q has no points", ErrEmpty, s.Name)
	}
	if len(s.Y) != len(s.X) || s.Err != nil && len(s.Err) != len(s.X) {
		return fmt.Errorf("%w: series %q: %d x, %d y, %d error bars", ErrShape, s.Name, len(s.X), len(s.Y), len(s.Err))
	}
	if err := checkLook(fmt.Sprintf("series %q", s.Name), s.Look); err != nil {
		return err
	}
	for i := range s.X {
		if err := checkValue(fmt.Sprintf("series %q: x[%d]", s.Name, i), s.X[i], x); err != nil {
			return err
		}
		if err := checkValue(fmt.Sprintf("series %q: y[%d]", s.Name, i), s.Y[i], y); err != nil {
			return err
		}
		if s.Err == nil {
			continue
		}
		if err := checkValue(fmt.Sprintf("series %q: error bar %d", s.Name, i), s.Err[i], Linear); err != nil {
			return err
		}
		if s.Err[i] < 0 {
			return fmt.Errorf("%w: series %q: error bar %d = %v is negative", ErrValue, s.Name, i, s.Err[i])
		}
		if err := checkValue(fmt.Sprintf("series %q: lower end of error bar %d", s.Name, i), s.Y[i]-s.Err[i], y); err != nil {
			return err
		}
	}
	return nil
}

func (l Line) draw(c draw.Canvas) error {
	c = frame(c, l.Title)
	p := newPlot(l.XLabel)
	l.axes(p)
	p.Add(gridLines())

	// A band is drawn below every line, then the lines in order, so that the first series is drawn last and stays on top.
	entries := l.legend()
	for i, s := range l.Series {
		if s.Err == nil || !s.Band {
			continue
		}
		poly, err := band(s, resolveLook(s.Look, i))
		if err != nil {
			return err
		}
		p.Add(poly)
		entries[i].thumbs = append(entries[i].thumbs, poly)
	}
	for i, s := range slices.Backward(l.Series) {
		if err := s.draw(p, i, &entries[i]); err != nil {
			return err
		}
	}
	drawPlot(c, p, l.YLabel, entries)
	return nil
}

// axes sets the ranges, scales and ticks.
func (l Line) axes(p *plot.Plot) {
	xr, yr := newSpan(), newSpan()
	for _, s := range l.Series {
		for i := range s.X {
			xr.add(s.X[i])
			yr.add(s.Y[i])
			if s.Err != nil {
				yr.add(s.Y[i] - s.Err[i])
				yr.add(s.Y[i] + s.Err[i])
			}
		}
	}
	if l.YZero && l.Y == Linear {
		yr.add(0)
	}
	if l.YMin > 0 && l.Y == Log {
		yr.add(l.YMin)
	}
	p.X.Min, p.X.Max = xr.axis(l.X, false)
	p.Y.Min, p.Y.Max = yr.axis(l.Y, true)
	scaleAxis(&p.X, l.X)
	scaleAxis(&p.Y, l.Y)
	if l.YZero && l.Y == Linear && yr.lo == 0 {
		p.Y.Min = 0
	}
	if len(l.XTicks) > 0 {
		var t []plot.Tick
		for _, v := range l.XTicks {
			t = append(t, plot.Tick{Value: v, Label: label(v)})
		}
		p.X.Tick.Marker = plot.ConstantTicks(t)
	}
}

// draw adds the line of series i, its error bars and its dots.
func (s Series) draw(p *plot.Plot, i int, e *legendEntry) error {
	lk := resolveLook(s.Look, i)
	thick, radius, col := vg.Length(2), vg.Length(4), lk.color
	if s.Thin {
		thick, radius, col.A = 1.1, 2.8, paler
	}
	xy := make(plotter.XYs, len(s.X))
	for j := range xy {
		xy[j] = plotter.XY{X: s.X[j], Y: s.Y[j]}
	}
	if s.Stem {
		p.Add(stems{xy, draw.LineStyle{Color: col, Width: 1.2}})
	} else {
		line, err := plotter.NewLine(xy)
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: col, Width: thick, Dashes: lk.dash}
		p.Add(line)
		e.thumbs = append(e.thumbs, line)
	}
	if s.Err != nil && !s.Band {
		ye := make(plotter.YErrors, len(s.Err))
		for j, d := range s.Err {
			ye[j].Low, ye[j].High = d, d
		}
		bars, err := plotter.NewYErrorBars(struct {
			plotter.XYs
			plotter.YErrors
		}{xy, ye})
		if err != nil {
			return err
		}
		bars.LineStyle = draw.LineStyle{Color: lk.color, Width: 1.1}
		bars.CapWidth = 6
		p.Add(bars)
	}
	if !s.Bare {
		dots, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: col, Radius: radius, Shape: lk.glyph}
		p.Add(dots)
		e.thumbs = append(e.thumbs, dots)
	}
	return nil
}

// stems are lines from the bottom of the axis up to points.
type stems struct {
	xy    plotter.XYs
	style draw.LineStyle
}

func (s stems) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, at := range s.xy {
		c.StrokeLine2(s.style, x(at.X), c.Min.Y, x(at.X), y(at.Y))
	}
}

// band is the polygon between y - err and y + err.
func band(s Series, lk look) (*plotter.Polygon, error) {
	n := len(s.X)
	xy := make(plotter.XYs, 2*n)
	for i := range s.X {
		xy[i] = plotter.XY{X: s.X[i], Y: s.Y[i] - s.Err[i]}
		xy[2*n-1-i] = plotter.XY{X: s.X[i], Y: s.Y[i] + s.Err[i]}
	}
	poly, err := plotter.NewPolygon(xy)
	if err != nil {
		return nil, err
	}
	col := lk.color
	col.A = shaded
	poly.Color = col
	poly.LineStyle.Width = 0
	return poly, nil
}

// newPlot is an empty plot in the style of the package. It is used without a title or a y label: frame
// and drawPlot draw those.
func newPlot(x string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: faint, Width: 0.8}
		a.Tick.LineStyle = draw.LineStyle{Color: faint, Width: 0.8}
		a.Tick.Length = 5
		a.Tick.Marker = ticks{}
		lab := a.Label.TextStyle
		a.Label.TextStyle = aligned(style(12, ink), lab)
		a.Label.Padding = 5
		tick := a.Tick.Label
		a.Tick.Label = aligned(style(11, ink), tick)
		a.Padding = 4
	}
	p.X.Label.Text = x
	return p
}

// aligned keeps the alignment and rotation gonum chose for a label and takes the rest from s.
func aligned(s, was text.Style) text.Style {
	s.XAlign, s.YAlign, s.Rotation = was.XAlign, was.YAlign, was.Rotation
	return s
}

func gridLines() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal = draw.LineStyle{Color: grid, Width: 0.8}
	g.Vertical = draw.LineStyle{Color: grid, Width: 0.8}
	return g
}

func scaleAxis(a *plot.Axis, s Scale) {
	if s == Log {
		a.Scale = plot.LogScale{}
		a.Tick.Marker = logTicks{}
	}
}

// legend lists the series in rows above the plot, as many in a row as there is room for. (plot.Legend sets its lines by
// the extent of each text, which makes them uneven.)
type legend []legendEntry

type legendEntry struct {
	name   string
	lines  []string // the name, broken where it is wider than the figure
	row    int
	x      vg.Length // from the left
	thumbs []plot.Thumbnailer
}

// Geometry of the legend, in points.
const (
	legendThumb = vg.Length(28)
	legendGap   = vg.Length(5)
	legendPitch = vg.Length(17)
	legendApart = vg.Length(14)
	legendText  = vg.Length(11)
	legendWidth = width - 2*margin
)

// newLegend places the names that are not empty.
func newLegend(names []string) legend {
	l := make(legend, len(names))
	row, x := 0, vg.Length(0)
	sty := style(legendText, ink)
	for i, name := range names {
		l[i].name = name
		if name == "" {
			continue
		}
		l[i].lines = wrap(sty, name, legendWidth-legendThumb-legendGap)
		var wide vg.Length
		for _, line := range l[i].lines {
			wide = max(wide, sty.Width(line))
		}
		wide += legendThumb + legendGap
		if x > 0 && (x+wide > legendWidth || len(l[i].lines) > 1) {
			row, x = row+1, 0
		}
		l[i].row, l[i].x = row, x
		if x += wide + legendApart; len(l[i].lines) > 1 {
			row, x = row+len(l[i].lines), 0
		}
	}
	return l
}

// height is what the legend takes.
func (l legend) height() vg.Length {
	rows := 0
	for _, e := range l {
		rows = max(rows, e.row+len(e.lines))
	}
	if rows == 0 {
		return 0
	}
	return vg.Length(rows)*legendPitch + 8
}

// draw draws the legend at the top of c and returns what is left.
func (l legend) draw(c draw.Canvas) draw.Canvas {
	sty := style(legendText, ink)
	sty.YAlign = draw.YCenter
	for _, e := range l {
		for i, line := range e.lines {
			y := c.Max.Y - (vg.Length(e.row+i)+0.5)*legendPitch
			x := c.Min.X + e.x
			if i == 0 {
				icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
					Min: vg.Point{X: x, Y: y - 6}, Max: vg.Point{X: x + legendThumb, Y: y + 6},
				}}
				for _, t := range e.thumbs {
					t.Thumbnail(&icon)
				}
			}
			c.FillText(sty, vg.Point{X: x + legendThumb + legendGap, Y: y}, line)
		}
	}
	return draw.Crop(c, 0, 0, 0, -l.height())
}

// drawPlot draws the legend, and p with its y label below it.
func drawPlot(c draw.Canvas, p *plot.Plot, ylabel string, l legend) {
	c = l.draw(c)
	// The label is drawn here and not by the axis: on a log axis gonum reserves room for it at the wrong height.
	const below, leading = vg.Length(40), vg.Length(15) // numbers and label of the x axis; from line to line
	lab := style(12, ink)
	lines := wrap(lab, ylabel, c.Size().Y-below)
	plotted := c
	if ylabel != "" {
		plotted = draw.Crop(plotted, 5+leading*vg.Length(len(lines)), 0, 0, 0)
	}
	data := p.DataCanvas(plotted)
	lab.Rotation, lab.XAlign, lab.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	for i, line := range lines {
		c.FillText(lab, vg.Point{X: c.Min.X + leading*vg.Length(i), Y: data.Center().Y}, line)
	}
	p.Draw(plotted)
}

// span is the range of the data on one axis.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(v float64) { s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v) }

// axis returns the ends of the axis: the data range with a little room (y only), never empty.
func (s span) axis(sc Scale, room bool) (lo, hi float64) {
	lo, hi = s.lo, s.hi
	if sc == Log {
		if !(hi >= lo*(1+minRelRange)) {
			return lo / 2, hi * 2
		}
		if room {
			r := math.Pow(hi/lo, 0.04)
			lo, hi = lo/r, hi*r
		}
		return lo, hi
	}
	mag := math.Max(math.Abs(lo), math.Abs(hi))
	if !(hi-lo > minRelRange*mag) {
		d := math.Max(mag/2, 0.5)
		return lo - d, hi + d
	}
	if room {
		d := (hi - lo) * 0.04
		lo, hi = lo-d, hi+d
	}
	return lo, hi
}

// minRelRange is the smallest range, relative to the magnitude, that is drawn as it is: below it tick labels of four
// digits would all read the same, so the axis is widened and the line looks flat, as it is.
const minRelRange = 1e-6

// ticks marks multiples of 1, 2 or 5 times a power of ten: 4 to 10 of them with labels, and the next finer ones
// without.
type ticks struct{}

func (ticks) Ticks(lo, hi float64) []plot.Tick {
	major, parts := tickStep(lo, hi)
	if major == 0 {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	minor := major / float64(parts)
	var out []plot.Tick
	slack := minor * 1e-6 // an end of the axis is on it in spite of rounding
	for n := math.Ceil((lo - slack) / minor); n*minor <= hi+slack; n++ {
		t := plot.Tick{Value: min(max(n*minor, lo), hi)}
		if math.Mod(n, float64(parts)) == 0 {
			t.Label = label(n / float64(parts) * major)
		}
		out = append(out, t)
	}
	return out
}

// tickStep returns the distance of labelled ticks and into how many parts it is divided; 0 where numbers are too large,
// too small or too close together for steps of their own.
func tickStep(lo, hi float64) (step float64, parts int) {
	const labels = 4 // as many fit in any step below
	if !(hi-lo > minRelRange*math.Max(math.Abs(lo), math.Abs(hi))) || hi-lo > 1e90 || hi-lo < 1e-90 {
		return 0, 0
	}
	e := int(math.Floor(math.Log10((hi - lo) / labels)))
	for _, c := range []struct {
		digit string
		parts int
	}{{"5", 5}, {"2", 4}, {"1", 5}} {
		v, err := strconv.ParseFloat(fmt.Sprintf("%se%d", c.digit, e), 64) // the decimal itself
		if err == nil && v*labels <= hi-lo {
			return v, c.parts
		}
	}
	return 0, 0
}

// logTicks marks every power of ten and, when there are few of those, 2 and 5 times it as well.
type logTicks struct{}

func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	e0, e1 := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	step := 1
	for (e1-e0)/step > 12 {
		step++
	}
	few := e1-e0 <= 3
	var out []plot.Tick
	for _, v := range decades(lo, hi, 1, 2, 3, 4, 5, 6, 7, 8, 9) {
		t := plot.Tick{Value: v}
		s := strconv.FormatFloat(v, 'e', 0, 64) // "2e-05"
		if e, err := strconv.Atoi(s[2:]); err == nil && (s[0] == '1' && e%step == 0 || few && (s[0] == '2' || s[0] == '5')) {
			t.Label = label(v)
		}
		out = append(out, t)
	}
	return out
}

// decades returns the values m * 10^e within [lo, hi] for the given one-digit m, ascending; lo > 0.
func decades(lo, hi float64, digits ...int) []float64 {
	var out []float64
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for _, m := range digits {
			// the decimal itself, not a product that is off by an ulp
			v, err := strconv.ParseFloat(fmt.Sprintf("%de%d", m, e), 64)
			if err == nil && v >= lo && v <= hi {
				out = append(out, v)
			}
		}
	}
	return out
}

// label prints a tick value in at most five significant digits.
func label(v float64) string {
	if v == 0 {
		return "0" // never "-0"
	}
	return strconv.FormatFloat(v, 'g', 5, 64)
}
