package wpm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// points returns k points of the unit square and n outputs (the same points if n = 0), p = 1.
func points(t *testing.T, seed uint64, k, n int) cost.Matrix {
	t.Helper()
	rng := numtest.NewSplitMix64(seed)
	draw := func(n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			for range 2 { // with nine digits, so that a design publishes them as they are
				x[i] = append(x[i], math.Round(rng.Float64()*1e9)/1e9)
			}
		}
		return x
	}
	x := draw(k)
	var v [][]float64
	if n > 0 {
		v = draw(n)
	}
	c, err := cost.NewPoints(x, v, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func designOf(t *testing.T, c cost.Matrix, eps string) *wpm.Design {
	t.Helper()
	d, err := wpm.NewDesign(context.Background(), c, given.Epsilon(t, eps), wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func uniform(t *testing.T, c cost.Matrix, eps string) (*wpm.Mechanism, basemeasure.Result) {
	t.Helper()
	d := designOf(t, c, eps)
	return d.Mechanism(), d.Base()
}

// mus returns private distributions that lean to edges: point masses, pairs, the uniform one, skewed ones.
func mus(seed uint64, k int) [][]float64 {
	rng := numtest.NewSplitMix64(seed)
	var out [][]float64
	for i := range k {
		mu := make([]float64, k)
		mu[i] = 1
		out = append(out, mu)
	}
	flat := make([]float64, k)
	for i := range flat {
		flat[i] = 1 / float64(k)
	}
	out = append(out, flat)
	for range 10 {
		mu, sum := make([]float64, k), 0.0
		for i := range mu {
			mu[i] = math.Pow(rng.Float64(), 8)
			sum += mu[i]
		}
		for i := range mu {
			mu[i] /= sum
		}
		out = append(out, mu)
	}
	return out
}

// TestProjectionsAreLDP is the paper's proposition on projections, in integers: the released weights of any
// two distributions are within e^eps of each other in every column.
func TestProjectionsAreLDP(t *testing.T) {
	for _, eps := range []string{"1e-6", "1/3", "1", "4", "12"} {
		for _, kv := range []int{0, 1, 5} {
			c := points(t, 7, 12, kv)
			m, _ := uniform(t, c, eps)
			var rows []ldp.Weights
			for _, mu := range mus(11, 12) {
				pr, err := m.Project(context.Background(), mu)
				if err != nil {
					t.Fatalf("eps %s, kv %d: %v", eps, kv, err)
				}
				rows = append(rows, pr.Weights())
			}
			ch, err := m.Channel(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for i := range 12 { // both client modes live in one box
				rows = append(rows, ch.Row(i))
			}
			if err := ldp.CheckRows(m.Epsilon(), rows); err != nil {
				t.Errorf("eps %s, kv %d: %v", eps, kv, err)
			}
		}
	}
}

// A row of the channel costs phi_i of the integer box; the float box differs from it by an ulp, the sum of
// kv terms by kv ulps, all in units of max C <= sqrt 2.
const channelTol = 1e-14

func TestChannelIsTheDiracProjection(t *testing.T) {
	for _, eps := range []string{"0.1", "2", "8"} {
		c := points(t, 3, 15, 9)
		m, base := uniform(t, c, eps)
		ch, err := m.Channel(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := m.Polytope().Bounds()
		phi, tau := make([]float64, 15), make([]float64, 15)
		if err := table.All(lo, hi, phi, tau); err != nil {
			t.Fatal(err)
		}
		for i := range phi {
			if d := math.Abs(ch.Cost(i) - phi[i]); !(d <= channelTol) {
				t.Errorf("eps %s: row %d costs %v, phi = %v", eps, i, ch.Cost(i), phi[i])
			}
		}
		worst, _ := ch.Worst()
		if d := math.Abs(worst - base.F); !(d <= channelTol) {
			t.Errorf("eps %s: worst row %v, base measure %v", eps, worst, base.F)
		}
	}
}

// TestMixtureBound is the paper's reduction to point masses: the mixture lies in the box and costs at most
// sum mu_i phi_i, and the projection costs at most as much as the mixture.
func TestMixtureBound(t *testing.T) {
	ctx := context.Background()
	c := points(t, 5, 10, 0)
	m, _ := uniform(t, c, "2")
	ch, err := m.Channel(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, mu := range mus(13, 10) {
		q, err := ch.Mix(mu)
		if err != nil {
			t.Fatal(err)
		}
		w, err := mincostflow.Transport(ctx, c, mu, q)
		if err != nil {
			t.Fatal(err)
		}
		bound := 0.0
		for i, x := range mu {
			bound += x * ch.Cost(i)
		}
		pr, err := m.Project(ctx, mu)
		if err != nil {
			t.Fatal(err)
		}
		if !(w.Lower <= bound+channelTol) {
			t.Errorf("W(mixture) = %v > sum mu phi = %v", w.Lower, bound)
		}
		if !(pr.Lower() <= w.Upper) {
			t.Errorf("projection %v > mixture %v", pr.Lower(), w.Upper)
		}
	}
}

// TestSparseIsDense holds that the sparse form of a distribution is the same distribution.
func TestSparseIsDense(t *testing.T) {
	m, _ := uniform(t, points(t, 5, 10, 0), "1")
	dense, err := m.Project(context.Background(), []float64{0, 0, 0.25, 0, 0, 0, 0, 0.75, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := m.ProjectSparse(context.Background(), []int{2, 7}, []float64{0.25, 0.75})
	if err != nil {
		t.Fatal(err)
	}
	for j, x := range dense.Q() {
		if y := sparse.Q()[j]; x != y {
			t.Errorf("q[%d] = %v dense, %v sparse", j, x, y)
		}
	}
}

func TestPublishAndLoad(t *testing.T) {
	ctx := context.Background()
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		design := designOf(t, points(t, 9, 8, 5), "3/2")
		m := design.Mechanism()
		p, err := design.Publish(policy.Config{
			Mode:       mode,
			Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
		})
		if err != nil {
			t.Fatal(err)
		}
		enc, err := policy.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := policy.Decode(enc)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := wpm.Load(context.Background(), back, wpm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mu := []float64{0, 0.5, 0, 0, 0.5, 0, 0, 0}
		a, err := m.Project(ctx, mu)
		if err != nil {
			t.Fatal(err)
		}
		b, err := loaded.Project(ctx, mu)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 5 {
			if a.Weights().At(j) != b.Weights().At(j) {
				t.Errorf("%s: weight %d: %d here, %d after publishing", mode, j, a.Weights().At(j), b.Weights().At(j))
			}
		}
		ch, err := m.Channel(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			row, err := back.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			for j := range 5 {
				if row.At(j) != ch.Row(i).At(j) {
					t.Errorf("%s: row %d, column %d: %d published, %d computed", mode, i, j, row.At(j), ch.Row(i).At(j))
				}
			}
		}
	}
}

// TestCheckCost holds that CheckCost refuses what Load refuses, but for a mixture policy without a cost, which needs
// none.
func TestCheckCost(t *testing.T) {
	box, err := ldp.NewPolytope(given.Epsilon(t, "1"), []float64{0.5, 0.25, 0.25}, 8)
	if err != nil {
		t.Fatal(err)
	}
	row, err := policy.NewRow(box, box.Round(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		cost string
		want error
	}{
		{`{"kind":"explicit","C":[[0,1,2],[1,0,2]]}`, nil},
		{`{"kind":"explicit","C":[[0,1],[1,0],[2,2]]}`, wpmerr.ErrShape}, // 3 x 2
		{`{"kind":"explicit","C":[[0,1,2],[1,0,2],[2,2,0]]}`, wpmerr.ErrShape},
		{`{"kind":"explicit","C":[[0,1],[1,0]]}`, wpmerr.ErrShape},
		{`{"kind":"ring","n":2000000000}`, wpmerr.ErrTooLarge},
		{`{"kind":"grid","rows":100000,"cols":100000}`, wpmerr.ErrTooLarge},
		{`{"kind":"ring","n":3,"n":3}`, cost.ErrSpec},
		{`{}`, cost.ErrSpec},
		{``, wpmerr.ErrShape},
	} {
		for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
			p, err := policy.New(policy.Config{
				Polytope: box, Mode: mode, Inputs: 2, Rows: []policy.Row{row, row}, Cost: []byte(test.cost),
				Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated},
			})
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			if test.cost == "" && mode == policy.Mixture {
				want = nil
			}
			if err := wpm.CheckCost(p); !errors.Is(err, want) {
				t.Errorf("%s, %s: CheckCost = %v, want %v", mode, test.cost, err, want)
			}
			if _, err := wpm.Load(context.Background(), p, wpm.Options{}); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: Load = %v, want %v", mode, test.cost, err, test.want)
			}
		}
	}
}

// TestBoxCannotBeReplaced is the mechanism's side of policy's test of the same name.
func TestBoxCannotBeReplaced(t *testing.T) {
	m, _ := uniform(t, points(t, 5, 10, 0), "1/10")
	loose, _ := uniform(t, points(t, 5, 10, 0), "20")
	*m.Polytope() = *loose.Polytope()
	if m.Epsilon().String() != "0.1" {
		t.Error("replaced through the accessor")
	}
	box := m.Polytope()
	own, err := wpm.FromPolytope(context.Background(), m.Cost(), box, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	*box = *loose.Polytope()
	if own.Epsilon().String() != "0.1" {
		t.Error("replaced through the argument")
	}
}

func TestProjectionPrintsNothing(t *testing.T) {
	m, _ := uniform(t, points(t, 5, 10, 0), "1")
	pr, err := m.Project(context.Background(), mus(1, 10)[12])
	if err != nil {
		t.Fatal(err)
	}
	const want = "wpm.Projection(redacted)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%f"} {
		if got := fmt.Sprintf(verb, pr); got != want {
			t.Errorf("%s prints %s", verb, got)
		}
		if got := fmt.Sprintf(verb, &pr); got != want {
			t.Errorf("%s of the pointer prints %s", verb, got)
		}
	}
	type holder struct{ hidden wpm.Projection }
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		if got := fmt.Sprintf(verb, holder{pr}); strings.Contains(got, "Plan") || strings.Contains(got, "0.") {
			t.Errorf("%s of an unexported field prints %s", verb, got)
		}
	}
	b, err := json.Marshal(struct{ P wpm.Projection }{pr})
	if err != nil || string(b) != `{"P":"`+want+`"}` {
		t.Errorf("json: %s, %v", b, err)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	ring, err := cost.NewRing(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	one := given.Epsilon(t, "1")
	flat := []float64{0.25, 0.25, 0.25, 0.25}
	bad := &cost.Dense{K: 1, Kv: 1, Data: []float64{math.NaN()}}
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"nil cost", second(wpm.New(context.Background(), nil, flat, one, wpm.Options{})), wpmerr.ErrShape},
		{"NaN cost", second(wpm.New(context.Background(), bad, []float64{1}, one, wpm.Options{})), wpmerr.ErrNotFinite},
		{"short m", second(wpm.New(context.Background(), ring, flat[:3], one, wpm.Options{})), wpmerr.ErrShape},
		{"negative m", second(wpm.New(context.Background(), ring, []float64{1, -1, 0.5, 0.5}, one, wpm.Options{})), ldp.ErrBase},
		{"mass too large", second(wpm.New(context.Background(), ring, []float64{1, 1, 1, 1}, one, wpm.Options{})), ldp.ErrInfeasible},
		{"zero epsilon", second(wpm.New(context.Background(), ring, flat, ldp.Epsilon{}, wpm.Options{})), ldp.ErrEpsilon},
		{"bits", second(wpm.New(context.Background(), ring, flat, one, wpm.Options{Bits: 63})), ldp.ErrBits},
		{"solver", second(wpm.New(context.Background(), ring, flat, one, wpm.Options{Solver: 99})), wpm.ErrOption},
		{"nil box", second(wpm.FromPolytope(context.Background(), ring, nil, wpm.Options{})), wpmerr.ErrShape},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !errors.Is(test.err, test.want) {
				t.Errorf("%s: error %v, want %v", test.name, test.err, test.want)
			}
		})
	}
	m, err := wpm.New(context.Background(), ring, flat, one, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		mu   []float64
		want error
	}{
		{"short", []float64{1}, wpmerr.ErrShape},
		{"nil", nil, wpmerr.ErrShape},
		{"NaN", []float64{math.NaN(), 0, 0, 1}, wpmerr.ErrNotFinite},
		{"negative", []float64{-1, 2, 0, 0}, wpmerr.ErrNegative},
		{"mass", []float64{0, 0, 0, 0}, wpmerr.ErrMass},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := m.Project(ctx, test.mu); !errors.Is(err, test.want) {
				t.Errorf("%s: error %v, want %v", test.name, err, test.want)
			}
		})
	}
	if _, err := m.ProjectSparse(ctx, nil, nil); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("empty sparse mu: %v", err)
	}
	if _, err := m.ProjectSparse(ctx, []int{1}, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("sparse lengths: %v", err)
	}
	if msg := second(wpm.New(context.Background(), ring, flat[:3], one, wpm.Options{})).Error(); !strings.Contains(msg, "4") ||
		!strings.Contains(msg, "3") {
		t.Errorf("a shape error should name both sizes: %s", msg)
	}
}

