package shell

import (
	"strings"
	"testing"
	"time"
)

// TestProgressLines: where standard error is no terminal, a line is written after ten seconds, and not more often.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	Progress(&out)(1, 2, "soon") // by the clock
	at := time.Unix(0, 0)
	say := lines(&out, func() time.Time { return at })
	for done := range 35 {
		say(done, 40, "maps")
		at = at.Add(time.Second)
	}
	if got := out.String(); got != "maps: 10 of 40\nmaps: 20 of 40\nmaps: 30 of 40\n" {
		t.Errorf("%q", got)
	}
}
