package policy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
)

// geometryConfigs are small policies of version 2 by the names of their files in testdata: points with ties and inputs
// of their own, points as far apart as may be, a ring and a grid.
func geometryConfigs(t testing.TB) map[string]Config {
	t.Helper()
	box := func(eps string, shape []float64, bits int) *ldp.Polytope {
		sum := 0.0
		for _, v := range shape {
			sum += v
		}
		for j := range shape {
			shape[j] /= sum
		}
		b, err := ldp.NewPolytope(mustEpsilon(t, eps), shape, bits)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	small := smallConfig(t)
	points := small
	points.Rows, points.Fallback = nil, Row{}
	points.Polytope = box("3/2", []float64{1, 2, 0, 1, 2}, smallBits)
	points.OutputLabels = nil
	points.InputAliases = []Alias{{2, "bike"}}
	points.Geometry = &Geometry{Kind: Points, Axes: 2, InputPoints: []int32{0, 0, 3, -4, 7, 7},
		OutputPoints: []int32{1, 0, 0, -1, 0, 0, -1, 0, 5, -5}}
	far := Config{Polytope: box("1", []float64{1, 1, 1, 1}, 62), Provenance: clean}
	far.Geometry = &Geometry{Kind: Points, Axes: 2,
		OutputPoints: []int32{-1518500250, 0, 1518500249, 2, 1518500249, 1, 0, 0}}
	ring := Config{Polytope: box("1", slices.Repeat([]float64{1}, 7), 9), Provenance: clean,
		Geometry: &Geometry{Kind: Ring}, Mode: Projection}
	grid := Config{Polytope: box("2", slices.Repeat([]float64{1}, 12), 16), Provenance: clean,
		Geometry: &Geometry{Kind: Grid, Rows: 3, Cols: 4}}
	all := map[string]Config{"points2.json": points, "far2.json": far, "ring2.json": ring, "grid2.json": grid}
	for name, cfg := range all {
		all[name] = greedily(cfg)
	}
	return all
}

// inputsOf is how many inputs a geometry is for, with kv outputs.
func inputsOf(g *Geometry, kv int) int {
	if g.InputPoints == nil {
		return kv
	}
	return len(g.InputPoints) / g.Axes
}

// greedily gives a config the thresholds of its geometry.
func greedily(cfg Config) Config {
	cfg.Thresholds = thresholds(cfg.Polytope, cfg.Geometry, 0, inputsOf(cfg.Geometry, cfg.Polytope.Len()))
	return cfg
}

// thresholds are those of the inputs from (included) to (excluded), by sorting. Function greedy has the definition.
func thresholds(box *ldp.Polytope, g *Geometry, from, to int) (out []int32) {
	kv := box.Len()
	p, err := g.places(inputsOf(g, kv), kv)
	if err != nil {
		panic(err)
	}
	keys, order := make([]uint64, kv), make([]int32, kv)
	for i := from; i < to; i++ {
		for j := range order {
			keys[j], order[j] = p.key(p.input(i), p.output(j)), int32(j)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
		rest, n := box.Total(), 0
		for j := range kv {
			rest -= box.Lo(j)
		}
		for n < kv-1 && box.Hi(int(order[n]))-box.Lo(int(order[n])) < rest {
			rest -= box.Hi(int(order[n])) - box.Lo(int(order[n]))
			n++
		}
		out = append(out, order[n])
	}
	return out
}

// greedy returns the row of input i and its threshold from the definition: sorted, in integers and fractions of any
// size.
func greedy(box *ldp.Polytope, g *Geometry, i int) (n []uint64, threshold int32) {
	kv := box.Len()
	key := func(j int) *big.Rat {
		sum := new(big.Rat)
		square := func(v *big.Rat) { sum.Add(sum, v.Mul(v, v)) }
		switch g.Kind {
		case Ring:
			steps := (i - j + kv) % kv
			square(big.NewRat(int64(min(steps, kv-steps)), 1))
		case Grid:
			square(big.NewRat(int64(i%g.Cols-j%g.Cols), int64(g.Cols)))
			square(big.NewRat(int64(i/g.Cols-j/g.Cols), int64(g.Rows)))
		case Points:
			in := g.InputPoints
			if in == nil {
				in = g.OutputPoints
			}
			for a := range g.Axes {
				square(big.NewRat(int64(in[i*g.Axes+a])-int64(g.OutputPoints[j*g.Axes+a]), 1))
			}
		}
		return sum
	}
	order := make([]int, kv)
	keys := make([]*big.Rat, kv)
	for j := range order {
		order[j], keys[j] = j, key(j)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(keys[a].Cmp(keys[b]), cmp.Compare(a, b)) })
	rest := box.Total()
	for j := range kv {
		n = append(n, box.Lo(j))
		rest -= box.Lo(j)
	}
	threshold = int32(order[0])
	for _, j := range order {
		if rest == 0 {
			break
		}
		add := min(rest, box.Hi(j)-box.Lo(j))
		n[j] += add
		rest -= add
		threshold = int32(j)
	}
	return n, threshold
}

// drawGeometry returns a geometry for kv outputs, with many ties or none, near or at the ends of what is allowed.
func drawGeometry(r *rand.Rand, kv int) *Geometry {
	switch r.IntN(4) {
	case 0:
		return &Geometry{Kind: Ring}
	case 1:
		rows := 1 + r.IntN(kv)
		for kv%rows != 0 {
			rows--
		}
		return &Geometry{Kind: Grid, Rows: rows, Cols: kv / rows}
	}
	g := &Geometry{Kind: Points, Axes: 1 + r.IntN(3)}
	k := 0
	if r.IntN(2) == 0 {
		k = 1 + r.IntN(2*kv)
	}
	size := []int64{1, 3, 1000, 876706528}[r.IntN(4)] // 3 (2 size)^2 < 2^63
	for n := range g.Axes * (kv + k) {
		v := int32(r.Int64N(2*size+1) - size)
		if n < g.Axes*kv {
			g.OutputPoints = append(g.OutputPoints, v)
		} else {
			g.InputPoints = append(g.InputPoints, v)
		}
	}
	return g
}

// drawBox returns a box with columns of width 0, dropped ones, and sometimes one that is a point.
func drawBox(t testing.TB, r *rand.Rand, kv int) *ldp.Polytope {
	t.Helper()
	shape, sum := make([]float64, kv), 0.0
	for j := range shape {
		shape[j] = []float64{0, 1, 1, 2, 1e-6}[r.IntN(5)]
	}
	shape[r.IntN(kv)] = 1
	for _, v := range shape {
		sum += v
	}
	for j := range shape {
		shape[j] /= sum
	}
	box, err := ldp.NewPolytope(mustEpsilon(t, []string{"1e-6", "0.1", "1", "5"}[r.IntN(4)]), shape,
		[]int{8, 20, 53, 62}[max(r.IntN(4), kv/700)])
	if err != nil {
		t.Fatal(err)
	}
	if r.IntN(8) == 0 {
		n := weights(box.Round(shape))
		if box, err = ldp.NewPolytopeFromBounds(box.Epsilon(), n, n, box.Bits()); err != nil {
			t.Fatal(err)
		}
	}
	return box
}

// A filler returns the row that a policy's input has, or its fallback if usable is 0.
type filler func(p Policy, i, usable int) (ldp.Weights, error)

// checkFill compares rows with the greedy fill, over geometries of all kinds, boxes with columns of no width, ties,
// keys next to 2^63; and what comes of a wrong threshold with the box, or the fallback.
func checkFill(t testing.TB, fill filler) error {
	r := rand.New(rand.NewPCG(17, 1))
	for n := range 300 {
		kv := 1 + r.IntN(12)
		box, g := drawBox(t, r, kv), drawGeometry(r, kv)
		if n < 4 {
			names := []string{"points2.json", "far2.json", "ring2.json", "grid2.json"}
			cfg := geometryConfigs(t)[names[n]]
			box, g = cfg.Polytope, cfg.Geometry
		}
		cfg := greedily(Config{Polytope: box, Geometry: g, Provenance: clean})
		p, err := New(cfg)
		if err != nil {
			return err
		}
		if err := errors.Join(Verify(p), verifyRows(p)); err != nil {
			return fmt.Errorf("%+v: %w", g, err)
		}
		for i := range p.Inputs() {
			want, threshold := greedy(box, g, i)
			if got := p.c.Thresholds[i]; got != threshold {
				return fmt.Errorf("%+v, input %d: threshold %d, want %d", g, i, got, threshold)
			}
			w, err := fill(p, i, 1)
			if err != nil || !slices.Equal(weights(w), want) {
				return fmt.Errorf("%+v, input %d: %v, %v, want %v", g, i, weights(w), err, want)
			}
			if w, err := fill(p, i, 0); err != nil || !slices.Equal(weights(w), weights(p.Fallback())) {
				return fmt.Errorf("%+v, input %d, unusable data: %v, %v, want the fallback", g, i, weights(w), err)
			}
		}
		// Any other threshold is found, and its row is in the box all the same.
		cfg.Thresholds = slices.Clone(p.c.Thresholds)
		i, other := r.IntN(p.Inputs()), int32(r.IntN(box.Len()))
		right := cfg.Thresholds[i] == other
		cfg.Thresholds[i] = other
		q := mustNew(t, cfg)
		if err := verifyRows(q); (err == nil) != right || err != nil && !errors.Is(err, ErrRow) {
			return fmt.Errorf("%+v, input %d: threshold %d: %w", g, i, other, err)
		}
		w, err := fill(q, i, 1)
		if err == nil {
			err = inBox(q, w)
		}
		if err != nil {
			return fmt.Errorf("%+v, input %d, threshold %d: %w", g, i, other, err)
		}
	}
	return nil
}

func TestThresholdRows(t *testing.T) {
	if err := checkFill(t, func(p Policy, i, usable int) (ldp.Weights, error) { return p.c.fill(i, usable) }); err != nil {
		t.Error(err)
	}
}

// TestAppendRow: what AppendRow appends are the weights of Row, in both versions, and with the wrong thresholds.
func TestAppendRow(t *testing.T) {
	same := func(p Policy, i int, w ldp.Weights) error {
		n, err := p.AppendRow([]uint64{7}, i)
		if want := append([]uint64{7}, weights(w)...); err != nil || !slices.Equal(n, want) {
			return fmt.Errorf("version %d, row %d: %v, %v, want %v", p.Version(), i, n, err, want)
		}
		return nil
	}
	err := checkFill(t, func(p Policy, i, usable int) (ldp.Weights, error) {
		w, err := p.c.fill(i, usable)
		if err == nil && usable == 1 {
			err = same(p, i, w)
		}
		return w, err
	})
	if err != nil {
		t.Error(err)
	}
	small, two := smallConfig(t), geometryConfigs(t)["grid2.json"]
	for name, cfg := range map[string]Config{"version 1": small, "version 2": two} {
		p := mustNew(t, cfg)
		for i := range p.Inputs() {
			w, err := p.Row(i)
			if err == nil {
				err = same(p, i, w)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, i := range []int{-1, p.Inputs()} {
			if n, err := p.AppendRow(nil, i); !errors.Is(err, ErrShape) || n != nil {
				t.Errorf("%s, row %d: %v, %v", name, i, n, err)
			}
		}
	}
	if _, err := (Policy{}).AppendRow(nil, 0); !errors.Is(err, ErrShape) {
		t.Errorf("the zero Policy: %v", err)
	}
}

// plantedFills are fills with a bug each.
func plantedFills() map[string]filler {
	fills := map[string]filler{}
	for _, bug := range []string{
		"", "ties the other way", "the rest is lost", "the rest to the first column", "keys in 32 bits", "keys in floats",
		"the threshold of the next input",
		"the threshold at hi", "an error where the rest does not fit", "the rest where it does not fit", "unusable data draw",
		"the long way round",
	} {
		fills[bug] = func(p Policy, i, usable int) (ldp.Weights, error) { return buggyFill(bug, p, i, usable) }
	}
	return fills
}

// buggyFill is fill in its plain form, with at most one bug.
func buggyFill(bug string, p Policy, i, usable int) (ldp.Weights, error) {
	if usable == 0 && bug != "unusable data draw" {
		return p.Fallback(), nil
	}
	box, pl := p.c.Polytope, p.c.places
	t := int(p.c.Thresholds[i])
	if bug == "the threshold of the next input" {
		t = int(p.c.Thresholds[(i+1)%len(p.c.Thresholds)])
	}
	if bug == "the long way round" {
		round := *pl
		round.wrap, pl = noWrap, &round
	}
	key := func(j int) uint64 {
		k := pl.key(pl.input(i), pl.output(j))
		switch bug {
		case "keys in 32 bits":
			k = uint64(uint32(k))
		case "keys in floats":
			k = uint64(float64(k))
		}
		return k
	}
	n, sum := make([]uint64, box.Len()), new(big.Int)
	for j := range n {
		first := j < t
		if bug == "ties the other way" {
			first = j > t
		}
		n[j] = box.Lo(j)
		if k := key(j); k < key(t) || k == key(t) && first {
			n[j] = box.Hi(j)
		}
		sum.Add(sum, new(big.Int).SetUint64(n[j]))
	}
	rest := sum.Sub(new(big.Int).SetUint64(box.Total()), sum)
	fits := rest.Sign() >= 0 && rest.Cmp(new(big.Int).SetUint64(box.Hi(t)-n[t])) <= 0
	at := t
	switch bug {
	case "the rest is lost":
		rest.SetInt64(0)
	case "the rest to the first column":
		at = 0
	case "the threshold at hi":
		rest.SetUint64(box.Hi(t) - n[t])
	case "an error where the rest does not fit":
		if !fits {
			return ldp.Weights{}, ErrRow
		}
	case "the rest where it does not fit":
		fits = true
	}
	if !fits {
		return p.Fallback(), nil
	}
	n[at] += rest.Uint64()
	return box.Weights(n)
}

// Releases of version 2 draw from the threshold row, or from the fallback, over every word; so they do when a solver
// fails.
func TestThresholdRelease(t *testing.T) {
	cfg := geometryConfigs(t)["points2.json"]
	mixture := mustNew(t, cfg)
	cfg.Mode = Projection
	projection := mustNew(t, cfg)
	broken := func(context.Context, []float64) ([]float64, error) { panic("solver") }
	for _, p := range []Policy{mixture, projection} {
		for i := range p.Inputs() {
			private := string(onlyInput(t, p, i))
			want, _ := greedy(p.Polytope(), p.Geometry(), i)
			for _, pick := range []uint64{0, math.MaxUint64} {
				if got := frequencies(t, p, private, broken, pick); !slices.Equal(got, want) {
					t.Errorf("%v, input %d: %v, want %v", p, i, got, want)
				}
			}
			if w, err := p.Row(i); err != nil || !slices.Equal(weights(w), want) {
				t.Errorf("%v, row %d: %v, %v, want %v", p, i, weights(w), err, want)
			}
		}
		for _, private := range []string{"", "home", "home,1\nx"} {
			if got := frequencies(t, p, private, broken, 0); !slices.Equal(got, weights(p.Fallback())) {
				t.Errorf("%v, %q: %v, want the fallback", p, private, got)
			}
		}
		if p.Version() != 2 || !p.HasRows() {
			t.Errorf("%v: version %d", p, p.Version())
		}
	}
}

// Widths that sum past 2^64, to what would fit if it were all, give the fallback row, and VerifyRows sees it.
func TestFillPast64Bits(t *testing.T) {
	lo, hi := slices.Repeat([]uint64{1}, 7), slices.Repeat([]uint64{1 << 62}, 7)
	hi[0], hi[5] = 1<<61, 1 // column 5 has no width: it adds nothing after the sum has passed 2^64
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "64"), lo, hi, 62)
	if err != nil {
		t.Fatal(err)
	}
	g := &Geometry{Kind: Points, Axes: 1, InputPoints: []int32{0}, OutputPoints: []int32{0, 1, 2, 3, 4, 5, 6}}
	p := mustNew(t, Config{Polytope: box, Provenance: clean, Geometry: g, Thresholds: []int32{6}})
	if w, err := p.c.fill(0, 1); err != nil || !slices.Equal(weights(w), weights(p.Fallback())) {
		t.Errorf("%v, %v, want the fallback", weights(w), err)
	}
	if err := verifyRows(p); !errors.Is(err, ErrRow) {
		t.Errorf("VerifyRows: %v", err)
	}
}

// A geometry is refused if both bounds of its keys reach 2^63, and just then: there is none above.
func TestKeyLimit(t *testing.T) {
	const half, root = 1 << 30, 3037000499 // root^2 < 2^63 < (root + 1)^2
	for _, c := range []struct {
		axes int
		out  []int32
		ok   bool
		in   []int32 // if apart
	}{
		{1, []int32{-1518500250}, true, []int32{1518500249}},
		{1, []int32{-1518500250}, false, []int32{1518500250}},
		{1, []int32{1518500250}, false, []int32{-1518500250}},
		{2, []int32{half, half}, false, []int32{-half, -half}},
		{2, []int32{half, half}, true, []int32{half, half}},
		{8, unitVectors(8), false, []int32{half, half, 0, 0, 0, 0, 0, 0}}, // one long vector, in either list
		{8, []int32{half, half, 0, 0, 0, 0, 0, 0}, false, unitVectors(8)},
		{2, []int32{half, half}, false, []int32{0, 0, -half, -half}},
		{1, []int32{-1518500250, 1518500249}, true, nil},
		{1, []int32{-1518500250, 1518500250}, false, nil},
		{1, []int32{math.MinInt32, math.MinInt32 + root - 1<<31}, true, nil},
		{1, []int32{math.MinInt32, math.MaxInt32}, false, nil},
		{2, []int32{-half, math.MinInt32, half, math.MaxInt32}, false, nil}, // 2^62 and nearly 2^64
		{2, []int32{-half, -half, half, half}, false, nil},                  // 2 * 2^62, and 4 * 2^61
		{2, []int32{-half, -half, half, half - 1}, true, nil},               // by the first bound
		{2, []int32{-half, half, half - 1, -half}, true, nil},               //
		{3, []int32{half, 0, 0, -half, 0, 0}, true, nil},                    // unit vectors: by both
		{3, []int32{1 << 30, 1 << 30, 0, 0, 0, 0}, true, nil},               //
		{4, slices.Repeat([]int32{half, -half}, 4), true, nil},              // the range is 0
		{5, append(slices.Repeat([]int32{-half}, 5), slices.Repeat([]int32{half}, 5)...), false, nil},
		{9, slices.Concat(slices.Repeat([]int32{0, 0, 0, 0, 0, 0, 0, 0, 0, half, half}, 9)), false, nil},
		{8, unitVectors(8), true, nil}, // the second bound alone: 8 * 2^62 against 2^62
	} {
		g := &Geometry{Kind: Points, Axes: c.axes, OutputPoints: c.out, InputPoints: c.in}
		kv := len(c.out) / c.axes
		p, err := g.places(inputsOf(g, kv), kv)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrLimit) {
			t.Errorf("%v from %v: %v, accepted should be %v", c.out, c.in, err, c.ok)
		}
		if err != nil {
			continue
		}
		for i := range inputsOf(g, kv) {
			for j := range kv {
				want := new(big.Int)
				for a := range c.axes {
					d := big.NewInt(int64(p.in[i*c.axes+a]) - int64(c.out[j*c.axes+a]))
					want.Add(want, d.Mul(d, d))
				}
				if got := p.key(p.input(i), p.output(j)); !want.IsUint64() || got != want.Uint64() || got >= 1<<63 {
					t.Errorf("key of %d and %d in %v: %d, want %v", i, j, c.out, got, want)
				}
			}
		}
	}
}

