package wpmerr_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestEnded: the error of a context that has ended is ErrNotConverged, the error of the context, and its cause.
func TestEnded(t *testing.T) {
	why := errors.New("why")
	cause, cancelCause := context.WithCancelCause(context.Background())
	cancelCause(why)
	plain, cancel := context.WithCancel(context.Background())
	cancel()
	late, cancelLate := context.WithDeadlineCause(context.Background(), time.Unix(0, 0), why)
	defer cancelLate()
	for _, tt := range []struct {
		name  string
		ctx   context.Context
		wraps []error
		text  string
	}{
		{"cancelled", plain, []error{context.Canceled}, "stopped before the goal: context canceled"},
		{"with a cause", cause, []error{context.Canceled, why}, "stopped before the goal: context canceled: why"},
		{"late, with a cause", late, []error{context.DeadlineExceeded, why},
			"stopped before the goal: context deadline exceeded: why"},
	} {
		err := wpmerr.Ended(tt.ctx)
		for _, want := range append(tt.wraps, wpmerr.ErrNotConverged) {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v does not wrap %v", tt.name, err, want)
			}
		}
		if err.Error() != tt.text {
			t.Errorf("%s: %q, want %q", tt.name, err, tt.text)
		}
	}
}

// TestNotEnded: there is no error of a context that goes on.
func TestNotEnded(t *testing.T) {
	for name, ctx := range map[string]context.Context{"nil": nil, "background": context.Background()} {
		if err := wpmerr.Ended(ctx); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestContext: a nil context never ends, and any other is itself.
func TestContext(t *testing.T) {
	if ctx := wpmerr.Context(nil); ctx.Err() != nil || ctx.Done() != nil { //nolint:staticcheck // nil on purpose
		t.Errorf("a nil context became %v", ctx)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if got := wpmerr.Context(ctx); got != ctx {
		t.Errorf("another context: %v", got)
	}
}
