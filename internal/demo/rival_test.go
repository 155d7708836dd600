package demo

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestLearned: with as many users as this, the map is nearer than the releases as they are, and both than the guess.
func TestLearned(t *testing.T) {
	cfg := small
	cfg.Users, cfg.Epsilon = 500, "3"
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := res.Learned
	if !(0 < l.Map && l.Map < l.Raw && l.Raw < l.Guess) || !(l.Map < l.OUE && l.OUE < l.Guess) ||
		l.Signal != "ok" || res.Modes[1].W1 != l.Raw {
		t.Errorf("%+v, modes %+v", l, res.Modes)
	}
	for _, shares := range [][]float64{l.Shares, l.OUEShares} {
		sum := 0.0
		for _, v := range shares {
			sum += v
		}
		if !(math.Abs(sum-1) <= 1e-12) { // thirty cells
			t.Errorf("shares sum to %v", sum)
		}
	}
}

// TestReadmeSentence: the README says of the demo what the demo says.
func TestReadmeSentence(t *testing.T) {
	if !numtest.Full() {
		t.Skip("runs the whole demo")
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	res, err := Run(context.Background(), Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(res.Sentence(), "ε", "eps")
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
		t.Errorf("the README does not say: %s", want)
	}
}
