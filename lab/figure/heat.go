package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a set of heat maps, two beside each other, that share one colour scale and one colour bar, so that equal
// colours mean equal numbers.
type Heat struct {
	Title          string
	Label          string // what the colour means, with the unit
	XLabel, YLabel string // below each panel and left of the first, e.g. "column (west to east)"
	Scale          Scale  // Linear, Sqrt, or Log
	// bottom of a Log scale, below Max; 0: MinLog times the top. Smaller values get the lightest colour
	Min    float64
	Max    float64 // top of the colour scale; 0: the largest value. Larger values get the darkest colour
	Panels []Panel
}

// MinLog is the default range of a Log colour scale: four decades below the top.
const MinLog = 1e-4

// Panel is one map. Row 0 is drawn at the bottom (south), column 0 at the left (west).
type Panel struct {
	Title      string
	Rows, Cols int
	Data       []float64 // row-major, Rows*Cols, >= 0
}

// Geometry of the figure, in points.
const (
	heatCells  = vg.Length(148) // the longer side of a panel's map; a single panel's is twice that and the gap
	heatGap    = vg.Length(14)
	heatBar    = vg.Length(12)
	heatLeft   = vg.Length(36)
	heatBelow  = vg.Length(36) // numbers and label below a map
	heatBarLow = vg.Length(36) // numbers and label below the colour bar
	heatLine   = vg.Length(14) // a line of a panel's title
)

// maxCells bounds the drawing, not the data: a panel with more cells than this has cells below a pixel.
const maxCells = 1 << 18

