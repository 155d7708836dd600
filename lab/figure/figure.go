package figure

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// MaxAbs bounds the magnitude of every number drawn. Beyond it the differences and squares taken by the axis code would
// lose their meaning or overflow; no quantity of these studies comes near.
const MaxAbs = 1e100

// dpi of the PNG. Twice the nominal 72 of a point: text of 10 points is 20 pixels high, readable on any screen.
const dpi = 144

// Chart is a description that [Render] can draw: [Line], [Heat] or [Bars].
type Chart interface {
	// check finds everything that the drawing code would stumble over.
	check() error
	// heading is the title: what to see.
	heading() string
	// size is the size of the whole figure.
	size() (w, h vg.Length)
	// draw fills the canvas of that size.
	draw(c draw.Canvas) error
}

// Finding returns what a chart says, its title on one line: the text for those who cannot see it.
func Finding(c Chart) string {
	if isNil(c) {
		return ""
	}
	return strings.Join(strings.Fields(c.heading()), " ")
}

// Image is one drawn figure, in both formats.
type Image struct {
	SVG []byte // a complete XML document, text as text
	PNG []byte
	PDF []byte // one page, letters as shapes
}

// Scale tells how numbers become positions or colours.
type Scale int

// The scales. Sqrt is for colours only (it spreads the low end of heavy-tailed densities and, unlike Log, takes zeros).
const (
	Linear Scale = iota
	Log
	Sqrt
)

// String returns the name of the scale.
func (s Scale) String() string {
	switch s {
	case Linear:
		return "linear"
	case Log:
		return "log"
	case Sqrt:
		return "sqrt"
	}
	return fmt.Sprintf("Scale(%d)", int(s))
}

// Render draws c in all formats. Errors: ErrEmpty, ErrShape, ErrValue, ErrOption (all name the place), ErrRender.
func Render(c Chart) (img Image, err error) {
	if isNil(c) {
		return Image{}, fmt.Errorf("%w: nil chart", ErrEmpty)
	}
	if err := c.check(); err != nil {
		return Image{}, err
	}
	// gonum/plot reports what it cannot draw by panic. The checks above leave it no reason known to us, but a figure
	// must not be able to take down a study that ran for minutes.
	defer func() {
		if r := recover(); r != nil {
			img, err = Image{}, fmt.Errorf("%w: %v", ErrRender, r)
		}
	}()
	if img.SVG, err = drawSVG(c); err != nil {
		return Image{}, err
	}
	if img.PNG, err = drawPNG(c); err != nil {
		return Image{}, err
	}
	if img.PDF, err = drawPDF(c); err != nil {
		return Image{}, err
	}
	return img, nil
}

