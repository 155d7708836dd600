package machine

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/sphere"
)

func TestSphere(t *testing.T) {
	const line = `{"id":"x","d":3,"p":2,"eps":2}`
	got := ask(t, "sphere", line)
	m, err := sphere.Solve(3, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{"t": m.T, "omt": m.Omt, "alpha": m.Alpha, "S": m.S, "J": m.J, "W": m.W, "pin": m.Pin,
		"pout": m.Pout}
	for name, v := range want {
		if got[name] != v { // numbers round-trip
			t.Errorf("%s = %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want)+2 || got["id"] != "x" || got["seconds"] == nil {
		t.Errorf("answer %v", got)
	}
	near(t, "t of the audit", got["t"], 0.399605555160524798)
}

// TestSphereNames: the fields of the specification, in its spelling.
func TestSphereNames(t *testing.T) {
	answer, ok := Answer(context.Background(), "sphere", Settings{}, []byte(`{"d":2,"p":2,"eps":5}`))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(answer, &fields); err != nil || !ok {
		t.Fatalf("%s: %v", answer, err)
	}
	for _, name := range []string{"t", "omt", "alpha", "S", "J", "W", "pin", "pout", "seconds"} {
		if fields[name] == nil {
			t.Errorf("no field %q in %s", name, answer)
		}
	}
}

func TestSphereErrors(t *testing.T) {
	for line, want := range map[string]string{
		`{"p":2,"eps":1}`:                     `"d"`,
		`{"d":2,"eps":1}`:                     `"p"`,
		`{"d":2,"p":2}`:                       `"eps"`,
		`{"d":2.5,"p":2,"eps":1}`:             `"d"`,
		`{"d":0,"p":2,"eps":1}`:               "dimension",
		`{"d":2,"p":0.25,"eps":1}`:            "exponent",
		`{"d":2,"p":2,"eps":0}`:               "eps",
		`{"d":2,"p":2,"eps":701}`:             "701",
		`{"d":1,"p":0.5,"eps":700}`:           "underflow",
		`{"d":2,"p":2,"eps":1,"x":[1]}`:       `"x"`,
		`{"d":2,"p":2,"eps":1,"cost":{}}`:     `"cost"`,
		`{"d":999999999,"p":2,"eps":1}`:       "dimension",
		`{"d":1e400,"p":2,"eps":1}`:           `"d"`,
		`{"d":2,"p":"2","eps":1}`:             `"p"`,
		`{"d":2,"p":2,"eps":1,"method":"xx"}`: `"method"`,
	} {
		got := ask(t, "sphere", line)
		if msg, _ := got["error"].(string); !strings.Contains(msg, want) {
			t.Errorf("%s: error %q, want one about %s", line, msg, want)
		}
	}
}
