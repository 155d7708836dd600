package certificate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sphere"
)

func TestRoundTrip(t *testing.T) {
	for kind, c := range sample(t) {
		b := text(t, c)
		if bytes.ContainsAny(b, " \n\t") {
			t.Errorf("%s: white space in %s", kind, b)
		}
		got, err := certificate.Decode(b)
		if err != nil {
			t.Errorf("%s: Decode(Encode) = %v\n%s", kind, err, b)
			continue
		}
		if !bytes.Equal(text(t, got), b) {
			t.Errorf("%s: Encode(Decode) differs", kind)
		}
		bounds, err := certificate.Verify(context.Background(), got)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		stated := got.Stated()
		if bounds.Lower.Cmp(stated.Lower) != 0 || bounds.Upper.Cmp(stated.Upper) != 0 {
			t.Errorf("%s: proved [%v, %v], stated [%v, %v]", kind, bounds.Lower, bounds.Upper, stated.Lower, stated.Upper)
		}
		if stated.Lower.Cmp(stated.Upper) > 0 {
			t.Errorf("%s: lower %v above upper %v", kind, stated.Lower, stated.Upper)
		}
		if got.Kind() != kind || got.Private() != c.Private() || got.ProblemHash() != c.ProblemHash() || got.Meaning() == "" {
			t.Errorf("%s: accessors differ after a round trip", kind)
		}
		_, has := got.Epsilon()
		want := map[certificate.Kind]bool{certificate.BaseMeasure: true, certificate.KPM: true, certificate.Sphere: true,
			certificate.Shuffled: true, certificate.Minimax: true}
		if want := want[kind]; has != want {
			t.Errorf("%s: has an eps: %v, want %v", kind, has, want)
		}
		size := 3
		if kind == certificate.Sphere || kind == certificate.Flow || kind == certificate.Shuffled {
			size = 0
		}
		if k, kv := got.Dims(); k != size || kv != size {
			t.Errorf("%s: Dims = %d, %d", kind, k, kv)
		}
	}
}

// TestCostApart: a certificate without its cost is about the same problem, needs the cost, and takes that one
// alone.
func TestCostApart(t *testing.T) {
	spec := []byte(`{"kind":"explicit","C":[[0,1,2.5],[1,0,1.5],[2.5,1.5,0]]}`)
	other := []byte(`{"kind":"explicit","C":[[0,1,2.5],[1,0,1.5],[2.5,1.5,0.5]]}`)
	for kind, c := range sample(t) {
		if _, ok := c.CostHash(); !ok {
			if _, err := c.WithCost(spec); !errors.Is(err, certificate.ErrCost) {
				t.Errorf("%s with a cost: %v", kind, err)
			}
			if c.NeedsCost() {
				t.Errorf("%s needs a cost", kind)
			}
			continue
		}
		bare, err := c.WithoutCost()
		if err != nil {
			t.Fatal(err)
		}
		bare, err = certificate.Decode(text(t, bare))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if !bare.NeedsCost() || c.NeedsCost() || bare.ProblemHash() != c.ProblemHash() {
			t.Errorf("%s: without its cost: needs it %v, with %v", kind, bare.NeedsCost(), c.NeedsCost())
		}
		if _, err := certificate.Verify(context.Background(), bare); !errors.Is(err, certificate.ErrCost) {
			t.Errorf("%s: verified without its cost: %v", kind, err)
		}
		if _, err := bare.WithCost(other); !errors.Is(err, certificate.ErrCost) {
			t.Errorf("%s: took another cost: %v", kind, err)
		}
		full, err := bare.WithCost(spec)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if _, err := certificate.Verify(context.Background(), full); err != nil || !bytes.Equal(text(t, full), text(t, c)) {
			t.Errorf("%s: with its cost again: %v", kind, err)
		}
	}
}

// foreign is a cost of a type that package cost does not know.
type foreign struct{ *cost.Dense }

// TestCostTypes: a cost of any type gives a certificate; one of a foreign type is written out.
func TestCostTypes(t *testing.T) {
	ring, err := cost.NewRing(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := cost.Materialize(context.Background(), ring)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		c    cost.Matrix
		want string
	}{
		{ring, `"cost":{"kind":"ring","n":4,"p":2}}`},
		{foreign{dense}, `"cost":{"kind":"explicit","C":[[0,`},
	} {
		r, err := basemeasure.Uniform(context.Background(), test.c, 2, basemeasure.Settings{})
		c := must(t)(certificate.NewBaseMeasure(context.Background(), test.c, 2, r))(err)
		if b := text(t, c); !strings.Contains(string(b), test.want) {
			t.Errorf("%T: %s", test.c, b)
		} else if err := check(b); err != nil {
			t.Errorf("%T: %v", test.c, err)
		}
	}
}

