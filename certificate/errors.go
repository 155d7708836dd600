package certificate

import (
	"errors"
	"fmt"
)

// Errors of this package, to be tested with errors.Is.
var (
	// ErrCertificate is for the zero Certificate.
	ErrCertificate = errors.New("certificate: not a certificate")
	// ErrFormat is for bytes that Encode would not have written. See FormatError.
	ErrFormat = errors.New("certificate: not a canonical certificate")
	// ErrKind is for a kind that this package does not know.
	ErrKind = errors.New("certificate: unknown kind")
	// ErrLimit is for a size above the package's limits.
	ErrLimit = errors.New("certificate: limit exceeded")
	// ErrShape is for sizes that do not fit together, or masses that are out of order or not positive.
	ErrShape = errors.New("certificate: mismatched sizes")
	// ErrCost is for a cost that is missing, or is not the one that the problem names.
	ErrCost = errors.New("certificate: wrong cost")
	// ErrHash is for a problem that does not have the stated hash.
	ErrHash = errors.New("certificate: problem does not match its hash")
	// ErrEpsilon is for a certificate in a policy of another eps.
	ErrEpsilon = errors.New("certificate: another epsilon")
	// ErrEvidence is for evidence that the solver's Verify refuses, or that is about an invalid problem. The
	// solver's error is wrapped too.
	ErrEvidence = errors.New("certificate: evidence refused")
	// ErrStatus is for a result that is not optimal, where only an optimal one has a certificate.
	ErrStatus = errors.New("certificate: not an optimal result")
	// ErrClaim is for a stated bound that promises more than the evidence proves.
	ErrClaim = errors.New("certificate: claim not proved")
)

// FormatError says where a text departs from the canonical form. It wraps ErrFormat.
type FormatError struct {
	Offset  int // byte offset, from 0
	Problem string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%v: byte %d: %s", ErrFormat, e.Offset, e.Problem)
}

// Unwrap returns ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }

// LineError says on which line of a file of certificates the fault Err is.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns Err.
func (e *LineError) Unwrap() error { return e.Err }
