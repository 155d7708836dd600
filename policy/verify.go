package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/bits"
)

// Verify checks a policy again from the beginning: by ldp alone the box and every row, also the fallback, and the ID by
// encoding it once more. O(kv) for each row. Errors: ErrPolicy, ErrID, those of Polytope.Verify and Polytope.Weights.
func Verify(p Policy) error {
	c := p.c
	if c == nil {
		return ErrPolicy
	}
	if err := c.Polytope.Verify(); err != nil {
		return fmt.Errorf("policy: box: %w", err)
	}
	if err := c.verifyRows(); err != nil {
		return err
	}
	if sha256.Sum256(c.encode()) != c.id {
		return ErrID
	}
	return nil
}

// writtenCells is up to how many columns of all rows together are written out by Verify: about a second.
const writtenCells = 1 << 28

// verifyRows checks every row of version 1: written out, by ldp's own check, or column by column where it is above lo, if
// the rows have so many columns that few can be.
func (c *content) verifyRows() error {
	if c.Codes != nil {
		return c.verifyCodes()
	}
	if _, err := c.Fallback.weights(c.Polytope); err != nil {
		return fmt.Errorf("fallback: %w", err)
	}
	written := len(c.Rows) <= writtenCells/c.Polytope.Len()
	n, width := columns(c.Polytope)
	for i, row := range c.Rows {
		var err error
		if written {
			_, err = row.weights(c.Polytope)
		} else {
			err = c.verifySparse(row, n, width)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	return nil
}

// verifySparse checks a row in O(len of row). n are the lower bounds, and are so again when it returns.
func (c *content) verifySparse(row Row, n, width []uint64) (err error) {
	raised := make([]int32, 0, row.Fill())
	raised = append(raised, row.full...)
	for _, e := range row.extra {
		raised = append(raised, e.col)
	}
	row.addTo(n, width, ^uint64(0))
	sum, over, carry := c.base, uint64(0), uint64(0)
	for _, j := range raised {
		lo, hi := c.Polytope.Lo(int(j)), c.Polytope.Hi(int(j))
		if n[j] < lo || n[j] > hi {
			err = fmt.Errorf("%w: column %d is %d, not from %d to %d", ErrRow, j, n[j], lo, hi)
		}
		sum, carry = bits.Add64(sum, n[j]-lo, 0)
		over += carry
		n[j] = lo // a column that is raised twice counts once
	}
	if err == nil && (over > 0 || sum != c.Polytope.Total()) {
		err = fmt.Errorf("%w: weights sum to %d, want %d", ErrRow, sum, c.Polytope.Total())
	}
	return err
}

// VerifyRows checks that the thresholds of the inputs from (included) to (excluded) of a policy with a geometry are
// those of the greedy fill, and with codes the thresholds of all discs. Right thresholds make the rows useful; the rows
// are private whatever the thresholds are.
// The error is about the first input with a wrong threshold. To use several cores, call it for a part on each, and take
// the error of the lowest part. It takes O((to - from) kv axes). A policy without a geometry has nothing to check.
//
// Errors: ErrPolicy, ErrShape for inputs that do not exist, ErrRow, and that of ctx, which is checked about every
// millisecond, and no more often than once an input.
func VerifyRows(ctx context.Context, p Policy, from, to int) error {
	ctx = endless(ctx)
	c := p.c
	switch {
	case c == nil:
		return ErrPolicy
	case from < 0 || to > c.Inputs || from > to:
		return fmt.Errorf("%w: inputs %d to %d of %d", ErrShape, from, to, c.Inputs)
	case c.Codes != nil:
		return c.verifyDiscs(ctx, from, to)
	case c.Geometry == nil:
		return nil
	}
	row := make([]uint64, c.Polytope.Len())
	_, width := c.columns()
	for i, left := from, 0; i < to; i++ {
		if left -= len(row) * c.places.axes; left < 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			left = checkEvery
		}
		x, t := c.places.input(i), int(c.Thresholds[i])
		sum, over, some := c.raise(row, x, c.places.key(x, c.places.output(t)), t)
		if some != 0 && (over > 0 || sum >= c.Polytope.Total()) { // where sum lo is 2^B, the threshold is the first of all
			return fmt.Errorf("%w: output %d is too late a threshold for input %d", ErrRow, t, i)
		}
		if sum+width[t] < c.Polytope.Total() {
			return fmt.Errorf("%w: output %d is too early a threshold for input %d", ErrRow, t, i)
		}
	}
	return nil
}

// verifyDiscs checks that each threshold of an input from (included) to (excluded) has as many outputs before it as the
// fill raises.
func (c *content) verifyDiscs(ctx context.Context, from, to int) error {
	stride := max(1, checkEvery/c.Inputs)
	for n, code := range c.Codes {
		if code.Colors > 0 {
			continue
		}
		row := make([]uint64, c.Inputs)
		for i := from; i < to; i++ {
			if (i-from)%stride == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if t := int(code.Thresholds[i]); c.spreadDisc(code, c.places.input(i), t, row) == 0 {
				return fmt.Errorf("%w: component %d: output %d is not the threshold of input %d", ErrRow, n, t, i)
			}
		}
	}
	return nil
}

// checkEvery is how many coordinates VerifyRows reads between two looks at its context, or those of one input: about a
// millisecond.
const checkEvery = 1 << 18
