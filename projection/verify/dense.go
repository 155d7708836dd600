package verify

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// A RowFunc writes row i of a plan to dst, given the mass of the row and its costs. It must write the same numbers at
// every call.
type RowFunc func(i int, mass float64, cost, dst []float64)

// Scaling returns the plan P_ij = mu_i v_j exp(-C_ij/reg) / (the row's sum), for v given by its logarithm: -Inf in
// every column without room. The error is ErrCertificate for another length, a bad logarithm or a bad reg.
func (c *Case) Scaling(logV []float64, reg float64) (RowFunc, error) {
	if len(logV) != c.Kv {
		return nil, refuse("LogV has %d entries, want %d", len(logV), c.Kv)
	}
	if !(reg > 0) || math.IsInf(reg, 0) {
		return nil, refuse("Reg = %v", reg)
	}
	for j, x := range logV {
		if math.IsNaN(x) || math.IsInf(x, 1) || c.Hi[j] == 0 && !math.IsInf(x, -1) {
			return nil, refuse("LogV[%d] = %v", j, x)
		}
	}
	return func(_ int, mass float64, cost, dst []float64) {
		sum := exponentials(logV, reg, cost, dst)
		for j, x := range dst {
			if x > 0 {
				dst[j] = math.Min(x/sum, 1) * mass
			}
		}
	}, nil
}

// exponentials writes v_j exp(-cost_j/reg) to dst, divided by the largest of them, and returns their sum.
func exponentials(logV []float64, reg float64, cost, dst []float64) (sum float64) {
	least, top := math.Inf(1), math.Inf(-1)
	for j, x := range cost {
		if !math.IsInf(logV[j], -1) {
			least = min(least, x)
		}
	}
	for j, x := range cost {
		dst[j] = logV[j] - (x-least)/reg
		top = max(top, dst[j])
	}
	for j, x := range dst {
		dst[j] = 0
		if x -= top; x > -745 {
			dst[j] = math.Exp(x)
			sum += dst[j]
		}
	}
	return sum
}

// A Moves changes a plan with the given column sums before the plan is repaired. It returns the new column sums, and a
// function that changes a row in place, to numbers >= 0.
type Moves func(sums []float64) (after []float64, row func(p []float64))

// Found is what Dense finds in a plan.
type Found struct {
	Upper *big.Rat
	Most  float64 // the largest cost, as Case.Most has it
	// Of the plan itself, in floats: its cost over the largest cost (over 1 if that is 0), and how far its column sums are
	// from Q in total.
	Transport, Residual float64
}

// unitBits says what the numbers of a plan are cut to: multiples of 2^-unitBits.
const unitBits = 62

// Dense proves an upper bound with the plan that row makes, changed by moves if moves is not nil. Columns that exceed Q
// are scaled down to Q, and the mass that is then missing in rows and columns is added as a product of the two. It does
// not matter how the numbers are made: they are cut to multiples of 2^-62, and from there on everything is exact.
// Errors: ErrCertificate, and those of Row.
func (c *Case) Dense(row RowFunc, moves Moves) (Found, error) {
	var f Found
	var err error
	if f.Most, err = c.Most(); err != nil {
		return f, err
	}
	sums, err := c.measure(row, &f)
	if err != nil {
		return f, err
	}
	move := func([]float64) {}
	if moves != nil {
		sums, move = moves(sums)
	}
	scale, add, lacking := c.repair(sums)

	unit := num.NewDyadic(1 << unitBits)
	whole := cut{carried: new(num.Acc), units: make([]uint64, c.Kv)}
	excess := new(num.Dyadic) // of rows, times the sum of the source, in units
	p := make([]float64, c.Kv)
	err = c.Masses(func(i int, given, mass float64) error {
		cost, err := c.Row(i)
		if err != nil {
			return err
		}
		row(i, mass, cost, p)
		move(p)
		var s float64
		for j, x := range p {
			p[j] = x * scale[j]
			s += p[j]
		}
		if lacking > 0 { // what is missing in this row, as a part of what is lacking in the columns
			share := math.Max(0, mass-s) / lacking
			for j, x := range p {
				p[j] = x + share*add[j]
			}
		}
		sent := whole.send(p, cost, mass)
		addExcess(excess, num.DyadicUint(sent).Times(c.sum), num.NewDyadic(given).Times(unit))
		return nil
	})
	if err != nil {
		return f, err
	}
	cols := make([]num.Dyadic, c.Kv)
	for j, n := range whole.units {
		cols[j].Add(num.DyadicUint(n))
	}
	transport := whole.carried.Rat()
	f.Upper = c.upper(f.Most, transport.Quo(transport, unit.Rat()), num.DyadicUint(whole.moved), excess, cols, unit)
	return f, nil
}

// measure sets Transport and Residual of f, and returns the column sums of the plan.
func (c *Case) measure(row RowFunc, f *Found) (sums []float64, err error) {
	top := f.Most
	if top == 0 {
		top = 1
	}
	p, sums := make([]float64, c.Kv), make([]float64, c.Kv)
	err = c.Masses(func(i int, _, mass float64) error {
		cost, err := c.Row(i)
		if err != nil {
			return err
		}
		row(i, mass, cost, p)
		for j, x := range p {
			sums[j] += x
			if x > 0 {
				f.Transport += cost[j] / top * x
			}
		}
		return nil
	})
	for j, q := range c.Q {
		f.Residual += math.Abs(q - sums[j])
	}
	return sums, err
}

// cut is a plan in whole units of 2^-unitBits.
type cut struct {
	carried *num.Acc // its cost
	units   []uint64 // its column sums
	moved   uint64   // the sum of these
}

// send cuts a row of the given mass to units, and returns how many it has.
func (w *cut) send(p, cost []float64, mass float64) (sent uint64) {
	most := uint64(2 * mass * (1 << unitBits)) // more would be nonsense; so no sum of units overflows
	for j, x := range p {
		y := math.Floor(math.Min(x, mass) * (1 << unitBits))
		if !(y >= 1) || uint64(y) > most-sent {
			continue
		}
		w.carried.AddMul(cost[j], y)
		w.units[j] += uint64(y)
		sent += uint64(y)
	}
	w.moved += sent
	return sent
}

// repair returns by what columns with the given sums are scaled down, what they lack, and the sum of that.
func (c *Case) repair(sums []float64) (scale, add []float64, lacking float64) {
	scale, add = make([]float64, c.Kv), make([]float64, c.Kv)
	for j, q := range c.Q {
		scale[j] = 1
		if q < sums[j] {
			scale[j] = q / sums[j]
		}
		add[j] = math.Max(0, q-sums[j])
		lacking += add[j]
	}
	return scale, add, lacking
}