func (h Heat) check() error {
	if len(h.Panels) == 0 {
		return fmt.Errorf("%w: heat map without panels", ErrEmpty)
	}
	if h.Scale != Linear && h.Scale != Log && h.Scale != Sqrt {
		return fmt.Errorf("%w: colour scale %v", ErrOption, h.Scale)
	}
	if err := checkValue("top of the colour scale", h.Max, Linear); err != nil {
		return err
	}
	if h.Max < 0 {
		return fmt.Errorf("%w: top of the colour scale = %v", ErrValue, h.Max)
	}
	if err := checkValue("bottom of the colour scale", h.Min, Linear); err != nil {
		return err
	}
	if h.Min != 0 && (h.Scale != Log || !(h.Min >= MinLog*MinLog*h.top()) || !(h.Min < h.top())) {
		return fmt.Errorf("%w: bottom of the %v colour scale = %v, top %v", ErrValue, h.Scale, h.Min, h.top())
	}
	for _, p := range h.Panels {
		if p.Rows < 1 || p.Cols < 1 || p.Rows > maxCells || p.Cols > maxCells || p.Rows*p.Cols > maxCells ||
			len(p.Data) != p.Rows*p.Cols {
			return fmt.Errorf("%w: panel %q: %d rows, %d columns, %d values", ErrShape, p.Title, p.Rows, p.Cols, len(p.Data))
		}
		for i, v := range p.Data {
			where := fmt.Sprintf("panel %q: row %d, column %d", p.Title, i/p.Cols, i%p.Cols)
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

// side is the longer side of the maps.
func (h Heat) side() vg.Length {
	if len(h.Panels) == 1 {
		return 2*heatCells + heatGap
	}
	return heatCells
}

// mapSize is the size of one panel's map: square cells.
func (h Heat) mapSize(p Panel) (w, ht vg.Length) {
	cell := h.side() / vg.Length(max(p.Rows, p.Cols))
	return cell * vg.Length(p.Cols), cell * vg.Length(p.Rows)
}

// heatTitle is the style of a panel's title.
func heatTitle() text.Style { return bold(11, ink) }

// row is the height of the row of panels that begins with panel i, and of its titles.
func (h Heat) row(i int) (maps, titles vg.Length) {
	for _, p := range h.Panels[i:min(i+2, len(h.Panels))] {
		_, ht := h.mapSize(p)
		maps = max(maps, ht)
		titles = max(titles, vg.Length(len(wrap(heatTitle(), p.Title, h.side())))*heatLine)
	}
	return maps, titles
}

func (h Heat) heading() string { return h.Title }

func (h Heat) size() (w, ht vg.Length) {
	w = 2*margin + heatLeft + 2*heatCells + heatGap
	ht = 2*margin + titleHeight(h.Title, w) + heatBar + heatBarLow
	for i := 0; i < len(h.Panels); i += 2 {
		maps, titles := h.row(i)
		ht += maps + titles + heatBelow
	}
	return w, ht
}

// shade maps values to colours.
type shade struct {
	scale       Scale
	bottom, top float64 // bottom is of a Log scale only
	stops       []color.Color
}

// top is the value of the darkest colour. It is positive.
func (h Heat) top() float64 {
	top := h.Max
	if top == 0 {
		for _, p := range h.Panels {
			for _, v := range p.Data {
				top = math.Max(top, v)
			}
		}
	}
	if !(top >= 1/MaxAbs) { // all zero: any top will do
		top = 1
	}
	return top
}

func (h Heat) shade() (shade, error) {
	pal, err := brewer.GetPalette(brewer.TypeSequential, "YlGnBu", 9)
	if err != nil {
		return shade{}, err
	}
	top, bottom := h.top(), h.Min
	if bottom == 0 {
		bottom = MinLog * top
	}
	return shade{h.Scale, bottom, top, pal.Colors()}, nil
}

// at returns the position of v on the colour bar, 0 at the light end and 1 at the dark one.
func (s shade) at(v float64) float64 {
	t := v / s.top
	switch s.scale {
	case Sqrt:
		t = math.Sqrt(t)
	case Log:
		t = math.Log(math.Max(v, s.bottom)/s.bottom) / math.Log(s.top/s.bottom)
	}
	return math.Min(math.Max(t, 0), 1)
}

// color interpolates the palette at position t.
func (s shade) color(t float64) color.Color {
	f := t * float64(len(s.stops)-1)
	i := min(int(f), len(s.stops)-2)
	f -= float64(i)
	a, b := color.NRGBAModel.Convert(s.stops[i]).(color.NRGBA), color.NRGBAModel.Convert(s.stops[i+1]).(color.NRGBA)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + f*(float64(y)-float64(x)))) }
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

func (h Heat) draw(c draw.Canvas) error {
	sh, err := h.shade()
	if err != nil {
		return err
	}
	c = frame(c, h.Title)
	top := c.Max.Y
	for i, p := range h.Panels {
		maps, titles := h.row(i - i%2)
		w, ht := h.mapSize(p)
		x := c.Min.X + heatLeft + vg.Length(i%2)*(h.side()+heatGap)
		y := top - titles - maps
		title := heatTitle()
		for n, line := range wrap(title, p.Title, h.side()) {
			c.FillText(title, vg.Point{X: x, Y: top - vg.Length(n)*heatLine}, line)
		}
		r := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + ht}}
		drawCells(c, r, p, sh)
		h.drawTicks(c, r, p, i%2 == 0)
		if i%2 == 1 {
			top = y - heatBelow
		}
	}
	low := vg.Point{X: c.Min.X + heatLeft, Y: c.Min.Y + heatBarLow}
	h.drawBar(c, vg.Rectangle{Min: low, Max: vg.Point{X: low.X + 2*heatCells + heatGap, Y: low.Y + heatBar}}, sh)
	return nil
}

// drawCells fills the map row by row. Each run of equal colour is one rectangle, and every rectangle reaches under its
// right and upper neighbours, which are drawn later: anti-aliasing then shows no seams.
func drawCells(c draw.Canvas, r vg.Rectangle, p Panel, sh shade) {
	w, h := r.Size().X/vg.Length(p.Cols), r.Size().Y/vg.Length(p.Rows)
	for i := 0; i < p.Rows; i++ {
		top := min(r.Min.Y+vg.Length(i+1)*h+0.4, r.Max.Y)
		for j := 0; j < p.Cols; {
			col := sh.color(sh.at(p.Data[i*p.Cols+j]))
			k := j + 1
			for k < p.Cols && sh.color(sh.at(p.Data[i*p.Cols+k])) == col {
				k++
			}
			right := min(r.Min.X+vg.Length(k)*w+0.4, r.Max.X)
			c.FillPolygon(col, corners(vg.Rectangle{
				Min: vg.Point{X: r.Min.X + vg.Length(j)*w, Y: r.Min.Y + vg.Length(i)*h},
				Max: vg.Point{X: right, Y: top},
			}))
			j = k
		}
	}
	box(c, r)
}