func drawSVG(c Chart) ([]byte, error) {
	w, h := c.size()
	canvas := vgsvg.New(w, h)
	if err := c.draw(draw.New(canvas)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	return finishSVG(svg.Bytes(), Finding(c)), nil
}

func drawPNG(c Chart) ([]byte, error) {
	w, h := c.size()
	canvas := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	if err := c.draw(draw.New(canvas)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	var out bytes.Buffer
	// Twice as fast as the default, and 4 % larger.
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, canvas.Image()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	return out.Bytes(), nil
}

// isNil reports whether c is nil or a nil pointer to one of the descriptions (methods on value receivers make the
// pointer forms charts too).
func isNil(c Chart) bool {
	switch c := c.(type) {
	case nil:
		return true
	case *Line:
		return c == nil
	case *Heat:
		return c == nil
	case *Bars:
		return c == nil
	}
	return false
}

// finishSVG makes the document portable. It names fonts that share the metrics of the one the layout was computed with,
// for readers without it (text is escaped, quotes included, so the pattern occurs in style attributes only), undoes the
// rounding of colours that are partly transparent, replaces characters that XML does not allow, which a label may hold,
// and adds the title and the colours of a dark screen.
func finishSVG(svg []byte, title string) []byte {
	svg = bytes.ReplaceAll(svg, []byte(`style="font-family:Liberation Sans;`),
		[]byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`))
	for _, l := range looks {
		for _, alpha := range []uint8{paler, shaded} {
			c := l.color
			c.A = alpha
			r, g, b, a := c.RGBA()
			k := 255 / float64(a)
			written := fmt.Sprintf(":#%02X%02X%02X;", int(float64(r)*k), int(float64(g)*k), int(float64(b)*k)) // as vgsvg does
			svg = bytes.ReplaceAll(svg, []byte(written), fmt.Appendf(nil, ":#%02X%02X%02X;", c.R, c.G, c.B))
		}
	}
	if at := bytes.Index(svg, []byte("<g ")); at >= 0 {
		head := "<style>" + dark + "</style>\n"
		if title != "" {
			head = "<title>" + html.EscapeString(title) + "</title>\n" + head
		}
		svg = slices.Concat(svg[:at], []byte(head), svg[at:])
	}
	return bytes.Map(func(r rune) rune {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xfffe, r == 0xffff:
			return 0xfffd
		}
		return r // invalid UTF-8 arrives here as 0xfffd already
	}, svg)
}

// dark has the rules for a dark screen: each colour of the page, and the data colours that are too dark there, become
// another. Programs that know no style sheets, and printers, keep the light ones.
var dark = func() string {
	rules := "@media screen and (prefers-color-scheme:dark){"
	for _, c := range [][2]string{
		{"FFFFFF", "1B1D20"}, {"222222", "E6E6E6"}, {"666666", "A8A8A8"}, {"E4E4E4", "3A3D42"},
		{"0072B2", "4AA3DF"}, {"333333", "C8C8C8"}, {"1B3F73", "6C8FC7"}, {"A04000", "D98850"}, {"117A5C", "3DB58F"},
		{"8E4585", "C982C0"},
	} {
		for _, property := range []string{"fill", "stroke"} {
			rules += fmt.Sprintf(`[style*="%s:#%s"]{%s:#%s!important}`, property, c[0], property, c[1])
		}
	}
	return rules + "}"
}()

// Colours of the page.
var (
	ink   = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faint = color.NRGBA{R: 0x66, G: 0x66, B: 0x66, A: 0xff}
	grid  = color.NRGBA{R: 0xe4, G: 0xe4, B: 0xe4, A: 0xff}
)

// checkValue refuses what an axis of scale s cannot show.
func checkValue(where string, v float64, s Scale) error {
	if !(math.Abs(v) <= MaxAbs) { // NaN fails too
		return fmt.Errorf("%w: %s = %v", ErrValue, where, v)
	}
	if s == Log && !(v > 1/MaxAbs) {
		return fmt.Errorf("%w: %s = %v on a log axis", ErrValue, where, v)
	}
	if s == Sqrt && v < 0 {
		return fmt.Errorf("%w: %s = %v on a square root scale", ErrValue, where, v)
	}
	return nil
}

// style is upright sans text of the given size.
func style(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		XAlign:  draw.XLeft,
		YAlign:  draw.YTop,
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

func bold(size vg.Length, c color.Color) text.Style {
	s := style(size, c)
	s.Font.Weight = 3 // WeightBold of golang.org/x/image/font, where the type comes from
	return s
}

// wrap breaks s into lines no wider than w, at spaces, and within a word only where it is wider than a line; explicit
// line breaks stay.
func wrap(sty text.Style, s string, w vg.Length) []string {
	var lines []string
	for _, para := range strings.Split(s, "\n") {
		line := ""
		for _, word := range strings.Fields(para) {
			next := word
			if line != "" {
				next = line + " " + word
			}
			if line != "" && sty.Width(next) > w {
				lines = append(lines, line)
				next = word
			}
			for cut := fits(sty, next, w); cut < len(next); cut = fits(sty, next, w) {
				lines = append(lines, next[:cut])
				next = next[cut:]
			}
			line = next
		}
		lines = append(lines, line)
	}
	return lines
}

// fits is the length in bytes of the longest beginning of s, of one letter at least, that is no wider than w.
func fits(sty text.Style, s string, w vg.Length) int {
	_, end := utf8.DecodeRuneInString(s)
	for end < len(s) {
		_, n := utf8.DecodeRuneInString(s[end:])
		if sty.Width(s[:end+n]) > w {
			break
		}
		end += n
	}
	return end
}

// margin around every figure.
const margin = vg.Length(10)

// The title: size of its letters and distance of its lines.
const (
	titleSize    = vg.Length(13)
	titleLeading = vg.Length(17)
)

// titleHeight is what the title takes in a figure of that width.
func titleHeight(title string, width vg.Length) vg.Length {
	if title == "" {
		return 0
	}
	return vg.Length(len(wrap(bold(titleSize, ink), title, width-2*margin)))*titleLeading + 6
}

// frame paints the background and the title and returns what is left for the data.
func frame(c draw.Canvas, title string) draw.Canvas {
	c.FillPolygon(color.White, corners(c.Rectangle))
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if title == "" {
		return c
	}
	sty := bold(titleSize, ink)
	y := c.Max.Y
	for _, line := range wrap(sty, title, c.Size().X) {
		c.FillText(sty, vg.Point{X: c.Min.X, Y: y}, line)
		y -= titleLeading
	}
	return draw.Crop(c, 0, 0, 0, y-c.Max.Y-6)
}

func corners(r vg.Rectangle) []vg.Point {
	return []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}
