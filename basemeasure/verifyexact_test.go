package basemeasure

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// oracle is Verify in rationals, every row read and sorted, with the same bounds on e^(eps/2).
func oracle(c cost.Matrix, eps float64, r Result) (upper, lower *big.Rat) {
	k, kv := c.Dims()
	half := num.Rat(eps)
	down, up := num.ExpFixed(half.Quo(half, big.NewRat(2, 1)), expBits)
	unit := new(big.Int).Lsh(big.NewInt(1), expBits)
	b, e := new(big.Rat).SetFrac(down, unit), new(big.Rat).SetFrac(up, unit)
	e.Mul(e, e)
	one := big.NewRat(1, 1)
	rat := func(x *big.Rat) *big.Rat { return new(big.Rat).Set(x) }

	total := num.SumRat(r.M)
	low, high := rat(total).Quo(total, b), rat(total).Mul(total, b)
	point := low.Cmp(one) >= 0 || high.Cmp(one) <= 0 || b.Cmp(one) == 0
	wide := rat(b).Mul(b, b)
	wide.Sub(wide, one)
	phi := make([]*big.Rat, k)
	for i := range phi {
		row := slices.Clone(c.Row(i, nil))
		if i > 0 && slices.Equal(row, c.Row(i-1, nil)) {
			phi[i] = phi[i-1]
			continue
		}
		phi[i] = new(big.Rat)
		if point {
			phi[i].Quo(num.DotRat(row, r.M), total)
			continue
		}
		order := make([]int, kv)
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
		rest := rat(b).Sub(b, total) // all times b: there is no other division
		for _, j := range order {
			m := num.Rat(r.M[j])
			give := new(big.Rat).Mul(m, wide)
			if give.Cmp(rest) > 0 {
				give.Set(rest)
			}
			rest.Sub(rest, give)
			phi[i].Add(phi[i], m.Add(m, give).Mul(m, num.Rat(row[j])))
		}
		phi[i].Quo(phi[i], b)
	}

	// The parts of the objective, and the weight of each input in the whole.
	mix := big.NewRat(1, 1)
	switch r.Settings.Objective {
	case Average:
		mix.SetInt64(0)
	case Mixed:
		mix = num.Rat(r.Settings.Mix)
	}
	ones := slices.Repeat([]float64{1}, k)
	average := r.Settings.InputWeights
	if average == nil {
		average = ones
	}
	rest := rat(one).Sub(one, mix)
	worst, mean := new(big.Rat), new(big.Rat)
	weights := make([]*big.Rat, k)
	for i, x := range phi {
		if !slices.Contains(r.Settings.Exclude, i) && x.Cmp(worst) > 0 {
			worst = x
		}
		weights[i] = num.Rat(average[i])
		weights[i].Mul(weights[i], rest).Quo(weights[i], num.SumRat(average))
		mean.Add(mean, rat(x).Mul(x, weights[i]))
		if mix.Sign() > 0 {
			w := num.Rat(r.Weights[i])
			weights[i].Add(weights[i], w.Mul(w, mix).Quo(w, num.SumRat(r.Weights)))
		}
	}
	upper = rat(worst).Mul(worst, mix)
	upper.Add(upper, mean)

	var least *big.Rat
	for j := range kv {
		sum := new(big.Rat)
		for i, w := range weights {
			d := num.Rat(c.Row(i, nil)[j])
			if d.Sub(d, num.Rat(r.Thresholds[i])).Sign() < 0 {
				d.Mul(d, e)
			}
			sum.Add(sum, d.Mul(d, w))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	if least.Sign() > 0 {
		least.Quo(least, e)
	}
	for i, w := range weights {
		eta := num.Rat(r.Thresholds[i])
		least.Add(least, eta.Mul(eta, w))
	}
	return upper, least
}

// drawn is a source of evidence that need not be good, only well formed.
type drawn struct{ *numtest.SplitMix64 }

func (d *drawn) below(n int) int { return int(d.Uint64() % uint64(n)) }

// number is often one of a few, and now and then of any magnitude.
func (d *drawn) number() float64 {
	switch d.below(8) {
	case 0:
		return 0
	case 1:
		return float64(d.below(4))
	case 2:
		return []float64{5e-324, 3e-310, 1e300, 0.1, 1 + 0x1p-52, 1e-30, math.MaxFloat64 / 4, 0x1p-1022}[d.below(8)]
	case 3:
		return math.Ldexp(d.Float64(), d.below(200)-100)
	}
	return d.Float64()
}

// costs returns a cost of any kind.
func (d *drawn) costs() (cost.Matrix, error) {
	k, kv := 1+d.below(7), 1+d.below(7)
	axes := 1 + d.below(3)
	places := func(n int) [][]float64 {
		xs := make([][]float64, n)
		for i := range xs {
			for range axes {
				xs[i] = append(xs[i], []float64{float64(d.below(3)), d.Float64(), 1e-160 * d.Float64(),
					1e150}[d.below(3+d.below(2))])
			}
		}
		return xs
	}
	p := []float64{1, 2, 0.5, 3, 1.7}[d.below(5)]
	switch d.below(9) {
	case 0:
		return cost.NewRing(k, p)
	case 1:
		return cost.NewGrid(1+d.below(4), k, p)
	case 2:
		return cost.NewPoints(places(k), places(kv), min(p, 2))
	case 3:
		return cost.NewPoints(places(k), nil, min(p, 2))
	case 4:
		return cost.NewCosine(places(k), places(kv))
	case 5:
		var xs [][2]float64
		for range k {
			xs = append(xs, [2]float64{float64(d.below(181) - 90), 360 * d.Float64()}, [2]float64{1e-160 * d.Float64(), 0})
		}
		return cost.NewGreatCircle(xs, nil, p)
	}
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, d.number())
	}
	return c, nil
}

