package certificate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
)

// TestNumberText: the layout is that of encoding/json, which other languages know as ECMAScript's, but for one
// zero.
func TestNumberText(t *testing.T) {
	for _, x := range []float64{
		0, 1, -1, 0.1, 1e-6, 9.999e-7, 1e-7, -1e-10, 1e20, 1e21, 123456789e15, math.MaxFloat64, math.SmallestNonzeroFloat64,
		1. / 3, 1e-100, 1 << 53, 3e22,
	} {
		want, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		one, err1 := number(x).MarshalJSON()
		list, err2 := numbers{x, x}.MarshalJSON()
		if err1 != nil || err2 != nil || string(one) != string(want) ||
			string(list) != "["+string(want)+","+string(want)+"]" {
			t.Errorf("%v: %s, %s, want %s (%v, %v)", x, one, list, want, err1, err2)
		}
	}
	if b, err := number(math.Copysign(0, -1)).MarshalJSON(); err != nil || string(b) != "0" {
		t.Errorf("-0: %s, %v", b, err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err1 := number(x).MarshalJSON()
		_, err2 := numbers{1, x}.MarshalJSON()
		_, err3 := plan{{Mass: x}}.MarshalJSON()
		if err1 == nil || err2 == nil || err3 == nil {
			t.Errorf("%v has a text", x)
		}
	}
}

// TestPlanText: empty, and what is not a plan.
func TestPlanText(t *testing.T) {
	if b, err := json.Marshal(plan(nil)); err != nil || string(b) != "[]" {
		t.Errorf("empty plan: %s, %v", b, err)
	}
	var p plan
	if err := json.Unmarshal([]byte("[]"), &p); err != nil || len(p) != 0 {
		t.Errorf("empty plan: %v, %v", p, err)
	}
	if err := json.Unmarshal([]byte("[[1,2,0.5],[3,4,1e-9]]"), &p); err != nil || len(p) != 2 || p[1].I != 3 ||
		p[1].J != 4 || p[1].Mass != 1e-9 {
		t.Errorf("%v, %v", p, err)
	}
	for _, s := range []string{"null", "0", "{}", "[1]", "[[]]", "[[1,2]]", "[[1,2,3,4]]", "[[1,2,3],4]", "[[1.5,2,3]]",
		`[["1",2,3]]`, "[[1,2,3] ]", "[[[1,2,3]]]", `"[[1,2,3]]"`} {
		if err := json.Unmarshal([]byte(s), &p); err == nil {
			t.Errorf("%s was read as %v", s, p)
		}
	}
}

// TestKPMBounds: the bounds on r are those that the accuracy of KPMVerify means, both ways: |r - R| <= 2^-50 R
// at both ends.
func TestKPMBounds(t *testing.T) {
	mu := []float64{0.7, 0.3, 0}
	q, r, err := baseline.KPM(mu, 1.25)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewKPM(mu, 1.25, q, r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Verify(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, bound := range []*big.Rat{got.Lower, got.Upper} {
		d := new(big.Rat).Sub(new(big.Rat).SetFloat64(r), bound)
		if d.Abs(d); d.Cmp(new(big.Rat).Mul(bound, big.NewRat(1, 1<<50))) != 0 {
			t.Errorf("r = %v, bound %v", r, bound.FloatString(20))
		}
	}
	if got.Lower.Cmp(got.Upper) >= 0 || strings.Count(got.Lower.String(), "/") != 1 {
		t.Errorf("bounds %v, %v", got.Lower, got.Upper)
	}
}

// TestCostTextAfterALongRow: a matrix whose first row makes its text look too long keeps it if it is not.
func TestCostTextAfterALongRow(t *testing.T) {
	const k, kv = 8000, 900
	d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for j := range kv {
		d.Data[j] = 1 / float64(j+3)
	}
	hash, text, err := costText(t.Context(), d)
	if err != nil || len(text) < 2*k*kv || len(text) > MaxBytes || digest(sha256.Sum256(text)) != hash {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	for i := range k {
		copy(d.Data[i*kv:], d.Data[:kv])
	}
	if long, text, err := costText(t.Context(), d); err != nil || text != nil || long == hash {
		t.Fatalf("a long text: %d bytes, %v", len(text), err)
	}
}
