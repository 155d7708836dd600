package wpm

import "errors"

var (
	// ErrShape says that lengths do not fit together.
	ErrShape = errors.New("wpm: shape mismatch")
	// ErrMass says that a distribution is none.
	ErrMass = errors.New("wpm: not a distribution")
	// ErrOption says that a field of Options or Objective has a value that means nothing.
	ErrOption = errors.New("wpm: bad option")
)
