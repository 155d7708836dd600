package projection

import (
	"fmt"
)

// BatchError says how many of the distributions of a stream have no result, or one that stopped before its goal.
type BatchError struct {
	Failed int   // how many
	Users  int   // of how many
	First  int   // the lowest index among them
	Err    error // and what was wrong with it
}

// Error says how many failed, and why the first did.
func (e *BatchError) Error() string {
	return fmt.Sprintf("projection: %d of %d distributions failed, the first at index %d: %v",
		e.Failed, e.Users, e.First, e.Err)
}

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }
