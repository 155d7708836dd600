package compare

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// Errors of this package; those of the solvers pass through.
var (
	// ErrData: Data that do not fit together, or are no distributions.
	ErrData = errors.New("compare: bad data")
	// ErrConfig: a Config field out of range, or one that does not go with the data.
	ErrConfig = errors.New("compare: bad configuration")
	// ErrCertificate: laws that are more than e^eps apart, or a distance whose bounds are too far apart to report. It
	// would be a bug.
	ErrCertificate = errors.New("compare: certificate does not hold")
)

// Data is what mechanisms are compared on.
type Data struct {
	Distance *cost.Dense // k x kv, not raised to a power
	P        float64     // the cost is Distance^P
	Unit     string      // of distances
	Same     bool        // outputs are the inputs, in the same order
	Users    []User
	Source   string // in words, for the report
}

// User is the distribution of one user.
type User struct {
	ID string
	Mu []float64 // k numbers >= 0; they are divided by their sum
}

// Limits of Data and Config: what a study does in reasonable time and memory.
const (
	maxPoints  = 5000
	maxUsers   = 100_000
	maxNumbers = 1 << 27 // of all laws
	maxSeeds   = 1000
	maxEps     = 64
)

// check returns the users' distributions, scaled.
func (d Data) check() (mu [][]float64, err error) {
	fail := func(format string, args ...any) ([][]float64, error) {
		return nil, fmt.Errorf("%w: %s", ErrData, fmt.Sprintf(format, args...))
	}
	if d.Distance == nil {
		return fail("no distances")
	}
	if err := cost.Validate(context.Background(), d.Distance); err != nil {
		return nil, fmt.Errorf("%w: distances: %w", ErrData, err)
	}
	k, kv := d.Distance.Dims()
	switch {
	case k > maxPoints || kv > maxPoints:
		return fail("%d inputs and %d outputs, at most %d", k, kv, maxPoints)
	case kv < 2:
		return fail("one output: nothing to choose")
	case !(d.P >= 0.1 && d.P <= 10):
		return fail("P is %v, want 0.1 to 10", d.P)
	case d.Same && k != kv:
		return fail("%d inputs are not %d outputs", k, kv)
	case len(d.Users) < 2 || len(d.Users) > maxUsers:
		return fail("%d users, want 2 to %d", len(d.Users), maxUsers)
	case len(d.Users) > maxNumbers/max(k, kv):
		return fail("%d users of %d places: more than %d numbers", len(d.Users), max(k, kv), maxNumbers)
	}
	mu = make([][]float64, len(d.Users))
	for u, user := range d.Users {
		if len(user.Mu) != k {
			return fail("user %d (%s) has %d shares for %d inputs", u, user.ID, len(user.Mu), k)
		}
		if mu[u], err = scaled(user.Mu); err != nil {
			return nil, fmt.Errorf("%w: user %d (%s): %w", ErrData, u, user.ID, err)
		}
	}
	return mu, nil
}

// scaled returns weights over their sum, which may be beyond all floats.
func scaled(weights []float64) ([]float64, error) {
	top, sum := 0.0, 0.0
	for i, v := range weights {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return nil, fmt.Errorf("weight %d is %v, want a finite number >= 0", i, v)
		}
		top = max(top, v)
	}
	if top == 0 {
		return nil, errors.New("all weights are 0")
	}
	out := make([]float64, len(weights))
	for i, v := range weights {
		out[i] = v / top
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out, nil
}

// power returns the distances raised to p.
func (d Data) power(p float64) (*cost.Dense, error) {
	if p == 1 {
		return d.Distance, nil
	}
	data := make([]float64, len(d.Distance.Data))
	for n, x := range d.Distance.Data {
		switch p {
		case 2:
			data[n] = x * x
		default:
			data[n] = math.Pow(x, p)
		}
	}
	c, err := cost.NewDense(d.Distance.K, d.Distance.Kv, data)
	if err != nil {
		return nil, fmt.Errorf("%w: distances to the power %v: %w", ErrData, p, err)
	}
	return c, nil
}

// distances turns a cost d^p into distances.
func distances(c *cost.Dense, p float64) (*cost.Dense, error) {
	data := make([]float64, len(c.Data))
	for n, x := range c.Data {
		switch p {
		case 1:
			data[n] = x
		case 2:
			data[n] = math.Sqrt(x)
		default:
			data[n] = math.Pow(x, 1/p)
		}
	}
	return cost.NewDense(c.K, c.Kv, data)
}

// FromCost returns Data without users for a matrix of costs d^p.
func FromCost(c *cost.Dense, p float64) (Data, error) {
	if !(p >= 0.1 && p <= 10) {
		return Data{}, fmt.Errorf("%w: P is %v, want 0.1 to 10", ErrData, p)
	}
	d, err := distances(c, p)
	if err != nil {
		return Data{}, fmt.Errorf("%w: %w", ErrData, err)
	}
	return Data{Distance: d, P: p}, nil
}
