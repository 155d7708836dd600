package channel

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// Mixture is a public list of components. A release is an output of one of them: of which, has the same odds for every
// device. It is immutable.
type Mixture struct {
	Epsilon    ldp.Epsilon
	Bits       int // all weights are in units of 2^-Bits
	Inputs     int
	Components []Component

	near metric // for discs
}

// Component is a code or a disc.
type Component struct {
	// Weight is the odds of the component, above 0: what the outputs of a row have. Those of a mixture sum to 2^Bits.
	Weight uint64
	// Low is the weight of an output that is not favoured.
	Low uint64
	// Colors is the number of outputs of a code; 0 says that the component is a disc, whose outputs are the inputs.
	Colors int
	// Color is, for a code, the colour of each input: 0 to Colors - 1. The output of the own colour has the weight
	// Weight - (Colors - 1) Low, which is at most e^eps Low.
	Color []int32
	// High is, for a disc, the weight of a favoured output, at most e^eps Low. Outputs are favoured from the nearest to the
	// input on, ties by index, until the sum is Weight; the last one has what is left.
	High uint64
}

// Outputs is the number of outputs of a component for k inputs.
func (c Component) Outputs(k int) int {
	if c.Colors > 0 {
		return c.Colors
	}
	return k
}

// high is the weight of a favoured output. It wraps for a code with too large a Low, which fits finds.
func (c Component) high() uint64 {
	if c.Colors > 0 {
		return c.Weight - uint64(c.Colors-1)*c.Low
	}
	return c.High
}

// Outputs is the number of outputs of all components, in their order.
func (m *Mixture) Outputs() int {
	n := 0
	for _, c := range m.Components {
		n += c.Outputs(m.Inputs)
	}
	return n
}

// Verify checks that every component is eps-private, as integers, by package ldp: the rows are points of a box with
// hi <= e^eps lo. Errors: ErrShape for lists that do not fit, and those of ldp.
func (m *Mixture) Verify() error {
	_, err := m.Box()
	return err
}

// Box returns the box that all rows lie in. Errors: those of Verify.
func (m *Mixture) Box() (*ldp.Polytope, error) {
	if m.Bits < 1 || m.Bits > 62 || len(m.Components) == 0 || m.Inputs < 1 {
		return nil, fmt.Errorf("%w: %d bits, %d inputs, %d components", wpmerr.ErrShape, m.Bits, m.Inputs, len(m.Components))
	}
	left := uint64(1) << m.Bits
	var lo, hi []uint64
	for n, c := range m.Components {
		if c.Weight == 0 || c.Weight > left {
			return nil, fmt.Errorf("%w: the weight %d of component %d", wpmerr.ErrShape, c.Weight, n)
		}
		left -= c.Weight
		if err := c.fits(m.Inputs); err != nil {
			return nil, fmt.Errorf("component %d: %w", n, err)
		}
		lo = append(lo, slices.Repeat([]uint64{c.Low}, c.Outputs(m.Inputs))...)
		hi = append(hi, slices.Repeat([]uint64{c.high()}, c.Outputs(m.Inputs))...)
	}
	if left > 0 {
		return nil, fmt.Errorf("%w: weights sum to %d less than 2^%d", wpmerr.ErrShape, left, m.Bits)
	}
	return ldp.NewPolytopeFromBounds(m.Epsilon, lo, hi, m.Bits)
}

// fits checks that rows of k inputs can have the weight of the component, between Low and high, and the colours.
func (c Component) fits(k int) error {
	n := uint64(c.Outputs(k))
	if c.Low > c.Weight/n {
		return fmt.Errorf("%w: %d outputs of at least %d for the weight %d", wpmerr.ErrShape, n, c.Low, c.Weight)
	}
	if c.Colors == 0 {
		if c.High < c.Low || c.High <= (c.Weight-1)/n {
			return fmt.Errorf("%w: %d outputs of at most %d for the weight %d", wpmerr.ErrShape, n, c.High, c.Weight)
		}
		return nil
	}
	if len(c.Color) != k {
		return fmt.Errorf("%w: %d colours for %d inputs", wpmerr.ErrShape, len(c.Color), k)
	}
	for i, g := range c.Color {
		if g < 0 || int(g) >= c.Colors {
			return fmt.Errorf("%w: input %d has the colour %d of %d", wpmerr.ErrShape, i, g, c.Colors)
		}
	}
	return nil
}

// Row writes the weights of input i of component n into dst, of length Outputs of it: they sum to its Weight. It panics
// for an i or n out of range.
func (m *Mixture) Row(n, i int, dst []uint64) {
	c := m.Components[n]
	for y := range dst {
		dst[y] = c.Low
	}
	if c.Colors > 0 {
		dst[c.Color[i]] = c.high()
		return
	}
	left := c.Weight - uint64(len(dst))*c.Low
	for _, j := range nearest(m.near.row(i, make([]float64, m.Inputs))) {
		if left == 0 {
			break
		}
		more := min(left, c.High-c.Low)
		dst[j] += more
		left -= more
	}
}

// Full is how many outputs a row of a disc raises to High: all before the last one that it raises.
func (c Component) Full(k int) int {
	left := c.Weight - uint64(k)*c.Low
	if left == 0 {
		return 0
	}
	return int((left - 1) / (c.High - c.Low))
}

// Channel returns the rows of all components, side by side, for the estimators. Errors: those of estimate.NewChannel.
func (m *Mixture) Channel() (*estimate.Channel, error) {
	return estimate.NewChannel(m.Inputs, m.Outputs(), m.Shares)
}

// Shares writes the probabilities of all outputs of input i into dst, of length Outputs. It panics for an i out of range.
func (m *Mixture) Shares(i int, dst []float64) {
	var buf []uint64
	for n, c := range m.Components {
		size := c.Outputs(m.Inputs)
		buf = slices.Grow(buf[:0], size)[:size]
		m.Row(n, i, buf)
		for y, v := range buf {
			dst[y] = math.Ldexp(float64(v), -m.Bits)
		}
		dst = dst[size:]
	}
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

// lows returns the least integer weight of an output with which total can be had where first outputs have up to e^eps
// times as much and rest do not.
func lows(eps ldp.Epsilon, total uint64, first, rest int64) uint64 {
	lower, _ := eps.ExpBounds(expBits)
	d := new(big.Rat).Mul(lower, new(big.Rat).SetInt64(first))
	d.Add(d, new(big.Rat).SetInt64(rest))
	n := new(big.Int).Mul(d.Denom(), new(big.Int).SetUint64(total))
	n.Add(n, d.Num()).Sub(n, big.NewInt(1))
	return n.Quo(n, d.Num()).Uint64()
}

// integer sets the low weight of a code, or the low and the high one of a disc of size places.
func (c *Component) integer(eps ldp.Epsilon, k, size int) error {
	n := int64(c.Outputs(k))
	if c.Colors > 0 {
		c.Low = lows(eps, c.Weight, 1, n-1)
	} else {
		c.Low = lows(eps, c.Weight, int64(size), n-int64(size))
		lower, _ := eps.ExpBounds(expBits)
		v := new(big.Int).Mul(new(big.Int).SetUint64(c.Low), lower.Num())
		v.Quo(v, lower.Denom())
		c.High = c.Weight
		if v.IsUint64() {
			c.High = min(c.Weight, v.Uint64())
		}
	}
	if err := c.fits(k); err != nil {
		return fmt.Errorf("%w: a weight of %d for %d outputs at eps %v", ErrBits, c.Weight, n, eps)
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
