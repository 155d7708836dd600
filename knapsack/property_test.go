package knapsack_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"sort"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// instance is a random problem that leans to edges: ties, duplicates, empty columns, both ends of the
// mass, scales and offsets, privacy from none to 700.
type instance struct {
	rows  [][]float64
	eps   float64
	m     []float64
	table *knapsack.Table
}

func (in instance) box() (lo, hi []float64) { return box(in.m, in.eps) }

func drawInstance(t *rapid.T, eps []float64) instance {
	k := rapid.IntRange(1, 5).Draw(t, "k")
	kv := rapid.SampledFrom([]int{1, 2, 3, 4, 5, 8, 40, 300}).Draw(t, "kv")
	in := instance{eps: rapid.SampledFrom(eps).Draw(t, "eps")}
	in.rows = drawCosts(t, k, kv)
	in.m = drawBase(t, kv, in.eps, "mass")
	var err error
	if in.table, err = knapsack.New(context.Background(), dense(in.rows)); err != nil {
		t.Fatal(err)
	}
	lo, hi := in.box()
	if err := in.table.Check(lo, hi); err != nil {
		t.Fatalf("generator made an infeasible box: %v", err)
	}
	return in
}

// anyEps are the privacy levels of the accuracy tests. Where a law compares two float boxes, rounding of
// the boxes themselves counts, times e^(eps/2): those tests use modestEps.
var (
	anyEps    = []float64{0, 1e-9, 0.001, 0.5, 1, 2, 5, 12, 50, 300, 700}
	modestEps = []float64{0.001, 0.1, 0.5, 1, 2, 5}
)

func drawCosts(t *rapid.T, k, kv int) [][]float64 {
	kind := rapid.SampledFrom([]string{"integers", "reals", "exponents", "constant", "metric"}).Draw(t, "costs")
	scale := rapid.SampledFrom([]float64{1, 1e-9, 1e9, 3e-300}).Draw(t, "scale")
	offset := rapid.SampledFrom([]float64{0, 0, 1e6}).Draw(t, "offset")
	rnd := rapid.IntRange(0, 1<<20)
	rows := make([][]float64, k)
	base := float64(rnd.Draw(t, "base")) / (1 << 20)
	for i := range rows {
		rows[i] = make([]float64, kv)
		seed := rnd.Draw(t, "row")
		for j := range rows[i] {
			u := frac(float64(seed)*0.618 + float64(j)*0.7548776662466927)
			var c float64
			switch kind {
			case "integers":
				c = math.Floor(4 * u)
			case "reals":
				c = u
			case "exponents":
				c = math.Exp(40*u - 30)
			case "constant":
				c = base
			case "metric":
				c = math.Abs(float64(i)/float64(k) - float64(j)/float64(kv))
			}
			rows[i][j] = (c + offset) * scale
		}
		if i > 0 && seed%7 == 0 {
			rows[i] = slices.Clone(rows[i-1])
		}
	}
	return rows
}

func frac(x float64) float64 { return x - math.Floor(x) }

// drawBase draws a base measure with mass in [e^(-eps/2), e^(eps/2)], ends included.
func drawBase(t *rapid.T, kv int, eps float64, label string) []float64 {
	m := make([]float64, kv)
	kind := rapid.SampledFrom([]string{"uniform", "sparse", "zipf", "wide"}).Draw(t, "base measure "+label)
	seed := rapid.IntRange(0, 1000).Draw(t, "seed "+label)
	total := 0.0
	for j := range m {
		u := frac(float64(seed+j) * 0.6180339887498949)
		switch kind {
		case "uniform":
			m[j] = 1
		case "sparse":
			if (j+seed)%3 == 0 || j == seed%kv {
				m[j] = 0.1 + u
			}
		case "zipf":
			m[j] = 1 / float64(1+j)
		case "wide":
			m[j] = math.Exp(-60 * u)
		}
		total += m[j]
	}
	at := rapid.SampledFrom([]float64{-1, -0.99, 0, 0.01, 0.3, 0.999, 1}).Draw(t, "mass "+label)
	for j := range m {
		m[j] *= math.Exp(at*eps/2) / total
	}
	return m
}

