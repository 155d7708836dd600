package codebook

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/policy"
)

const (
	// massSlack is how far from 1 the weights of a client may sum; they are divided by their sum.
	massSlack = 1e-9

	maxCount   = 1 << 53 // of a weight in private data
	maxNumeral = 64      // bytes
)

// CheckPrivate returns nil if Release can read the private data, and else a *policy.PrivateError, which names a line
// and never its content. It is for checks on the device. Whether there is an error is itself private.
func (c *Codebook) CheckPrivate(data []byte) error {
	if c.isZero() {
		return ErrZero
	}
	_, _, err := c.parsePrivate(data)
	return err
}

// parsePrivate reads atoms and weights of sum 1, as the package comment says. It keeps the atoms and nothing else of
// the data.
func (c *Codebook) parsePrivate(data []byte) (atoms [][]float64, weights []float64, err error) {
	if len(data) > policy.MaxBytes {
		return nil, nil, &policy.PrivateError{Problem: fmt.Sprintf("more than %d bytes", policy.MaxBytes)}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	total := 0.0
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 || n == 1 && c.isHeader(line) {
			continue
		}
		if len(atoms) == c.cfg.Atoms {
			problem := fmt.Sprintf("more than the %d vectors that the policy allows", c.cfg.Atoms)
			return nil, nil, &policy.PrivateError{Line: n, Problem: problem}
		}
		weight, x, problem := c.parseLine(line)
		if problem != "" {
			return nil, nil, &policy.PrivateError{Line: n, Problem: problem}
		}
		atoms, weights, total = append(atoms, x), append(weights, weight), total+weight
	}
	if total == 0 {
		return nil, nil, &policy.PrivateError{Problem: "no weights above 0"}
	}
	for i := range weights {
		weights[i] /= total
	}
	return atoms, weights, nil
}

// isHeader reports whether a line is weight,x1,...,x(d+1).
func (c *Codebook) isHeader(line []byte) bool {
	word, line, more := bytes.Cut(line, []byte(","))
	if string(word) != "weight" {
		return false
	}
	for i := range c.cfg.Dim + 1 {
		if !more {
			return false
		}
		word, line, more = bytes.Cut(line, []byte(","))
		if string(word) != "x"+strconv.Itoa(i+1) {
			return false
		}
	}
	return !more
}

// parseLine reads a weight and a vector, or says what is wrong.
func (c *Codebook) parseLine(line []byte) (weight float64, x []float64, problem string) {
	if n := bytes.Count(line, []byte(",")); n != c.cfg.Dim+1 {
		return 0, nil, fmt.Sprintf("%d numbers, want a weight and %d coordinates", n+1, c.cfg.Dim+1)
	}
	numeral, line, _ := bytes.Cut(line, []byte(","))
	weight, ok := parseNumeral(numeral)
	if !ok || weight > maxCount {
		return 0, nil, "the weight is not a number from 0 to 2^53"
	}
	x = make([]float64, c.cfg.Dim+1)
	for i := range x {
		numeral, line, _ = bytes.Cut(line, []byte(","))
		digits := bytes.TrimPrefix(numeral, []byte("-"))
		if x[i], ok = parseNumeral(digits); !ok {
			return 0, nil, fmt.Sprintf("coordinate %d is not a number", i+1)
		}
		if len(digits) < len(numeral) {
			x[i] = -x[i]
		}
	}
	if !slices.ContainsFunc(x, func(v float64) bool { return v != 0 }) {
		return 0, nil, "the zero vector has no direction"
	}
	return weight, x, ""
}

// parseNumeral reads a decimal without sign as the nearest float64, which must be finite.
func parseNumeral(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > maxNumeral {
		return 0, false
	}
	// strconv also reads signs, "inf", hexadecimal and ".5"; a numeral starts with a digit and has no letter but e.
	for i, c := range b {
		digit := '0' <= c && c <= '9'
		if !digit && (i == 0 || c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}

// FormatPrivate writes atoms and weights as private data, which Release reads as the same numbers, the weights divided
// by their sum. It accepts what CheckAtoms accepts; its errors tell about the data as those do.
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
	if len(out) > policy.MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes as private data, at most %d", ErrWeights, len(out), policy.MaxBytes)
	}
	return out, nil
}

// CheckAtoms returns nil if the data are a distribution: 1 to Config.Atoms points of d+1 finite coordinates, not all
// zero (the direction counts), and as many weights >= 0 whose sum is within 1e-9 of 1. Otherwise it returns ErrPoint or
// ErrWeights, which tell about the data and must stay on the device; a zero Codebook gives ErrZero.
func (c *Codebook) CheckAtoms(atoms [][]float64, weights []float64) error {
	if c.isZero() {
		return ErrZero
	}
	_, _, err := c.parse(atoms, weights)
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
func (c *Codebook) parse(atoms [][]float64, weights []float64) (points, mu []float64, err error) {
	if len(atoms) == 0 || len(atoms) > c.cfg.Atoms || len(atoms) != len(weights) {
		return nil, nil, fmt.Errorf("%w: %d atoms and %d weights, want as many, 1 to %d",
			ErrWeights, len(atoms), len(weights), c.cfg.Atoms)
	}
	total := 0.0
	for i, v := range weights {
		if !(v >= 0 && v <= 2) {
			return nil, nil, fmt.Errorf("%w: weight %d is %v", ErrWeights, i, v)
		}
		total += v
	}
	if !(math.Abs(total-1) <= massSlack) {
		return nil, nil, fmt.Errorf("%w: they sum to %v, want 1", ErrWeights, total)
	}
	for i, x := range atoms {
		if weights[i] == 0 {
			if _, err := c.unit(nil, x); err != nil {
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
