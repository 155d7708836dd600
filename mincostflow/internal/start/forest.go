package start

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Forest is a strongly feasible forest of arcs with flow, and the prices and arcs that it was made of.
type Forest struct {
	F, G []float64 // prices of the rows and the columns; -Inf for columns that take no part
	Arcs []Arc     // those of least reduced cost of every row, then those of columns
	// Typical is the median reduced cost of the arcs.
	Typical float64

	// Need is what a column is to get: Low, or Low + Room.
	Need []uint64
	// Parent, Flow and Cost are the arc from every node to its parent: rows, which are numbered from 0, and then columns.
	// A node without parent, -1, is exhausted by none of the arcs; Flow is then what a row has left, or what a column
	// still needs.
	Parent []int32
	Flow   []uint64
	Cost   []float64

	first, next []int32 // children, as lists
}

// Walk visits all nodes in preorder.
func (f *Forest) Walk(visit func(v int32)) {
	n := int32(len(f.Parent))
	f.first, f.next = grow(f.first, int(n)+1), grow(f.next, int(n)+1) // those of the hub are last
	for v := range f.first {
		f.first[v] = -1
	}
	for v := n - 1; v >= 0; v-- {
		p := f.Parent[v]
		if p < 0 {
			p = n
		}
		f.first[p], f.next[v] = v, f.first[p]
	}
	for v := f.first[n]; v >= 0; {
		visit(v)
		if f.first[v] >= 0 {
			v = f.first[v]
			continue
		}
		for f.next[v] < 0 && f.Parent[v] >= 0 {
			v = f.Parent[v]
		}
		v = f.next[v]
	}
}

// Plant makes the forest from prices f of the rows of the smaller problem, and reports whether there was time.
func (w *Work) Plant(f []float64) bool {
	if !w.extend(f) || !w.list() {
		return false
	}
	w.balance()
	w.fill()
	return true
}

// balance chooses which columns are to be full: those of least price, as many as there is mass for. All prices are
// shifted so that that of the first other one is zero.
func (w *Work) balance() {
	w.Need = append(w.Need[:0], w.p.Low...)
	spare := uint64(0)
	for _, m := range w.p.Supply {
		spare += m
	}
	roomy := w.order[:0]
	for j, low := range w.p.Low {
		spare -= low
		if w.p.Room[j] > 0 {
			roomy = append(roomy, uint64(j))
		}
	}
	w.order = roomy
	slices.SortFunc(roomy, func(a, b uint64) int { return cmp.Or(cmp.Compare(w.G[a], w.G[b]), cmp.Compare(a, b)) })
	for _, j := range roomy {
		if room := w.p.Room[j]; room <= spare {
			spare -= room
			w.Need[j] += room
			continue
		}
		zero := w.G[j]
		for j := range w.G {
			w.G[j] -= zero
		}
		for i := range w.F {
			w.F[i] += zero
		}
		return
	}
}

// fill fills arcs in the order of their reduced costs.
func (w *Work) fill() {
	k, n := len(w.p.Supply), len(w.p.Low)
	w.Parent, w.Cost = grow(w.Parent, k+n), grow(w.Cost, k+n)
	w.Flow = append(append(w.Flow[:0], w.p.Supply...), w.Need...)
	for v := range w.Parent {
		w.Parent[v], w.Cost[v] = -1, 0
	}
	w.sort()
	for _, n := range w.order {
		a := &w.Arcs[n]
		i, j := int(a.I), k+int(a.J)
		left, need := w.Flow[i], w.Flow[j]
		switch {
		case w.Parent[i] >= 0 || w.Parent[j] >= 0 || left == 0 || need == 0:
		case left < need:
			w.Parent[i], w.Cost[i] = int32(j), a.Cost
			w.Flow[j] -= left
		default: // the column hangs from the row: if it exhausts the row as well, that has an empty arc to the hub
			w.Parent[j], w.Cost[j] = int32(i), a.Cost
			w.Flow[i] -= need
		}
	}
}

// sort fills in order, the arcs by reduced cost, as far as 30 bits or so tell them apart, and then by number.
func (w *Work) sort() {
	widest := 0.0
	for _, a := range w.Arcs {
		widest = max(widest, a.Reduced)
	}
	shift := bits.Len(uint(len(w.Arcs)))
	by := 0.0
	if widest > 0 {
		by = min(math.Ldexp(1, 62-shift)/widest, math.MaxFloat64)
	}
	w.order = w.order[:0]
	for n, a := range w.Arcs {
		w.order = append(w.order, uint64(a.Reduced*by)<<shift|uint64(n))
	}
	slices.Sort(w.order)
	for n := range w.order {
		w.order[n] &= 1<<shift - 1
	}
	w.Typical = w.Arcs[w.order[len(w.order)/2]].Reduced
}
