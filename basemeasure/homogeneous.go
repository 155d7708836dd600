package basemeasure

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Homogeneous returns an optimal base measure of a homogeneous space from one row of its cost matrix: a ring, a
// torus, a hypercube, a complete graph, any space on which a group of symmetries acts transitively. More exactly, it
// is enough that all rows and all columns of the k x k cost are permutations of the given row; the caller vouches for
// that, and Verify checks the result against the whole matrix.
//
// On such a space the uniform measure is optimal, and the optimal value is the number eta with
//
//	sum_j (C_j - eta)_+ = e^eps sum_j (eta - C_j)_+,
//
// an expectile of the costs of the row (Newey and Powell 1987). A few Newton steps find eta, in O(k) each. Every
// threshold of the certificate is eta, and all weights are equal.
//
// Errors: ErrShape, ErrNotFinite, ErrNegative, ErrEpsilon.
func Homogeneous(row []float64, eps float64) (Result, error) {
	if err := checkEps(eps); err != nil {
		return Result{}, err
	}
	if len(row) == 0 {
		return Result{}, fmt.Errorf("%w: a row without costs", wpmerr.ErrShape)
	}
	if err := projection.CheckMasses("row", row); err != nil {
		return Result{}, err
	}
	k := len(row)
	settings, err := Settings{}.resolve(k, k, false)
	if err != nil {
		return Result{}, err
	}
	priv := newPrivacy(eps)
	eta := max(expectile(row, priv.e.Near), slices.Min(row))
	res := Result{Weights: slices.Repeat([]float64{1}, k), Status: Converged, Settings: settings}

	// Lower: any threshold with a non-negative defect is a bound, so walk down to one.
	lower := eta
	for step := 0; lower > 0 && defect(row, lower, priv.e.Up).Sign() < 0; step++ {
		lower = math.Nextafter(lower, 0)
		if step >= maxSteps {
			lower = slices.Min(row)
		}
	}
	res.Lower, res.Thresholds = lower, slices.Repeat([]float64{lower}, k)

	m, upper := uniformFill(row, eta, priv)
	res.M = slices.Repeat([]float64{m}, k)
	res.Upper = max(num.Up(upper), lower)
	res.F, res.WorstCase, res.Mean = res.Upper, res.Upper, res.Upper
	res.describe()
	return res, nil
}

// maxSteps bounds the steps by one float from a computed number to one that is safe: a few are usual.
const maxSteps = 100

// expectile returns the root of sum_j (C_j - eta)_+ - e sum_j (eta - C_j)_+, up to rounding. The function is concave
// and falls, so Newton's steps from the right come down to the root, and end when they stop falling.
func expectile(row []float64, e float64) float64 {
	_, exponent := math.Frexp(slices.Max(row))
	scaled := make([]float64, len(row)) // sums of these do not overflow
	for j, c := range row {
		scaled[j] = math.Ldexp(c, -exponent)
	}
	eta := 1.0
	near, far := make([]float64, 0, len(row)), make([]float64, 0, len(row))
	for {
		near, far = near[:0], far[:0]
		for _, c := range scaled {
			if c < eta {
				near = append(near, c)
			} else {
				far = append(far, c)
			}
		}
		next := (num.Sum(near) + num.Sum(far)/e) / (float64(len(near)) + float64(len(far))/e)
		if len(near) == 0 {
			next = num.Sum(far) / float64(len(far))
		}
		if !(next < eta) {
			return math.Ldexp(eta, exponent)
		}
		eta = next
	}
}

// defect returns sum_j (C_j - eta)_+ - e sum_j (eta - C_j)_+ exactly.
func defect(row []float64, eta, e float64) *big.Rat {
	var above, below num.Acc
	for _, c := range row {
		if c < eta {
			below.Add(eta)
			below.Add(-c)
		} else {
			above.Add(c)
			above.Add(-eta)
		}
	}
	d := below.Rat()
	return d.Sub(above.Rat(), d.Mul(d, num.Rat(e)))
}

// uniformFill returns the mass of one output at which just the n outputs that cost no more than eta are full, and an
// upper bound on the cost of an input in that box: the mass that is left over by the lower bounds may be handed out to
// those n in equal parts.
func uniformFill(row []float64, eta float64, priv privacy) (m float64, cost *big.Rat) {
	k := int64(len(row))
	n := int64(0)
	var all, near num.Acc
	for _, c := range row {
		all.Add(c)
		if c <= eta {
			near.Add(c)
			n++
		}
	}
	m = 1 / float64(k)
	mean := new(big.Rat).Quo(all.Rat(), big.NewRat(k, 1))
	if n == k || priv.beta.Down <= 1 { // all costs are the same, or the box is a point: the uniform distribution
		return m, mean
	}
	m = priv.beta.Near / (float64(n)*(priv.e.Near-1) + float64(k))
	b := num.Rat(priv.beta.Down) // [m/b, b m] is inside the box
	gain := new(big.Rat).Sub(b, new(big.Rat).Inv(b))
	gain.Mul(gain, big.NewRat(n, 1))
	for range maxSteps {
		lo := new(big.Rat).Quo(num.Rat(m), b)
		rest := new(big.Rat).Mul(lo, big.NewRat(k, 1))
		rest.Sub(big.NewRat(1, 1), rest)
		if room := new(big.Rat).Mul(gain, num.Rat(m)); rest.Sign() >= 0 && rest.Cmp(room) <= 0 {
			cost = lo.Mul(lo, all.Rat())
			rest.Quo(rest, big.NewRat(n, 1))
			return m, cost.Add(cost, rest.Mul(rest, near.Rat()))
		}
		m = math.Nextafter(m, math.Inf(1))
	}
	return 1 / float64(k), mean // rounding has taken all room: eps is tiny
}
