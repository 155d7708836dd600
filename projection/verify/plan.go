package verify

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// planSlack is how far, in total, the row and column sums of a stored plan may be from the source and Q before Plan
// calls it a plan for something else. Any value is sound, since the upper bound charges for the difference; solvers
// stay below 1e-14.
var planSlack = num.NewDyadic(1e-9)

// objectiveSlack is how far an objective may be from the cost of the plan, relative to the largest cost: a rounding or
// two.
const objectiveSlack = 0x1p-51

// Plan checks a stored plan, its entries by row and then by column, and returns the upper bound that it proves. It must
// lead from the source to Q at the cost objective; if part is set, it may move less.
func (c *Case) Plan(plan []projection.Entry, objective float64, part bool) (*big.Rat, error) {
	most, err := c.Most()
	if err != nil {
		return nil, err
	}
	cols := make([]num.Dyadic, c.Kv) // column sums
	carried, mass := new(num.Acc), new(num.Dyadic)
	rows := newDefects() // times the sum of the source
	at := 0              // in the source
	rest := func(i int) *num.Dyadic {
		// The rows with mass before row i send nothing.
		for ; at < len(c.source) && c.row(at) < i; at++ {
			rows.add(new(num.Dyadic).Minus(num.NewDyadic(c.source[at])))
		}
		if at == len(c.source) || c.row(at) != i {
			return new(num.Dyadic)
		}
		at++
		return num.NewDyadic(c.source[at-1])
	}
	for n := 0; n < len(plan); {
		i, last := plan[n].I, -1
		if i < 0 || i >= c.K {
			return nil, refuse("Plan[%d] is at (%d, %d), outside %d x %d", n, i, plan[n].J, c.K, c.Kv)
		}
		row, err := c.Row(i)
		if err != nil {
			return nil, err
		}
		sent := new(num.Dyadic)
		for ; n < len(plan) && plan[n].I == i; n++ {
			a := plan[n]
			if a.J < 0 || a.J >= c.Kv {
				return nil, refuse("Plan[%d] is at (%d, %d), outside %d x %d", n, a.I, a.J, c.K, c.Kv)
			}
			if a.J <= last {
				return nil, refuse("Plan[%d] at (%d, %d) does not come after (%d, %d)", n, a.I, a.J, i, last)
			}
			if !(a.Mass >= 0 && a.Mass <= 2) {
				return nil, refuse("Plan[%d] has mass %v", n, a.Mass)
			}
			last = a.J
			carried.AddMul(row[a.J], a.Mass)
			m := num.NewDyadic(a.Mass)
			sent.Add(m)
			cols[a.J].Add(m)
		}
		if n < len(plan) && plan[n].I < i {
			return nil, refuse("Plan[%d] at (%d, %d) does not come after (%d, %d)", n, plan[n].I, plan[n].J, i, last)
		}
		mass.Add(sent)
		rows.add(sent.Times(c.sum).Minus(rest(i)))
	}
	rest(c.K)
	if off := rows.off(part); off.Cmp(planSlack.Times(c.sum)) > 0 {
		return nil, refuse("row sums of the plan are off the source by %v in total", off.Float())
	}
	columns := newDefects()
	for j := range cols {
		columns.add(cols[j].Minus(num.NewDyadic(c.Q[j])))
	}
	if off := columns.off(part); off.Cmp(planSlack) > 0 {
		return nil, refuse("column sums of the plan are off Q by %v in total", off.Float())
	}
	cost := carried.Rat()
	if err := c.objective(objective, cost, most); err != nil {
		return nil, err
	}
	return c.upper(most, cost, mass, rows.excess, cols, one), nil
}

// row returns the row of entry n of the source.
func (c *Case) row(n int) int {
	if c.support == nil {
		return n
	}
	return c.support[n]
}

// objective compares a claim with the cost of the plan.
func (c *Case) objective(claim float64, cost *big.Rat, most float64) error {
	if math.IsNaN(claim) || math.IsInf(claim, 0) {
		return refuse("Objective = %v", claim)
	}
	d := num.Rat(claim)
	d.Sub(d, cost)
	slack := num.Rat(objectiveSlack)
	slack.Mul(slack, num.Rat(most))
	slack.Add(slack, num.Rat(math.SmallestNonzeroFloat64)) // where floats are no denser
	if d.Abs(d).Cmp(slack) > 0 {
		f, _ := cost.Float64()
		return refuse("Objective = %v, but the plan costs %v", claim, f)
	}
	return nil
}

// defects collects what sums have too much and too little.
type defects struct{ excess, lack *num.Dyadic }

func newDefects() *defects { return &defects{new(num.Dyadic), new(num.Dyadic)} }

// add adds what a sum has too much or, if x is negative, too little.
func (d *defects) add(x *num.Dyadic) {
	if x.Sign() > 0 {
		d.excess.Add(x)
	} else {
		d.lack.Add(x.Abs())
	}
}

// off returns what counts: the excess and, unless a part is enough, the lack.
func (d *defects) off(part bool) *num.Dyadic {
	x := new(num.Dyadic).Add(d.excess)
	if !part {
		x.Add(d.lack)
	}
	return x
}

// upper returns the bound of a plan that costs carried. Its mass, its column sums and the excess of its rows, times the
// sum of the source, are in multiples of 1 / unit.
func (c *Case) upper(most float64, carried *big.Rat, mass, rowExcess *num.Dyadic, cols []num.Dyadic,
	unit *num.Dyadic) *big.Rat {
	excess, scaled := new(num.Dyadic), new(num.Dyadic)
	for j := range cols {
		d := cols[j].Minus(num.NewDyadic(c.Q[j]).Times(unit))
		if d.Sign() > 0 {
			excess.Add(d)
		}
		if !c.point {
			continue
		}
		// Over the smaller of q_j and lo_j / scale.
		e := cols[j].Times(c.scale).Minus(num.NewDyadic(c.Lo[j]).Times(unit))
		if d = d.Times(c.scale); d.Cmp(e) > 0 {
			e = d
		}
		if e.Sign() > 0 {
			scaled.Add(e)
		}
	}
	missing := unit.Minus(mass).Over(unit)
	missing.Add(missing, rowExcess.Over(c.sum.Times(unit)))
	if c.point {
		missing.Add(missing, scaled.Over(c.scale.Times(unit)))
	} else {
		missing.Add(missing, excess.Over(unit))
	}
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