// greedy is the definition in exact arithmetic: phi of the box as given.
func greedy(row, lo, hi []float64) *big.Rat {
	sumLo, sumHi, same := new(big.Rat), new(big.Rat), true
	for j := range lo {
		sumLo.Add(sumLo, num.Rat(lo[j]))
		sumHi.Add(sumHi, num.Rat(hi[j]))
		same = same && lo[j] == hi[j]
	}
	one := big.NewRat(1, 1)
	phi := new(big.Rat)
	if point, sum := lo, sumLo; same || sumLo.Cmp(one) >= 0 || sumHi.Cmp(one) <= 0 {
		if sumLo.Cmp(one) < 0 && !same {
			point, sum = hi, sumHi
		}
		for j, c := range row {
			phi.Add(phi, new(big.Rat).Mul(num.Rat(c), num.Rat(point[j])))
		}
		return phi.Quo(phi, sum)
	}
	rest := new(big.Rat).Sub(one, sumLo)
	order := make([]int, len(row))
	for j := range order {
		order[j] = j
	}
	sort.SliceStable(order, func(a, b int) bool { return row[order[a]] < row[order[b]] })
	for _, j := range order {
		give := new(big.Rat).Sub(num.Rat(hi[j]), num.Rat(lo[j]))
		if give.Cmp(rest) > 0 {
			give.Set(rest)
		}
		rest.Sub(rest, give)
		phi.Add(phi, new(big.Rat).Mul(num.Rat(row[j]), give.Add(give, num.Rat(lo[j]))))
	}
	return phi
}

// TestExact is the promise of PhiError: relative accuracy at every scale, against exact arithmetic.
func TestExact(t *testing.T) {
	worst := 0.0
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, anyEps)
		lo, hi := in.box()
		for i, row := range in.rows {
			phi, _ := in.table.Phi(i, lo, hi)
			want := greedy(row, lo, hi)
			diff, _ := new(big.Rat).Sub(num.Rat(phi), want).Float64()
			exact, _ := want.Float64()
			allowed := knapsack.PhiError*exact + float64(len(lo))*math.SmallestNonzeroFloat64
			if !(math.Abs(diff) <= allowed) {
				t.Fatalf("phi[%d] = %v, exact %v, error %v, allowed %v", i, phi, exact, diff, allowed)
			}
			if exact > 0x1p-900 {
				worst = max(worst, math.Abs(diff)/exact)
			}
		}
	})
	t.Logf("largest relative error %.2g", worst)
}

// TestSteep is the hard case of the relative accuracy: the free columns take all of the mass but for a few
// roundings, and those are all that is paid for. The rest of the mass must be exact to second order.
func TestSteep(t *testing.T) {
	for at := 0; at < 60*17; at += numtest.Cases(3, 1) { // 3 and 17 are coprime
		n, ulps := 1+at/17, at%17-8
		lo, hi, row := make([]float64, n+2), make([]float64, n+2), make([]float64, n+2)
		total := 0.0
		for j := range n {
			hi[j] = 1 + frac(float64(ulps+j)*0.6180339887498949)
			total += hi[j]
		}
		for j := range n {
			hi[j] *= (1 + float64(ulps)*0x1p-53) / total
			lo[j] = hi[j] * frac(float64(j+1)*0.7548776662466927)
		}
		lo[n], hi[n], row[n] = 1e-30, 1e-17, 1e-3
		lo[n+1], hi[n+1], row[n+1] = 1e-25, 1, 1
		table := newTable(t, [][]float64{row})
		phi, _ := table.Phi(0, lo, hi)
		want := greedy(row, lo, hi)
		diff, _ := new(big.Rat).Sub(num.Rat(phi), want).Float64()
		if exact, _ := want.Float64(); !(math.Abs(diff) <= knapsack.PhiError*exact) {
			t.Errorf("%d free columns, %d ulps: phi = %v, exact %v", n, ulps, phi, exact)
		}
	}
}

// TestNearEdge lets the fill end within a grain of an edge, on either side and on it, where rooms rounded to 64 bits
// cannot tell which column it is: tau must be right, and phi as accurate as ever.
func TestNearEdge(t *testing.T) {
	for at := range 3 * 47 {
		side, tiny := at%3-1, math.Ldexp(1, -at/3-6)
		// The first three columns take 1 + side*tiny*2^-54.
		hi := []float64{0.5, 0.5 - 0x1p-54, 0x1p-54 * (1 + float64(side)*tiny), 1}
		row := []float64{0x1p-20, 0x1p-20, 0x1p-19, 1}
		lo := make([]float64, len(hi))
		phi, tau := newTable(t, [][]float64{row}).Phi(0, lo, hi)
		want := row[2]
		if side < 0 {
			want = row[3]
		}
		exact, _ := greedy(row, lo, hi).Float64()
		if tau != want || !(math.Abs(phi-exact) <= knapsack.PhiError*exact) {
			t.Errorf("%v beyond the edge: phi = %v, tau = %v, want %v, %v", float64(side)*tiny, phi, tau, exact, want)
		}
	}
}

// TestSmallestRest hands out a mass so small that integers cannot count it: sum lo is 1 - 2^-1007.
func TestSmallestRest(t *testing.T) {
	const pieces = 19
	var lo, hi, row []float64
	left := 1.0
	for range pieces {
		lo = append(lo, left*(1-0x1p-53)) // exact
		hi = append(hi, left*(1-0x1p-53))
		row = append(row, 0)
		left *= 0x1p-53
	}
	lo, hi, row = append(lo, 0, 0), append(hi, left/2, 1), append(row, 1, 3)
	phi, tau := newTable(t, [][]float64{row}).Phi(0, lo, hi)
	if want := 2 * left; phi != want || tau != 3 {
		t.Errorf("phi = %v, tau = %v, want %v, 3", phi, tau, want)
	}
}

// TestProject holds the projection to its box bit for bit, to the mass it promises, and to phi.
func TestProject(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, anyEps)
		lo, hi := in.box()
		kv := len(lo)
		q := make([]float64, kv)
		exactLo, exactHi := new(big.Rat), new(big.Rat)
		for j := range lo {
			exactLo.Add(exactLo, num.Rat(lo[j]))
			exactHi.Add(exactHi, num.Rat(hi[j]))
		}
		one := big.NewRat(1, 1)
		feasible := exactLo.Cmp(one) <= 0 && exactHi.Cmp(one) >= 0
		for i, row := range in.rows {
			for j := range q {
				q[j] = math.NaN() // a dirty buffer must not show
			}
			if err := in.table.Project(i, lo, hi, q); err != nil {
				t.Fatal(err)
			}
			sum, value := new(big.Rat), new(big.Rat)
			for j := range q {
				if feasible && !(lo[j] <= q[j] && q[j] <= hi[j]) {
					t.Fatalf("q[%d] = %v outside [%v, %v]", j, q[j], lo[j], hi[j])
				}
				sum.Add(sum, num.Rat(q[j]))
				value.Add(value, new(big.Rat).Mul(num.Rat(q[j]), num.Rat(row[j])))
			}
			defect := new(big.Rat).Sub(sum, one)
			if limit := num.Rat(float64(kv) * 0x1p-52); defect.Abs(defect).Cmp(limit) > 0 {
				t.Fatalf("sum q - 1 = %v, limit %v", defect.FloatString(20), limit.FloatString(20))
			}
			phi, _ := in.table.Phi(i, lo, hi)
			got, _ := value.Float64()
			// The rounding of q (2^-53 for its mass, 2^-53 each for lo/sum lo) times the largest cost.
			if tol := 4 * 0x1p-52 * slices.Max(row); !(math.Abs(got-phi) <= tol) {
				t.Fatalf("sum C q = %v, phi = %v", got, phi)
			}
		}
	})
}

// TestCut checks strong duality at tau and weak duality elsewhere, in exact arithmetic.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, anyEps)
		lo, hi := in.box()
		one, sumLo, sumHi := big.NewRat(1, 1), new(big.Rat), new(big.Rat)
		for j := range lo {
			sumLo.Add(sumLo, num.Rat(lo[j]))
			sumHi.Add(sumHi, num.Rat(hi[j]))
		}
		if sumLo.Cmp(one) > 0 || sumHi.Cmp(one) < 0 {
			return // a point by convention only: duality speaks of the box as written
		}
		for i, row := range in.rows {
			_, tau := in.table.Phi(i, lo, hi)
			want := greedy(row, lo, hi)
			if got := exactCut(row, lo, hi, tau); got.Cmp(want) != 0 {
				a, _ := got.Float64()
				b, _ := want.Float64()
				t.Fatalf("cut of row %d at tau = %v is %v, phi = %v", i, tau, a, b)
			}
			eta := rapid.SampledFrom(row).Draw(t, "eta")
			if exactCut(row, lo, hi, eta).Cmp(want) > 0 {
				t.Fatalf("cut of row %d at %v is above phi", i, eta)
			}
			if in.eps <= 5 { // beyond, the terms of the cut are too large to compare in float64
				exact, _ := exactCut(row, lo, hi, eta).Float64()
				got := in.table.Cut(i, eta, lo, hi)
				if tol := 0x1p-48 * slices.Max(row) * math.Exp(in.eps); !(math.Abs(got-exact) <= tol) {
					t.Fatalf("Cut(%d, %v) = %v, exact %v", i, eta, got, exact)
				}
			}
		}
	})
}

