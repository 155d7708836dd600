package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cmd/wpm/internal/publisher"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestDesignDisplacement holds that the card says how far places are from where they are published, and in which unit.
func TestDesignDisplacement(t *testing.T) {
	dir := t.TempDir()
	policy := filepath.Join(dir, "p")
	irrational := "label,x,y\na,0.12345678901234,5\nb,3,4.98765432109876\nc,1,1\n"
	for _, test := range []struct {
		points, metric, unit string
		least, most          float64
	}{
		{irrational, "euclidean", "units of the coordinates", 1e-12, 1e-8},
		{"label,x,y\na,0.125,5\nb,3,4.98\nc,1,1\n", "euclidean", "within 0 units of the coordinates", 0, 0},
		{irrational, "cosine", "(distance of unit vectors)", 1e-12, 1e-9},
		{"label,lat,lon\na,48.2082,16.3738\nb,52.52,13.405\n", "greatcircle", "km", 1e-8, 2e-5},
	} {
		args := []string{"design", "-points", write(t, dir, "points.csv", test.points), "-metric", test.metric, "-eps", "1",
			"-table", "none", "-o", policy}
		if out := must(t, "", args...); !strings.Contains(out, "a place is published within ") ||
			!strings.Contains(out, test.unit+" of where it is") {
			t.Errorf("%s: card:\n%s", test.metric, out)
		}
		var card publisher.DesignCard
		if err := json.Unmarshal([]byte(must(t, "", append(args, "-json")...)), &card); err != nil {
			t.Fatal(err)
		}
		if card.Displacement == nil || *card.Displacement < test.least || *card.Displacement > test.most {
			t.Errorf("%s: %v, want %v to %v", test.metric, card.Displacement, test.least, test.most)
		}
	}
	if out := must(t, "", "design", "-ring", "5", "-eps", "1", "-table", "none", "-o", policy); strings.Contains(out,
		"is published") {
		t.Errorf("a ring has places:\n%s", out)
	}
}

// TestDesignLarge holds that the parts of the card that take the whole matrix are left out for many places, and said to
// be.
func TestDesignLarge(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	for args, want := range map[string]bool{"-ring 1100": true, "-ring 1100 -table none": false, "-ring 30": false} {
		out := must(t, "", append(strings.Fields("design -eps 1 -o "+policy), strings.Fields(args)...)...)
		if got := strings.Contains(out, "not computed at this size: -table "); got != want {
			t.Errorf("%s: %v:\n%s", args, got, out)
		}
	}
	for _, flag := range []string{"-table 1", "-menu yes"} {
		args := append(strings.Fields("design -grid 1000x1000 -eps 1 -o "+policy), strings.Fields(flag)...)
		if status, _, errs := try(t, "", args...); status != 2 || !strings.Contains(errs, "1000000 x 1000000") ||
			!strings.Contains(errs, "leave them out") {
			t.Errorf("%s: status %d: %s", flag, status, errs)
		}
	}
	status, _, errs := try(t, "", "design", "-ring", "20000", "-objective", "minimax", "-eps", "1", "-o", policy)
	if status == 0 || !strings.Contains(errs, "20000 x 20000") || !strings.Contains(errs, "uniform") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestDesignMissing holds that design says which flags are missing, and no others.
func TestDesignMissing(t *testing.T) {
	for args, want := range map[string]string{
		"":                "design needs -eps EPS and -out FILE and exactly one of -points, -pairs, -cost, -grid, -ring",
		"-eps 1 -ring 5":  "design needs -out FILE",
		"-o p -ring 5":    "design needs -eps EPS",
		"-eps 1 -out p":   "design needs exactly one of -points, -pairs, -cost, -grid, -ring",
		"-eps 1 -grid 2x": "design needs -out FILE",
	} {
		status, out, errs := try(t, "", append([]string{"design"}, strings.Fields(args)...)...)
		if status != device.Bad || out != "" || errs != "wpm: "+want+"; try: "+examples["wpm design"][0]+"\n" {
			t.Errorf("design %s: status %d, %q%q, want %q", args, status, out, errs, want)
		}
	}
}

// TestDesignTableColumns holds that the table names the measure that it is about, whatever the objective.
func TestDesignTableColumns(t *testing.T) {
	policy := filepath.Join(t.TempDir(), "p")
	for _, objective := range []string{"uniform", "minimax"} {
		out := must(t, "", "design", "-grid", "3x2", "-eps", "1", "-menu", "no", "-objective", objective, "-o", policy)
		if !strings.Contains(out, "lower bound  wpm, uniform") {
			t.Errorf("%s:\n%s", objective, out)
		}
	}
}

// TestDesignLongMatrix holds that a matrix whose text is too long for a policy is refused before it is solved.
func TestDesignLongMatrix(t *testing.T) {
	if !numtest.Full() {
		t.Skip("reads a matrix of 29 MB")
	}
	const side = 1900
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", side, side)
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	file := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head)))
	file = append(file, head...)
	for range side * side {
		file = binary.LittleEndian.AppendUint64(file, math.Float64bits(1.0/3))
	}
	matrix := write(t, t.TempDir(), "c.npy", string(file))
	status, _, errs := try(t, "", "design", "-cost", matrix, "-eps", "1", "-o", matrix+".policy")
	if status != device.Bad ||
		!strings.Contains(errs, "1900 x 1900, takes more than the 67108864 bytes of a file: give points") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// TestDesignSchedule: the card says what a release costs over time, and what a schedule lacks is an error that says so.
func TestDesignSchedule(t *testing.T) {
	t.Chdir(t.TempDir())
	const sum = "releases add up"
	slots := must(t, "", "design", "-ring", "4", "-eps", "2", "-epochs", "month", "-period", "3", "-last", "2026-06",
		"-o", "slots")
	for _, want := range []string{"one report in 3 months, in a slot that each device draws, until 2026-06\n",
		"any 3 months in a row cost eps = 2 together, any L at most ceil(L/3) times that\n",
		"One release costs 2 of what a client may spend in any 3 months in a row.\n"} {
		if !strings.Contains(slots, want) || strings.Contains(slots, sum) {
			t.Errorf("no %q, or %q, in\n%s", want, sum, slots)
		}
	}
	every := must(t, "", "design", "-ring", "4", "-eps", "2", "-epochs", "month", "-o", "every")
	if !strings.Contains(every, "one report a month\n") || !strings.Contains(every, sum) {
		t.Error(every)
	}
	for _, flag := range []string{"-period 3", "-first 2026-01", "-last 2026-01"} {
		args := append(strings.Fields("design -ring 4 -eps 2 -o none"), strings.Fields(flag)...)
		if status, _, errs := try(t, "", args...); status != device.Bad || !strings.Contains(errs, "need -epochs FORM") {
			t.Errorf("%s: %d, %q", flag, status, errs)
		}
	}
}
