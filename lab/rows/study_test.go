package rows

import (
	"context"
	"errors"
	"reflect"
	"testing"
)

// TestRun: a small study has every cell, the same at every call, and its table can be written.
func TestRun(t *testing.T) {
	cfg := Config{Out: t.TempDir(), Epsilons: []string{"1"}, Devices: []int{5000}, Few: 1, Cities: 1}
	a, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(context.Background(), cfg)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ (%v):\n%+v\n%+v", err, a, b)
	}
	c := a.Cells[0]
	if len(a.Cells) != 1 || !(0 < c.Chosen.Mean && c.Chosen.Mean < c.Guess && c.Disc.Mean < c.Guess) {
		t.Errorf("cells %+v: want one, with maps nearer than the guess", a.Cells)
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []Config{{Few: -1}, {Many: maxRuns + 1}, {Cities: -1}, {Devices: []int{0}}, {Epsilons: []string{"x"}}} {
		if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v, want ErrConfig", cfg, err)
		}
	}
}
