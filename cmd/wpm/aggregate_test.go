package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAggregateAndEvaluate walks from counts to a histogram and its distance to the truth, in both forms of report.
func TestAggregateAndEvaluate(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	must(t, "", "design", "-grid", "2x2", "-eps", "20", "-o", policy) // so much eps that a report is the truth but for 1e-8
	var text, binary strings.Builder
	for range 3 {
		text.WriteString(must(t, "1,5\n", "release", "-unaccounted-for-testing", policy))
		binary.WriteString(must(t, "1,5\n", "release", "-unaccounted-for-testing", "-binary", policy))
	}
	text.WriteString("\n") // an empty line is none
	table := filepath.Join(dir, "h.csv")
	for form, reports := range map[string]string{"text": text.String(), "binary": binary.String()} {
		path := write(t, dir, "r", reports)
		card := must(t, "", "aggregate", "-o", table, policy, path)
		for _, want := range []string{"3 reports", "probability 0.95", "away in W_1 (certified"} {
			if !strings.Contains(card, want) {
				t.Errorf("%s: no %q in\n%s", form, want, card)
			}
		}
		if b, err := os.ReadFile(table); err != nil || !strings.HasPrefix(string(b), "label,count,estimate,lower,upper\n0,0,0,0,") {
			t.Errorf("%s: table %q, %v", form, b, err)
		}
		var got tally
		if err := json.Unmarshal([]byte(must(t, reports, "aggregate", "-json", "-invert", policy)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Reports != 3 || got.Points[1].Count != 3 || got.Points[1].Upper != 1 || got.Bias == nil || got.Bias.P != 1 || got.Inverse == nil || got.Inverse.Theta[1] < 0.999 {
			t.Errorf("%s: %+v", form, got)
		}
	}
	path := write(t, dir, "r", text.String())
	// Half of the truth is at the neighbour, half a unit away: W_1 = 1/4. Users weigh the same however much they counted.
	for _, truth := range []string{"0,1\n1,1\n", "user,label,count\na,0,1000\nb,1,1\n"} {
		var got struct {
			W, Lower, Upper float64
			Reports, Users  int
		}
		if err := json.Unmarshal([]byte(must(t, "", "evaluate", "-json", policy, write(t, dir, "t", truth), path)), &got); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.W-0.25) > 1e-12 || !(got.Lower <= 0.25 && 0.25 <= got.Upper) || got.Reports != 3 {
			t.Errorf("%q: %+v", truth, got)
		}
	}
	if out := must(t, "", "evaluate", policy, write(t, dir, "t", "1,1\n"), path); !strings.Contains(out, "W_1              0\n") {
		t.Errorf("evaluate prints\n%s", out)
	}
}

func TestAggregateErrors(t *testing.T) {
	dir := t.TempDir()
	policy, other := filepath.Join(dir, "p"), filepath.Join(dir, "q")
	must(t, "", "design", "-ring", "4", "-eps", "1", "-o", policy)
	must(t, "", "design", "-ring", "4", "-eps", "2", "-o", other)
	good := must(t, "1,1\n", "release", "-unaccounted-for-testing", policy)
	foreign := must(t, "1,1\n", "release", "-unaccounted-for-testing", other)
	bin := must(t, "1,1\n", "release", "-unaccounted-for-testing", "-binary", policy)
	truth := write(t, dir, "t", "0,1\n")
	for _, test := range []struct {
		in, args, want string
	}{
		{good + foreign, "aggregate " + policy, "-:2"},
		{good + "xyz\n", "aggregate " + policy, "-:2"},
		{bin + "wpm1", "aggregate " + policy, "report 2"},
		{bin + foreign[:40], "aggregate " + policy, "report 2"},
		{"", "aggregate " + policy, "no reports"},
		{"", "aggregate - -", "both"},
		{good, "aggregate", "takes a policy"},
		{good, "aggregate -confidence 1 " + policy, "-confidence"},
		{good, "aggregate -top -1 " + policy, "-top"},
		{good, "aggregate -o - " + policy, "-out"},
		{good, "aggregate -o " + policy + " " + policy, "written over"},
		{good, "evaluate " + policy, "truth"},
		{good, "evaluate - -", "standard input"},
		{good, "evaluate " + policy + " -", "standard input"},
		{good, "evaluate " + policy + " " + write(t, dir, "u", "9,1\n"), "9"},
		{good, "evaluate " + policy + " " + write(t, dir, "z", "1,0\n"), "zero"},
		{"", "evaluate " + policy + " " + truth, "no reports"},
	} {
		status, out, errs := try(t, test.in, strings.Fields(test.args)...)
		if status != statusBad || out != "" || !strings.Contains(errs, test.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %s: status %d, output %q, error %q, want %q", test.args, status, out, errs, test.want)
		}
	}
}
