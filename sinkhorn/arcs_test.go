package sinkhorn

import (
	"context"
	"math"
	"slices"
	"testing"
)

// checkRounding checks what holds between paths: who holds what, what is lacking where, and that every way between two nodes is the cheapest there is.
func checkRounding(t *testing.T, s *rowSolver) {
	t.Helper()
	const same = 1e-13 // sums of some hundred masses below 1, moved a hundred times
	r := &s.round
	m := r.m
	over := make([]float64, m+1)
	over[m] = 1
	for i, x := range s.in.mass {
		over[i] = -x
	}
	held := make([][]float64, m)
	for i := range held {
		held[i] = make([]float64, r.n)
		if len(slices.Compact(slices.Sorted(slices.Values(r.holds[i])))) != len(r.holds[i]) {
			t.Fatalf("row %d holds a column twice: %v", i, r.holds[i])
		}
	}
	for j, q := range r.q {
		if !(r.lo[j] <= q && q <= r.hi[j]) {
			t.Fatalf("column %d: %v, outside [%v, %v]", j, q, r.lo[j], r.hi[j])
		}
		over[m] -= q
		for _, o := range r.owner[j] {
			held[o.row][j] = o.mass
			over[o.row] += o.mass
			q -= o.mass
			if !(o.mass > 0) || r.held(int(o.row), j) != o.mass || !slices.Contains(r.holds[o.row], int32(j)) {
				t.Fatalf("row %d holds %v of column %d: %v", o.row, o.mass, j, r.holds[o.row])
			}
		}
		if !(math.Abs(q) <= same) {
			t.Fatalf("column %d: %v is held by nobody", j, q)
		}
	}
	for k, x := range over {
		if !(math.Abs(x-r.over[k]) <= same) {
			t.Fatalf("node %d: %v too much, and %v is said", k, x, r.over[k])
		}
	}
	for i := range m + 1 {
		for k := range m + 1 {
			if i == k {
				continue
			}
			cost := func(j int) float64 { // of moving mass of column j from i to k
				c := r.c[j*m : (j+1)*m]
				switch {
				case i == m && r.q[j] < r.hi[j]:
					return c[k]
				case i == m || r.held(i, j) == 0 || k == m && !(r.q[j] > r.lo[j]):
					return math.Inf(1)
				case k == m:
					return -c[i]
				}
				return c[k] - c[i]
			}
			want := math.Inf(1)
			for j := range r.n {
				want = min(want, cost(j))
			}
			at := i*(m+1) + k
			if r.way[at] != want || math.IsInf(want, 1) != (r.via[at] < 0) || r.via[at] >= 0 && cost(int(r.via[at])) != want {
				t.Fatalf("from %d to %d: %v by column %d, want %v", i, k, r.way[at], r.via[at], want)
			}
		}
	}
}

