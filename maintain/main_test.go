// Package maintain has the tests of the repository itself: what imports what, what starts a goroutine, and what the
// pages say. They run in the root folder of the module.
package maintain

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	if err := logFolder(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(status)
}

// logFolder adds the change of folder to the log of what the tests have read, which began after it. By this log the go
// command decides whether an old result still holds: without the line it looks for the pages in the wrong folder, and says
// ok of pages that have changed.
func logFolder() error {
	f := flag.Lookup("test.testlogfile")
	if f == nil || f.Value.String() == "" {
		return nil
	}
	const head = "# test log\n"
	text, err := os.ReadFile(f.Value.String())
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	rest, ok := bytes.CutPrefix(text, []byte(head))
	if !ok {
		return fmt.Errorf("a log of tests that begins otherwise: %.20q", text)
	}
	return os.WriteFile(f.Value.String(), fmt.Appendf(nil, "%schdir %s\n%s", head, root, rest), 0o600)
}
