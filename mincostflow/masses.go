package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// A distribution is a multiple of 2^-61 at every node, so that no flow ever drifts, and a flow is zero or it is not:
// the rule against cycling needs that.
const (
	unitBits = 61
	unit     = 1 << unitBits
)

// sourceUnits writes the masses in units, rounded down, the largest one taking up the slack so
// that the sum is exactly one.
func sourceUnits(mass []num.Twofold, dst []uint64) {
	var sum uint64
	big := 0
	for i, m := range mass {
		dst[i] = uint64(m.Hi * unit) // exact but for the fraction
		sum += dst[i]
		if dst[i] > dst[big] {
			big = i
		}
	}
	dst[big] += unit - sum
}

// boxUnits writes the lower bounds in units, and the room between lower and upper bounds: none if
// they are equal, at least a unit if not, and without bound if the column may take more than
// everything. When rounding leaves no distribution in the box, the largest column makes up for it.
//
// Bounds are rounded up and masses down: what the true masses have beyond the rounded ones then
// flows towards the hub, and the trees of pivot have room for that even where they are degenerate.
// So an optimal tree carries the true masses, too, and bounds far below a unit get what they need.
func boxUnits(lo, hi []float64, low, room []uint64) {
	var sumLow, sumHigh uint64
	big, bigHigh := 0, 0
	for j := range lo {
		l := uint64(math.Ceil(min(lo[j], 1) * unit)) // a power of two: exact
		h := l
		if lo[j] < hi[j] {
			h = max(uint64(math.Ceil(min(hi[j], 1)*unit)), l+1)
		}
		low[j], room[j] = l, h-l
		sumLow += l
		sumHigh = min(sumHigh+h, 2*unit) // h <= unit + 1: no overflow
		if l > low[big] {
			big = j
		}
		if h > low[bigHigh]+room[bigHigh] {
			bigHigh = j
		}
	}
	if sumLow > unit {
		d := sumLow - unit
		low[big] -= d
		if room[big] != 0 {
			room[big] += d
		}
	}
	if sumHigh < unit {
		d := unit - sumHigh
		if room[bigHigh] == 0 {
			low[bigHigh] += d
		} else {
			room[bigHigh] += d
		}
	}
	for j := range hi {
		if hi[j] > 1 {
			room[j] = unit + 1 - low[j] // more than there is
		}
	}
}
