package codebook

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/policy/private"
)

const (
	// massSlack is how far from 1 the weights of a client may sum; they are divided by their sum.
	massSlack = 1e-9

	maxCount = 1 << 53 // of a weight in private data
	maxField = 66      // bytes: a minus, a numeral of 64, and a carriage return

	byteOrder = "\xef\xbb\xbf"
)

// CheckPrivate returns nil if Release can read the private data, and else a *private.Error, which names a line
// and never its content. It is for checks on the device. Whether there is an error is itself private.
func (c *Codebook) CheckPrivate(data []byte) error {
	if c.isZero() {
		return ErrZero
	}
	_, _, err := c.parsePrivate(c.newMemory(c.cfg.Atoms), data)
	return err
}

// parsePrivate reads atoms and weights of sum 1, as the package comment says. It keeps the atoms in m, and of the text
// no more than one number.
func (c *Codebook) parsePrivate(m *memory, data []byte) (atoms [][]float64, weights []float64, err error) {
	in := bufio.NewReader(private.Text(data))
	if b, _ := in.Peek(len(byteOrder)); string(b) == byteOrder {
		_, _ = in.Discard(len(byteOrder))
	}
	p := parser{c: c, line: 1, rows: m.float64s(c.cfg.Atoms*(c.cfg.Dim+1) + 1)[:0], atoms: m.atoms[:0],
		weights: m.float64s(c.cfg.Atoms)[:0]}
	for err == nil {
		var b byte
		if b, err = in.ReadByte(); err == io.EOF {
			b = '\n'
		} else if err != nil {
			return nil, nil, err
		}
		if problem := p.next(b); problem != "" {
			return nil, nil, &private.Error{Line: p.line, Problem: problem}
		}
	}
	if p.total == 0 {
		return nil, nil, &private.Error{Problem: "no weights above 0"}
	}
	for i := range p.weights {
		p.weights[i] /= p.total
	}
	return p.atoms, p.weights, nil
}

// A parser takes private data byte by byte.
type parser struct {
	c       *Codebook
	line    int
	header  bool // this line is the header
	at      int  // the field of this line that is being read
	field   [maxField]byte
	size    int       // of field, so far
	rows    []float64 // the coordinates so far
	x       []float64 // of them, those of this line
	atoms   [][]float64
	weights []float64
	total   float64
}

// next takes a byte, or says what is wrong.
func (p *parser) next(b byte) (problem string) {
	if b != ',' && b != '\n' {
		if p.size == maxField {
			return "a number of more than 64 characters"
		}
		p.field[p.size] = b
		p.size++
		return ""
	}
	field := p.field[:p.size]
	if b == '\n' {
		field = bytes.TrimSuffix(field, []byte("\r"))
	}
	if p.at > 0 || b != '\n' || len(field) > 0 { // the line is not empty
		if problem = p.number(field); problem != "" {
			return problem
		}
		if last := p.c.cfg.Dim + 1; p.at > last || b == '\n' && p.at < last {
			return fmt.Sprintf("not a weight and %d coordinates", last)
		}
		p.at++
	}
	if p.size = 0; b == '\n' {
		if p.at > 0 && !p.header {
			if !slices.ContainsFunc(p.x, func(v float64) bool { return v != 0 }) {
				return "the zero vector has no direction"
			}
			p.atoms = append(p.atoms, slices.Clip(p.x))
		}
		p.line, p.at, p.header = p.line+1, 0, false
	}
	return ""
}

// number takes a whole field: a weight, a coordinate, or a word of the header.
func (p *parser) number(field []byte) (problem string) {
	if p.at == 0 {
		p.header = p.line == 1 && string(field) == "weight"
	}
	switch {
	case p.header:
		if p.at > 0 && string(field) != "x"+strconv.Itoa(p.at) {
			return "a header of another form"
		}
	case p.at == 0:
		if len(p.atoms) == p.c.cfg.Atoms {
			return fmt.Sprintf("more than the %d vectors that the policy allows", p.c.cfg.Atoms)
		}
		weight, ok := private.Numeral(field)
		if !ok || weight > maxCount {
			return "the weight is not a number from 0 to 2^53"
		}
		p.weights, p.total, p.x = append(p.weights, weight), p.total+weight, p.rows[len(p.rows):]
	default:
		digits := bytes.TrimPrefix(field, []byte("-"))
		v, ok := private.Numeral(digits)
		if !ok {
			return fmt.Sprintf("coordinate %d is not a number", p.at)
		}
		if len(digits) < len(field) {
			v = -v
		}
		p.rows = append(p.rows, v)
		p.x = p.rows[len(p.rows)-p.at:]
	}
	return ""
}

