package plane

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Percent prints a share with two digits.
func Percent(v float64) string {
	if v >= 0.995 {
		return fmt.Sprintf("%.4g %%", 100*v)
	}
	return fmt.Sprintf("%.2g %%", 100*v)
}

// Rounded returns a share to two digits of its error: as many decimals as an interval of that half width has.
func Rounded(v, err float64) float64 { return decimals(v, digits(err)) }

// Outward returns an interval of shares to two digits of its half width, so that it holds all that it did.
func Outward(low, high float64) (a, b float64) { return outward(low, high, (high-low)/2) }

// Brief prints a share and its interval for people: to one digit of the half width, or two up to 3.55.
func Brief(v, low, high float64) (share, interval string) {
	err := (high - low) / 2 / 0.355
	return Exact(Rounded(v, err)), Interval(outward(low, high, err))
}

func outward(low, high, err float64) (a, b float64) {
	d := digits(err)
	step := math.Pow10(-d)
	if a, b = decimals(low, d), decimals(high, d); a > low {
		a = decimals(max(a-step, 0), d)
	}
	if b < high {
		b = decimals(min(b+step, 1), d)
	}
	return a, b
}

// Exact prints a share that is rounded already.
func Exact(v float64) string {
	return strconv.FormatFloat(Significant(100*v, 12), 'f', -1, 64) + " %"
}

// Interval prints one that is rounded already.
func Interval(low, high float64) string {
	return strings.TrimSuffix(Exact(low), " %") + " to " + Exact(high)
}

// Significant returns v to n significant digits.
func Significant(v float64, n int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	return r
}

// digits returns how many decimals the first two digits of an error need.
func digits(err float64) int {
	if !(err > 0) {
		return 15
	}
	return min(max(-int(math.Floor(math.Log10(err))), 0)+1, 15)
}

func decimals(v float64, n int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', n, 64), 64)
	return r
}
