package gub

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

// program is a linear program with all its columns. The last two are in no bound: the one before the last raises all
// rows, at a price, and the last lowers them, for less than it costs to raise them again. So the optimum is finite.
type program struct {
	t, rhs []float64
	bound  []int
	a      [][]float64 // by column, then row
	rows   int
}

const (
	valueTol = 1e-11
	slackTol = 1e-11
)

// draw draws a program by functions that return a number from -1 to 1, and an integer from 0 to n - 1.
func draw(rows, bounds int, number func() float64, intn func(n int) int) *program {
	p := &program{rows: rows}
	add := func(bound int, t float64, coefficient func() float64) {
		col := make([]float64, rows)
		for j := range col {
			col[j] = coefficient()
		}
		p.t, p.bound, p.a = append(p.t, t), append(p.bound, bound), append(p.a, col)
	}
	for b := range bounds {
		p.rhs = append(p.rhs, 0.25+math.Abs(number()))
		for range 1 + intn(7) {
			add(b, number(), number)
		}
	}
	add(NoBound, -3, func() float64 { return 1.5 + number()/2 })
	add(NoBound, 0.25, func() float64 { return -0.75 + number()/4 })
	return p
}

// random draws numbers that repeat, where whole is set: the bases are degenerate then.
func random(g *numtest.SplitMix64, rows, bounds int, whole bool) *program {
	return draw(rows, bounds, func() float64 {
		if whole {
			return float64(g.Intn(5)-2) / 2
		}
		return 2*g.Float64() - 1
	}, g.Intn)
}

// offer offers a column.
func (p *program) offer(s *Simplex, c int) *Column {
	return s.Offer(c, p.bound[c], p.t[c], func(rows []int, a []float64) {
		for at, j := range rows {
			a[at] = p.a[c][j]
		}
	})
}

// start starts from some columns, and returns the objective of their values; feasible says whether these violate no row.
func (p *program) start(t fataler, counts *Counts, intn func(n int) int) (s *Simplex, objective float64, feasible bool) {
	s = New(p.rows, p.rhs, valueTol, slackTol, counts)
	y := make([]float64, p.rows)
	for b, rhs := range p.rhs {
		var list []int
		for c, bound := range p.bound {
			if bound == b && (len(list) == 0 || intn(2) == 0) {
				list = append(list, c)
			}
		}
		for _, c := range list {
			x := rhs / float64(len(list))
			p.offer(s, c).Value = x
			objective += x * p.t[c]
			for j := range y {
				y[j] += x * p.a[c][j]
			}
		}
	}
	if !s.Start(p.offer(s, len(p.t)-2)) {
		t.Fatalf("no start of %+v", p)
	}
	return s, objective, slices.Min(y) >= 0
}

type fataler interface{ Fatalf(string, ...any) }

// solve offers all columns until none can enter, and calls see after every pivot. It returns how often Enter found the
// inverse wanting.
func (p *program) solve(t fataler, s *Simplex, see func(e Entry)) (retries int) {
	refused := make([]bool, p.rows)
	for pivots := 1; pivots > 0; {
		pivots = 0
		clear(refused)
		if !s.Refresh() {
			t.Fatalf("the basis of %+v is beyond repair", p)
		}
		for c := range p.t {
			p.offer(s, c)
		}
		for {
			e, found := s.Price(func(row int) bool { return !refused[row] })
			if !found {
				break
			}
			switch s.Enter(e) {
			case Pivoted:
				if pivots++; pivots > 1000 {
					t.Fatalf("no end of %+v", p)
				}
				see(e)
			case Rejected:
				if e.Column == nil {
					refused[e.Row] = true
				}
			case Retry:
				retries++
			case Broken:
				t.Fatalf("no inverse for %+v", p)
			}
		}
		s.Withdraw()
		if pivots == 0 && !s.Fresh() { // make sure that it is not rounding that says so
			if !s.Refactor() {
				t.Fatalf("no inverse for %+v", p)
			}
			pivots = 1
		}
	}
	return retries
}

// dense is the optimum by gonum's simplex of the whole matrix.
func (p *program) dense() (float64, error) {
	m, n := len(p.rhs)+p.rows, len(p.t)+p.rows
	c, b, a := make([]float64, n), make([]float64, m), mat.NewDense(m, n, nil)
	copy(b, p.rhs)
	for k, t := range p.t {
		c[k] = -t
		if p.bound[k] != NoBound {
			a.Set(p.bound[k], k, 1)
		}
		for j, x := range p.a[k] {
			a.Set(len(p.rhs)+j, k, x)
		}
	}
	for j := range p.rows {
		a.Set(len(p.rhs)+j, len(p.t)+j, -1)
	}
	value, _, err := lp.Simplex(c, a, b, 1e-12, nil)
	return -value, err
}

