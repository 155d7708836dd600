package start

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// Greedy makes the forest of a plan, and reports whether it did: where rows and columns are few, and columns must have
// half of the mass or more. Each row in turn serves the columns that lack something, the cheapest first, at costs less
// the least of each column. What columns may have beyond that is left over.
func Greedy(p Problem, f *Forest) bool {
	k, n := len(p.Supply), len(p.Low)
	if k >= leastNodes || n >= leastNodes {
		return false
	}
	missing := uint64(0)
	for _, u := range p.Supply {
		missing += u / 2
	}
	for _, u := range p.Low {
		missing -= min(u, missing)
	}
	if missing > 0 {
		return false
	}
	w := works.Get().(*work)
	defer w.release()
	w.p, w.into = p, f
	f.Reset(k, p.Low)
	return w.leastOfColumns() && w.serve()
}

// leastOfColumns sets pi to the least cost of each column, and reports whether there was time.
func (w *work) leastOfColumns() bool {
	w.pi = num.Grow(w.pi, len(w.p.Low))
	for j := range w.pi {
		w.pi[j] = math.Inf(1)
	}
	for i := range w.p.Supply {
		row, ok := w.p.Costs.Row(i)
		if !ok {
			return false
		}
		for j, c := range row {
			w.pi[j] = min(w.pi[j], c)
		}
	}
	return true
}

// serve gives what rows have to columns, and reports whether there was time. Each step exhausts a row or a column,
// which hangs from the other one.
func (w *work) serve() bool {
	f, k := w.into, len(w.p.Supply)
	w.left = append(w.left[:0], w.p.Low...)
	for i, has := range w.p.Supply {
		row, ok := w.p.Costs.Row(i)
		if !ok {
			return false
		}
		for at := 0; at >= 0 && has > 0; {
			least := math.Inf(1)
			at = -1
			for j, c := range row {
				if x := c - w.pi[j]; x < least && w.left[j] > 0 {
					least, at = x, j
				}
			}
			switch {
			case at < 0:
			case has < w.left[at]:
				f.Parent[i], f.Cost[i] = int32(k+at), row[at]
				w.left[at] -= has
				has = 0
			default:
				f.Parent[k+at], f.Cost[k+at] = int32(i), row[at]
				has -= w.left[at]
				w.left[at] = 0
			}
		}
	}
	return true
}