// unitVectors returns plus and minus the axes at 30 bits.
func unitVectors(axes int) (out []int32) {
	for a := range axes {
		for _, v := range []int32{1 << 30, -1 << 30} {
			x := make([]int32, axes)
			x[a] = v
			out = append(out, x...)
		}
	}
	return out
}

// TestAlienGeometry: a grid and a ring have nothing that only another geometry has, not one thing alone either.
func TestAlienGeometry(t *testing.T) {
	for name, set := range map[string]func(g *Geometry){
		"axes": func(g *Geometry) { g.Axes = 1 }, "rows": func(g *Geometry) { g.Rows++ }, "columns": func(g *Geometry) { g.Cols++ },
		"inputs":  func(g *Geometry) { g.InputPoints = []int32{1} },
		"outputs": func(g *Geometry) { g.OutputPoints = []int32{1} },
	} {
		for _, g := range []Geometry{{Kind: Grid, Rows: 2, Cols: 2}, {Kind: Ring}} {
			if _, err := g.places(4, 4); err != nil {
				t.Errorf("%s: %v", g.Kind, err)
			}
			set(&g)
			if _, err := g.places(4, 4); !errors.Is(err, ErrShape) {
				t.Errorf("a %s with %s: %v", g.Kind, name, err)
			}
		}
	}
}

