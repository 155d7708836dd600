package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy"
)

// TestDemo: the sum of the demo is that of its clients, and both that cheat are refused.
func TestDemo(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), []string{"demo"}, &out); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, want := range []string{"second place: dap: upload refused", "wrong share: dap: upload refused",
		"1000 reports of 400 outputs", "2 uploads were refused", "1e-06)-DP"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestParameters(t *testing.T) {
	p, err := demoPolicy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"parameters", path}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Prio3Histogram"`, `"length": 400`, `"chunk_length": 20`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	for _, args := range [][]string{nil, {"demo", "x"}, {"parameters", path + "x"}, {"parameters", "main.go"}} {
		if err := run(t.Context(), args, &out); err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}
