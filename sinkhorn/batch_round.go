package sinkhorn

import (
	"context"
	"math"
)

// rounding turns row potentials into an optimal plan for few rows: it is what closes the gap that is left
// at a Reg > 0.
//
// Given f, every column has a cheapest row, b_j = min_i (C_ij - f_i), and a bound that its sign chooses: q_j = lo_j
// where b_j > t, hi_j where b_j < t, with the level t at which the masses add up to 1. That plan and these prices
// satisfy complementary slackness; only the row sums are wrong, by as much as f is. Successive shortest paths on
// a graph of the rows repair them: an arc from row i to row k moves mass of the column that makes it
// cheapest; arcs to and from a hub lower and raise the q_j. Every path keeps slackness, and when no
// row has too much, the plan is optimal and f, b, t prove it. One search serves all rows that have too little, though the first paths
// may leave the others longer than the shortest: that is allowed up to a slack, and ends near the optimum.
type rounding struct {
	m, n   int
	c      []float64 // costs, column by column: c[j*m+i]
	lo, hi []float64
	f      []float64 // potentials of the rows, then minus that of the hub
	q      []float64
	over   []float64 // row sums less the masses
	owner  [][]share // rows that hold mass, for every column
	near   [][]int32 // columns by cost for a row, the first ones or all
	holds  [][]int32 // columns that a row holds
	way    []float64 // way[i*(m+1)+k]: least cost of moving mass from i to k
	via    []int32   // and the column that does it; -1 if none
	dist   []float64
	key    []float64
	prev   []int32
	arc    []float64 // length of the arc from prev
	ends   []int32   // nodes with too little, in the order of their distances
	trail  []step
	lost   []int
	paths  int
	budget float64
}

// step is an arc of a path.
type step struct {
	from, to int
	col      int32
}

type share struct {
	row  int32
	mass float64
}

// load takes in the costs of a problem.
func (r *rounding) load(m, n int, row [][]float64, lo, hi []float64) {
	r.m, r.n, r.lo, r.hi = m, n, lo, hi
	r.c = grow(r.c, m*n)
	for i, c := range row {
		to := r.c[i:]
		for j, x := range c {
			to[j*m] = x
		}
	}
	r.f, r.over, r.dist = grow(r.f, m+1), grow(r.over, m+1), grow(r.dist, m+1)
	r.prev, r.key, r.arc = grow(r.prev, m+1), grow(r.key, m+1), grow(r.arc, m+1)
	r.way, r.via = grow(r.way, (m+1)*(m+1)), grow(r.via, (m+1)*(m+1))
	r.q = grow(r.q, n)
	for len(r.owner) < n {
		r.owner = append(r.owner, make([]share, 0, 4))
	}
	for len(r.holds) < m {
		r.holds = append(r.holds, nil)
	}
}

// reset makes the plan of slackness for the potentials in r.f and the level t, b and own being the least c - f of every column and
// the row that it comes from.
func (r *rounding) reset(mu []float64, t float64, b []float64, own []int32) {
	m, n := r.m, r.n
	r.f[m], r.paths = -t, 0
	for i := range m {
		r.over[i] = -mu[i]
		r.holds[i] = r.holds[i][:0]
	}
	for k := range r.way {
		r.way[k], r.via[k] = math.Inf(1), -1
	}
	sum := 0.0
	for j := range n {
		i := int(own[j])
		q := r.lo[j]
		if b[j] < t {
			q = r.hi[j]
		}
		r.q[j] = q
		sum += q
		r.owner[j] = r.owner[j][:0]
		r.over[i] += q
		if q > 0 {
			r.owner[j] = append(r.owner[j], share{int32(i), q})
			r.holds[i] = append(r.holds[i], int32(j))
			r.offer(i, j, r.way[i*(m+1):(i+1)*(m+1)], r.via[i*(m+1):(i+1)*(m+1)])
		}
	}
	r.over[m] = 1 - sum // what the hub has to give out, or (< 0) to take
	for k := range m {
		r.hubWay(k)
	}
}

