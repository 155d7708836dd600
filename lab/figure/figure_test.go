package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"
)

var (
	nan = math.NaN()
	inf = math.Inf(1)
)

// lineChart is a line chart that uses every option.
func lineChart() Line {
	return Line{
		Title:  "A title that is long enough to be broken over two lines, since it says in full words what to see here",
		XLabel: "privacy parameter ε", YLabel: "W₁ (cell widths)",
		XTicks: []float64{1, 2, 4}, YZero: true,
		Series: []Series{
			{Name: "first", X: []float64{1, 2, 4}, Y: []float64{3, 2, 1}, Err: []float64{0.1, 0.2, 0}},
			{Name: "second, with a band", X: []float64{1, 2, 4}, Y: []float64{4, 3, 2.5}, Err: []float64{0.5, 0.2, 0},
				Band: true},
			{Name: "third", X: []float64{1, 4}, Y: []float64{0.5, 0.5}, Bare: true, Thin: true, Look: 7},
			{X: []float64{2}, Y: []float64{2.2}},
			{Name: "stems", X: []float64{1, 2}, Y: []float64{2.2, 1}, Stem: true},
		},
	}
}

func heatChart() Heat {
	return Heat{
		Title: "Two maps", Label: "share", XLabel: "column", YLabel: "row", Scale: Sqrt,
		Panels: []Panel{
			{Title: "wide", Rows: 2, Cols: 3, Data: []float64{0, 0.1, 0.2, 0.2, 0.2, 0.3}},
			{Title: "tall", Rows: 40, Cols: 1, Data: make([]float64, 40)},
		},
	}
}

func barChart() Bars {
	return Bars{
		Title: "Bars", YLabel: "W₁", Groups: []string{"a", "b"},
		Series: []BarSeries{{Name: "x", Values: []float64{1, 0}, Err: []float64{2, 0}}, {Values: []float64{3, 1}, Look: 4}},
	}
}

// checkImage holds what every figure must be: a well-formed SVG without broken numbers, and a PNG that is not blank.
func checkImage(t interface{ Fatalf(string, ...any) }, img Image) {
	checkSVG(t, img.SVG)
	pic, err := png.Decode(bytes.NewReader(img.PNG))
	if err != nil {
		t.Fatalf("PNG does not decode: %v", err)
	}
	if n := coloursIn(pic, 3); n < 3 {
		t.Fatalf("PNG holds %d colours only", n)
	}
	if !bytes.HasPrefix(img.PDF, []byte("%PDF-")) || !bytes.HasSuffix(img.PDF, []byte("%%EOF\n")) {
		t.Fatalf("PDF of %d bytes is not whole", len(img.PDF))
	}
	if bytes.Contains(img.PDF, []byte("/Type /Font")) {
		t.Fatalf("PDF has a font: letters are to be shapes")
	}
}

// TestPDFLetters: letters that no code page of PDF has are drawn, each as itself.
func TestPDFLetters(t *testing.T) {
	seen := map[string]string{}
	for _, title := range []string{"", "W", "W₁", "ε", "δ", "≥", "é"} {
		l := lineChart()
		l.Title = "x" + title
		out, err := drawPDF(l)
		if err != nil {
			t.Fatalf("%q: %v", title, err)
		}
		if other, ok := seen[string(out)]; ok {
			t.Errorf("%q is drawn as %q", title, other)
		}
		seen[string(out)] = title
	}
}

func checkSVG(t interface{ Fatalf(string, ...any) }, svg []byte) {
	dec := xml.NewDecoder(bytes.NewReader(svg))
	root := ""
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("SVG is not well-formed: %v", err)
		}
		if s, ok := tok.(xml.StartElement); ok && root == "" {
			root = s.Name.Local
		}
		if s, ok := tok.(xml.StartElement); ok {
			for _, a := range s.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("SVG attribute %s of <%s> holds %q", a.Name.Local, s.Name.Local, a.Value)
				}
			}
		}
	}
	if root != "svg" {
		t.Fatalf("SVG root is <%s>", root)
	}
}

