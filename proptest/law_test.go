package proptest_test

import (
	"flag"
	"testing"
)

// TestNoFiles: a law that fails leaves no file behind, unless it is asked to.
func TestNoFiles(t *testing.T) {
	if f := flag.Lookup("rapid.nofailfile"); f.Value.String() != "true" {
		t.Errorf("-rapid.nofailfile is %v", f.Value)
	}
}