// TestFillOfAnyThreshold: the short way to a row gives what the way of a release gives, whatever the threshold: where
// it is too early or too late, and where nothing is left for it.
func TestFillOfAnyThreshold(t *testing.T) {
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "2"), []uint64{1, 1, 1, 1}, []uint64{3, 3, 3, 3}, 3)
	if err != nil {
		t.Fatal(err)
	}
	nothingLeft := 0
	for threshold := range int32(4) {
		p := mustNew(t, Config{Polytope: box, Inputs: 4, Geometry: &Geometry{Kind: Points, Axes: 1, OutputPoints: []int32{0, 1, 3, 7}},
			Thresholds: slices.Repeat([]int32{threshold}, 4), Provenance: clean})
		for i := range 4 {
			want, err := p.c.fill(i, 1)
			if err != nil {
				t.Fatal(err)
			}
			got := p.c.appendFill(nil, i)
			if !slices.Equal(got, weightsOf(want)) {
				t.Errorf("threshold %d of input %d: %v, a release has %v", threshold, i, got, weightsOf(want))
			}
			if slices.Index(got, 3) >= 0 && got[threshold] == 1 {
				nothingLeft++
			}
		}
	}
	if nothingLeft == 0 {
		t.Error("no threshold without a rest")
	}
}

// TestVerifyRowsLooks: the context is looked at before the first input, and again when more than 2^18 keys follow.
func TestVerifyRowsLooks(t *testing.T) {
	const outputs = 1 << 9
	g := &Geometry{Kind: Points, Axes: 1}
	for j := range int32(outputs) {
		g.OutputPoints = append(g.OutputPoints, j)
	}
	g.InputPoints = append(slices.Clone(g.OutputPoints), outputs, outputs+1)
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), slices.Repeat([]uint64{1}, outputs), slices.Repeat([]uint64{1}, outputs), 9)
	if err != nil {
		t.Fatal(err)
	}
	thresholds := append(slices.Clone(g.OutputPoints), outputs-1, outputs-1)
	p := mustNew(t, Config{Polytope: box, Inputs: outputs + 2, Geometry: g, Thresholds: thresholds, Provenance: clean})
	for to, looks := range map[int]int{1: 1, outputs: 1, outputs + 1: 1, outputs + 2: 2} {
		c := &ticking{Context: t.Context(), last: 1 << 30}
		if err := VerifyRows(c, p, 0, to); err != nil || c.looks != looks {
			t.Errorf("%d inputs: %v after %d looks, want %d", to, err, c.looks, looks)
		}
	}
}

