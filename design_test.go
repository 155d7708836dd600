package wpm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

var published = policy.Config{
	Mode: policy.Mixture, Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
}

// TestDesign holds, for every objective, that the certificate proves what the design states of the policy, that the
// rows are those of the mechanism, and that Compare finds the same measures.
func TestDesign(t *testing.T) {
	ctx := context.Background()
	c := points(t, 21, 12, 9)
	eps := given.Epsilon(t, "3/2")
	weights := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	worst, mean := map[wpm.Kind]float64{}, map[wpm.Kind]float64{}
	for _, kind := range []wpm.Kind{wpm.Uniform, wpm.Minimax, wpm.Average, wpm.Mixed} {
		o := wpm.Objective{Kind: kind, Weights: weights}
		d, err := wpm.NewDesign(ctx, c, eps, o)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		upper, input := d.WorstCase()
		p, err := d.Publish(published)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		_, bounds, err := certificate.CheckPolicy(ctx, p)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		lower, exact := certificate.Bounds{Lower: bounds.Lower, Upper: bounds.Worst}.Floats()
		if !(exact <= upper && upper <= exact*(1+1e-14)) || d.Channel().Cost(input) < exact*(1-1e-14) ||
			!(d.Lower() <= lower) {
			t.Errorf("%v: [%v, %v] at %d, proved [%v, %v]", kind, d.Lower(), upper, input, lower, exact)
		}
		ch, err := d.Mechanism().Channel(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			if ch.Cost(i) != d.Channel().Cost(i) {
				t.Errorf("%v: row %d costs %v, in the design %v", kind, i, ch.Cost(i), d.Channel().Cost(i))
			}
			for j := range 9 {
				if ch.Row(i).At(j) != d.Channel().Row(i).At(j) {
					t.Errorf("%v: row %d, column %d differs", kind, i, j)
				}
			}
		}
		outcomes, err := wpm.Compare(ctx, c, eps, o)
		if err != nil {
			t.Fatal(err)
		}
		got := outcomes[0]
		if !(math.Abs(got.Worst-upper) <= 1e-14) || got.Nonzeros != d.Base().Nonzeros ||
			(got.Gap < 0) != (kind == wpm.Uniform) {
			t.Errorf("%v: %+v, worst case %v", kind, got, upper)
		}
		own, err := wpm.Evaluate(ctx, c, eps, d.Base().M, weights)
		if err != nil || own.Worst != got.Worst || own.Mean != got.Mean || own.Gap != -1 {
			t.Errorf("%v: %+v alone, %+v, %v", kind, own, got, err)
		}
		worst[kind], mean[kind] = got.Worst, got.Mean
	}
	for kind := range worst {
		const rounding = 1e-9
		if worst[kind] < worst[wpm.Minimax]*(1-rounding) || mean[kind] < mean[wpm.Average]*(1-rounding) {
			t.Errorf("%v beats the best of its kind: worst %v, mean %v", kind, worst, mean)
		}
	}
}

// TestDesignBits holds that a design does not depend on the number of processors, nor on what it was made with before.
func TestDesignBits(t *testing.T) {
	c := points(t, 4, 40, 30)
	var texts [][]byte
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		p, err := designOf(t, c, "1").Publish(published)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		text, err := policy.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("the policy depends on GOMAXPROCS")
	}
}

