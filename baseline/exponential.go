package baseline

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Exponential returns the exponential mechanism for the utility -u_j, u_j = sum_i mu_i C_ij the mean cost of
// output j:
//
//	q_j ~ exp(-eps u_j / (2 Delta)),  Delta = max_j (max_i C_ij - min_i C_ij),
//
// Delta being how much u_j can depend on mu. Where no u_j depends on mu (Delta = 0), q is uniform.
// Probabilities below the range of float64 are 0. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass,
// ErrEpsilon.
func Exponential(c cost.Matrix, mu []float64, eps float64) ([]float64, error) {
	if err := checkCost(c); err != nil {
		return nil, err
	}
	k, kv := c.Dims()
	sum, err := checkDistribution("mu", mu, k)
	if err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	spread, _ := columns(c)
	// Sums of numbers near the largest float would overflow on the way: u is summed in units of 1/scale, and eps makes up for
	// it, which cannot underflow.
	scale := 1.0
	if cost.Max(c) > 0x1p1020 {
		scale = 0x1p-4
	}
	// A row of C counts less its minimum: the same number for every output, so q does not change, and an
	// offset of the cost costs no digits.
	u, low := make([]float64, kv), make([]float64, kv) // compensated sums
	eachRow(c, func(i int, row []float64) {
		w := mu[i] / sum
		if w == 0 {
			return
		}
		least := row[0]
		for _, x := range row {
			least = min(least, x)
		}
		for j, x := range row {
			term := w * (scale * (x - least))
			t := u[j] + term
			v := t - u[j]
			low[j] += (u[j] - (t - v)) + (term - v)
			u[j] = t
		}
	})
	for j := range u {
		u[j] += low[j]
	}
	return softmax(u, spread, eps/scale), nil
}

// ExponentialMeasure returns the base measure m of the exponential mechanism: for every mu, q lies in
// [e^(-eps/2) m, e^(eps/2) m] (see the package comment). Its mass is 1. An entry below the range of float64 is
// 0: a mechanism made from m never releases that output. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon.
func ExponentialMeasure(c cost.Matrix, eps float64) ([]float64, error) {
	if err := checkCost(c); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	spread, middle := columns(c)
	return softmax(middle, spread, eps), nil
}

// ExponentialChannel returns the exponential mechanism on the k Dirac inputs, one row each. Errors as
// ExponentialMeasure.
func ExponentialChannel(c cost.Matrix, eps float64) ([][]float64, error) {
	if err := checkCost(c); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	spread, _ := columns(c)
	k, _ := c.Dims()
	rows := make([][]float64, k)
	eachRow(c, func(i int, row []float64) { rows[i] = softmax(row, spread, eps) })
	return rows, nil
}

// columns returns Delta and the middle (max_i C_ij + min_i C_ij)/2 of every column.
func columns(c cost.Matrix) (spread float64, middle []float64) {
	_, kv := c.Dims()
	least, most := make([]float64, kv), make([]float64, kv)
	eachRow(c, func(i int, row []float64) {
		if i == 0 {
			copy(least, row)
			copy(most, row)
		}
		for j, x := range row {
			least[j], most[j] = min(least[j], x), max(most[j], x)
		}
	})
	middle = make([]float64, kv)
	for j := range middle {
		spread = max(spread, most[j]-least[j])
		middle[j] = least[j] + (most[j]-least[j])/2
	}
	return spread, middle
}

// eachRow calls f with every row of c, in order.
func eachRow(c cost.Matrix, f func(i int, row []float64)) {
	k, kv := c.Dims()
	buf := make([]float64, kv)
	for i := range k {
		f(i, c.Row(i, buf))
	}
}

// softmax returns q_j ~ exp(-eps u_j/(2 spread)), uniform for spread = 0.
func softmax(u []float64, spread, eps float64) []float64 {
	least := math.Inf(1)
	for _, x := range u {
		least = min(least, x)
	}
	q := make([]float64, len(u))
	for j, x := range u {
		q[j] = 1
		if spread > 0 {
			q[j] = math.Exp(-half(eps, x-least, spread))
		}
	}
	total := num.Sum(q)
	for j := range q {
		q[j] /= total
	}
	return q
}

// half returns a * b / (2 c) for c > 0. On the way nothing overflows, or is lost below the range: b may be many times c,
// and a very small.
func half(a, b, c float64) float64 {
	a, ea := math.Frexp(a)
	b, eb := math.Frexp(b)
	c, ec := math.Frexp(c)
	return math.Ldexp(a*b/c, ea+eb-ec-1)
}

// WorstCase returns the largest cost sum_j C_ij rows_ij of a rule on Dirac inputs, W_p^p in units of C, and the
// lowest input that has it. rows must be k distributions on the kv outputs of c. Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrMass.
func WorstCase(c cost.Matrix, rows [][]float64) (value float64, input int, err error) {
	if err := checkCost(c); err != nil {
		return 0, 0, err
	}
	k, kv := c.Dims()
	if len(rows) != k {
		return 0, 0, fmt.Errorf("%w: %d rows for a %d x %d cost", ErrShape, len(rows), k, kv)
	}
	for i, q := range rows {
		if _, err := checkDistribution(fmt.Sprintf("row %d", i), q, kv); err != nil {
			return 0, 0, err
		}
	}
	value = math.Inf(-1)
	eachRow(c, func(i int, row []float64) {
		if f := num.Dot(row, rows[i]); f > value {
			value, input = f, i
		}
	})
	return value, input, nil
}
