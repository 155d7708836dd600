package patch

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// maxPairs inseparable pairs take some 400 MB, maxRead numbers a minute, and quickRead a second or two.
	maxPairs  = 1 << 23
	maxRead   = 1 << 35
	quickRead = 1 << 29
	// fewPlaces have at most 2^21 pairs.
	fewPlaces = 2048
	// blocks of outputs bound a signal from below.
	blocks = 64
	// leaf nodes are not divided further.
	leaf = 8
	// slack is above the rounding of a sum of 2^20 terms.
	slack = 1e-9
	// leastMass is the smallest share of a place that is one, and leastOutput the smallest chance of an output that is
	// looked at. The inverse of a smaller one may be no number, and a place with a share has less than 2^-700 of it.
	leastMass   = 0x1p-300
	leastOutput = 0x1p-1000
)

// node is a set of places that are inseparable, whatever else is: those of one row, or those without prior mass.
type node struct {
	rows []int   // a place for each row
	mass float64 // the largest of a place
}

// search is for the inseparable pairs of nodes.
type search struct {
	channel  *estimate.Channel
	devices  float64
	most     int64   // numbers to read
	of       []int32 // node of each place
	nodes    []node  // in the order of their first places
	empty    int     // the node of places without mass; -1 if there is none
	contrast func(i, j int, most float64) (sum float64, read int)
	inverse  []float64 // of the law q
	read     atomic.Int64
	found    atomic.Int64
}

func newSearch(ch *estimate.Channel, u []float64, devices float64, most int64) (*search, error) {
	q, err := ch.Law(u)
	if err != nil {
		return nil, err
	}
	s := &search{channel: ch, devices: devices, most: most, of: make([]int32, len(u)), empty: -1, inverse: make([]float64, len(q))}
	for y, v := range q {
		if v >= leastOutput { // else no place of the prior releases y, and no pair with mass differs there
			s.inverse[y] = 1 / v
		}
	}
	s.contrast = ch.Contrast(s.inverse)
	at, seen := make([]int, len(u)), make([]bool, len(u)) // by the first place of a row: its node and one, and whether it is in empty
	for i, first := range ch.Same() {
		n := at[first] - 1
		if u[i] < leastMass {
			n = s.empty
		}
		if n < 0 {
			n = len(s.nodes)
			s.nodes = append(s.nodes, node{})
		}
		s.of[i] = int32(n)
		switch to := &s.nodes[n]; {
		case u[i] < leastMass:
			if s.empty = n; !seen[first] {
				seen[first], to.rows = true, append(to.rows, i)
			}
		case at[first] == 0:
			at[first], *to = n+1, node{[]int{i}, u[i]}
		default:
			to.mass = max(to.mass, u[i])
		}
	}
	return s, nil
}

// alike reports whether all rows are so near to the first that no two of them are separable. It may be false where
// none are.
func (s *search) alike() bool {
	mass := 0.0
	for _, n := range s.nodes {
		mass = max(mass, n.mass)
	}
	// A signal is the square of a distance: two rows within half of the least that is separable are not separable.
	most := separable / 4 * (1 - slack) / s.scale(mass, mass)
	for _, n := range s.nodes {
		for _, i := range n.rows {
			if sum, _ := s.contrast(s.nodes[0].rows[0], i, most); !(sum < most) {
				return false
			}
		}
	}
	return true
}

func (s *search) scale(a, b float64) float64 { return s.devices * (a + b) * (a + b) }

// signal returns the largest left side of the formula for a place of each of two nodes. What is separable may have more.
func (s *search) signal(a, b node) (most float64) {
	scale := s.scale(a.mass, b.mass)
	for _, i := range a.rows {
		for _, j := range b.rows {
			sum, read := s.contrast(min(i, j), max(i, j), separable*(1+slack)/scale)
			s.read.Add(int64(read))
			if most = max(most, scale*sum); most >= separable || s.read.Load() > s.most {
				return most
			}
		}
	}
	return most
}

// over reports whether the search is too long.
func (s *search) over() error {
	if s.read.Load() > s.most || s.found.Load() > maxPairs {
		return fmt.Errorf("%w: more than %d pairs of places that are inseparable, or %d numbers to read: group places", ErrLimit, maxPairs,
			s.most)
	}
	return nil
}

// pair is two nodes, in their order, that are inseparable.
type pair struct {
	a, b   int32
	signal float64
}

// pairs returns all, in some order.
func (s *search) pairs(ctx context.Context) ([]pair, error) {
	x, err := s.newIndex(ctx)
	if err != nil {
		return nil, err
	}
	if x != nil {
		return s.among(ctx, x.m, x.candidates)
	}
	t := s.newTree()
	return s.among(ctx, len(t.leaves), t.candidates)
}

// among returns the pairs among candidates, which come in parts, and those with the node without mass.
func (s *search) among(ctx context.Context, parts int, candidates func(part int, try func(a, b int32)) error) ([]pair, error) {
	found := make([][]pair, parts+1)
	try := func(l int, a, b int32) {
		a, b = min(a, b), max(a, b)
		if v := s.signal(s.nodes[a], s.nodes[b]); v < separable {
			found[l] = append(found[l], pair{a, b, v})
			s.found.Add(1)
		}
	}
	err := parallel.Each(ctx, parts, func(l int) error {
		return candidates(l, func(a, b int32) { try(l, a, b) })
	}, nil)
	for n := 0; n < len(s.nodes) && s.empty >= 0 && err == nil; n++ {
		if n != s.empty {
			try(parts, int32(n), int32(s.empty))
		}
		if err = s.over(); err == nil && ctx.Err() != nil {
			err = wpmerr.Ended(ctx)
		}
	}
	return slices.Concat(found...), err
}

