package audit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestWordsOfControls: a control without a bug does not read as a bug that was missed, and all are counted.
func TestWordsOfControls(t *testing.T) {
	controls, err := Controls(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for _, c := range controls {
		text := c.gates()
		if c.planted() == strings.Contains(text, "no bug") || strings.Contains(text, "rejected by no gate") {
			t.Errorf("%s: %s", c.Name, text)
		}
		if !c.planted() {
			without++
		}
	}
	if found, _ := (Report{Controls: controls}).controls(); without < 2 || !strings.Contains(found, "mechanisms without a bug") {
		t.Errorf("%d without a bug: %s", without, found)
	}
}

// TestAuditEnded: a context that ends an audit is named with its cause.
func TestAuditEnded(t *testing.T) {
	why := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	list, err := plants()
	if err != nil {
		t.Fatal(err)
	}
	_, err = list[0].run(ctx, 0)
	for _, want := range []error{wpmerr.ErrNotConverged, context.Canceled, why} {
		if !errors.Is(err, want) {
			t.Errorf("%v does not wrap %v", err, want)
		}
	}
}
