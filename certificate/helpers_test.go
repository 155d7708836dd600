package certificate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"regexp"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/shuffle"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sphere"
)

// sample returns one certificate of each kind, about problems small enough to read.
func sample(t testing.TB) map[certificate.Kind]certificate.Certificate {
	t.Helper()
	c := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2.5, 1, 0, 1.5, 2.5, 1.5, 0}}
	out := map[certificate.Kind]certificate.Certificate{}
	p := projection.Problem{
		Cost: c, Source: []float64{0.75, 0.25}, Support: []int{0, 2},
		Lo: []float64{0.2, 0.2, 0.2}, Hi: []float64{0.5, 0.5, 0.5},
	}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	out[certificate.Projection] = must(t)(certificate.NewProjection(context.Background(), p, r))(err)
	a, b := []float64{0.5, 0.5, 0}, []float64{0.25, 0.25, 0.5}
	r, err = mincostflow.Transport(context.Background(), c, a, b)
	out[certificate.Transport] = must(t)(certificate.NewTransport(context.Background(), c, a, b, r))(err)
	base, err := basemeasure.Uniform(context.Background(), c, 1.25, basemeasure.Settings{})
	out[certificate.BaseMeasure] = must(t)(certificate.NewBaseMeasure(context.Background(), c, 1.25, base))(err)
	mu := []float64{0.7, 0.3, 0}
	q, s, err := baseline.KPM(mu, 1.25)
	out[certificate.KPM] = must(t)(certificate.NewKPM(mu, 1.25, q, s))(err)
	u := units.Problem{Cost: c, Source: []int64{3, 1}, Support: []int{0, 2}, Lo: []int64{1, 1, 1},
		Hi: []int64{2, 2, 9}}
	ur, err := units.Project(context.Background(), u, units.Settings{})
	out[certificate.Units] = must(t)(certificate.NewUnits(context.Background(), u, ur))(err)
	e := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: p.Source, Support: p.Support,
		Lo: []float64{0.2, 0.2, 0},
		Hi: []float64{0.8, 0.5, 0}}, Reg: 0.25}
	er, err := sinkhorn.Project(context.Background(), e, sinkhorn.Settings{})
	out[certificate.Entropic] = must(t)(certificate.NewEntropic(context.Background(), e, er))(err)
	g := &network.Problem{Supply: []int64{4, 0, -4}, Arcs: []network.Arc{
		{From: 0, To: 1, Upper: 3, Cost: 2}, {From: 1, To: 2, Lower: -network.Unlimited, Upper: network.Unlimited, Cost: -1},
		{From: 0, To: 2, Lower: -1, Upper: 5, Cost: 4},
	}}
	fr, err := network.Solve(context.Background(), g, network.Settings{})
	out[certificate.Flow] = must(t)(certificate.NewFlow(g, fr))(err)
	w, err := sphere.Enclose(3, 2, 1.25, 20)
	out[certificate.Sphere] = must(t)(certificate.NewSphere(3, 2, 1.25, w))(err)
	sp := shuffle.Problem{Clients: 50, Blanket: big.NewRat(3, 4), Epsilon: 1.25, Delta: 1e-3}
	sg, err := shuffle.Solve(sp)
	out[certificate.Shuffled] = must(t)(certificate.NewShuffled(sp, sg))(err)
	mp := minimax.Problem{Cost: c, Epsilon: 1.25, Clients: 30}
	mb, err := minimax.Solve(context.Background(), mp)
	out[certificate.Minimax] = must(t)(certificate.NewMinimax(context.Background(), mp, mb))(err)
	for _, k := range certificate.Kinds() {
		if out[k].Kind() != k {
			t.Fatalf("no sample of kind %q: add one, and every test here covers it", k)
		}
	}
	return out
}

// must stops at the error of a New function and at that of the solver before it.
func must(t testing.TB) func(certificate.Certificate, error) func(error) certificate.Certificate {
	t.Helper()
	return func(c certificate.Certificate, err error) func(error) certificate.Certificate {
		return func(before error) certificate.Certificate {
			t.Helper()
			if err := errors.Join(before, err); err != nil {
				t.Fatal(err)
			}
			return c
		}
	}
}

func text(t testing.TB, c certificate.Certificate) []byte {
	t.Helper()
	b, err := certificate.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// check decodes and verifies.
func check(b []byte) error {
	c, err := certificate.Decode(b)
	if err != nil {
		return err
	}
	_, err = certificate.Verify(context.Background(), c)
	return err
}

var problemPattern = regexp.MustCompile(`"problem":(\{.*\}),"problem_sha256":"([0-9a-f]*)"`)

// rehash states the hash that the problem has: a forger would.
func rehash(t testing.TB, b []byte) []byte {
	t.Helper()
	m := problemPattern.FindSubmatchIndex(b)
	if m == nil {
		t.Fatalf("no problem in %s", b)
	}
	sum := sha256.Sum256(b[m[2]:m[3]])
	out := append([]byte(nil), b[:m[4]]...)
	out = hex.AppendEncode(out, sum[:])
	return append(out, b[m[5]:]...)
}

// replace changes exactly one place.
func replace(t testing.TB, b []byte, old, new string) []byte {
	t.Helper()
	if n := bytes.Count(b, []byte(old)); n != 1 {
		t.Fatalf("%q occurs %d times in %s", old, n, b)
	}
	return bytes.Replace(b, []byte(old), []byte(new), 1)
}

// encloses reports whether float x is in the bounds, give or take the error of a solver that is exact.
func encloses(b certificate.Bounds, x, scale float64) bool {
	const solverTol = 1e-12 // mincostflow and basemeasure promise 1e-14 and better, relative to the largest cost
	lo, _ := b.Lower.Float64()
	hi, _ := b.Upper.Float64()
	return lo <= x+solverTol*scale && x-solverTol*scale <= hi && !math.IsNaN(x)
}
