package certificate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"pgregory.net/rapid"
)

// drawCost leans to ties, zeros and wide ranges.
func drawCost(t *rapid.T) *cost.Dense {
	k, kv := rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 5).Draw(t, "kv")
	value := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2, 0.1, 1e-300, 1e12}), rapid.Float64Range(0, 3))
	return &cost.Dense{K: k, Kv: kv, Data: rapid.SliceOfN(value, k*kv, k*kv).Draw(t, "C")}
}

// drawMass returns a distribution whose sum is 1 up to rounding, with zeros.
func drawMass(t *rapid.T, n int, name string) []float64 {
	x := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 1e-9, 0.3}), n, n).Draw(t, name)
	x[rapid.IntRange(0, n-1).Draw(t, "sure")] = 1
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// TestLawOfKinds: what any solver returns becomes a certificate whose text reads back, proves exactly what the
// solver's own Verify proves, and encloses the objective.
func TestLawOfKinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCost(t)
		scale := cost.Max(c)
		mu := drawMass(t, c.K, "mu")
		var made certificate.Certificate
		var lower, upper *big.Rat
		var value float64
		var err error
		switch kind := rapid.SampledFrom(certificate.Kinds()).Draw(t, "kind"); kind {
		case certificate.Projection:
			p := mincostflow.Problem{Cost: c, Source: mu}
			for _, m := range drawMass(t, c.Kv, "m") {
				p.Lo, p.Hi = append(p.Lo, m/2), append(p.Hi, 1.5*m)
			}
			var r mincostflow.Result
			if r, err = mincostflow.Project(context.Background(), p, mincostflow.Settings{}); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewProjection(p, r)
			upper, lower, _ = mincostflow.Verify(p, r)
			value = r.Objective
		case certificate.Transport:
			b := drawMass(t, c.Kv, "b")
			var r mincostflow.Result
			if r, err = mincostflow.Transport(context.Background(), c, mu, b); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewTransport(c, mu, b, r)
			upper, lower, _ = mincostflow.VerifyTransport(c, mu, b, r)
			value = r.Objective
		case certificate.BaseMeasure:
			eps := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 5, 40}).Draw(t, "eps")
			var r basemeasure.Result
			if r, err = basemeasure.Uniform(context.Background(), c, eps, basemeasure.Settings{}); err != nil {
				t.Fatal(err)
			}
			made, err = certificate.NewBaseMeasure(c, eps, r)
			upper, lower, _ = basemeasure.Verify(c, eps, r)
			value = r.F
		case certificate.KPM:
			eps := rapid.SampledFrom([]float64{0, 1e-9, 0.1, 1, 5, 40}).Draw(t, "eps")
			q, r, kerr := baseline.KPM(mu, eps)
			if kerr != nil {
				t.Fatal(kerr)
			}
			made, err = certificate.NewKPM(mu, eps, q, r)
			value, scale = r, r
		default:
			t.Fatalf("no law for kind %q", kind)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := certificate.Encode(made)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(text) || bytes.ContainsAny(text, " \n") {
			t.Fatalf("not compact JSON: %s", text)
		}
		read, err := certificate.Decode(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := certificate.Verify(read)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if lower != nil && (got.Lower.Cmp(lower) != 0 || got.Upper.Cmp(upper) != 0) {
			t.Fatalf("proved [%v, %v], the solver's Verify [%v, %v]", got.Lower, got.Upper, lower, upper)
		}
		if !encloses(got, value, scale) {
			t.Fatalf("the value %v is not in [%v, %v]", value, got.Lower, got.Upper)
		}
	})
}

// FuzzDecode: whatever decodes has one text and verifies or not without a panic.
func FuzzDecode(f *testing.F) {
	for _, c := range sample(f) {
		f.Add(text(f, c))
		if bare, err := c.WithoutCost(); err == nil {
			f.Add(text(f, bare))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := certificate.Decode(data)
		if err != nil {
			if c != (certificate.Certificate{}) {
				t.Fatal("an error and a certificate")
			}
			return
		}
		if again, err := certificate.Encode(c); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("Encode(Decode(%q)) = %q, %v", data, again, err)
		}
		k, kv := c.Dims()
		if k*kv > 1<<16 { // a ring of a million points is a valid cost, and slow
			return
		}
		b, err := certificate.Verify(c)
		if s := c.Stated(); err == nil && (s.Lower.Cmp(b.Lower) > 0 || s.Upper.Cmp(b.Upper) < 0) {
			t.Fatalf("accepted [%v, %v] on a proof of [%v, %v]", s.Lower, s.Upper, b.Lower, b.Upper)
		}
	})
}