// TestNewRefuses: nothing that the solver's Verify refuses becomes a certificate, and nothing panics.
func TestNewRefuses(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	p := projection.Problem{Cost: c, Source: []float64{1}, Support: []int{0}, Lo: []float64{0.25, 0.25},
		Hi: []float64{0.75, 0.75}}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	greedy := r
	greedy.Lower = math.Nextafter(r.Upper, 1)
	for name, f := range map[string]func() error{
		"projection: empty": func() error {
			_,
				err := certificate.NewProjection(context.Background(), projection.Problem{}, r)
			return err
		},
		"projection: no result": func() error {
			_,
				err := certificate.NewProjection(context.Background(), p, mincostflow.Result{})
			return err
		},
		"projection: greedy result": func() error { _, err := certificate.NewProjection(context.Background(), p, greedy); return err },
		"projection: short support": func() error {
			q := p
			q.Support = nil
			_,
				err := certificate.NewProjection(context.Background(), q, r)
			return err
		},
		"transport: no cost": func() error { _, err := certificate.NewTransport(context.Background(), nil, nil, nil, r); return err },
		"transport: wrong target": func() error {
			_,
				err := certificate.NewTransport(context.Background(), c, []float64{1, 0}, []float64{0, 1}, r)
			return err
		},
		"base measure: no result": func() error {
			_,
				err := certificate.NewBaseMeasure(context.Background(), c, 1, basemeasure.Result{})
			return err
		},
		"base measure: NaN eps": func() error {
			_,
				err := certificate.NewBaseMeasure(context.Background(), c, math.NaN(), basemeasure.Result{})
			return err
		},
		"base measure: of an average": func() error {
			r, err := basemeasure.Uniform(context.Background(), c, 1, basemeasure.Settings{Objective: basemeasure.Average})
			if err != nil {
				t.Fatal(err)
			}
			_, err = certificate.NewBaseMeasure(context.Background(), c, 1, r)
			return err
		},
		"kpm: not the rule's output": func() error {
			_,
				err := certificate.NewKPM([]float64{1, 0}, 1, []float64{0.5, 0.5}, 2)
			return err
		},
		"kpm: NaN": func() error {
			_, err := certificate.NewKPM([]float64{math.NaN(), 0}, 1, []float64{1, 0}, 1)
			return err
		},
		"units: empty": func() error {
			_, err := certificate.NewUnits(context.Background(), units.Problem{}, units.Result{})
			return err
		},
		"entropic: empty": func() error {
			_,
				err := certificate.NewEntropic(context.Background(), sinkhorn.Problem{}, sinkhorn.Result{})
			return err
		},
		"flow: no network": func() error { _, err := certificate.NewFlow(nil, network.Result{}); return err },
		"flow: no result": func() error {
			_, err := certificate.NewFlow(&network.Problem{Supply: []int64{1, -1}}, network.Result{})
			return err
		},
		"sphere: nothing": func() error { _, err := certificate.NewSphere(2, 2, 1, sphere.Bounds{}); return err },
		"sphere: false": func() error {
			_, err := certificate.NewSphere(2, 2, 1, sphere.Bounds{Lower: big.NewRat(38, 100), Upper: big.NewRat(2, 5)})
			return err
		},
		"kpm: empty": func() error { _, err := certificate.NewKPM(nil, 1, nil, 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			if err := f(); !errors.Is(err, certificate.ErrEvidence) {
				t.Errorf("%s: error %v, want %v", name, err, certificate.ErrEvidence)
			}
		})
	}
	if !slices.Equal(p.Source, []float64{1}) || !slices.Equal(p.Lo, []float64{0.25, 0.25}) {
		t.Error("inputs were modified")
	}
}