func second[T any](_ T, err error) error { return err }

// TestCancelled holds that a stopped projection still lies in the box, and that the private path takes it.
func TestCancelled(t *testing.T) {
	m, _ := uniform(t, points(t, 5, 40, 0), "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	mu := mus(3, 40)[45]
	pr, err := m.Project(ctx, mu)
	if !errors.Is(err, wpmerr.ErrNotConverged) {
		t.Fatalf("error %v, want ErrNotConverged", err)
	}
	if !(pr.Lower() <= pr.Upper()) || len(pr.Q()) != 40 {
		t.Errorf("bounds [%v, %v], %d entries", pr.Lower(), pr.Upper(), len(pr.Q()))
	}
	if q, err := m.Projector()(ctx, mu); err != nil || len(q) != 40 {
		t.Errorf("projector: %d entries, %v", len(q), err)
	}
}

// TestRoundingCost holds the bound for many places, where it takes linear time, against the range of a part of them.
func TestRoundingCost(t *testing.T) {
	const k = 200_000
	rng := numtest.NewSplitMix64(6)
	many := numtest.Cloud(rng, k, 2, 0, 1)
	few := slices.Concat(many[:2000], [][]float64{{-0.5, -0.5}, {0.5, 0.5}})
	bound := func(x [][]float64, bits int) float64 {
		c, err := cost.NewPoints(x, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := slices.Repeat([]float64{1 / float64(len(x))}, len(x))
		mechanism, err := wpm.New(context.Background(), c, m, given.Epsilon(t, "1"), wpm.Options{Bits: bits})
		if err != nil {
			t.Fatal(err)
		}
		cost, err := mechanism.RoundingCost(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return cost
	}
	if got, want := bound(few, 20), math.Sqrt2*(float64(len(few))/4+1)/(1<<20); !(math.Abs(got-want) <= 1e-15*want) {
		t.Errorf("%d places: %v, want %v", len(few), got, want)
	}
	if got, want := bound(many, 30), math.Sqrt2*(k/4.0+1)/(1<<30); !(got <= want && got >= 0.99*want) {
		t.Errorf("%d places: %v, want %v at most", k, got, want)
	}
}
