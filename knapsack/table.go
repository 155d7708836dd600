package knapsack

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// PhiError bounds the relative error of every phi that this package computes, for the box as given:
// 16 roundings of 2^-53. Where costs or products are below the normal range, 2^-1022, no relative bound holds: there phi is
// off by some units of the smallest subnormal, 5e-324. Up to about 10 have been seen.
const PhiError = 0x1p-49

// Table is a cost matrix with the columns of every row in order of cost. It is immutable and safe for concurrent use.
// It is itself a cost.Matrix, so the work of sorting can be shared: if New is given a Table, it returns this Table. The
// zero Table has no rows; make one with New.
type Table struct {
	k, kv   int
	data    []float64 // row-major costs
	order   []int32   // row-major: the columns of each row by cost, then index
	maxCost float64
	spread  float64 // R = max_i (max_j C_ij - min_j C_ij)
	ends    []span  // per row

	mu   sync.Mutex
	idle []*scratch // as many as there were calls at once; a sync.Pool would forget them and allocate anew
}

// span is the least and the largest cost of a row.
type span struct{ low, high float64 }

// New sorts the rows of c. The costs of a *cost.Dense are kept by reference and must not change
// afterwards; any other matrix is copied. It returns ErrShape, ErrNotFinite or ErrNegative, together with
// the error of package cost that says where; and ErrNotConverged when ctx ends: no processor reads or sorts more than
// 16 rows after that. A nil ctx never ends.
func New(ctx context.Context, c cost.Matrix) (*Table, error) {
	ctx = wpmerr.Context(ctx)
	switch c := c.(type) {
	case nil:
		return nil, fmt.Errorf("%w: nil cost matrix", wpmerr.ErrShape)
	case *Table:
		if c == nil || c.k == 0 {
			return nil, fmt.Errorf("%w: empty table", wpmerr.ErrShape)
		}
		return c, nil
	}
	dense, err := cost.Materialize(ctx, c)
	if err != nil {
		return nil, err
	}
	k, kv := dense.Dims()
	if kv > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d columns, at most %d", wpmerr.ErrShape, kv, math.MaxInt32)
	}
	t := &Table{k: k, kv: kv, data: dense.Data, order: make([]int32, k*kv), ends: make([]span, k)}
	if err := t.sortAll(ctx); err != nil {
		return nil, fmt.Errorf("%w before the costs were sorted", wpmerr.Ended(ctx))
	}
	for i := range k {
		row, order := t.Row(i, nil), t.Order(i)
		low, high := row[order[0]], row[order[kv-1]]
		t.maxCost = max(t.maxCost, high)
		t.spread = max(t.spread, high-low)
		t.ends[i] = span{low, high}
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
// 0 <= lo <= hi, and a probability vector between them (up to the rounding of the package comment). Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrBox, ErrInfeasible.
func (t *Table) Check(lo, hi []float64) error {
	s := t.acquire()
	defer t.release(s)
	return s.box.check(t.columns(), lo, hi)
}

// Phi returns phi_i and the threshold tau_i. It returns NaN, NaN for a row that does not exist or a box
// that Check refuses.
func (t *Table) Phi(i int, lo, hi []float64) (phi, tau float64) {
	s := t.acquire()
	defer t.release(s)
	if t.Row(i, nil) == nil || s.box.check(t.kv, lo, hi) != nil {
		return math.NaN(), math.NaN()
	}
	return t.eval(i, &s.box)
}

// Max returns f = max_i phi_i and the lowest row that attains it. It returns NaN, -1 for a box that
// Check refuses.
func (t *Table) Max(lo, hi []float64) (f float64, i int) {
	s := t.acquire()
	defer t.release(s)
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

// All fills phi and tau for every row; a nil phi or tau is left out. On error nothing is written. Errors: those of
// Check, and ErrShape for the length of phi or tau.
func (t *Table) All(lo, hi, phi, tau []float64) error {
	s := t.acquire()
	defer t.release(s)
	if err := s.box.check(t.columns(), lo, hi); err != nil {
		return err
	}
	if (phi != nil && len(phi) != t.k) || (tau != nil && len(tau) != t.k) {
		return fmt.Errorf("%w: len(phi) = %d, len(tau) = %d, want %d rows", wpmerr.ErrShape, len(phi), len(tau), t.k)
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
		d := c - tau // -0 for a cost of -0 alone, and then it does not matter which slope
		// Where the sign changes is not for a branch to guess.
		dst[j] = slopes[math.Float64bits(d)>>63] * d
	}
}

// Cut returns eta + sum_j lo_j (C_ij - eta)_+ - hi_j (eta - C_ij)_+. For every eta this is a lower bound on phi_i(lo,
// hi), which is attained at eta = tau_i. Its error is that of a sum of terms of both signs; it may be -Inf. It is NaN
// for a row that does not exist, slices of the wrong length or an eta of NaN.
func (t *Table) Cut(i int, eta float64, lo, hi []float64) float64 {
	row := t.Row(i, nil)
	if row == nil || len(lo) != t.kv || len(hi) != t.kv {
		return math.NaN()
	}
	if x := cut(row, eta, lo, hi, 1); math.Abs(x) <= math.MaxFloat64 {
		return x
	}
	// Costs close to the largest float64 overflow on the way; with 2^-10 only what hi takes away can.
	x := cut(row, eta, lo, hi, 0x1p-10) * 0x1p10
	if math.IsNaN(x) && !math.IsNaN(eta) {
		x = math.Inf(-1)
	}
	return min(x, math.MaxFloat64)
}

// cut is Cut times scale.
func cut(row []float64, eta float64, lo, hi []float64, scale float64) float64 {
	eta *= scale
	sum := double{Hi: eta}
	for j, c := range row {
		switch c *= scale; {
		case c > eta:
			sum = sum.Add(float64(lo[j] * (c - eta)))
		case c < eta:
			sum = sum.Add(float64(-hi[j] * (eta - c)))
		}
	}
	return sum.Float()
}

// Project writes the projection of the Dirac at input i to dst, which has kv entries: a minimiser q of
// phi_i. For a feasible box lo <= q <= hi holds bit for bit and the exact sum of q is within kv * 2^-52 of
// 1. On error dst is unchanged. Errors: those of Check, and ErrShape for i or the length of dst.
func (t *Table) Project(i int, lo, hi, dst []float64) error {
	s := t.acquire()
	defer t.release(s)
	b := &s.box
	if err := b.check(t.columns(), lo, hi); err != nil {
		return err
	}
	if i < 0 || i >= t.k {
		return fmt.Errorf("%w: row %d of %d", wpmerr.ErrShape, i, t.k)
	}
	if len(dst) != t.kv {
		return fmt.Errorf("%w: len(dst) = %d, want %d", wpmerr.ErrShape, len(dst), t.kv)
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
		q := rest.Add(lo[j]).Float()
		dst[j] = min(max(q, lo[j]), hi[j])
	}
	return nil
}

func (t *Table) columns() int {
	_, kv := t.Dims()
	return kv
}

func (t *Table) acquire() *scratch {
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if last := len(t.idle) - 1; last >= 0 {
			s := t.idle[last]
			t.idle = t.idle[:last]
			return s
		}
	}
	return new(scratch)
}

func (t *Table) release(s *scratch) {
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
	phi, tau = evalRow(row, order, b)
	return t.clamp(i, b, phi), tau
}

// eval4 is eval for the four rows from i on, bit for bit.
func (t *Table) eval4(i int, b *box, phi, tau *[4]float64) {
	if b.kind != inside {
		for r := range 4 {
			phi[r], tau[r] = t.eval(i+r, b)
		}
		return
	}
	var sum [4]double
	sum[0], sum[1], sum[2], sum[3] = dot4(t.Row(i, nil), t.Row(i+1, nil), t.Row(i+2, nil), t.Row(i+3, nil), b.lo)
	for r := range 4 {
		p, u := finishRow(t.Row(i+r, nil), t.Order(i+r), b, sum[r])
		phi[r], tau[r] = t.clamp(i+r, b, p), u
	}
}

// clamp returns phi, a mean of the costs of the row, within their range whatever the rounding said.
func (t *Table) clamp(i int, b *box, phi float64) float64 {
	ends := t.ends[i]
	if phi >= ends.low && phi <= ends.high {
		return phi
	}
	return t.clampExactly(i, b, phi)
}

func (t *Table) clampExactly(i int, b *box, phi float64) float64 {
	if !(phi <= math.MaxFloat64) {
		// Costs within a factor 2 of the largest float64 overflow in the sum; with 2^-10 they do not.
		const scale = 0x1p-10
		small := make([]float64, t.kv)
		for j, c := range t.Row(i, nil) {
			small[j] = c * scale
		}
		phi, _ = evalRow(small, t.Order(i), b)
		phi /= scale
	}
	return min(max(phi, t.ends[i].low), t.ends[i].high)
}

func evalRow(row []float64, order []int32, b *box) (phi, tau float64) {
	switch b.kind {
	case atLow:
		return dot(row, b.lo).Float() / b.mass, row[order[0]]
	case atHigh:
		last := len(order) - 1
		for last > 0 && b.hi[order[last]] == 0 {
			last--
		}
		return dot(row, b.hi).Float() / b.mass, row[order[last]]
	}
	return finishRow(row, order, b, dot(row, b.lo))
}

// finishRow returns phi and tau of a row from its cost at lo.
func finishRow(row []float64, order []int32, b *box, sum double) (phi, tau float64) {
	if b.short {
		// Three scans, each dearer than the one before and needed far more rarely.
		end, left, fill := quickScan(row, order, b)
		slack := uint64(end) + 3 // twice what the middle of the interval of what is left may be off, and more
		half := slack / 2
		rest := float64(int64(left + half))
		settled := end < len(order) && b.up[order[end]] > left+slack &&
			row[order[end]]*(float64(int64(half+1))*b.grain) <= restError*(sum.Hi+fill.Hi)
		if !settled {
			end, rest, fill, settled = refine(row, order, b, end, left, fill)
			settled = settled && row[order[end]]*(refineError*b.grain) <= restError*(sum.Hi+fill.Hi)
		}
		if settled {
			tau = row[order[end]]
			sum = double{Hi: sum.Hi, Lo: sum.Lo + fill.Lo}.Add(fill.Hi)
			return sum.Add(float64(tau * (rest * b.grain))).Float(), tau
		}
	}
	end, rest, fill := scan(row, order, b)
	if end == len(order) { // full but for a rounding of second order
		end--
		for end > 0 && b.lo[order[end]] == b.hi[order[end]] {
			end--
		}
		rest = double{}
	}
	tau = row[order[end]]
	sum = double{Hi: sum.Hi, Lo: sum.Lo + fill.Lo}.Add(fill.Hi)
	return sum.Add(float64(tau * rest.Float())).Float(), tau
}

// restError is the error that what is left at the end of the fill may add to phi, relative.
const restError = 0x1p-52

// quickScan is scan with rooms of 64 bits, rounded up. It ends at the column where scan ends or before; what is left
// there is above left, by at most end + 2 grains.
func quickScan(row []float64, order []int32, b *box) (end int, left uint64, fill double) {
	left = b.left
	up := b.up
	row, size := row[:len(up)], b.size[:len(up)]
	var sum float64
	for len(order)-end >= scanBlock {
		block := (*[scanBlock]int32)(order[end:])
		j := uint(uint32(block[0]))
		taken, d0 := up[j], float64(row[j]*size[j])
		j = uint(uint32(block[1]))
		taken, d1 := taken+up[j], float64(row[j]*size[j])
		j = uint(uint32(block[2]))
		taken, d0 = taken+up[j], d0+float64(row[j]*size[j])
		j = uint(uint32(block[3]))
		taken, d1 = taken+up[j], d1+float64(row[j]*size[j])
		j = uint(uint32(block[4]))
		taken, d0 = taken+up[j], d0+float64(row[j]*size[j])
		j = uint(uint32(block[5]))
		taken, d1 = taken+up[j], d1+float64(row[j]*size[j])
		j = uint(uint32(block[6]))
		taken, d0 = taken+up[j], d0+float64(row[j]*size[j])
		j = uint(uint32(block[7]))
		taken, d1 = taken+up[j], d1+float64(row[j]*size[j])
		if taken >= left {
			break // it ends in this block
		}
		left -= taken
		if sum += d0 + d1; end&scanFlush == scanFlush {
			fill, sum = fill.Add(sum), 0
		}
		end += scanBlock
	}
	fill, sum = fill.Add(sum), 0
	for ; end < len(order); end++ {
		j := uint(uint32(order[end]))
		if up[j] >= left {
			break
		}
		left -= up[j]
		sum += float64(row[j] * size[j])
	}
	return end, left, fill.Add(sum)
}

// refine is wrong by less than refineError: 2^-42 a column from ceil, and the roundings of a plain sum of at most
// refineMost numbers up to 1, each below 2^-33.
const (
	refineMost  = 1 << 20
	refineError = 0x1p-12
)

// refine goes on where quickScan ended, with what the roundings of the rooms so far add up to. It returns what is left
// in grains, to within refineError, and false if that does not tell whether a column can take it.
func refine(row []float64, order []int32, b *box, end int, left uint64, fill double) (_ int, rest float64, _ double,
	ok bool) {
	if len(order) > refineMost {
		return 0, 0, fill, false
	}
	over := b.over
	for _, j := range order[:end] {
		over += b.overs[j]
	}
	for n := int64(left); end < len(order); end++ {
		j := order[end]
		gap := float64(int64(b.up[j])-n) - b.overs[j] - over // by how much the room is larger
		if gap > refineError {
			return end, float64(n) + over, fill, true
		}
		if gap >= -refineError {
			break
		}
		n -= int64(b.up[j])
		over += b.overs[j]
		fill = fill.Add(float64(row[j] * b.size[j]))
	}
	return end, 0, fill, false
}

// scan hands out the rest of the mass in the order of the row. It returns the position in order of the
// column where the rest ends (len(order) if rounding let it survive every column), what is left for that
// column, and the cost of the columns before it: at most ten roundings a term (the room, the product, eight
// additions), and of second order beyond. It is the slow and exact form of quickScan.
func scan(row []float64, order []int32, b *box) (end int, rest, fill double) {
	left := b.difference(b.unit)
	var sum float64
	for ; end < len(order); end++ {
		j := order[end]
		r := b.room(j)
		if !r.less(left) {
			break
		}
		left = left.sub(r)
		sum += float64(row[j] * (b.hi[j] - b.lo[j]))
		if end%scanBlock == scanBlock-1 {
			fill, sum = fill.Add(sum), 0
		}
	}
	return end, left.double(math.Ldexp(1, b.unit)), fill.Add(sum)
}
