package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPatches: design, verify, plan and aggregate say in one line which places the rows do not tell apart, and say
// nothing where all are told apart.
func TestPatches(t *testing.T) {
	dir := t.TempDir()
	const said = "have the same report odds as another"
	for name, c := range map[string]struct {
		points string
		alike  bool
	}{
		// Of a cluster of three, the nearest outputs are the same.
		"clumps": {"label,x\na,0\nb,0.1\nc,0.2\nd,50\ne,50.1\nf,50.2\n", true},
		// Places farther and farther apart: a disc of one place.
		"pair": {"label,x\na,0\nb,1\n", false},
	} {
		points, policy, reports := filepath.Join(dir, name+".csv"), filepath.Join(dir, name+".json"),
			filepath.Join(dir, name+".counts.csv")
		if err := os.WriteFile(points, []byte(c.points), 0o600); err != nil {
			t.Fatal(err)
		}
		places := strings.Split(strings.TrimSpace(c.points), "\n")[1:]
		counts := "label,count\n"
		for n, line := range places {
			label, _, _ := strings.Cut(line, ",")
			counts += label + "," + strings.Repeat("9", 2+n%2) + "\n"
		}
		if err := os.WriteFile(reports, []byte(counts), 0o600); err != nil {
			t.Fatal(err)
		}
		for command, out := range map[string]string{
			"design":    must(t, "", "design", "-points", points, "-eps", "1", "-o", policy),
			"verify":    must(t, "", "verify", policy),
			"plan":      must(t, "", "plan", "-points", points, "-eps", "1", "-devices", "1000"),
			"aggregate": must(t, "", "aggregate", "-counts", reports, policy),
		} {
			if cure := strings.Contains(out, "wpm design -devices N"); command != "plan" && cure != c.alike {
				t.Errorf("%s of %s: what tells them apart is said: %v, want %v:\n%s", command, name, cure, c.alike, out)
			}
			if strings.Contains(out, said) != c.alike {
				t.Errorf("%s of %s: the line is there: %v, want %v:\n%s", command, name, !c.alike, c.alike, out)
			}
		}
	}
}

// TestManyPatches: they also do at so many places that rows are not written out, of which ten are at one place.
func TestManyPatches(t *testing.T) {
	const places, said = 12_000, "of 12000 places have the same report odds as another"
	dir := t.TempDir()
	points, policy := filepath.Join(dir, "points.csv"), filepath.Join(dir, "policy.json")
	list := strings.Builder{}
	list.WriteString("label,x\n")
	for i := range places {
		fmt.Fprintf(&list, "p%d,%d\n", i, max(i, 9))
	}
	if err := os.WriteFile(points, []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, out := range map[string]string{
		"design": must(t, "", "design", "-points", points, "-eps", "4", "-o", policy),
		"verify": must(t, "", "verify", policy),
	} {
		if !strings.Contains(out, said) {
			t.Errorf("%s: the line is not there:\n%s", command, out)
		}
	}
}
