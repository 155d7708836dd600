package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
)

const (
	flowOptimal    = "c small\np min 3 3\nn 1 4\nn 3 -4\na 1 2 0 3 1\na 2 3 0 -1 1\na 1 3 0 9 5\n"
	flowInfeasible = "p min 3 2\nn 1 2\nn 3 -2\na 1 2 0 1 0\na 2 3 0 9 0\n"
	flowUnbounded  = "p min 2 2\na 1 2 0 inf 3\na 2 1 0 inf -4\n"
)

// flowCertificate is that of flowOptimal; nodes count from 0.
const flowCertificate = `{"format":"wpm-certificate-1","kind":"flow","problem":{"supply":[4,0,-4],"arcs":[[0,1,0,3,1],[1,2,0,null,1],[0,2,0,9,5]]},` +
	`"problem_sha256":"753e398b5fe1a3559f387e631fcc14e1d28b1764e2bce5db2ddbe314d606ee14","lower":"11/1","upper":"11/1",` +
	`"evidence":{"flow":[3,3,1],"potentials":[0,4,5]},"cost":null}`

func TestFlow(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, in   string
		args       []string
		status     int
		out, error string // out exactly, error in part
	}{
		{"optimal", flowOptimal, nil, device.Yes, "c optimal\ns 11\nf 1 2 3\nf 2 3 3\nf 1 3 1\n", ""},
		{"optimal with proof", flowOptimal, []string{"-proof"}, device.Yes,
			"c optimal\ns 11\nf 1 2 3\nf 2 3 3\nf 1 3 1\nc potential 1 0\nc potential 2 4\nc potential 3 5\n" +
				"c certificate " + flowCertificate + "\n", ""},
		{"infeasible", flowInfeasible, []string{"-proof"}, device.No, "c infeasible\nc cut 1\n", "infeasible"},
		{"unbounded", flowUnbounded, []string{"-proof"}, device.No,
			"c unbounded\ns 0\nf 1 2 0\nf 2 1 0\nc cycle 1 2 1\nc cycle 2 1 2\n", "unbounded"},
		{"unbalanced", "p min 1 0\nn 1 3\n", nil, device.Bad, "", "do not sum to zero: their sum is 3"},
		{"overflow", "p min 2 1\na 1 2 0 1 9223372036854775807\n", nil, device.Bad, "", "too large"},
		{"no DIMACS file", "{}", nil, device.Bad, "", `line 1: begins with "{}"`},
		{"too few arcs", "p min 1 1\n", []string{"-json"}, device.Bad, "", "1 were announced"},
		{"nothing", "", nil, device.Bad, "", "without a line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, dir, "net.min", c.in)
			for _, file := range []string{path, "-"} {
				status, out, errs := try(t, c.in, append(append([]string{"flow"}, c.args...), file)...)
				if status != c.status || out != c.out || !strings.Contains(errs, c.error) ||
					(errs == "") != (c.status == device.Yes) {
					t.Errorf("%s from %s: status %d\n%s%s\nwant status %d\n%s%q", c.name, file, status, out, errs, c.status, c.out,
						c.error)
				}
				if c.status == device.Bad && !strings.Contains(errs, file) {
					t.Errorf("%s: %q does not name the file", c.name, errs)
				}
			}
		})
	}
	for _, args := range [][]string{{"flow"}, {"flow", "a", "b"}, {"flow", "-nonsense", "a"},
		{"flow", filepath.Join(dir, "none")}, {"flow", dir}} {
		if status, out, errs := try(t, "", args...); status != device.Bad || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %v: status %d, %q, %q", args, status, out, errs)
		}
	}
}

// TestFlowJSON holds that the JSON form says what the lines say.
func TestFlowJSON(t *testing.T) {
	type answer struct {
		Status, Objective string
		Flow, Potentials  []json.Number
		Cut               []int
		Cycle             []struct {
			Arc      int
			Backward bool
		}
	}
	read := func(in string, want int) (a answer) {
		t.Helper()
		status, out, errs := try(t, in, "flow", "-json", "-")
		if status != want {
			t.Fatalf("status %d: %s", status, errs)
		}
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return a
	}
	// Beyond 2^53, and an objective beyond 2^63.
	a := read("p min 2 1\nn 1 4611686018427387905\nn 2 -4611686018427387905\na 1 2 0 inf 9\n", device.Yes)
	if a.Status != "optimal" || a.Objective != "41505174165846491145" || len(a.Flow) != 1 ||
		a.Flow[0] != "4611686018427387905" || len(a.Potentials) != 2 {
		t.Errorf("optimal: %+v", a)
	}
	if a := read(flowInfeasible, device.No); a.Status != "infeasible" || a.Objective != "" || a.Flow != nil ||
		len(a.Cut) != 1 || a.Cut[0] != 1 {
		t.Errorf("infeasible: %+v", a)
	}
	a = read("p min 2 2\na 1 2 0 inf 3\na 1 2 -inf 0 4\n", device.No)
	if a.Status != "unbounded" || len(a.Cycle) != 2 || a.Cycle[0].Arc != 1 || a.Cycle[0].Backward || a.Cycle[1].Arc != 2 ||
		!a.Cycle[1].Backward {
		t.Errorf("unbounded: %+v", a)
	}
}

// TestFlowCertificate: with -proof the JSON form has the certificate byte for byte, and is else what it is without.
func TestFlowCertificate(t *testing.T) {
	plain := must(t, flowOptimal, "flow", "-json", "-")
	full := must(t, flowOptimal, "flow", "-json", "-proof", "-")
	if want := strings.TrimSuffix(plain, "\n}\n") + ",\n  \"certificate\": " + flowCertificate + "\n}\n"; full != want {
		t.Errorf("%s\nwant %s", full, want)
	}
	if out := must(t, full, "certify", "-"); !strings.HasPrefix(out, "-:1: flow: holds\n") {
		t.Error(out)
	}
	if _, out, _ := try(t, flowInfeasible, "flow", "-json", "-proof", "-"); strings.Contains(out, "certificate") ||
		!json.Valid([]byte(out)) {
		t.Error(out)
	}
}
