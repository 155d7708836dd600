package figure

import "errors"

// Errors of this package; every one that Render returns wraps one of them and says what, where and the value.
var (
	// ErrEmpty: nothing to draw (no series, no panel, no point).
	ErrEmpty = errors.New("figure: nothing to draw")
	// ErrShape: lengths that do not fit together.
	ErrShape = errors.New("figure: lengths do not match")
	// ErrValue: a number that cannot be drawn (NaN, infinite, not positive on a log axis, beyond MaxAbs).
	ErrValue = errors.New("figure: value cannot be drawn")
	// ErrOption: an unknown scale or look.
	ErrOption = errors.New("figure: unknown option")
	// ErrRender: the plotting library gave up on a description that passed the checks.
	ErrRender = errors.New("figure: cannot render")
)