// coloursIn counts the colours of a picture, up to some number.
func coloursIn(pic image.Image, most int) int {
	seen := map[color.Color]bool{}
	b := pic.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		for x := b.Min.X; x < b.Max.X; x += 2 {
			if seen[pic.At(x, y)] = true; len(seen) == most {
				return most
			}
		}
	}
	return len(seen)
}

func TestRender(t *testing.T) {
	logLine := lineChart()
	logLine.X, logLine.Y = Log, Log
	logLine.Series[2].Y = []float64{1e-7, 1e9}
	flat := Line{Series: []Series{{X: []float64{3, 3}, Y: []float64{0, 0}}}}
	flatLog := Line{X: Log, Y: Log, Series: []Series{{X: []float64{3}, Y: []float64{3}}}}
	huge := Line{Series: []Series{{X: []float64{-MaxAbs, MaxAbs}, Y: []float64{-MaxAbs, MaxAbs}}}}
	near := Line{Series: []Series{{X: []float64{1e20, 1e20 + 16384}, Y: []float64{1, 1 + 0x1p-52}}}}
	tiny := Line{Y: Log, Series: []Series{{X: []float64{0, 5e-324}, Y: []float64{2e-100, 1e100}}}}
	zeros := Heat{Scale: Log, Panels: []Panel{{Rows: 1, Cols: 1, Data: []float64{0}}}}
	logHeat := heatChart()
	logHeat.Scale, logHeat.Max = Log, 0.05
	bottomed := logHeat
	bottomed.Min = 0.049
	noBars := Bars{Groups: []string{"only"}, Series: []BarSeries{{Values: []float64{0}}}}
	escapes := lineChart()
	escapes.Title = `<script>alert("x")</script> & style="font-family:Liberation Sans;`
	line := lineChart()
	// By itself without pixels where others have the same: drawing them is most of the time.
	plain := map[string]bool{"near ties": true, "flat log": true, "log heat with a bottom": true, "one empty bar": true,
		"text to escape": true}
	for _, tt := range []struct {
		name string
		c    Chart
	}{
		{"line", lineChart()}, {"pointer", &line}, {"log", logLine}, {"flat", flat}, {"flat log", flatLog}, {"huge", huge},
		{"near ties", near}, {"tiny", tiny},
		{"heat", heatChart()}, {"zero heat", zeros}, {"log heat with a cut top", logHeat},
		{"log heat with a bottom", bottomed}, {"bars", barChart()}, {"one empty bar", noBars}, {"text to escape", escapes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if plain[tt.name] && !numtest.Full() {
				svg, err := drawSVG(tt.c)
				if err != nil {
					t.Fatalf("drawSVG: %v", err)
				}
				checkSVG(t, svg)
				if bytes.Contains(svg, []byte("<script")) {
					t.Error("SVG holds an unescaped tag of the title")
				}
				return
			}
			img, err := Render(tt.c)
			if err != nil {
				t.Fatalf("Render: %v", err)
			}
			checkImage(t, img)
			if bytes.Contains(img.SVG, []byte("<script")) {
				t.Error("SVG holds an unescaped tag of the title")
			}
			if kind := tt.name == "line" || tt.name == "heat" || tt.name == "bars"; !kind && !numtest.Full() {
				return
			}
			again, err := Render(tt.c)
			if err != nil || !bytes.Equal(img.SVG, again.SVG) || !bytes.Equal(img.PNG, again.PNG) ||
				!bytes.Equal(img.PDF, again.PDF) {
				t.Errorf("a second rendering differs (err %v)", err)
			}
		})
	}
}

