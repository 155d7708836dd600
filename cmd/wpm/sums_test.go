package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/summed"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/shuffle"
)

// TestPlanShuffled: the column of all reports together is that of package shuffle for the design's box; the one of all
// mechanisms is below the map and beside the people's own places; both have certificates that hold.
func TestPlanShuffled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proofs")
	args := []string{"-grid", "5x5", "-eps", "1,4", "-devices", "1000"}
	plain := planOf(t, args...)
	card := planOf(t, append(args, "-shuffled", "-certificates", file)...)
	for n, r := range card.Rows {
		if r.Central == nil || !(r.Central.Epsilon > 0 && r.Central.Epsilon < []float64{0.3, 2}[n]) || r.Central.Delta != 1e-6 {
			t.Errorf("eps %s: central %+v", r.Epsilon, r.Central)
		}
		if r.Nobody == nil || r.Own == nil || !(*r.Nobody > 0 && *r.Nobody < r.Map.Mean && *r.Own > 0 && *r.Own < r.Map.Mean) {
			t.Errorf("eps %s: no mechanism below %v, own places %v, map %v", r.Epsilon, r.Nobody, r.Own, r.Map.Mean)
		}
		if p := plain.Rows[n]; p.Central != nil || p.Nobody == nil || *p.Nobody != *r.Nobody || p.Map != r.Map {
			t.Errorf("without -shuffled: %+v", p)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	kinds := ""
	if err := certificate.Read(f, func(_ int, c certificate.Certificate) error {
		kinds += string(c.Kind()) + " "
		_, err := certificate.Verify(context.Background(), c)
		return err
	}); err != nil || kinds != "shuffled minimax shuffled minimax " {
		t.Errorf("%v, %v", kinds, err)
	}
	text := must(t, "", append([]string{"plan", "-shuffled"}, args...)...)
	for _, want := range []string{"no mechanism below  own places  ", "central\n", ", 1e-06)\n", "\ncentral: (eps, delta) of all reports"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	must(t, "", "certify", file)
	// what has no bound has no column
	if text := must(t, "", "plan", "-ring", "6", "-p", "2", "-eps", "2", "-devices", "50"); strings.Contains(text, "no mechanism below") {
		t.Errorf("p = 2:\n%s", text)
	}
}

// TestPlanCentral: the eps that is found has the guarantee, and the next hundredth has not.
func TestPlanCentral(t *testing.T) {
	card := planOf(t, "-grid", "4x4", "-central", "0.2", "-devices", "20000")
	r := card.Rows[0]
	if len(card.Rows) != 1 || r.Met == nil || !*r.Met || r.Central == nil || r.Central.Epsilon > 0.2 || *card.Central != 0.2 {
		t.Fatalf("%+v", card)
	}
	eps, err := ldp.ParseEpsilon(r.Epsilon)
	if err != nil {
		t.Fatal(err)
	}
	more, err := ldp.ParseEpsilon(eps.Rat().Add(eps.Rat(), rat(t, "1/100")).RatString())
	if err != nil {
		t.Fatal(err)
	}
	if next := planOf(t, "-grid", "4x4", "-eps", more.String(), "-devices", "20000", "-shuffled").Rows[0]; next.Central.Epsilon <= 0.2 {
		t.Errorf("eps %v is found, and %v has %v", eps, more, next.Central)
	}
	// Few people hide nobody: the eps of a report is that of all.
	card = planOf(t, "-grid", "3x3", "-central", "0.5", "-devices", "1")
	if r := card.Rows[0]; r.Epsilon != "0.5" || r.Central.Epsilon != 0.5 {
		t.Errorf("one device: %+v", r)
	}
	status, _, errs := try(t, "", "plan", "-grid", "3x3", "-central", "0.001", "-devices", "2")
	if status != device.No || !strings.Contains(errs, "no eps of 0.01") {
		t.Errorf("out of reach: status %d, %s", status, errs)
	}
	for args, want := range map[string]string{
		"-central 0.1": "-devices", "-central 0.1 -devices 9 -eps 1": "-central", "-central 0.1 -devices 9 -target 1": "-central",
		"-central x -devices 9": "-central", "-central 0 -devices 9": "-central", "-eps 1 -devices 9 -delta 0.1": "-shuffled",
		"-eps 1 -devices 9 -shuffled -delta 1": "-delta", "-eps 1 -devices 9 -shuffled -delta x": "-delta",
	} {
		if status, _, errs := try(t, "", append([]string{"plan", "-grid", "2x2"}, strings.Fields(args)...)...); status != 2 ||
			!strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestVerifyDevices: verify says what the reports of a policy guarantee together, for points and for codebooks.
func TestVerifyDevices(t *testing.T) {
	dir := t.TempDir()
	points, vectors := filepath.Join(dir, "points"), filepath.Join(dir, "vectors")
	must(t, "", "design", "-grid", "6x6", "-eps", "4", "-out", points)
	must(t, "", "sphere", "-d", "2", "-eps", "4", "-points", "64", "-out", vectors)
	codes := filepath.Join(dir, "codes")
	must(t, "", "design", "-grid", "6x6", "-eps", "4", "-devices", "5000", "-out", codes)
	for _, path := range []string{points, vectors, codes} {
		var got struct{ Central *summed.Central }
		if err := json.Unmarshal([]byte(must(t, "", "verify", "-json", "-devices", "100000", path)), &got); err != nil {
			t.Fatal(err)
		}
		if got.Central == nil || !(got.Central.Epsilon > 0.05 && got.Central.Epsilon < 0.3) || got.Central.Delta != 1e-6 {
			t.Errorf("%s: %+v", path, got.Central)
		}
		if text := must(t, "", "verify", "-devices", "1000000", path); !strings.Contains(text, ", 1e-07)-DP") {
			t.Errorf("delta of a million is not 1/(10 N):\n%s", text)
		}
		if text := must(t, "", "verify", "-devices", "1000000", "-delta", "1e-6", path); !strings.Contains(text, ", 1e-06)-DP") {
			t.Errorf("a delta that was asked for:\n%s", text)
		}
		if text := must(t, "", "verify", path); strings.Contains(text, "central") {
			t.Errorf("unasked:\n%s", text)
		}
	}
	for _, args := range []string{"-devices 0", "-devices x", "-devices 5 -delta 2"} {
		if status, _, errs := try(t, "", append(append([]string{"verify"}, strings.Fields(args)...), points)...); status != 2 {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestSummedDigits: three digits, to the private side.
func TestSummedDigits(t *testing.T) {
	for x, want := range map[float64][2]string{0.10731: {"0.108", "0.107"}, 0.1: {"0.1", "0.1"}, 2: {"2", "2"},
		1234.5: {"1.24e+03", "1.23e+03"},
		0:      {"0", "0"}, 0.05: {"0.05", "0.05"}} {
		if up, down := summed.Up(x), summed.Down(x); up != want[0] || down != want[1] {
			t.Errorf("%v: %s and %s, want %v", x, up, down, want)
		}
	}
	if shuffle.Common(100) != 1e-6 || shuffle.Common(10_000_000) != 1e-8 {
		t.Error("the common delta")
	}
}

func rat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("%q is not a rational", s)
	}
	return r
}

// TestSumsPage holds the table of docs/results/sums.md: by itself one row, with numtest.Full all. -v prints them.
func TestSumsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/results/sums.md")
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"1", "2", "3", "4", "5", "6"} {
		if !numtest.Full() && level != "4" {
			continue
		}
		eps, err := ldp.ParseEpsilon(level)
		if err != nil {
			t.Fatal(err)
		}
		d, err := wpm.NewDesign(t.Context(), c, eps, wpm.Objective{})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{500, 5000, 100_000, 1_000_000} {
			if !numtest.Full() && n != 5000 {
				continue
			}
			central, _, err := summed.Of(d.Mechanism().Polytope(), n, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := minimax.Problem{Cost: c, Epsilon: eps.Float64(), Clients: n}
			b, err := minimax.Solve(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			proof, err := certificate.NewMinimax(t.Context(), p, b)
			if err != nil {
				t.Fatal(err)
			}
			lower, _ := proof.Stated().Floats()
			row := fmt.Sprintf("| %s | %d | %v | %s |", level, n, central, summed.Down(20*lower))
			t.Log(row)
			if !strings.Contains(string(page), row) {
				t.Errorf("the page lacks %s", row)
			}
		}
	}
}
