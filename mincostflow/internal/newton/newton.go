package newton

import (
	"cmp"
	"slices"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// The start needs a few columns for every row, and its steps take k^3 operations.
	newtonColumns = 60
	newtonRatio   = 3
	newtonRows    = 128
	// Where rows are more, those with most mass take part, one for lightRatio columns, if the others have lightShare of
	// the mass at most.
	lightRatio = 8
	lightShare = 0.4

	// Rows that take part are many if they are more than manyRows, and columns fewer than their square over manyColumns.
	manyRows    = 40
	manyColumns = 2

	enough     = 0.9 // columns for each row that it may have too much or too little: the simplex is cheaper then
	seedWidths = 3   // arcs are worth a look that are second best by less than so many widths
	// raisedWidths is how far above the prices of their nodes artificial arcs begin, in widths, where rows are light.
	raisedWidths = 3
)

// Start finds where a simplex with few rows, or few heavy ones, and many columns should begin. It reports whether it
// did: not for problems of another shape, and not when there is no more time.
func Start(p start.Problem, f *start.Forest) bool {
	w := works.Get().(*work)
	defer w.release()
	w.reset(p)
	all := worthNewton(len(p.Supply), len(p.Low))
	if !all && !w.choose() || !w.prices() || !w.forest(f) {
		return false
	}
	if !all {
		f.Above = float64(raisedWidths * w.width)
	}
	return true
}

// worthNewton reports whether a start by Newton steps for all rows pays.
func worthNewton(k, n int) bool {
	return k > 1 && k <= newtonRows && n >= newtonColumns && n >= newtonRatio*k
}

// Many reports whether the rows that take part, of k, are so many that another start is likely to be better if there is
// one. Steps then take long, and columns are few for each of them.
func Many(k, n int) bool {
	if !worthNewton(k, n) {
		k = min(n/lightRatio, newtonRows)
	}
	return k > manyRows && k*k >= manyColumns*n
}

// choose leaves the rows with most mass heavy, as many as the columns allow, and reports whether the others have little
// enough to be light.
func (w *work) choose() bool {
	n := len(w.p.Low)
	k := n / lightRatio
	if n < newtonColumns || k >= len(w.heavy) {
		return false
	}
	units := w.p.Supply
	slices.SortFunc(w.heavy, func(a, b int32) int { return cmp.Or(cmp.Compare(units[b], units[a]), cmp.Compare(a, b)) })
	w.heavy = w.heavy[:min(k, newtonRows)]
	slices.Sort(w.heavy)
	return float64(w.total-w.heaviest()) <= lightShare*float64(w.total)
}

// heaviest returns what the heavy rows have.
func (w *work) heaviest() (sum uint64) {
	for _, i := range w.heavy {
		sum += w.p.Supply[i]
	}
	return sum
}

// prices finds prices of the heavy rows close to the best, and reports whether it could.
func (w *work) prices() bool {
	k, n, total := len(w.heavy), len(w.p.Low), float64(w.total)
	w.resize(k)
	sum := float64(w.heaviest())
	for n, i := range w.heavy {
		w.mass[n] = float64(w.p.Supply[i]) / sum
	}
	all, ok := w.measureCosts()
	if !ok {
		return false
	}
	full := 0.0
	for j, l := range w.p.Low {
		full += min(float64(l)+float64(w.p.Room[j]), total)
	}
	w.enough = enough * float64(k) * full / total / float64(n)
	return w.climb(all)
}
