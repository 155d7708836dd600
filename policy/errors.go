package policy

import (
	"errors"
	"fmt"
)

var (
	// ErrPolicy is for a Policy that was not made by New or Decode.
	ErrPolicy = errors.New("policy: not a policy")
	// ErrFormat is for bytes that Encode would not have written. See FormatError.
	ErrFormat = errors.New("policy: not a canonical policy file")
	// ErrLimit is for a size above the package's limits.
	ErrLimit = errors.New("policy: limit exceeded")
	// ErrShape is for numbers of rows, labels or columns that do not fit together.
	ErrShape = errors.New("policy: mismatched sizes")
	// ErrText is for a label, note or key that is not clean text, or appears twice.
	ErrText = errors.New("policy: invalid text")
	// ErrObject is for a cost or certificate that is not one compact JSON object.
	ErrObject = errors.New("policy: not a compact JSON object")
	// ErrRow is for a row outside the box, or one that is not what the geometry gives.
	ErrRow = errors.New("policy: wrong row")
	// ErrMode is for an unknown mode, or one that the policy does not provide for.
	ErrMode = errors.New("policy: invalid mode")
	// ErrProvenance is for an origin that is missing, unknown or lacks its epsilon.
	ErrProvenance = errors.New("policy: invalid provenance")
	// ErrID is for a policy whose content no longer has the hash it was made with.
	ErrID = errors.New("policy: content does not match its ID")
	// ErrProject is for a release in projection mode without a projection function.
	ErrProject = errors.New("policy: no projection function")
	// ErrReport is for bytes that are not a report, or a report of another policy.
	ErrReport = errors.New("policy: invalid report")
	// ErrRandom is for a random source that failed. The debit stands.
	ErrRandom = errors.New("policy: random source failed")
)

// FormatError says where a policy file departs from the canonical form. It wraps ErrFormat.
type FormatError struct {
	Offset  int    // byte offset, from 0
	Line    int    // line, from 1
	Field   string // the member that belongs on this line, "" outside any
	Problem string
}

func (e *FormatError) Error() string {
	where := fmt.Sprintf("line %d, offset %d", e.Line, e.Offset)
	if e.Field != "" {
		where += fmt.Sprintf(", in %q", e.Field)
	}
	return fmt.Sprintf("%v: %s: %s", ErrFormat, where, e.Problem)
}

// Unwrap returns ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }
