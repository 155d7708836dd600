package policy

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/policy/private"
)

const (
	composed   = "Caf\u00e9"
	decomposed = "Cafe\u0301"
)

func aliasConfig(t testing.TB) Config {
	cfg := smallConfig(t)
	cfg.InputLabels = []string{"home", composed, "work"}
	cfg.InputAliases = []Alias{{2, "office"}, {1, decomposed}, {1, "Cafe"}}
	return cfg
}

// TestAliases: private data may use any spelling, the file holds them in one order, and a policy without them has the
// bytes that it has without the member.
func TestAliases(t *testing.T) {
	cfg := aliasConfig(t)
	given := slices.Clone(cfg.InputAliases)
	p := mustNew(t, cfg)
	if !slices.Equal(cfg.InputAliases, given) {
		t.Error("New changed the order of its argument")
	}
	want := []Alias{{1, "Cafe"}, {1, decomposed}, {2, "office"}}
	if got := p.InputAliases(); !slices.Equal(got, want) {
		t.Errorf("aliases %v, want %v", got, want)
	}
	data := mustEncode(t, p)
	if line := "\n\"input_aliases\":[[1,\"Cafe\"],[1,\"" + decomposed +
		"\"],[2,\"office\"]],\n\"lo\":"; !bytes.Contains(data, []byte(line)) {
		t.Errorf("no %q in\n%s", line, data)
	}
	again, err := Decode(data)
	if err != nil || again.ID() != p.ID() || !slices.Equal(again.InputAliases(), want) {
		t.Errorf("%v, %v", again, err)
	}
	if err := Verify(again); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		text string
		mu   []float64
	}{
		{composed + ",1\n", []float64{0, 1, 0}},
		{decomposed + ",1\n" + composed + ",1\noffice,2\n", []float64{0, 0.5, 0.5}},
		{"home,1\nCafe,3\n", []float64{0.25, 0.75, 0}},
	} {
		d, err := ParsePrivate(again, []byte(test.text))
		if err != nil || !slices.Equal(d.Mu(), test.mu) {
			t.Errorf("%q: %v, %v, want %v", test.text, d.Mu(), err, test.mu)
		}
	}
	cfg.InputAliases = nil
	plain := mustNew(t, cfg)
	if _, err := ParsePrivate(plain, []byte(decomposed+",1\n")); !errors.Is(err, private.ErrUnusable) {
		t.Errorf("another spelling without an alias: %v", err)
	}
	cfg.InputAliases = []Alias{}
	if got := mustEncode(t, mustNew(t, cfg)); !bytes.Equal(got, mustEncode(t, plain)) ||
		bytes.Contains(got, []byte("input_aliases")) {
		t.Error("no aliases, and yet another file")
	}
}

// TestAliasErrors: what is no spelling of one input is refused, in a Config and in a file.
func TestAliasErrors(t *testing.T) {
	for name, test := range map[string]struct {
		list []Alias
		want error
	}{
		"a label":      {[]Alias{{1, "home"}}, ErrText},
		"its own":      {[]Alias{{0, "home"}}, ErrText},
		"twice":        {[]Alias{{0, "a"}, {1, "a"}}, ErrText},
		"empty":        {[]Alias{{0, ""}}, ErrText},
		"control":      {[]Alias{{0, "a\n"}}, ErrText},
		"not UTF-8":    {[]Alias{{0, "\xff"}}, ErrText},
		"long":         {[]Alias{{0, strings.Repeat("a", maxLabel+1)}}, ErrLimit},
		"no input":     {[]Alias{{3, "a"}}, ErrShape},
		"before input": {[]Alias{{-1, "a"}}, ErrShape},
	} {
		cfg := aliasConfig(t)
		cfg.InputAliases = test.list
		if _, err := New(cfg); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	cfg := aliasConfig(t)
	cfg.InputLabels = nil
	if _, err := New(cfg); !errors.Is(err, ErrShape) {
		t.Errorf("without labels: %v", err)
	}
	good := string(mustEncode(t, mustNew(t, aliasConfig(t))))
	line := "\"input_aliases\":[[1,\"Cafe\"],[1,\"" + decomposed + "\"],[2,\"office\"]],\n"
	for other, want := range map[string]error{
		"\"input_aliases\":[[2,\"office\"],[1,\"Cafe\"]],\n": ErrFormat, // not in order
		"\"input_aliases\":[],\n":                            ErrFormat,
		"\"input_aliases\":null,\n":                          ErrFormat,
		"\"input_aliases\":[[1]],\n":                         ErrText,
		"\"input_aliases\":[[1,\"a\",2]],\n":                 ErrFormat,
		"\"input_aliases\":[[01,\"a\"]],\n":                  ErrFormat,
		"\"input_aliases\":[[1, \"a\"]],\n":                  ErrFormat,
		"\"input_aliases\":[[3,\"a\"]],\n":                   ErrShape,
		"\"input_aliases\":[[0,\"work\"]],\n":                ErrText,
		line + line:                                          ErrFormat,
	} {
		if _, err := Decode([]byte(strings.Replace(good, line, other, 1))); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", other, err, want)
		}
	}
	moved := strings.Replace(good, line, "", 1)
	if _, err := Decode([]byte(strings.Replace(moved, "\"output_labels\":", line+"\"output_labels\":", 1))); !errors.Is(
		err, ErrFormat) {
		t.Errorf("before output_labels: %v", err)
	}
	var at *FormatError
	if _, err := Decode([]byte(strings.Replace(good, "[[1,\"Cafe\"]", "[[x,\"Cafe\"]", 1))); !errors.As(err, &at) ||
		at.Field != "input_aliases" {
		t.Errorf("%v names no member", err)
	}
}
