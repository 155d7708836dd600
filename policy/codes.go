package policy

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/ldp"
)

// Code is a component of a policy that has a list of them: a code, or a disc. The outputs of the policy are those of all
// components, in their order. In every row, those of a component sum to its Weight. So a release draws a component by
// odds that are the same for everybody, and an output of it by the private data.
//
// Weights are in units of 2^-B.
type Code struct {
	// Weight is the odds of the component: above 0. The weights of a policy sum to 2^B.
	Weight uint64
	// Low is the weight of an output that is not favoured.
	Low uint64
	// Colors is the number of outputs of a code, from 2 on. 0 says that the component is a disc.
	Colors int
	// Packed is, for a code, the colour of each input, as PackColors writes it. The output with the colour of the input is
	// favoured: it has Weight - (Colors - 1) Low.
	Packed []byte
	// High is, for a disc, the weight of a favoured output. The outputs of a disc are the inputs, ranked by the Geometry.
	// Those before the threshold of an input are favoured in its row, and the threshold has what is left.
	High       uint64
	Thresholds []int32
}

// maxColorings bounds inputs times codes: what a release scans, and Decode checks, in some tenths of a second.
const maxColorings = 1 << 28

// colorBits is how many bits a colour takes.
func colorBits(colors int) int { return bits.Len(uint(colors - 1)) }

// packedLen is the length of the packed colours of k inputs.
func packedLen(k, colors int) int { return (k*colorBits(colors) + 7) / 8 }

// PackColors writes colours, each from 0 to colors - 1, in bits.Len(colors - 1) bits each, the highest bit first; the
// last byte ends with bits 0. Errors: ErrShape.
func PackColors(color []int32, colors int) ([]byte, error) {
	if colors < 2 || colors > MaxOutputs {
		return nil, fmt.Errorf("%w: %d colours, want 2 to %d", ErrShape, colors, MaxOutputs)
	}
	size, at := colorBits(colors), 0
	out := make([]byte, packedLen(len(color), colors))
	for i, g := range color {
		if g < 0 || int(g) >= colors {
			return nil, fmt.Errorf("%w: input %d has the colour %d of %d", ErrShape, i, g, colors)
		}
		for b := size - 1; b >= 0; b-- {
			out[at/8] |= byte(g>>b&1) << (7 - at%8)
			at++
		}
	}
	return out, nil
}

// Color returns the colour of input i of a code, 0 <= i < inputs. Its time depends on i: it is not for private data.
func (c Code) Color(i int) int {
	size := colorBits(c.Colors)
	g := 0
	for b := i * size; b < (i+1)*size; b++ {
		g = g<<1 | int(c.Packed[b/8]>>(7-b%8)&1)
	}
	return g
}

// scanColor is Color for private data: it reads all bytes, without a branch on i.
//
// The colour has 20 bits at most, so it is in the window of 32 bits that starts with the byte of its first one. Byte
// first + d of the window, d from 0 to 3, moves to the left by 24 - 8 d. For any other d that is 32 to 56, which leaves
// no bit of the lowest 32, or, as a number without sign, above 63, which leaves none at all.
func (c Code) scanColor(i int) int {
	size := uint64(colorBits(c.Colors))
	at := uint64(i) * size
	first, w := at/8, uint64(0)
	for n, b := range c.Packed {
		w |= uint64(b) << (24 - 8*(uint64(n)-first))
	}
	return int(w & (1<<32 - 1) >> (32 - at%8 - size) & (1<<size - 1))
}

// outputs is the number of outputs of a component, for k inputs.
func (c Code) outputs(k int) int {
	if c.Colors > 0 {
		return c.Colors
	}
	return k
}

// high is the weight of a favoured output.
func (c Code) high() uint64 {
	if c.Colors > 0 {
		return c.Weight - uint64(c.Colors-1)*c.Low
	}
	return c.High
}

// fill says how many outputs a disc raises to High in each row, and how much the threshold has above Low. Both are 0 if
// nothing is left to give.
func (c Code) fill(k int) (full int, rest uint64) {
	left, width := c.Weight-uint64(k)*c.Low, c.High-c.Low
	if left == 0 {
		return 0, 0
	}
	full = int((left - 1) / width)
	return full, left - uint64(full)*width
}