// evidence returns weights, thresholds and a measure whose mass is in range, and an objective.
func (d *drawn) evidence(c cost.Matrix, eps float64) Result {
	k, kv := c.Dims()
	r := Result{Lower: -math.MaxFloat64, Upper: math.MaxFloat64}
	even := d.below(2) == 0
	sum := 0.0
	for range kv {
		m := 1.
		if !even {
			m = min(d.number(), 1e3)
		}
		r.M, sum = append(r.M, m), sum+m
	}
	if sum < 1e-3 {
		sum += 1 - r.M[0]
		r.M[0] = 1
	}
	mass := []float64{1, math.Exp(-eps / 2), math.Exp(eps / 2), math.Exp(eps * (d.Float64() - 0.5))}[d.below(4)]
	for j := range r.M {
		r.M[j] *= mass / sum
	}
	for i := range k {
		w, eta := d.number(), d.number()
		if row := c.Row(i, nil); d.below(2) == 0 {
			eta = row[d.below(kv)]
		}
		if d.below(4) == 0 {
			eta = -eta
		}
		r.Weights, r.Thresholds = append(r.Weights, w), append(r.Thresholds, eta)
	}
	r.Weights[d.below(k)] = 1
	switch s := &r.Settings; d.below(4) {
	case 0:
		s.Objective = Average
	case 1:
		s.Objective, s.Mix = Mixed, d.Float64()
	}
	if s := &r.Settings; s.Objective != WorstCase && d.below(2) == 0 {
		for range k {
			s.InputWeights = append(s.InputWeights, float64(1+d.below(3)))
		}
	}
	if k > 1 && d.below(4) == 0 {
		r.Settings.Exclude = []int{k - 1}
		r.Weights[k-1], r.Weights[0] = 0, 1
	}
	return r
}