// TestForged: every field of every kind, tampered with as a forger would, who also states the right problem
// hash where that is not what he forges. Each forgery claims something false, or something that the evidence
// does not prove.
func TestForged(t *testing.T) {
	certs := sample(t)
	for _, test := range []struct {
		kind     certificate.Kind
		old, new string
		want     error
	}{
		{certificate.Projection, `"format":"wpm-certificate-1"`, `"format":"wpm-certificate-2"`, certificate.ErrFormat},
		{certificate.Projection, `"kind":"projection"`, `"kind":"transport"`, certificate.ErrFormat},
		{certificate.Projection, `"kind":"projection"`, `"kind":"torus"`, certificate.ErrKind},
		{certificate.Projection, `"inputs":3`, `"inputs":4`, certificate.ErrShape},
		{certificate.Projection, `"outputs":3`, `"outputs":2`, certificate.ErrShape},
		{certificate.Projection, `"cost_sha256":"`, `"cost_sha256":"00`, certificate.ErrFormat},
		{certificate.Projection, `"index":[0,2]`, `"index":[1,2]`, certificate.ErrEvidence},
		{certificate.Projection, `"index":[0,2]`, `"index":[2,0]`, certificate.ErrShape},
		{certificate.Projection, `"index":[0,2]`, `"index":[0,3]`, certificate.ErrShape},
		{certificate.Projection, `"index":[0,2]`, `"index":[0,0]`, certificate.ErrShape},
		{certificate.Projection, `"weight":[0.75,0.25]`, `"weight":[0.5,0.5]`, certificate.ErrEvidence},
		{certificate.Projection, `"weight":[0.75,0.25]`, `"weight":[0.75,0.5]`, certificate.ErrEvidence},
		{certificate.Projection, `"weight":[0.75,0.25]`, `"weight":[1,0]`, certificate.ErrShape},
		{certificate.Projection, `"lo":[0.2,0.2,0.2]`, `"lo":[0.2,0.2,0.3]`, certificate.ErrEvidence},
		{certificate.Projection, `"lo":[0.2,0.2,0.2]`, `"lo":[0.2,0.4,0.2]`, certificate.ErrEvidence},
		{certificate.Projection, `"hi":[0.5,0.5,0.5]`, `"hi":[0.6,0.5,0.5]`, certificate.ErrClaim},
		{certificate.Projection, `"hi":[0.5,0.5,0.5]`, `"hi":[0.4,0.5,0.5]`, certificate.ErrEvidence},
		{certificate.Projection, `"lower":"`, `"lower":"1`, certificate.ErrClaim},
		{certificate.Projection, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.Projection, `"objective":0.`, `"objective":0.1`, certificate.ErrEvidence},
		{certificate.Projection, `"q":[0.5,`, `"q":[0.4,`, certificate.ErrEvidence},
		{certificate.Projection, `"plan":[[0,0,0.5]`, `"plan":[[0,0,0.25]`, certificate.ErrEvidence},
		{certificate.Projection, `"plan":[[0,0,0.5]`, `"plan":[[0,3,0.5]`, certificate.ErrEvidence},
		{certificate.Projection, `"plan":[[0,0,0.5]`, `"plan":[[-1,0,0.5]`, certificate.ErrEvidence},
		{certificate.Projection, `"f":[`, `"f":[9`, certificate.ErrEvidence},
		{certificate.Projection, `"g":[`, `"g":[-9`, certificate.ErrFormat}, // -9-1 is no number
		{certificate.Projection, `"C":[[0,1,2.5]`, `"C":[[0,1,2.25]`, certificate.ErrCost},

		{certificate.Transport, `"source":{"index":[0,1]`, `"source":{"index":[0,2]`, certificate.ErrEvidence},
		{certificate.Transport, `"weight":[0.5,0.5]`, `"weight":[0.25,0.75]`, certificate.ErrEvidence},
		{certificate.Transport, `"weight":[0.25,0.25,0.5]`, `"weight":[0.25,0.5,0.25]`, certificate.ErrEvidence},
		{certificate.Transport, `"target":{"index":[0,1,2]`, `"target":{"index":[0,1,3]`, certificate.ErrShape},
		{certificate.Transport, `"q":[0.25,0.25,0.5]`, `"q":[0.5,0.25,0.25]`, certificate.ErrEvidence},
		{certificate.Transport, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Transport, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.Transport, `"objective":`, `"objective":1`, certificate.ErrEvidence},

		{certificate.BaseMeasure, `"eps":1.25`, `"eps":1`, certificate.ErrClaim},     // f is larger
		{certificate.BaseMeasure, `"eps":1.25`, `"eps":1.5`, certificate.ErrClaim},   // the lower bound is smaller
		{certificate.BaseMeasure, `"eps":1.25`, `"eps":-1`, certificate.ErrEvidence}, // no eps
		{certificate.BaseMeasure, `"m":[0.`, `"m":[0.1`, certificate.ErrClaim},
		{certificate.BaseMeasure, `"m":[0.`, `"m":[-0.`, certificate.ErrEvidence},
		{certificate.BaseMeasure, `"m":[0.`, `"m":[7.`, certificate.ErrEvidence},
		{certificate.BaseMeasure, `"weights":[`, `"weights":[-`, certificate.ErrEvidence},
		{certificate.BaseMeasure, `"weights":[1,`, `"weights":[9,`, certificate.ErrClaim},
		{certificate.BaseMeasure, `"thresholds":[0.`, `"thresholds":[-0.`, certificate.ErrClaim},
		{certificate.BaseMeasure, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.BaseMeasure, `"upper":"`, `"upper":"-`, certificate.ErrClaim},

		{certificate.Units, `"index":[0,2]`, `"index":[0,3]`, certificate.ErrShape},
		{certificate.Units, `"index":[0,2]`, `"index":[2,0]`, certificate.ErrShape},
		{certificate.Units, `"index":[0,2]`, `"index":[1,2]`, certificate.ErrEvidence},
		{certificate.Units, `"units":[3,1]`, `"units":[2,2]`, certificate.ErrEvidence},
		{certificate.Units, `"units":[3,1]`, `"units":[3,0]`, certificate.ErrShape},
		{certificate.Units, `"units":[3,1]`, `"units":[3]`, certificate.ErrShape},
		{certificate.Units, `"units":[3,1]`, `"units":[3,1.5]`, certificate.ErrFormat},
		{certificate.Units, `"units":[3,1]`, `"units":[9223372036854775807,1]`, certificate.ErrEvidence},
		{certificate.Units, `"lo":[1,1,1]`, `"lo":[1,2,1]`, certificate.ErrEvidence},
		{certificate.Units, `"hi":[2,2,9]`, `"hi":[3,2,9]`, certificate.ErrClaim}, // counts where g < 0
		{certificate.Units, `"hi":[2,2,9]`, `"hi":[2,2]`, certificate.ErrShape},
		{certificate.Units, `"hi":[2,2,9]`, `"hi":null`, certificate.ErrShape},
		{certificate.Units, `"q":[2,1,1]`, `"q":[1,2,1]`, certificate.ErrEvidence},
		{certificate.Units, `"plan":[[0,0,2]`, `"plan":[[0,0,3]`, certificate.ErrEvidence},
		{certificate.Units, `"plan":[[0,0,2]`, `"plan":[[0,9,2]`, certificate.ErrEvidence},
		{certificate.Units, `"f":["1/1"`, `"f":["2/1"`, certificate.ErrEvidence},
		{certificate.Units, `"f":["1/1"`, `"f":["1/2"`, certificate.ErrClaim},
		{certificate.Units, `"f":["1/1"`, `"f":["2/2"`, certificate.ErrFormat},
		{certificate.Units, `"f":["1/1"`, `"f":[null`, certificate.ErrShape},
		{certificate.Units, `"g":["-1/1"`, `"g":["0/1"`, certificate.ErrEvidence},
		{certificate.Units, `"g":["-1/1",`, `"g":[`, certificate.ErrShape},
		{certificate.Units, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Units, `"upper":"`, `"upper":"-`, certificate.ErrClaim},

		{certificate.Entropic, `"kind":"entropic"`, `"kind":"projection"`, certificate.ErrFormat},
		{certificate.Entropic, `"weight":[0.75,0.25]`, `"weight":[0.5,0.5]`, certificate.ErrEvidence},
		{certificate.Entropic, `"lo":[0.2,0.2,0]`, `"lo":[0.2,0.4,0]`, certificate.ErrEvidence},
		{certificate.Entropic, `"hi":[0.8,0.5,0]`, `"hi":[0.4,0.5,0]`, certificate.ErrEvidence},
		{certificate.Entropic, `"hi":[0.8,0.5,0]`, `"hi":[0.8,0.5]`, certificate.ErrShape},
		{certificate.Entropic, `"reg":0.25`, `"reg":0.5`, certificate.ErrEvidence},
		{certificate.Entropic, `"reg":0.25`, `"reg":0`, certificate.ErrEvidence},
		{certificate.Entropic, `"log_v":[0,`, `"log_v":[1,`, certificate.ErrEvidence},
		{certificate.Entropic, `"log_v":[0,`, `"log_v":[null,`, certificate.ErrEvidence},
		{certificate.Entropic, `"log_v":[0,`, `"log_v":[-0,`, certificate.ErrFormat},
		{certificate.Entropic, `"log_v":[0,`, `"log_v":[`, certificate.ErrShape},
		{certificate.Entropic, `"residual":`, `"residual":1e-3,"x":`, certificate.ErrFormat},
		{certificate.Entropic, `"f":[`, `"f":[2,`, certificate.ErrShape},
		{certificate.Entropic, `,-1.5]`, `,1.5]`, certificate.ErrEvidence},
		// not a grid
		{certificate.Entropic, `"flow":null`, `"flow":{"right":[0,0,0],"down":[0,0,0],"steps":1}`, certificate.ErrEvidence},
		{certificate.Entropic, `"plan":null`, `"plan":[[0,0,1]]`, certificate.ErrEvidence},
		{certificate.Entropic, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Entropic, `"upper":"`, `"upper":"-`, certificate.ErrClaim},

		{certificate.Flow, `"supply":[4,0,-4]`, `"supply":[3,0,-3]`, certificate.ErrEvidence},
		{certificate.Flow, `"supply":[4,0,-4]`, `"supply":[4,-4]`, certificate.ErrShape},
		{certificate.Flow, `[0,1,0,3,2]`, `[0,1,0,2,2]`, certificate.ErrEvidence},
		{certificate.Flow, `[0,1,0,3,2]`, `[0,1,0,4,2]`, certificate.ErrEvidence}, // a cheaper flow would fit
		{certificate.Flow, `[0,1,0,3,2]`, `[0,1,0,3,1]`, certificate.ErrClaim},
		{certificate.Flow, `[0,1,0,3,2]`, `[0,9,0,3,2]`, certificate.ErrEvidence},
		{certificate.Flow, `null,null`, `-9223372036854775807,null`, certificate.ErrFormat},
		{certificate.Flow, `null,null`, `null,9223372036854775807`, certificate.ErrFormat},
		{certificate.Flow, `"flow":[3,3,1]`, `"flow":[2,2,2]`, certificate.ErrEvidence},
		{certificate.Flow, `"flow":[3,3,1]`, `"flow":[3,3]`, certificate.ErrShape},
		{certificate.Flow, `"potentials":[0,5,4]`, `"potentials":[0,0,0]`, certificate.ErrEvidence},
		{certificate.Flow, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Flow, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.Flow, `"cost":null`, `"cost":{"kind":"ring","n":3,"p":1}`, certificate.ErrCost},

		{certificate.Sphere, `"d":3`, `"d":4`, certificate.ErrEvidence},
		{certificate.Sphere, `"d":3`, `"d":0`, certificate.ErrLimit},
		{certificate.Sphere, `"d":3`, `"d":99999999`, certificate.ErrLimit},
		{certificate.Sphere, `"p":2`, `"p":1`, certificate.ErrEvidence},
		{certificate.Sphere, `"eps":1.25`, `"eps":1.24`, certificate.ErrEvidence},
		{certificate.Sphere, `"below":"5`, `"below":"6`, certificate.ErrEvidence},
		{certificate.Sphere, `"below":"5`, `"below":"4`, certificate.ErrClaim},
		{certificate.Sphere, `"above":"5`, `"above":"4`, certificate.ErrEvidence},
		{certificate.Sphere, `"above":"5`, `"above":"6`, certificate.ErrClaim},
		// 192 bits are 58 digits
		{certificate.Sphere, `"above":"5`, `"above":"` + strings.Repeat("7", 200), certificate.ErrLimit},
		{certificate.Sphere, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Sphere, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.Sphere, `"cost":null`, `"cost":{"kind":"ring","n":3,"p":1}`, certificate.ErrCost},

		{certificate.Shuffled, `"clients":50`, `"clients":40`, certificate.ErrEvidence},
		{certificate.Shuffled, `"clients":50`, `"clients":0`, certificate.ErrEvidence},
		{certificate.Shuffled, `"clients":50`, `"clients":1000000000`, certificate.ErrEvidence},
		{certificate.Shuffled, `"blanket":"3/4"`, `"blanket":"2/3"`, certificate.ErrEvidence},
		{certificate.Shuffled, `"blanket":"3/4"`, `"blanket":"1/4"`, certificate.ErrEvidence},
		{certificate.Shuffled, `"blanket":"3/4"`, `"blanket":"6/8"`, certificate.ErrFormat},
		{certificate.Shuffled, `"eps":1.25`, `"eps":1.5`, certificate.ErrEvidence},
		{certificate.Shuffled, `"delta":0.001`, `"delta":0.0005`, certificate.ErrEvidence},
		{certificate.Shuffled, `"central":0.`, `"central":0.0`, certificate.ErrEvidence},
		{certificate.Shuffled, `"central":0.`, `"central":-0.`, certificate.ErrEvidence},
		{certificate.Shuffled, `"central":0.`, `"central":1.`, certificate.ErrClaim},
		{certificate.Shuffled, `"edges":[`, `"edges":[50,`, certificate.ErrEvidence},
		{certificate.Shuffled, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.Shuffled, `"lower":"0/1"`, `"lower":"1/1"`, certificate.ErrClaim},

		{certificate.Minimax, `"clients":30`, `"clients":31`, certificate.ErrClaim},
		{certificate.Minimax, `"clients":30`, `"clients":-1`, certificate.ErrEvidence},
		{certificate.Minimax, `"eps":1.25`, `"eps":1.26`, certificate.ErrClaim},
		{certificate.Minimax, `"inputs":3`, `"inputs":2`, certificate.ErrShape},
		{certificate.Minimax, `"amplitude":`, `"amplitude":-`, certificate.ErrEvidence},
		{certificate.Minimax, `"root":0.`, `"root":0.0`, certificate.ErrEvidence},
		{certificate.Minimax, `"exponent":0.`, `"exponent":1.`, certificate.ErrEvidence},
		{certificate.Minimax, `"radius":[`, `"radius":[2,`, certificate.ErrEvidence},
		{certificate.Minimax, `"poles":[0,2]`, `"poles":[0,0]`, certificate.ErrEvidence},
		{certificate.Minimax, `"poles":[0,2]`, `"poles":[0,1]`, certificate.ErrEvidence},
		{certificate.Minimax, `"centre":1`, `"centre":0`, certificate.ErrClaim},
		{certificate.Minimax, `"centre":1`, `"centre":3`, certificate.ErrEvidence},
		{certificate.Minimax, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.Minimax, `"upper":"`, `"upper":"-`, certificate.ErrClaim},

		{certificate.KPM, `"eps":1.25`, `"eps":1.2`, certificate.ErrEvidence},
		{certificate.KPM, `"weight":[0.7,0.3]`, `"weight":[0.6,0.4]`, certificate.ErrEvidence},
		{certificate.KPM, `"index":[0,1]`, `"index":[0,2]`, certificate.ErrEvidence},
		{certificate.KPM, `"inputs":3`, `"inputs":2`, certificate.ErrShape},
		{certificate.KPM, `"q":[0.`, `"q":[1.`, certificate.ErrEvidence},
		{certificate.KPM, `"r":1.`, `"r":2.`, certificate.ErrEvidence},
		{certificate.KPM, `"lower":"`, `"lower":"9`, certificate.ErrClaim},
		{certificate.KPM, `"upper":"`, `"upper":"-`, certificate.ErrClaim},
		{certificate.KPM, `"cost":null`, `"cost":{"kind":"ring","n":3,"p":1}`, certificate.ErrCost},
	} {
		genuine := text(t, certs[test.kind])
		if !strings.Contains(string(genuine), test.old) && test.kind == certificate.BaseMeasure {
			t.Fatalf("%s: %q is not in %s", test.kind, test.old, genuine)
		}
		forged := rehash(t, replace(t, genuine, test.old, test.new))
		forged = lowest(t, forged)
		if err := check(forged); !errors.Is(err, test.want) {
			t.Errorf("%s, %s for %s: %v, want %v", test.kind, test.new, test.old, err, test.want)
		}
	}
	// The hashes themselves.
	for kind, c := range certs {
		genuine := text(t, c)
		m := problemPattern.FindSubmatchIndex(genuine)
		forged := slices.Clone(genuine)
		forged[m[4]] ^= 1 // a hexadecimal digit stays one, but for 9 and a-f: try those below
		if strings.IndexByte("0123456789abcdef", forged[m[4]]) < 0 {
			forged[m[4]] = '0'
		}
		if err := check(forged); !errors.Is(err, certificate.ErrHash) {
			t.Errorf("%s with another problem hash: %v", kind, err)
		}
		if _, ok := c.CostHash(); !ok {
			continue
		}
		at := bytes.Index(genuine, []byte(`"cost_sha256":"`)) + len(`"cost_sha256":"`)
		forged = slices.Clone(genuine)
		forged[at] = map[bool]byte{true: '1', false: '0'}[forged[at] == '0']
		if err := check(rehash(t, forged)); !errors.Is(err, certificate.ErrCost) {
			t.Errorf("%s with another cost hash: %v", kind, err)
		}
	}
}