// check decides whether the numbers of a component fit: a row of it can sum to Weight between Low and high. That high
// is at most e^eps Low is for ldp.
func (c Code) check(k int) error {
	n := uint64(c.outputs(k))
	if c.Weight == 0 {
		return fmt.Errorf("%w: it has no weight", ErrShape)
	}
	if c.Low > c.Weight/n {
		return fmt.Errorf("%w: %d outputs of at least %d have more than the weight %d", ErrShape, n, c.Low, c.Weight)
	}
	if c.Colors == 0 {
		switch {
		case c.Packed != nil:
			return fmt.Errorf("%w: a disc with colours", ErrShape)
		case c.High < c.Low || c.High <= (c.Weight-1)/n: // n High < Weight
			return fmt.Errorf("%w: %d outputs from %d to %d cannot have the weight %d", ErrShape, n, c.Low, c.High, c.Weight)
		case len(c.Thresholds) != k:
			return fmt.Errorf("%w: %d thresholds for %d inputs", ErrShape, len(c.Thresholds), k)
		}
		return nil
	}
	switch {
	case c.Colors < 2 || c.Colors > MaxOutputs:
		return fmt.Errorf("%w: %d colours, want 2 to %d", ErrShape, c.Colors, MaxOutputs)
	case c.High != 0 || c.Thresholds != nil:
		return fmt.Errorf("%w: a code with what only a disc has", ErrShape)
	case len(c.Packed) != packedLen(k, c.Colors):
		return fmt.Errorf("%w: %d bytes of colours for %d inputs and %d colours, want %d", ErrShape, len(c.Packed), k,
			c.Colors, packedLen(k, c.Colors))
	}
	return nil
}

// checkEntries decides whether every input has a colour, or a threshold, that exists.
func (c Code) checkEntries(k int) error {
	for i := range k {
		if c.Colors > 0 {
			if g := c.Color(i); g >= c.Colors {
				return fmt.Errorf("%w: input %d has the colour %d of %d", ErrRow, i, g, c.Colors)
			}
		} else if t := c.Thresholds[i]; t < 0 || int(t) >= k {
			return fmt.Errorf("%w: the threshold of input %d is output %d of %d", ErrRow, i, t, k)
		}
	}
	if c.Colors == 0 {
		return nil
	}
	if spare := 8*len(c.Packed) - k*colorBits(c.Colors); spare > 0 && c.Packed[len(c.Packed)-1]&(1<<spare-1) != 0 {
		return fmt.Errorf("%w: bits after the last colour", ErrRow)
	}
	return nil
}

// CodesBox returns the box of a list of components for k inputs, which ldp has verified. Every row lies in it, and the
// guarantee rests on it alone: the bounds of an output are Low and High of its component.
//
// Errors: ErrShape, ErrLimit, and those of ldp. They say which component is wrong.
func CodesBox(eps ldp.Epsilon, b, k int, codes []Code) (*ldp.Polytope, error) {
	if k < 1 || k > MaxInputs || len(codes) == 0 || b < 1 || b > 62 {
		return nil, fmt.Errorf("%w: %d components for %d inputs and %d bits", ErrShape, len(codes), k, b)
	}
	if len(codes) > maxColorings/k {
		return nil, fmt.Errorf("%w: %d components for %d inputs: more than %d colours", ErrLimit, len(codes), k, maxColorings)
	}
	ends, err := checkWeights(b, k, codes)
	if err != nil {
		return nil, err
	}
	n := ends[len(ends)-1]
	lo, hi := make([]uint64, 0, n), make([]uint64, 0, n)
	for _, c := range codes {
		for range c.outputs(k) {
			lo, hi = append(lo, c.Low), append(hi, c.high())
		}
	}
	box, err := ldp.NewPolytopeFromBounds(eps, lo, hi, b)
	if at := (&ldp.BoxError{}); errors.As(err, &at) && at.Index >= 0 {
		first, _ := slices.BinarySearch(ends, at.Index+1)
		err = placed{"codes", 1 + first, fmt.Errorf("component %d: policy: box: %w", first, err)}
	}
	return box, err
}