// TestDense: the optimum is that of gonum's simplex of the whole matrix.
func TestDense(t *testing.T) {
	const tol = 1e-9 // programs of this size have bases of a condition up to some thousands
	g := numtest.NewSplitMix64(35)
	compared, cases := 0, numtest.Cases(300, 3000)
	for n := range cases {
		p := random(g, 1+g.Intn(9), 1+g.Intn(5), n%2 == 0)
		s, _, _ := p.start(t, new(Counts), g.Intn)
		p.solve(t, s, func(Entry) {})
		want, err := p.dense()
		if err != nil { // it gives up on some bases that are degenerate
			continue
		}
		if compared++; !(math.Abs(s.Objective()-want) <= tol) {
			t.Fatalf("objective %v of %+v, want %v", s.Objective(), p, want)
		}
	}
	if compared < cases*3/4 {
		t.Errorf("%d of %d compared: the test tests little", compared, cases)
	}
}

// TestOptimal: at the end the values are feasible, the multipliers are, and both have the same objective, which proves
// that both are optimal. The objective never falls, from that of the values given on, if they are feasible.
func TestOptimal(t *testing.T) {
	const tol = 1e-9
	rapid.Check(t, func(t *rapid.T) {
		number := func() float64 {
			if rapid.Bool().Draw(t, "whole") {
				return float64(rapid.IntRange(-2, 2).Draw(t, "halves")) / 2
			}
			return rapid.Float64Range(-1, 1).Draw(t, "number")
		}
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		p := draw(1+intn(6), 1+intn(4), number, intn)
		s, before, feasible := p.start(t, new(Counts), intn)
		if feasible && s.Objective() < before-tol {
			t.Fatalf("the start has the objective %v, the values given have %v", s.Objective(), before)
		}
		before = s.Objective()
		p.solve(t, s, func(Entry) {
			if now := s.Objective(); now < before-tol {
				t.Fatalf("the objective falls from %v to %v", before, now)
			}
			before = s.Objective()
		})
		p.check(t, s, tol)
	})
}

// check checks the proof that a basis is optimal, from the coefficients as given.
func (p *program) check(t fataler, s *Simplex, tol float64) {
	sums, y, objective := make([]float64, len(p.rhs)), make([]float64, p.rows), 0.0
	for c := range s.Columns {
		if c.Value < -tol {
			t.Fatalf("column %d has the value %v", c.Label, c.Value)
		}
		objective += c.Value * p.t[c.Label]
		if c.Bound != NoBound {
			sums[c.Bound] += c.Value
		}
		for j := range y {
			y[j] += c.Value * p.a[c.Label][j]
		}
	}
	for b, rhs := range p.rhs {
		if !(math.Abs(sums[b]-rhs) <= tol) {
			t.Fatalf("bound %d has the sum %v, want %v", b, sums[b], rhs)
		}
	}
	if slices.Min(y) < -tol {
		t.Fatalf("slacks %v", y)
	}
	m := make([]float64, p.rows)
	for j, x := range s.Multipliers {
		if m[j] = x; x < -tol {
			t.Fatalf("row %d has the multiplier %v", j, x)
		}
	}
	prices := slices.Repeat([]float64{math.Inf(-1)}, len(p.rhs))
	for c, sum := range p.t {
		for j, x := range m {
			sum += x * p.a[c][j]
		}
		if bound := p.bound[c]; bound != NoBound {
			prices[bound] = max(prices[bound], sum)
		} else if sum > tol {
			t.Fatalf("the free column %d has the reduced cost %v", c, sum)
		}
	}
	dual := 0.0
	for b, price := range prices {
		dual += p.rhs[b] * price
		if !(math.Abs(price-s.BoundPrice(b)) <= tol) {
			t.Fatalf("bound %d has the price %v, want %v", b, s.BoundPrice(b), price)
		}
	}
	if !(math.Abs(dual-objective) <= tol) || !(math.Abs(s.Objective()-objective) <= tol) {
		t.Fatalf("objective %v (%v by Objective), dual %v", objective, s.Objective(), dual)
	}
}

// state is what a pivot updates, and what recompute finds from scratch.
type state struct {
	objective, defect float64
	m, y              []float64 // by row
}

func (s *Simplex) state() state {
	n := len(s.nonkey)
	st := state{objective: s.Objective(), m: make([]float64, len(s.rows)), y: make([]float64, len(s.rows))}
	for p, j := range s.rows {
		if p < n {
			st.m[j] = s.m[p]
		} else {
			st.y[j] = s.y[p]
		}
	}
	inv := s.inv.dense()
	for r := range n {
		for c := range n {
			sum := 0.0
			for d, col := range s.nonkey {
				sum += s.reduced(col, r) * inv[d][c]
			}
			if r == c {
				sum--
			}
			st.defect = max(st.defect, math.Abs(sum))
		}
	}
	return st
}

