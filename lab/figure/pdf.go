package figure

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// Without these the file has the time and an order of its parts that differs from run to run.
func init() {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
}

// outlined draws letters as shapes. The canvas of PDF knows only the 256 letters of one code page: no Greek, no index.
type outlined struct{ *vgpdf.Canvas }

// unitsPerEm is the size at which outlines are read, in 26.6 fixed point: their whole precision is kept.
const unitsPerEm = 2048

// FillString draws s from pt on, to the right.
func (c outlined) FillString(f font.Face, pt vg.Point, s string) {
	var buf sfnt.Buffer
	scale := f.Font.Size / (64 * unitsPerEm)
	x, before := fixed.Int26_6(0), sfnt.GlyphIndex(0)
	for i, r := range s {
		glyph, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			panic(err) // Render makes an error of it
		}
		if i > 0 {
			if kern, err := f.Face.Kern(&buf, before, glyph, fixed.I(unitsPerEm), 0); err == nil {
				x += kern
			}
		}
		segments, err := f.Face.LoadGlyph(&buf, glyph, fixed.I(unitsPerEm), nil)
		if err != nil {
			panic(err)
		}
		at := func(p fixed.Point26_6) vg.Point { // glyphs have y downwards
			return vg.Point{X: pt.X + vg.Length(p.X+x)*scale, Y: pt.Y - vg.Length(p.Y)*scale}
		}
		var path vg.Path
		for n, g := range segments {
			switch g.Op {
			case sfnt.SegmentOpMoveTo:
				if n > 0 {
					path.Close()
				}
				path.Move(at(g.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(at(g.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(at(g.Args[0]), at(g.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(at(g.Args[0]), at(g.Args[1]), at(g.Args[2]))
			}
		}
		if len(path) > 0 {
			path.Close()
			c.Fill(path)
		}
		advance, err := f.Face.GlyphAdvance(&buf, glyph, fixed.I(unitsPerEm), 0)
		if err != nil {
			panic(err)
		}
		x, before = x+advance, glyph
	}
}

func drawPDF(c Chart) ([]byte, error) {
	w, h := c.size()
	canvas := outlined{vgpdf.New(w, h)}
	if err := c.draw(draw.NewCanvas(canvas, w, h)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRender, err)
	}
	return out.Bytes(), nil
}