// checkWeights decides whether the components fit and their weights sum to 2^b. It returns how many outputs there are up
// to each.
func checkWeights(b, k int, codes []Code) (ends []int, err error) {
	left, n := uint64(1)<<b, 0
	for i, c := range codes {
		err := c.check(k)
		switch {
		case err != nil:
		case c.Weight > left:
			err = fmt.Errorf("%w: the weights up to this one sum to more than 2^%d", ErrShape, b)
		case c.outputs(k) > MaxOutputs-n:
			err = fmt.Errorf("%w: more than %d outputs", ErrLimit, MaxOutputs)
		}
		if err != nil {
			return nil, placed{"codes", 1 + i, fmt.Errorf("component %d: %w", i, err)}
		}
		left -= c.Weight
		n += c.outputs(k)
		ends = append(ends, n)
	}
	if left > 0 {
		return nil, fmt.Errorf("%w: the weights of components sum to %d less than 2^%d", ErrShape, left, b)
	}
	return ends, nil
}

// checkCodes validates the list against the rest of the policy.
func (c *content) checkCodes() (err error) {
	if c.Codes == nil {
		return nil
	}
	switch {
	case c.Mode != Mixture:
		return place("mode", fmt.Errorf("%w: %s with codes, which are for %s", ErrMode, c.Mode, Mixture))
	case c.Rows != nil || c.Thresholds != nil:
		return fmt.Errorf("%w: codes beside rows or thresholds", ErrShape)
	case c.OutputLabels != nil:
		return place("output_labels", fmt.Errorf("%w: labels of outputs beside codes, whose outputs are sets of inputs", ErrShape))
	case len(c.Certificate) > 0:
		return place("certificate", fmt.Errorf("%w: a certificate beside codes: it would be of releases that are outputs of the cost",
			ErrShape))
	case !c.Fallback.isZero():
		return place("fallback", fmt.Errorf("%w: a fallback beside codes, which have one of their own", ErrShape))
	}
	c.Codes = cloneCodes(c.Codes)
	disc := slices.ContainsFunc(c.Codes, func(code Code) bool { return code.Colors == 0 })
	if disc && (c.Geometry == nil || c.Geometry.InputPoints != nil) || !disc && c.Geometry != nil {
		return place("geometry", fmt.Errorf("%w: a geometry of the inputs goes with discs, and only with them", ErrShape))
	}
	if err := c.verifyCodes(); err != nil {
		return err
	}
	c.fallback, err = c.even()
	return err
}

// verifyCodes decides whether the box is that of the list, and whether every colour and threshold exists.
func (c *content) verifyCodes() error {
	box, err := CodesBox(c.Polytope.Epsilon(), c.Polytope.Bits(), c.Inputs, c.Codes)
	if err != nil {
		return err
	}
	if box.Len() != c.Polytope.Len() {
		return fmt.Errorf("%w: the components have %d outputs, the box %d", ErrShape, box.Len(), c.Polytope.Len())
	}
	for j := range box.Len() {
		if box.Lo(j) != c.Polytope.Lo(j) || box.Hi(j) != c.Polytope.Hi(j) {
			return fmt.Errorf("%w: the bounds of output %d are not those of its component", ErrShape, j)
		}
	}
	for n, code := range c.Codes {
		if err := code.checkEntries(c.Inputs); err != nil {
			return placed{"codes", 1 + n, fmt.Errorf("component %d: %w", n, err)}
		}
	}
	return nil
}

// even returns the fallback row: the outputs of a component share its weight evenly, the first ones with one unit more
// if it is no multiple. It is a point of the box: with n outputs, n Low <= Weight <= n high.
func (c *content) even() (ldp.Weights, error) {
	row := make([]uint64, 0, c.Polytope.Len())
	for _, code := range c.Codes {
		n := uint64(code.outputs(c.Inputs))
		each, more := code.Weight/n, code.Weight%n
		for y := range n {
			v := each
			if y < more {
				v++
			}
			row = append(row, v)
		}
	}
	w, err := c.Polytope.Weights(row)
	if err != nil {
		return w, fmt.Errorf("%w: fallback: %w", ErrRow, err)
	}
	return w, nil
}