// lowest writes the fractions of a forged text in lowest terms, as a forger who knows the format would.
func lowest(t *testing.T, b []byte) []byte {
	t.Helper()
	for _, name := range []string{"lower", "upper"} {
		start := bytes.Index(b, []byte(`,"`+name+`":"`)) + len(`,"`+name+`":"`)
		end := start + bytes.IndexByte(b[start:], '"')
		r := numtest.ParseRat(t, string(b[start:end]))
		b = slices.Concat(b[:start], []byte(r.String()), b[end:])
	}
	return b
}

// TestEveryByte changes every byte of every kind to several others. What is still accepted must be a true
// statement: its problem, solved anew, has its optimum between the stated bounds.
func TestEveryByte(t *testing.T) {
	all := []byte("019-.,e]")
	for kind, c := range sample(t) {
		genuine := text(t, c)
		accepted := 0
		for i := range genuine {
			replacements := all
			if !numtest.Full() {
				replacements = []byte{"0-"[i/2%2]}[:1-i%2] // every other byte
			}
			for _, r := range replacements {
				if genuine[i] == r {
					continue
				}
				mutant := slices.Clone(genuine)
				mutant[i] = r
				got, err := certificate.Decode(mutant)
				if err != nil {
					continue
				}
				if _, err := certificate.Verify(context.Background(), got); err != nil {
					continue
				}
				// Evidence with slack (a smaller f_i, say) and weaker claims are all that may pass: the problem
				// is protected by its hash.
				accepted++
				if got.ProblemHash() != c.ProblemHash() {
					t.Errorf("%s: byte %d as %q: another problem was accepted", kind, i, r)
				}
				if s, p := got.Stated(), c.Stated(); s.Lower.Cmp(p.Upper) > 0 || s.Upper.Cmp(p.Lower) < 0 {
					t.Errorf("%s: byte %d as %q: false bounds were accepted", kind, i, r)
				}
			}
		}
		if accepted > len(genuine) {
			t.Errorf("%s: %d changes of %d bytes were accepted", kind, accepted, len(genuine))
		}
	}
}

