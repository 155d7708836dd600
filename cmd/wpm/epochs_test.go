package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

// TestAggregateEpochs: a map of every epoch, in the order of time, of one policy and of two, in every format; and what
// does not go together.
func TestAggregateEpochs(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, "", "design", "-grid", "6x6", "-eps", "4", "-o", "p")
	must(t, "", "design", "-grid", "6x6", "-eps", "3", "-o", "q")
	must(t, "", "design", "-grid", "5x5", "-eps", "3", "-o", "small")
	write(t, ".", "west", "label,count\n7,5\n13,2\n")
	write(t, ".", "east", "label,count\n10,5\n16,2\n")
	var regions strings.Builder
	regions.WriteString("region,label\n")
	for i := range 36 {
		fmt.Fprintf(&regions, "%s,%d\n", map[bool]string{true: "west", false: "east"}[i%6 < 3], i)
	}
	write(t, ".", "regions", regions.String())
	count := func(policy, epoch, moved string) {
		must(t, "", "simulate", policy, "west", "-to", "east", "-moved", moved, "-devices", "800", "-seed", "3", "-o", "r")
		must(t, "", "count", "-policy", policy, "-epoch", epoch, "-o", epoch, "r")
	}
	count("p", "simulation-2026-01", "0")
	count("p", "simulation-2026-02", "0.1")
	count("q", "simulation-2026-03", "0.8")
	count("small", "simulation-small", "0")
	args := []string{"aggregate", "-epochs", "-regions", "regions", "p", "simulation-2026-02", "q", "simulation-2026-03", "simulation-2026-01"}
	var got struct {
		Epochs []struct {
			Epoch   string
			Reports int
			Error   struct{ Expected float64 }
			Map     []float64
		}
		Changes []struct {
			From, To string
			Regions  []struct {
				Region       string
				Lower, Upper float64
				Known        bool
			}
		}
	}
	if err := json.Unmarshal([]byte(must(t, "", append(args, "-json")...)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Epochs) != 3 || len(got.Changes) != 2 {
		t.Fatalf("%d epochs, %d changes", len(got.Epochs), len(got.Changes))
	}
	for n, e := range got.Epochs {
		if want := fmt.Sprintf("simulation-2026-0%d", n+1); e.Epoch != want || e.Reports != 800 || !(e.Error.Expected > 0) || len(e.Map) != 36 {
			t.Errorf("epoch %d: %+v", n, e)
		}
	}
	if c := got.Changes[0]; c.From != "simulation-2026-01" || c.To != "simulation-2026-03" || c.Regions[0].Region != "west" ||
		!c.Regions[0].Known || !(c.Regions[0].Upper < -0.5) || !(c.Regions[0].Lower < -0.7) {
		t.Errorf("%+v", c)
	}
	text := must(t, "", args...)
	for _, want := range []string{"3 epochs, the last simulation-2026-03.", "errors in cells", "From simulation-2026-02 to simulation-2026-03"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for file, want := range map[string]string{"m.csv": "epoch,label,x,y,guess", "m.geojson": `"epoch":"simulation-2026-02"`, "m.html": `id="step"`} {
		must(t, "", append(args, "-map", file)...)
		if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: no %q in %.300q, %v", file, want, b, err)
		}
	}
	html, err := os.ReadFile("m.html")
	page := regexp.MustCompile(`(?s)<svg.*?</svg>`).ReplaceAllString(string(html), "")
	if err != nil || strings.Contains(string(html), `class="edge"`) != strings.Contains(page, "An outline is around a group") ||
		!strings.Contains(page, "made for level 0.9.") {
		t.Errorf("the page does not say what its intervals and outlines are:\n%s", page)
	}
	if text := must(t, "", "aggregate", "-epochs", "-regions", "regions", "p", "simulation-2026-02"); strings.Contains(text, "level") {
		t.Errorf("one epoch has changes:\n%s", text)
	}
	must(t, "", "design", "-ring", "36", "-eps", "4", "-o", "ring")
	count("ring", "simulation-2026-04", "0")
	line := must(t, "", "release", "-ledger", "ledger", "-budget", "4", "-epoch", "a", "p", "west")
	write(t, ".", "line", line)
	for _, epoch := range []string{"2026-05", "2026-W01", "beta"} {
		must(t, "", "count", "-policy", "p", "-epoch", epoch, "-o", epoch, "line")
	}
	write(t, ".", "none", "")
	must(t, "", "count", "-policy", "p", "-epoch", "2026-06", "-o", "2026-06", "none")
	for _, c := range []struct{ args, want string }{
		{"p 2026-05 2026-06", "epoch 2026-06: estimate: bad counts: no reports; leave the epoch out"},
		{"p simulation-2026-01 ring simulation-2026-04", "other distances"},
		{"p simulation-2026-01 2026-05", "one is simulated"},
		{"p 2026-05 2026-W01", "not of one form"},
		{"p beta 2026-05", "not of one form"},
		{"p", "files of partial counts"},
		{"p simulation-2026-03", "its policy must stand before it"},
		{"p simulation-2026-01 small simulation-small", "different places"},
		{"p -", "standard input"},
		{"p r", "which \"wpm count -epoch\" makes of reports"},
		{"simulation-2026-01 p", "takes the policy first"},
		{"-estimator em p simulation-2026-01", "-estimator does not go with -epochs"},
		{"p simulation-2026-01 simulation-2026-01", "counted twice"},
	} {
		if status, out, errs := try(t, "", append([]string{"aggregate", "-epochs"}, strings.Fields(c.args)...)...); status != device.Bad ||
			out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d, %q, want %q", c.args, status, errs, c.want)
		}
	}
}