func far(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}

// TestExchange checks every pivot of whole runs: the inverse is one, and values and multipliers agree with those
// computed from scratch, for every kind of entering and leaving variable.
func TestExchange(t *testing.T) {
	const tol = 1e-7 // what pivots on small matrices of ordinary condition lose
	g := numtest.NewSplitMix64(7)
	type kind struct{ slack, grows, shrinks bool } // whether a slack enters, and what becomes of J
	seen := map[kind]int{}
	for n := range numtest.Cases(200, 2000) {
		p := random(g, 1+g.Intn(20), 1+g.Intn(6), n%2 == 0)
		s, _, _ := p.start(t, new(Counts), g.Intn)
		size := len(s.nonkey)
		p.solve(t, s, func(e Entry) {
			seen[kind{e.Column == nil, len(s.nonkey) > size, len(s.nonkey) < size}]++
			size = len(s.nonkey)
			p.checkBasis(t, s)
			before := s.state()
			if !s.recompute() {
				t.Fatal("recompute fails")
			}
			after := s.state()
			scale := 1 + after.defect*1e6
			if before.defect > tol || far(before.m, after.m) > tol*scale || far(before.y, after.y) > tol ||
				math.Abs(before.objective-after.objective) > tol {
				t.Fatalf("entry %+v: inverse off by %.2g, m by %.2g, y by %.2g, objective by %.2g", e, before.defect,
					far(before.m, after.m), far(before.y, after.y), before.objective-after.objective)
			}
		})
	}
	for _, k := range []kind{{}, {grows: true}, {slack: true}, {slack: true, shrinks: true}} {
		if seen[k] < 20 {
			t.Errorf("%d pivots of kind %+v", seen[k], k)
		}
	}
}

// checkBasis checks what belongs together.
func (p *program) checkBasis(t *testing.T, s *Simplex) {
	t.Helper()
	for bound, key := range s.keys {
		if key.Bound != bound {
			t.Fatalf("the key of bound %d is in bound %d", bound, key.Bound)
		}
	}
	rows := slices.Clone(s.rows)
	slices.Sort(rows)
	for j, at := range rows {
		if at != j {
			t.Fatalf("positions %v", s.rows)
		}
	}
	if n := len(s.nonkey); n != len(s.m) || n != s.inv.n {
		t.Fatalf("sizes %d, %d, %d", n, len(s.m), s.inv.n)
	}
	for c, col := range s.nonkey {
		if &col.a[0] != &s.part(c)[0] {
			t.Fatalf("column %d is not in its place", c)
		}
	}
	for col := range s.Columns {
		for at, j := range s.rows {
			if col.a[at] != p.a[col.Label][j] {
				t.Fatal("the coefficients of a column are out of order")
			}
		}
	}
}

// TestBrokenInverse spoils the inverse again and again: the checks of the pivots notice, and the answer is none the
// worse.
func TestBrokenInverse(t *testing.T) {
	g := numtest.NewSplitMix64(12)
	noticed := 0
	spoiled := 0
	for n := range 60 {
		p := random(g, 8+g.Intn(8), 1+g.Intn(4), n%2 == 0)
		s, _, _ := p.start(t, new(Counts), g.Intn)
		pivots := 0
		noticed += p.solve(t, s, func(Entry) {
			if pivots++; pivots%4 == 0 && len(s.nonkey) > 1 {
				spoiled++
				row := s.inv.dense()[0]
				for r := range row {
					row[r] *= 1.5
				}
				s.inv.setRow(0, row)
			}
		})
		p.check(t, s, 1e-9)
	}
	if noticed < spoiled/2 {
		t.Errorf("noticed %d of %d times", noticed, spoiled)
	}
}

// TestUnbounded: a column that raises the objective without an end is rejected.
func TestUnbounded(t *testing.T) {
	one := func(_ []int, a []float64) { a[0] = 1 }
	s := New(1, []float64{1}, valueTol, slackTol, new(Counts))
	s.Offer(0, 0, 1, one)
	if !s.Start(s.Offer(1, NoBound, -1, one)) {
		t.Fatal("no start")
	}
	s.Offer(2, NoBound, 1, one)
	e, found := s.Price(func(int) bool { return true })
	if !found || e.Column.Label != 2 || s.Enter(e) != Rejected {
		t.Errorf("%+v, %v", e, found)
	}
	if _, found = s.Price(func(int) bool { return true }); found {
		t.Error("it is offered again")
	}
}

