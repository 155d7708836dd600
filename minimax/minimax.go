package minimax

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Limits of Solve and Verify.
const (
	MaxPlaces  = 4096
	MaxClients = 1 << 30
)

// Errors of this package, to be tested with errors.Is. Those of cost.Validate come as they are.
var (
	// ErrProblem is for a number of the problem that is out of range, or a cost that is not between equal places.
	ErrProblem = errors.New("minimax: invalid problem")
	// ErrLimit is for more places than MaxPlaces.
	ErrLimit = errors.New("minimax: too many places")
	// ErrEvidence is for a bound whose parts prove nothing.
	ErrEvidence = errors.New("minimax: invalid evidence")
)

// Problem is the places, and who reports.
type Problem struct {
	Cost    cost.Matrix // between the places; K x K
	Epsilon float64     // of each person's report, rounded up; 0 to 700
	Clients int         // N: 0 to MaxClients
}

// Bound is what proves that no mechanism stays nearer, and that one does: see Verify. Without poles the lower bound is 0.
type Bound struct {
	Poles     []int     // the places of pair j are Poles[2j] and Poles[2j+1]
	Radius    []float64 // h_j, of both poles of the pair
	Mass      []float64 // u_j, up to a common factor
	Amplitude float64   // eta, more than 0 and at most 1
	Root      float64   // sqrt(1 - e^-x) at the point of the tangent
	Exponent  float64   // x, at most: e^x (1 - Root^2) <= 1
	Centre    int       // of the upper bound
}

// read checks the problem and returns the costs.
func (p Problem) read(ctx context.Context) (*cost.Dense, error) {
	if p.Cost == nil {
		return nil, fmt.Errorf("%w: no cost", ErrProblem)
	}
	k, kv := p.Cost.Dims()
	switch {
	case k != kv || k < 1:
		return nil, fmt.Errorf("%w: a cost of %d x %d is not between places", ErrProblem, k, kv)
	case k > MaxPlaces:
		return nil, fmt.Errorf("%w: %d, at most %d", ErrLimit, k, MaxPlaces)
	case !(p.Epsilon >= 0 && p.Epsilon <= num.MaxEpsilon):
		return nil, fmt.Errorf("%w: eps %v, want 0 to %d", ErrProblem, p.Epsilon, num.MaxEpsilon)
	case p.Clients < 0 || p.Clients > MaxClients:
		return nil, fmt.Errorf("%w: %d people, want 0 to %d", ErrProblem, p.Clients, MaxClients)
	}
	return cost.Materialize(ctx, p.Cost)
}

// Solve returns the largest bound that it finds. A cost without two places apart, or far from the triangle inequality, has
// the bound without poles. Errors: ErrProblem, ErrLimit, those of cost.Validate, and that of ctx.
func Solve(ctx context.Context, p Problem) (Bound, error) {
	ctx = wpmerr.Context(ctx)
	c, err := p.read(ctx)
	if err != nil {
		return Bound{}, err
	}
	best, most := Bound{}, 0.0
	try := func(poles []int) {
		b := newBound(c, poles)
		if v := b.amplitude(p); v > most {
			best, most = b, v
		}
	}
	for _, far := range distances(c) {
		if err := wpmerr.Ended(ctx); err != nil {
			return Bound{}, err
		}
		try(inOrder(c, far))
	}
	order := farthestFirst(c)
	for n := 2; n <= len(order); n = max(n+1, n*10/9) {
		if err := wpmerr.Ended(ctx); err != nil {
			return Bound{}, err
		}
		try(order[:n])
	}
	best.Centre = centre(c)
	if lower, _, err := best.Verify(ctx, p); errors.Is(err, ErrEvidence) || err == nil && lower.Sign() == 0 {
		return Bound{Centre: best.Centre}, nil // the cost is far from a distance: tents do not fit
	}
	return best, wpmerr.Ended(ctx)
}

// apart is how far two places are from one another, either way.
func apart(c *cost.Dense, a, b int) float64 { return min(c.Data[a*c.K+b], c.Data[b*c.K+a]) }

// distances are those at which poles are tried: an eighth of an octave apart, from the least to the largest.
func distances(c *cost.Dense) (out []float64) {
	least, most := math.Inf(1), 0.0
	for a := range c.K {
		for b := range a {
			if d := apart(c, a, b); d > 0 {
				least, most = min(least, d), max(most, d)
			}
		}
	}
	const octaves = 16 // of costs that are wider spread, the largest
	if most > 0 {
		least = max(least, math.Ldexp(most, -octaves))
		for far := least; far < most; far *= math.Exp2(0.125) {
			out = append(out, far)
		}
		out = append(out, most)
	}
	return out
}

