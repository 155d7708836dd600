package certificate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/internal/worst"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// PolicyBounds are what CheckPolicy proves of a policy's utility, exactly.
type PolicyBounds struct {
	Lower *big.Rat // no eps-LDP mechanism has a smaller worst case W_p^p
	Worst *big.Rat // the worst case W_p^p of the policy in mixture mode, in the integers that it publishes
	Input int      // the first input whose point mass attains Worst
}

// PolicyMeaning says in words what PolicyBounds enclose.
const PolicyMeaning = "lower: the worst case W_p^p of every eps-LDP mechanism; upper: that of the rows that the policy publishes"

// CheckPolicy decides whether the certificate in a policy proves what it states about that policy:
//
//   - it is a base-measure certificate, in the text of this package (ErrFormat, ErrKind), that Verify accepts;
//   - it is about the policy's own cost (ErrCost), sizes (ErrShape) and eps (ErrEpsilon);
//   - every row that the policy publishes costs at most the stated upper bound (ErrClaim). For a policy without rows
//     the cheapest rows of its box are taken, which a client with an exact solver would find.
//
// The eps of the problem is a float64, and the eps of the policy may be any rational. The former must be the smallest
// float64 that is not below the latter. A lower bound for every mechanism at a larger eps also holds at a smaller eps,
// so Lower holds for the eps of the policy.
//
// The rows are summed exactly, in O(k kv); where distances bound what most rows cost, only the others are. Privacy does
// not depend on these checks: see policy.Verify. Other errors are those of Decode, WithCost and Verify, and the
// context's.
func CheckPolicy(ctx context.Context, p policy.Policy) (Certificate, PolicyBounds, error) {
	ctx = wpmerr.Context(ctx)
	c, err := ofPolicy(p)
	if err != nil {
		return c, PolicyBounds{}, err
	}
	bounds, m, err := verify(ctx, c, nil)
	if err != nil {
		return c, PolicyBounds{}, err
	}
	worst, input, err := c.worstRow(ctx, p, m)
	if err != nil {
		return c, PolicyBounds{}, err
	}
	return c, PolicyBounds{Lower: bounds.Lower, Worst: worst, Input: input}, nil
}

// WorstRow returns PolicyBounds.Worst and Input. It checks what CheckPolicy does, but for the bounds that the certificate
// proves, and so takes a small part of the time where few rows are read. The errors are those of CheckPolicy.
func WorstRow(ctx context.Context, p policy.Policy) (worst *big.Rat, input int, err error) {
	c, err := ofPolicy(p)
	if err != nil {
		return nil, 0, err
	}
	if err := c.c.checkHash(); err != nil {
		return nil, 0, err
	}
	m, err := c.c.matrix()
	if err != nil {
		return nil, 0, err
	}
	return c.worstRow(wpmerr.Context(ctx), p, m)
}

// ofPolicy returns the certificate in a policy, with its cost, if it is about the policy.
func ofPolicy(p policy.Policy) (Certificate, error) {
	c, err := Decode(p.Certificate())
	if err != nil {
		return Certificate{}, err
	}
	if c.Kind() != BaseMeasure {
		return c, fmt.Errorf("%w: it is about a %s, not about a base measure", ErrKind, c.Kind())
	}
	if k, kv := c.Dims(); k != p.Inputs() || kv != p.Outputs() {
		return c, fmt.Errorf("%w: it is about %d inputs and %d outputs, the policy has %d and %d", ErrShape, k, kv,
			p.Inputs(), p.Outputs())
	}
	if eps, _ := c.Epsilon(); eps != num.Up(p.Epsilon().Rat()) {
		return c, fmt.Errorf("%w: it is about %v, the policy has %v", ErrEpsilon, eps, p.Epsilon())
	}
	if text := p.Cost(); text != nil { // otherwise it must have brought its own
		return c.WithCost(text)
	}
	return c, nil
}

// worstRow returns the worst row of a policy, which must not cost more than the certificate states.
func (c Certificate) worstRow(ctx context.Context, p policy.Policy, m cost.Matrix) (*big.Rat, int, error) {
	worst, input, err := worstRow(ctx, p, m)
	if err == nil && worst.Cmp(c.c.upper) > 0 {
		return nil, 0, fmt.Errorf("%w: the row of input %d costs %s, stated is at most %s", ErrClaim, input, show(worst),
			show(c.c.upper))
	}
	return worst, input, err
}

// worstRow returns the largest cost of a row, exactly, and the first input that has it.
func worstRow(ctx context.Context, p policy.Policy, c cost.Matrix) (worst *big.Rat, input int, err error) {
	slack, ok, err := greedy(ctx, p, c)
	switch {
	case err != nil:
		return nil, 0, err
	case ok:
		return farRow(ctx, p, c, slack)
	}
	return anyRow(ctx, p, c)
}

// fewEntries is the k kv up to which all rows are read: it takes some milliseconds.
const fewEntries = 1 << 20