// What no geometry has is refused by New, in words of the right kind.
func TestGeometryErrors(t *testing.T) {
	base := geometryConfigs(t)["points2.json"]
	point := func(change func(*Config, *Geometry)) Config {
		cfg := base
		g := base.Geometry.clone()
		cfg.Geometry = g
		change(&cfg, g)
		return cfg
	}
	for _, c := range []struct {
		name string
		cfg  Config
		want error
	}{
		{"no kind", point(func(_ *Config, g *Geometry) { g.Kind = "" }), ErrMode},
		{"no axes", point(func(_ *Config, g *Geometry) { g.Axes = 0 }), ErrShape},
		{"negative axes", point(func(_ *Config, g *Geometry) { g.Axes = -1 }), ErrShape},
		{"other axes", point(func(_ *Config, g *Geometry) { g.Axes = 5 }), ErrShape},
		{"a coordinate less", point(func(_ *Config, g *Geometry) { g.OutputPoints = g.OutputPoints[1:] }), ErrShape},
		{"a coordinate more", point(func(_ *Config, g *Geometry) { g.OutputPoints = append(g.OutputPoints, 0) }), ErrShape},
		{"an input less", point(func(_ *Config, g *Geometry) { g.InputPoints = g.InputPoints[2:] }), ErrShape},
		{"half an input less", point(func(_ *Config, g *Geometry) { g.InputPoints = g.InputPoints[1:] }), ErrShape},
		{"points in rows", point(func(_ *Config, g *Geometry) { g.Rows = 1 }), ErrShape},
		{"a ring of points", point(func(_ *Config, g *Geometry) { g.Kind = Ring }), ErrShape},
		{"a grid of other size", point(func(_ *Config, g *Geometry) { *g = Geometry{Kind: Grid, Rows: 2, Cols: 2} }),
			ErrShape},
		{"a grid of negative size", point(func(_ *Config, g *Geometry) { *g = Geometry{Kind: Grid, Rows: -1, Cols: -5} }),
			ErrShape},
		{"a ring with other inputs", point(func(c *Config, g *Geometry) { *g = Geometry{Kind: Ring} }), ErrShape},
		{"rows as well", point(func(c *Config, _ *Geometry) { c.Rows = []Row{{}, {}, {}} }), ErrShape},
		{"thresholds alone", point(func(c *Config, _ *Geometry) {
			c.Geometry, c.Mode, c.Thresholds = nil, Projection,
				[]int32{0, 0, 0}
		}), ErrShape},
		{"too few thresholds", point(func(c *Config, _ *Geometry) { c.Thresholds = []int32{0, 0} }), ErrShape},
		{"no thresholds", point(func(c *Config, _ *Geometry) { c.Thresholds = []int32{} }), ErrShape},
		{"a threshold beyond", point(func(c *Config, _ *Geometry) { c.Thresholds = []int32{0, 0, 5} }), ErrRow},
		{"a negative threshold", point(func(c *Config, _ *Geometry) { c.Thresholds = []int32{0, -1, 0} }), ErrRow},
	} {
		if _, err := New(c.cfg); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if err := verifyRows(Policy{}); !errors.Is(err, ErrPolicy) {
		t.Errorf("no policy: %v", err)
	}
}

// Files of version 2 are canonical: what decodes encodes to its bytes, and each change of a byte is refused or is
// another policy.
func TestVersion2Files(t *testing.T) {
	for name, cfg := range geometryConfigs(t) {
		want, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		p := mustNew(t, cfg)
		if got := mustEncode(t, p); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%s", name, got)
		}
		q, err := Decode(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if q.ID() != p.ID() || fmt.Sprint(q.Geometry()) != fmt.Sprint(p.Geometry()) ||
			!slices.Equal(q.c.Thresholds, p.c.Thresholds) {
			t.Errorf("%s: decoded as %v", name, q)
		}
		step := 1
		if !numtest.Full() {
			step = 5
		}
		for i := 0; i < len(want); i += step {
			for _, b := range []byte{want[i] ^ 1, want[i] ^ 16, ' ', '0', '-', '"', '\n'} {
				data := bytes.Clone(want)
				data[i] = b
				if p, err := Decode(data); err == nil && !bytes.Equal(mustEncode(t, p), data) {
					t.Fatalf("%s: byte %d made %q: decoded", name, i, b)
				}
			}
			for _, data := range [][]byte{want[:i], slices.Concat(want[:i], want[i+1:]),
				slices.Concat(want[:i], []byte(","), want[i:])} {
				if p, err := Decode(data); err == nil && !bytes.Equal(mustEncode(t, p), data) {
					t.Fatalf("%s: cut or added at %d: decoded", name, i)
				}
			}
		}
		var at *FormatError
		lines := bytes.SplitAfter(want, []byte("\n"))
		for _, member := range []string{"geometry", "thresholds", "fallback", "bits"} {
			n := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte(`"`+member)) })
			broken := slices.Clone(lines)
			broken[n] = bytes.Replace(lines[n], []byte(":"), []byte(": "), 1)
			if _, err := Decode(slices.Concat(broken...)); !errors.As(err, &at) || at.Field != member || at.Line != n+1 {
				t.Errorf("%s: a space in %s: %v", name, member, err)
			}
		}
	}
}