// FormatPrivate writes atoms and weights as private data, which Release reads as the same numbers, the weights divided
// by their sum. It accepts what CheckAtoms accepts. Like those of CheckAtoms, its errors reveal private data. They are
// those of CheckAtoms, and ErrWeights for data that are too long.
func (c *Codebook) FormatPrivate(atoms [][]float64, weights []float64) ([]byte, error) {
	if err := c.CheckAtoms(atoms, weights); err != nil {
		return nil, err
	}
	var out []byte
	for i, x := range atoms {
		out = strconv.AppendFloat(out, math.Abs(weights[i]), 'g', -1, 64) // weights are not negative, but for -0
		for _, v := range x {
			out = strconv.AppendFloat(append(out, ','), v, 'g', -1, 64)
		}
		out = append(out, '\n')
	}
	if len(out) > private.MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes as private data, at most %d", ErrWeights, len(out), private.MaxBytes)
	}
	return out, nil
}

// CheckAtoms returns nil if the data are a distribution: 1 to Config.Atoms points of d+1 finite coordinates, not all
// zero (the direction counts), and as many weights >= 0 whose sum is within 1e-9 of 1. Otherwise it returns ErrPoint or
// ErrWeights, which reveal private data and must stay on the device; a zero Codebook gives ErrZero.
func (c *Codebook) CheckAtoms(atoms [][]float64, weights []float64) error {
	if c.isZero() {
		return ErrZero
	}
	_, _, err := c.parse(c.memoryFor(atoms), atoms, weights)
	return err
}

// unit appends x / |x| to dst.
func (c *Codebook) unit(dst, x []float64) ([]float64, error) {
	if len(x) != c.cfg.Dim+1 {
		return dst, fmt.Errorf("%w: %d coordinates, want %d", ErrPoint, len(x), c.cfg.Dim+1)
	}
	largest := 0.0
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return dst, fmt.Errorf("%w: coordinate %d is %v", ErrPoint, i, v)
		}
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		return dst, fmt.Errorf("%w: the zero vector has no direction", ErrPoint)
	}
	_, exp := math.Frexp(largest) // exact scaling, against overflow and underflow of the squares
	sum := 0.0
	start := len(dst)
	for _, v := range x {
		v = math.Ldexp(v, -exp)
		dst = append(dst, v)
		sum += v * v
	}
	norm := math.Sqrt(sum)
	for i := range dst[start:] {
		dst[start+i] /= norm
	}
	return dst, nil
}

// parse returns the atoms of positive weight as unit vectors, row-major, and their weights, of sum 1.
func (c *Codebook) parse(m *memory, atoms [][]float64, weights []float64) (points, mu []float64, err error) {
	if len(atoms) == 0 || len(atoms) > c.cfg.Atoms || len(atoms) != len(weights) {
		return nil, nil, fmt.Errorf("%w: %d atoms and %d weights, want as many, 1 to %d",
			ErrWeights, len(atoms), len(weights), c.cfg.Atoms)
	}
	total := 0.0
	for i, v := range weights {
		if !(v >= 0) {
			return nil, nil, fmt.Errorf("%w: weight %d is %v", ErrWeights, i, v)
		}
		total += v
	}
	if !(math.Abs(total-1) <= massSlack) {
		return nil, nil, fmt.Errorf("%w: they sum to %v, want 1", ErrWeights, total)
	}
	points, mu = m.float64s(len(atoms) * (c.cfg.Dim + 1))[:0], m.float64s(len(atoms))[:0]
	for i, x := range atoms {
		if weights[i] == 0 {
			if _, err := c.unit(points, x); err != nil {
				return nil, nil, fmt.Errorf("atom %d: %w", i, err)
			}
			continue
		}
		if points, err = c.unit(points, x); err != nil {
			return nil, nil, fmt.Errorf("atom %d: %w", i, err)
		}
		mu = append(mu, weights[i]/total)
	}
	return points, mu, nil
}
