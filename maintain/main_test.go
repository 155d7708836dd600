// Package maintain has the tests of the repository itself: what imports what, what starts a goroutine, and what the
// pages say. They run in the root folder of the module.
package maintain

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
