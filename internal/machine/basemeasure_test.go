package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// TestBaseMeasureMethods: every method and objective, against values known otherwise.
func TestBaseMeasureMethods(t *testing.T) {
	const tol = 2e-9 // the promise on f, relative
	ring := `"cost":{"kind":"ring","n":30,"p":2},"eps":5`
	small := `"cost":{"kind":"explicit","C":[[0,1,2],[1,0,1],[2,1,0]]},"eps":1`
	for _, c := range []struct {
		line string
		f    float64 // 0: not known here
		gap  bool    // the bounds are that close
	}{
		{`{` + ring + `}`, 4.86155374524601, true},
		{`{` + ring + `,"method":"solve","gap":1e-10}`, 4.86155374524601, true},
		{`{` + ring + `,"method":"uniform"}`, 4.86155374524601, true},
		{`{` + ring + `,"method":"mirror","T":64,"rule":"adaptive"}`, 0, false},
		{`{` + small + `}`, 0, true},
		{`{` + small + `,"objective":"average"}`, 0, true},
		{`{` + small + `,"objective":"mixed","t":0.5,"input_weights":[1,2,1],"exclude":[0]}`, 0, true},
		// Two points at distance 1: f = 1/(e+1).
		{`{"cost":{"kind":"explicit","C":[[0,1],[1,0]]},"eps":1}`, 1 / (math.E + 1), true},
	} {
		var out bytes.Buffer
		if _, bad, err := Run(context.Background(), "basemeasure", Settings{}, strings.NewReader(c.line), &out); err != nil ||
			bad > 0 {
			t.Fatalf("%s: %s, %v", c.line, &out, err)
		}
		var got struct {
			M               []float64
			F, Upper, Lower float64
			Status          string
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if !(got.Lower <= got.Upper && got.F <= got.Upper*(1+tol)) || len(got.M) == 0 || got.Status == "" {
			t.Errorf("%s: %s", c.line, &out)
		}
		if c.gap && got.Upper-got.Lower > tol*got.Upper {
			t.Errorf("%s: between %v and %v", c.line, got.Lower, got.Upper)
		}
		if c.f != 0 && math.Abs(got.F-c.f) > tol*c.f {
			t.Errorf("%s: f = %v, want %v", c.line, got.F, c.f)
		}
	}
	for line, want := range map[string]string{
		`{` + small + `,"method":"guess"}`:                "method",
		`{` + small + `,"T":5}`:                           "T",
		`{` + small + `,"method":"mirror","T":0}`:         "T",
		`{` + small + `,"method":"mirror","rule":"best"}`: "rule",
		`{` + small + `,"gap":-1}`:                        "gap",
		`{` + small + `,"method":"mirror","gap":0.5}`:     "unknown field",
		`{` + small + `,"objective":"sum"}`:               "objective",
		`{` + small + `,"exclude":[0,1,2]}`:               "xclude",
		`{` + small + `,"exclude":[7]}`:                   "xclude",
		`{` + small + `,"input_weights":[1]}`:             "eights",
	} {
		answer, ok := Answer(context.Background(), "basemeasure", Settings{}, []byte(line))
		if ok || !bytes.Contains(answer, []byte(want)) {
			t.Errorf("%s: %s, want an error about %s", line, answer, want)
		}
	}
}
