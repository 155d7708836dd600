package shuffle

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
)

// MaxClients is the largest number of clients. More are no less private, so take the bound of so many.
const MaxClients = 100_000_000

// Errors of this package, to be tested with errors.Is.
var (
	// ErrProblem is for a number of the problem that is out of range.
	ErrProblem = errors.New("shuffle: invalid problem")
	// ErrEvidence is for a guarantee whose edges are no edges.
	ErrEvidence = errors.New("shuffle: invalid evidence")
	// ErrDelta is for a guarantee whose delta is above that of the problem.
	ErrDelta = errors.New("shuffle: delta is not reached")
)

// Problem is what was published, and who reports.
type Problem struct {
	Clients int      // N: honest clients, one report each, 1 to MaxClients
	Blanket *big.Rat // gamma: the sum of the lower bounds of the box, as a share of all weights; see Blanket
	Epsilon float64  // the eps of the box, rounded up; at most 700
	Delta   float64  // 0 < delta < 1
}

// Blanket returns the gamma of a box: exact. It is 0, which no Problem takes, for a nil or a zero box.
func Blanket(box *ldp.Polytope) *big.Rat {
	if box == nil || box.Len() == 0 {
		return new(big.Rat)
	}
	sum := new(big.Int)
	for j := range box.Len() {
		sum.Add(sum, new(big.Int).SetUint64(box.Lo(j)))
	}
	return new(big.Rat).SetFrac(sum, new(big.Int).SetUint64(box.Total()))
}

// Common returns the delta that is usual for so many clients: 10^-6, or 1/(10 N) where that is less. A delta of 1/N
// would let one client's data be published.
func Common(clients int) float64 { return min(1e-6, 0.1/float64(max(clients, 1))) }

func (p Problem) validate() error {
	switch {
	case p.Clients < 1 || p.Clients > MaxClients:
		return fmt.Errorf("%w: %d clients, want 1 to %d", ErrProblem, p.Clients, MaxClients)
	case !(p.Epsilon >= 0 && p.Epsilon <= num.MaxEpsilon):
		return fmt.Errorf("%w: eps %v, want 0 to %d", ErrProblem, p.Epsilon, num.MaxEpsilon)
	case !(p.Delta > 0 && p.Delta < 1):
		return fmt.Errorf("%w: delta %v, want more than 0 and less than 1", ErrProblem, p.Delta)
	case p.Blanket == nil || p.Blanket.Sign() <= 0 || p.Blanket.Cmp(big.NewRat(1, 1)) > 0:
		return fmt.Errorf("%w: the blanket has mass %v, want more than 0 and at most 1", ErrProblem, p.Blanket)
	case p.Blanket.Denom().BitLen() > maxBlanketBits:
		return fmt.Errorf("%w: the mass of the blanket has %d bits, at most %d", ErrProblem, p.Blanket.Denom().BitLen(),
			maxBlanketBits)
	}
	if c := newConstants(p, 0); c.over {
		return fmt.Errorf("%w: no row fits a blanket of mass %v: e^%v times it is below 1", ErrProblem,
			num.Down(p.Blanket), p.Epsilon)
	}
	return nil
}

// maxBlanketBits bounds the length of gamma: a box has at most 62 bits.
const maxBlanketBits = 64
