package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// try runs the command in process and returns its exit status and outputs.
func try(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(context.Background(), append([]string{program}, args...), strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

// must runs the command and fails the test unless the status is 0.
func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	status, out, errs := try(t, stdin, args...)
	if status != device.Yes {
		t.Fatalf("wpm-lab %s: status %d: %s", strings.Join(args, " "), status, errs)
	}
	return out
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
