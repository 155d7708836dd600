package costio

import (
	"context"
	"fmt"
	"io"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// Pages have no NPY: nothing there reads it, and it would be a twentieth of the playground.
func readNPY(src *source) (*cost.Dense, error) {
	return nil, &Error{File: src.name, Msg: "NPY is not read in a browser", Err: ErrFormat}
}

// WriteNPY fails: there is no NPY in a browser.
func WriteNPY(context.Context, io.Writer, cost.Matrix) error {
	return fmt.Errorf("%w: NPY is not written in a browser", wpmerr.ErrSettings)
}