// TestVerifyExact: the two bounds are those of the oracle, as rationals, for every kind of cost, all magnitudes, ties,
// zero weights and masses, and the same if only the inputs are read that the search asks for.
func TestVerifyExact(t *testing.T) {
	d := &drawn{numtest.NewSplitMix64(17)}
	n, searched, points := 1500, 0, 0
	if !numtest.Full() {
		n = 100
	}
	for at := range n {
		c, err := d.costs()
		if err != nil {
			t.Fatal(err)
		}
		eps := []float64{0, 0x1p-40, 0.3, 1, 2.5, 9, 700}[d.below(7)]
		r := d.evidence(c, eps)
		upper, lower, err := Verify(context.Background(), c, eps, r)
		if lower == nil || err != nil && lower.Cmp(num.Rat(r.Lower)) >= 0 { // it may lie below all floats
			t.Fatalf("%d: %T, %+v: %v", at, c, r, err)
		}
		wantUpper, wantLower := oracle(c, eps, r)
		if upper.Cmp(wantUpper) != 0 || lower.Cmp(wantLower) != 0 {
			t.Fatalf("%d: %T, eps %v, %+v: between %s and %s, want %s and %s", at, c, eps, r,
				show(lower), show(upper), show(wantLower), show(wantUpper))
		}
		if cost.SpaceOf(c).Power == 0 || r.Settings.Objective != WorstCase || r.Settings.Exclude != nil {
			continue
		}
		u := checkOf(t, c, eps, r)
		u.pairs = 0
		if got, err := u.check(context.Background()); err != nil || got.Cmp(wantUpper) != 0 {
			t.Fatalf("%d: %T, eps %v, %+v: the search ends at %s, %v, want %s", at, c, eps, r, show(got), err, show(wantUpper))
		}
		if k, _ := c.Dims(); u.read < k {
			searched++
		}
		if u.point {
			points++
		}
	}
	if searched < n/100 || points < n/100 {
		t.Errorf("%d searches spared a row, %d boxes were points", searched, points)
	}
}