// TestPrice: what enters has the largest reduced cost of all that may, by its definition.
func TestPrice(t *testing.T) {
	const tol = 1e-12 // sums of a dozen products of the order of 1
	g := numtest.NewSplitMix64(41)
	slacks := 0
	for n := range 60 {
		p := random(g, 1+g.Intn(9), 1+g.Intn(5), n%2 == 0)
		s, _, _ := p.start(t, new(Counts), g.Intn)
		for range 15 {
			for c := range p.t {
				p.offer(s, c)
			}
			barred := g.Intn(p.rows)
			m, most := make([]float64, p.rows), 0.0
			for j, x := range s.Multipliers {
				if m[j] = x; j != barred {
					most = max(most, -x)
				}
			}
			for c, sum := range p.t {
				for j, x := range m {
					sum += x * p.a[c][j]
				}
				most = max(most, sum-s.BoundPrice(p.bound[c]))
			}
			e, found := s.Price(func(row int) bool { return row != barred })
			if found != (most > Rounding) && most > tol || found && !(math.Abs(e.Reduced-most) <= tol*(1+most)) {
				t.Fatalf("%+v, %v; the largest reduced cost is %v", e, found, most)
			}
			if !found {
				break
			}
			if e.Column == nil {
				if slacks++; e.Row == barred || m[e.Row] != -e.Reduced {
					t.Fatalf("slack %+v of the multipliers %v", e, m)
				}
			}
			s.Enter(e)
			s.Withdraw()
		}
	}
	if slacks < 20 {
		t.Errorf("%d slacks", slacks)
	}
}

// TestKeys: the column with the largest value of a bound becomes its key, with what the others leave.
func TestKeys(t *testing.T) {
	s := New(1, []float64{1}, valueTol, slackTol, new(Counts))
	for label, x := range []float64{0.2, 0.5, 0.1} {
		s.Offer(label, 0, 0, func(_ []int, a []float64) { a[0] = 1 }).Value = x
	}
	s.chooseKeys()
	s.computeKeys()
	if key := s.Key(0); key.Label != 1 || math.Abs(key.Value-0.7) > 1e-15 || len(s.offered) != 2 {
		t.Errorf("key %+v, %d offered", key, len(s.offered))
	}
}

// TestDesperate: a pivot of 1e-8 has few digits that are right. It is rejected, unless nothing else is left.
func TestDesperate(t *testing.T) {
	for _, desperate := range []bool{false, true} {
		s := New(1, []float64{1}, valueTol, slackTol, new(Counts))
		write := func(x float64) func([]int, []float64) { return func(_ []int, a []float64) { a[0] = x } }
		s.Offer(0, 0, 0, write(1))
		if !s.Start(s.Offer(1, NoBound, -1, write(1))) {
			t.Fatal("no start")
		}
		if changed := s.Desperate(desperate); changed != desperate {
			t.Errorf("changed: %v", changed)
		}
		s.Offer(2, NoBound, 1, write(-1e-8))
		e, _ := s.Price(func(int) bool { return true })
		if out := s.Enter(e); (out == Pivoted) != desperate || (out == Rejected) == desperate {
			t.Errorf("desperate %v: %v", desperate, out)
		}
	}
}

// TestRefresh: values that are far below zero, and an inverse that is old, are computed again.
func TestRefresh(t *testing.T) {
	g := numtest.NewSplitMix64(43)
	repaired := 0
	for range 40 {
		p := random(g, 6, 3, false)
		var counts Counts
		s, _, _ := p.start(t, &counts, g.Intn)
		p.solve(t, s, func(Entry) {
			if s.Key(0).Value -= 2; s.Feasible() {
				t.Fatal("it counts as feasible")
			}
			if !s.Refresh() || !s.Feasible() || !s.Fresh() {
				t.Fatal("it is not repaired")
			}
			repaired++
		})
		p.check(t, s, 1e-9)
		s.oldValues = recomputeEvery + 1
		if before := counts; !s.Refresh() || counts.Recomputes != before.Recomputes+1 || counts.Refactors != before.Refactors {
			t.Fatalf("old values: %+v after %+v", counts, before)
		}
		s.oldInverse = refactorEvery + 1
		if before := counts; !s.Refresh() || counts.Refactors != before.Refactors+1 {
			t.Fatalf("an old inverse: %+v after %+v", counts, before)
		}
		s.Key(0).Value -= 2 // and no pivot to blame
		if s.Refresh() {
			t.Fatal("a basis without a pivot is repaired")
		}
	}
	if repaired < 40 {
		t.Errorf("%d bases repaired", repaired)
	}
}
