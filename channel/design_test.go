package channel

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// line is n places on a line with uneven gaps.
func line(t testing.TB, n int) (*cost.Points, []float64) {
	t.Helper()
	r, x := rand.New(rand.NewPCG(1, 1)), 0.0
	at, places := make([]float64, n), make([][]float64, n)
	for i := range places {
		x += r.ExpFloat64()
		at[i], places[i] = x, []float64{x}
	}
	c, err := cost.NewPoints(places, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c, at
}

func grid(t testing.TB, n int) *cost.Grid {
	t.Helper()
	c, err := cost.NewGrid(n, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t testing.TB, s string) ldp.Epsilon {
	t.Helper()
	e, err := ldp.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func design(t testing.TB, p Problem) *Design {
	t.Helper()
	d, err := New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPrivate: in every component each row sums to its weight, and in every column the largest weight is at most e^eps times
// the smallest, read from the rows themselves.
func TestPrivate(t *testing.T) {
	c, _ := line(t, 40)
	for _, eps := range []string{"1e-9", "0.1", "0.5", "1", "7/3", "4", "12", "64"} {
		for _, devices := range []int64{1, 5000, 1_000_000} {
			for _, bits := range []int{62, 30} {
				d, err := New(context.Background(), Problem{Cost: c, Epsilon: parse(t, eps), Devices: devices, Bits: bits})
				if errors.Is(err, ErrBits) && (eps == "64" || eps == "1e-9" || eps == "12") && bits == 30 {
					continue // there are no such weights
				}
				if err != nil {
					t.Fatalf("eps %s, N %d, %d bits: %v", eps, devices, bits, err)
				}
				private(t, d.Mixture)
			}
		}
	}
}

func private(t *testing.T, m *Mixture) {
	t.Helper()
	if err := m.Verify(); err != nil {
		t.Error(err)
	}
	bound, _ := m.Epsilon.ExpBounds(200)
	total, sum := uint64(1)<<m.Bits, uint64(0)
	for n, c := range m.Components {
		sum += c.Weight
		row := make([]uint64, c.Outputs(m.Inputs))
		lo, hi := make([]uint64, len(row)), make([]uint64, len(row))
		for i := range m.Inputs {
			m.Row(n, i, row)
			all := uint64(0)
			for y, v := range row {
				all += v
				if i == 0 || v < lo[y] {
					lo[y] = v
				}
				hi[y] = max(hi[y], v)
			}
			if all != c.Weight {
				t.Fatalf("eps %v, component %d, row %d sums to %d of %d", m.Epsilon, n, i, all, c.Weight)
			}
		}
		for y := range row {
			// hi <= bound lo <= e^eps lo
			right := new(big.Rat).Mul(bound, new(big.Rat).SetInt(new(big.Int).SetUint64(lo[y])))
			if new(big.Rat).SetInt(new(big.Int).SetUint64(hi[y])).Cmp(right) > 0 {
				t.Fatalf("eps %v, component %d, output %d: %d to %d", m.Epsilon, n, y, lo[y], hi[y])
			}
		}
	}
	if sum != total {
		t.Errorf("eps %v: weights sum to %d", m.Epsilon, sum)
	}
}

// TestVerify: what is changed in a mixture is found.
func TestVerify(t *testing.T) {
	c, _ := line(t, 12)
	for name, spoil := range map[string]func(m *Mixture){
		"weight":      func(m *Mixture) { m.Components[0].Weight++ },
		"no weight":   func(m *Mixture) { m.Components[0].Weight = 0 },
		"low":         func(m *Mixture) { m.Components[0].Low -= 1000 },
		"low of none": func(m *Mixture) { m.Components[0].Low = 0 },
		"low, huge":   func(m *Mixture) { m.Components[0].Low = math.MaxUint64 },
		"colour":      func(m *Mixture) { m.Components[0].Color[3] = int32(m.Components[0].Colors) },
		"negative":    func(m *Mixture) { m.Components[0].Color[3] = -1 },
		"few colours": func(m *Mixture) { m.Components[0].Color = m.Components[0].Color[1:] },
		"none":        func(m *Mixture) { m.Components = nil },
		"bits":        func(m *Mixture) { m.Bits = 61 },
	} {
		d := design(t, Problem{Cost: c, Epsilon: parse(t, "1"), Devices: 1_000_000})
		if !d.Codes || d.Components[0].Colors == 0 {
			t.Fatal("the first component is no code")
		}
		if spoil(d.Mixture); d.Verify() == nil {
			t.Errorf("%s: nothing is wrong", name)
		}
	}
}

// TestSame: the same design at any GOMAXPROCS, and another one for another seed.
func TestSame(t *testing.T) {
	p := Problem{Cost: grid(t, 7), Epsilon: parse(t, "1"), Devices: 500_000}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	a := design(t, p)
	runtime.GOMAXPROCS(8)
	b := design(t, p)
	p.Seed = 2
	c := design(t, p)
	if a.Risk != b.Risk || a.Gap != b.Gap || !reflect.DeepEqual(a.Components, b.Components) {
		t.Error("the design depends on GOMAXPROCS")
	}
	if reflect.DeepEqual(a.Components, c.Components) {
		t.Error("the design does not depend on the seed")
	}
}

// TestChosen: by its own risk, the mixture is not above the best single disc but for what single places cost; codes are
// taken at 0.97, and win where there are many devices.
func TestChosen(t *testing.T) {
	c, _ := line(t, 40)
	for _, m := range []cost.Matrix{c, grid(t, 10)} {
		for _, eps := range []string{"0.5", "1", "2", "4"} {
			for _, devices := range []int64{500, 500_000} {
				d := design(t, Problem{Cost: m, Epsilon: parse(t, eps), Devices: devices})
				// 3 % of the weight is 3 % of N at most, and the risk falls no faster than 1/N.
				if limit := math.Sqrt(1 / (1 - fine)); d.Risk > limit || d.Fine == 0 && d.Risk > 1 {
					t.Errorf("eps %s, N %d: a risk of %v of the best disc, with %d codes of single places", eps, devices, d.Risk, d.Fine)
				}
				if d.Codes != (d.Mixed <= enough) || devices == 500_000 && !d.Codes {
					t.Errorf("eps %s, N %d: codes %v at %v", eps, devices, d.Codes, d.Mixed)
				}
				if !(d.Gap >= 0 && d.Gap < 0.02) {
					t.Errorf("eps %s, N %d: a gap of %v", eps, devices, d.Gap)
				}
			}
		}
	}
}

// TestMostOutputs: a list has no more outputs than it may, single places included; it loses little until there is room for
// few components: half of the outputs cost 2.2 % here. Where there is room for none, the answer is the disc.
func TestMostOutputs(t *testing.T) {
	p := Problem{Cost: grid(t, 12), Epsilon: parse(t, "4"), Devices: 100_000}
	free := design(t, p)
	all := free.Outputs()
	if p.MostOutputs = all; !reflect.DeepEqual(design(t, p).Components, free.Components) {
		t.Error("a bound that is met changes the design")
	}
	for _, most := range []int{all - 1, all / 2, all / 4, 200, 143} {
		p.MostOutputs = most
		d := design(t, p)
		switch {
		case d.Codes && (d.Outputs() > most || d.Risk < free.Risk*(1-free.Gap) || d.Mixed > enough):
			t.Errorf("at most %d of %d outputs: %d, a risk of %v, without bound %v", most, all, d.Outputs(), d.Risk, free.Risk)
		case most == all/2 && (!d.Codes || d.Risk > 1.03*free.Risk):
			t.Errorf("half the outputs, %d: a risk of %v, without bound %v", most, d.Risk, free.Risk)
		case !d.Codes && (d.Outputs() > 144 && d.Fine == 0 || d.Risk < 1):
			t.Errorf("at most %d outputs: %d of a disc, a risk of %v", most, d.Outputs(), d.Risk)
		}
		if err := d.Verify(); err != nil {
			t.Error(err)
		}
		t.Logf("at most %d outputs: %d, a risk of %.4f", most, d.Outputs(), d.Risk)
	}
	p.MostOutputs = -1
	if _, err := New(t.Context(), p); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("-1 outputs: %v", err)
	}
}

// TestRisk: the predicted risk is that of the rows as they are published: trace(A (1 + N R' P diag(1/q) P' R)^-1), by
// plain sums over the integer rows.
func TestRisk(t *testing.T) {
	c, _ := line(t, 30)
	prior := make([]float64, 30)
	for i := range prior {
		prior[i] = float64(i % 4)
	}
	p := Problem{Cost: c, Epsilon: parse(t, "1"), Devices: 100_000, Prior: prior, Bits: 62}
	d := design(t, p)
	m, r := riskOf(t, p)
	best := math.Inf(1)
	for size := 1; size <= 18; size++ {
		one := candidate{size: size}
		single, err := integers(m, p, []candidate{one}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, plain(t, r, single))
	}
	// Sizes of discs are a grid of 33 shares, not all; and weights are rounded to 2^-62.
	if got := math.Sqrt(plain(t, r, d.Mixture) / best); math.Abs(got-d.Risk) > 1e-6*got {
		t.Errorf("risk of the rows %v of the best disc, stated %v", got, d.Risk)
	}
}

// plain is the risk of the rows of a mixture.
func plain(t *testing.T, r *risk, m *Mixture) float64 {
	t.Helper()
	ch, err := m.Channel()
	if err != nil {
		t.Fatal(err)
	}
	k := m.Inputs
	rows := mat.NewDense(k, m.Outputs(), nil)
	q, e := make([]float64, m.Outputs()), make([]float64, k)
	for i := range k {
		e[i] = 1
		row, err := ch.Law(e)
		if err != nil {
			t.Fatal(err)
		}
		rows.SetRow(i, row)
		for y, v := range row {
			q[y] += r.share[i] * r.mass[r.of[i]] * v
		}
		e[i] = 0
	}
	all := 0.0
	for _, p := range r.priors {
		root := mat.NewDense(k, p.r, nil) // of places: groups are places here
		for i := range k {
			root.SetRow(i, p.root[int(r.of[i])*p.r:][:p.r])
		}
		all += p.scale * bayes(t, p, r.devices, root, rows, q)
	}
	return all
}

// riskOf is what New minimizes.
func riskOf(t *testing.T, p Problem) (metric, *risk) {
	t.Helper()
	ctx := context.Background()
	m, u, err := p.check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRisk(m, u, float64(p.Devices))
	if err != nil {
		t.Fatal(err)
	}
	discs, err := discsOf(ctx, r, m.k, p.Epsilon.Float64())
	if err != nil {
		t.Fatal(err)
	}
	r.balance(discs)
	return m, r
}

func bayes(t *testing.T, r prior, devices float64, root, rows *mat.Dense, q []float64) float64 {
	t.Helper()
	var y, info, inverse, product mat.Dense
	y.Mul(root.T(), rows)
	for b := range r.r {
		for j, v := range q {
			y.Set(b, j, y.At(b, j)/math.Sqrt(v))
		}
	}
	info.Mul(&y, y.T())
	info.Scale(devices, &info)
	for b := range r.r {
		info.Set(b, b, 1+info.At(b, b))
	}
	if err := inverse.Inverse(&info); err != nil {
		t.Fatal(err)
	}
	product.Mul(mat.NewDense(r.r, r.r, r.weigh), &inverse)
	return mat.Trace(&product)
}

// TestOptimum: for six places, the best of all eps-LDP channels is known. Fisher information is sublinear in a column,
// and every column of ratio e^eps is a sum of columns l (1 + (e^eps - 1) 1_S), so the optimum is a convex programme over
// the sets S with the rows' sums as constraints. Frank-Wolfe with an exact linear programme gives a lower bound of it.
// No design may be below the bound, and all must be near: published factors of the best disc are up to 1.4.
func TestOptimum(t *testing.T) {
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	points, _ := line(t, 6)
	for name, c := range map[string]cost.Matrix{"ring": ring, "line": points} {
		for _, eps := range []string{"0.5", "1", "2"} {
			for _, devices := range []int64{500, 100_000} {
				p := Problem{Cost: c, Epsilon: parse(t, eps), Devices: devices}
				d := design(t, p)
				_, r := riskOf(t, p)
				lower := optimum(t, r, math.Exp(p.Epsilon.Float64()))
				got := math.Sqrt(plain(t, r, d.Mixture) / lower)
				t.Logf("%s, eps %s, N %d: %.3f, best disc %.3f", name, eps, devices, got, got/d.Risk)
				if !(got > 1-1e-9 && got < 1.15) {
					t.Errorf("%s, eps %s, N %d: %.4f of the optimum of all channels", name, eps, devices, got)
				}
			}
		}
	}
}

// optimum is a lower bound of the risk of all channels with columns of ratio e.
func optimum(t *testing.T, r *risk, e float64) float64 {
	t.Helper()
	k := len(r.mass)
	sets := 1<<k - 1 // without the full set, which is the empty one
	constraints, ones := mat.NewDense(k, sets, nil), make([]float64, k)
	infos := make([][]float64, sets)
	for s := range sets {
		rows, q := make([]float64, k), 0.0
		for a := range k {
			rows[a] = 1
			if s>>a&1 == 1 {
				rows[a] = e
			}
			q += r.mass[r.of[a]] * rows[a]
			constraints.Set(a, s, rows[a])
			ones[a] = 1
		}
		byGroup := make([]float64, k)
		for a := range k {
			byGroup[r.of[a]] = rows[a]
		}
		infos[s] = r.information(byGroup, []float64{q})
	}
	l := make([]float64, sets)
	l[0] = 1
	p := r.entries()
	sum := func(l []float64) []float64 {
		all := make([]float64, p)
		for s, v := range l {
			blasOf.Daxpy(p, v, infos[s], 1, all, 1)
		}
		return all
	}
	single := make([]int, k) // a basis that is feasible: the sets of one place
	for a := range single {
		single[a] = 1 << a
	}
	gradient, lower := make([]float64, p), 0.0
	for range 400 {
		f := r.value(sum(l), gradient)
		price, slope := make([]float64, sets), 0.0
		for s, info := range infos {
			price[s] = -r.devices * blasOf.Ddot(p, gradient, 1, info, 1)
			slope -= price[s] * l[s]
		}
		least, to, err := lp.Simplex(price, constraints, ones, 1e-10, single)
		if err != nil {
			t.Fatal(err)
		}
		lower = max(lower, f+least+slope)
		if lower > 0.998*f {
			break
		}
		a, b := 0.0, 1.0 // the best step, by thirds
		at := func(x float64) float64 {
			mixed := make([]float64, sets)
			for s := range mixed {
				mixed[s] = (1-x)*l[s] + x*to[s]
			}
			return r.value(sum(mixed), nil)
		}
		for range 40 {
			x, y := a+(b-a)/3, b-(b-a)/3
			if at(x) < at(y) {
				b = y
			} else {
				a = x
			}
		}
		for s := range l {
			l[s] = (1-a)*l[s] + a*to[s]
		}
	}
	return lower
}

// TestSeparable: no two places at a distance are inseparable at 10^12 devices, by plain sums over the rows.
func TestSeparable(t *testing.T) {
	points, _ := line(t, 40)
	twice, err := cost.NewPoints([][]float64{{0}, {0}, {1}, {3}, {3.5}, {9}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []cost.Matrix{points, grid(t, 10), twice} {
		for _, eps := range []string{"0.5", "1", "4"} {
			for _, devices := range []int64{1, 500, 50_000, MaxDevices} {
				d := design(t, Problem{Cost: c, Epsilon: parse(t, eps), Devices: devices})
				ch, err := d.Channel()
				if err != nil {
					t.Fatal(err)
				}
				k := d.Inputs
				e, even := make([]float64, k), make([]float64, k)
				rows := make([][]float64, k)
				for i := range k {
					e[i], even[i] = 1, 1/float64(k)
					if rows[i], err = ch.Law(e); err != nil {
						t.Fatal(err)
					}
					e[i] = 0
				}
				q, err := ch.Law(even)
				if err != nil {
					t.Fatal(err)
				}
				for i := range k {
					for j, dist := range c.Row(i, make([]float64, k)) {
						sum := 0.0
						for y, v := range q {
							sum += (rows[i][y] - rows[j][y]) * (rows[i][y] - rows[j][y]) / v
						}
						if dist > 0 && !(MaxDevices*4/float64(k*k)*sum >= 4) {
							t.Fatalf("eps %s, N %d: places %d and %d have rows at %v", eps, devices, i, j, sum)
						}
					}
				}
			}
		}
	}
}

// TestLine: on a line of 40 with a million devices at eps 1 the map is within 0.15 of the truth, where the default
// stays above 1.5 with any number of devices: its rows are equal. The even map is at 4 and more.
func TestLine(t *testing.T) {
	c, at := line(t, 40)
	d := design(t, Problem{Cost: c, Epsilon: parse(t, "1"), Devices: 1_000_000})
	ch, err := d.Channel()
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]float64, 40)
	for i := range truth {
		truth[i] = 0.1/40 + 0.6*math.Exp(-math.Abs(float64(i)-9)/2)/4 + 0.3*math.Exp(-math.Abs(float64(i)-30))/2.2
	}
	if truth, err = estimate.Guess(truth, 40); err != nil {
		t.Fatal(err)
	}
	law, err := ch.Law(truth)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 4
	mean, r := 0.0, rand.New(rand.NewPCG(7, 7))
	for range runs {
		counts := make([]uint64, len(law))
		for range 1_000_000 {
			x, y := r.Float64(), 0
			for y < len(law)-1 && x >= law[y] {
				x -= law[y]
				y++
			}
			counts[y]++
		}
		m, err := estimate.Map(context.Background(), estimate.Problem{Counts: counts, Channel: ch, Geometry: g}, estimate.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		left := 0.0
		for i := range 39 {
			left += m.Theta[i] - truth[i]
			mean += math.Abs(left) * (at[i+1] - at[i]) / runs
		}
	}
	if mean > 0.15 {
		t.Errorf("W_1 of %v, want at most 0.15", mean)
	}
	t.Logf("W_1 %.3f, %d outputs, risk %.3f of the best disc", mean, d.Outputs(), d.Risk)
}