// TestDecodeStrict: texts that mean the same, or nothing, are refused.
func TestDecodeStrict(t *testing.T) {
	genuine := string(text(t, sample(t)[certificate.Projection]))
	swap := func(old, new string) string { return string(replace(t, []byte(genuine), old, new)) }
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"empty":                {"", certificate.ErrFormat},
		"null":                 {"null", certificate.ErrFormat},
		"array":                {"[]", certificate.ErrFormat},
		"cut":                  {genuine[:len(genuine)-1], certificate.ErrFormat},
		"line end":             {genuine + "\n", certificate.ErrFormat},
		"twice":                {genuine + genuine, certificate.ErrFormat},
		"space":                {swap(`"kind":"projection"`, `"kind": "projection"`), certificate.ErrFormat},
		"unknown member":       {swap(`{"format"`, `{"x":1,"format"`), certificate.ErrFormat},
		"unknown in problem":   {swap(`"problem":{`, `"problem":{"x":1,`), certificate.ErrFormat},
		"unknown in evidence":  {swap(`"evidence":{`, `"evidence":{"x":1,`), certificate.ErrFormat},
		"unknown in cost":      {swap(`"cost":{`, `"cost":{"x":1,`), certificate.ErrCost},
		"duplicate":            {swap(`{"format"`, `{"kind":"projection","format"`), certificate.ErrFormat},
		"duplicate in problem": {swap(`"problem":{`, `"problem":{"inputs":3,`), certificate.ErrFormat},
		"other case":           {swap(`"kind":"projection"`, `"Kind":"projection"`), certificate.ErrFormat},
		"missing":              {swap(`"kind":"projection",`, ``), certificate.ErrKind},
		"missing evidence":     {genuine[:strings.Index(genuine, `,"evidence"`)] + "}", certificate.ErrFormat},
		"null bound":           {swap(`"lower":"`, `"lower":null,"x":"`), certificate.ErrFormat},
		"null list":            {swap(`"lo":[0.2,0.2,0.2]`, `"lo":null`), certificate.ErrShape},
		"null entry":           {swap(`"lo":[0.2,`, `"lo":[null,`), certificate.ErrFormat},
		"NaN":                  {swap(`"lo":[0.2,`, `"lo":[NaN,`), certificate.ErrFormat},
		"quoted NaN":           {swap(`"lo":[0.2,`, `"lo":["NaN",`), certificate.ErrFormat},
		"beyond float64":       {swap(`"lo":[0.2,`, `"lo":[1e999,`), certificate.ErrFormat},
		"other spelling":       {swap(`"lo":[0.2,`, `"lo":[0.20,`), certificate.ErrFormat},
		"exponent":             {swap(`"lo":[0.2,`, `"lo":[2e-1,`), certificate.ErrFormat},
		"minus zero":           {swap(`"lo":[0.2,`, `"lo":[-0,`), certificate.ErrFormat},
		"more digits":          {swap(`"lo":[0.2,`, `"lo":[0.2000000000000000001,`), certificate.ErrFormat},
		"capital hash": {strings.Replace(genuine, `"problem_sha256":"`, `"problem_sha256":"A`, 1),
			certificate.ErrFormat},
		"not a fraction":   {swap(`"lower":"`, `"lower":"x`), certificate.ErrFormat},
		"whole number":     {swap(`"lower":"`, `"lower":"3","lower":"`), certificate.ErrFormat},
		"leading zero":     {swap(`"lower":"`, `"lower":"0`), certificate.ErrFormat},
		"hexadecimal":      {swap(`"lower":"`, `"lower":"0x1p9/1","lower":"`), certificate.ErrFormat},
		"huge exponent":    {swap(`"lower":"`, `"lower":"1e999999999/1","lower":"`), certificate.ErrFormat},
		"huge fraction":    {swap(`"lower":"`, `"lower":"`+strings.Repeat("9", 1<<14)), certificate.ErrFormat},
		"pair in the plan": {swap(`"plan":[[0,0,0.5]`, `"plan":[[0,0]`), certificate.ErrFormat},
		"four in the plan": {swap(`"plan":[[0,0,0.5]`, `"plan":[[0,0,0.5,1]`), certificate.ErrFormat},
		"plan of numbers":  {swap(`"plan":[[0,0,0.5]`, `"plan":[0`), certificate.ErrFormat},
		"plan is null":     {swap(`"plan":[`, `"plan":null,"x":[`), certificate.ErrFormat},
		"index too large":  {swap(`"plan":[[0,0,0.5]`, `"plan":[[99999999999999999999,0,0.5]`), certificate.ErrFormat},
		"too many rows":    {swap(`"inputs":3`, `"inputs":999999999`), certificate.ErrLimit},
		"no rows":          {swap(`"inputs":3`, `"inputs":0`), certificate.ErrShape},
		"rows beyond int":  {swap(`"inputs":3`, `"inputs":9223372036854775808`), certificate.ErrFormat},
		"cost of another size": {genuine[:strings.LastIndex(genuine, `"cost":`)] + `"cost":{"kind":"ring","n":4,"p":1}}`,
			certificate.ErrCost},
		"cost in other words": {genuine[:strings.LastIndex(genuine, `"cost":`)] + `"cost":{"n":3,"kind":"ring","p":1}}`,
			certificate.ErrCost},
		"cost that is no cost": {genuine[:strings.LastIndex(genuine, `"cost":`)] + `"cost":{"kind":"explicit","C":[[-1]]}}`,
			certificate.ErrCost},
		"deep":     {strings.Repeat("[", 1<<16), certificate.ErrFormat},
		"too long": {strings.Repeat(" ", certificate.MaxBytes+1), certificate.ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := certificate.Decode([]byte(test.text))
			if !errors.Is(err, test.want) {
				t.Errorf("%s: error %v, want %v", name, err, test.want)
			}
			if c != (certificate.Certificate{}) {
				t.Errorf("%s: an error and a certificate", name)
			}
			var f *certificate.FormatError
			if errors.As(err, &f) && (f.Offset < 0 || f.Offset > len(test.text)) {
				t.Errorf("%s: offset %d of %d bytes", name, f.Offset, len(test.text))
			}
		})
	}
	for kind, c := range sample(t) {
		stranger := replace(t, text(t, c), `"evidence":{`, `"evidence":{"x":1,`)
		if _, err := certificate.Decode(stranger); !errors.Is(err, certificate.ErrFormat) ||
			!strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%v: an unknown member of the evidence: %v", kind, err)
		}
	}
}

