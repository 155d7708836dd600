package rivals

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// TestRun: a small study has every mechanism with one best reading, the same at every call, and on a city with many
// reports the best readings are nearer than the even map.
func TestRun(t *testing.T) {
	cfg := Config{Out: t.TempDir(), Epsilons: []string{"3"}, Devices: 150, Runs: 1, Side: 6}
	a, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(context.Background(), cfg)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ (%v):\n%+v\n%+v", err, a, b)
	}
	best := map[string]int{}
	for _, x := range a.Rows {
		if x.Best {
			best[x.Method]++
			if !(0 < x.Mean && x.Mean < a.Guess) {
				t.Errorf("%s by %s: %v, the even map %v", x.Method, x.Reading, x.Mean, a.Guess)
			}
		}
	}
	for _, m := range Methods() {
		if best[m] != 1 {
			t.Errorf("%s has %d best readings", m, best[m])
		}
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"runs": {Runs: -1}, "devices": {Devices: maxDevices + 1}, "side": {Side: 3}, "unknown": {Methods: []string{"x"}},
		"twice": {Methods: []string{"dam", "dam"}}, "eps": {Epsilons: []string{"x"}}, "large eps": {Epsilons: []string{"13"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
				t.Errorf("%v, want ErrConfig", err)
			}
		})
	}
}
