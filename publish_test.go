package wpm_test

import (
	"bytes"
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
)

// placed are costs between places of every kind, with the largest displacement that they may have: half the diagonal of
// a cell of the integers, of which the longest axis has 2^31 / (10 sqrt(axes)) at least, and of 2^30 for unit vectors.
func placed(t *testing.T) map[string]struct {
	c     cost.Matrix
	moved float64
} {
	rng := numtest.NewSplitMix64(5)
	list := map[string]struct {
		c     cost.Matrix
		moved float64
	}{}
	add := func(name string, moved float64) func(c cost.Matrix, err error) {
		return func(c cost.Matrix, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			list[name] = struct {
				c     cost.Matrix
				moved float64
			}{c, moved}
		}
	}
	cell := func(axes int, side float64) float64 { return float64(axes) * 5 * side / (1 << 31) }
	pts := func(x, v [][]float64, p float64) (cost.Matrix, error) { return cost.NewPoints(x, v, p) }
	add("plane", cell(2, 1))(pts(numtest.Cloud(rng, 20, 2, 0, 1), nil, 1))
	add("plane, two sides", cell(2, 1))(pts(numtest.Cloud(rng, 20, 2, 0, 1), numtest.Cloud(rng, 11, 2, 0, 1), 2))
	add("line", cell(1, 1))(pts(numtest.Cloud(rng, 15, 1, 0, 1), nil, 0.5))
	add("fifty axes", cell(50, 1))(pts(numtest.Cloud(rng, 10, 50, 0, 1), nil, 3))
	// Far away, a unit is 2^-53 of the coordinates at least.
	add("metres", cell(2, 1e4))(pts(numtest.Cloud(rng, 12, 2, 5.3e6, 1e4), nil, 1))
	add("far away", 1e12*0x1p-49)(pts(numtest.Cloud(rng, 12, 2, 1e12, 1), nil, 1))
	add("huge", cell(2, 1e300))(pts(numtest.Cloud(rng, 8, 2, 0, 1e300), nil, 1))
	add("tiny", cell(2, 1e-280))(pts(numtest.Cloud(rng, 8, 2, 0, 1e-280), nil, 1))
	add("tiniest", 5e-301)(pts(numtest.Cloud(rng, 8, 2, 0, 1e-310), nil, 1))
	add("one place", 0)(pts([][]float64{{0, 0}, {0, 0}, {0, 0}}, nil, 1))
	add("decimals", 0)(pts([][]float64{{48.2082, 16.3738}, {52.52, 13.405}, {-0.1, 1e4}}, nil, 1))

	earth := [][2]float64{
		{90, 3}, {-90, 0}, {0, 180}, {0, -180}, {89.9999999, -17},
		// integers of another length
		{-18.799143056149546, 0}, {14.826768823221357, -180}, {67.27500191805265, 179.9999999999},
	}
	for _, x := range numtest.Cloud(rng, 15, 2, 0, 1) {
		earth = append(earth, [2]float64{180 * x[0], 360 * x[1]})
	}
	earthMoved := 2 * cost.EarthRadius * math.Sqrt(3) / 2 / (1 << 30)
	gc := func(x, v [][2]float64, p float64) (cost.Matrix, error) { return cost.NewGreatCircle(x, v, p) }
	add("earth", earthMoved)(gc(earth, nil, 1))
	add("earth, two sides", earthMoved)(gc(earth, earth[3:9], 2))
	cos := func(x, v [][]float64) (cost.Matrix, error) { return cost.NewCosine(x, v) }
	add("cosine", math.Sqrt(30)/2/(1<<30))(cos(numtest.Cloud(rng, 14, 30, 0.2, 1e-3), nil))
	add("cosine, two sides", math.Sqrt(3)/2/(1<<30))(cos(numtest.Cloud(rng, 14, 3, 0, 1e200),
		numtest.Cloud(rng, 9, 3, 0, 1e-200)))
	return list
}

// TestPublishedPlaces holds that a design is of the places as they are published, near those given, and that a policy
// with them proves what the design claims, to the last bit.
func TestPublishedPlaces(t *testing.T) {
	ctx := context.Background()
	for name, test := range placed(t) {
		d := designOf(t, test.c, "2")
		p, err := d.Publish(published)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := audit.Thresholds(t.Context(), p); err != nil || p.Version() != 2 {
			t.Errorf("%s: version %d, %v", name, p.Version(), err)
		}
		_, bounds, err := certificate.CheckPolicy(ctx, p)
		if err != nil {
			t.Fatal(name, err)
		}
		upper, _ := d.WorstCase()
		if bounds.Worst.Cmp(new(big.Rat).SetFloat64(upper)) > 0 {
			t.Errorf("%s: the worst case is %v, the design says at most %v", name, bounds.Worst.FloatString(20), upper)
		}
		original, err := cost.SpecOf(context.Background(), test.c)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := cost.ParseSpec(p.Cost())
		if err != nil {
			t.Fatal(err)
		}
		rounding := 1e-16 // of unit vectors
		if original.Places() == "greatcircle" {
			rounding = 1e-11 // km, see cost.GreatCircle
		}
		if got := displaced(t, original, spec); !(math.Abs(got-d.Displacement()) <= 1e-9*got+rounding) ||
			!(got <= test.moved*(1+1e-6)) {
			t.Errorf("%s: displaced by %v, stated %v, at most %v", name, got, d.Displacement(), test.moved)
		}
		again := designOf(t, d.Mechanism().Cost(), "2")
		p2, err := again.Publish(published)
		if err != nil {
			t.Fatal(name, err)
		}
		one, err1 := policy.Encode(p)
		two, err2 := policy.Encode(p2)
		if err1 != nil || err2 != nil || again.Displacement() != 0 || !bytes.Equal(one, two) {
			t.Errorf("%s: published places are published elsewhere, by %v", name, again.Displacement())
		}
		raw, err := wpm.New(context.Background(), test.c, d.Base().M, given.Epsilon(t, "2"), wpm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
			cfg := published
			cfg.Mode = mode
			p, err := raw.Publish(ctx, cfg)
			if err != nil {
				t.Fatal(name, err)
			}
			if err := audit.Thresholds(t.Context(), p); err != nil || p.Version() != 2 || !p.HasRows() ||
				!bytes.Equal(p.Cost(), p2.Cost()) {
				t.Errorf("%s: a mechanism alone publishes version %d, rows %v, %v", name, p.Version(), p.HasRows(), err)
			}
		}
	}
}

