package start

import "github.com/wpm-go/wpm/internal/num"

// TightRoom of the mass is what columns with little room take at most.
const TightRoom = 1.5

const (
	leastNodes = 33 // rows, and columns that take part
	// The start is worth it where columns take at most mostRoom of the mass, and groups are as far apart as mostBlur says
	// or, above TightRoom, wideBlur: without these bounds, dense costs that are random take twice as long. Within them,
	// boxes around clouds in 50 dimensions take half the time, and products i*j at eps 1 a tenth.
	mostRoom = 2
	mostBlur = 0.4
	wideBlur = 0.2
	// Artificial arcs begin above the prices of their nodes by the typical reduced cost times firstPrice.
	firstPrice = 8
)

// Multiscale finds where a simplex with many rows and many columns should begin. It reports whether it did: not where
// that is not likely to pay, and not when there is no more time.
func Multiscale(p Problem, solver Solver, f *Forest) bool {
	most := p.mostBlur()
	if most == 0 {
		return false
	}
	w := works.Get().(*work)
	defer w.release()
	w.p, w.into = p, f
	if !w.sample(most) {
		return false
	}
	w.middle = num.Grow(w.middle, len(w.small.Supply))
	if !solver.Solve(&w.small, w.middle) {
		return false
	}
	return w.plant()
}

// mostBlur returns the blur up to which a start is likely to pay by the size of the problem, or 0 if it is not.
func (p *Problem) mostBlur() float64 {
	if len(p.Supply) < leastNodes || len(p.Low) < leastNodes {
		return 0
	}
	total := uint64(0)
	for _, u := range p.Supply {
		total += u
	}
	columns, most := 0, uint64(mostRoom*float64(total))
	for j, low := range p.Low {
		if low > most || p.Room[j] > most-low {
			return 0
		}
		most -= low + p.Room[j]
		if low > 0 || p.Room[j] > 0 {
			columns++
		}
	}
	switch {
	case columns < leastNodes:
		return 0
	case float64(most) < (mostRoom-TightRoom)*float64(total):
		return wideBlur
	}
	return mostBlur
}
