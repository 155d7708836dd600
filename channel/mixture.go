package channel

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
)

// Mixture is a public list of components. A device draws one by its weight, and releases from its row there. It is
// immutable.
type Mixture struct {
	Epsilon    ldp.Epsilon
	Bits       int // weights of components sum to 2^Bits, and so do those of a row of a component
	Inputs     int
	Components []Component

	near metric // for discs
}

// Component is a code or a disc.
type Component struct {
	// Weight is the odds of the component, of 2^Bits: above 0.
	Weight uint64
	// Low is the weight, of 2^Bits, of an output that is not favoured.
	Low uint64
	// Colors is the number of outputs of a code; 0 says that the component is a disc, whose outputs are the inputs.
	Colors int
	// Color is, for a code, the colour of each input: 0 to Colors - 1. A release has the colour of its input with the
	// weight 2^Bits - (Colors - 1) Low, which is at most e^eps Low.
	Color []int32
	// High is, for a disc, the weight of a favoured output, at most e^eps Low. Outputs are favoured from the nearest to the
	// input on, ties by index, until the sum is 2^Bits; the last one has what is left.
	High uint64
}

// Outputs is the number of outputs of a component for k inputs.
func (c Component) Outputs(k int) int {
	if c.Colors > 0 {
		return c.Colors
	}
	return k
}

// Outputs is the number of outputs of all components, in their order.
func (m *Mixture) Outputs() int {
	n := 0
	for _, c := range m.Components {
		n += c.Outputs(m.Inputs)
	}
	return n
}

// Verify checks that every component is eps-private, as integers, by package ldp: the rows of a component are points of
// a box with hi <= e^eps lo. Errors: ErrShape for lists that do not fit, and those of ldp.
func (m *Mixture) Verify() error {
	if m.Bits < 1 || m.Bits > 62 || len(m.Components) == 0 || m.Inputs < 1 {
		return fmt.Errorf("%w: %d bits, %d inputs, %d components", ErrShape, m.Bits, m.Inputs, len(m.Components))
	}
	total := uint64(1) << m.Bits
	left := total
	for n, c := range m.Components {
		if c.Weight == 0 || c.Weight > left {
			return fmt.Errorf("%w: the weight %d of component %d", ErrShape, c.Weight, n)
		}
		left -= c.Weight
		if _, err := c.box(m.Epsilon, m.Bits, m.Inputs); err != nil {
			return fmt.Errorf("component %d: %w", n, err)
		}
		if c.Colors == 0 {
			continue
		}
		if len(c.Color) != m.Inputs {
			return fmt.Errorf("%w: component %d has %d colours for %d inputs", ErrShape, n, len(c.Color), m.Inputs)
		}
		for i, g := range c.Color {
			if g < 0 || int(g) >= c.Colors {
				return fmt.Errorf("%w: component %d, input %d: colour %d of %d", ErrShape, n, i, g, c.Colors)
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("%w: weights sum to %d less than 2^%d", ErrShape, left, m.Bits)
	}
	return nil
}

// box is what the rows of a component lie in.
func (c Component) box(eps ldp.Epsilon, bits, k int) (*ldp.Polytope, error) {
	total, n := uint64(1)<<bits, c.Outputs(k)
	high := c.High
	if c.Colors > 0 {
		if c.Low == 0 && n > 1 || n > 1 && c.Low > total/uint64(n) {
			return nil, fmt.Errorf("%w: %d colours of weight %d", ErrShape, n, c.Low)
		}
		high = total - uint64(n-1)*c.Low
		if n == 1 {
			return ldp.NewPolytopeFromBounds(eps, []uint64{total}, []uint64{total}, bits)
		}
	}
	return ldp.NewPolytopeFromBounds(eps, slices.Repeat([]uint64{c.Low}, n), slices.Repeat([]uint64{high}, n), bits)
}

// Row writes the weights of input i of component n into dst, of length Outputs of it: they sum to 2^Bits. It panics for
// an i or n out of range.
func (m *Mixture) Row(n, i int, dst []uint64) {
	c := m.Components[n]
	total := uint64(1) << m.Bits
	for y := range dst {
		dst[y] = c.Low
	}
	if c.Colors > 0 {
		dst[c.Color[i]] = total - uint64(c.Colors-1)*c.Low
		return
	}
	left := total - uint64(len(dst))*c.Low
	for _, j := range nearest(m.near.row(i, make([]float64, m.Inputs))) {
		if left == 0 {
			break
		}
		more := min(left, c.High-c.Low)
		dst[j] += more
		left -= more
	}
}

// Channel returns the rows of all components, side by side, for the estimators.
func (m *Mixture) Channel() (*estimate.Channel, error) {
	kv := m.Outputs()
	buf := make([]uint64, kv)
	return estimate.NewChannel(m.Inputs, kv, func(i int, dst []float64) {
		at := 0
		for n, c := range m.Components {
			row := buf[at:][:c.Outputs(m.Inputs)]
			m.Row(n, i, row)
			for y, v := range row {
				dst[at+y] = math.Ldexp(float64(c.Weight), -m.Bits) * math.Ldexp(float64(v), -m.Bits)
			}
			at += len(row)
		}
	})
}

// nearest returns the indices by distance, ties by index.
func nearest(row []float64) []int32 {
	order := make([]int32, len(row))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch {
		case row[a] < row[b]:
			return -1
		case row[a] > row[b]:
			return 1
		}
		return int(a) - int(b)
	})
	return order
}

