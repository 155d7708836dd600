package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestFloorExp compares with ldp's own enclosure of e^eps, which is another program, and with powers of e to 30
// digits.
func TestFloorExp(t *testing.T) {
	for _, c := range []struct {
		eps  string
		n    uint64
		want string
	}{
		// 2^62 (1 + 1e-18) = 2^62 + 4.6
		{"1", 0, "0"}, {"1", 1, "2"}, {"1", 150, "407"}, {"2", 1, "7"}, {"1e-18", 1 << 62, "4611686018427387908"},
		{"1e-18", 1, "1"}, {"40", 1, "235385266837019985"}, {"64", 1, "6235149080811616882909238708"}, {"1/3", 3, "4"},
	} {
		if got := floorExp(given.Epsilon(t, c.eps).Rat(), c.n); got.String() != c.want {
			t.Errorf("floor(e^%s * %d) = %v, want %s", c.eps, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 64_000_000).Draw(t, "num")
		eps, err := ldp.ParseEpsilon(big.NewRat(num,
			rapid.Int64Range(1_000_000, 1_000_000_000_000).Draw(t, "den")).RatString())
		if err != nil {
			t.Skip("out of range")
		}
		n := rapid.OneOf(rapid.Uint64Range(0, 100), rapid.Uint64Range(0, 1<<62)).Draw(t, "n")
		low, high := eps.ExpBounds(200)
		want := new(big.Rat).SetInt(floorExp(eps.Rat(), n))
		w := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
		if want.Cmp(new(big.Rat).Mul(high, w)) > 0 ||
			new(big.Rat).Add(want, big.NewRat(1, 1)).Cmp(new(big.Rat).Mul(low, w)) < 0 {
			t.Fatalf("floor(e^%v * %d) = %v, but ldp has [%v, %v] for the factor", eps, n, want, low, high)
		}
	})
}

// TestBox: each fault by name, each one unit away from a box that holds.
func TestBox(t *testing.T) {
	good := Table{Epsilon: given.Epsilon(t, "1"), Bits: 10, Lo: []uint64{150, 150, 150, 0}, Hi: []uint64{407, 407, 407, 0}}
	if c := Box(good); !c.Passed || c.Fault != "" || c.Worst == nil || c.Worst.Num != 407 || c.Worst.Den != 150 ||
		c.Worst.Spare.Sign() != 0 || !c.Worst.Within {
		t.Fatalf("Box(good) = %+v, %v", c, c.Worst)
	}
	for name, test := range map[string]struct {
		change func(*Table)
		want   string
	}{
		"no eps":       {func(t *Table) { t.Epsilon = ldp.Epsilon{} }, "epsilon"},
		"no bits":      {func(t *Table) { t.Bits = 0 }, "0 bits"},
		"63 bits":      {func(t *Table) { t.Bits = 63 }, "63 bits"},
		"empty":        {func(t *Table) { t.Lo, t.Hi = nil, nil }, "0 lower"},
		"lengths":      {func(t *Table) { t.Hi = t.Hi[:3] }, "3 upper"},
		"labels":       {func(t *Table) { t.Outputs = []string{"a"} }, "1 output labels"},
		"lo above hi":  {func(t *Table) { t.Lo[1] = 408 }, "output 1: lo = 408 above hi = 407"},
		"hi beyond":    {func(t *Table) { t.Hi[2] = 408 }, "output 2: hi = 408 above e^1 times lo = 150"},
		"lo lower":     {func(t *Table) { t.Lo[2] = 149 }, "above e^1"},
		"lo is 0":      {func(t *Table) { t.Lo[2] = 0 }, "above e^1"},
		"dead column":  {func(t *Table) { t.Hi[3] = 1 }, "output 3"},
		"hi above 2^B": {func(t *Table) { t.Lo[0], t.Hi[0] = 400, 1025 }, "above 2^10"},
		"lo too heavy": {func(t *Table) { t.Lo = []uint64{342, 342, 341, 0} }, "lower bounds sum to 1025"},
		"hi too light": {func(t *Table) { t.Hi = []uint64{341, 341, 341, 0} }, "upper bounds sum to 1023"},
		"lo overflow":  {func(t *Table) { t.Lo[0], t.Lo[1], t.Lo[2] = 1<<63, 1<<63, 1<<63 }, "above hi"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			bad.Lo, bad.Hi = slices.Clone(good.Lo), slices.Clone(good.Hi)
			test.change(&bad)
			if c := Box(bad); c.Passed || !strings.Contains(c.Fault, test.want) {
				t.Errorf("%s: passed %v, fault %q, want one with %q", name, c.Passed, c.Fault, test.want)
			}
		})
	}
}

