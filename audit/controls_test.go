package audit

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest/given"
)

// TestPlantedBugs: every planted bug, and the gates that reject it, by name: no more and no fewer, with fixed
// seeds.
func TestPlantedBugs(t *testing.T) {
	want := map[string]string{
		"no bug":                    "",
		"swapped alpha and beta":    "exact",
		"wrong eps by 5 %":          "exact statistical",
		"bound rounded up":          "exact",
		"renormalised box":          "exact",
		"dropped column":            "exact statistical",
		"stale policy":              "exact statistical law",
		"wrong probability":         "exact statistical law",
		"unprotected last output":   "exact statistical law",
		"lost fallback row":         "exact statistical law",
		"cumulative sum off by one": "exact law",
		"threshold <=":              "exact",
		"modulo bias":               "exact statistical law",
		"mixed clients":             "",
		"reused random word":        "law",
		"biased pick":               "law",
		"row of the next input":     "law",
		"one line read":             "law",
		"coarse probabilities":      "exact statistical law",
		"wrong row":                 "exact law",
		"silent entropy failure":    "exact law",
		"codes":                     "",
		"code chosen by the data":   "exact statistical law",
		"low weight of a code":      "exact",
		"colour of the next input":  "exact law",
		"fallback of one colour":    "exact statistical law",
		"tail lost to 53 bits":      "exact",
	}
	got, err := madeControls(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(got) < 13 {
		t.Errorf("%d controls, want %d: at least 12 bugs and the mechanism without one", len(got), len(want))
	}
	for _, c := range got {
		var gates []string
		for _, g := range []struct {
			name string
			gate Gate
		}{{"exact", c.Exact}, {"statistical", c.Statistical}, {"law", c.Law}} {
			if g.gate.Rejected {
				gates = append(gates, g.name)
			}
			if g.gate.Rejected != (g.gate.Fault != "") {
				t.Errorf("%s: %s: rejected %v with fault %q", c.Name, g.name, g.gate.Rejected, g.gate.Fault)
			}
			if g.gate.Must != g.gate.Rejected {
				t.Errorf("%s: %s: must %v, did %v", c.Name, g.name, g.gate.Must, g.gate.Rejected)
			}
		}
		if s := strings.Join(gates, " "); s != want[c.Name] || !c.Found || c.N < 1 || c.About == "" {
			t.Errorf("%s: found %v, rejected by %q, want %q, n = %d", c.Name, c.Found, s, want[c.Name], c.N)
		}
		// The bound may not exceed the truth, and what statistics do not see must be small or no loss of
		// privacy.
		if c.Loss != nil && c.Statistical.Rejected && !(float64(*c.Loss) > 1) {
			t.Errorf("%s: a violation was seen, the true loss is %v", c.Name, *c.Loss)
		}
		if c.Loss != nil && !c.Statistical.Rejected && float64(*c.Loss) > 1 && c.Needed <= int64(c.N) {
			t.Errorf("%s: the loss is %v and n = %d would find it, and n = %d did not", c.Name, *c.Loss, c.Needed, c.N)
		}
	}
	again, err := Controls(context.Background())
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("the controls differ from run to run (%v)", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := madeControls(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, and made before: %v", err)
	}
	if _, err := Controls(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestControlsCanFail: a bug that a gate misses, and an alarm about nothing, make a control fail.
func TestControlsCanFail(t *testing.T) {
	for name, p := range map[string]plant{
		"asleep to integers": {table: fair(t), sees: byExact, n: 100},
		"asleep to a loss":   {table: fair(t), sees: byLoss, n: 100},
		"asleep to the law":  {table: fair(t), sees: byLaw, n: 100},
		"alarm about nothing": {table: controlTable(given.Epsilon(t, "1"), controlBits, controlLo, 408,
			mechanism(408, 316, 150)), n: 100},
		"device without a bug": {table: fair(t), device: func(i int, _ uint64) int { return i % 4 }, n: 100},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := p.run(context.Background(), 0)
			if err != nil || c.Found {
				t.Errorf("%s: found %v, %v", name, c.Found, err)
			}
			if !strings.Contains(c.Gates(), "MISSED") && !strings.Contains(c.Gates(), "FALSE ALARM") {
				t.Errorf("%s: %s", name, c.Gates())
			}
		})
	}
}

// TestTrueLoss: the loss over all words, by hand.
func TestTrueLoss(t *testing.T) {
	loss, high, low := trueLoss(2, 2, 2, func(i int, word uint64) int { // rows 3:1 and 1:3
		if word == uint64(3*i) {
			return i
		}
		return 1 - i
	})
	if math.Abs(float64(loss)-math.Log(3)) > 1e-15 || high != 0.75 || low != 0.25 {
		t.Errorf("loss %v, %v over %v", loss, high, low)
	}
	loss, _, low = trueLoss(2, 2, 1, func(i int, _ uint64) int { return i })
	if !math.IsInf(float64(loss), 1) || low != 0 {
		t.Errorf("loss %v, low %v", loss, low)
	}
}
