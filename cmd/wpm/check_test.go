package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/device"
)

// goldens are certificates of all kinds.
func goldens(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../certificate/testdata/version1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCheckKinds: certificates of every kind hold, plain or gzip, from a file or standard input, one or many; of a
// private one no number is shown.
func TestCheckKinds(t *testing.T) {
	all := goldens(t)
	lines := strings.Split(strings.TrimSuffix(all, "\n"), "\n")
	dir := t.TempDir()
	plain, zip := write(t, dir, "all.jsonl", all), write(t, dir, "all.gz", zipped(t, all))
	want := strings.ReplaceAll(must(t, "", "certify", plain), plain, "FILE")
	for name, out := range map[string]string{
		"gzip":             strings.ReplaceAll(must(t, "", "certify", zip), zip, "FILE"),
		"standard input":   strings.ReplaceAll(must(t, all, "certify", "-"), "-:", "FILE:"),
		"without line end": strings.ReplaceAll(must(t, strings.TrimSuffix(all, "\n"), "certify", "-"), "-:", "FILE:"),
		"with \\r":         strings.ReplaceAll(must(t, strings.ReplaceAll(all, "\n", "\r\n"), "certify", "-"), "-:", "FILE:"),
		"gzip, in two parts": strings.ReplaceAll(must(t, zipped(t, all[:5000])+zipped(t, all[5000:]), "certify", "-"), "-:",
			"FILE:"),
	} {
		t.Run(name, func(t *testing.T) {
			if out != want {
				t.Errorf("%s:\n%s\nwant\n%s", name, out, want)
			}
		})
	}
	number := regexp.MustCompile(`[0-9]\.[0-9]`)
	for n, line := range lines {
		c, err := certificate.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		out := must(t, line, "certify", "-")
		if !strings.HasPrefix(out, fmt.Sprintf("-:1: %s: holds\n  about: %s\n", c.Kind(), c.Meaning())) {
			t.Errorf("line %d: %s", n+1, out)
		}
		hash := fmt.Sprintf("%x", c.ProblemHash())[:16]
		if shown := number.MatchString(out) && strings.Contains(out, hash); shown == c.Private() {
			t.Errorf("line %d, private %v: %s", n+1, c.Private(), out)
		}
		var r struct {
			Kind         certificate.Kind
			Passed       bool
			Lower, Upper *json.Number
		}
		asJSON := must(t, "\n"+line, "certify", "-json", "-")
		if err := json.Unmarshal([]byte(strings.ReplaceAll(asJSON, `\"`, "")), &r); err != nil || r.Kind != c.Kind() ||
			!r.Passed || (r.Lower == nil) != c.Private() || (r.Upper == nil) != c.Private() {
			t.Errorf("line %d: %s, %v", n+1, asJSON, err)
		}
	}
}

// TestCheckAnswers: answers of solve -certificate are checked as they come, and one without a certificate is told.
func TestCheckAnswers(t *testing.T) {
	for kind, line := range map[string]string{
		"basemeasure": `{"id":"x","cost":{"kind":"ring","n":4,"p":2},"eps":1}`,
		"project":     `{"cost":{"kind":"ring","n":4,"p":2},"mu":[1,0,0,0],"m":[0.25,0.25,0.25,0.25],"eps":1}`,
		"transport":   `{"cost":{"kind":"ring","n":4,"p":2},"source":[1,0,0,0],"target":[0.25,0.25,0.25,0.25]}`,
	} {
		answer := must(t, line, "solve", kind, "-certificate")
		if out := must(t, answer+answer, "certify", "-"); strings.Count(out, ": holds\n") != 2 ||
			!strings.Contains(out, "-:2: ") {
			t.Errorf("%s: %s", kind, out)
		}
		_, bad, _ := try(t, "{}\n"+line, "solve", kind, "-certificate")
		status, out, errs := try(t, bad, "certify", "-")
		if status != device.Bad || !strings.HasPrefix(out, "-:1: certificate: not checked: ") ||
			!strings.Contains(out, "-:2: ") || !strings.Contains(errs, "1 of 2") {
			t.Errorf("%s after an error: status %d, %s%s", kind, status, out, errs)
		}
		if strings.Contains(must(t, line, "solve", kind), "certificate") {
			t.Errorf("%s: a certificate unasked", kind)
		}
	}
	for _, kind := range []string{"hilbert", "phi", "round"} {
		if status, out, errs := try(t, "{}\n", "solve", kind, "-certificate"); status != device.Bad || out != "" ||
			!strings.Contains(errs, "-certificate") {
			t.Errorf("%s: status %d, %q, %q", kind, status, out, errs)
		}
	}
}

// TestCheckRefuses: what is false is a no, what cannot be read or has no cost is bad input, and neither tells private
// numbers.
func TestCheckRefuses(t *testing.T) {
	all := strings.Split(strings.TrimSuffix(goldens(t), "\n"), "\n")
	projection, measure := all[0], all[5]
	c, err := certificate.Decode([]byte(measure))
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.WithoutCost(); err != nil {
		t.Fatal(err)
	}
	b, err := certificate.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	bare := string(b)
	dir := t.TempDir()
	spec := write(t, dir, "cost.json", `{ "C": [[0,1,2.5],[1,0,1.5],[2.5,1.5,0]], "kind": "explicit" }`+"\n")
	other := write(t, dir, "other.json", `{"kind":"ring","n":3}`)
	whole := write(t, dir, "whole.json", measure)
	policy := designed(t, dir)
	forge := func(s, pattern, new string) string {
		out := regexp.MustCompile(pattern).ReplaceAllString(s, new)
		if out == s {
			t.Fatalf("%s is not in %s", pattern, s)
		}
		return out
	}
	for name, test := range map[string]struct {
		in     string
		args   []string
		status int
		want   string // in the output or the error
	}{
		"lower bound too high": {forge(measure, `"lower":"`, `"lower":"9`), nil, device.No, "base-measure: does not hold"},
		"private, too high": {forge(projection, `"lower":"`, `"lower":"9`), nil, device.No,
			"projection: does not hold: certificate: claim not proved\n"},
		"other weights": {forge(projection, `"weight":\[0.75,0.25\]`, `"weight":[0.5,0.5]`), nil, device.No,
			"projection: does not hold"},
		"mismatched sizes": {forge(projection, `"inputs":3`, `"inputs":4`), nil, device.No,
			"does not hold: certificate: mismatched sizes"},
		"the other one holds": {measure + "\n" + forge(measure, `"upper":"`, `"upper":"-`), nil, device.No,
			"1 of 2 certificates do not hold"},
		"no other spelling": {forge(projection, `"kind":"projection"`, `"kind": "projection"`), nil, device.Bad,
			"-:1: certificate: not checked: certificate: not a canonical certificate: byte "},
		"not a fraction": {forge(projection, `"lower":"[0-9]*`, `"lower":"0.7531`), nil, device.Bad,
			"not a canonical certificate: byte "},
		"another format": {`{"format":"wpm-certificate-2"}`, nil, device.Bad, "not checked"},
		"unknown kind": {forge(projection, `"kind":"projection"`, `"kind":"torus"`), nil, device.Bad,
			"unknown kind"},
		"no certificate":         {"", nil, device.Bad, "there is no certificate in it"},
		"white space":            {" \n\t\n", nil, device.Bad, "there is no certificate in it"},
		"not JSON":               {"x", nil, device.Bad, "neither a certificate nor an answer"},
		"an array":               {"[" + measure + "]", nil, device.Bad, "neither a certificate nor an answer"},
		"half an object":         {measure[:200], nil, device.Bad, "ends inside an object"},
		"no value":               {`{"certificate":}`, nil, device.Bad, "neither"},
		"null":                   {`{"certificate":null}`, nil, device.Bad, "not checked"},
		"two":                    {`{"certificate":` + measure + `,"certificate":` + measure + `}`, nil, device.Bad, "twice"},
		"braces that cross":      {`{"certificate":[}]`, nil, device.Bad, "neither"},
		"a brace in a string":    {`{"x":"}\"}","certificate":` + measure + `}`, nil, device.Yes, "holds"},
		"half a gzip":            {zipped(t, strings.Repeat(measure+"\n", 100))[:600], nil, device.Bad, "unexpected EOF"},
		"a policy":               {string(mustRead(t, policy)), nil, device.Bad, "wpm verify"},
		"without its cost":       {bare, nil, device.Bad, "base-measure"},
		"its cost":               {bare, []string{"-cost", spec}, device.Yes, "holds"},
		"its cost, in an object": {bare, []string{"-cost", whole}, device.Yes, "holds"},
		"another cost":           {bare, []string{"-cost", other}, device.No, "wrong cost"},
		"a cost of its own":      {measure, []string{"-cost", spec}, device.Yes, "holds"},
		"not this cost":          {measure, []string{"-cost", other}, device.No, "wrong cost"},
		"no cost file":           {measure, []string{"-cost", filepath.Join(dir, "none")}, device.Bad, "none"},
		"no cost in it":          {measure, []string{"-cost", write(t, dir, "no.json", "{}")}, device.Bad, "-cost"},
		"both from one":          {measure, []string{"-cost", "-"}, device.Bad, "once"},
		"twice from one":         {measure, []string{"-"}, device.Bad, "once"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errs := try(t, test.in, append(append([]string{"certify"}, test.args...), "-")...)
			if status != test.status || !strings.Contains(out+errs, test.want) || (errs == "") != (status == device.Yes) {
				t.Errorf("%s: status %d, want %d and %q:\n%s%s", name, status, test.status, test.want, out, errs)
			}
			if strings.Contains(out+errs, "0.75") {
				t.Errorf("%s tells a private number: %s%s", name, out, errs)
			}
		})
	}
	for _, args := range [][]string{{"certify"}, {"certify", dir}, {"certify", filepath.Join(dir, "none")},
		{"certify", "-nonsense", spec}} {
		if status, _, errs := try(t, "", args...); status != device.Bad || strings.Count(errs, "\n") != 1 {
			t.Errorf("wpm %v: status %d, %q", args, status, errs)
		}
	}
}

// TestCheckPolicyCost: the certificate in a policy is checked with the policy as the cost.
func TestCheckPolicyCost(t *testing.T) {
	path := designed(t, t.TempDir())
	var p struct{ Certificate json.RawMessage }
	if err := json.Unmarshal(mustRead(t, path), &p); err != nil {
		t.Fatal(err)
	}
	if out := must(t, string(p.Certificate), "certify", "-cost", path, "-"); !strings.Contains(out, "base-measure: holds") {
		t.Error(out)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// designed is the path of a policy.
func designed(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "policy.json")
	must(t, "", "design", "-points", write(t, dir, "cities.csv", cities), "-eps", "2", "-out", path)
	return path
}
