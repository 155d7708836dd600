package given

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// ending ends a context when it has given so many rows, and counts those that are asked for once it has ended: other
// goroutines may read any number while this one is on its way to end it.
type ending struct {
	cost.Matrix
	end         func()
	at          int64
	ended       atomic.Bool
	rows, later atomic.Int64
}

func (c *ending) Row(i int, buf []float64) []float64 {
	if c.ended.Load() {
		c.later.Add(1)
	}
	if c.rows.Add(1) == c.at {
		c.end()
		c.ended.Store(true)
	}
	return c.Matrix.Row(i, buf)
}

// Ends checks that call, which reads c, reads at most allowed rows once its context has ended, wherever that is, and
// returns ErrNotConverged with the error of the context and its cause, as it does before it begins. A nil context never
// ends.
func Ends(t testing.TB, name string, c cost.Matrix, allowed int64, call func(ctx context.Context, c cost.Matrix) error) {
	t.Helper()
	all := &ending{Matrix: c}
	if err := call(nil, all); err != nil { //nolint:staticcheck // nil on purpose
		t.Errorf("%s: %v without a context", name, err)
	}
	total := all.rows.Load()
	if total <= 2*allowed {
		t.Errorf("%s: %d rows say nothing about %d", name, total, allowed)
	}
	cause := errors.New("cause")
	for _, at := range []int64{0, 1, total / 3, total / 2, total - allowed - 1} {
		ctx, cancel := context.WithCancelCause(context.Background())
		one := &ending{Matrix: c, at: at, end: func() { cancel(cause) }}
		if at == 0 {
			one.end()
			one.ended.Store(true)
		}
		err := call(ctx, one)
		if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s: %v after %d of %d rows", name, err, at, total)
		}
		if n := one.later.Load(); n > allowed || one.rows.Load() < at {
			t.Errorf("%s: %d rows read, %d of them after the end", name, one.rows.Load(), n)
		}
		cancel(nil)
	}
}
