package baseline

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Exponential is the exponential mechanism for the utility -u_j, u_j = sum_i mu_i C_ij the mean cost of output j:
//
//	q_j ~ exp(-eps u_j / (2 Delta)),  Delta = max_j (max_i C_ij - min_i C_ij),
//
// where Delta is the largest change of a u_j with mu. If no u_j depends on mu (Delta = 0), q is uniform. Probabilities
// below the range of float64 are 0.
//
// NewExponential checks the cost and reads it once for all users. An Exponential does not change after that and is safe
// for concurrent use, as long as nobody changes the cost. The zero Exponential is not usable.
type Exponential struct {
	c      cost.Matrix
	k, kv  int
	eps    float64
	spread float64   // Delta
	scale  float64   // u is summed in units of 1/scale
	least  []float64 // the minimum of each row
	middle []float64 // (max_i C_ij + min_i C_ij)/2 of each column
}

// NewExponential prepares the mechanism in one pass over c, k x kv. Errors: ErrShape, ErrNotFinite, ErrNegative,
// ErrEpsilon, and ErrNotConverged if ctx ends, after which no more than 16 rows are read.
func NewExponential(ctx context.Context, c cost.Matrix, eps float64) (*Exponential, error) {
	if err := checkCost(ctx, c); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	k, kv := c.Dims()
	e := &Exponential{c: c, k: k, kv: kv, eps: eps, scale: 1, least: make([]float64, k), middle: make([]float64, kv)}
	low, high := e.middle, make([]float64, kv) // of each column
	top := 0.0
	err := eachRow(ctx, c, func(i int, row []float64) {
		if i == 0 {
			copy(low, row)
			copy(high, row)
		}
		e.least[i] = row[0]
		for j, x := range row {
			e.least[i] = min(e.least[i], x)
			low[j], high[j] = min(low[j], x), max(high[j], x)
		}
	})
	if err != nil {
		return nil, err
	}
	for j, x := range low {
		e.spread, top = max(e.spread, high[j]-x), max(top, high[j])
		e.middle[j] = x + (high[j]-x)/2
	}
	// Sums of numbers near the largest float would overflow on the way. eps makes up for the scale, which cannot
	// underflow.
	if top > 0x1p1020 {
		e.scale = 0x1p-4
	}
	return e, nil
}

// Law returns q, kv numbers, for one user. mu has the masses of the k inputs; or, if support is not nil, those of the
// inputs that support lists in ascending order. The two forms give the same bits. Cost: O(n kv) for n masses above 0.
// Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass.
func (e *Exponential) Law(mu []float64, support []int) ([]float64, error) {
	n := e.k
	if support != nil {
		n = len(support)
	}
	sum, err := checkDistribution("mu", mu, n)
	if err != nil {
		return nil, err
	}
	last := -1
	for at, i := range support {
		if i <= last || i >= e.k {
			return nil, fmt.Errorf("%w: support[%d] = %d, want %d inputs in ascending order", wpmerr.ErrShape, at, i, e.k)
		}
		last = i
	}
	// A row of C counts less its minimum: the same number for every output, so q does not change, and an
	// offset of the cost costs no digits.
	work := make([]float64, 3*e.kv)
	u, low, buf := work[:e.kv:e.kv], work[e.kv:2*e.kv], work[2*e.kv:] // u and low: compensated sums
	for at, x := range mu {
		w := x / sum
		if w == 0 {
			continue
		}
		i := at
		if support != nil {
			i = support[at]
		}
		least := e.least[i]
		for j, x := range e.c.Row(i, buf) {
			term := float64(w * (e.scale * (x - least))) // not to be fused with what follows
			t := u[j] + term
			v := t - u[j]
			low[j] += (u[j] - (t - v)) + (term - v)
			u[j] = t
		}
	}
	for j := range u {
		u[j] += low[j]
	}
	return softmax(u, e.spread, e.eps/e.scale, u), nil
}

// Measure returns the base measure m: for every mu, q lies in [e^(-eps/2) m, e^(eps/2) m] (see the package comment).
// Its mass is 1. An entry below the range of float64 is 0: a mechanism made from m never releases that output.
func (e *Exponential) Measure() []float64 {
	return softmax(e.middle, e.spread, e.eps, make([]float64, e.kv))
}

// Channel returns q for the k Dirac inputs, one row each. The error is ErrNotConverged if ctx ends.
func (e *Exponential) Channel(ctx context.Context) ([][]float64, error) {
	rows := make([][]float64, e.k)
	err := eachRow(ctx, e.c, func(i int, row []float64) { rows[i] = softmax(row, e.spread, e.eps, make([]float64, e.kv)) })
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// eachRow calls f with every row of c, in order, until ctx ends: it looks every 16 rows.
func eachRow(ctx context.Context, c cost.Matrix, f func(i int, row []float64)) error {
	ctx = wpmerr.Context(ctx)
	k, kv := c.Dims()
	buf := make([]float64, kv)
	for i := range k {
		if i%16 == 0 && ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
		f(i, c.Row(i, buf))
	}
	return nil
}

// softmax fills q, which may be u, with q_j ~ exp(-eps u_j/(2 spread)), uniform for spread = 0, and returns it.
func softmax(u []float64, spread, eps float64, q []float64) []float64 {
	least := math.Inf(1)
	for _, x := range u {
		least = min(least, x)
	}
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

// half returns a * b / (2 c) for c > 0. On the way nothing overflows, or is lost below the range: b may be many times
// c, and a very small.
func half(a, b, c float64) float64 {
	a, ea := math.Frexp(a)
	b, eb := math.Frexp(b)
	c, ec := math.Frexp(c)
	return math.Ldexp(a*b/c, ea+eb-ec-1)
}

// WorstCase returns the largest cost sum_j C_ij rows_ij of a rule on Dirac inputs, W_p^p in units of C, and the
// lowest input that has it. rows must be k distributions on the kv outputs of c. Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrMass, and ErrNotConverged if ctx ends.
func WorstCase(ctx context.Context, c cost.Matrix, rows [][]float64) (value float64, input int, err error) {
	if err := checkCost(ctx, c); err != nil {
		return 0, 0, err
	}
	k, kv := c.Dims()
	if len(rows) != k {
		return 0, 0, fmt.Errorf("%w: %d rows for a %d x %d cost", wpmerr.ErrShape, len(rows), k, kv)
	}
	for i, q := range rows {
		if _, err := checkDistribution(fmt.Sprintf("row %d", i), q, kv); err != nil {
			return 0, 0, err
		}
	}
	value = math.Inf(-1)
	err = eachRow(ctx, c, func(i int, row []float64) {
		if f := num.Dot(row, rows[i]); f > value {
			value, input = f, i
		}
	})
	if err != nil {
		return 0, 0, err
	}
	return value, input, nil
}
