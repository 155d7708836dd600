package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestConditions holds that verify and release refuse a policy that its user does not accept, before a ledger is made.
func TestConditions(t *testing.T) {
	dir := t.TempDir()
	file, ledger := filepath.Join(dir, "p"), filepath.Join(dir, "l")
	must(t, "", "design", "-ring", "5", "-eps", "1.5", "-o", file, "-table", "none", "-menu", "no")
	id := regexp.MustCompile("sha256 ([0-9a-f]{64})").FindStringSubmatch(must(t, "", "verify", file))[1]
	for _, test := range []struct {
		args   string
		status int
		want   string
	}{
		{"-max-eps 1.5", device.Yes, ""},
		{"-max-eps 3/2", device.Yes, ""},
		{"-max-eps 2", device.Yes, ""},
		{"-max-eps 1.499999999999999999", device.No, "eps = 1.5 is above 1.499999999999999999"},
		{"-max-eps 0", device.Bad, "-max-eps"},
		{"-max-eps x", device.Bad, "-max-eps"},
		{"-policy-id " + id, device.Yes, ""},
		{"-policy-id " + strings.ToUpper(id), device.Yes, ""},
		{"-policy-id " + strings.Repeat("0", 64), device.No, id},
		{"-policy-id " + id[:32], device.Bad, "64 hexadecimal digits"},
		{"-policy-id " + id + "00", device.Bad, "64 hexadecimal digits"},
		{"-policy-id x", device.Bad, "64 hexadecimal digits"},
	} {
		args := strings.Fields(test.args)
		if status, _, errs := try(t, "", append(append([]string{"verify"}, args...), file)...); status != test.status ||
			!strings.Contains(errs, test.want) {
			t.Errorf("verify %s: status %d, %s", test.args, status, errs)
		}
		release := append(append([]string{"release", "-ledger", ledger, "-epoch", "a", "-budget", "3"}, args...), file)
		if status, _, errs := try(t, "0,1\n", release...); status != test.status || !strings.Contains(errs, test.want) {
			t.Errorf("release %s: status %d, %s", test.args, status, errs)
		}
		if _, err := os.Stat(ledger); (err == nil) != (test.status == device.Yes) {
			t.Errorf("release %s: ledger: %v", test.args, err)
		}
		_ = os.Remove(ledger)
	}
}

