package certificate

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
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
// The rows are summed exactly, in O(k kv). Privacy does not depend on these checks: see policy.Verify. Other errors are
// those of Decode, WithCost and Verify, and the context's.
func CheckPolicy(ctx context.Context, p policy.Policy) (Certificate, PolicyBounds, error) {
	c, err := Decode(p.Certificate())
	if err != nil {
		return Certificate{}, PolicyBounds{}, err
	}
	if c.Kind() != BaseMeasure {
		return c, PolicyBounds{}, fmt.Errorf("%w: it is about a %s, not about a base measure", ErrKind, c.Kind())
	}
	if k, kv := c.Dims(); k != p.Inputs() || kv != p.Outputs() {
		return c, PolicyBounds{}, fmt.Errorf("%w: it is about %d inputs and %d outputs, the policy has %d and %d", ErrShape,
			k, kv, p.Inputs(), p.Outputs())
	}
	if eps, _ := c.Epsilon(); eps != num.Up(p.Epsilon().Rat()) {
		return c, PolicyBounds{}, fmt.Errorf("%w: it is about %v, the policy has %v", ErrEpsilon, eps, p.Epsilon())
	}
	if text := p.Cost(); text != nil { // otherwise it must have brought its own
		if c, err = c.WithCost(text); err != nil {
			return c, PolicyBounds{}, err
		}
	}
	bounds, m, err := verify(ctx, c)
	if err != nil {
		return c, PolicyBounds{}, err
	}
	worst, input, err := worstRow(ctx, p, m)
	if err != nil {
		return c, PolicyBounds{}, err
	}
	if worst.Cmp(c.c.upper) > 0 {
		return c, PolicyBounds{}, fmt.Errorf("%w: the row of input %d costs %s, stated is at most %s", ErrClaim, input,
			show(worst), show(c.c.upper))
	}
	return c, PolicyBounds{Lower: bounds.Lower, Worst: worst, Input: input}, nil
}

// worstRow returns the largest cost of a row, exactly, and the first input that has it. It reads all rows, on all
// cores. A row is summed in floats first, and exactly if it may be the largest so far. A weight, a product and each of
// kv additions are rounded once, by 2^-53 of numbers >= 0; nothing is lost below the normal range, since weights are
// integers.
func worstRow(ctx context.Context, p policy.Policy, c cost.Matrix) (worst *big.Rat, input int, err error) {
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