func TestRenderErrors(t *testing.T) {
	one := []float64{1}
	line := func(edit func(*Line)) Line {
		l := lineChart()
		edit(&l)
		return l
	}
	heat := func(edit func(*Heat)) Heat {
		h := heatChart()
		edit(&h)
		return h
	}
	bars := func(edit func(*Bars)) Bars {
		b := barChart()
		edit(&b)
		return b
	}
	for _, tt := range []struct {
		name string
		c    Chart
		want error
		says string
	}{
		{"nil", nil, ErrEmpty, "nil"},
		{"nil pointer", (*Heat)(nil), ErrEmpty, "nil"},
		{"no series", Line{}, ErrEmpty, ""},
		{"no points", Line{Series: []Series{{Name: "x"}}}, ErrEmpty, `"x"`},
		{"lengths", Line{Series: []Series{{X: one, Y: []float64{1, 2}}}}, ErrShape, "1 x, 2 y"},
		{"error bars", Line{Series: []Series{{X: one, Y: one, Err: []float64{}}}}, ErrShape, "0 error bars"},
		{"NaN", line(func(l *Line) { l.Series[0].Y[1] = nan }), ErrValue, `"first": y[1] = NaN`},
		{"Inf", line(func(l *Line) { l.Series[0].X[2] = -inf }), ErrValue, "x[2] = -Inf"},
		{"too large", line(func(l *Line) { l.Series[0].X[2] = 2 * MaxAbs }), ErrValue, "2e+100"},
		{"negative bar", line(func(l *Line) { l.Series[0].Err[1] = -1 }), ErrValue, "negative"},
		{"tick", line(func(l *Line) { l.XTicks[0] = nan }), ErrValue, "x tick 0"},
		{"log of zero", line(func(l *Line) { l.Y = Log; l.Series[0].Y[1] = 0 }), ErrValue, "log axis"},
		{"bar to zero on log", line(func(l *Line) { l.Y = Log; l.Series[0].Err[0] = 3 }), ErrValue, "lower end"},
		{"scale", line(func(l *Line) { l.Y = Sqrt }), ErrOption, "sqrt"},
		{"unknown scale", line(func(l *Line) { l.X = 9 }), ErrOption, "Scale(9)"},
		{"look", line(func(l *Line) { l.Series[0].Look = len(looks) + 1 }), ErrOption, "look 18"},
		{"bottom", line(func(l *Line) { l.YMin = -1 }), ErrValue, "bottom of the y axis"},
		{"no panels", Heat{}, ErrEmpty, ""},
		{"panel shape", heat(func(h *Heat) { h.Panels[0].Cols = 4 }), ErrShape, `"wide"`},
		{"panel overflow", heat(func(h *Heat) { h.Panels[0].Rows, h.Panels[0].Cols = math.MaxInt, 2 }), ErrShape, `"wide"`},
		{"panel NaN", heat(func(h *Heat) { h.Panels[0].Data[4] = nan }), ErrValue, "row 1, column 1"},
		{"panel negative", heat(func(h *Heat) { h.Panels[0].Data[4] = -1 }), ErrValue, "negative"},
		{"heat scale", heat(func(h *Heat) { h.Scale = -1 }), ErrOption, "Scale(-1)"},
		{"heat bottom on sqrt", heat(func(h *Heat) { h.Min = 0.01 }), ErrValue, "bottom of the sqrt"},
		{"heat bottom above top", heat(func(h *Heat) { h.Scale, h.Min = Log, 0.3 }), ErrValue, "bottom of the log"},
		{"heat bottom NaN", heat(func(h *Heat) { h.Scale, h.Min = Log, nan }), ErrValue, "bottom"},
		{"heat bottom negative", heat(func(h *Heat) { h.Scale, h.Min = Log, -1 }), ErrValue, "bottom"},
		{"heat top", heat(func(h *Heat) { h.Max = -1 }), ErrValue, "top"},
		{"no groups", Bars{}, ErrEmpty, ""},
		{"bar lengths", bars(func(b *Bars) { b.Series[0].Values = one }), ErrShape, `"x"`},
		{"bar value", bars(func(b *Bars) { b.Series[0].Values[0] = -1 }), ErrValue, "negative"},
		{"bar error", bars(func(b *Bars) { b.Series[0].Err[0] = nan }), ErrValue, "NaN"},
		{"bar look", bars(func(b *Bars) { b.Series[0].Look = -1 }), ErrOption, "look -1"},
	} {
		img, err := Render(tt.c)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: Render = %v, want %v saying %q", tt.name, err, tt.want, tt.says)
		}
		if img.SVG != nil || img.PNG != nil {
			t.Errorf("%s: an image beside an error", tt.name)
		}
	}
}