// TestZero: the zero Certificate is refused, and nothing panics.
func TestZero(t *testing.T) {
	var c certificate.Certificate
	if _, err := certificate.Encode(c); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("Encode: %v", err)
	}
	if _, err := certificate.Verify(context.Background(), c); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("Verify: %v", err)
	}
	if _, err := c.WithCost(nil); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("WithCost: %v", err)
	}
	if _, err := c.WithoutCost(); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("WithoutCost: %v", err)
	}
	if err := certificate.Write(io.Discard, c); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("Write: %v", err)
	}
	k, kv := c.Dims()
	_, hasCost := c.CostHash()
	_, hasEps := c.Epsilon()
	if c.Kind() != "" || c.Private() || c.NeedsCost() || k != 0 || kv != 0 || hasCost || hasEps || c.Meaning() != "" ||
		c.Stated() != (certificate.Bounds{}) || c.ProblemHash() != [32]byte{} || c.String() != "certificate(zero)" {
		t.Error("accessors of the zero Certificate")
	}
}

// TestPrivateIsRedacted: a certificate about somebody's distribution shows none of it, however it is printed.
func TestPrivateIsRedacted(t *testing.T) {
	// Without the time of day, whose digits hold any short number now and then.
	untimed := &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	for kind, c := range sample(t) {
		public := []certificate.Kind{certificate.BaseMeasure, certificate.Sphere, certificate.Shuffled, certificate.Minimax}
		if want := !slices.Contains(public, kind); c.Private() != want {
			t.Errorf("%s: Private = %v", kind, c.Private())
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, untimed)).Info("x", "c", c)
		slog.New(slog.NewTextHandler(&log, untimed)).Info("x", "c", c)
		asJSON, err := json.Marshal(map[string]any{"c": c, "p": &c})
		if err != nil {
			t.Fatal(err)
		}
		shown := fmt.Sprintf("%v %+v %#v %s %d %x %q", c, c, c, c, c, &c, struct{ C certificate.Certificate }{c}) +
			c.GoString() + log.String() + string(asJSON)
		hash := fmt.Sprintf("%x", c.ProblemHash())[:8]
		for _, secret := range []string{"0.7", "0.25", "weight", hash} {
			if c.Private() && strings.Contains(shown, secret) {
				t.Errorf("%s: %q shows in %s", kind, secret, shown)
			}
		}
		if !c.Private() && (!strings.Contains(shown, hash) || !strings.Contains(string(asJSON), `"format"`)) {
			t.Errorf("%s is public and does not show in %s", kind, shown)
		}
	}
}