// TestRounding follows the paths of distributions on few rows one by one: a search raises potentials by the distances from what is too much, by Bellman and Ford, and every
// path leaves ways, masses and shares right. In the end nothing is missing.
func TestRounding(t *testing.T) {
	const same = 1e-12 // distances are sums of up to ten costs
	g := newGenerator(31)
	paths := 0
	for n, shape := range [][3]int{{3, 12, 0}, {6, 20, 0}, {9, 40, 1}, {5, 300, 0}, {12, 60, 1}} {
		k := shape[1]
		c, lo, hi := unitSquare(t, g, k, 1, 2)
		if shape[2] > 0 {
			lo, hi = box(g.mass(k), 1.5)
		}
		p, err := NewProjector(c, lo, hi, 1e-2, Settings{Gap: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		u := newUsers(g, 4, shape[0], k)
		for x := range u.source {
			s := rowsOf(t, p, u.source[x], u.support[x])
			_, width := s.start(p)
			s.anneal(context.Background(), width, n%3)
			s.scan()
			copy(s.round.f, s.f)
			s.round.reset(s.in.mass, s.level(), s.b, s.own)
			r := &s.round
			checkRounding(t, s)
			for range 400 {
				m := r.m
				dist := make([]float64, m+1)
				for i, o := range r.over[:m+1] {
					if dist[i] = math.Inf(1); o > roundNoise {
						dist[i] = 0
					}
				}
				before := append([]float64(nil), r.f[:m+1]...)
				for range m + 1 {
					for i := range m + 1 {
						for l := range m + 1 {
							dist[l] = min(dist[l], dist[i]+max(0, r.way[i*(m+1)+l]+before[i]-before[l]))
						}
					}
				}
				if !r.search() {
					break
				}
				top := 0.0
				for i, o := range r.over[:m+1] {
					if o < -roundNoise {
						top = max(top, dist[i])
						if !slices.Contains(r.ends, int32(i)) {
							t.Errorf("node %d lacks %v and is not in %v", i, -o, r.ends)
						}
					}
				}
				for i, f := range r.f[:m+1] {
					if want := before[i] + min(dist[i], top); !(math.Abs(f-want) <= same) {
						t.Fatalf("the potential of node %d of %d was %v and is %v, want %v", i, m, before[i], f, want)
					}
				}
				for _, end := range r.ends {
					r.budget = math.Inf(1)
					for was := r.over[end]; was < -roundNoise && r.augment(int(end), 0.1); was = r.over[end] {
						checkRounding(t, s)
						paths++
						if !(r.over[end] > was) {
							t.Fatalf("node %d lacked %v and lacks %v", end, -was, -r.over[end])
						}
					}
				}
			}
			for i, o := range r.over[:r.m+1] {
				if !(math.Abs(o) <= 1e-12) { // roundNoise for each of few paths
					t.Errorf("shape %v: node %d is off by %v in the end", shape, i, o)
				}
			}
		}
	}
	if paths < 200 {
		t.Errorf("%d paths", paths)
	}
}

// TestPathsInBudget: a path that has become longer than when it was found is taken as long as what that costs is within the budget, which it then
// lessens, and not if an arc is longer by more than the slack. None is longer if there is no slack.
func TestPathsInBudget(t *testing.T) {
	g := newGenerator(32)
	c, lo, hi := unitSquare(t, g, 60, 1, 1)
	p, err := NewProjector(c, lo, hi, 1e-2, Settings{Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	const same = 1e-14 // what was moved is the difference of two sums
	u := newUsers(g, 12, 15, 60)
	late := 0
	for x := range u.source {
		for _, slack := range []float64{0, 0.02, 1} {
			s := rowsOf(t, p, u.source[x], u.support[x])
			s.start(p)
			s.scan()
			copy(s.round.f, s.f)
			s.round.reset(s.in.mass, s.level(), s.b, s.own)
			r := &s.round
			r.budget = 0.01
			for range 40 {
				if !r.search() {
					break
				}
				for _, end := range r.ends {
					more, least := 0.0, math.Inf(1)
					start := int(end)
					var worst float64
					for r.prev[start] >= 0 {
						from := int(r.prev[start])
						at := from*(r.m+1) + start
						more += r.way[at] - r.arc[start]
						worst = max(worst, more)
						start = from
					}
					least = min(-r.over[end], r.over[start])
					was, lacking := r.budget, r.over[end]
					if !r.augment(int(end), slack) {
						if least > roundNoise && more == 0 {
							t.Errorf("slack %v: a path for %v was not taken", slack, least)
						}
						continue
					}
					if more > 0 {
						late++
					}
					moved := r.over[end] - lacking
					if !(worst <= slack && moved <= least+same) || !(math.Abs(r.budget-(was-moved*more)) <= same) || r.budget < 0 {
						t.Errorf("slack %v: %v was moved, of %v, along a path longer by %v, and the budget of %v is %v", slack, moved, least, more, was, r.budget)
					}
				}
			}
		}
	}
	if late == 0 {
		t.Error("no path was longer than when it was found")
	}
}

// TestSurvey: the tables of a Projector are what sorting each row by cost says.
func TestSurvey(t *testing.T) {
	const same = 1e-12 // room is added up in another order
	g := newGenerator(33)
	for _, kv := range []int{5, 40, 60, 300} {
		c, lo, hi := unitSquare(t, g, kv, 1, 2)
		if kv == 60 { // many are equal
			for e, x := range c.Data {
				c.Data[e] = math.Round(8*x) / 8
			}
		}
		if kv == 40 {
			for j := range lo {
				if hi[j] *= 1.5; j%5 == 2 {
					lo[j], hi[j] = 0, 0
				}
			}
		}
		p, err := NewProjector(c, lo, hi, 1e-2, Settings{Gap: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		for i := range kv {
			var live []int // in the order of their costs, and by number among those
			pos := map[int]int32{}
			var all, low float64
			for j := range kv {
				low += lo[j]
				if hi[j] > 0 {
					pos[j] = int32(len(live))
					live = append(live, j)
					all += hi[j] - lo[j]
				}
			}
			row := c.Data[i*kv : (i+1)*kv]
			slices.SortStableFunc(live, func(a, b int) int {
				if row[a] != row[b] {
					if row[a] < row[b] {
						return -1
					}
					return 1
				}
				return 0
			})
			if p.nearest != min(len(live), nearest) {
				t.Fatalf("%d columns near each row", p.nearest)
			}
			for l := range p.nearest {
				if got := p.near[i*p.nearest+l]; got != pos[live[l]] {
					t.Fatalf("%d columns, row %d: column %d is number %d, want %d", kv, i, got, l, pos[live[l]])
				}
			}
			if least, most := row[live[0]], row[live[len(live)-1]]; p.max[i] != most || p.rng[i] != most-least {
				t.Errorf("row %d: largest cost %v, range %v; want %v above %v", i, p.max[i], p.rng[i], most, least)
			}
			for l := range radii + 1 {
				// The room of columns nearer than the one named is less than l parts of 32, and from the next one on it is enough.
				got := p.radius[i*(radii+1)+l]
				part := all * float64(l) / radii
				found := false
				var nearer, before float64
				for n, j := range live { // one of those at that cost
					if row[j] == got && (n == 0 || before <= part+same*all) && (nearer >= part-same*all || n == len(live)-1) {
						found = true
					}
					before = nearer
					nearer += hi[j] - lo[j]
				}
				if !found {
					t.Errorf("%d columns, row %d: radius %d is %v, and there is not room for %v", kv, i, l, got, part)
				}
			}
			// A row alone starts at the cost up to which it fills the room around it.
			s := rowsOf(t, p, []float64{1}, []int{i})
			size, width := s.start(p)
			part := (1 - low) / all * radii
			l := min(int(part), radii-1)
			from, to := p.radius[i*(radii+1)+l], p.radius[i*(radii+1)+l+1]
			want := from + min(1, part-float64(l))*(to-from)
			if !(math.Abs(size-want) <= same) || s.f[0] != size || !(math.Abs(width-(want-row[live[0]])) <= same) {
				t.Errorf("%d columns, row %d: starts at %v, %v above the least, want %v", kv, i, size, width, want)
			}
			p.give(s)
		}
	}
}

// TestThreshold: columns below the threshold full and those above it empty leave the rest to the columns on it.
func TestThreshold(t *testing.T) {
	const same = 1e-12
	g := newGenerator(34)
	for n := range 300 {
		kv := 1 + n%40
		b := make([]float64, kv)
		for j := range b {
			if b[j] = g.float(); n%3 == 0 {
				b[j] = float64(g.intn(4))
			}
		}
		lo, hi := box(g.mass(kv), []float64{0.3, 3}[n%2])
		x := threshold(b, lo, hi, make([]int32, kv))
		var least, most float64
		on := false
		for j, y := range b {
			switch {
			case y < x:
				least += hi[j]
				most += hi[j]
			case y > x:
				least += lo[j]
				most += lo[j]
			default:
				on = true
				least += lo[j]
				most += hi[j]
			}
		}
		if !on || !(least <= 1+same && most >= 1-same) {
			t.Errorf("%d columns: at %v the mass is between %v and %v", kv, x, least, most)
		}
	}
}

// TestAnneal: a step of the smoothed problem is Newton's, clipped, with the shift that its comment says.
func TestAnneal(t *testing.T) {
	const same = 1e-9 // of a linear system of well-conditioned size
	g := newGenerator(35)
	for n := range 20 {
		c, lo, hi := unitSquare(t, g, 50, 1, 2)
		p, err := NewProjector(c, lo, hi, 1e-2, Settings{Gap: 1e-3})
		if err != nil {
			t.Fatal(err)
		}
		u := newUsers(g, 1, 7, 50)
		s := rowsOf(t, p, u.source[0], u.support[0])
		_, width := s.start(p)
		reg := width * []float64{0.5, 0.2, 0.05}[n%3]
		s.evaluate(reg, true)
		m := s.m
		before, h := append([]float64(nil), s.f...), append([]float64(nil), s.h...)
		var off float64
		grad := make([]float64, m)
		for i, r := range s.r {
			grad[i] = s.in.mass[i] - r
			off += math.Abs(grad[i])
		}
		if !(math.Abs(off-s.smooth.off) <= same) {
			t.Errorf("%v is in the wrong row, and %v is said", off, s.smooth.off)
		}
		sums := append([]float64(nil), s.r...)
		if !s.step(reg) {
			t.Fatal("no step")
		}
		// Where no step was clipped, the equations hold.
		d := make([]float64, m)
		clipped := false
		for i := range d {
			d[i] = (s.f[i] - before[i]) / reg
			if !(math.Abs(d[i]) <= smoothClip+same) {
				t.Errorf("a step of %v", d[i])
			}
			clipped = clipped || math.Abs(d[i]) >= smoothClip-same
		}
		if clipped {
			continue
		}
		for i := range m {
			shift := smoothShift * off
			left := sums[i]*d[i] + (shift*(sums[i]+s.in.mass[i])+1e-12)*d[i]
			for k := range m {
				left += h[max(i, k)*m+min(i, k)] * d[k]
			}
			if !(math.Abs(left-grad[i]) <= same) {
				t.Errorf("number %d: equation %d is %v, want %v", n, i, left, grad[i])
			}
		}
	}
}
