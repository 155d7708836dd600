package worst

import (
	"context"
	"math"
	"math/bits"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// InBox is Search for the rows of an integer box: value computes the cost of the cheapest. On a ring or a grid the bounds
// of the outputs may differ, as they do by rounding: the upper bound is the larger for it, and the inputs farthest from
// input 0 are looked at, too.
func (s *Space) InBox(ctx context.Context, box *ldp.Polytope, value func(i int) (float64, error), relErr,
	slack float64) (Result, error) {
	lo, hi := box.Bounds()
	r, err := s.Search(ctx, lo, hi, value, relErr, slack)
	if err != nil || s.lattice == nil {
		return r, err
	}
	moved := uneven(box)
	if moved == 0 {
		return r, nil
	}
	most, _, err := cost.Extent(ctx, s.lattice)
	if err != nil {
		return r, err
	}
	r.Upper = min(r.Upper+moved*most*(1+0x1p-30), most)
	for _, i := range s.at.Far {
		v, err := value(i)
		if err != nil {
			return r, err
		}
		r.Looked++
		if v > r.Value {
			r.Value, r.Input = v, i
		}
	}
	return r, nil
}

// uneven bounds the mass that is moved upwards when the bounds of all outputs become those of the last one, a and b. It
// is 0 for a box of equal bounds.
//
// Take any point of the box, and cut what is above b or below a. That moves no more than the bounds of outputs differ
// from a and b, and so does making up the sum again, or bringing it to the nearest that equal bounds allow. So for each
// input the cheapest rows of the two boxes differ in cost by the largest entry times what is moved upwards, and for
// equal bounds input 0 is the worst.
func uneven(box *ldp.Polytope) float64 {
	last := box.Len() - 1
	a, b, total := box.Lo(last), box.Hi(last), box.Total()
	moved := 0.0
	apart := func(x, y uint64) { moved += float64(max(x, y) - min(x, y)) }
	for j := range last {
		apart(box.Lo(j), a)
		apart(box.Hi(j), b)
	}
	if moved == 0 {
		return 0 // and the sum is one that equal bounds allow, as these do
	}
	kv := uint64(box.Len())
	if high, low := bits.Mul64(a, kv); high > 0 {
		moved += math.Ldexp(float64(high), 64) + float64(low)
	} else if low > total {
		apart(low, total)
	}
	if high, low := bits.Mul64(b, kv); high == 0 && low < total {
		apart(low, total)
	}
	return moved / float64(total)
}
