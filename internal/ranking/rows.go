package ranking

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// Rows are the rows of a box in the order of a ranking, exactly as a policy states them. They must not be modified.
type Rows struct {
	*Ranking
	Thresholds []int32
	stated     policy.Policy // nothing but the box, the geometry and the thresholds is stated in it
}

// Rows finds the thresholds of a box. Errors: those of Thresholds and of policy.New.
func (r *Ranking) Rows(ctx context.Context, box *ldp.Polytope) (*Rows, error) {
	thresholds, err := r.Thresholds(ctx, box)
	if err != nil {
		return nil, err
	}
	stated, err := policy.New(policy.Config{
		Polytope: box, Geometry: &r.Geometry, Thresholds: thresholds,
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated},
	})
	return &Rows{r, thresholds, stated}, err
}

// Row returns the weights of input i, in O(kv axes). Errors: policy.ErrShape.
func (r *Rows) Row(i int) (ldp.Weights, error) { return r.stated.Row(i) }

// Even returns a row of a box that raises outputs to hi at even steps of their widths hi - lo, so that the sum up to any
// output is less than two widths from what the same share of each width would give. It takes O(kv), and two bytes an
// output in a file. Errors: those of ldp and of policy.NewRow.
func Even(box *ldp.Polytope) (policy.Row, error) {
	w, err := even(box)
	if err != nil {
		return policy.Row{}, err
	}
	return policy.NewRow(box, w)
}

func even(box *ldp.Polytope) (ldp.Weights, error) {
	n := make([]uint64, box.Len())
	rest, all := box.Total(), 0.0
	for j := range n {
		n[j] = box.Lo(j)
		rest -= n[j]
		all += float64(box.Hi(j) - n[j])
	}
	share, want, sum := float64(rest)/all, 0.0, uint64(0) // where all is 0, nothing is left to give
	for j := range n {
		width := box.Hi(j) - n[j]
		want += share * float64(width)
		if sum+width <= rest && float64(sum+width) <= want { // both sums are at most 2^63
			n[j] += width
			sum += width
		}
	}
	for j := range n {
		add := min(box.Hi(j)-n[j], rest-sum)
		n[j] += add
		sum += add
	}
	w, err := box.Weights(n)
	if err != nil {
		return w, fmt.Errorf("ranking: an even row: %w", err)
	}
	return w, nil
}
