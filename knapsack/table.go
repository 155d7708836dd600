package knapsack

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/wpm-go/wpm/cost"
)

// PhiError bounds the relative error of every phi that this package computes, for the box as given:
// 16 roundings of 2^-53. Products that underflow add at most kv times the smallest subnormal.
const PhiError = 0x1p-49

// Table is a cost matrix with the columns of every row in order of cost. It is immutable and safe for
// concurrent use. It is a cost.Matrix itself, so that the work of sorting can be handed on: New returns a
// Table it is given. The zero Table has no rows; make one with New.
type Table struct {
	k, kv   int
	data    []float64 // row-major costs
	order   []int32   // row-major: the columns of each row by cost, then index
	maxCost float64
	spread  float64 // R = max_i (max_j C_ij - min_j C_ij)

	mu   sync.Mutex
	idle []*scratch // as many as there were calls at once; a sync.Pool would forget them and allocate anew
}

// New sorts the rows of c. The costs of a *cost.Dense are kept by reference and must not change
// afterwards; any other matrix is copied. It returns ErrShape, ErrNotFinite or ErrNegative, together with
// the error of package cost that says where.
func New(c cost.Matrix) (*Table, error) {
	switch c := c.(type) {
	case nil:
		return nil, fmt.Errorf("%w: nil cost matrix", ErrShape)
	case *Table:
		if c == nil || c.k == 0 {
			return nil, fmt.Errorf("%w: empty table", ErrShape)
		}
		return c, nil
	}
	dense, err := cost.Materialize(c)
	if err != nil {
		return nil, costError(err)
	}
	k, kv := dense.Dims()
	if kv > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d columns, at most %d", ErrShape, kv, math.MaxInt32)
	}
	t := &Table{k: k, kv: kv, data: dense.Data, order: make([]int32, k*kv)}
	t.sortAll()
	for i := range k {
		row, order := t.Row(i, nil), t.Order(i)
		low, high := row[order[0]], row[order[kv-1]]
		t.maxCost = max(t.maxCost, high)
		t.spread = max(t.spread, high-low)
	}
	return t, nil
}

// Dims returns the numbers of rows and columns.
func (t *Table) Dims() (k, kv int) {
	if t == nil {
		return 0, 0
	}
	return t.k, t.kv
}

// Row returns the costs of row i, a view; buf is not used. A row that does not exist is nil.
func (t *Table) Row(i int, _ []float64) []float64 {
	if t == nil || i < 0 || i >= t.k {
		return nil
	}
	return t.data[i*t.kv : (i+1)*t.kv : (i+1)*t.kv]
}

// Order returns the columns of row i by increasing cost, ties by lowest index. It is a view and must not
// be modified. A row that does not exist is nil.
func (t *Table) Order(i int) []int32 {
	if t == nil || i < 0 || i >= t.k {
		return nil
	}
	return t.order[i*t.kv : (i+1)*t.kv : (i+1)*t.kv]
}

// MaxCost returns the largest cost.
func (t *Table) MaxCost() float64 { return t.maxCost }

// Range returns R = max_i (max_j C_ij - min_j C_ij), the Lipschitz scale of every phi_i.
func (t *Table) Range() float64 { return t.spread }

// Check reports whether lo and hi form a box that the other methods accept: the right length, finite,
// 0 <= lo <= hi, and a probability vector between them (up to the rounding of the package comment).
func (t *Table) Check(lo, hi []float64) error {
	s := t.take()
	defer t.give(s)
	return s.box.check(t.columns(), lo, hi)
}

// Phi returns phi_i and the threshold tau_i. It returns NaN, NaN for a row that does not exist or a box
// that Check refuses.
func (t *Table) Phi(i int, lo, hi []float64) (phi, tau float64) {
	s := t.take()
	defer t.give(s)
	if t.Row(i, nil) == nil || s.box.check(t.kv, lo, hi) != nil {
		return math.NaN(), math.NaN()
	}
	return t.eval(i, &s.box)
}