func TestLines(t *testing.T) {
	certs := sample(t)
	var list []certificate.Certificate
	for _, k := range certificate.Kinds() {
		list = append(list, certs[k])
	}
	var file bytes.Buffer
	if err := certificate.Write(&file, list...); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	n := 0
	count := func(line int, c certificate.Certificate) error {
		n++
		if line != n || c.Kind() != list[n-1].Kind() {
			t.Errorf("line %d is number %d, of kind %s", line, n, c.Kind())
		}
		_, err := certificate.Verify(context.Background(), c)
		return err
	}
	for _, s := range []string{good, strings.TrimSuffix(good, "\n")} {
		if n = 0; certificate.Read(strings.NewReader(s), count) != nil || n != len(list) {
			t.Errorf("%d certificates read of %d", n, len(list))
		}
	}
	if err := certificate.Read(strings.NewReader(""), count); err != nil {
		t.Errorf("empty file: %v", err)
	}
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		in   io.Reader
		line int
		want error
	}{
		"empty line":   {strings.NewReader(good + "\n" + good), len(list) + 1, certificate.ErrFormat},
		"carriage":     {strings.NewReader(strings.ReplaceAll(good, "\n", "\r\n")), 1, certificate.ErrFormat},
		"garbage":      {strings.NewReader(good + "garbage"), len(list) + 1, certificate.ErrFormat},
		"reader fails": {io.MultiReader(strings.NewReader(good), failing{broken}), len(list) + 1, broken},
		"endless line": {io.MultiReader(strings.NewReader(good), zeros{}), len(list) + 1, certificate.ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			err := certificate.Read(test.in, func(int, certificate.Certificate) error { return nil })
			var at *certificate.LineError
			if !errors.Is(err, test.want) || !errors.As(err, &at) || at.Line != test.line {
				t.Errorf("%s: %v, want %v on line %d", name, err, test.want, test.line)
			}
		})
	}
	if err := certificate.Read(strings.NewReader(good),
		func(int, certificate.Certificate) error { return broken }); err != broken {
		t.Errorf("the callback's error comes back as %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestWeakerClaimHolds: a claim that is weaker than the proof is true, and accepted.
func TestWeakerClaimHolds(t *testing.T) {
	for kind, c := range sample(t) {
		b, s := text(t, c), c.Stated()
		lower := new(big.Rat).Sub(s.Lower, big.NewRat(1, 3))
		upper := new(big.Rat).Add(s.Upper, big.NewRat(1, 3))
		weak := replace(t, b, `"lower":"`+s.Lower.String()+`"`, `"lower":"`+lower.String()+`"`)
		weak = replace(t, weak, `"upper":"`+s.Upper.String()+`"`, `"upper":"`+upper.String()+`"`)
		if err := check(weak); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		// And by a hair too strong.
		hair := big.NewRat(1, math.MaxInt64)
		strong := replace(t, b, `"lower":"`+s.Lower.String()+`"`, `"lower":"`+lower.Add(s.Lower, hair).String()+`"`)
		if err := check(strong); !errors.Is(err, certificate.ErrClaim) {
			t.Errorf("%s with a lower bound 2^-63 too high: %v", kind, err)
		}
		strong = replace(t, b, `"upper":"`+s.Upper.String()+`"`, `"upper":"`+upper.Sub(s.Upper, hair).String()+`"`)
		if err := check(strong); !errors.Is(err, certificate.ErrClaim) {
			t.Errorf("%s with an upper bound 2^-63 too low: %v", kind, err)
		}
	}
}
