package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
)

// run runs everything on one of the clients in this program.
func run(t *testing.T, name string, limit time.Duration) Report {
	t.Helper()
	t.Setenv("WPM_CONFORM_CLIENT", name)
	r, err := Run(Settings{Command: []string{os.Args[0]}, Level: "quick", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find returns the group of a name, or of a prefix.
func find(t *testing.T, r Report, name string) Group {
	t.Helper()
	for _, g := range r.Groups {
		if strings.HasPrefix(g.Name, name) {
			return g
		}
	}
	t.Fatalf("no group %q", name)
	return Group{}
}

func failed(r Report) (names []string) {
	for _, g := range r.Groups {
		if g.Status == Failed {
			names = append(names, g.Name+": "+g.Reason+" "+g.Line)
		}
	}
	return names
}

// TestReference: this module passes, and all that it offers was asked. It offers no draw and no ledger: package policy's
// tests have those, for no program of this module takes random bytes for a draw, or pays for a report that it is given.
func TestReference(t *testing.T) {
	r := run(t, "reference", 0)
	for _, name := range failed(r) {
		t.Error(name)
	}
	for _, g := range r.Groups {
		if g.Status == NotOffered && !strings.Contains(strings.Join(g.Kinds, " "), "draw") && g.Kinds[0] != "aggregate" &&
			g.Kinds[0] != "ledger" {
			t.Errorf("%s: not offered", g.Name)
		}
		if g.Status == Passed && g.Cases == 0 {
			t.Errorf("%s: passed without a case", g.Name)
		}
	}
	var out, page bytes.Buffer
	if err := errors.Join(r.Text(&out), r.HTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, g := range r.Groups {
		if !strings.Contains(out.String(), g.Name) || !strings.Contains(page.String(), g.Name) {
			t.Errorf("the reports do not name %s", g.Name)
		}
	}
}

// TestBroken: whatever a client does instead of answers, it is told of it, and the run ends.
func TestBroken(t *testing.T) {
	if !numtest.Full() {
		t.Skip("takes some seconds")
	}
	for name, want := range map[string]string{
		"dies": "exit status 3", "hangs": "no answer within", "garbage": "not UTF-8", "cut": "ended instead of an answer",
		"order": "its id is",
		"twice": "its id is", "floods": "no answer within", "null": "not a JSON object", "odd": "accepted",
	} {
		t.Run(name, func(t *testing.T) {
			limit := time.Duration(0)
			if want == "no answer within" {
				limit = time.Second
			}
			r := run(t, name, limit)
			g := find(t, r, "vectors/verify")
			if r.OK() || g.Status != Failed || !strings.Contains(g.Reason, want) || g.Line == "" {
				t.Errorf("%+v, want a reason with %q and a line", g, want)
			}
			if name == "dies" && !strings.Contains(g.Reason, "lost the will") {
				t.Errorf("%q does not have the last words", g.Reason)
			}
			if name != "odd" && !strings.Contains(g.Reason, "given up") {
				t.Errorf("%q does not say that it is given up", g.Reason)
			}
		})
	}
}

// TestHello: a client that says at its start what it may not say, or at its end.
func TestHello(t *testing.T) {
	for name, want := range map[string]string{
		"hello-twice": "there twice", "hello-unknown": `"klingon"`, "hello-silent": "no answer within",
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, name, 2*time.Second)
			if len(r.Groups) != 1 || r.Groups[0].Status != Failed || !strings.Contains(r.Groups[0].Reason, want) {
				t.Errorf("%s: %+v, want a reason with %q", name, r.Groups, want)
			}
		})
	}
	if r := run(t, "hello-none", 0); !r.OK() || r.NotOffered < 40 || r.Passed != 8 {
		t.Errorf("a client that offers nothing: %+v", r)
	}
}

func TestEnd(t *testing.T) {
	for name, want := range map[string]string{"late": "one more thing", "unclean": "exit status 4",
		"stays": "goes on after"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WPM_CONFORM_CLIENT", name)
			c := &client{command: []string{os.Args[0]}, limit: 2 * time.Second}
			if err := c.start(); err != nil {
				t.Fatal(err)
			}
			var b broken
			if err := c.end(); !errors.As(err, &b) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	for _, s := range []Settings{{}, {Command: []string{"true"}, Level: "slow"}, {Command: []string{"true"}, Limit: -1},
		{Command: []string{"true"}, Memory: -1}} {
		if _, err := Run(s); !errors.Is(err, ErrSettings) {
			t.Errorf("Run(%+v): %v", s, err)
		}
	}
	if _, err := Run(Settings{Command: []string{"/nowhere/at all"}}); err == nil {
		t.Error("a command that is not there runs")
	}
}

// TestRead: answers of every bad form.
func TestRead(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"index":2}`: "", `{"index":2}`: "its id", `{"id":2,"index":2}`: "its id",
		`{"id":"1","index":2}`: "its id", `{"id":1}`: `no member "index"`,
		`{"id":1,"index":null}`: `no member "index"`, `{"id":1,"index":2.5}`: `member "index"`,
		`{"id":1,"error":"no"}`: "refused: no",
		`{"id":1,"error":""}`:   "error is no text", `{"id":1,"error":5}`: "error is no text", `[]`: "not a JSON object",
		``:                     "not a JSON object",
		`{"id":1,"index":2} 3`: "not a JSON object", "{\"id\":1,\"x\":\"\xff\"}": "not UTF-8",
	} {
		var a struct {
			Index int `json:"index"`
		}
		err := read([]byte(line), "1", &a)
		if want == "" && (err != nil || a.Index != 2) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("read(%q): %v, want %q", line, err, want)
		}
	}
}

// TestNumber: every float64 keeps its bits in a line.
func TestNumber(t *testing.T) {
	for _, text := range []string{"1e-300", "-0.0", "5e-324", `"inf"`, `"-inf"`, "0.1", "1e+22"} {
		var x number
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(x); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`"1"`, "null", "1e999", "[1]", "true", `""`} {
		if x := new(number); json.Unmarshal([]byte(text), x) == nil && text != "null" {
			t.Errorf("%s is read as %v", text, *x)
		}
	}
}
