package audit

import (
	"math"

	"github.com/wpm-go/wpm/internal/binomial"
)

// Detection. A column has probability high for one input and low for another, in truth; n draws of each are
// counted. With probability at least 1/2 the counts are at least as far apart as their quantiles at sqrt(1/2),
// because the two are independent; and what is flagged at some counts is flagged at all that are farther apart.
// So if the quantiles are flagged, the excess is found with probability at least 1/2. The converse is nearly
// true: the limits here are a few per cent above the best possible statement.

// detected reports whether n draws flag a loss above eps in a column with these probabilities with probability
// at least 1/2.
func detected(high, low, eps, level float64, n int64) bool {
	l, _, _ := binomial.Interval(atLeast(n, high), n, level)
	_, u, _ := binomial.Interval(atMost(n, low), n, level)
	return l > 0 && math.Log(l/u) > eps
}

// quantile is the probability with which each of the two counts is at least as good as its quantile.
const (
	quantile  = math.Sqrt2 / 2
	quantileZ = 0.5449521356 // P[Z <= quantileZ] = quantile for a standard normal Z
	// wideCounts is the standard deviation of a count from which on the normal quantile, two counts to the safe
	// side, is used: the error of the approximation is less than one count.
	wideCounts = 50
)

// atLeast returns an x with P[X >= x] >= quantile for a binomial X.
func atLeast(n int64, p float64) int64 {
	return n - atMost(n, 1-p)
}

// atMost returns an x with P[X <= x] >= quantile, close to the smallest.
func atMost(n int64, p float64) int64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return n
	}
	mean := float64(n) * p
	sd := math.Sqrt(mean * (1 - p))
	if sd >= wideCounts {
		return min(n, int64(math.Ceil(mean+quantileZ*sd))+2)
	}
	// Add up from far below the mean. What is left out there is next to nothing, and can only make x larger.
	x := max(0, int64(mean-12*sd)-12)
	total := 0.0
	for ; x < n; x++ {
		if total += binomial.Probability(x, n, p); total >= quantile {
			break
		}
	}
	return x
}

// maxOvershoot is where the search for a limit ends: an excess of 64 is beyond any mechanism.
const maxOvershoot = 64

// excess returns the probabilities of a column whose smaller one is low and whose loss is eps + overshoot. If
// the larger one would exceed 1 it is 1, and the smaller one gives way.
func excess(low, eps, overshoot float64) (high, less float64) {
	high = min(1, low*math.Exp(eps+overshoot))
	return high, high * math.Exp(-eps-overshoot)
}

// Overshoot returns the smallest excess over eps that n draws of each input detect with probability at least 1/2, in a
// column where the smaller probability is low. It has three digits, and is +Inf if there is no such excess.
func Overshoot(low, eps, level float64, n int64) float64 {
	if !(low > 0 && low <= 1) {
		return math.Inf(1)
	}
	found := func(d float64) bool {
		high, less := excess(low, eps, d)
		return detected(high, less, eps, level, n)
	}
	if !found(maxOvershoot) {
		return math.Inf(1)
	}
	// On a logarithmic scale: limits range from 1e-6 to 10.
	bad, good := 1e-12, float64(maxOvershoot)
	for good > bad*1.001 {
		mid := math.Sqrt(bad * good)
		if found(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good
}

// SamplesFor returns the smallest n, to about 1 %, at which the excess is detected with probability at least 1/2 in a
// column where the smaller probability is low; 0 if MaxSamples draws are not enough.
func SamplesFor(low, eps, overshoot, level float64) int64 {
	if !(low > 0 && low <= 1 && overshoot > 0) {
		return 0
	}
	high, less := excess(low, eps, overshoot)
	return samplesFor(high, less, eps, level)
}

func samplesFor(high, low, eps, level float64) int64 {
	bad, good := int64(0), int64(1)
	for !detected(high, low, eps, level, good) {
		if good >= MaxSamples {
			return 0
		}
		bad, good = good, good*2
	}
	for good-bad > max(1, good/100) {
		mid := bad + (good-bad)/2
		if detected(high, low, eps, level, mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good
}
