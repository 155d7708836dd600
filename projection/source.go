package projection

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Source is a checked distribution: its rows with mass, and their masses divided by the total. Its slices are reused by
// the next call of Set.
type Source struct {
	Rows []int // rows with mass, ascending
	// Mass holds their parts of the whole, each with an error below 2^-99 of itself or, if it is below 2^-960, LostMass. A
	// part may be lost to underflow: then it is 0.
	Mass   []num.Twofold
	scaled []float64
}

// LostMass bounds the error of a mass below 2^-960, where twofold numbers begin to lose bits: it is scaled, divided by
// a sum of at least 1/2 with one correction, and rounded, each of which is off by two steps of 2^-1074 at most.
const LostMass = 0x1p-1070

// Set checks the masses of k rows, given as in Problem, and reads them. Errors: those of CheckSupport and of
// CheckMasses, and ErrMass for a sum of 0.
func (s *Source) Set(k int, source []float64, support []int) error {
	s.Rows, s.Mass = s.Rows[:0], s.Mass[:0]
	if err := CheckSupport(k, len(source), support); err != nil {
		return err
	}
	var sum num.Twofold
	var err error
	if s.scaled, sum, err = scale("Source", source, sourceBits, s.scaled); err != nil {
		return err
	}
	for n, m := range source {
		if m == 0 {
			continue
		}
		i := n
		if support != nil {
			i = support[n]
		}
		s.Rows = append(s.Rows, i)
		s.Mass = append(s.Mass, num.Twofold{Hi: s.scaled[n]}.Over(sum))
	}
	return nil
}

// sourceBits is where the largest entry of a source is brought to. Entries whose parts of the whole are floats, however
// small, are then not lost.
const sourceBits = 60

// scale checks the entries of a distribution and returns them times a power of two, in dst, such that the largest is
// between 2^(bits-1) and 2^bits, and their sum. Entries that fall below the normal range in this way, and their parts
// of the whole, are off by less than LostMass.
func scale(name string, xs []float64, bits int, dst []float64) (scaled []float64, sum num.Twofold, err error) {
	if err := CheckMasses(name, xs); err != nil {
		return dst, num.Twofold{}, err
	}
	most := 0.0
	for _, x := range xs {
		most = max(most, x)
	}
	if most == 0 {
		return dst, num.Twofold{}, fmt.Errorf("%w: the %d entries of %s sum to 0", wpmerr.ErrMass, len(xs), name)
	}
	_, e := math.Frexp(most)
	// A shift up by more than 1000 takes two factors, and a shift down by as much.
	by := bits - e
	half := max(-1000, min(by, 1000))
	first, second := math.Ldexp(1, half), math.Ldexp(1, by-half)
	dst = dst[:0]
	for _, x := range xs {
		dst = append(dst, x*first*second)
	}
	return dst, num.CappedSum(dst, math.Ldexp(1, bits)), nil
}
