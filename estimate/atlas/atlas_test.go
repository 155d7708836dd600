package atlas

import (
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// published is the policy of the examples: 4 x 4 cells.
func published(t testing.TB) policy.Policy {
	t.Helper()
	text, err := os.ReadFile("testdata/policy.json")
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// released are its counts.
func released() []uint64 { return []uint64{16, 16, 10, 5, 4, 110, 6, 2, 2, 4, 56, 3, 4, 6, 4, 2} }

// TestErrors: whatever is wrong has an error of its own type, and no map.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	p := published(t)
	w, err := Of(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	bare := World{Channel: w.Channel}
	counts := released()
	_, projection := designed(t, `{"kind":"ring","n":12}`, policy.Projection)
	ring, err := cost.NewRing(16, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		want error
		do   func() error
	}{
		"no policy":           {ErrRows, func() error { _, err := Of(ctx, policy.Policy{}); return err }},
		"no policy, assumed":  {ErrRows, func() error { _, err := Assume(ctx, policy.Policy{}, nil); return err }},
		"projection":          {ErrProjection, func() error { _, err := Of(ctx, projection); return err }},
		"no cost":             {wpmerr.ErrShape, func() error { _, err := OfRows(ctx, nil, nil); return err }},
		"rows that are none":  {ErrRows, func() error { _, err := OfRows(ctx, ring, func(int) (w ldp.Weights) { return }); return err }},
		"too many":            {ErrTooLarge, func() error { return Fits(1<<14, 1<<14) }},
		"too many, overflow":  {ErrTooLarge, func() error { return Fits(math.MaxInt, math.MaxInt) }},
		"no outputs":          {ErrRows, func() error { return Fits(3, 0) }},
		"no world":            {estimate.ErrChannel, func() error { _, err := World{}.Map(ctx, counts, Settings{}); return err }},
		"regions of no world": {estimate.ErrChannel, func() error { _, err := World{}.Regions(ctx, counts, nil, Settings{}); return err }},
		"estimator":           {ErrEstimator, func() error { _, err := w.Map(ctx, counts, Settings{Estimator: "MAP"}); return err }},
		"no distances":        {estimate.ErrNoGeometry, func() error { _, err := bare.Map(ctx, counts, Settings{Estimator: ByMap}); return err }},
		"raw elsewhere":       {ErrOutputs, func() error { _, err := bare.Map(ctx, counts, Settings{Estimator: ByRaw}); return err }},
		"too few counts":      {wpmerr.ErrShape, func() error { _, err := w.Map(ctx, counts[1:], Settings{}); return err }},
		"no counts":           {wpmerr.ErrShape, func() error { _, err := w.Map(ctx, nil, Settings{}); return err }},
		"no reports":          {estimate.ErrCounts, func() error { _, err := w.Map(ctx, make([]uint64, 16), Settings{}); return err }},
		"2^64 reports": {estimate.ErrCounts, func() error {
			_, err := w.Map(ctx, slices.Repeat([]uint64{math.MaxUint64}, 16), Settings{})
			return err
		}},
		"prior": {wpmerr.ErrShape, func() error { _, err := w.Map(ctx, counts, Settings{Prior: []float64{1}}); return err }},
		"prior of regions": {wpmerr.ErrShape, func() error {
			_, err := w.Regions(ctx, counts, nil, Settings{Prior: []float64{1}})
			return err
		}},
		"region": {wpmerr.ErrNotFinite, func() error {
			_, err := w.Regions(ctx, counts, [][]float64{slices.Repeat([]float64{math.NaN()}, 16)}, Settings{})
			return err
		}},
		"level": {wpmerr.ErrSettings, func() error { _, err := w.Regions(ctx, counts, nil, Settings{Level: 1}); return err }},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.do(); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	// With ErrOutputs there is what there can be.
	m, _ := bare.Map(ctx, counts, Settings{Estimator: ByRaw})
	if len(m.Guess) != 16 || len(m.Raw) != 16 || m.Shares != nil {
		t.Errorf("%+v", m)
	}
	// A policy of projection mode without rows asks for them, and the world says that it is biased.
	bad := errors.New("bad")
	rowless, err := policy.New(policy.Config{Polytope: p.Polytope(), Mode: policy.Projection, WorkLimit: time.Second,
		Inputs: 16, Cost: p.Cost(), Provenance: p.Provenance()})
	if err != nil || rowless.HasRows() {
		t.Fatal("a policy without rows", err)
	}
	if _, err := Assume(ctx, rowless, nil); !errors.Is(err, ErrRows) {
		t.Error(err)
	}
	if _, err := Assume(ctx, rowless, func(context.Context) (Rows, error) { return nil, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
}

// TestSecondOpinion: maps and intervals have the bits that package estimate gives for a channel and distances that are
// made here by hand, row by row.
func TestSecondOpinion(t *testing.T) {
	ctx := context.Background()
	p, counts := published(t), released()
	w, err := Of(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	channel, err := estimate.NewChannel(16, 16, func(i int, dst []float64) {
		row, err := p.Row(i)
		if err != nil {
			t.Error(err)
		}
		for j := range dst {
			dst[j] = float64(row.At(j))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	grid, err := cost.NewGrid(4, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	near, err := estimate.NewGeometry(ctx, grid, 1)
	if err != nil {
		t.Fatal(err)
	}
	prior := []float64{1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1}
	problem := estimate.Problem{Counts: counts, Channel: channel, Geometry: near, Prior: prior}
	s := Settings{Prior: prior}
	for name, by := range map[string]func() ([]float64, error){
		ByMap: func() ([]float64, error) {
			r, err := estimate.Map(ctx, problem, estimate.Settings{})
			return r.Theta, err
		},
		ByEM:  func() ([]float64, error) { r, err := estimate.EM(ctx, problem); return r.Theta, err },
		ByMLE: func() ([]float64, error) { r, err := estimate.MLE(ctx, problem, 0); return r.Theta, err },
		ByRaw: func() ([]float64, error) { return estimate.Raw(counts) },
	} {
		want, err := by()
		if err != nil {
			t.Fatal(err)
		}
		s.Estimator = name
		for range 2 { // a world makes any number of maps
			if m, err := w.Map(ctx, counts, s); err != nil || !slices.Equal(m.Shares, want) {
				t.Errorf("%s: %v, %v, want %v", name, m.Shares, err, want)
			}
		}
	}
	half := slices.Concat(slices.Repeat([]float64{1}, 8), slices.Repeat([]float64{0.25}, 8))
	want, err := estimate.Interval(ctx, problem, half, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	s.Level = 0.8
	got, err := w.Regions(ctx, counts, [][]float64{half}, s)
	if err != nil || len(got) != 1 || got[0].Share != want || got[0].Wide || math.Abs(got[0].Guess-0.625) > 1e-15 {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

// TestMapLaws: of any counts a map is a distribution, the squares have its mass and the reports of their places, and
// the prior is what a device without a report has.
func TestMapLaws(t *testing.T) {
	w, err := Of(context.Background(), published(t))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		counts := rapid.SliceOfN(rapid.Uint64Range(0, 1<<rapid.IntRange(0, 20).Draw(rt, "size")), 16, 16).Draw(rt, "counts")
		counts[rapid.IntRange(0, 15).Draw(rt, "at")]++
		before := slices.Clone(counts)
		name := rapid.SampledFrom([]string{ByMap, ByEM, ByMLE, ByRaw}).Draw(rt, "estimator")
		m, err := w.Map(context.Background(), counts, Settings{Estimator: name})
		if err != nil {
			rt.Fatal(err)
		}
		if !slices.Equal(before, counts) || m.Estimator != name || m.Headline == "" || m.Assumes("all alike") == "" {
			rt.Errorf("%v, %q, %q", counts, m.Estimator, m.Headline)
		}
		near := func(what string, got float64) {
			if !(math.Abs(got-1) <= 64*0x1p-53) { // sums of 16 shares, each of a few roundings
				rt.Errorf("%s sum to %v", what, got)
			}
		}
		sum := func(list []float64) (s float64) {
			for _, v := range list {
				if !(v >= 0) {
					rt.Errorf("%v", list)
				}
				s += v
			}
			return s
		}
		near("shares", sum(m.Shares))
		near("drawn shares", sum(m.Drawn))
		near("raw shares", sum(m.Raw))
		var guess, share, raw float64
		size := 0
		for _, p := range m.Parts {
			guess, share, raw, size = guess+p.Guess, share+p.Share, raw+p.Raw, size+p.Size
		}
		near("parts of the guess", guess)
		near("parts of the map", share)
		near("parts of the reports", raw)
		if size != 16 || len(m.Parts) != m.Squares || len(m.Of) != 16 {
			rt.Errorf("%d places in %d of %d squares", size, len(m.Parts), m.Squares)
		}
	})
}

// TestWrongPrior: where the reports speak against the prior, the text says that the map does without it.
func TestWrongPrior(t *testing.T) {
	ctx := context.Background()
	m, p := designed(t, `{"kind":"ring","n":12}`, policy.Mixture)
	w, err := Assume(ctx, p, rowsOf(m))
	if err != nil {
		t.Fatal(err)
	}
	prior := []float64{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}
	for wrong, counts := range map[bool][]uint64{
		true:  {100, 400, 800, 1600, 3200, 1600, 800, 400, 100, 100, 100, 100},
		false: {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
	} {
		got, err := w.Map(ctx, counts, Settings{Prior: prior})
		text := got.Assumes("prior.csv")
		if err != nil || strings.Contains(text, "Models that do without the guess") != wrong {
			t.Errorf("%v: %v: %s", counts, err, text)
		}
	}
}

// TestBiased: only the map of a policy of projection mode says that it is biased.
func TestBiased(t *testing.T) {
	ctx := context.Background()
	counts := []uint64{900, 1, 1, 1, 300, 1, 1, 1, 1, 1, 1, 20}
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		m, p := designed(t, `{"kind":"ring","n":12}`, mode)
		w, err := Assume(ctx, p, rowsOf(m))
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.Map(ctx, counts, Settings{})
		text := got.Assumes("the same share at every place")
		if err != nil || got.Biased != (mode == policy.Projection) || strings.HasPrefix(text, "Biased: ") != got.Biased ||
			!strings.Contains(text, "the same share at every place") ||
			strings.Contains(text, "No error is stated") != (got.Error == nil) || (got.Error == nil) != got.Biased {
			t.Errorf("%s: %v, %v, %s", mode, err, got.Biased, text)
		}
	}
}