// tree is a k-d tree of the nodes with mass. A node is at the sums of its row over blocks of outputs, each divided by the
// root of the block's share of the law. Summing can only bring rows nearer to each other: the squared distance of two is
// at most sum_y (P_iy - P_jy)^2 / q_y.
type tree struct {
	*search
	axes     int
	at       []place // of each node
	rounding float64 // of a coordinate, relative
	root     *box
	leaves   []*box
}

// place is where nodes are.
type place struct {
	low, high []float64 // by axis
	mass      float64   // the least
	norm      float64   // the largest
}

// box is a part of the tree.
type box struct {
	place
	nodes       []int32
	from        int // where they are in the tree
	left, right *box
}

func (s *search) newTree() *tree {
	sums, of := s.channel.Blocks(blocks)
	k, _ := s.channel.Dims()
	t := &tree{search: s, axes: len(sums) / k, at: make([]place, len(s.nodes))}
	q, size := make([]float64, t.axes), make([]float64, t.axes)
	for y, b := range of {
		size[b]++
		if v := s.inverse[y]; v > 0 {
			q[b] += 1 / v
		}
	}
	largest := slices.Max(size)
	t.rounding = 0x1p-40 * largest * largest
	all := make([]int32, 0, len(s.nodes))
	for n, node := range s.nodes {
		if n == s.empty {
			continue
		}
		all = append(all, int32(n))
		x, norm := sums[node.rows[0]*t.axes:][:t.axes], 0.0
		for b, share := range q {
			if share > 0 {
				x[b] /= math.Sqrt(share)
			} else {
				x[b] = 0
			}
			norm += x[b] * x[b]
		}
		turn(x, q)
		t.at[n] = place{x, x, node.mass, math.Sqrt(norm)}
	}
	t.root = t.divide(all, 0)
	return t
}

// turn puts coarse coordinates before fine ones, and changes no distance: the first is that of all blocks as one, and
// others say how two neighbours differ.
func turn(x, share []float64) {
	share, next := slices.Clone(share), make([]float64, len(x))
	for n := len(x); n > 1; n = (n + 1) / 2 {
		half := (n + 1) / 2
		for b := range n / 2 {
			p, q := share[2*b], share[2*b+1]
			r := math.Sqrt(p + q)
			if r == 0 {
				p, r = 1, 1
			}
			c, s := math.Sqrt(p)/r, math.Sqrt(q)/r
			next[b], next[half+b], share[b] = c*x[2*b]+s*x[2*b+1], s*x[2*b]-c*x[2*b+1], p+q
		}
		if n%2 == 1 {
			next[half-1], share[half-1] = x[n-1], share[n-1]
		}
		copy(x, next[:n])
	}
}

// divide halves the nodes where they are widest. It changes their order.
func (t *tree) divide(nodes []int32, from int) *box {
	b := &box{place: t.at[nodes[0]], nodes: nodes, from: from}
	b.low, b.high = slices.Clone(b.low), slices.Clone(b.high)
	for _, n := range nodes {
		at := t.at[n]
		b.mass, b.norm = min(b.mass, at.mass), max(b.norm, at.norm)
		for a, v := range at.low {
			b.low[a], b.high[a] = min(b.low[a], v), max(b.high[a], v)
		}
	}
	if len(nodes) <= leaf {
		t.leaves = append(t.leaves, b)
		return b
	}
	axis := 0
	for a, v := range b.high {
		if v-b.low[a] > b.high[axis]-b.low[axis] {
			axis = a
		}
	}
	slices.SortFunc(nodes, func(x, y int32) int {
		return cmp.Or(cmp.Compare(t.at[x].low[axis], t.at[y].low[axis]), cmp.Compare(x, y))
	})
	half := len(nodes) / 2
	b.left, b.right = t.divide(nodes[:half], from), t.divide(nodes[half:], from+half)
	return b
}

// candidates tries the pairs of a leaf and of those from it on.
func (t *tree) candidates(l int, try func(a, b int32)) error {
	leaf := t.leaves[l]
	for _, other := range t.near(leaf, t.root, nil) {
		t.read.Add(int64(t.axes * len(leaf.nodes) * len(other.nodes)))
		for n, a := range leaf.nodes {
			rest := other.nodes
			if other == leaf {
				rest = rest[n+1:]
			}
			for _, b := range rest {
				if !t.apart(&t.at[a], &t.at[b]) {
					try(a, b)
				}
			}
		}
		if err := t.over(); err != nil {
			return err
		}
	}
	return nil
}

// near appends the leaves of b, from a leaf on, that may have a node that is inseparable from one of the leaf.
func (t *tree) near(leaf, b *box, to []*box) []*box {
	if b.from+len(b.nodes) <= leaf.from || t.apart(&leaf.place, &b.place) {
		return to
	}
	if b.left == nil {
		return append(to, b)
	}
	return t.near(leaf, b.right, t.near(leaf, b.left, to))
}

// apart reports whether all nodes at one place are surely separable from all at another.
func (t *tree) apart(a, b *place) bool {
	far := math.Sqrt(separable*(1+slack)/t.scale(a.mass, b.mass)) + t.rounding*(a.norm+b.norm)
	far *= far * (1 + slack)
	sum := 0.0
	for n := 0; n < len(a.low) && sum < far; {
		for end := min(n+4, len(a.low)); n < end; n++ {
			if d := max(a.low[n]-b.high[n], b.low[n]-a.high[n]); d > 0 {
				sum += d * d
			}
		}
	}
	return sum >= far
}