// hubWay finds the way from the hub to row k anew: the column with room that is cheapest for k.
func (r *rounding) hubWay(k int) {
	m := r.m
	at := m*(m+1) + k
	for _, j := range r.near[k] {
		if r.q[j] < r.hi[j] {
			r.way[at], r.via[at] = r.c[int(j)*m+k], j
			return
		}
	}
	r.way[at], r.via[at] = math.Inf(1), -1
	if len(r.near[k]) == r.n {
		return
	}
	for j, q := range r.q {
		if c := r.c[j*m+k]; q < r.hi[j] && c < r.way[at] {
			r.way[at], r.via[at] = c, int32(j)
		}
	}
}

// offer takes column j, of which row i holds a part, into the ways from i.
func (r *rounding) offer(i, j int, way []float64, via []int32) {
	m := r.m
	col := r.c[j*m : (j+1)*m]
	own := col[i]
	for k, c := range col {
		if d := c - own; d < way[k] {
			way[k], via[k] = d, int32(j)
		}
	}
	r.offerHub(i, j)
}

// noise is the mass that counts as none.
const roundNoise = 1e-15

// run finds paths until no row has too much, at most limit of them and none when the context has ended, and reports whether that was
// enough. Paths may be longer than the shortest by slack, and by budget in all, over the mass that they move.
func (r *rounding) run(ctx context.Context, limit int, slack, budget float64) bool {
	r.budget = budget
	for range limit + 1 { // every search leads to a path, but for rounding
		if !r.search() {
			return true
		}
		if r.paths >= limit || ctx.Err() != nil {
			return false
		}
		for _, end := range r.ends {
			for r.over[end] < -roundNoise && r.paths < limit && r.augment(int(end), slack) {
			}
		}
	}
	return false
}

// search finds the distances from the nodes with too much up to the last that has too little, makes them part of the
// potentials, and lists the latter in r.ends. It reports false when there is none, or no way to it.
func (r *rounding) search() bool {
	m := r.m
	f := r.f[:m+1]
	dist, key, prev := r.dist[:m+1], r.key[:m+1], r.prev[:m+1]
	at, d, lacking := -1, math.Inf(1), 0
	for k, x := range r.over[:m+1] {
		dist[k], prev[k] = math.Inf(1), -1
		if x > roundNoise {
			dist[k] = 0
			at, d = k, 0
		} else if x < -roundNoise {
			lacking++
		}
		key[k] = dist[k] // dist of the nodes not settled
	}
	r.ends = r.ends[:0]
	top := 0.0
	for at >= 0 {
		if r.over[at] < -roundNoise {
			r.ends = append(r.ends, int32(at))
			top = d
			if lacking--; lacking == 0 {
				break
			}
		}
		key[at] = math.Inf(1)
		way := r.way[at*(m+1):][:m+1]
		base := d + f[at]
		next, least := -1, math.Inf(1)
		for k, w := range way {
			x := w + base - f[k]
			if x < d {
				x = d // rounding
			}
			if x < dist[k] { // never so for a settled node
				dist[k], key[k], prev[k] = x, x, int32(at)
				r.arc[k] = w
			}
			if key[k] < least {
				next, least = k, key[k]
			}
		}
		at, d = next, least
	}
	if len(r.ends) == 0 {
		return false
	}
	for k := range f {
		f[k] += min(dist[k], top)
	}
	return true
}

// augment moves mass along the path that search found to end, and reports whether it could. After other paths it may be used up, or
// its arcs may have become longer, by more than slack for one of them.
func (r *rounding) augment(end int, slack float64) bool {
	m := r.m
	// The path, from its end. Two arcs in a row that move the same column are one: the node between would
	// pass on what it gets, and its own share be a bottleneck for nothing.
	path := r.trail[:0]
	start := end
	more := 0.0 // length
	for k := end; r.prev[k] >= 0; k = start {
		start = int(r.prev[k])
		j := r.via[start*(m+1)+k]
		if more += r.way[start*(m+1)+k] - r.arc[k]; j < 0 || more > slack {
			return false
		}
		if n := len(path); n > 0 && path[n-1].col == j {
			path[n-1].from = start
			continue
		}
		path = append(path, step{start, k, j})
	}
	r.trail = path
	amount := min(-r.over[end], r.over[start])
	if !(amount > roundNoise) {
		return false
	}
	for _, s := range path {
		j := int(s.col)
		if s.from == m {
			amount = min(amount, r.hi[j]-r.q[j])
			continue
		}
		amount = min(amount, r.held(s.from, j))
		if s.to == m {
			amount = min(amount, r.q[j]-r.lo[j])
		}
	}
	if !(amount > 0) || amount*more > r.budget {
		return false
	}
	r.budget -= amount * more
	r.over[start] -= amount
	r.over[end] += amount
	for _, s := range path {
		r.move(s.from, s.to, int(s.col), amount)
	}
	r.paths++
	return true
}