// expBits is the precision of the bound on e^eps by which integers are found. That they hold is decided by ldp.
const expBits = 128

// lows returns the least integer weight that keeps total / (rest + e^eps first) or more for each of the others: with
// it, first favoured outputs need no more than e^eps times it.
func lows(eps ldp.Epsilon, bits int, first, rest int64) uint64 {
	lower, _ := eps.ExpBounds(expBits)
	d := new(big.Rat).Mul(lower, new(big.Rat).SetInt64(first))
	d.Add(d, new(big.Rat).SetInt64(rest))
	n := new(big.Int).Lsh(d.Denom(), uint(bits))
	n.Add(n, d.Num()).Sub(n, big.NewInt(1))
	return n.Quo(n, d.Num()).Uint64()
}

// integer sets the low weight of a code, or the low and the high one of a disc of size places.
func (c *Component) integer(eps ldp.Epsilon, bits, k, size int) error {
	total, n := uint64(1)<<bits, int64(c.Outputs(k))
	if c.Colors > 0 {
		c.Low = lows(eps, bits, 1, n-1)
	} else {
		c.Low = lows(eps, bits, int64(size), n-int64(size))
	}
	if c.Low > total/uint64(n) {
		return fmt.Errorf("%w: %d of them for %d outputs at eps %v", ErrBits, bits, n, eps)
	}
	if c.Colors == 0 {
		lower, _ := eps.ExpBounds(expBits)
		v := new(big.Int).Mul(new(big.Int).SetUint64(c.Low), lower.Num())
		v.Quo(v, lower.Denom())
		c.High = total
		if v.IsUint64() {
			c.High = min(total, v.Uint64())
		}
	}
	if _, err := c.box(eps, bits, k); err != nil {
		return fmt.Errorf("%w: %d of them for %d outputs at eps %v: %w", ErrBits, bits, n, eps, err)
	}
	return nil
}

// shares returns integers above 0 that sum to 2^bits, near the shares w, which sum to 1: what rounding down leaves goes
// to the largest remainders.
func shares(w []float64, bits int) ([]uint64, error) {
	total := uint64(1) << bits
	if uint64(len(w)) > total {
		return nil, fmt.Errorf("%w: %d of them for %d components", ErrBits, bits, len(w))
	}
	out, rest := make([]uint64, len(w)), make([]float64, len(w))
	spare := total - uint64(len(w)) // every one has 1
	left := spare
	for n, v := range w {
		exact := math.Ldexp(v, bits) - 1
		down := min(max(math.Floor(exact), 0), float64(spare))
		give := min(uint64(down), left)
		out[n], rest[n] = 1+give, exact-down
		left -= give
	}
	order := nearest(rest)
	slices.Reverse(order)
	each := left / uint64(len(w))
	left -= each * uint64(len(w))
	for n, j := range order {
		out[j] += each
		if uint64(n) < left {
			out[j]++
		}
	}
	return out, nil
}
