package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/publisher"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/numtest"
)

// planOf runs plan -json.
func planOf(t *testing.T, args ...string) (card planning.Card) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, "", append([]string{"plan", "-json"}, args...)...)), &card); err != nil {
		t.Fatal(err)
	}
	return card
}

func TestPlan(t *testing.T) {
	dir := t.TempDir()
	prior := write(t, dir, "prior.csv", "label,count\n0,9\n1,3\n5,1\n")
	card := planOf(t, "-grid", "4x4", "-eps", "1,4", "-devices", "100, 10000", "-prior", prior)
	if len(card.Rows) != 4 || !card.Prior || card.Unit != "cells" || card.P != 1 || card.Inputs != 16 ||
		card.Objective != "uniform" || card.Target != nil {
		t.Fatalf("card: %+v", card)
	}
	for n, eps := range []string{"1", "1", "4", "4"} {
		r := card.Rows[n]
		// The worst guess is from a corner to the even map of 4 x 4 cells: below 3 cells.
		if r.Epsilon != eps || r.Devices != []int{100, 10000}[n%2] || !(r.Guess.Mean > 0.5 && r.Guess.Mean < 3) ||
			r.Met != nil || r.Guess != card.Rows[0].Guess {
			t.Errorf("row %d: %+v", n, r)
		}
	}
	if best := card.Rows[3]; !(best.Map.Mean < 0.1*best.Guess.Mean && best.Signal == estimate.GoodSignal) {
		t.Errorf("eps 4, 10,000 devices: %+v", best)
	}
	// For people: the same numbers, the unit, and what is behind them.
	text := must(t, "", "plan", "-grid", "4x4", "-eps", "1,4", "-devices", "100,10000", "-prior", prior)
	for _, want := range []string{"W_1, in cells", "30 simulated worlds", "10000", "\nsignal: ok if",
		"percentage points"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for n, line := range strings.Split(text, "\n")[3:7] { // map/guess is what the signal is about
		r, cells := card.Rows[n], strings.Fields(line)
		if want := fmt.Sprintf("%.3g", r.Map.Mean/r.Guess.Mean); len(cells) < 8 || cells[7] != want {
			t.Errorf("%q, want %s for map/guess", line, want)
		}
	}
	if strings.Contains(text, "No prior") {
		t.Errorf("a prior was given:\n%s", text)
	}
	if text := must(t, "", "plan", "-ring", "6", "-p", "2", "-eps", "2", "-devices", "50"); !strings.Contains(text,
		"W_2, in steps") || !strings.Contains(text, "No prior was given") || !strings.Contains(text, "easier than a city") ||
		!strings.Contains(text, " to ") {
		t.Errorf("without a prior:\n%s", text)
	}
	// The better policy is named where the plain one is forecast, and not where it is itself.
	for objective, named := range map[string]bool{"uniform": true, "map": false} {
		if text := must(t, "", "plan", "-ring", "6", "-eps", "2", "-devices", "50", "-objective", objective); strings.Contains(text,
			"-objective map forecasts") != named {
			t.Errorf("-objective %s:\n%s", objective, text)
		}
	}
	// The range of the guess says whether one's own truth is among the worlds.
	guess := planOf(t, "-grid", "4x4", "-eps", "1", "-devices", "100").Rows[0].Guess
	want := fmt.Sprintf("and the even map is %.3g to %.3g cells from the truth.", guess.Low, guess.High)
	if text := must(t, "", "plan", "-grid", "4x4", "-eps", "1", "-devices", "100"); !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestPlanTarget: the least choice of a series reaches the target, and the one before it does not.
func TestPlanTarget(t *testing.T) {
	card := planOf(t, "-grid", "3x3", "-eps", "2,4", "-target", "0.3 cells")
	if card.Target == nil || *card.Target != 0.3 || len(card.Rows) != 2 {
		t.Fatalf("card: %+v", card)
	}
	for _, r := range card.Rows {
		if r.Met == nil || !*r.Met || !(r.Map.Mean <= 0.3) {
			t.Errorf("%+v", r)
		}
	}
	if a, b := card.Rows[0].Devices, card.Rows[1].Devices; !(a > b && b > 10) {
		t.Errorf("eps 2 needs %d devices, eps 4 needs %d", a, b)
	}
	before := 0
	for power := 10; power <= card.Rows[1].Devices; power *= 10 { // the series that the help names
		for _, n := range []int{power, power * 3 / 2, power * 2, power * 3, power * 5, power * 7} {
			if n < card.Rows[1].Devices {
				before = n
			}
		}
	}
	if r := planOf(t, "-grid", "3x3", "-eps", "4", "-devices", strconv.Itoa(before)).Rows[0]; !(r.Map.Mean > 0.3) {
		t.Errorf("%d devices do as well: %+v", before, r)
	}
	// The least eps for some devices, with a disc for each.
	card = planOf(t, "-grid", "3x3", "-devices", "1000", "-target", "0.3", "-objective", "map")
	if len(card.Rows) != 1 || !*card.Rows[0].Met || card.Objective != "map" {
		t.Errorf("%+v", card)
	}
	for _, same := range []string{"0,3cells", "0.3", " 0,3"} {
		if again := planOf(t, "-grid", "3x3", "-eps", "2", "-target", same); *again.Target != 0.3 {
			t.Errorf("-target %q is %v", same, *again.Target)
		}
	}
	status, out, errs := try(t, "", "plan", "-grid", "3x3", "-devices", "10", "-target", "0.001 cells")
	if status != device.No || !strings.Contains(out, "out of reach") ||
		!strings.Contains(errs, "no choice has a map within 0.001 cells") {
		t.Errorf("out of reach: status %d, %s\n%s", status, errs, out)
	}
}

func TestPlanErrors(t *testing.T) {
	dir := t.TempDir()
	users := write(t, dir, "users.csv", "user,label,count\nanna,0,1\n")
	empty := write(t, dir, "empty.csv", "label,count\n0,0\n")
	matrix := write(t, dir, "cost.csv", "0,1\n2,0\n")
	for _, c := range []struct{ args, want string }{
		{"-grid 2x2", "plan needs -eps"},
		{"-grid 2x2 -eps 1", "plan needs -eps"},
		{"-grid 2x2 -target 1", "-target needs"},
		{"-grid 2x2 -target 1 -eps 1 -devices 5", "and not both"},
		{"-eps 1 -devices 5", "exactly one of"},
		{"-grid 2x2 -eps 0 -devices 5", "-eps:"},
		{"-grid 2x2 -eps 1,, -devices 5", "-eps:"},
		{"-grid 2x2 -eps 1 -devices 0", `-devices: "0"`},
		{"-grid 2x2 -eps 1 -devices 1e3", `-devices: "1e3"`},
		{"-grid 2x2 -eps 1 -devices 9999999999", "1 to 1000000000"},
		{"-grid 2x2 -eps 1 -target 2km", "in cells"},
		{"-grid 2x3 -eps 1 -target 2cells", "in sides of the square"},
		{"-grid 2x2 -eps 1 -target -1", "positive distance"},
		{"-grid 2x2 -eps 1 -target NaN", "positive distance"},
		{"-grid 2x2 -eps 1 -target Inf", "positive distance"},
		{"-grid 2x2 -eps 1 -devices 5 -objective minimax", "not uniform or map"},
		{"-grid 2x2 -eps 1 -devices 5 -prior " + users, "users.csv:"},
		{"-grid 2x2 -eps 1 -devices 5 -prior " + empty, "empty.csv: no positive weights"},
		{"-points - -prior - -eps 1 -devices 5", "cannot both be standard input"},
		{"-grid 400x400 -eps 1 -devices 5", "merge places"},
		{"-cost " + matrix + " -eps 1 -devices 5", "no distances between inputs"},
		{"-grid 2x2 -eps 1 -devices 5 more", "unexpected argument"},
		{"-grid 2x2 -period 0 -budget 4 -devices 50", "-period: 0 epochs, want 2 to 10000"},
		{"-grid 2x2 -period 1 -budget 4 -devices 50", "-period: 1 epochs"},
		{"-grid 2x2 -period -3 -budget 4 -devices 50", "-period: -3 epochs"},
		{"-grid 2x2 -period 20000 -budget 4 -devices 50", "-period: 20000 epochs"},
		{"-grid 2x2 -period 12 -devices 50", "-period needs -budget"},
		{"-grid 2x2 -period 12 -budget 4", "and -devices N"},
		{"-grid 2x2 -period 12 -budget 4 -eps 1 -devices 50", "-eps does not go with it"},
		{"-grid 2x2 -period 12 -budget 4 -target 1 -devices 50", "-target does not go with it"},
		{"-grid 2x2 -period 12 -budget 4 -devices 50 -shuffled", "-shuffled does not go with it"},
		{"-grid 2x2 -period 12 -budget 0 -devices 50", "-budget:"},
		{"-grid 2x2 -period 12 -budget 1e-18 -devices 50", "-budget over -period:"},
		{"-grid 2x2 -period 12 -budget 4 -devices 11", "11 devices in 12 slots"},
		{"-grid 2x2 -period 12 -budget 4 -devices 50,60", "-devices: 2 numbers"},
		{"-grid 2x2 -period 12 -budget 4 -devices 50 -moving 5%", `-moving: "5%"`},
		{"-grid 2x2 -period 12 -budget 4 -devices 50 -moving NaN", "not a share"},
		{"-grid 2x2 -period 12 -budget 4 -devices 50 -p 0.5", "below 1"},
		{"-grid 2x2 -eps 1 -devices 50 -budget 4", "-budget needs -period"},
		{"-grid 2x2 -eps 1 -devices 50 -moving 0", "-moving needs -period"},
	} {
		if status, out, errs := try(t, "", append([]string{"plan"}, strings.Fields(c.args)...)...); status != device.Bad ||
			out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %q, want %q\n%s", c.args, status, errs, c.want, out)
		}
	}
}

// TestPlanPeriod: the ways to spend a budget are the forecasts of their reports, and the map of the first epoch ages.
func TestPlanPeriod(t *testing.T) {
	args := []string{"-grid", "4x4", "-period", "6", "-budget", "3", "-devices", "2005"}
	card := planOf(t, args...)
	q := card.Period
	if q == nil || len(card.Rows) != 3 || q.Epochs != 6 || q.Budget != "3" || q.Devices != 2005 || q.Moving != .05 ||
		math.Abs(q.Moved-(1-math.Pow(.95, 5))) > 1e-15 {
		t.Fatalf("%+v, %+v", card, q)
	}
	for n, want := range []struct{ way, eps, devices string }{
		{"slots", "3", "334"}, {"split", "1/2", "2005"}, {"once", "3", "2005"},
	} {
		same := planOf(t, "-grid", "4x4", "-eps", want.eps, "-devices", want.devices).Rows[0]
		if r := card.Rows[n]; r.Way != want.way || r.Epsilon != same.Epsilon || r.Devices != same.Devices ||
			r.Map != same.Map || r.Guess != same.Guess {
			t.Errorf("row %d: %+v, want %s of %+v", n, r, want.way, same)
		}
	}
	slots, split, once := card.Rows[0].Map.Mean, card.Rows[1].Map.Mean, card.Rows[2]
	if !(slots < split) || !(once.Map.Mean < slots) {
		t.Errorf("slots %v, split %v, first epoch of once %v", slots, split, once.Map.Mean)
	}
	even := once.Map.Mean + q.Moved*once.Guess.Mean
	if math.Abs(q.OnceEven-even) > 1e-12 || !(q.Once > q.OnceEven) {
		t.Errorf("once at most %v, wherever they go %v; want %v and more", q.OnceEven, q.Once, even)
	}
	if q := planOf(t, append(args, "-moving", "0")...).Period; q.Once != once.Map.Mean || q.OnceEven != once.Map.Mean {
		t.Errorf("nobody moves: %+v, want %v", q, once.Map.Mean)
	}
	if text := must(t, "", "plan", "-grid", "1x1", "-period", "2", "-budget", "1", "-devices", "9"); strings.Contains(text,
		"NaN") || strings.Contains(text, "Inf") {
		t.Errorf("one place:\n%s", text)
	}
	// The page shows the four lines of its command.
	file, err := os.ReadFile("../../docs/choosing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := strings.Cut(string(file), "## A map of every month")
	_, page, _ = strings.Cut(page, "\nwpm plan ")
	command, page, _ := strings.Cut(page, "\n")
	page, _, _ = strings.Cut(page, "\n## ")
	text, shown := must(t, "", append([]string{"plan"}, strings.Fields(command)...)...), 0
	for line := range strings.Lines(page) {
		if line, ok := strings.CutPrefix(line, "      "); ok {
			if shown++; !strings.Contains(text, strings.TrimSpace(line)) {
				t.Errorf("plan does not print %q", line)
			}
		}
	}
	if shown != 5 {
		t.Errorf("%d lines on the page", shown)
	}
}

// TestDesignDevices: the card of a design leads with the map of its devices, says what plan says, and what the
// objective does to it.
func TestDesignDevices(t *testing.T) {
	dir := t.TempDir()
	out, prior := filepath.Join(dir, "policy"), write(t, dir, "prior.csv", "label,count\n0,9\n7,3\n21,1\n")
	cardOf := func(args ...string) (card publisher.DesignCard) {
		t.Helper()
		text := must(t, "", append([]string{"design", "-grid", "5x5", "-eps", "2", "-o", out,
			"-table", "none", "-menu", "no", "-json"}, args...)...)
		if err := json.Unmarshal([]byte(text), &card); err != nil {
			t.Fatal(err)
		}
		return card
	}
	plain := cardOf("-devices", "300", "-prior", prior, "-objective", "uniform")
	same := planOf(t, "-grid", "5x5", "-eps", "2", "-devices", "300", "-prior", prior).Rows[0]
	if m := plain.Map; m == nil || m.Prediction == nil || m.Prediction.Map != same.Map || m.Uniform != nil || !m.Prior ||
		m.Unit != "cells" || plain.Even != 0 {
		t.Fatalf("%+v, want %+v", plain.Map, same)
	}
	focused := cardOf("-devices", "300", "-prior", prior)
	if m := focused.Map; m == nil || m.Uniform == nil || m.Uniform.Map != same.Map || m.Prediction.Map == same.Map ||
		!(focused.Disc < plain.Disc) ||
		!(focused.Upper > focused.Even) || focused.Lower != plain.Lower || !(math.Abs(focused.Even-plain.Upper) < 1e-9) {
		t.Errorf("%+v beside %+v", focused, plain)
	}
	if must(t, "", "verify", out); cardOf().Map != nil {
		t.Error("a map without -devices")
	}
	for args, want := range map[string]string{
		"-devices 50 -objective uniform": "map ", // first of all
		"-devices 50":                    "the uniform base measure would have",
		"-devices 50 -title city":        "city\n\nmap ",
		"-objective minimax":             "better with uniform or map",
		"-objective map -devices 50":     "the uniform base measure would have",
		"-objective mixed -devices 50":   "with the uniform base measure it would be off by",
		"-objective average -devices 50": "the guess, an even map, is off by",
	} {
		text := must(t, "", append([]string{"design", "-grid", "3x3", "-eps", "2", "-o", out,
			"-table", "none", "-menu", "no"}, strings.Fields(args)...)...)
		if !strings.Contains(text, want) || strings.HasPrefix(want, "map") && !strings.HasPrefix(text, want) {
			t.Errorf("%s: no %q in\n%s", args, want, text)
		}
	}
	if text := must(t, "", "design", "-ring", "3000", "-eps", "2", "-o", out, "-devices", "50"); !strings.Contains(text,
		"too many places to simulate") {
		t.Errorf("3000 places:\n%s", text)
	}
	matrix := write(t, dir, "cost.csv", "0,1\n2,0\n")
	for _, c := range []struct{ args, want string }{
		{"-grid 2x2 -objective map", "-objective map needs -devices"},
		{"-grid 2x2 -devices 0", "-devices: 0 is not positive"},
		{"-grid 2x2 -devices 2000000000", "is more than"},
		{"-grid 2x2 -menu no -prior " + prior, "-prior goes with -devices"},
		{"-grid 2x2 -devices 5 -mode projection", "-devices does not go with -mode projection"},
		{"-cost " + matrix + " -devices 5", "no distances between inputs"},
		{"-cost " + matrix + " -devices 5 -objective uniform", "a map needs distances"},
		{"-grid 2x2 -devices 5 -seed 0", "-seed: 0 is not from 1 on"},
		{"-grid 9x9 -devices 500000 -bits 8", "-bits: channel: too few bits"},
		{"-grid 2x2 -seed 2", "-seed goes with -devices"},
		{"-grid 9x9 -devices 500000 -table 1", "-table and -menu are about worst cases"},
		{"-cost " + matrix + " -devices 5 -objective map",
			"-objective map: wpm: kind map: estimate: no distances between inputs"},
	} {
		if status, card, errs := try(t, "", append([]string{"design", "-eps", "1", "-o", out},
			strings.Fields(c.args)...)...); status != device.Bad || card != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %q, want %q\n%s", c.args, status, errs, c.want, card)
		}
	}
}

// TestPlanPages holds that the tables of forecasts on two pages are what the command above them prints: by itself for
// the last eps and the last n of the command, with numtest.Full for all.
func TestPlanPages(t *testing.T) {
	for _, page := range []struct {
		file string
		rows int
	}{{"choosing.md", 3}, {"tutorial.md", 2}} {
		t.Run(page.file, func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join("../../docs", page.file))
			if err != nil {
				t.Fatal(err)
			}
			_, command, _ := strings.Cut(string(file), "\nwpm plan ")
			command, text, _ := strings.Cut(command, "\n")
			text, _, _ = strings.Cut(text, "\n## ")
			dir := t.TempDir()
			if strings.Contains(command, "try/") {
				if out, err := exec.Command(numtest.Program(t, "python3"), "../../docs/tutorial.py",
					filepath.Join(dir, "try")).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				command = strings.ReplaceAll(command, "try/", filepath.ToSlash(dir)+"/try/")
			}
			words := strings.Fields(command)
			eps, n := "", "" // of the rows to compare
			if !numtest.Full() {
				last := func(flag string) string {
					at := slices.Index(words, flag) + 1
					words[at] = words[at][strings.LastIndex(words[at], ",")+1:]
					return words[at]
				}
				eps, n = last("-eps"), last("-devices")
			}
			card := strings.Split(must(t, "", append([]string{"plan"}, words...)...), "\n")
			rows, compared := 0, 0
			for line := range strings.Lines(text) {
				shown, block := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
				if !block || !strings.HasPrefix(shown, "  ") {
					continue
				}
				cells := strings.Fields(shown)
				if cells[0] != "eps" {
					if rows++; eps != "" && (cells[0] != eps || cells[1] != n) {
						continue
					}
				}
				compared++
				same := func(s string) bool { return slices.Equal(strings.Fields(s), cells) }
				if !slices.ContainsFunc(card, same) {
					t.Errorf("plan does not print %q", shown)
				}
			}
			if rows != page.rows || compared < 2 {
				t.Errorf("%d rows of forecasts, want %d; %d lines compared", rows, page.rows, compared)
			}
		})
	}
}