func exactCut(row, lo, hi []float64, eta float64) *big.Rat {
	sum := num.Rat(eta)
	for j, c := range row {
		d := new(big.Rat).Sub(num.Rat(c), num.Rat(eta))
		if c > eta {
			sum.Add(sum, d.Mul(d, num.Rat(lo[j])))
		} else {
			sum.Add(sum, d.Mul(d, num.Rat(hi[j])))
		}
	}
	return sum
}

// lawTol covers the rounding of two boxes and two evaluations, relative to max C; e^(eps/2) * mass is at most e^5.
const lawTol = 1e-12

// TestSubgradient checks phi(m') >= phi(m) + g.(m'-m), tau + g.m = phi, and the size of g.
func TestSubgradient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, modestEps)
		lo, hi := in.box()
		other := drawBase(t, len(in.m), in.eps, "other mass")
		lo2, hi2 := box(other, in.eps)
		alpha, beta := math.Exp(-in.eps/2), math.Exp(in.eps/2)
		tol := lawTol * in.table.MaxCost() * math.Exp(in.eps)
		g := make([]float64, len(in.m))
		for i := range in.rows {
			phi, tau := in.table.Phi(i, lo, hi)
			phi2, _ := in.table.Phi(i, lo2, hi2)
			in.table.Subgradient(i, tau, alpha, beta, g)
			at, along, far := tau, 0.0, 0.0
			for j := range g {
				at += g[j] * in.m[j]
				along += g[j] * (other[j] - in.m[j])
				far += math.Abs(other[j] - in.m[j])
				if r := in.table.Range(); !(g[j] >= -beta*r*(1+lawTol) && g[j] <= alpha*r*(1+lawTol)) {
					t.Fatalf("g[%d] = %v outside [-beta R, alpha R], R = %v", j, g[j], r)
				}
			}
			if !(math.Abs(at-phi) <= tol) {
				t.Fatalf("tau + g.m = %v, phi = %v", at, phi)
			}
			if !(phi2 >= phi+along-tol) {
				t.Fatalf("phi(m') = %v < phi(m) + g.(m'-m) = %v", phi2, phi+along)
			}
			if !(math.Abs(phi2-phi) <= beta*in.table.Range()*far+tol) {
				t.Fatalf("|phi(m') - phi(m)| = %v > beta R |m'-m| = %v", math.Abs(phi2-phi), beta*in.table.Range()*far)
			}
		}
	})
}

// TestConvex checks f on the segment between two base measures.
func TestConvex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, modestEps)
		other := drawBase(t, len(in.m), in.eps, "other mass")
		theta := rapid.Float64Range(0, 1).Draw(t, "theta")
		between := make([]float64, len(in.m))
		for j := range between {
			between[j] = (1-theta)*in.m[j] + theta*other[j]
		}
		f := func(m []float64) float64 {
			f, i := in.table.Max(box(m, in.eps))
			if i < 0 {
				t.Fatal("infeasible")
			}
			return f
		}
		tol := lawTol * in.table.MaxCost()
		if got, bound := f(between), (1-theta)*f(in.m)+theta*f(other); !(got <= bound+tol) {
			t.Fatalf("f(between) = %v > %v", got, bound)
		}
	})
}