// Whatever passes the checks can be drawn: ErrRender is for reasons unknown to us, so a generator must not find one.
func TestRenderAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.OneOf(rapid.Float64Range(-10, 10), rapid.Float64(),
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 5e-324, 1e-100, 1e100, nan, inf, 1, 1 + 0x1p-52}))
		n := rapid.IntRange(1, 5).Draw(t, "n")
		l := Line{X: Scale(rapid.IntRange(0, 1).Draw(t, "sx")), Y: Scale(rapid.IntRange(0, 1).Draw(t, "sy")),
			YZero: rapid.Bool().Draw(t, "zero")}
		for range rapid.IntRange(1, 3).Draw(t, "series") {
			l.Series = append(l.Series, Series{
				Name: rapid.String().Draw(t, "name"), X: rapid.SliceOfN(num, n, n).Draw(t, "x"),
				Y:    rapid.SliceOfN(num, n, n).Draw(t, "y"),
				Err:  rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.1, 1e80}), n, n).Draw(t, "err"),
				Band: rapid.Bool().Draw(t, "band"),
			})
		}
		if l.check() != nil {
			// A nicer try: positive, so that log axes get their share.
			for i := range l.Series {
				for j := range n {
					l.Series[i].X[j], l.Series[i].Y[j], l.Series[i].Err[j] = float64(1+j), float64(1+i), 0
				}
			}
		}
		w, h := l.size()
		if w <= 0 || h <= 0 {
			t.Fatalf("size %v x %v", w, h)
		}
		svg, err := drawSVG(l)
		if err != nil {
			t.Fatalf("drawSVG(%+v) = %v", l, err)
		}
		checkSVG(t, svg)
		if rapid.IntRange(0, 15).Draw(t, "png too") == 0 { // rasterising is most of the time
			if _, err := drawPNG(l); err != nil {
				t.Fatalf("drawPNG(%+v) = %v", l, err)
			}
		}
	})
}

// The colour scale is monotone and hits both ends.
func TestShade(t *testing.T) {
	for _, s := range []Scale{Linear, Sqrt, Log} {
		sh, err := Heat{Scale: s, Max: 0.25}.shade()
		if err != nil {
			t.Fatal(err)
		}
		last := -1.0
		for i := 0; i <= 100; i++ {
			at := sh.at(0.25 * float64(i) / 100)
			if !(at >= last && at >= 0 && at <= 1) {
				t.Fatalf("%v: at(%d %%) = %v after %v", s, i, at, last)
			}
			last = at
		}
		// Half way up the bar: half, a quarter, a hundredth of the top.
		half := map[Scale]float64{Linear: 0.125, Sqrt: 0.0625, Log: 0.0025}[s]
		const tol = 1e-12 // a logarithm of a number rounded in the input
		if got := sh.at(half); !(math.Abs(got-0.5) <= tol) {
			t.Errorf("%v: at(%v) = %v, want 0.5", s, half, got)
		}
		if sh.at(0) != 0 || sh.at(0.25) != 1 || sh.at(7) != 1 {
			t.Errorf("%v: ends at %v, %v, above the top %v; want 0, 1, 1", s, sh.at(0), sh.at(0.25), sh.at(7))
		}
		for _, tick := range sh.ticks() {
			if tick.Value < 0 || tick.Value > 0.25 || tick.Label == "" {
				t.Errorf("%v: tick %+v", s, tick)
			}
		}
	}
}

// Colour is never the only difference: series by position share neither colour, marker nor dash; all others, which
// stand for mechanisms, differ in colour and in dash.
func TestLooksDiffer(t *testing.T) {
	for i, a := range looks {
		for j, b := range looks[:i] {
			if a.color == b.color || reflect.DeepEqual(a.dash, b.dash) || i < Looks && a.glyph == b.glyph {
				t.Errorf("looks %d and %d are not distinct", i+1, j+1)
			}
		}
	}
	if LookGeo != len(looks) {
		t.Errorf("%d looks, the last name is %d", len(looks), LookFast)
	}
}

// letters is s without its spaces: a word may be broken where it is wider than the figure.
func letters(s string) string { return strings.Join(strings.Fields(s), "") }

