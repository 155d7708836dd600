package mincostflow

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// Costs whose largest entry lies between 2^minExp and 2^maxExp are read in place. Above, potentials
// of a few times that could overflow; below, products with masses could underflow. Rows are then
// scaled to the nearer end of the range, by a power of two, in a buffer.
const (
	minExp = -900
	maxExp = 1000
)

// rows reads the rows of a cost matrix, without a copy when it can.
type rows struct {
	matrix cost.Matrix
	data   []float64   // of a cost.Dense, else nil
	held   [][]float64 // copies of some rows
	kv     int
	buf    []float64 // for matrices that compute their rows
	exp    int       // scaled rows are rows times 2^exp
	scaled []float64 // buffer, when exp != 0
}

// reset makes r read c.
func (r *rows) reset(c cost.Matrix, kv int) {
	r.matrix, r.kv, r.data, r.exp = c, kv, nil, 0
	if d, ok := c.(*cost.Dense); ok {
		r.data = d.Data
	} else {
		r.buf = grow(r.buf, kv)
	}
}

// raw returns row i as it is, valid until the next call; ^n, which is negative, is the row held in place n.
func (r *rows) raw(i int) []float64 {
	if i < 0 {
		return r.held[^i]
	}
	if r.data != nil {
		return r.data[i*r.kv : (i+1)*r.kv : (i+1)*r.kv]
	}
	return r.matrix.Row(i, r.buf)
}

// at returns row i times 2^exp, valid until the next call.
func (r *rows) at(i int) []float64 {
	row := r.raw(i)
	if r.exp == 0 {
		return row
	}
	by := math.Ldexp(1, r.exp)
	scaled := r.scaled[:len(row)]
	for j, c := range row {
		scaled[j] = c * by
	}
	return scaled
}

// shifted returns x * 2^exp. Nearly always exp is 0.
func shifted(x float64, exp int) float64 {
	if exp == 0 {
		return x
	}
	return math.Ldexp(x, exp)
}

// setScale chooses the power of two for costs of at most most.
func (r *rows) setScale(most float64) {
	r.exp = 0
	if most == 0 {
		return
	}
	if _, e := math.Frexp(most); e > maxExp {
		r.exp = maxExp - e
	} else if e < minExp {
		r.exp = minExp - e
	}
	if r.exp != 0 {
		r.scaled = grow(r.scaled, r.kv)
	}
}

// checked returns row i as it is after checking it, and its largest entry among the columns that
// mask admits (nil: all).
func (r *rows) checked(i int, mask []bool) (row []float64, most float64, err error) {
	row = r.raw(i)
	most, err = checkRow(i, row, r.kv, mask)
	return row, most, err
}

// checkRow checks row i of a cost with kv columns, and returns its largest entry among those that mask admits.
func checkRow(i int, row []float64, kv int, mask []bool) (most float64, err error) {
	if len(row) != kv {
		return 0, fmt.Errorf("%w: row %d of the cost has %d entries, want %d", ErrShape, i, len(row), kv)
	}
	m := maxBits(row)
	if m >= infBits {
		if err := badCost(i, row); err != nil {
			return 0, err
		}
	} else if mask == nil {
		return math.Float64frombits(m), nil
	}
	// Rare: columns that admit nothing, or a cost of -0.
	for j, c := range row {
		if c > most && (mask == nil || mask[j]) {
			most = c
		}
	}
	return most, nil
}

// infBits is the first bit pattern, read as an integer, that is not a finite float >= 0.
const infBits = 0x7ff << 52

// maxBits returns the largest bit pattern in row. Finite floats >= 0 are ordered as their bit
// patterns are, and everything else (negative numbers, NaN, infinities, and -0) comes after them:
// one integer maximum both checks a row and finds its maximum.
func maxBits(row []float64) uint64 {
	var m uint64
	j := 0
	for ; j+4 <= len(row); j += 4 {
		c := row[j : j+4 : j+4]
		b0, b1, b2, b3 := math.Float64bits(c[0]), math.Float64bits(c[1]), math.Float64bits(c[2]), math.Float64bits(c[3])
		if b0 > m || b1 > m || b2 > m || b3 > m {
			m = max(b0, b1, b2, b3)
		}
	}
	for ; j < len(row); j++ {
		m = max(m, math.Float64bits(row[j]))
	}
	return m
}
