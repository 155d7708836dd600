package discs

import (
	"cmp"
	"math/bits"
	"slices"
)

// leaf is how many points a node has that is not cut.
const leaf = 16

// Tree is a k-d tree over the outputs of a geometry (Bentley 1975). Positions are places in its order.
type Tree struct {
	axes   int
	cols   []int32 // the output at each position
	points []int32 // its vector
	nodes  []node
	boxes  []int32 // least and largest coordinates of each node, 2 axes a node
}

type node struct {
	from, to int32 // positions
	right    int32 // the second half; the first is the next node; 0 for a leaf
}

// NewTree returns the tree of vectors of so many axes, at least one. It takes O(n log^2 n).
func NewTree(points []int32, axes int) *Tree {
	n := len(points) / axes
	t := &Tree{axes: axes, cols: make([]int32, n), points: make([]int32, 0, n*axes)}
	for j := range t.cols {
		t.cols[j] = int32(j)
	}
	t.cut(points, 0, n)
	for _, j := range t.cols {
		t.points = append(t.points, points[int(j)*axes:][:axes]...)
	}
	return t
}

// cut makes the node of the positions from (included) to (excluded), and those below it.
func (t *Tree) cut(points []int32, from, to int) {
	at := len(t.nodes)
	t.nodes = append(t.nodes, node{int32(from), int32(to), 0})
	widest, span := 0, int64(-1)
	for a := range t.axes {
		low, high := points[int(t.cols[from])*t.axes+a], points[int(t.cols[from])*t.axes+a]
		for _, j := range t.cols[from:to] {
			v := points[int(j)*t.axes+a]
			low, high = min(low, v), max(high, v)
		}
		t.boxes = append(t.boxes, low, high)
		if s := int64(high) - int64(low); s > span {
			widest, span = a, s
		}
	}
	if to-from <= leaf {
		return
	}
	slices.SortFunc(t.cols[from:to], func(i, j int32) int {
		return cmp.Or(cmp.Compare(points[int(i)*t.axes+widest], points[int(j)*t.axes+widest]), cmp.Compare(i, j))
	})
	middle := (from + to) / 2
	t.cut(points, from, middle)
	t.nodes[at].right = int32(len(t.nodes))
	t.cut(points, middle, to)
}

// square returns sum + d^2, or the largest integer if that is less; |d| < 2^32.
func square(sum uint64, d int64) uint64 {
	s, carry := bits.Add64(sum, uint64(d)*uint64(d), 0)
	return s | -carry
}

// Before appends to spans the positions, from and to by turns, of the outputs that come before one in the order for x:
// those of a key less than key, and those of that key with a number less than col. The spans ascend.
func (t *Tree) Before(x []int32, key uint64, col int32, spans []int32) []int32 {
	first := len(spans)
	add := func(from, to int32) {
		if n := len(spans); n > first && spans[n-1] == from {
			spans[n-1] = to
			return
		}
		spans = append(spans, from, to)
	}
	t.Between(x, key, key, add, func(p int32, _ uint64) {
		if t.cols[p] < col {
			add(p, p+1)
		}
	})
	return spans
}

// Between calls inside with the positions from (included) to (excluded) of outputs of a key less than least, and see with
// each position whose key is from least to most. The positions ascend.
func (t *Tree) Between(x []int32, least, most uint64, inside func(from, to int32), see func(p int32, key uint64)) {
	axes := len(x)
	var stack [64]int32 // of nodes: each level halves the positions, which are fewer than 2^31
	for top := 1; top > 0; {
		top--
		at := stack[top]
		n := t.nodes[at]
		box := t.boxes[int(at)*2*axes:][:2*axes]
		near, far := uint64(0), uint64(0)
		for a, v := range x {
			below, above := int64(box[2*a])-int64(v), int64(v)-int64(box[2*a+1])
			near = square(near, max(below, above, 0))
			far = square(far, max(-below, -above))
		}
		switch {
		case near > most:
		case far < least:
			inside(n.from, n.to)
		case n.right > 0:
			stack[top], stack[top+1] = n.right, at+1
			top += 2
		default:
			points := t.points[int(n.from)*axes : int(n.to)*axes]
			for p := n.from; p < n.to; p++ {
				k := uint64(0)
				for a, v := range points[:axes] {
					d := int64(x[a]) - int64(v)
					k += uint64(d) * uint64(d)
				}
				points = points[axes:]
				if k < least {
					inside(p, p+1)
				} else if k <= most {
					see(p, k)
				}
			}
		}
	}
}

// Sums are sums of weights over the positions before each, modulo 2^64 and in floats.
type Sums struct {
	exact []uint64
	about []float64
}

// tooMuch is above all sums that are asked for, by more than floats are off: their sums have at most 2^20 terms of at
// most 2^62, so that each of 2^20 roundings loses 2^29 at most. Below it, a sum modulo 2^64 is the sum.
const tooMuch = 1 << 63

// Sums returns those of a weight of each output, at most 2^62.
func (t *Tree) Sums(weight func(col int) uint64) Sums {
	s := Sums{make([]uint64, len(t.cols)+1), make([]float64, len(t.cols)+1)}
	for n, j := range t.cols {
		w := weight(int(j))
		s.exact[n+1], s.about[n+1] = s.exact[n]+w, s.about[n]+float64(w)
	}
	return s
}

// Of returns the sum over the positions of spans; ok is false if it is 2^63 or more.
func (s Sums) Of(spans []int32) (sum uint64, ok bool) {
	about := 0.0
	for n := 0; n < len(spans); n += 2 {
		sum += s.exact[spans[n+1]] - s.exact[spans[n]]
		about += s.about[spans[n+1]] - s.about[spans[n]]
	}
	return sum, about < tooMuch
}

// Order returns the output at each position. It must not be changed.
func (t *Tree) Order() []int32 { return t.cols }
