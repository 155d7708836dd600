package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestVerifySaysEps: a policy whose eps was raised has a false certificate, and the refusal says what its eps means.
func TestVerifySaysEps(t *testing.T) {
	ctx := context.Background()
	eps, err := ldp.ParseEpsilon("4")
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cost.NewRing(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(ctx, ring, eps, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{Mode: policy.Mixture,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	raised, err := policy.Decode(bytes.Replace(text, []byte(`"epsilon":"4"`), []byte(`"epsilon":"40"`), 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := new(policyAnswer).verify(ctx, raised); err == nil ||
		!strings.Contains(err.Error(), "privacy holds at eps = 40 (from one report, an observer's odds") {
		t.Error(err)
	}
}
