package certificate_test

import (
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestCostByHash makes a certificate that names its matrix by hash, and verifies it with that matrix, and with no other.
// With WPM_FULL the text of the matrix is longer than a certificate may be: 80 MB, and five seconds.
func TestCostByHash(t *testing.T) {
	k := 20
	if numtest.Full() {
		k = 2000
	}
	g := numtest.NewSplitMix64(3)
	m := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
	for i := range k {
		for j := range i {
			v := 1 + g.Float64() // a metric, whatever the numbers
			m.Data[i*k+j], m.Data[j*k+i] = v, v
		}
	}
	r, err := basemeasure.Uniform(t.Context(), m, 1, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := certificate.NewBaseMeasure(t.Context(), m, 1, r)
	if err != nil {
		t.Fatal(err)
	}
	if c.NeedsCost() != numtest.Full() {
		t.Errorf("k = %d: the certificate needs its cost: %v", k, c.NeedsCost())
	}
	if c, err = c.WithoutCost(); err != nil {
		t.Fatal(err)
	}
	text, err := certificate.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = certificate.Decode(text); err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.Verify(t.Context(), c); !errors.Is(err, certificate.ErrCost) {
		t.Errorf("without its cost: %v, want ErrCost", err)
	}
	if _, err := certificate.VerifyCost(t.Context(), c, m); err != nil {
		t.Errorf("with its cost: %v", err)
	}
	m.Data[7] = math.Nextafter(m.Data[7], 2)
	if _, err := certificate.VerifyCost(t.Context(), c, m); !errors.Is(err, certificate.ErrCost) {
		t.Errorf("with another cost: %v, want ErrCost", err)
	}
	small, err := certificate.NewBaseMeasure(t.Context(), &cost.Dense{K: 1, Kv: 1, Data: []float64{0}}, 1,
		basemeasure.Result{M: []float64{1}, Weights: []float64{1}, Thresholds: []float64{0}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificate.VerifyCost(t.Context(), small, m); !errors.Is(err, certificate.ErrCost) {
		t.Errorf("of a certificate that has its cost: %v, want ErrCost", err)
	}
}
