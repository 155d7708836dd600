package sinkhorn

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
)

var methods = []Method{Paper, Fast}

// loaded reads p, as the methods do.
func loaded(t testing.TB, p Problem) (*instance, *core) {
	t.Helper()
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := load(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return in, c
}

// mustProject solves p and checks everything that every result promises.
func mustProject(t testing.TB, p Problem, s Settings) Result {
	t.Helper()
	r, err := Project(context.Background(), p, s)
	if err != nil {
		t.Fatalf("Project(%v, %v) = %v", describe(p), s.Method, err)
	}
	if r.Status != Converged {
		t.Fatalf("Project(%v): status %v without an error", describe(p), r.Status)
	}
	checkResult(t, p, r)
	return r
}

// checkResult checks what every result promises, converged or not, with Verify and without.
func checkResult(t testing.TB, p Problem, r Result) (upper, lower *big.Rat) {
	t.Helper()
	upper, lower, err := Verify(context.Background(), p, r)
	if err != nil {
		t.Fatalf("Verify(%v, %v, %v) = %v", describe(p), r.Settings.Method, r.Status, err)
	}
	if upper.Cmp(lower) < 0 {
		t.Fatalf("%v: proved upper %v below lower %v", describe(p), upper, lower)
	}
	if !(r.Lower >= 0 && r.Lower <= r.Upper) {
		t.Fatalf("%v: Lower = %v, Upper = %v", describe(p), r.Lower, r.Upper)
	}
	k, kv := p.Cost.Dims()
	if len(r.Potentials.F) != k || len(r.Potentials.G) != kv || len(r.Q) != kv || len(r.LogV) != kv {
		t.Fatalf("%v: %d F, %d G, %d Q, %d LogV", describe(p), len(r.Potentials.F), len(r.Potentials.G), len(r.Q),
			len(r.LogV))
	}
	return upper, lower
}

// describe prints a problem so that it can be pasted into a test.
func describe(p Problem) any {
	if d, ok := p.Cost.(*cost.Dense); ok && d != nil && len(d.Data) <= 100 {
		return struct {
			K, Kv         int
			C, Mu, Lo, Hi []float64
			Support       []int
			Reg           float64
		}{d.K, d.Kv, d.Data, p.Source, p.Lo, p.Hi, p.Support, p.Reg}
	}
	k, kv := p.Cost.Dims()
	return []any{k, kv, p.Reg}
}

func dense(t testing.TB, rows ...[]float64) *cost.Dense {
	t.Helper()
	d, err := cost.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// box returns e^(-eps/2) m and e^(eps/2) m.
func box(m []float64, eps float64) (lo, hi []float64) {
	lo, hi = make([]float64, len(m)), make([]float64, len(m))
	for j, x := range m {
		lo[j], hi[j] = math.Exp(-eps/2)*x, math.Exp(eps/2)*x
	}
	return lo, hi
}

// distance1 returns |x - y|_1.
func distance1(x, y []float64) float64 {
	var s float64
	for j := range x {
		s += math.Abs(x[j] - y[j])
	}
	return s
}

// generator makes random instances from a seed.
type generator struct{ r *numtest.SplitMix64 }

func newGenerator(seed uint64) *generator { return &generator{numtest.NewSplitMix64(seed)} }

func (g *generator) float() float64 { return g.r.Float64() }

func (g *generator) intn(n int) int { return int(g.r.Uint64() % uint64(n)) }

// mass returns a distribution on n points, skewed, with zeros at times.
func (g *generator) mass(n int) []float64 {
	m := make([]float64, n)
	zeros, power := g.float() < 0.3, 1+g.float()*6
	var sum float64
	for i := range m {
		if zeros && i > 0 && g.float() < 0.5 {
			continue
		}
		m[i] = math.Pow(g.float(), power) + 1e-12
		sum += m[i]
	}
	for i := range m {
		m[i] /= sum
	}
	return m
}

// problem returns a random instance with k rows, kv columns and Reg = rel times the range of the cost.
func (g *generator) problem(k, kv int, rel float64) Problem {
	d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	x, y := make([][2]float64, k), make([][2]float64, kv)
	for i := range x {
		x[i] = [2]float64{g.float(), g.float()}
	}
	for j := range y {
		y[j] = [2]float64{g.float(), g.float()}
		if j < k && g.float() < 0.5 {
			y[j] = x[j]
		}
	}
	kind := g.intn(4)
	for i := range k {
		for j := range kv {
			dist := math.Hypot(x[i][0]-y[j][0], x[i][1]-y[j][1])
			switch kind {
			case 0:
				dist *= dist
			case 1:
				dist = g.float()
			case 2:
				dist = float64(g.intn(4))
			}
			d.Data[i*kv+j] = dist
		}
	}
	eps := []float64{0, 0.1, 1, 2, 5}[g.intn(5)]
	lo, hi := box(g.mass(kv), eps)
	p := Problem{Problem: projection.Problem{Cost: d, Source: g.mass(k), Lo: lo, Hi: hi}}
	if r, err := RelativeReg(context.Background(), d, rel); err == nil {
		p.Reg = r
	} else {
		p.Reg = rel
	}
	return p
}

func is(err, target error) bool { return errors.Is(err, target) }

// logSumExp returns log sum_n exp(x_n).
func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, y := range x {
		top = math.Max(top, y)
	}
	var sum float64
	for _, y := range x {
		sum += math.Exp(y - top)
	}
	return top + math.Log(sum)
}
