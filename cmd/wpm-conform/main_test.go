package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/conform"
)

// TestMain makes the test's own program a client that ends after its first line.
func TestMain(m *testing.M) {
	if os.Getenv("WPM_CONFORM_CLIENT") != "" {
		fmt.Println(`{"wpm-conform":1,"name":"ends","kinds":["verify"]}`)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestStatus: 2 for bad usage and for a command that is not there, 1 for a client that fails, and then a report in
// every form that was asked for.
func TestStatus(t *testing.T) {
	for _, args := range [][]string{{}, {"-level", "slow", "--", "true"}, {"-nonsense"}, {"--", "/nowhere/at all"},
		{"-limit", "-1s", "--", "true"}, {"-memory", "-1", "--", "true"}} {
		var out, err bytes.Buffer
		if got := run(args, &out, &err); got != 2 || err.Len() == 0 || out.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q, want 2 and a message", args, got, &out, &err)
		}
	}
	t.Setenv("WPM_CONFORM_CLIENT", "ends")
	page := filepath.Join(t.TempDir(), "report.html")
	var out, err bytes.Buffer
	if got := run([]string{"-json", "-level", "quick", "-html", page, "--", os.Args[0]}, &out, &err); got != 1 ||
		err.Len() > 0 {
		t.Errorf("status %d, %q, want 1", got, &err)
	}
	var r conform.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Failed == 0 || r.Client != "ends" {
		t.Errorf("%v: %s", err, &out)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "ended instead of an answer") {
		t.Errorf("%v: %s", err, text)
	}
	out.Reset()
	if got := run([]string{"-level", "quick", "-html", filepath.Join(page, "no"), "--", os.Args[0]}, &out,
		&err); got != 2 {
		t.Errorf("status %d for a page that cannot be written, want 2", got)
	}
}