func TestDesignErrors(t *testing.T) {
	ctx, one := context.Background(), given.Epsilon(t, "1")
	ring, err := cost.NewRing(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	nan := math.NaN()
	for _, test := range []struct {
		name string
		ctx  context.Context
		c    cost.Matrix
		eps  ldp.Epsilon
		o    wpm.Objective
		want error
	}{
		{"map of no devices", ctx, ring, one, wpm.Objective{Kind: wpm.Map}, wpm.ErrOption},
		{"map of less", ctx, ring, one, wpm.Objective{Kind: wpm.Map, Devices: -1}, wpm.ErrOption},
		{"kind", ctx, ring, one, wpm.Objective{Kind: -1}, wpm.ErrOption},
		{"kind after the last", ctx, ring, one, wpm.Objective{Kind: wpm.Map + 1}, wpm.ErrOption},
		{"devices", ctx, ring, one, wpm.Objective{Devices: 1}, wpm.ErrOption},
		{"mix of uniform", ctx, ring, one, wpm.Objective{Mix: 0.5}, wpm.ErrOption},
		{"mix", ctx, ring, one, wpm.Objective{Kind: wpm.Mixed, Mix: nan}, wpm.ErrOption},
		{"gap of uniform", ctx, ring, one, wpm.Objective{Gap: 0.5}, wpm.ErrOption},
		{"gap", ctx, ring, one, wpm.Objective{Kind: wpm.Minimax, Gap: nan}, wpm.ErrOption},
		{"gap above 1", ctx, ring, one, wpm.Objective{Kind: wpm.Minimax, Gap: 1.5}, wpm.ErrOption},
		{"solver", ctx, ring, one, wpm.Objective{Options: wpm.Options{Solver: 9}}, wpm.ErrOption},
		{"bits", ctx, ring, one, wpm.Objective{Options: wpm.Options{Bits: 63}}, ldp.ErrBits},
		{"short weights", ctx, ring, one, wpm.Objective{Kind: wpm.Average, Weights: []float64{1}}, wpmerr.ErrShape},
		{"NaN weights", ctx, ring, one, wpm.Objective{Weights: []float64{1, nan, 1, 1}}, wpmerr.ErrMass},
		{"no weight", ctx, ring, one, wpm.Objective{Weights: make([]float64, 4)}, wpmerr.ErrMass},
		{"no cost", ctx, nil, one, wpm.Objective{}, wpmerr.ErrShape},
		{"NaN cost", ctx, &cost.Dense{K: 1, Kv: 1, Data: []float64{nan}}, one, wpm.Objective{}, wpmerr.ErrNotFinite},
		{"eps", ctx, ring, ldp.Epsilon{}, wpm.Objective{}, ldp.ErrEpsilon},
		{"ended", ended, points(t, 1, 60, 0), one, wpm.Objective{}, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := wpm.NewDesign(test.ctx, test.c, test.eps, test.o)
			if d != nil || !errors.Is(err, test.want) {
				t.Errorf("%s: %v, %v, want %v", test.name, d, err, test.want)
			}
			if test.o.Options != (wpm.Options{}) || test.name == "eps" {
				return
			}
			if _, err := wpm.Compare(test.ctx, test.c, test.eps, test.o); !errors.Is(err, test.want) {
				t.Errorf("%s: Compare: %v, want %v", test.name, err, test.want)
			}
		})
	}
	m, err := baseline.KPMMeasure(3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wpm.Evaluate(ctx, ring, one, m, nil); err == nil {
		t.Error("three masses for four outputs")
	}
	if s := wpm.Kind(7).String(); s != "Kind(7)" {
		t.Error(s)
	}
}

// TestDesignInOnePass holds a design that needs no table against one that has it, and what it states of its rows
// against the exact check of its certificate, which reads them all.
func TestDesignInOnePass(t *testing.T) {
	ctx := context.Background()
	rng := numtest.NewSplitMix64(8)
	const k = 1030 // k^2 is just above 2^20, where a design has no table
	places := make([][2]float64, k)
	for i := range places {
		places[i] = [2]float64{40 + 10*rng.Float64(), 10 * rng.Float64()}
	}
	earth, err := cost.NewGreatCircle(places, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	cosine, err := cost.NewCosine(numtest.Cloud(rng, k, 3, 1, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cost.Matrix{"plane": points(t, 2, k, 0), "2^22 pairs": points(t, 6, 2*k, 0),
		"two sides": points(t, 2, 2*k, k/2+9), "earth": earth, "cosine": cosine} {
		t.Run(name, func(t *testing.T) {
			if !numtest.Full() && name != "two sides" && name != "cosine" {
				return // of two kinds of places, and as many outputs as inputs or half of them, one each
			}
			d := designOf(t, c, "2")
			want, err := basemeasure.Uniform(ctx, d.Mechanism().Cost(), 2, basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			upper, input := d.WorstCase()
			const open = 1e-11 // what the search leaves open, see package internal/worst
			if math.Abs(d.Base().Upper-want.Upper) > open*want.Upper || upper > want.Upper*(1+1e-7) ||
				d.Channel().Cost(input) < upper*(1-open) {
				t.Errorf("%s: worst case %v, %v as published, %v at input %d; %v with a table", name, d.Base().Upper, upper,
					d.Channel().Cost(input), input, want.Upper)
			}
			if !(d.Lower() <= want.Upper && d.Lower() >= 0.8*want.Lower) {
				t.Errorf("%s: lower bound %v, %v with a table", name, d.Lower(), want.Lower)
			}
			p, err := d.Publish(published)
			if err != nil {
				t.Fatal(err)
			}
			if err := audit.Thresholds(t.Context(), p); err != nil || p.Version() != 2 {
				t.Errorf("%s: version %d, %v", name, p.Version(), err)
			}
			_, bounds, err := certificate.CheckPolicy(ctx, p)
			if err != nil {
				t.Fatal(name, err)
			}
			if exact, _ := bounds.Worst.Float64(); !(exact <= upper && upper <= exact*(1+open)) {
				t.Errorf("%s: the worst row costs %v, stated is at most %v", name, exact, upper)
			}
		})
	}
}

// TestDesignTooLarge holds that sizes that cannot work are refused, and what the refusal says.
func TestDesignTooLarge(t *testing.T) {
	ring, err := cost.NewRing(1<<20+1, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := cost.NewGrid(1000, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	wider, err := cost.NewGrid(17, 61681, 1)
	if err != nil {
		t.Fatal(err)
	}
	many, err := cost.NewPoints(numtest.Cloud(numtest.NewSplitMix64(1), 300_000, 1, 0, 1), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := cost.NewGrid(120, 100, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		c    cost.Matrix
		kind wpm.Kind
		says string
	}{
		{ring, wpm.Uniform, "1048577 inputs"},
		{wider, wpm.Uniform, "1048577 inputs"},
		{wide, wpm.Minimax, "1000000 x 1000000"},
		{many, wpm.Uniform, "300000 x 300000"},
		{grid, wpm.Minimax, "12000 x 12000"},
		{&cost.Dense{K: 20000, Kv: 20000}, wpm.Uniform, "20000 x 20000"},
	} {
		_, err := wpm.NewDesign(context.Background(), test.c, given.Epsilon(t, "1"), wpm.Objective{Kind: test.kind})
		if !errors.Is(err, wpm.ErrLimit) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%T, %v: %v", test.c, test.kind, err)
		}
	}
}

// unread is a cost of a size whose rows nobody may ask for.
type unread struct{ k, kv int }

func (c unread) Dims() (k, kv int)            { return c.k, c.kv }
func (c unread) Row(int, []float64) []float64 { panic("a row is read") }

// TestFileSize holds that a matrix too long for a file is refused before anything is solved: by its size without a look
// at it, or by the text of its first entries, and none too early.
func TestFileSize(t *testing.T) {
	const largest = policy.MaxBytes / 2 // entries of two bytes
	const entry = 1.2345678901234567e-300
	digits := func(k, kv int, wrong int) *cost.Dense {
		d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for i := range d.Data {
			d.Data[i] = entry
		}
		if wrong > 0 {
			d.Data[wrong] = math.NaN()
		}
		return d
	}
	// entries of so many bytes, with their commas
	fit := policy.MaxBytes / (len(strconv.FormatFloat(entry, 'g', -1, 64)) + 1)
	tests := []struct {
		c    cost.Matrix
		want error
	}{
		{&cost.Dense{K: largest/16 + 1, Kv: 16}, wpm.ErrLimit}, // no entry is there to be read
		{&cost.Dense{K: 1 << 30, Kv: 1 << 30}, wpm.ErrLimit},
		{&cost.Dense{K: 1 << 10, Kv: 1 << 10}, nil},
		{digits(1000, fit/1000+16, 1000*(fit/1000+16)-1), wpm.ErrLimit}, // stops before the last entry, which is none
		{digits(1000, fit/1000-1, 0), nil},
		{digits(1600, 1800, 7), wpmerr.ErrNotFinite}, // has to read
		{(*cost.Dense)(nil), nil}, {&cost.Dense{}, nil}, {&cost.Dense{K: 2000, Kv: 2000}, nil}, {nil, nil},
		{unread{1 << 20, 1 << 20}, nil},
	}
	if numtest.Full() {
		tests = append(tests, tests[0])
		tests[len(tests)-1].c = digits(1000, fit/1000+1, 0)
	}
	for _, test := range tests {
		if err := wpm.CheckFileSize(test.c); !errors.Is(err, test.want) || err != nil && test.want == nil {
			t.Errorf("%T: %v, want %v", test.c, err, test.want)
		} else if d, ok := test.c.(*cost.Dense); ok && test.want == wpm.ErrLimit &&
			!strings.Contains(err.Error(), fmt.Sprintf("%d x %d", d.K, d.Kv)) {
			t.Errorf("does not say the size: %v", err)
		}
	}
}

// BenchmarkDesign makes and publishes designs for random points of the plane, and for a grid and a ring.
func BenchmarkDesign(b *testing.B) {
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, c cost.Matrix, err error) {
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d, err := wpm.NewDesign(context.Background(), c, eps, wpm.Objective{})
				if err != nil {
					b.Fatal(err)
				}
				p, err := d.Publish(published)
				if err != nil {
					b.Fatal(err)
				}
				text, err := policy.Encode(p)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(text))/1e6, "MB/file")
			}
		})
	}
	for _, k := range []int{4000, 20000, 100000} {
		if testing.Short() && k > 20000 {
			break // minutes
		}
		c, err := cost.NewPoints(numtest.Cloud(numtest.NewSplitMix64(1), k, 2, 0, 1), nil, 1)
		run(fmt.Sprint(k), c, err)
	}
	for _, side := range []int{300, 1000} {
		if testing.Short() && side > 300 {
			break // seconds
		}
		c, err := cost.NewGrid(side, side, 1)
		run(fmt.Sprintf("grid %dx%d", side, side), c, err)
	}
	c, err := cost.NewRing(1_000_000, 1)
	run("ring 1000000", c, err)
}

// fading ends a context when it has given so many rows, and counts those that are asked for once it has ended: other
// threads may read any number while this one is on its way to end it.
type fading struct {
	cost.Matrix
	end         context.CancelFunc
	at          int64
	ended       atomic.Bool
	rows, later atomic.Int64
}

func (f *fading) Row(i int, buf []float64) []float64 {
	if f.ended.Load() {
		f.later.Add(1)
	}
	if f.rows.Add(1) == f.at {
		f.end()
		f.ended.Store(true)
	}
	return f.Matrix.Row(i, buf)
}

// TestDesignCancelled: once the context has ended, NewDesign returns an error, and reads at most 64 rows a thread but
// in the certificate, which reads all of them once.
func TestDesignCancelled(t *testing.T) {
	const k = 600
	var data []float64
	for i := range k {
		data = append(data, float64(i%7), float64(i%11), float64(i%13))
	}
	c, err := cost.NewDense(k, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	count := &fading{Matrix: c, at: -1}
	if _, err := wpm.NewDesign(t.Context(), count, eps, wpm.Objective{}); err != nil {
		t.Fatal(err)
	}
	all := count.rows.Load()
	for _, kind := range []wpm.Kind{wpm.Uniform, wpm.Minimax, wpm.Average} {
		for at := int64(1); at < all-k; at += 97 {
			ctx, cancel := context.WithCancel(t.Context())
			f := &fading{Matrix: c, at: at, end: cancel}
			d, err := wpm.NewDesign(ctx, f, eps, wpm.Objective{Kind: kind})
			cancel()
			if !errors.Is(err, context.Canceled) || d != nil || f.later.Load() > int64(64*runtime.GOMAXPROCS(0)) {
				t.Errorf("%v, cancelled at row %d of %d: %v after %d more rows", kind, at, all, err, f.later.Load())
			}
		}
	}
}

// TestDesignGap: a search ends at the gap asked for, which is DefaultGap where none is, and the design states what it
// has.
func TestDesignGap(t *testing.T) {
	c := points(t, 2, 60, 1)
	for _, kind := range []wpm.Kind{wpm.Minimax, wpm.Average, wpm.Mixed} {
		var fine float64
		for _, gap := range []float64{1e-9, 0, 0.3} {
			d, err := wpm.NewDesign(t.Context(), c, given.Epsilon(t, "2"), wpm.Objective{Kind: kind, Gap: gap})
			if err != nil {
				t.Fatal(err)
			}
			want := gap
			if gap == 0 {
				want = wpm.DefaultGap
			}
			if !(d.Gap() <= want) || d.Gap() != d.Base().Gap()/d.Base().Upper {
				t.Errorf("%v, gap %v: %v", kind, gap, d.Gap())
			}
			if gap == 1e-9 {
				fine = d.Base().F
			} else if f := d.Base().F; !(f >= fine*(1-1e-9) && f*(1-want) <= fine) {
				t.Errorf("%v, gap %v: %v, the best is %v", kind, gap, f, fine)
			}
		}
	}
}
