// Package figure draws the few kinds of figure that the studies need, each from one plain description, as SVG,
// PNG and PDF.
//
// A description ([Line], [Heat], [Bars]) holds numbers and words only. [Render] checks it and draws it three times
// with gonum.org/v1/plot: as SVG for pages, as a picture of 144 dots per inch, and as PDF for papers, whose letters are
// shapes, since the fonts of PDF know no Greek. The look is fixed here, so
// that all figures of a report match: one look for each mechanism in every figure ([LookWPM] and the others); colours
// from the Okabe-Ito palette, which stays apart for colour-blind readers, and darker ones beyond it; a distinct marker
// and dash for each series, so that colour is never the only difference; the legend above the data; a title that may
// run over several lines and should say what to see ([Finding] is the same for those who cannot). A figure is as wide
// as a telephone's screen, where its smallest letters are 10 pixels high. The SVG has colours for dark screens of its
// own.
//
// Guarantee: equal descriptions give equal bytes on one machine and Go version; nothing reads a clock, a random source
// or a global that callers can change. (Across processor types the last bits of floating point may move an edge by less
// than the precision written.) Bad input is a typed error, never a panic, and nothing is written to disk: that is the
// business of package report.
//
// Cost: tens of milliseconds per figure, nearly all of it rasterising the PNG.
package figure
