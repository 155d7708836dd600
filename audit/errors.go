package audit

import "errors"

// Errors of this package, to be tested with errors.Is. A mechanism that fails a check is not an error: the
// result says so.
var (
	// ErrTable is for a table whose parts do not fit together.
	ErrTable = errors.New("audit: malformed table")
	// ErrDesign is for invalid settings: no samples, a false-alarm rate outside (0, 1/2], unknown inputs.
	ErrDesign = errors.New("audit: bad settings")
	// ErrLimit is for a policy with more weights in its rows than an audit reads.
	ErrLimit = errors.New("audit: limit exceeded")
	// ErrSampler is for a sampler that fails, or does not make the requested number of draws.
	ErrSampler = errors.New("audit: sampler failed")
	// ErrCommand is for a command that names no program.
	ErrCommand = errors.New("audit: bad command")
)