// spread returns the row of input i of a policy with codes, or the fallback row if usable is 0 and not 1, by the same
// work. Of a disc with a threshold that is not where the fill ends, it has the part of the fallback row.
func (c *content) spread(i, usable int) (ldp.Weights, error) {
	n, at := make([]uint64, c.Polytope.Len()), 0
	var x []int32
	if c.places != nil {
		x = scan(c.places.in, c.places.axes, i)
	}
	for _, code := range c.Codes {
		part := n[at:][:code.outputs(c.Inputs)]
		good := -uint64(usable)
		if code.Colors > 0 {
			code.spread(i, part)
		} else {
			good &= -c.spreadDisc(code, x, int(scan(code.Thresholds, 1, i)[0]), part)
		}
		c.keep(part, at, good)
		at += len(part)
	}
	return c.Polytope.Weights(n)
}

// spread writes the row of a code for input i.
func (c Code) spread(i int, row []uint64) {
	own, width := c.scanColor(i), c.high()-c.Low
	for y := range row {
		row[y] = c.Low + width&-uint64(subtle.ConstantTimeEq(int32(y), int32(own)))
	}
}

// keep replaces a part of a row, from output at on, by that of the fallback row, unless good is all ones and not 0.
func (c *content) keep(part []uint64, at int, good uint64) {
	for y := range part {
		part[y] = part[y]&good | c.fallback.At(at+y)&^good
	}
}

// spreadDisc writes the row of a disc for the input at x with threshold t. It returns 1 if as many outputs come before
// t as the fill raises, else 0, and then what is in row is no row.
func (c *content) spreadDisc(code Code, x []int32, t int, row []uint64) uint64 {
	key, width := c.places.key(x, scan(c.places.out, c.places.axes, t)), code.High-code.Low
	full, rest := code.fill(len(row))
	c.places.keys(x, row)
	count := uint64(0)
	for y, k := range row {
		first := before(k, y, key, t)
		row[y] = code.Low + width&-first + rest&-uint64(subtle.ConstantTimeEq(int32(y), int32(t)))
		count += first
	}
	return uint64(subtle.ConstantTimeEq(int32(count), int32(full)))
}

// appendSpread appends the weights of spread(i, 1), by the shortest way.
func (c *content) appendSpread(n []uint64, i int) []uint64 {
	from := len(n)
	lo, _ := c.columns()
	n = append(n, lo...)
	row, at := n[from:], 0
	for _, code := range c.Codes {
		part := row[at:][:code.outputs(c.Inputs)]
		if code.Colors > 0 {
			part[code.Color(i)] = code.high()
		} else if c.spreadDisc(code, c.places.input(i), int(code.Thresholds[i]), part) == 0 {
			for y := range part {
				part[y] = c.fallback.At(at + y)
			}
		}
		at += len(part)
	}
	return n
}

// HasCodes reports whether the policy has a list of codes and discs.
func (p Policy) HasCodes() bool { return p.get().Codes != nil }

// Codes returns a copy of the list of codes and discs, nil if there is none.
func (p Policy) Codes() []Code { return cloneCodes(p.get().Codes) }

func cloneCodes(codes []Code) []Code {
	codes = slices.Clone(codes)
	for n := range codes {
		codes[n].Packed, codes[n].Thresholds = slices.Clone(codes[n].Packed), slices.Clone(codes[n].Thresholds)
	}
	return codes
}

// Component returns which component of the list output j belongs to, and as what: its colour, or, of a disc, the input
// that it is. It returns -1, 0 without a list, and for an output that is none.
func (p Policy) Component(j int) (component, output int) {
	c := p.get()
	for n, code := range c.Codes {
		size := code.outputs(c.Inputs)
		if j >= 0 && j < size {
			return n, j
		}
		j -= size
	}
	return -1, 0
}

// Favours returns the inputs that output j speaks for, of a policy with codes: in their rows it has more than the lowest
// weight. It takes O(inputs axes).
func (p Policy) Favours(j int) (inputs []int) {
	c := p.get()
	n, y := p.Component(j)
	if n < 0 {
		return nil
	}
	code := c.Codes[n]
	for i := range c.Inputs {
		in := false
		if code.Colors > 0 {
			in = code.Color(i) == y
		} else {
			x, t := c.places.input(i), int(code.Thresholds[i])
			key := c.places.key(x, c.places.output(t))
			in = y == t || before(c.places.key(x, c.places.output(y)), y, key, t) == 1
		}
		if in {
			inputs = append(inputs, i)
		}
	}
	return inputs
}