// move moves mass of column j from one node to another, and finds the ways anew that this changes.
func (r *rounding) move(i, k, j int, amount float64) {
	m := r.m
	if i == m {
		raised := r.q[j] == r.lo[j]
		if r.q[j] += amount; r.hi[j]-r.q[j] <= roundNoise {
			r.q[j] = r.hi[j]
			r.lose(i, j)
		}
		if raised { // and may be lowered now
			for _, s := range r.owner[j] {
				r.offerHub(int(s.row), j)
			}
		}
	} else if r.take(i, j, amount) {
		r.lose(i, j)
	}
	if k != m {
		r.give(k, j, amount)
		r.offer(k, j, r.way[k*(m+1):(k+1)*(m+1)], r.via[k*(m+1):(k+1)*(m+1)])
		return
	}
	if r.q[j] -= amount; r.q[j]-r.lo[j] <= roundNoise {
		r.q[j] = r.lo[j]
		for _, s := range r.owner[j] {
			if at := int(s.row)*(m+1) + m; r.via[at] == int32(j) {
				r.way[at], r.via[at] = math.Inf(1), -1
				for _, other := range r.holds[s.row] {
					r.offerHub(int(s.row), int(other))
				}
			}
		}
	}
	// The hub may raise it again.
	way, via := r.way[m*(m+1):], r.via[m*(m+1):]
	for x, c := range r.c[j*m : (j+1)*m] {
		if c < way[x] {
			way[x], via[x] = c, int32(j)
		}
	}
}

// offerHub takes column j, of which row i holds a part, into the way from i to the hub.
func (r *rounding) offerHub(i, j int) {
	if r.q[j] > r.lo[j] {
		at := i*(r.m+1) + r.m
		if x := -r.c[j*r.m+i]; x < r.way[at] {
			r.way[at], r.via[at] = x, int32(j)
		}
	}
}

// lose finds the ways from node i anew that used column j.
func (r *rounding) lose(i, j int) {
	m := r.m
	way, via := r.way[i*(m+1):(i+1)*(m+1)], r.via[i*(m+1):(i+1)*(m+1)]
	r.lost = r.lost[:0]
	for k, v := range via {
		if v == int32(j) {
			way[k], via[k] = math.Inf(1), -1
			if k < m {
				r.lost = append(r.lost, k)
			}
		}
	}
	if i == m {
		for _, k := range r.lost {
			r.hubWay(k)
		}
		return
	}
	for _, o := range r.holds[i] {
		col := r.c[int(o)*m:][:m]
		own := col[i]
		for _, k := range r.lost {
			if d := col[k] - own; d < way[k] {
				way[k], via[k] = d, o
			}
		}
		if via[m] < 0 || -own < way[m] {
			r.offerHub(i, int(o))
		}
	}
}

func (r *rounding) held(i, j int) float64 {
	for _, s := range r.owner[j] {
		if int(s.row) == i {
			return s.mass
		}
	}
	return 0
}

// take removes mass and reports whether nothing is left.
func (r *rounding) take(i, j int, amount float64) bool {
	o := r.owner[j]
	for n := range o {
		if int(o[n].row) != i {
			continue
		}
		o[n].mass -= amount
		if o[n].mass > roundNoise {
			return false
		}
		o[n] = o[len(o)-1]
		r.owner[j] = o[:len(o)-1]
		h := r.holds[i]
		for x, y := range h {
			if int(y) == j {
				h[x] = h[len(h)-1]
				r.holds[i] = h[:len(h)-1]
				break
			}
		}
		return true
	}
	return true
}

func (r *rounding) give(k, j int, amount float64) {
	for n := range r.owner[j] {
		if int(r.owner[j][n].row) == k {
			r.owner[j][n].mass += amount
			return
		}
	}
	r.owner[j] = append(r.owner[j], share{int32(k), amount})
	r.holds[k] = append(r.holds[k], int32(j))
}
