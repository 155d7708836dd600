package start

import (
	"cmp"
	"slices"
)

// plant makes the forest from the prices of the rows of the smaller problem, and reports whether there was time.
func (w *work) plant() bool {
	w.into.Reset(len(w.p.Supply), w.p.Low)
	if !w.extend() || !w.list() {
		return false
	}
	w.balance()
	w.fill()
	return true
}

// balance chooses which columns are to be full: those of least price, as many as there is mass for. All prices are
// shifted so that that of the first other one is zero.
func (w *work) balance() {
	spare := uint64(0)
	for _, m := range w.p.Supply {
		spare += m
	}
	roomy := w.order[:0]
	for j, low := range w.p.Low {
		spare -= low
		if w.p.Room[j] > 0 {
			roomy = append(roomy, int32(j))
		}
	}
	w.order = roomy
	slices.SortFunc(roomy, func(a, b int32) int { return cmp.Or(cmp.Compare(w.pi[b], w.pi[a]), cmp.Compare(a, b)) })
	for _, j := range roomy {
		if room := w.p.Room[j]; room <= spare {
			spare -= room
			w.into.Need[j] += room
			continue
		}
		zero := w.pi[j]
		for j := range w.pi {
			w.pi[j] -= zero
		}
		for i := range w.f {
			w.f[i] -= zero
		}
		return
	}
}

// fill fills arcs in the order of their reduced costs. Each of them exhausts a row or a column, which hangs from the
// other end. What is left over hangs from the hub, at the prices of nodes.
func (w *work) fill() {
	f, k := w.into, len(w.p.Supply)
	copy(f.Cost, w.f)
	for j, pi := range w.pi {
		if f.Cost[k+j] = -pi; w.p.Room[j] > 0 {
			// Not below zero where there is room: a cycle through the slack arc could pay for itself.
			f.Cost[k+j] = max(-pi, 0)
		}
	}
	w.left = append(append(w.left[:0], w.p.Supply...), f.Need...)
	w.sort()
	f.Above = float64(firstPrice * w.reduced[w.order[len(w.order)/2]])
	for _, n := range w.order {
		a := &f.Arcs[n]
		i, j := int(a.I), k+int(a.J)
		left, need := w.left[i], w.left[j]
		switch {
		case f.Parent[i] >= 0 || f.Parent[j] >= 0 || left == 0 || need == 0:
		case left < need:
			f.Parent[i], f.Cost[i] = int32(j), a.Cost
			w.left[j] -= left
		default: // the column hangs from the row: if it exhausts the row as well, that has an empty arc to the hub
			f.Parent[j], f.Cost[j] = int32(i), a.Cost
			w.left[i] -= need
		}
	}
}

// sort fills in order: the arcs by reduced cost, and then by number.
func (w *work) sort() {
	w.order = w.order[:0]
	for n := range w.reduced {
		w.order = append(w.order, int32(n))
	}
	x := w.reduced
	slices.SortFunc(w.order, func(a, b int32) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(a, b)) })
}