func box(c draw.Canvas, r vg.Rectangle) {
	q := corners(r)
	c.StrokeLines(draw.LineStyle{Color: faint, Width: 0.8}, append(q, q[0]))
}

// drawTicks numbers the first cell and every fifth (or a rounder step on large grids) along both sides.
func (h Heat) drawTicks(c draw.Canvas, r vg.Rectangle, p Panel, first bool) {
	step := 5
	for max(p.Rows, p.Cols)/step > 8 {
		step *= 2
	}
	num := style(10, faint)
	sty := draw.LineStyle{Color: faint, Width: 0.8}
	side := r.Size().X / vg.Length(p.Cols)
	num.XAlign, num.YAlign = draw.XCenter, draw.YTop
	for j := 0; j < p.Cols; j += step {
		x := r.Min.X + (vg.Length(j)+0.5)*side
		c.StrokeLine2(sty, x, r.Min.Y, x, r.Min.Y-3)
		c.FillText(num, vg.Point{X: x, Y: r.Min.Y - 5}, fmt.Sprint(j))
	}
	lab := style(11, ink)
	lab.XAlign = draw.XCenter
	c.FillText(lab, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: r.Min.Y - 17}, h.XLabel)
	num.XAlign, num.YAlign = draw.XRight, draw.YCenter
	for i := 0; i < p.Rows; i += step {
		y := r.Min.Y + (vg.Length(i)+0.5)*side
		c.StrokeLine2(sty, r.Min.X, y, r.Min.X-3, y)
		if first {
			c.FillText(num, vg.Point{X: r.Min.X - 5, Y: y}, fmt.Sprint(i))
		}
	}
	if first {
		lab.Rotation, lab.XAlign, lab.YAlign = math.Pi/2, draw.XCenter, draw.YBottom
		c.FillText(lab, vg.Point{X: r.Min.X - 21, Y: (r.Min.Y + r.Max.Y) / 2}, h.YLabel)
	}
}

// drawBar draws the colour bar with its ticks and label.
func (h Heat) drawBar(c draw.Canvas, r vg.Rectangle, sh shade) {
	const n = 128
	step := r.Size().X / n
	for i := range n {
		x := r.Min.X + vg.Length(i)*step
		c.FillPolygon(sh.color((float64(i)+0.5)/n), corners(vg.Rectangle{
			Min: vg.Point{X: x, Y: r.Min.Y}, Max: vg.Point{X: min(x+step+0.4, r.Max.X), Y: r.Max.Y}}))
	}
	box(c, r)
	num := style(10, ink)
	num.XAlign = draw.XCenter
	sty := draw.LineStyle{Color: faint, Width: 0.8}
	const apart = vg.Length(6) // labels must not touch; the low end of a root scale is crowded
	last := c.Max.X + apart
	for _, t := range slices.Backward(sh.ticks()) {
		x, half := r.Min.X+vg.Length(sh.at(t.Value))*r.Size().X, num.Width(t.Label)/2
		at := min(x, c.Max.X-half)
		// the lowest label belongs to the end of the bar
		if at+half > last-apart || t.Value > 0 && at-half < r.Min.X+2*apart {
			continue
		}
		last = at - half
		c.StrokeLine2(sty, x, r.Min.Y, x, r.Min.Y-3)
		c.FillText(num, vg.Point{X: at, Y: r.Min.Y - 5}, t.Label)
	}
	lab := style(11, ink)
	lab.XAlign = draw.XCenter
	c.FillText(lab, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: r.Min.Y - 20}, h.Label)
}

// ticks returns labelled values along the colour bar, ascending.
func (s shade) ticks() []plot.Tick {
	var all []plot.Tick
	switch s.scale {
	case Linear:
		all = ticks{}.Ticks(0, s.top)
	case Log:
		all = logTicks{}.Ticks(s.bottom, s.top)
	case Sqrt: // 1, 2 and 5 times powers of ten down to 1 % of the bar's length
		all = []plot.Tick{{Value: 0, Label: "0"}}
		for _, v := range decades(s.top*1e-4, s.top, 1, 2, 5) {
			all = append(all, plot.Tick{Value: v, Label: label(v)})
		}
	}
	var out []plot.Tick
	for _, t := range all {
		if t.Label != "" && t.Value >= 0 && t.Value <= s.top {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
	return out
}
