package start

import "github.com/wpm-go/wpm/internal/num"

const (
	leastNodes = 33 // rows, and columns that take part
	// The start is worth it where columns take at most mostRoom of the mass, and groups are as far apart as mostBlur says:
	// without that bound, dense costs that are random take twice as long. Within it, boxes around clouds in 50 dimensions
	// take half the time.
	mostRoom = 1.5
	mostBlur = 0.4
	// Artificial arcs begin above the prices of their nodes by the typical reduced cost times firstPrice.
	firstPrice = 8
)

// Multiscale finds where a simplex with many rows and many columns should begin. It reports whether it did: not where
// that is not likely to pay, and not when there is no more time.
func Multiscale(p Problem, solver Solver, f *Forest) bool {
	if !p.pays() {
		return false
	}
	w := works.Get().(*work)
	defer w.release()
	w.p, w.into = p, f
	if !w.sample() || w.blur() > mostBlur {
		return false
	}
	w.middle = num.Grow(w.middle, len(w.small.Supply))
	if !solver.Solve(&w.small, w.middle) {
		return false
	}
	return w.plant()
}

// pays reports whether a start is likely to pay by the size of the problem.
func (p *Problem) pays() bool {
	if len(p.Supply) < leastNodes || len(p.Low) < leastNodes {
		return false
	}
	total := uint64(0)
	for _, u := range p.Supply {
		total += u
	}
	columns, most := 0, uint64(mostRoom*float64(total))
	for j, low := range p.Low {
		if low > most || p.Room[j] > most-low {
			return false
		}
		most -= low + p.Room[j]
		if low > 0 || p.Room[j] > 0 {
			columns++
		}
	}
	return columns >= leastNodes
}
