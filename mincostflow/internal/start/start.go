package start

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

const (
	leastNodes = 33 // rows, and columns that take part
	// Bounds that leave room are worth it where the columns take at most mostRoom of the mass, and where groups are well
	// apart; without room, up to fewNodes rows or columns are worth it where groups are anything but random.
	mostRoom = 1.5
	roomBlur = 0.2
	fewNodes = 128
	fewBlur  = 0.35
	// Artificial arcs begin above the prices of their nodes by the typical reduced cost times firstPrice.
	firstPrice = 8
)

// Multiscale finds where a simplex with many rows and many columns should begin. It reports whether it did: not where
// that is not likely to pay, and not when there is no more time.
func Multiscale(p Problem, solver Solver, f *Forest) bool {
	pays, room := p.pays()
	if !pays {
		return false
	}
	w := works.Get().(*work)
	defer w.release()
	w.p, w.into = p, f
	if !w.sample() || w.blur() > p.mostBlur(room) {
		return false
	}
	w.middle = num.Grow(w.middle, len(w.small.Supply))
	if !solver.Solve(&w.small, w.middle) {
		return false
	}
	return w.plant()
}

// pays reports whether a start is likely to pay by the size of the problem, and whether its columns have room.
func (p *Problem) pays() (pays, room bool) {
	if len(p.Supply) < leastNodes || len(p.Low) < leastNodes {
		return false, false
	}
	total := uint64(0)
	for _, u := range p.Supply {
		total += u
	}
	columns, most := 0, uint64(mostRoom*float64(total))
	for j, low := range p.Low {
		if low > most || p.Room[j] > most-low {
			return false, false
		}
		most -= low + p.Room[j]
		room = room || p.Room[j] > 0
		if low > 0 || p.Room[j] > 0 {
			columns++
		}
	}
	return columns >= leastNodes, room
}

// mostBlur is how far apart groups have to be, for columns with room or without.
func (p *Problem) mostBlur(room bool) float64 {
	switch {
	case room:
		return roomBlur
	case min(len(p.Supply), len(p.Low)) <= fewNodes:
		return fewBlur
	}
	return math.Inf(1)
}