// greedy reports whether every row of a policy is the greedy fill of its box in the order of keys that rank the outputs
// as the cost does, up to slack in the root of the cost that is a distance: see ranking.Ranking. Then a row costs at
// most slack more, in that root, than the cheapest of the box for its input. So it is if the places of the cost are the
// vectors of the geometry by package ranking, none is moved, and every threshold is right. No entry of the cost is read
// for it.
func greedy(ctx context.Context, p policy.Policy, c cost.Matrix) (slack float64, ok bool, err error) {
	if k, kv := c.Dims(); k <= fewEntries/kv || cost.SpaceOf(c).Power == 0 {
		return 0, false, nil
	}
	rows := discs.Of(p)
	if rows == nil {
		return 0, false, nil
	}
	r, err := ranking.Of(c)
	if err != nil || r == nil || r.Displacement != 0 || !reflect.DeepEqual(r.Geometry, *p.Geometry()) {
		return 0, false, nil // all rows are read, whatever is wrong here
	}
	const block = 64
	blocks := make([]bool, (p.Inputs()+block-1)/block)
	err = parallel.Each(ctx, len(blocks), func(b int) error {
		var spans []int32
		blocks[b] = true
		for i := b * block; i < min((b+1)*block, p.Inputs()) && blocks[b]; i++ {
			spans, _, _, blocks[b] = rows.Disc(i, spans[:0])
		}
		return nil
	}, nil)
	return r.Slack, !slices.Contains(blocks, false), err
}

// farRow is worstRow for rows that are greedy up to slack. By the triangle inequality the root of the cheapest cost of
// an input is at most that of another plus their distance (see package worst, which has a second bound, and the margins
// for rounding). A row that is published costs at least as much as the cheapest, and in the root at most slack more. So a
// row that is read bounds those that are not, and none of these costs as much as the largest.
func farRow(ctx context.Context, p policy.Policy, c cost.Matrix, slack float64) (*big.Rat, int, error) {
	_, kv := c.Dims()
	var lock sync.Mutex
	most, input := new(num.Dyadic), 0
	total := num.DyadicUint(p.Polytope().Total())
	lo, hi := p.Polytope().Bounds()
	err := worst.NewSpace(c).Exact(ctx, lo, hi, func(i int) (float64, error) {
		w, err := p.AppendRow(make([]uint64, 0, kv), i)
		if err != nil {
			return 0, err
		}
		var sum num.Acc
		for j, x := range c.Row(i, make([]float64, kv)) {
			sum.AddUnits(x, w[j])
		}
		s := sum.Dyadic()
		lock.Lock()
		defer lock.Unlock()
		if by := s.Cmp(most); by > 0 || by == 0 && i < input {
			most, input = s, i
		}
		x, _ := s.Over(total).Float64()
		return x, nil
	}, slack)
	if err != nil {
		return nil, 0, err
	}
	return most.Over(total), input, nil
}

// anyRow is worstRow for rows of any kind. It reads all of them, on all cores. A row is summed in floats first, and
// exactly if it may be the largest so far. A weight, a product and each of kv additions are rounded once, by 2^-53 of
// numbers >= 0; nothing is lost below the normal range, since weights are integers.
func anyRow(ctx context.Context, p policy.Policy, c cost.Matrix) (worst *big.Rat, input int, err error) {
	box := p.Polytope()
	k, kv := c.Dims()
	const block = 16
	type found struct {
		cost  *num.Dyadic
		input int
	}
	best := make([]found, (k+block-1)/block)
	slack := 1 + float64(kv+8)*0x1p-52
	var known atomic.Uint64 // the bits of a float below the largest cost so far, in units of the box
	err = parallel.Each(ctx, len(best), func(b int) error {
		best[b].cost = new(num.Dyadic)
		buf, n := make([]float64, kv), make([]uint64, 0, kv)
		published := func(i int, _ []float64) (_ []uint64, err error) {
			n, err = p.AppendRow(n[:0], i)
			return n, err
		}
		if !p.HasRows() {
			published = cheapest(box)
		}
		for i := b * block; i < min((b+1)*block, k); i++ {
			row := c.Row(i, buf)
			w, err := published(i, row)
			if err != nil {
				return err
			}
			near := 0.0
			for j, x := range row {
				near += x * float64(w[j])
			}
			if near*slack < math.Float64frombits(known.Load()) {
				continue
			}
			var sum num.Acc
			for j, x := range row {
				sum.AddUnits(x, w[j])
			}
			s := sum.Dyadic()
			if s.Cmp(best[b].cost) > 0 {
				best[b] = found{s, i}
			}
			raise(&known, math.Nextafter(s.Float(), 0))
		}
		return nil
	}, nil)
	if err != nil {
		return nil, 0, err
	}
	most := found{cost: new(num.Dyadic)}
	for _, f := range best {
		if f.cost.Cmp(most.cost) > 0 {
			most = f
		}
	}
	return most.cost.Over(num.DyadicUint(box.Total())), most.input, nil
}

// raise makes known the bits of x >= 0 if that is larger.
func raise(known *atomic.Uint64, x float64) {
	for bits := math.Float64bits(x); ; {
		old := known.Load()
		if bits <= old || known.CompareAndSwap(old, bits) {
			return
		}
	}
}

// cheapest returns a function for the point of the box that costs least in a row: the projection of the row's point
// mass.
func cheapest(box *ldp.Polytope) func(i int, row []float64) ([]uint64, error) {
	var sorter knapsack.Sorter
	lo, hi, n := make([]uint64, box.Len()), make([]uint64, box.Len()), make([]uint64, box.Len())
	for j := range lo {
		lo[j], hi[j] = box.Lo(j), box.Hi(j)
	}
	return func(_ int, row []float64) ([]uint64, error) {
		knapsack.FillUnits(sorter.Order(row), lo, hi, box.Total(), n)
		return n, nil
	}
}
