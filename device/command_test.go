package device

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"
)

// TestHelpExamples: the help has examples where the command has some, and no headline without.
func TestHelpExamples(t *testing.T) {
	for _, examples := range [][]string{nil, {"do this"}} {
		var out bytes.Buffer
		e := &Env{Program: "prog", Out: &out}
		c := &Command{Name: "do", Summary: "does", About: "It does.", Examples: examples, Flags: newFlags("do")}
		if status := Run(context.Background(), e, []*Command{c}, []string{"do", "-help"}); status != Yes {
			t.Fatal(status)
		}
		if got, want := strings.Contains(out.String(), "\nExamples:\n  prog do this\n"), examples != nil; got != want ||
			strings.Contains(out.String(), "Examples:") != want {
			t.Errorf("%q:\n%s", examples, out.String())
		}
	}
}

// TestSingleString: a flag that can be set once shows its value, and package flag may ask the zero value.
func TestSingleString(t *testing.T) {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.String("name", "none", "")
	if got := (&single{Value: f.Lookup("name").Value}).String(); got != "none" {
		t.Errorf("%q", got)
	}
	if got := new(single).String(); got != "" {
		t.Errorf("the zero value: %q", got)
	}
}