// The rows of a legend do not overlap, stay inside the figure, and their height is told.
func TestLegend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`([a-z]{0,9} ?){0,20}|[aé]{40,200}`), 0, 9).Draw(t, "names")
		l := newLegend(names)
		sty := style(legendText, ink)
		for i, e := range l {
			if letters(strings.Join(e.lines, "")) != letters(names[i]) {
				t.Fatalf("%q is shown as %q", names[i], e.lines)
			}
			if len(e.lines) > 0 && vg.Length(e.row+len(e.lines))*legendPitch > l.height() {
				t.Fatalf("row %d of %d lines in a legend of height %v", e.row, len(e.lines), l.height())
			}
			for _, line := range e.lines {
				if e.x+legendThumb+legendGap+sty.Width(line) > legendWidth+1e-9 {
					t.Fatalf("%q ends outside", line)
				}
			}
			for _, f := range l[:i] {
				apart := len(e.lines) == 0 || len(f.lines) == 0 || f.row+len(f.lines) <= e.row ||
					f.row == e.row && f.x+legendThumb+legendGap+sty.Width(f.lines[0]) < e.x
				if !apart {
					t.Fatalf("%q lies on %q", e.name, f.name)
				}
			}
		}
	})
}

// On a dark screen every colour of the page and every dark colour of a mechanism becomes another one.
func TestDark(t *testing.T) {
	c := Line{Title: "a < b", Series: []Series{{Name: "x", X: []float64{1}, Y: []float64{1}}}}
	img, err := Render(c)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(img.SVG, []byte("<title>a &lt; b</title>")) || Finding(&c) != "a < b" || Finding(nil) != "" {
		t.Errorf("title %q is not in the picture", Finding(c))
	}
	for i, l := range looks {
		s := Series{X: []float64{1, 2}, Y: []float64{1, 2}, Err: []float64{1, 1}, Look: i + 1}
		thin, band := s, s
		thin.Thin, band.Band = true, true
		svg, err := drawSVG(Line{Series: []Series{thin, band}})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("#%02X%02X%02X", l.color.R, l.color.G, l.color.B)
		_, body, _ := strings.Cut(string(svg), "</style>")
		for _, c := range regexp.MustCompile("#[0-9A-F]{6}").FindAllString(body, -1) {
			if page := []string{want, "#FFFFFF", "#222222", "#666666", "#E4E4E4"}; !slices.Contains(page, c) {
				t.Fatalf("look %d is drawn in %s, want %s: no rule of a dark screen would find it", i+1, c, want)
			}
		}
	}
	luma := func(c color.NRGBA) float64 { return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B) }
	colours := []color.NRGBA{ink, faint}
	for _, l := range looks {
		colours = append(colours, l.color)
	}
	for _, c := range colours {
		if luma(c) < 100 && !strings.Contains(dark, fmt.Sprintf("fill:#%02X%02X%02X\"]{", c.R, c.G, c.B)) {
			t.Errorf("%v stays as it is on a dark screen", c)
		}
	}
}

func TestInputsUnchanged(t *testing.T) {
	l, h, b := lineChart(), heatChart(), barChart()
	for _, c := range []Chart{l, h, b} {
		if _, err := Render(c); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(l, lineChart()) || !reflect.DeepEqual(h, heatChart()) || !reflect.DeepEqual(b, barChart()) {
		t.Error("Render changed its input")
	}
}

func TestWrap(t *testing.T) {
	sty := bold(13, ink)
	for _, w := range []vg.Length{1, 100, 500} {
		lines := wrap(sty, "one two  three\nfour", w)
		if got := letters(strings.Join(lines, "")); got != "onetwothreefour" {
			t.Errorf("wrap to %v loses letters: %q", w, lines)
		}
		for _, l := range lines {
			if sty.Width(l) > w && len(l) > 1 {
				t.Errorf("wrap to %v: line %q is %v wide", w, l, sty.Width(l))
			}
		}
	}
}

func BenchmarkRender(b *testing.B) {
	for _, c := range []struct {
		name  string
		chart Chart
	}{{"line", lineChart()}, {"heat", heatChart()}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Render(c.chart); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
