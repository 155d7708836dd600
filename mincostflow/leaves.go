package mincostflow

// leaves are columns with nothing below them in the tree, each of which hangs from a row by a real arc. Where columns
// are many and rows few, most of a subtree that moves is leaves. They are then kept apart from the preorder, in a
// list for every row: their potentials are shifted in a plain loop, which is several times as fast as following
// links, and nothing else of them changes. Those at the ends of an arc that enters join the preorder first. The lists
// need not have all leaves, but do after every pivot (cutDear leaves some out).
//
// They take 4 bytes for every row of every column, 4 MB at most.
type leaves struct {
	never bool    // for tests
	n     int     // columns; 0 if no leaves are kept apart
	list  []int32 // n for every row
	count []int32 // used
	place []int32 // of a column in the list of its row, or -1
}

// leafColumns is how many columns there are for every row when leaves are kept apart. At 50, with 20 rows, that saves a
// quarter of the time where much mass moves far; at 200, half; at 12, nothing.
const leafColumns = 40

// reset empties the lists of k rows.
func (l *leaves) reset(k, n int) {
	if l.n = 0; l.never || k >= fewRows || n < leafColumns*k || n > mostCells/k {
		return
	}
	l.n = n
	l.list, l.count, l.place = grow(l.list, k*n), grow(l.count, k), grow(l.place, n)
	clear(l.count)
	for j := range l.place {
		l.place[j] = -1
	}
}

// of returns the leaves of row i.
func (l *leaves) of(i int32) []int32 {
	from := int(i) * l.n
	return l.list[from : from+int(l.count[i])]
}

// add puts column j on the list of row i.
func (l *leaves) add(i, j int32) {
	at := l.count[i]
	l.list[int(i)*l.n+int(at)] = j
	l.place[j] = at
	l.count[i]++
}

// attach puts node v into the preorder if it is a leaf kept apart.
func (t *basis) attach(v int32) {
	l := &t.leaves
	j := v - int32(t.k)
	if l.n == 0 || j < 0 || v == t.root || l.place[j] < 0 {
		return
	}
	i := t.nodes[v].parent
	list := l.of(i)
	last := list[len(list)-1]
	list[l.place[j]] = last
	l.place[last] = l.place[j]
	l.place[j] = -1
	l.count[i]--

	w := t.after(i)
	t.follow(i, v)
	t.follow(v, w)
}

// detach takes node v out of the preorder if it is a leaf.
func (t *basis) detach(v int32) {
	j := v - int32(t.k)
	if t.leaves.n == 0 || j < 0 || v == t.root {
		return
	}
	p := &t.nodes[v]
	if p.kind != realArc || p.size > 1 {
		return
	}
	t.follow(t.before(v), t.after(v))
	t.leaves.add(p.parent, j)
}

// attachAll puts all leaves into the preorder, and keeps none apart from now on.
func (t *basis) attachAll() {
	if t.leaves.n == 0 {
		return
	}
	for v := int32(t.k); v < t.root; v++ {
		t.attach(v)
	}
	t.leaves.n = 0
}
