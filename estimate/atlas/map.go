package atlas

import (
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
)

// Map is an estimate, and how fine a map of it the counts support.
type Map struct {
	Estimate
	// Headline answers where the population is, as far as the counts can tell, in a sentence or two.
	Headline string
	// Biased: see World.
	Biased bool

	// Squares is how many squares the drawn map has; 1 says that it is the guess, k that each place is for itself. One that
	// is joined with another, or without its Single, has another shape.
	Squares int
	// Level of the squares, 0 for places; their side is 2^Level cells of a grid, which Side is, else 0.
	Level int
	Side  int
	Of    []int  // the square of each input
	Parts []Part // the squares, the largest share first
	// Drawn are shares of the k inputs: the mass of each square, spread within it like the guess. One of Single has at
	// least the lower end of its interval, and at most the upper end.
	Drawn []float64
	// Single are the largest places, at most three and largest first, that have more than the guess in every map that
	// the counts do not contradict. Each is a square by itself. Tested says that places were looked at.
	Single []int
	Tested bool
	bands  []estimate.Share // of them
	apart  int              // of them, that were taken out of a larger square
	// Coarser is how far Drawn is from Shares, in the unit of Error; 0 if there is none.
	Coarser float64
	// Patches are the places that the rows do not tell apart, with any number of reports, or unknown where package
	// estimate/patch gives up. A square that is drawn is never a single place of a larger patch.
	Patches patch.Patches
}

// Part is a square of a map as it is drawn.
type Part struct {
	Center       int // the input with the largest share
	Size         int // inputs
	Guess, Share float64
	Raw          float64 // of the outputs with the numbers of its inputs: what was released there, if outputs are inputs
}