// inOrder takes every place that is far from those taken before. Costs that differ in their last digits are equal.
func inOrder(c *cost.Dense, far float64) (poles []int) {
	far *= 1 - 1e-9
	for a := range c.K {
		ok := true
		for _, b := range poles {
			if apart(c, a, b) < far {
				ok = false
				break
			}
		}
		if ok {
			poles = append(poles, a)
		}
	}
	return poles
}

// farthestFirst orders places such that each is the farthest from those before it, until one is at one of them.
func farthestFirst(c *cost.Dense) (order []int) {
	nearest, next := make([]float64, c.K), 0
	for b := range nearest {
		nearest[b] = math.Inf(1)
		if apart(c, 0, b) > apart(c, 0, next) {
			next = b // begin at an end
		}
	}
	for nearest[next] > 0 {
		order = append(order, next)
		a := next
		for b := range nearest {
			nearest[b] = min(nearest[b], apart(c, a, b))
			if nearest[b] > nearest[next] {
				next = b
			}
		}
		nearest[a] = 0
		if next == a {
			for b := range nearest {
				if nearest[b] > nearest[next] {
					next = b
				}
			}
		}
	}
	return order
}

// shrink leaves room for the rounding of costs: tents are so much smaller than would just fit.
const shrink = 1 - 0x1p-30

// newBound pairs poles of like distances to their nearest neighbours.
func newBound(c *cost.Dense, poles []int) Bound {
	type pole struct {
		at   int
		near float64
	}
	all := make([]pole, len(poles))
	for i, a := range poles {
		all[i] = pole{a, math.Inf(1)}
		for _, b := range poles {
			if a != b {
				all[i].near = min(all[i].near, apart(c, a, b))
			}
		}
	}
	slices.SortStableFunc(all, func(x, y pole) int { return cmp.Compare(y.near, x.near) })
	var b Bound
	for i := 1; i < len(all); i += 2 {
		h := all[i].near / 2 * shrink
		if !(h > 0) {
			break
		}
		b.Poles = append(b.Poles, all[i-1].at, all[i].at)
		b.Radius = append(b.Radius, h)
		b.Mass = append(b.Mass, 1/math.Sqrt(h))
	}
	return b
}

// amplitude chooses eta and the tangent, and returns about what the bound then is.
func (b *Bound) amplitude(p Problem) float64 {
	if len(b.Radius) == 0 {
		return 0
	}
	sum, high, inverse, largest := 0.0, 0.0, 0.0, 0.0
	for j, u := range b.Mass {
		sum += u
		high += u * b.Radius[j]
		inverse += 1 / u
		largest = max(largest, u)
	}
	at := func(eta float64) (value, x float64) {
		phi := told(p.Epsilon, eta)
		z := eta * eta * largest / sum * phi / 2
		if z >= 1 {
			return 0, 0
		}
		x = float64(p.Clients) * (1 + z/2 + z*z/(3*(1-z))) * phi * eta * eta / (sum * inverse)
		return eta * high / sum * (1 - math.Sqrt(-math.Expm1(-x))), x
	}
	best := 0.0
	for i := range 1200 { // eta from 1 down to .001 by .6 % each: the bound is then within .002 % of the best
		eta := math.Exp(-float64(i) / 173.6)
		if v, x := at(eta); v > best {
			best, b.Amplitude, b.Exponent = v, eta, x
		}
	}
	for i := 1; i < 120 && b.Amplitude < 0.0011; i++ { // and on to 10^-8
		eta := 0.001 * math.Exp(-float64(i)/10)
		if v, x := at(eta); v > best {
			best, b.Amplitude, b.Exponent = v, eta, x
		}
	}
	b.Exponent = max(b.Exponent, 0x1p-60) * (1 - 0x1p-40) // a tangent at 0 would be vertical
	b.Root = math.Sqrt(-math.Expm1(-b.Exponent)) * (1 + 0x1p-48)
	return best
}

// told is Phi.
func told(eps, eta float64) float64 {
	e, k := math.Exp(eps), math.Expm1(eps)
	r := k / (math.Sqrt(e) + math.Sqrt(e-k*eta))
	return r * r
}

// centre returns the place with the least largest cost of anybody to it.
func centre(c *cost.Dense) int {
	best, least := 0, math.Inf(1)
	for b := range c.K {
		most := 0.0
		for a := range c.K {
			most = max(most, c.Data[a*c.K+b])
		}
		if most < least {
			best, least = b, most
		}
	}
	return best
}