func checkOf(t *testing.T, c cost.Matrix, eps float64, r Result) *upperCheck {
	t.Helper()
	k, _ := c.Dims()
	goal, err := newGoal(k, r.Settings)
	if err != nil {
		t.Fatal(err)
	}
	half := num.Rat(eps)
	down, _ := num.ExpFixed(half.Quo(half, big.NewRat(2, 1)), expBits)
	u, err := newUpperCheck(c, r.M, num.DyadicInt(down, -expBits), goal)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestVerifySelects: the fill ends at the right column of long rows, among ties, in an order made against the
// selection, and with masses that floats cannot add.
func TestVerifySelects(t *testing.T) {
	rng := numtest.NewSplitMix64(5)
	kv := numtest.Cases(196, 700)
	orders := map[string]func(j int) float64{
		"random":  func(int) float64 { return rng.Float64() },
		"ties":    func(int) float64 { return float64(rng.Uint64() % 3) },
		"one":     func(int) float64 { return 4 },
		"rising":  func(j int) float64 { return float64(j) },
		"falling": func(j int) float64 { return float64(kv - j) },
		"organ":   func(j int) float64 { return float64(min(j, kv-j)) },
	}
	masses := map[string]func(j int) float64{
		"even":   func(int) float64 { return 1 / float64(kv) },
		"sparse": func(j int) float64 { return float64((j+1)%7/6) * 7 / float64(kv) },
		"tiny":   func(j int) float64 { return []float64{0.25, 0x1p-60, 0x1p-1074}[min(j%(kv/4), 2)] },
	}
	for order, costs := range orders {
		for mass, m := range masses {
			c := &cost.Dense{K: 2, Kv: kv}
			r := Result{Upper: math.MaxFloat64, Lower: -math.MaxFloat64, Weights: []float64{0, 1}, Thresholds: []float64{0, 0.5}}
			for j := range 2 * kv {
				c.Data = append(c.Data, costs(j%kv))
				if j < kv {
					r.M = append(r.M, m(j))
				}
			}
			for _, eps := range []float64{1e-9, 3, 0.5, 30}[:numtest.Cases(2, 4)] {
				upper, lower, err := Verify(context.Background(), c, eps, r)
				if err != nil {
					t.Fatal(order, mass, err)
				}
				wantUpper, wantLower := oracle(c, eps, r)
				if upper.Cmp(wantUpper) != 0 || lower.Cmp(wantLower) != 0 {
					t.Errorf("%s, %s, eps %v: between %s and %s, want %s and %s", order, mass, eps, show(lower), show(upper),
						show(wantLower), show(wantUpper))
				}
			}
		}
	}
}

// counted counts which rows are asked for.
type counted struct {
	cost.Matrix
	rows []int
}

func (c *counted) Row(i int, buf []float64) []float64 {
	c.rows[i]++
	return c.Matrix.Row(i, buf)
}

// TestVerifyReads counts the rows that are read: for the lower bound those with a weight, twice if they are not held at
// a time, and for the upper bound few of many places.
func TestVerifyReads(t *testing.T) {
	k := numtest.Cases(2100, 3000)
	rng := numtest.NewSplitMix64(2)
	places := make([][]float64, k)
	for i := range places {
		places[i] = []float64{rng.Float64(), rng.Float64()}
	}
	c, err := cost.NewPoints(places, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	weights, thresholds := make([]float64, k), make([]float64, k)
	for i := 5; i < k; i += 100 {
		weights[i], thresholds[i] = 1, 0.4
	}
	all := &counted{c, make([]int, k)}
	l := lowerCheck{c: all, parts: num.DyadicUint(1), thresholds: thresholds, e: num.NewDyadic(7.5),
		shares: []weighing{{num.DyadicUint(1), num.DyadicSum(weights), weights}}}
	if _, err := l.check(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i, n := range all.rows {
		if n > 1 || n > 0 != (weights[i] > 0) {
			t.Errorf("row %d of weight %v was read %d times", i, weights[i], n)
		}
	}
	r := Result{M: slices.Repeat([]float64{1.1 / float64(k)}, k)}
	u := checkOf(t, c, 2, r)
	want, err := u.check(context.Background())
	if err != nil || u.read > k/10 {
		t.Errorf("%d of %d rows were read, %v", u.read, k, err)
	}
	grid, err := cost.NewGrid(30, 40, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	g := checkOf(t, grid, 2, Result{M: slices.Repeat([]float64{1. / 1200}, 1200)})
	if _, err := g.check(context.Background()); err != nil || g.read != 1 {
		t.Errorf("%d rows of a grid were read, %v", g.read, err)
	}
	u = checkOf(t, c, 2, r)
	u.pairs = k * k
	if got, err := u.check(context.Background()); err != nil || got.Cmp(want) != 0 || u.read != k {
		t.Errorf("%v of %d rows, %v of few: %v", got, u.read, want, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	r.Weights, r.Thresholds, r.Upper = weights, thresholds, 9
	if _, _, err := Verify(ended, c, 2, r); !errors.Is(err, context.Canceled) || !errors.Is(err, wpmerr.ErrNotConverged) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestVerifyLastPlace: the bounds that are proved are accepted as claims, and one place further is refused; so is
// evidence that one place takes below a claim.
func TestVerifyLastPlace(t *testing.T) {
	ctx := context.Background()
	for _, c := range []cost.Matrix{
		&cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 3, 1, 0, 1.5, 3, 1.5, 0}},
		&cost.Dense{K: 2, Kv: 4, Data: []float64{0, 0.1, 0.7, 2, 1, 0, 0.3, 0.2}},
	} {
		const eps = 1.25
		r, err := Solve(ctx, c, eps, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		upper, lower, err := Verify(context.Background(), c, eps, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Upper, r.Lower = num.Up(upper), num.Down(lower)
		if _, _, err := Verify(context.Background(), c, eps, r); err != nil {
			t.Errorf("what is proved: %v", err)
		}
		refused := func(what string, change func(r *Result)) {
			t.Helper()
			bad := r
			bad.M, bad.Weights, bad.Thresholds = slices.Clone(r.M), slices.Clone(r.Weights), slices.Clone(r.Thresholds)
			change(&bad)
			if _, _, err := Verify(context.Background(), c, eps, bad); err == nil {
				t.Errorf("%s passes", what)
			}
		}
		refused("a smaller upper bound", func(r *Result) { r.Upper = math.Nextafter(r.Upper, 0) })
		refused("a larger lower bound", func(r *Result) { r.Lower = math.Nextafter(r.Lower, 9) })
		// One place of one weight or threshold: the bound is the oracle's, and what was proved before is too much to claim
		// for some of each.
		var falls [2]int
		for i := range r.Weights {
			for _, to := range []float64{-9, 9} {
				for field := range falls {
					bad := r
					bad.Weights, bad.Thresholds, bad.Lower = slices.Clone(r.Weights), slices.Clone(r.Thresholds), -1
					list := [][]float64{bad.Weights, bad.Thresholds}[field]
					list[i] = max(math.Nextafter(list[i], to), -float64(field))
					_, got, err := Verify(context.Background(), c, eps, bad)
					if err != nil {
						t.Fatal(err)
					}
					if _, want := oracle(c, eps, bad); got.Cmp(want) != 0 {
						t.Errorf("%v of input %d: at least %s, want %s", list[i], i, show(got), show(want))
					}
					if got.Cmp(lower) < 0 {
						falls[field]++
					}
				}
			}
		}
		if slices.Min(falls[:]) == 0 {
			t.Errorf("no change of a last place lowers the bound: %v", falls)
		}
	}
}

// TestVerifyRing holds the lower bound that equal weights and thresholds prove on a ring, for which one output does:
// against the oracle, and on a ring whose pairs would take minutes.
func TestVerifyRing(t *testing.T) {
	const eps = 1.25
	for k := 1; k <= 9; k++ {
		for _, p := range []float64{0.5, 1, 2} {
			c, err := cost.NewRing(k, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, eta := range []float64{-1, 0.7, 1, 0, 2.5, 99}[:numtest.Cases(3, 6)] {
				r := Result{M: slices.Repeat([]float64{1 / float64(k)}, k), Upper: math.MaxFloat64, Lower: -math.MaxFloat64}
				r.Weights, r.Thresholds = slices.Repeat([]float64{0.3}, k), slices.Repeat([]float64{eta}, k)
				_, got, err := Verify(context.Background(), c, eps, r)
				if err != nil {
					t.Fatal(err)
				}
				if _, want := oracle(c, eps, r); got.Cmp(want) != 0 {
					t.Errorf("%d places, p = %v, threshold %v: at least %s, want %s", k, p, eta, show(got), show(want))
				}
				for n, list := range [][]float64{r.Weights, r.Thresholds} { // with one that differs, they are not the same
					list[k-1] += 0.5
					_, got, err := Verify(context.Background(), c, eps, r)
					if err != nil {
						t.Fatal(err)
					}
					if _, want := oracle(c, eps, r); got.Cmp(want) != 0 {
						t.Errorf("%d places, p = %v, threshold %v, list %d: at least %s, want %s", k, p, eta, n, show(got), show(want))
					}
				}
			}
		}
	}
	c, err := cost.NewRing(1<<numtest.Cases(16, 18), 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Homogeneous(c.Row(0, nil), eps)
	if err != nil {
		t.Fatal(err)
	}
	if upper, lower, err := Verify(context.Background(), c, eps, r); err != nil || !(num.Up(upper) <= num.Down(lower)*(1+1e-9)) {
		t.Errorf("%v to %v, %v", lower, upper, err)
	}
}
