package hilbert

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Distance returns Hilbert's distance log max_i(x_i/y_i) - log min_i(x_i/y_i) between two vectors of
// finite numbers >= 0. It is +Inf when the supports differ, and 0 when both are empty. Errors are
// ErrShape (lengths that differ), ErrNotFinite and ErrNegative.
func Distance(x, y []float64) (float64, error) {
	if len(x) != len(y) {
		return 0, fmt.Errorf("%w: x has %d entries and y %d", wpmerr.ErrShape, len(x), len(y))
	}
	if err := check("x", x); err != nil {
		return 0, err
	}
	if err := check("y", y); err != nil {
		return 0, err
	}
	// The extreme ratios first, by cross multiplication in a safe range; then one logarithm of
	// each, so that a small distance keeps its digits.
	low, high, ok := extremeRatios(x, y)
	switch {
	case !ok:
		return math.Inf(1), nil
	case low < 0:
		return 0, nil
	}
	return math.Max(0, logQuotient(x[high], y[high], x[low], y[low])), nil
}

func check(name string, xs []float64) error {
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s[%d] = %v", wpmerr.ErrNotFinite, name, i, x)
		}
		if x < 0 {
			return fmt.Errorf("%w: %s[%d] = %v", wpmerr.ErrNegative, name, i, x)
		}
	}
	return nil
}

// extremeRatios returns where x/y is least and largest, or -1 where both are zero throughout. It is not ok if only one
// of them is zero somewhere.
func extremeRatios(x, y []float64) (low, high int, ok bool) {
	low, high = -1, -1
	for i := range x {
		switch {
		case x[i] == 0 && y[i] == 0:
			continue
		case x[i] == 0 || y[i] == 0:
			return low, high, false
		}
		if low < 0 || ratioLess(x[i], y[i], x[low], y[low]) {
			low = i
		}
		if high < 0 || ratioLess(x[high], y[high], x[i], y[i]) {
			high = i
		}
	}
	return low, high, true
}

// checkLogs refuses what is the logarithm of no finite number.
func checkLogs(name string, xs []float64) error {
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return fmt.Errorf("%w: %s[%d] = %v", wpmerr.ErrNotFinite, name, i, x)
		}
	}
	return nil
}

// ratioLess reports whether a/b < c/d for positive numbers: a*d < c*b on mantissas and exponents, exactly. Where the
// rounded products are equal their errors decide; where they are not, the exact products are in the same order, because
// rounding keeps it.
func ratioLess(a, b, c, d float64) bool {
	ma, ea := math.Frexp(a)
	mb, eb := math.Frexp(b)
	mc, ec := math.Frexp(c)
	md, ed := math.Frexp(d)
	x, y := float64(ma*md), float64(mc*mb) // in [1/4, 1)
	dx, dy := math.FMA(ma, md, -x), math.FMA(mc, mb, -y)
	ex, ey := ea+ed, ec+eb
	if x < 0.5 {
		x, dx, ex = 2*x, 2*dx, ex-1
	}
	if y < 0.5 {
		y, dy, ey = 2*y, 2*dy, ey-1
	}
	return ex < ey || ex == ey && (x < y || x == y && dx < dy)
}

// logQuotient returns log(a d / (b c)) for positive numbers.
func logQuotient(a, b, c, d float64) float64 {
	ma, ea := math.Frexp(a)
	mb, eb := math.Frexp(b)
	mc, ec := math.Frexp(c)
	md, ed := math.Frexp(d)
	e := ea + ed - eb - ec
	// p = ma*md and q = mb*mc with their errors: log(p/q) = log1p((p-q)/q).
	p, q := float64(ma*md), float64(mb*mc)
	dp, dq := math.FMA(ma, md, -p), math.FMA(mb, mc, -q)
	switch {
	case e == 1 && p < q:
		p, dp, e = 2*p, 2*dp, 0
	case e == -1 && p > q:
		q, dq, e = 2*q, 2*dq, 0
	}
	return math.Log1p(((p-q)+(dp-dq))/q) + float64(e)*math.Ln2
}

// LogDistance is Distance for vectors given by their logarithms: max_i(x_i - y_i) - min_i(x_i - y_i). An
// entry -Inf stands for a zero coordinate. Errors are ErrShape and ErrNotFinite (NaN or +Inf).
func LogDistance(x, y []float64) (float64, error) {
	if len(x) != len(y) {
		return 0, fmt.Errorf("%w: x has %d entries and y %d", wpmerr.ErrShape, len(x), len(y))
	}
	if err := checkLogs("x", x); err != nil {
		return 0, err
	}
	if err := checkLogs("y", y); err != nil {
		return 0, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for i := range x {
		switch zx, zy := math.IsInf(x[i], -1), math.IsInf(y[i], -1); {
		case zx && zy:
			continue
		case zx || zy:
			return math.Inf(1), nil
		}
		d := x[i] - y[i]
		low, high = math.Min(low, d), math.Max(high, d)
	}
	// Differences of finite numbers may overflow to an infinity, and both ends to the same one.
	if !(low < high) {
		return 0, nil
	}
	return high - low, nil
}