// A file of 4,000 places in the plane, under the uniform measure, has a quarter of a megabyte, and takes memory in
// proportion to decode and to release from.
func TestVersion2Size(t *testing.T) {
	const n = 4000
	shape := slices.Repeat([]float64{1.0 / n}, n)
	box, err := ldp.NewPolytope(mustEpsilon(t, "2"), shape, 62)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	cfg := Config{Polytope: box, Geometry: &Geometry{Kind: Points, Axes: 2}, Thresholds: make([]int32, n),
		Provenance: clean}
	for i := range 2 * n {
		cfg.Geometry.OutputPoints = append(cfg.Geometry.OutputPoints, r.Int32())
		cfg.Thresholds[i/2] = r.Int32N(n)
	}
	p := mustNew(t, cfg)
	data := mustEncode(t, p)
	if len(data) > 250_000 {
		t.Errorf("%d bytes", len(data))
	}
	private := []byte("7,1")
	allocs := testing.AllocsPerRun(5, func() { p.c.law(t.Context(), private, nil, 0) })
	if decode := testing.AllocsPerRun(2, func() { _, _ = Decode(data) }); decode > 500 || allocs > 200 {
		t.Errorf("%v allocations to decode, %v to release", decode, allocs)
	}
}

// ticking is a context that is over after so many looks at it.
type ticking struct {
	context.Context
	looks, last int
}

