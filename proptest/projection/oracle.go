package projection

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/proptest"
)

// The fixed point of Algorithm 1, by the plainest iteration in logarithms: the laws of the rate measure the distance to
// it, and not to where an implementation ends.

// bisectKL is the projection in divergence by bisection, twice: the second time around the first theta, where it has
// more digits.
func bisectKL(logS, lo, hi []float64) ([]float64, float64, error) {
	x, theta, width := proptest.Clone(logS), 0.0, 1000+maxLog(logS)
	var q []float64
	for range 2 {
		at := func(theta float64) (sum float64) {
			q = q[:0]
			for j := range x {
				q = append(q, min(max(math.Exp(theta+x[j]), lo[j]), hi[j]))
				sum += q[j]
			}
			return sum
		}
		a, b := -width, width
		for range 80 {
			if at((a+b)/2) < 1 {
				a = (a + b) / 2
			} else {
				b = (a + b) / 2
			}
		}
		at(b)
		for j := range x {
			x[j] += b
		}
		theta, width = theta+b, 1
	}
	return q, theta, nil
}

// parts are the quantities of one iteration of Algorithm 1, in logarithms: log s, and log of the column sums v s.
func parts(p proptest.Problem, reg float64, logV []float64) (logS, logC []float64) {
	return partsFrom(p, reg, logV, slices.Min[[]float64])
}

// partsFrom is parts with something else subtracted from each row.
func partsFrom(p proptest.Problem, reg float64, logV []float64, origin func([]float64) float64) (logS, logC []float64) {
	rows, kv := make([][]float64, 0, len(p.C)), len(logV)
	for i, row := range p.C {
		if p.Mu[i] == 0 {
			continue
		}
		least := origin(row)
		x := make([]float64, kv)
		for j := range row {
			x[j] = logV[j] - (row[j]-least)/reg
		}
		u := math.Log(p.Mu[i]) - logSum(x)
		for j := range row {
			x[j] = u - (row[j]-least)/reg
		}
		rows = append(rows, x)
	}
	for j := range kv {
		var x []float64
		for _, row := range rows {
			x = append(x, row[j])
		}
		s := logSum(x)
		logS, logC = append(logS, s), append(logC, s+logV[j])
	}
	return logS, logC
}

func logSum(x []float64) float64 {
	top := slices.Max(x)
	if math.IsInf(top, -1) {
		return top
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

// plainStep is one iteration of Algorithm 1.
func plainStep(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	logS, _ := parts(p, reg, logV)
	q, _, err = bisectKL(logS, p.Lo, p.Hi)
	return minus(logsOf(q), logS), q, err
}

// fixedPoint iterates plainStep until v stands still up to rounding.
func fixedPoint(t proptest.TB, in stepProblem) (v, q []float64) {
	t.Helper()
	v = make([]float64, len(in.Lo))
	for range 2000 { // as in trajectory
		next, q, err := plainStep(in.Problem, in.reg, v)
		if err != nil {
			t.Fatalf("%v\n%v", err, in)
		}
		if hilbertLogs(next, v) <= 0.1*LogTol*maxLog(v) {
			return v, q
		}
		v = next
	}
	t.Fatalf("the oracle has no fixed point after 2000 steps: log v %v\n%v", v, in)
	return nil, nil
}
