package wpm

import "errors"

var (
	// ErrShape says that lengths do not fit together.
	ErrShape = errors.New("wpm: shape mismatch")
	// ErrOption says that a field of Options has a value that means nothing.
	ErrOption = errors.New("wpm: bad option")
)
