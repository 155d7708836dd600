package figure

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The looks of the mechanisms, the same in every figure. What is no mechanism (a regularisation, a bound) takes a look
// by its position; in a figure without mechanisms these numbers mean nothing.
const (
	LookWPM         = iota + 1 // projection onto the box of the uniform base measure
	LookKPM                    // KL projection
	LookExponential            // exponential mechanism
	LookResponse               // randomised response
	LookInput                  // no mechanism: the input, the truth
	LookMixture                // the mixture mode of WPM
	LookAlgorithm1             // entropic projection, as the paper prints it
	LookNoData                 // no mechanism: what is released without data
	LookKPMTuned               // KL projection onto a box of a tuned mass
	LookOptimal                // locally minimax optimal sampling
	LookLinear                 // linear sampler
	LookDisk                   // disk area mechanism
	LookMinimax                // WPM with the minimax base measure
	LookMixed                  // WPM with the base measure for worst case and average, half and half
	LookAverage                // WPM with the base measure for the average
	LookFast                   // entropic projection by the fast method
	LookGeo                    // geo-indistinguishability
)

// look is how one series is drawn; the entries differ in colour, marker and dash at once.
type look struct {
	color color.NRGBA
	glyph draw.GlyphDrawer
	dash  []vg.Length
}

// Looks is the number of looks that differ in colour, in marker and in dash, each: those of series by position. Looks
// beyond it differ from each other in at least two of the three.
const Looks = 7

// looks has the Okabe-Ito colours first, strongest contrast first.
var looks = [...]look{
	{rgb(0x0072b2), draw.CircleGlyph{}, nil},                             // blue
	{rgb(0xd55e00), draw.BoxGlyph{}, []vg.Length{7, 3}},                  // vermilion
	{rgb(0x009e73), draw.PyramidGlyph{}, []vg.Length{2, 2}},              // green
	{rgb(0xcc79a7), diamondGlyph{}, []vg.Length{8, 3, 2, 3}},             // purple
	{rgb(0xe69f00), draw.CrossGlyph{}, []vg.Length{4, 4}},                // orange
	{rgb(0x56b4e9), draw.RingGlyph{}, []vg.Length{10, 3}},                // sky
	{rgb(0x333333), draw.SquareGlyph{}, []vg.Length{8, 3, 2, 3, 2, 3}},   // black
	{rgb(0x8a8a8a), draw.PlusGlyph{}, []vg.Length{1, 3}},                 // grey
	{rgb(0xa04000), draw.SquareGlyph{}, []vg.Length{3, 2}},               // brown, of KPM's family
	{rgb(0x117a5c), draw.TriangleGlyph{}, []vg.Length{6, 2, 2, 2}},       // dark green
	{rgb(0x8e4585), diamondGlyph{}, []vg.Length{2, 4}},                   // plum
	{rgb(0xb8860b), draw.PyramidGlyph{}, []vg.Length{12, 3, 3, 3}},       // dark gold
	{rgb(0x1b3f73), draw.TriangleGlyph{}, []vg.Length{5, 1}},             // navy, of WPM's family
	{rgb(0x3b8686), draw.BoxGlyph{}, []vg.Length{9, 2, 1, 2}},            // teal
	{rgb(0x7d9fc9), draw.CrossGlyph{}, []vg.Length{3, 1, 1, 1}},          // steel
	{rgb(0x5aa02c), draw.TriangleGlyph{}, []vg.Length{7, 2, 1, 2, 1, 2}}, // leaf
	{rgb(0x6b8e9f), draw.PyramidGlyph{}, []vg.Length{1, 1, 6, 2}},        // slate
}

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// diamondGlyph is a filled diamond, the one easily told shape that vg/draw lacks.
type diamondGlyph struct{}

func (diamondGlyph) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 1.25
	c.FillPolygon(sty.Color, []vg.Point{{X: pt.X, Y: pt.Y + r}, {X: pt.X + r, Y: pt.Y}, {X: pt.X, Y: pt.Y - r},
		{X: pt.X - r, Y: pt.Y}})
}

// resolveLook maps the Look field of a series (0: by position) to a look.
func resolveLook(l, position int) look {
	if l == 0 {
		l = position%Looks + 1
	}
	return looks[l-1]
}

func checkLook(where string, l int) error {
	if l < 0 || l > len(looks) {
		return fmt.Errorf("%w: %s: look %d, want 0 (by position) or 1..%d", ErrOption, where, l, len(looks))
	}
	return nil
}