// Max returns f = max_i phi_i and the lowest row that attains it. It returns NaN, -1 for a box that
// Check refuses.
func (t *Table) Max(lo, hi []float64) (f float64, i int) {
	s := t.take()
	defer t.give(s)
	if s.box.check(t.columns(), lo, hi) != nil {
		return math.NaN(), -1
	}
	if cap(s.phi) < t.k {
		s.phi = make([]float64, t.k)
	}
	s.phi = s.phi[:t.k]
	s.evalAll(t, s.phi, nil)
	for row, phi := range s.phi {
		if phi > s.phi[i] {
			i = row
		}
	}
	return s.phi[i], i
}

// All fills phi and tau for every row; a nil phi or tau is left out. On error nothing is written.
func (t *Table) All(lo, hi, phi, tau []float64) error {
	s := t.take()
	defer t.give(s)
	if err := s.box.check(t.columns(), lo, hi); err != nil {
		return err
	}
	if (phi != nil && len(phi) != t.k) || (tau != nil && len(tau) != t.k) {
		return fmt.Errorf("%w: len(phi) = %d, len(tau) = %d, want %d rows", ErrShape, len(phi), len(tau), t.k)
	}
	s.evalAll(t, phi, tau)
	return nil
}

// Subgradient fills dst with g_j = a (C_ij - tau)_+ - b (tau - C_ij)_+. For lo = a*m, hi = b*m and
// tau = tau_i(m), g is a subgradient of phi_i at m, and phi_i(m) = tau + g.m. a and b are finite; a product beyond
// the range of float64 is infinite. dst is filled with NaN if the row does not exist or len(dst) is not kv.
func (t *Table) Subgradient(i int, tau, a, b float64, dst []float64) {
	row := t.Row(i, nil)
	if len(row) != len(dst) || row == nil {
		for j := range dst {
			dst[j] = math.NaN()
		}
		return
	}
	slopes := [2]float64{a, b}
	dst = dst[:len(row)]
	for j, c := range row {
		d := c - tau // never -0
		// Where the sign changes is not for a branch to guess.
		dst[j] = slopes[math.Float64bits(d)>>63] * d
	}
}

// Cut returns eta + sum_j lo_j (C_ij - eta)_+ - hi_j (eta - C_ij)_+: for every eta a lower bound on
// phi_i(lo, hi), which is attained at eta = tau_i. Its error is that of a sum of terms of both signs. NaN
// for a row that does not exist or slices of the wrong length.
func (t *Table) Cut(i int, eta float64, lo, hi []float64) float64 {
	row := t.Row(i, nil)
	if row == nil || len(lo) != t.kv || len(hi) != t.kv {
		return math.NaN()
	}
	sum := double{hi: eta}
	for j, c := range row {
		switch {
		case c > eta:
			sum = sum.add(lo[j] * (c - eta))
		case c < eta:
			sum = sum.add(-hi[j] * (eta - c))
		}
	}
	return sum.value()
}

// Project writes the projection of the Dirac at input i to dst, which has kv entries: a minimiser q of
// phi_i. For a feasible box lo <= q <= hi holds bit for bit and the exact sum of q is within kv * 2^-52 of
// 1. On error dst is unchanged.
func (t *Table) Project(i int, lo, hi, dst []float64) error {
	s := t.take()
	defer t.give(s)
	b := &s.box
	if err := b.check(t.columns(), lo, hi); err != nil {
		return err
	}
	if i < 0 || i >= t.k {
		return fmt.Errorf("%w: row %d of %d", ErrShape, i, t.k)
	}
	if len(dst) != t.kv {
		return fmt.Errorf("%w: len(dst) = %d, want %d", ErrShape, len(dst), t.kv)
	}
	if b.kind != inside {
		for j, x := range b.point {
			dst[j] = x / b.mass
		}
		return nil
	}
	row, order := t.Row(i, nil), t.Order(i)
	end, rest, _ := scan(row, order, b)
	copy(dst, lo)
	for _, j := range order[:end] {
		dst[j] = hi[j]
	}
	if end < t.kv {
		// lo + rest is exact up to one rounding of a number of at most 1, since both the rooms and the rest
		// are exact to second order: this is where the sum of q gets its 2^-53.
		j := order[end]
		q := rest.add(lo[j]).value()
		dst[j] = min(max(q, lo[j]), hi[j])
	}
	return nil
}

