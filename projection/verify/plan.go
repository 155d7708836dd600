package verify

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// planSlack is how far, in total, the row and column sums of a stored plan may be from the source and Q before Plan
// calls it a plan for something else. Any value is sound, since the upper bound charges for the difference; solvers
// stay below 1e-14.
var planSlack = num.NewDyadic(1e-9)

// objectiveSlack is how far an objective may be from the cost of the plan, relative to the largest cost of a column
// that may hold mass or, if that is more, to the cost of the plan: a rounding or two. The second counts where the plan
// leaves a rounding of mass in a column that holds none.
const objectiveSlack = 0x1p-51

// Plan checks a stored plan, its entries by row and then by column, and returns the upper bound that it proves. It must
// lead from the source to Q at the cost objective; if part is set, it may move less. Errors: ErrCertificate, and those
// of Row.
func (c *Case) Plan(plan []projection.Entry, objective float64, part bool) (*big.Rat, error) {
	most, err := c.Most()
	if err != nil {
		return nil, err
	}
	if err := c.inOrder(plan); err != nil {
		return nil, err
	}
	cols := make([]num.Dyadic, c.Kv) // column sums
	carried, mass := new(num.Acc), new(num.Dyadic)
	excess := new(num.Dyadic) // of rows, times the sum of the source
	for n := 0; n < len(plan); {
		i, sent := plan[n].I, new(num.Dyadic)
		row, err := c.Row(i)
		if err != nil {
			return nil, err
		}
		for ; n < len(plan) && plan[n].I == i; n++ {
			a := plan[n]
			carried.AddMul(row[a.J], a.Mass)
			m := num.NewDyadic(a.Mass)
			sent.Add(m)
			cols[a.J].Add(m)
		}
		mass.Add(sent)
		given := 0.0
		if at, ok := slices.BinarySearch(c.rows, i); ok {
			given = c.source[at]
		}
		addExcess(excess, sent.Times(c.sum), num.NewDyadic(given))
	}
	if off := offBy(excess, mass.Times(c.sum), c.sum, part); off.Cmp(planSlack.Times(c.sum)) > 0 {
		return nil, refuse("row sums of the plan are off the source by %v in total", off.Float())
	}
	over := new(num.Dyadic)
	for j := range cols {
		addExcess(over, &cols[j], num.NewDyadic(c.Q[j]))
	}
	if off := offBy(over, mass, num.DyadicSum(c.Q), part); off.Cmp(planSlack) > 0 {
		return nil, refuse("column sums of the plan are off Q by %v in total", off.Float())
	}
	cost := carried.Rat()
	if err := c.objective(objective, cost, most); err != nil {
		return nil, err
	}
	return c.upper(most, cost, mass, excess, cols, one), nil
}

// inOrder checks that the entries of a plan are places of the cost, in the order of rows and then of columns, with
// masses that can be.
func (c *Case) inOrder(plan []projection.Entry) error {
	last := projection.Entry{I: -1}
	for n, a := range plan {
		switch {
		case a.I < 0 || a.I >= c.K || a.J < 0 || a.J >= c.Kv:
			return refuse("Plan[%d] is at (%d, %d), outside %d x %d", n, a.I, a.J, c.K, c.Kv)
		case a.I < last.I || a.I == last.I && a.J <= last.J:
			return refuse("Plan[%d] at (%d, %d) does not come after (%d, %d)", n, a.I, a.J, last.I, last.J)
		case !(a.Mass >= 0 && a.Mass <= 2):
			return refuse("Plan[%d] has mass %v", n, a.Mass)
		}
		last = a
	}
	return nil
}

// addExcess adds to excess what a sum exceeds its target by.
func addExcess(excess, sum, target *num.Dyadic) {
	if d := sum.Minus(target); d.Sign() > 0 {
		excess.Add(d)
	}
}

// offBy returns how far sums are from their targets in total, from their excess and the totals of both: what the sums
// lack is the rest. If a part is enough, only the excess counts.
func offBy(excess, sums, targets *num.Dyadic, part bool) *num.Dyadic {
	if part {
		return excess
	}
	return excess.Minus(sums).Add(targets).Add(excess)
}

// objective compares a claim with the cost of the plan.
func (c *Case) objective(claim float64, cost *big.Rat, most float64) error {
	if !isFinite(claim) {
		return refuse("Objective = %v", claim)
	}
	d := num.Rat(claim)
	d.Sub(d, cost)
	slack := num.Rat(objectiveSlack)
	unit := num.Rat(most)
	if unit.Cmp(cost) < 0 {
		unit = cost
	}
	slack.Mul(slack, unit)
	slack.Add(slack, num.Rat(math.SmallestNonzeroFloat64)) // where floats are no denser
	if d.Abs(d).Cmp(slack) > 0 {
		f, _ := cost.Float64()
		return refuse("Objective = %v, but the plan costs %v", claim, f)
	}
	return nil
}

// upper returns the bound of a plan that costs carried. Its mass, its column sums and the excess of its rows, times the
// sum of the source, are in multiples of 1 / unit.
func (c *Case) upper(most float64, carried *big.Rat, mass, rowExcess *num.Dyadic, cols []num.Dyadic,
	unit *num.Dyadic) *big.Rat {
	excess := new(num.Dyadic) // of the columns over Q or, if that is more, over the point, times scale
	for j := range cols {
		d := cols[j].Minus(num.NewDyadic(c.Q[j]).Times(unit)).Times(c.scale)
		if c.point {
			if e := cols[j].Times(c.scale).Minus(num.NewDyadic(c.Lo[j]).Times(unit)); d.Cmp(e) < 0 {
				d = e
			}
		}
		addExcess(excess, d, new(num.Dyadic))
	}
	missing := unit.Minus(mass).Over(unit)
	missing.Add(missing, rowExcess.Over(c.sum.Times(unit)))
	missing.Add(missing, excess.Over(c.scale.Times(unit)))
	if d := num.DyadicSum(c.Q).Minus(one); d.Sign() > 0 {
		missing.Add(missing, d.Rat())
	}
	if missing.Sign() < 0 {
		missing.SetInt64(0)
	}
	top := num.Rat(most)
	bound := missing.Mul(missing, top)
	bound.Add(bound, carried)
	if bound.Cmp(top) > 0 {
		return top
	}
	return bound
}
