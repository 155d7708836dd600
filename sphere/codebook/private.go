package codebook

import (
	"fmt"
	"math"
)

// massSlack is how far from 1 the weights of a client may sum; they are divided by their sum.
const massSlack = 1e-9

// CheckPoint returns nil if x is a point: d+1 finite coordinates, not all zero; its direction is what counts. Otherwise it returns
// ErrPoint, which tells about the data and must stay on the device. Release treats what fails here with the fallback.
func (c *Codebook) CheckPoint(x []float64) error {
	if c == nil || c.cfg.Points == 0 {
		return ErrZero
	}
	_, err := c.unit(nil, x)
	return err
}

// CheckAtoms is CheckPoint for a distribution: 1 to Config.Atoms points, and as many weights >= 0 whose sum is within 1e-9 of 1. Errors:
// ErrZero, ErrPoint, ErrWeights.
func (c *Codebook) CheckAtoms(atoms [][]float64, weights []float64) error {
	if c == nil || c.cfg.Points == 0 {
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
		return nil, nil, fmt.Errorf("%w: %d atoms and %d weights, want as many, 1 to %d", ErrWeights, len(atoms), len(weights), c.cfg.Atoms)
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