// TestInvariance checks scaling by a power of two (exact), permutation and cost shift.
func TestInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t, modestEps)
		k, kv := len(in.rows), len(in.m)
		lo, hi := in.box()
		phi, tau := make([]float64, k), make([]float64, k)
		if err := in.table.All(lo, hi, phi, tau); err != nil {
			t.Fatal(err)
		}
		rowOrder := rapid.Permutation(upTo(k)).Draw(t, "rows")
		colOrder := rapid.Permutation(upTo(kv)).Draw(t, "columns")
		shift := in.table.MaxCost() * rapid.SampledFrom([]float64{0.5, 1, 3}).Draw(t, "shift")
		const scale = 0x1p20

		scaled, shuffled, shifted := make([][]float64, k), make([][]float64, k), make([][]float64, k)
		for i := range k {
			for j := range kv {
				scaled[i] = append(scaled[i], in.rows[i][j]*scale)
				shuffled[i] = append(shuffled[i], in.rows[rowOrder[i]][colOrder[j]])
				shifted[i] = append(shifted[i], in.rows[i][j]+shift)
			}
		}
		m2 := make([]float64, kv)
		for j := range m2 {
			m2[j] = in.m[colOrder[j]]
		}
		lo2, hi2 := box(m2, in.eps)
		t1, t2, t3 := newTableT(t, scaled), newTableT(t, shuffled), newTableT(t, shifted)
		tol := lawTol * max(in.table.MaxCost(), t3.MaxCost())
		for i := range k {
			if in.table.MaxCost() > 1e-290 { // else products underflow, and scaling is not exact
				if p, u := t1.Phi(i, lo, hi); p != phi[i]*scale || u != tau[i]*scale {
					t.Fatalf("scaled: %v, %v, want %v, %v", p, u, phi[i]*scale, tau[i]*scale)
				}
			}
			if p, _ := t2.Phi(i, lo2, hi2); !(math.Abs(p-phi[rowOrder[i]]) <= tol) {
				t.Fatalf("permuted: %v, want %v", p, phi[rowOrder[i]])
			}
			if p, _ := t3.Phi(i, lo, hi); !(math.Abs(p-(phi[i]+shift)) <= tol) {
				t.Fatalf("shifted: %v, want %v", p, phi[i]+shift)
			}
		}
	})
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func newTableT(t *rapid.T, rows [][]float64) *knapsack.Table {
	table, err := knapsack.New(context.Background(), dense(rows))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestSimplex is a second opinion from a general linear program, on sizes where gonum's simplex is reliable.
func TestSimplex(t *testing.T) {
	const simplexTol = 1e-9 // of the oracle, relative to max C = 3
	rapid.Check(t, func(t *rapid.T) {
		kv := rapid.IntRange(1, 5).Draw(t, "kv")
		row := make([]float64, kv)
		for j := range row {
			row[j] = float64(rapid.IntRange(0, 12).Draw(t, "cost")) / 4
		}
		eps := rapid.SampledFrom([]float64{0.5, 1, 2, 4}).Draw(t, "eps")
		lo, hi := box(drawBase(t, kv, eps, ""), eps)
		rest := 1.0
		for _, x := range lo {
			rest -= x
		}
		// q = lo + r, r + s = hi - lo, sum r = rest, r, s >= 0.
		a := mat.NewDense(kv+1, 2*kv, nil)
		b, c := make([]float64, kv+1), make([]float64, 2*kv)
		base := 0.0
		for j := range kv {
			a.Set(j, j, 1)
			a.Set(j, kv+j, 1)
			a.Set(kv, j, 1)
			b[j] = hi[j] - lo[j]
			c[j] = row[j]
			base += row[j] * lo[j]
		}
		b[kv] = max(rest, 0)
		want, _, err := lp.Simplex(c, a, b, simplexTol, nil)
		if err != nil {
			return // singular or infeasible by rounding at an end of the mass: the oracle has no opinion
		}
		table := newTableT(t, [][]float64{row})
		if got, _ := table.Phi(0, lo, hi); !(math.Abs(got-(base+want)) <= 10*simplexTol) {
			t.Fatalf("phi = %v, simplex has %v", got, base+want)
		}
	})
}

// TestSimplexAnswers checks that TestSimplex's oracle does have an opinion on an ordinary instance.
func TestSimplexAnswers(t *testing.T) {
	a := mat.NewDense(3, 4, []float64{1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0})
	if _, _, err := lp.Simplex([]float64{1, 2, 0, 0}, a, []float64{0.5, 0.5, 0.75}, 1e-9, nil); err != nil {
		t.Fatal(err)
	}
}
