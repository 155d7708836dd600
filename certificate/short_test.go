package certificate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// short is the evidence of a base measure as it is written for many places, by the page in docs.
type short struct {
	M       float64 `json:"m"`
	Weights struct {
		Index  []int     `json:"index"`
		Weight []float64 `json:"weight"`
	} `json:"weights"`
	Thresholds []float64 `json:"thresholds"`
}

// withEvidence replaces the evidence in a text.
func withEvidence(t *testing.T, text []byte, evidence any) []byte {
	t.Helper()
	inner, err := json.Marshal(evidence)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(text[:bytes.Index(text, []byte(`"evidence":`))], []byte(`"evidence":`), inner,
		text[bytes.Index(text, []byte(`,"cost":`)):])
}

// TestShortEvidence: above 2^20 pairs the evidence of a uniform measure is short, and proves what the long form proves,
// which is still read. One place of a weight, of a threshold or of the mass makes the stated bounds false, if it makes
// the proved ones weaker.
func TestShortEvidence(t *testing.T) {
	rng := numtest.NewSplitMix64(4)
	const k = 2100
	places := make([][]float64, k)
	for i := range places {
		places[i] = []float64{rng.Float64(), rng.Float64()}
	}
	c, err := cost.NewPoints(places, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := basemeasure.UniformOnePass(context.Background(), c, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Weights { // a few will do here
		if i%97 > 0 {
			r.Weights[i] = 0
		}
	}
	r.Weights[97] = 0.5
	made, err := certificate.NewBaseMeasure(context.Background(), c, 2, r)
	if err == nil {
		made, err = made.WithoutCost()
	}
	full := text(t, made)
	if err != nil || len(full) > 40_000 {
		t.Fatalf("%d bytes, %v", len(full), err)
	}
	if made, err = made.WithCost(mustSpec(t, c)); err != nil {
		t.Fatal(err)
	}
	full = text(t, made)
	var envelope struct{ Evidence short }
	if err := json.Unmarshal(full, &envelope); err != nil {
		t.Fatal(err)
	}
	evidence := envelope.Evidence
	verify := func(evidence any) (certificate.Bounds, error) {
		c, err := certificate.Decode(withEvidence(t, full, evidence))
		if err != nil {
			return certificate.Bounds{}, err
		}
		return certificate.Verify(context.Background(), c)
	}
	bounds, err := verify(evidence)
	if err != nil || bounds.Lower.Cmp(made.Stated().Lower) != 0 || bounds.Upper.Cmp(made.Stated().Upper) != 0 {
		t.Fatalf("between %v and %v, %v", bounds.Lower, bounds.Upper, err)
	}

	type long struct {
		M          []float64 `json:"m"`
		Weights    []float64 `json:"weights"`
		Thresholds []float64 `json:"thresholds"`
	}
	old, err := verify(long{r.M, r.Weights, r.Thresholds})
	if err != nil || old.Lower.Cmp(bounds.Lower) != 0 || old.Upper.Cmp(bounds.Upper) != 0 {
		t.Errorf("the long form proves between %v and %v, %v", old.Lower, old.Upper, err)
	}

	refused := map[string]int{}
	tamper := func(name string, place func(e *short) *float64) {
		for _, to := range []float64{0, 9} {
			e := evidence
			e.Weights.Weight, e.Thresholds = slices.Clone(e.Weights.Weight), slices.Clone(e.Thresholds)
			x := place(&e)
			*x = math.Nextafter(*x, to)
			switch _, err := verify(e); {
			case errors.Is(err, certificate.ErrClaim):
				refused[name]++
			case err != nil:
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	tamper("mass", func(e *short) *float64 { return &e.M })
	last := len(evidence.Thresholds) - 1
	for n := 0; n <= last; n += numtest.Cases(last+1, 1) { // the first
		tamper("weight", func(e *short) *float64 { return &e.Weights.Weight[n] })
		tamper("threshold", func(e *short) *float64 { return &e.Thresholds[n] })
	}
	if len(refused) < 3 {
		t.Errorf("changes refused: %v", refused)
	}

	for name, change := range map[string]func(e *short){
		"an input twice":    func(e *short) { e.Weights.Index[1] = e.Weights.Index[0] },
		"an input too many": func(e *short) { e.Weights.Index[len(e.Weights.Index)-1] = k },
		"no weight": func(e *short) {
			e.Weights.Index, e.Weights.Weight, e.Thresholds = []int{}, []float64{},
				[]float64{}
		},
		"a weight of zero":    func(e *short) { e.Weights.Weight[1] = 0 },
		"a threshold missing": func(e *short) { e.Thresholds = e.Thresholds[1:] },
		"a mass of zero":      func(e *short) { e.M = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence
			e.Weights.Index, e.Weights.Weight, e.Thresholds = slices.Clone(e.Weights.Index), slices.Clone(e.Weights.Weight),
				slices.Clone(e.Thresholds)
			change(&e)
			if _, err := verify(e); err == nil {
				t.Errorf("%s: not refused", name)
			}
		})
	}
	mass := []byte(fmt.Sprintf(`{"m":%v,`, evidence.M))
	for _, head := range []string{`{"m":null,`, `{"m":1e999,`, `{"m":"1",`, `{"m":[` + fmt.Sprint(evidence.M) + `],`,
		`{"x":1,`} {
		if _, err := certificate.Decode(bytes.Replace(full, mass, []byte(head), 1)); err == nil ||
			!bytes.Contains(full, mass) {
			t.Errorf("%s: %v", head, err)
		}
	}
	sized := strings.NewReplacer(`"inputs":2100,"outputs":2100`,
		`"inputs":16777216,"outputs":16777216`).Replace(string(full))
	if _, err := certificate.Decode([]byte(sized)); !errors.Is(err, certificate.ErrLimit) {
		t.Errorf("2^48 pairs: %v", err)
	}
}

// mustSpec is the canonical text of a cost.
func mustSpec(t *testing.T, c cost.Matrix) []byte {
	t.Helper()
	spec, err := cost.SpecOf(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
