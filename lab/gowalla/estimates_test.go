package gowalla

import (
	"context"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// lineDistance is W_1 on a row of cells, in cell widths: the L1 distance of the distribution functions.
func lineDistance(p, q []float64) (w float64) {
	f := 0.0
	for j := range p {
		f += p[j] - q[j]
		w += math.Abs(f)
	}
	return w
}

// plainAlgorithmOne is Algorithm 1 on a row of cells in the unit interval, in the kernel domain with bisection.
func plainAlgorithmOne(mu, lo, hi []float64, lambda float64, rounds int) []float64 {
	n := len(mu)
	v, q := slices.Repeat([]float64{1}, n), make([]float64, n)
	for range rounds {
		s := make([]float64, n)
		for i, x := range mu {
			row, sum := make([]float64, n), 0.0
			for j := range row {
				row[j] = math.Exp(-math.Abs(float64(i-j)) / float64(n) / lambda)
				sum += row[j] * v[j]
			}
			for j := range s {
				s[j] += x / sum * row[j]
			}
		}
		from, to := 0.0, 1e6
		for range 200 {
			at, mass := (from+to)/2, 0.0
			for j := range s {
				q[j] = min(max(at*s[j], lo[j]), hi[j])
				mass += q[j]
			}
			if mass < 1 {
				from = at
			} else {
				to = at
			}
		}
		for j := range v {
			v[j] = q[j] / s[j]
		}
	}
	return q
}

// plainDisk is the law of the disk's report from cell i of a row of n, moved to the row.
func plainDisk(n, radius int, e float64, i int) []float64 {
	r := float64(radius)
	area := func(x, y float64) float64 {
		d := math.Hypot(x, y)
		if d <= r {
			return 1
		}
		return 4 * max((r/d-1)*x+0.5, 0) * max((r/d-1)*y+0.5, 0)
	}
	q := make([]float64, n)
	total := 0.0
	for y := -radius; y <= radius; y++ {
		for x := -radius; x < n+radius; x++ {
			cell, away := min(max(x, 0), n-1), math.Abs(float64(y))
			if math.Hypot(max(math.Abs(float64(x-cell))-0.5, 0), max(away-0.5, 0)) >= r && (x != cell || y != 0) {
				continue
			}
			p := 1 + (e-1)*area(math.Abs(float64(x-i)), away)
			q[cell] += p
			total += p
		}
	}
	for j := range q {
		q[j] /= total
	}
	return q
}

// TestRivals recomputes on a row of cells what has no second opinion in TestMaps: Algorithm 1 in the kernel domain with
// bisection, the scale that KPM is tuned to, and the disk.
func TestRivals(t *testing.T) {
	const (
		cells, eps = 12, 1.5
		lambda     = 0.05
		rounds     = 7
		// Integers of 62 bits, bisection to rounding, and sums of a few dozen terms below 1.
		tol = 1e-12
	)
	p := village(t, 20, 1, cells)
	methods := []Method{Paper, KPMTuned, DiskArea}
	res := compared(t, p, Config{
		Epsilons: []string{"1.5"}, Runs: 1, Methods: methods, Lambda: lambda, Rounds: rounds, SkipEstimates: true,
	})
	truth, e := p.Truth(), math.Exp(eps)
	dense := make([][]float64, len(p.Users))
	for n, u := range p.Users {
		dense[n] = make([]float64, cells)
		support, weight := u.Distribution()
		for i, j := range support {
			dense[n][j] = weight[i]
		}
	}
	meanOf := func(law func(mu []float64) []float64) []float64 {
		q := make([]float64, cells)
		for _, mu := range dense {
			for j, x := range law(mu) {
				q[j] += x / float64(len(dense))
			}
		}
		return q
	}

	grid, err := cost.NewGrid(1, cells, 1)
	if err != nil {
		t.Fatal(err)
	}
	base, err := basemeasure.Uniform(context.Background(), grid, eps, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := ldp.ParseEpsilon("1.5")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(epsilon, base.M, 62)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box.Bounds()
	want := map[Method][]float64{Paper: meanOf(func(mu []float64) []float64 {
		return plainAlgorithmOne(mu, lo, hi, lambda, rounds)
	})}

	best := math.Inf(1)
	for n := range 21 {
		mean := meanOf(func(mu []float64) []float64 {
			q, err := baseline.KPMScaled(mu, eps, math.Exp(eps*(float64(n)/20-0.5)))
			if err != nil {
				t.Fatal(err)
			}
			return q
		})
		if w := lineDistance(mean, truth); w < best {
			best, want[KPMTuned] = w, mean
		}
	}

	// round(sqrt(12)) = 3 cells to a side. The disk of a row meets it in cells, and reaches 2 radius rows beyond it.
	radius := baseline.DiskRadius(3, eps)
	if radius < 1 {
		t.Fatalf("a disk of radius %d tests nothing", radius)
	}
	want[DiskArea] = meanOf(func(mu []float64) []float64 {
		q := make([]float64, cells)
		for i, x := range mu {
			for j, v := range plainDisk(cells, radius, e, i) {
				q[j] += x * v
			}
		}
		return q
	})
	for _, m := range res.Maps {
		for j, v := range m.Data {
			if !(math.Abs(v-want[m.Method][j]) <= tol) {
				t.Errorf("%s: mean mass of cell %d is %v, want %v", m.Method, j, v, want[m.Method][j])
			}
		}
	}
}

// TestEstimates: every kind of map is there with all its runs, the samples are those that Row measures, and what can be
// said without a simulation holds.
func TestEstimates(t *testing.T) {
	p := village(t, 400, 1, 12)
	cfg := Config{
		Epsilons: []string{"1", "6"}, Runs: 2, Seed: 5, Methods: []Method{Mixture, DiskArea, Response}, SkipTieRange: true,
	}
	res := compared(t, p, cfg)
	few, one := cfg, Result{}
	few.Epsilons, few.Runs = []string{"6"}, 1
	for _, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		got := compared(t, village(t, 50, 1, 12), few)
		runtime.GOMAXPROCS(old)
		if procs == 1 {
			one = got
		} else if !reflect.DeepEqual(got, one) {
			t.Errorf("GOMAXPROCS %d gives another result", procs)
		}
	}
	files, err := report.Encode(res.Report())
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(files, func(f report.File) bool { return f.Name == "estimates.csv" })
	if at < 0 || strings.Count(string(files[at].Data), "\n") != len(res.Estimates)+1 {
		t.Errorf("estimates.csv is file %d", at)
	}
	find := func(reports, estimator, eps string) Estimate {
		for _, e := range res.Estimates {
			if e.Reports == reports && e.Estimator == estimator && e.Epsilon == eps {
				return e
			}
		}
		t.Fatalf("no %s, %s, eps %s", reports, estimator, eps)
		return Estimate{}
	}
	// A disk of eps 1 has two radii, and one of eps 6 has one: two estimators of each.
	if want := 2 + 2*(3+3+3+3) + 2*(2+1); len(res.Estimates) != want {
		t.Errorf("%d estimates, want %d", len(res.Estimates), want)
	}
	const tol = maxGap // distances are exact up to their gap
	uniform := slices.Repeat([]float64{1. / 12}, 12)
	guess := find(nothing, byNone, "0")
	if w := lineDistance(uniform, p.Truth()); len(guess.Runs) != 1 || !(math.Abs(guess.Mean-w) <= tol) || guess.SD != 0 {
		t.Errorf("the guess: %+v, want %v", guess, w)
	}
	for _, e := range res.Estimates {
		mean, sd := meanSD(e.Runs)
		if len(e.Runs) != 2 && e.Reports != nothing || e.Mean != mean || e.SD != sd || !(e.Mean > 0 && e.Mean < 11) {
			t.Errorf("%+v", e)
		}
	}
	checkSampled(t, res, find)
	// 400 reports at eps 6 say much of 12 cells: each estimate is far better than the guess.
	for _, e := range res.Estimates {
		if e.Epsilon == "6" && e.Estimator != byRaw && !(e.Mean < guess.Mean/3) {
			t.Errorf("%s, %s at eps 6: %v, the guess is %v", e.Reports, e.Estimator, e.Mean, guess.Mean)
		}
	}
}

// checkSampled: the raw estimates are the distances of the samples.
func checkSampled(t *testing.T, res Result, find func(reports, estimator, eps string) Estimate) {
	t.Helper()
	const tol = maxGap // distances are exact up to their gap
	for _, m := range []Method{Mixture, Response} {
		for _, eps := range []string{"1", "6"} {
			row, _ := res.Row(m, eps)
			for run, w := range find(m.Name(), byRaw, eps).Runs {
				if !(math.Abs(w-row.Sampled[run]) <= tol) {
					t.Errorf("%s at %s: run %d is %v, as a sample %v", m, eps, run, w, row.Sampled[run])
				}
			}
		}
	}
}
