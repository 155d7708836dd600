package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/publisher"
	"github.com/wpm-go/wpm/device"
)

// TestDesignObjectives: every objective gives a policy that verifies, and the menu has each design at its best.
func TestDesignObjectives(t *testing.T) {
	const rounding = 1e-9 // the gap of the solver, relative
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	upper := map[string]float64{}
	for _, name := range []string{"uniform", "minimax", "mixed", "average"} {
		var card publisher.DesignCard
		if err := json.Unmarshal([]byte(must(t, "", "design", "-grid", "3x4", "-eps", "1", "-table", "none", "-objective",
			name, "-o", policy, "-json")), &card); err != nil {
			t.Fatal(err)
		}
		if out := must(t, "", "verify", policy); !strings.Contains(out, "the stated bounds hold") {
			t.Errorf("%s: %s", name, out)
		}
		if card.Objective != name || len(card.Menu) != 5 || card.Nonzeros < 1 || card.Nonzeros > 12 ||
			card.Lower > card.Upper {
			t.Fatalf("%s: %+v", name, card)
		}
		upper[name] = card.Upper
		by := map[string]publisher.MenuRow{}
		for _, r := range card.Menu {
			by[r.Design] = r
		}
		for design, r := range by {
			if r.Worst < by[wpm.Minimax.String()].Worst*(1-rounding) || r.Mean < by[wpm.Average.String()].Mean*(1-rounding) ||
				r.Worst+r.Mean < (by[wpm.Mixed.String()].Worst+by[wpm.Mixed.String()].Mean)*(1-rounding) {
				t.Errorf("%s beats the best of its kind: %+v", design, card.Menu)
			}
		}
		if by[name].Worst > card.Upper*(1+rounding) || by[name].Worst < card.Upper*(1-1e-6) {
			t.Errorf("%s: the menu says %v, the policy %v", name, by[name].Worst, card.Upper)
		}
	}
	if !(upper["minimax"] <= upper["mixed"] && upper["mixed"] <= upper["average"] && upper["minimax"] < upper["uniform"]) {
		t.Errorf("worst cases %v", upper)
	}
	// All the weight on one input: the average is then that input's cost, and can be made zero only by ruining the others.
	weights := write(t, dir, "w.csv", "5,3\n")
	var card publisher.DesignCard
	if err := json.Unmarshal([]byte(must(t, "", "design", "-grid", "3x4", "-eps", "1", "-table", "none", "-objective",
		"average", "-prior", weights, "-o", policy, "-json")), &card); err != nil {
		t.Fatal(err)
	}
	if card.Nonzeros != 1 || card.Upper < upper["average"] {
		t.Errorf("all weight on one input: %+v", card)
	}
}

// TestDesignMenuWords holds what the card says of minimax: a warning only where it is worth something and not chosen,
// and why designs are not compared.
func TestDesignMenuWords(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	const (
		warning = "Minimax is the wrong choice"
		gain    = "minimax lowers the worst case by"
		same    = "no base measure has a worst case that is smaller than uniform's"
		unasked = "not asked for: -menu yes"
		large   = "at this size: -menu yes"
	)
	for args, want := range map[string][]string{
		"-grid 3x4":                    {gain, warning},
		"-grid 3x4 -objective mixed":   {gain, warning},
		"-grid 3x4 -objective minimax": {gain},
		"-ring 6":                      {same}, // every measure that is best on a ring is uniform
		"-ring 6 -objective minimax":   {same},
		"-ring 6 -menu no":             {unasked},
		"-ring 200 -menu no":           {unasked},
		"-ring 200":                    {large},
		"-ring 200 -menu yes":          {same},
	} {
		out := must(t, "", append(strings.Fields("design -eps 1 -table none -o "+policy), strings.Fields(args)...)...)
		for _, phrase := range []string{warning, gain, same, unasked, large} {
			if strings.Contains(out, phrase) != slices.Contains(want, phrase) {
				t.Errorf("%s: %q:\n%s", args, phrase, out)
			}
		}
	}
}

// TestDesignMenuOfMap: where a map is asked for, the card sends its reader to the forecast, and recommends no objective
// of one person.
func TestDesignMenuOfMap(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	const middle, forecast = "Mixed (-objective mixed) is a sensible middle", "is at the top of its card"
	for args, one := range map[string]bool{
		"": true, "-objective mixed": true, "-devices 50": false, "-devices 50 -objective mixed": false,
	} {
		out := must(t, "", append(strings.Fields("design -grid 3x4 -eps 1 -table none -menu yes -o "+policy),
			strings.Fields(args)...)...)
		if strings.Contains(out, middle) != one || strings.Contains(out, forecast) == one {
			t.Errorf("%q:\n%s", args, out)
		}
	}
}

func TestDesignObjectiveErrors(t *testing.T) {
	dir := t.TempDir()
	users := write(t, dir, "users.csv", "user,label,count\na,0,1\n")
	for args, want := range map[string]string{
		"-objective best":                    "-objective",
		"-mix 0.3":                           "-mix",
		"-gap 0.3":                           "-gap",
		"-objective minimax -gap 0":          "-gap",
		"-objective minimax -gap 2":          "-gap",
		"-objective mixed -mix 1":            "-mix",
		"-menu maybe":                        "-menu",
		"-objective average -prior " + users: "need label,weight",
		"-objective average -prior " + filepath.Join(dir, "none"): "none",
	} {
		status, out, errs := try(t, "",
			append([]string{"design", "-ring", "4", "-eps", "1", "-o", filepath.Join(dir, "p")}, strings.Fields(args)...)...)
		if status != device.Bad || out != "" || !strings.Contains(errs, want) {
			t.Errorf("design %s: status %d, output %q, error %q, want %q", args, status, out, errs, want)
		}
	}
}

// TestDesignWithoutProgress: where rounding stops the solver, the design is the best there is if its gap is small, and
// the card has the gap.
func TestDesignWithoutProgress(t *testing.T) {
	dir := t.TempDir()
	points := write(t, dir, "points.csv",
		"label,lat,lon\nLondon,51.5,-0.12\nParis,48.85,2.35\nBerlin,52.52,13.4\nRome,41.9,12.5\n")
	policy := filepath.Join(dir, "p")
	for _, name := range []string{"minimax", "mixed", "average"} {
		var card publisher.DesignCard
		out := must(t, "", "design", "-points", points, "-eps", "16", "-table", "none", "-objective", name, "-gap", "1e-9",
			"-o", policy, "-json")
		if err := json.Unmarshal([]byte(out), &card); err != nil {
			t.Fatal(err)
		}
		if name == "minimax" && card.Gap == 0 || card.Gap > 0.01 || card.AskedGap != 1e-9 ||
			!(card.Lower <= card.Upper && card.Upper <= card.Lower*1.01) {
			t.Errorf("%s: gap %v, worst case %v to %v", name, card.Gap, card.Lower, card.Upper)
		}
		if out := must(t, "", "verify", policy); !strings.Contains(out, "the stated bounds hold") {
			t.Errorf("%s: %s", name, out)
		}
	}
	out := must(t, "", "design", "-points", points, "-eps", "16", "-table", "none", "-menu", "no", "-objective", "minimax",
		"-o", policy)
	if !strings.Contains(out, "% of the smallest there is, certified") {
		t.Errorf("no gap on the card:\n%s", out)
	}
}
