package knapsack

import (
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/cost"
)

// Errors returned by this package, wrapped with what was wrong, where, and the value.
var (
	// ErrShape reports a missing or empty matrix, a slice of the wrong length or a row that does not exist.
	ErrShape = errors.New("knapsack: shapes do not agree")
	// ErrNotFinite reports a NaN or an infinity.
	ErrNotFinite = errors.New("knapsack: value is not finite")
	// ErrNegative reports a negative cost or bound.
	ErrNegative = errors.New("knapsack: value is negative")
	// ErrBox reports a column with lo > hi.
	ErrBox = errors.New("knapsack: lower bound above upper bound")
	// ErrInfeasible reports a box that holds no probability vector, beyond what rounding explains.
	ErrInfeasible = errors.New("knapsack: no probability vector in the box")
)

// costError gives an error of package cost the sentinel of this one; errors.Is finds both.
func costError(err error) error {
	sentinel := ErrShape
	switch {
	case errors.Is(err, cost.ErrNotFinite):
		sentinel = ErrNotFinite
	case errors.Is(err, cost.ErrNegative):
		sentinel = ErrNegative
	}
	return fmt.Errorf("%w: %w", sentinel, err)
}
