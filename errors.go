package wpm

import "errors"

var (
	// ErrShape says that lengths do not fit together.
	ErrShape = errors.New("wpm: shape mismatch")
	// ErrMass says that a distribution is none.
	ErrMass = errors.New("wpm: not a distribution")
	// ErrOption says that a field of Options has a value that means nothing.
	ErrOption = errors.New("wpm: bad option")
	// ErrCertificate says that a policy's claims about utility do not hold, or are not there.
	ErrCertificate = errors.New("wpm: bad utility certificate")
)