func (t *Table) columns() int {
	_, kv := t.Dims()
	return kv
}

func (t *Table) take() *scratch {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if last := len(t.idle) - 1; last >= 0 {
			s := t.idle[last]
			t.idle = t.idle[:last]
			return s
		}
	}
	return newScratch()
}

func (t *Table) give(s *scratch) {
	if t == nil {
		return
	}
	s.forget() // do not keep the caller's memory alive
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = append(t.idle, s)
}

// eval returns phi_i and tau_i for a checked box.
func (t *Table) eval(i int, b *box) (phi, tau float64) {
	row, order := t.Row(i, nil), t.Order(i)
	low, high := row[order[0]], row[order[t.kv-1]]
	phi, tau = evalRow(row, order, b)
	if math.IsNaN(phi) || math.IsInf(phi, 0) {
		// Costs within a factor 2 of the largest float64 overflow in the sum; with 2^-10 they do not.
		const scale = 0x1p-10
		small := make([]float64, t.kv)
		for j, c := range row {
			small[j] = c * scale
		}
		phi, _ = evalRow(small, order, b)
		phi /= scale
	}
	// A mean of the costs of the row, whatever the rounding said.
	return min(max(phi, low), high), tau
}

func evalRow(row []float64, order []int32, b *box) (phi, tau float64) {
	switch b.kind {
	case atLow:
		return dot(row, b.lo).value() / b.mass, row[order[0]]
	case atHigh:
		last := len(order) - 1
		for last > 0 && b.hi[order[last]] == 0 {
			last--
		}
		return dot(row, b.hi).value() / b.mass, row[order[last]]
	}
	sum := dot(row, b.lo) // in order, and first: scan then finds the row in the cache
	end, rest, fill := scan(row, order, b)
	if end == len(order) { // full but for a rounding of second order
		end--
		for end > 0 && b.room[order[end]].size == 0 {
			end--
		}
		rest = double{}
	}
	tau = row[order[end]]
	sum = double{sum.hi, sum.lo + fill.lo}.add(fill.hi)
	return sum.add(tau * rest.value()).value(), tau
}

// scanBlock is the number of columns that scan fills at a time.
const scanBlock = 8

// scan hands out the rest of the mass in the order of the row. It returns the position in order of the
// column where the rest ends (len(order) if rounding let it survive every column), what is left for that
// column, and the cost of the columns before it: at most eight roundings a term (the room, the product, six
// additions), and of second order beyond.
func scan(row []float64, order []int32, b *box) (end int, rest, fill double) {
	left, rooms := b.rest, b.room
	row = row[:len(rooms)]
	for ; end+scanBlock <= len(order); end += scanBlock {
		block := (*[scanBlock]int32)(order[end:])
		var hi, lo, carry uint64
		var d0, d1 float64
		for at := 0; at < scanBlock; at += 2 {
			j := uint(uint32(block[at]))
			r := &rooms[j]
			lo, carry = bits.Add64(lo, r.fixed.lo, 0)
			hi, _ = bits.Add64(hi, r.fixed.hi, carry)
			d0 += float64(row[j] * r.size)
			j = uint(uint32(block[at+1]))
			r = &rooms[j]
			lo, carry = bits.Add64(lo, r.fixed.lo, 0)
			hi, _ = bits.Add64(hi, r.fixed.hi, carry)
			d1 += float64(row[j] * r.size)
		}
		taken := fixed{hi, lo}
		if !taken.less(left) {
			break // it ends in this block
		}
		left = left.sub(taken)
		fill = fill.add(d0 + d1)
	}
	var sum float64
	for ; end < len(order); end++ {
		j := order[end]
		r := &rooms[j]
		if !r.fixed.less(left) {
			break
		}
		left = left.sub(r.fixed)
		sum += float64(row[j] * r.size)
	}
	return end, left.double(b.unit), fill.add(sum)
}