// TestUnusableCost holds that verify, and release before it makes a ledger, refuse in words a cost that no client could
// use.
func TestUnusableCost(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []string{"mixture", "projection"} {
		file, ledger := filepath.Join(dir, mode), filepath.Join(dir, "l")
		must(t, "", "design", "-ring", "4", "-eps", "1", "-mode", mode, "-o", file, "-table", "none", "-menu", "no")
		good, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		noClaims := regexp.MustCompile(`(?m)^"certificate":.*$`).ReplaceAllString(string(good), `"certificate":null,`)
		for _, test := range []struct {
			cost   string
			status int
			want   string
		}{
			{`{"kind":"ring","n":4,"p":1}`, device.Yes, ""},
			{`{"kind":"grid","rows":2,"cols":2}`, device.Yes, ""},
			{`{"kind":"ring","n":2000000000,"p":1}`, device.No, "2000000000"},
			{`{"kind":"grid","rows":100000,"cols":100000,"p":1}`, device.No, "100000 x 100000"},
			{`{"kind":"ring","n":4,"n":4,"p":1}`, device.No, `"n" is given twice`},
			{`{"kind":"ring","kind":"ring","n":4}`, device.No, `"kind" is given twice`},
			{`{"kind":"ring","n":5,"p":1}`, device.No, "5 x 5"},
			{`{"kind":"points","x":[[0],[1],[2],[3]],"v":[[0],[1],[2]]}`, device.No, "4 x 3"},
			{`{"kind":"points","x":[[0],[1],[2]],"v":[[0],[1],[2],[3]]}`, device.No, "3 x 4"},
			{`{"kind":"explicit","C":[[0,1],[1,0]]}`, device.No, "2 x 2"},
			{`{"kind":"explicit","C":[[0,1,1,1],[1,0,1,1],[1,1,0,1],[1,1,1]]}`, device.No, "explicit"},
			{`{"kind":"ring","n":` + strings.Repeat("9", 5000) + `}`, device.No, `"n"`},
			{`{"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, device.No, `"kind"`},
			{`{}`, device.No, `"kind"`},
			{`null`, map[string]int{"mixture": device.Yes, "projection": device.No}[mode], ""},
		} {
			text := regexp.MustCompile(`(?m)^"cost":.*$`).ReplaceAllLiteralString(noClaims, `"cost":`+test.cost+",")
			if _, err := policy.Decode([]byte(text)); err != nil {
				t.Fatalf("%.80s: Decode = %v", test.cost, err)
			}
			path := write(t, dir, "other", text)
			if status, _, errs := try(t, "", "verify", path); status != test.status || !strings.Contains(errs, test.want) {
				t.Errorf("verify, %s, %.80s: status %d, %s", mode, test.cost, status, errs)
			}
			status, _, errs := try(t, "0,1\n", "release", "-ledger", ledger, "-epoch", "a", "-budget", "3", path)
			if status != test.status || !strings.Contains(errs, test.want) {
				t.Errorf("release, %s, %.80s: status %d, %s", mode, test.cost, status, errs)
			}
			if _, err := os.Stat(ledger); (err == nil) != (test.status == device.Yes) {
				t.Errorf("release, %s, %.80s: ledger: %v", mode, test.cost, err)
			}
			_ = os.Remove(ledger)
		}
	}
}

// TestProvenanceFlags holds that design writes what the flags state, that verify shows it, and that both warn of what
// is not stated.
func TestProvenanceFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p")
	for _, test := range []struct {
		args, shown, warning string // warning is "" for none
	}{
		{"", "geometry unstated; base measure unstated", "geometry and base measure"},
		{"-geometry public", "geometry public; base measure unstated", ": base measure."},
		{"-base data-independent", "geometry unstated; base measure data-independent", ": geometry."},
		{"-geometry public -base data-independent", "geometry public; base measure data-independent\n", ""},
		{"-geometry derived-dp:1/3 -base derived-dp:0.5", "geometry derived-dp, at an eps of 1/3", ""},
		{"-geometry public -base derived-dp:0.50 -note survey",
			"base measure derived-dp, at an eps of 0.5 that no client's budget counts; \"survey\"\n", ""},
	} {
		args := append([]string{"design", "-ring", "4", "-eps", "1", "-table", "none", "-menu", "no", "-o", file},
			strings.Fields(test.args)...)
		status, _, errs := try(t, "", args...)
		out := must(t, "", "verify", file)
		_, _, verifyErrs := try(t, "", "verify", file)
		if status != device.Yes || !strings.Contains(out, "the publisher states: ") || !strings.Contains(out, test.shown) {
			t.Errorf("design %s: status %d, verify prints %s", test.args, status, out)
		}
		for _, text := range []string{errs, verifyErrs} {
			if (text != "") != (test.warning != "") || !strings.Contains(text, test.warning) {
				t.Errorf("design %s: warning %q, want %q", test.args, text, test.warning)
			}
		}
	}
	for _, args := range []string{
		"-geometry data-independent", "-base public", "-geometry derived-dp", "-geometry derived-dp:", "-base derived-dp:0",
		"-base derived-dp:x", "-geometry Public", "-base none", "-base unstated:1",
	} {
		status, _, errs := try(t, "",
			append([]string{"design", "-ring", "4", "-eps", "1", "-o", file}, strings.Fields(args)...)...)
		if status != device.Bad || !strings.Contains(errs, strings.Fields(args)[0]+": ") {
			t.Errorf("design %s: status %d, %s", args, status, errs)
		}
	}
}

// TestWarningAboveEight holds that a level above 8 is warned of, and 8 is not, by design, verify and release -check,
// with status 0.
func TestWarningAboveEight(t *testing.T) {
	dir := t.TempDir()
	file, counts := filepath.Join(dir, "p"), write(t, dir, "c", "0,1\n")
	for eps, want := range map[string]bool{"8": false, "8.000000000000001": true, "64": true} {
		for _, args := range [][]string{
			{"design", "-ring", "4", "-eps", eps, "-geometry", "public", "-base", "data-independent", "-table", "none", "-menu",
				"no", "-o", file},
			{"verify", file}, {"release", "-check", file, counts},
		} {
			if status, _, errs := try(t, "", args...); status != device.Yes ||
				strings.Contains(errs, "eps = "+eps+" protects little") != want || (errs != "") != want {
				t.Errorf("%s at eps %s: status %d, %s", args[0], eps, status, errs)
			}
		}
	}
}

// TestWarningBesideFalseClaims: a policy whose eps was raised to 40 is as private as that, and its certificate, which is of
// another eps, does not keep verify from saying so.
func TestWarningBesideFalseClaims(t *testing.T) {
	dir := t.TempDir()
	file, counts := filepath.Join(dir, "p"), write(t, dir, "c", "0,1\n")
	must(t, "", "design", "-ring", "4", "-eps", "4", "-geometry", "public", "-base", "data-independent", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	raised := write(t, dir, "raised", strings.Replace(string(text), `"epsilon":"4"`, `"epsilon":"40"`, 1))
	const warning = "warning: eps = 40 protects little: from one report, an observer's odds"
	for args, want := range map[string]int{
		"verify " + raised: device.No, "verify -json " + raised: device.No, "verify -privacy-only " + raised: device.Yes,
		"release -ledger " + filepath.Join(dir, "l") + " -budget 40 -epoch a " + raised + " " + counts: device.Yes,
	} {
		if status, _, errs := try(t, "", strings.Fields(args)...); status != want || !strings.Contains(errs, warning) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// FuzzOrigin: a flag that is taken gives an origin that a policy takes, and says the same when it is written out again.
func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"", "public", "data-independent", "derived-dp:0.5", "derived-dp:1/3", "derived-dp:",
		"derived-dp", "unstated", "derived-dp:derived-dp:1"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	box, err := ldp.NewPolytope(given.Epsilon(f, "1"), []float64{0.5, 0.5}, 8)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, geometry bool) {
		clean := policy.DataIndependent
		prov := policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated}
		origin, eps := &prov.BaseMeasure, &prov.BaseMeasureEpsilon
		if geometry {
			clean, origin, eps = policy.Public, &prov.Geometry, &prov.GeometryEpsilon
		}
		var err error
		if *origin, *eps, err = places.ParseOrigin(text, clean); err != nil {
			return
		}
		p, err := policy.New(policy.Config{Polytope: box, Mode: policy.Projection, Inputs: 1, Provenance: prov})
		if err != nil || p.Provenance() != prov {
			t.Fatalf("%q: %v, %+v", text, err, prov)
		}
		again := places.FormatOrigin(*origin, *eps)
		if o, e, err := places.ParseOrigin(again, clean); o != *origin || e.String() != eps.String() || err != nil {
			t.Fatalf("%q: %q gives %s, %s, %v", text, again, o, e, err)
		}
	})
}