// displaced is the largest distance between places of two costs, measured anew: of points and unit vectors in long
// arithmetic, of places on the Earth by their chord.
func displaced(t *testing.T, a, b cost.Spec) (worst float64) {
	vector := func(x []float64) (out []*big.Float) {
		if a.Places() == "greatcircle" {
			lat, lon := x[0]*math.Pi/180, x[1]*math.Pi/180
			x = []float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
		}
		norm := new(big.Float).SetPrec(200)
		for _, v := range x {
			f := new(big.Float).SetPrec(200).SetFloat64(v)
			out = append(out, f)
			norm.Add(norm, new(big.Float).Mul(f, f))
		}
		if a.Kind == "cosine" {
			norm.Sqrt(norm)
			if norm.Cmp(big.NewFloat(1<<29)) > 0 && norm.Cmp(big.NewFloat(1<<31)) < 0 {
				norm.SetFloat64(1 << 30) // published: of about this length
			}
			for _, f := range out {
				f.Quo(f, norm)
			}
		}
		return out
	}
	pairs := func(x, y [][]float64) {
		for i := range x {
			sum, v := new(big.Float).SetPrec(200), vector(y[i])
			for n, u := range vector(x[i]) {
				u.Sub(u, v[n])
				sum.Add(sum, u.Mul(u, u))
			}
			d, _ := sum.Sqrt(sum).Float64()
			if a.Places() == "greatcircle" {
				d *= cost.EarthRadius
			}
			worst = max(worst, d)
		}
	}
	pairs(a.X, b.X)
	if a.V != nil {
		pairs(a.V, b.V)
	}
	return worst
}

// TestVersionOfPolicy holds that costs without a ranking keep rows, and only where they serve.
func TestVersionOfPolicy(t *testing.T) {
	zero, err := cost.NewCosine([][]float64{{1, 0}, {0, 0}, {1, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cost.NewRing(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := cost.NewGrid(3, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	dense := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	for _, test := range []struct {
		c       cost.Matrix
		mode    policy.Mode
		version int
		rows    bool
	}{
		{dense, policy.Mixture, 1, true},
		{dense, policy.Projection, 1, false},
		{zero, policy.Mixture, 1, true},
		{zero, policy.Projection, 1, false},
		{ring, policy.Mixture, 2, true},
		{ring, policy.Projection, 2, true},
		{grid, policy.Mixture, 2, true},
		{grid, policy.Projection, 2, true},
	} {
		cfg := published
		cfg.Mode = test.mode
		p, err := designOf(t, test.c, "1").Publish(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if p.Version() != test.version || p.HasRows() != test.rows {
			t.Errorf("%T, %s: version %d, rows %v, want %d, %v", test.c, test.mode, p.Version(), p.HasRows(), test.version,
				test.rows)
		}
	}
}

// TestEvenFallback holds that the fallback of many outputs is small in the file, and near the shape of the box
// everywhere.
func TestEvenFallback(t *testing.T) {
	d := designOf(t, points(t, 3, 40, 1500), "2")
	p, err := d.Publish(published)
	if err != nil {
		t.Fatal(err)
	}
	box, w := p.Polytope(), p.Fallback()
	row, err := policy.NewRow(box, w)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box.Bounds()
	var sumLo, sumHi, widest float64
	for j := range lo {
		sumLo, sumHi, widest = sumLo+lo[j], sumHi+hi[j], max(widest, hi[j]-lo[j])
	}
	share, off, part := (1-sumLo)/(sumHi-sumLo), 0.0, 0
	for j := range lo {
		got := float64(w.At(j)) / float64(box.Total())
		if off += got - lo[j] - share*(hi[j]-lo[j]); math.Abs(off) > 2*widest {
			t.Fatalf("up to output %d the fallback is off by %v, widths are %v", j, off, widest)
		}
		if w.At(j) != box.Lo(j) && w.At(j) != box.Hi(j) {
			part++
		}
	}
	if part > 1 || row.Fill() > 600 {
		t.Errorf("the fallback raises %d outputs, %d of them in part", row.Fill(), part)
	}
}
