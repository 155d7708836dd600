package demo

import (
	"context"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
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

// TestSpread: the demo says of many cities what the README says and docs/results/rivals.md has, for its own settings alone.
func TestSpread(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(text)), " ")
	}
	c, _, err := Config{}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	page := read("docs/results/rivals.md")
	for _, find := range []string{`WPM, default design \| yes \| Map`, `disk area mechanism, radius 2 \| yes \| EM`,
		`disk area mechanism, radius 2 \|.*?\| \| \| Map`, `OUE \| no \| Map`} {
		row := regexp.MustCompile(find + ` \| ([0-9.]+) \| [0-9.]+ \| ([0-9.]+) \|`).FindStringSubmatch(page)
		if row == nil {
			t.Fatalf("no row %s", find)
		}
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, strconv.FormatFloat(v, 'f', 2, 64))
		}
	}
	_, readme, _ := strings.Cut(read("README.md"), "One city is one draw.")
	readme, _, _ = strings.Cut(readme, "At eps 1")
	for name, text := range map[string]string{"the demo": c.Spread(), "README.md": readme} {
		if got := regexp.MustCompile(`\d\.\d\d`).FindAllString(text, -1); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
		if !strings.Contains(text, "100 such cities") || !strings.Contains(page, "-runs 100") {
			t.Errorf("%s does not say how many cities: %s", name, text)
		}
	}
	for _, other := range []func(*Config){func(c *Config) { c.Users++ }, func(c *Config) { c.Epsilon = "2" }, func(c *Config) { c.Cols-- }} {
		d := c
		other(&d)
		if s := d.Spread(); s == c.Spread() || !strings.HasPrefix(s, "One city is one draw") {
			t.Errorf("other settings: %s", s)
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
