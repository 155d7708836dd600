package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Oracle is a frequency oracle, the other way to a map of a population: a user with one item of k makes a report under
// eps-LDP that need not be an item, and a server estimates the shares of all items from the reports. The reports here
// are sets of items, and all that the estimate needs is how often each item is in a set. An Oracle is not a Sampler: a
// single report is of no use to a user, and only maps can be compared.
//
// Draws are for simulations: their source is an argument, and they are made in floats.
type Oracle interface {
	// Dims returns the number of items.
	Dims() (k int)
	// Report appends the items of the report of a user with item x to set, in ascending order. It panics if x is not an
	// item.
	Report(set []int32, x int, random Source) []int32
	// Draw makes a report and adds 1 to the count of every item in it. It panics if len(counts) is not k or x is not an
	// item.
	Draw(counts []uint64, x int, random Source)
	// Support returns the probabilities that a report has the user's own item, and that it has some other one.
	Support() (own, other float64)
	// Estimate writes the unbiased estimate of the shares to dst: (counts_j/reports - other)/(own - other). Some may be
	// negative, see Simplex. Errors: ErrShape, also for a count above the number of reports.
	Estimate(dst []float64, counts []uint64, reports uint64) error
}

// Source yields random words. Those of math/rand/v2 are Sources.
type Source interface{ Uint64() uint64 }

// chance is true with probability p, up to 2^-53.
func chance(p float64, random Source) bool { return float64(random.Uint64()>>11)*0x1p-53 < p }

// oracle is what all have in common.
type oracle struct {
	k                int
	own, other, gain float64 // gain = own - other, without a difference
	report           func(set []int32, x int, random Source) []int32
}

func (o *oracle) Dims() int                     { return o.k }
func (o *oracle) Support() (own, other float64) { return o.own, o.other }

func (o *oracle) Report(set []int32, x int, random Source) []int32 {
	if x < 0 || x >= o.k {
		panic(fmt.Sprintf("baseline: item %d of %d items", x, o.k))
	}
	return o.report(set, x, random)
}

func (o *oracle) Draw(counts []uint64, x int, random Source) {
	if len(counts) != o.k {
		panic(fmt.Sprintf("baseline: %d counts of %d items", len(counts), o.k))
	}
	for _, j := range o.Report(nil, x, random) {
		counts[j]++
	}
}

func (o *oracle) Estimate(dst []float64, counts []uint64, reports uint64) error {
	if len(dst) != o.k || len(counts) != o.k || reports == 0 || slices.Max(counts) > reports {
		return fmt.Errorf("%w: %d reports, %d counts and len(dst) = %d for %d items",
			wpmerr.ErrShape, reports, len(counts), len(dst), o.k)
	}
	for j, c := range counts {
		dst[j] = (float64(c)/float64(reports) - o.other) / o.gain
	}
	return nil
}

func checkOracle(k int, eps float64) error {
	if err := checkSize(k); err != nil {
		return err
	}
	if err := checkEps(eps); err != nil {
		return err
	}
	if eps == 0 {
		return fmt.Errorf("%w: eps = 0, where reports say nothing", wpmerr.ErrEpsilon)
	}
	return nil
}

// NewUnary returns Optimized Unary Encoding (OUE) of Wang, Blocki, Li and Jha (Locally Differentially Private
// Protocols for Frequency Estimation, USENIX Security 2017): the own item is in the report with probability 1/2, every
// other one with 1/(e^eps + 1), independently. Cost: k words a report. Errors: ErrShape, ErrEpsilon, also for eps = 0.
func NewUnary(k int, eps float64) (Oracle, error) {
	if err := checkOracle(k, eps); err != nil {
		return nil, err
	}
	o := &oracle{k: k, own: 0.5, other: math.Exp(-eps) / (1 + math.Exp(-eps)), gain: math.Tanh(eps/2) / 2}
	o.report = func(set []int32, x int, random Source) []int32 {
		for j := range k {
			p := o.other
			if j == x {
				p = o.own
			}
			if chance(p, random) {
				set = append(set, int32(j))
			}
		}
		return set
	}
	return o, nil
}

// NewSubset returns subset selection (Wang and others, arXiv 1607.08025; Ye and Barg, Optimal Schemes for Discrete
// Distribution Estimation under Locally Differential Privacy, 2018): a report is one of the sets of d = k/(e^eps + 1)
// items, rounded and at least 1; each that holds the own item is e^eps times as likely as each that does not.
// Cost: k words a report. Errors: ErrShape, ErrEpsilon, also for eps = 0.
func NewSubset(k int, eps float64) (Oracle, error) {
	if err := checkOracle(k, eps); err != nil {
		return nil, err
	}
	n, e := float64(k), math.Exp(eps)
	d := max(1, math.Round(n/(e+1)))
	odds := (n - d) / (d * e) // of a report without the own item
	o := &oracle{k: k, own: 1 / (1 + odds), gain: 1}
	if k > 1 {
		o.other = (d - 1 + odds/(1+odds)) / (n - 1)
		o.gain = -math.Expm1(-eps) * (n - d) / ((n - 1) * (1 + odds))
	}
	o.report = func(set []int32, x int, random Source) []int32 {
		need := int(d)
		with := chance(o.own, random)
		if with {
			need--
		}
		left := k - 1 // others not yet looked at; each set of need of them is equally likely
		for j := range k {
			if j == x {
				if with {
					set = append(set, int32(j))
				}
				continue
			}
			if chance(float64(need)/float64(left), random) {
				set = append(set, int32(j))
				need--
			}
			left--
		}
		return set
	}
	return o, nil
}

// Simplex returns the distribution nearest to x in Euclidean distance: max(x_j - t, 0), with the t that gives it mass
// 1. x may have negative entries; it must be finite. Errors: ErrShape, ErrNotFinite.
func Simplex(x []float64) ([]float64, error) {
	if err := checkSize(len(x)); err != nil {
		return nil, err
	}
	for j, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: x[%d] = %v", wpmerr.ErrNotFinite, j, v)
		}
	}
	down := slices.Clone(x)
	slices.Sort(down)
	slices.Reverse(down)
	top := down[0] // shifted by the largest, so that a common offset costs no digits
	sum, t := 0.0, 0.0
	for n, v := range down {
		sum += v - top
		if at := (sum - 1) / float64(n+1); v-top > at {
			t = at
		}
	}
	q := make([]float64, len(x))
	total := 0.0
	for j, v := range x {
		q[j] = max(v-top-t, 0)
		total += q[j]
	}
	for j := range q {
		q[j] /= total
	}
	return q, nil
}