// TestBoxAgreesWithLDP: two programs, one verdict, on boxes around the edge of every rule.
func TestBoxAgreesWithLDP(t *testing.T) {
	yes := 0
	rapid.Check(t, func(t *rapid.T) {
		eps, err := ldp.ParseEpsilon(rapid.SampledFrom([]string{"1/3", "1", "2.5", "1e-18", "0.0001", "20"}).Draw(t, "eps"))
		if err != nil {
			t.Fatal(err)
		}
		tab := Table{Epsilon: eps, Bits: rapid.SampledFrom([]int{3, 8, 40, 62}).Draw(t, "bits")}
		kv := rapid.IntRange(1, 4).Draw(t, "kv")
		for range kv {
			// Near the mean weight, hi near e^eps lo.
			lo := tab.total()/uint64(2*kv) + rapid.Uint64Range(0, 1).Draw(t, "more")*(tab.total()/uint64(2*kv))
			hi := floorExp(eps.Rat(), lo)
			hi.Add(hi, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "off")))
			h := tab.total()
			if hi.IsUint64() && hi.Uint64() < h {
				h = hi.Uint64()
			}
			tab.Lo, tab.Hi = append(tab.Lo, lo), append(tab.Hi, h)
		}
		_, err = ldp.NewPolytopeFromBounds(eps, tab.Lo, tab.Hi, tab.Bits)
		if c := Box(tab); c.Passed != (err == nil) {
			t.Fatalf("Box(%+v): passed %v, fault %q; ldp says %v", tab, c.Passed, c.Fault, err)
		}
		if err == nil {
			yes++
		}
	})
	if yes == 0 {
		t.Error("no box of the generator holds: the test compares one side only")
	}
}

// TestRows: faults by name, and the worst pair against all pairs.
func TestRows(t *testing.T) {
	good := fair(t)
	if c := Rows(good); !c.Passed || c.Rows != 5 || c.Worst.Num != 407 || c.Worst.Den != 150 || !c.Worst.Within ||
		c.Worst.Spare.Sign() != 0 {
		t.Fatalf("Rows(good) = %+v, %v", c, c.Worst)
	}
	for name, test := range map[string]struct {
		row  []uint64
		want string
	}{
		"one too many":  {[]uint64{408, 316, 150, 150}, "input 2: weight 408 of output 0 is outside [150, 407]"},
		"one too few":   {[]uint64{149, 407, 318, 150}, "input 2: weight 149"},
		"sum too small": {[]uint64{407, 316, 150, 150}, "input 2: the weights sum to 1023, not to 2^10"},
		"short":         {[]uint64{1024}, "input 2: 1 weights for 4 outputs"},
		"empty":         {[]uint64{}, "input 2: 0 weights"},
		"lost":          {[]uint64{0, 0, 0, 0}, "input 2: weight 0"},
		"overflow":      {[]uint64{1 << 63, 1 << 63, 1 << 63, 1 << 63}, "outside"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			bad.Rows = slices.Clone(good.Rows)
			bad.Rows[2].N = test.row
			if c := Rows(bad); c.Passed || !strings.Contains(c.Fault, test.want) {
				t.Errorf("%s: passed %v, fault %q, want one with %q", name, c.Passed, c.Fault, test.want)
			}
		})
	}
	// In a box that is too wide, rows may each be inside and yet too far apart.
	wide := good
	wide.Lo, wide.Hi = []uint64{0, 0, 0, 0}, []uint64{1024, 1024, 1024, 1024}
	wide.Rows = []Row{{Name: "a", N: []uint64{408, 316, 150, 150}}, {Name: "unknown"},
		{Name: "b", N: []uint64{150, 407, 317, 150}}}
	if c := Rows(wide); c.Passed || c.Rows != 2 || c.Fault != "output 0: 408 in a is above e^1 times 150 in b" ||
		c.Worst.Within || c.Worst.Spare.Int64() != -1 {
		t.Errorf("rows too far apart: %+v, %v", c, c.Worst)
	}
}

func TestWorstPairLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := Table{Epsilon: must(ldp.ParseEpsilon("1")), Bits: 6, Lo: []uint64{0, 0, 0}, Hi: []uint64{64, 64, 64}}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			n := rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 0, 1, 2, 3, 31, 64}), 3, 3).Draw(t, "n")
			tab.Rows = append(tab.Rows, Row{Name: "r", N: n})
		}
		var worst *big.Rat
		infinite := false
		for j := range 3 {
			for _, a := range tab.Rows {
				for _, b := range tab.Rows {
					switch {
					case a.N[j] == 0:
					case b.N[j] == 0:
						infinite = true
					default:
						if r := big.NewRat(int64(a.N[j]), int64(b.N[j])); worst == nil || r.Cmp(worst) > 0 {
							worst = r
						}
					}
				}
			}
		}
		got := Rows(tab).Worst
		switch {
		case infinite:
			if got == nil || got.Den != 0 || !math.IsInf(float64(got.Loss), 1) || got.Within {
				t.Fatalf("worst pair %v, want an infinite one", got)
			}
		case worst == nil:
			if got != nil {
				t.Fatalf("worst pair %v of nothing", got)
			}
		default:
			f, _ := worst.Float64()
			if got == nil || got.Den == 0 || big.NewRat(int64(got.Num), int64(got.Den)).Cmp(worst) != 0 ||
				math.Abs(float64(got.Loss)-math.Log(f)) > 1e-12 {
				t.Fatalf("worst pair %v, want %v", got, worst)
			}
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestExactOnPolicies: mechanisms that wpm publishes pass, in both modes, at all sizes of words.
func TestExactOnPolicies(t *testing.T) {
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		for _, bits := range []int{12, 31, 62} {
			p := ring(t, 7, "1.5", bits, mode)
			checks, err := Exact(context.Background(), p, 200, 3, projector(t, p))
			if err != nil {
				t.Fatal(err)
			}
			table, err := TableOf(p)
			if err != nil {
				t.Fatal(err)
			}
			checks = append(checks, Words(p, table))
			for _, c := range checks {
				if !c.Passed || c.Worst != nil && !c.Worst.Within {
					t.Errorf("%s, %d bits: %s: %s", mode, bits, c.Name, c.Fault)
				}
			}
			if len(checks) != 6 || checks[2].Rows != 8 || checks[3].Name != "thresholds" || checks[4].Rows != 200 ||
				checks[5].Rows != 7 {
				t.Fatalf("%s, %d bits: %d checks: %+v", mode, bits, len(checks), checks)
			}
			again, _ := Exact(context.Background(), p, 200, 3, projector(t, p))
			other, _ := Exact(context.Background(), p, 200, 4, nil)
			if again[4].Worst.String() != checks[4].Worst.String() || again[4].What == other[4].What {
				t.Errorf("random rows are not a function of their seed: %v, %v", again[4], other[4])
			}
		}
	}
	grid, err := cost.NewGrid(3, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	if c := Box(must(TableOf(publish(t, grid, "1e-3", 62, policy.Mixture, nil)))); !c.Passed {
		t.Error(c.Fault)
	}
}

// TestRandomSurvivesSolvers: whatever the solver does short of a panic, rows are rounded into the box.
func TestRandomSurvivesSolvers(t *testing.T) {
	p := ring(t, 5, "1", 62, policy.Projection)
	for name, project := range map[string]policy.ProjectFunc{
		"error": func(context.Context, []float64) ([]float64, error) { return nil, errors.New("no") },
		"NaN": func(_ context.Context, mu []float64) ([]float64, error) {
			return slices.Repeat([]float64{math.NaN()}, len(mu)), nil
		},
		"the data": func(_ context.Context, mu []float64) ([]float64, error) { return mu, nil },
	} {
		t.Run(name, func(t *testing.T) {
			if c, err := Random(context.Background(), p, 100, 1, project); err != nil || !c.Passed || c.Rows != 100 {
				t.Errorf("%s: %+v, %v", name, c, err)
			}
		})
	}
	calls := 0
	if _, err := Random(context.Background(), p, 100, 1, func(_ context.Context, mu []float64) ([]float64, error) {
		calls++
		total := 0.0
		for _, v := range mu {
			total += v
		}
		if len(mu) != 5 || !(math.Abs(total-1) < 1e-12) || slices.Min(mu) < 0 { // a few roundings
			t.Errorf("the solver is asked for %v", mu)
		}
		return mu, nil
	}); err != nil || calls != 5 {
		t.Errorf("the solver was asked %d times for 100 rows, %v", calls, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Random(ctx, p, 100, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Exact(ctx, p, 0, 1, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Exact(context.Background(), policy.Policy{}, 0, 1, nil); !errors.Is(err, ErrTable) {
		t.Errorf("zero policy: %v", err)
	}
	for _, i := range []int{-2, 5} {
		if _, err := TableOf(p, i); !errors.Is(err, ErrDesign) {
			t.Errorf("input %d: %v", i, err)
		}
	}
}

// TestWords: a sampler that is wrong on one word is found, with every word tried and with edges alone.
func TestWords(t *testing.T) {
	label := func(j int) string { return string(rune('a' + j)) }
	for _, bits := range []int{4, 62} {
		unit := uint64(1) << uint(bits-4)
		n := []uint64{3 * unit, 0, 7 * unit, 6 * unit}
		right := inverse(n)
		ok := func(word uint64) (int, error) { return right(word), nil }
		if fault := wordFault(n, bits, label, ok); fault != "" {
			t.Errorf("%d bits: %s", bits, fault)
		}
		for name, f := range map[string]draw{
			"edge":        func(w uint64) (int, error) { return right(min(w+1, 16*unit-1)), nil },
			"other edge":  func(w uint64) (int, error) { return right(max(w, 1) - 1), nil },
			"last output": func(w uint64) (int, error) { return min(right(w), 2), nil },
			"dead output": func(w uint64) (int, error) { return map[bool]int{true: 1, false: right(w)}[w == 3*unit], nil },
			"beyond":      func(w uint64) (int, error) { return right(w) + 1, nil },
			"fails":       func(w uint64) (int, error) { return 0, errors.New("no bits") },
		} {
			if fault := wordFault(n, bits, label, f); fault == "" {
				t.Errorf("%d bits: %s was not found", bits, name)
			}
		}
	}
	if enumerable(16, 2000) || !enumerable(16, 1000) || enumerable(17, 1) {
		t.Error("enumerable")
	}
	p := ring(t, 5, "1", 12, policy.Mixture)
	table := must(TableOf(p))
	table.Rows[3].N = []uint64{4096, 0, 0, 0, 0}
	if c := Words(p, table); c.Passed || !strings.Contains(c.Fault, "input p3") {
		t.Errorf("a row outside the box: %+v", c)
	}
	table.Bits = 0
	if c := Words(p, table); c.Passed {
		t.Error("a table without bits passed")
	}
}

// A threshold that is not the greedy one fails a check of its own, and no other: privacy holds all the same.
func TestThresholds(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.25, 0.25, 0.25}, 20)
	if err != nil {
		t.Fatal(err)
	}
	cfg := policy.Config{
		Polytope: box, Geometry: &policy.Geometry{Kind: policy.Ring},
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	}
	right, err := (&ranking.Ranking{Geometry: *cfg.Geometry}).Thresholds(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	for _, add := range []int32{0, 1} {
		cfg.Thresholds = append([]int32{(right[0] + add) % 3}, right[1:]...)
		p, err := policy.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		checks, err := Exact(t.Context(), p, 0, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, c := range checks {
			wrong := c.Name == "thresholds" && policy.VerifyRows(t.Context(), p, 0, p.Inputs()) != nil
			found = found || c.Name == "thresholds"
			if c.Passed == wrong || (c.Fault == "") != c.Passed {
				t.Errorf("threshold %d: %+v", cfg.Thresholds[0], c)
			}
		}
		if !found || (add == 1) != (policy.VerifyRows(t.Context(), p, 0, p.Inputs()) != nil) {
			t.Errorf("threshold %d: %+v", cfg.Thresholds[0], checks)
		}
	}
}

// TestThresholdsOnCores holds that several cores say what one does: all inputs of a right policy, the first wrong one
// of another, the reason of a context that is over.
func TestThresholdsOnCores(t *testing.T) {
	const n = 400 // four blocks
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, slices.Repeat([]float64{1.0 / n}, n), 40)
	if err != nil {
		t.Fatal(err)
	}
	var points []int32
	for i := range int32(2 * n) {
		points = append(points, i*i%101)
	}
	for name, g := range map[string]policy.Geometry{
		"ring": {Kind: policy.Ring}, "grid": {Kind: policy.Grid, Rows: 16, Cols: 25},
		"points": {Kind: policy.Points, Axes: 2, OutputPoints: points},
	} {
		t.Run(name, func(t *testing.T) { thresholdsOnCores(t, g, box) })
	}
}

func thresholdsOnCores(t *testing.T, g policy.Geometry, box *ldp.Polytope) {
	cfg := policy.Config{
		Polytope: box, Geometry: &g,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	}
	n := box.Len()
	var err error
	cfg.Thresholds, err = (&ranking.Ranking{Geometry: g}).Thresholds(t.Context(), box)
	if err != nil {
		t.Fatal(err)
	}
	made := func(wrong ...int) policy.Policy {
		c := cfg
		c.Thresholds = slices.Clone(cfg.Thresholds)
		for _, i := range wrong {
			c.Thresholds[i] = (c.Thresholds[i] + 1) % int32(n)
		}
		p, err := policy.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	for procs := range numtest.Cases(3, 4) {
		old := runtime.GOMAXPROCS(1 << procs)
		right := Thresholds(t.Context(), made())
		var wrong []string
		for _, list := range [][]int{{0}, {n - 1, 130, 131, 300}, {n - 1}} {
			p := made(list...)
			got := Thresholds(t.Context(), p)
			if want := policy.VerifyRows(t.Context(), p, 0, n); !errors.Is(got, policy.ErrRow) || got.Error() != want.Error() {
				wrong = append(wrong, fmt.Sprintf("%v: %v, want %v", list, got, want))
			}
		}
		stopped := Thresholds(over, made(3))
		runtime.GOMAXPROCS(old)
		if right != nil || wrong != nil || !errors.Is(stopped, context.Canceled) {
			t.Errorf("%d cores: %v, %v, %v", 1<<procs, right, wrong, stopped)
		}
	}
}

// TestThresholdsByTree holds that a tree finds all thresholds right that are, and only these, where they differ in weight
// and where some have none.
func TestThresholdsByTree(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	g := policy.Geometry{Kind: policy.Points, Axes: 1, OutputPoints: []int32{3, 0, 7, 7, 20, 3, 9}}
	for bits, m := range map[int][]float64{10: {1, 2, 0, 1, 1, 3, 2}, 3: {1, 1, 1, 1, 1, 1, 1}} { // with 3, lo is 1, and hi 2
		for _, scale := range []float64{0.1 * math.Exp(-0.5), 0.1, 0.15} {
			mass := make([]float64, len(m))
			for j := range m {
				mass[j] = m[j] * scale
			}
			box, err := ldp.NewPolytope(eps, mass, bits)
			if errors.Is(err, ldp.ErrInfeasible) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			right, err := (&ranking.Ranking{Geometry: g}).Thresholds(t.Context(), box)
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(m) * len(m) {
				list := slices.Clone(right)
				list[n/len(m)] = int32(n % len(m))
				p, err := policy.New(policy.Config{
					Polytope: box, Geometry: &g, Thresholds: list,
					Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
				})
				if err != nil {
					t.Fatal(err)
				}
				got, want := Thresholds(t.Context(), p), policy.VerifyRows(t.Context(), p, 0, len(m))
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("masses %v, thresholds %d: %v, want %v", mass, list, got, want)
				}
			}
		}
	}
}