func (c *ticking) Err() error {
	if c.looks++; c.looks >= c.last {
		return context.Canceled
	}
	return nil
}

// TestVerifyRowsPart holds that parts of the inputs are checked as the whole is, and that a context that is over ends
// the check before the next input, since each input here has more coordinates than are read between two looks.
func TestVerifyRowsPart(t *testing.T) {
	const inputs, outputs, axes = 3, 10_000, 64
	r := rand.New(rand.NewPCG(5, 6))
	g := &Geometry{Kind: Points, Axes: axes}
	for n := range (inputs + outputs) * axes {
		if v := r.Int32N(1 << 20); n < inputs*axes {
			g.InputPoints = append(g.InputPoints, v)
		} else {
			g.OutputPoints = append(g.OutputPoints, v)
		}
	}
	box, err := ldp.NewPolytope(mustEpsilon(t, "1"), slices.Repeat([]float64{1.0 / outputs}, outputs), 62)
	if err != nil {
		t.Fatal(err)
	}
	cfg := greedily(Config{Polytope: box, Geometry: g, Provenance: clean})
	p := mustNew(t, cfg)
	all := &ticking{Context: t.Context(), last: 1 << 30}
	if err := VerifyRows(all, p, 0, inputs); err != nil || all.looks != inputs {
		t.Fatalf("%v, after %d looks at the context", err, all.looks)
	}
	for last := range all.looks {
		c := &ticking{Context: t.Context(), last: last + 1}
		if err := VerifyRows(c, p, 0, inputs); !errors.Is(err, context.Canceled) || c.looks != last+1 {
			t.Errorf("stopped at look %d: %v after %d", last+1, err, c.looks)
		}
	}
	cfg.Thresholds = slices.Clone(p.c.Thresholds)
	cfg.Thresholds[1] = (cfg.Thresholds[1] + 1) % outputs
	q := mustNew(t, cfg)
	for _, part := range []struct {
		from, to int
		want     error
	}{
		{0, 1, nil}, {1, 2, ErrRow}, {2, 3, nil}, {0, 3, ErrRow}, {1, 1, nil}, {3, 3, nil},
		{-1, 1, ErrShape}, {0, 4, ErrShape}, {2, 1, ErrShape},
	} {
		if err := VerifyRows(t.Context(), q, part.from, part.to); !errors.Is(err, part.want) {
			t.Errorf("inputs %d to %d: %v, want %v", part.from, part.to, err, part.want)
		}
	}
	if err := VerifyRows(t.Context(), mustNew(t, smallConfig(t)), 0, 9); !errors.Is(err, ErrShape) {
		t.Errorf("inputs that are not there, without a geometry: %v", err)
	}
}
