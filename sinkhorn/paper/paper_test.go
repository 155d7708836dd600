package paper_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// line is the projection of a skewed distribution on n points of [0, 1] onto all within a factor 3 of the uniform one.
func line(n int, lambda float64) paper.Problem {
	p := paper.Problem{Lambda: lambda}
	for i := range n {
		row := make([]float64, n)
		for j := range row {
			d := float64(i-j) / float64(n)
			row[j] = d * d
		}
		p.C = append(p.C, row)
		p.Mu = append(p.Mu, 2*float64(i+1)/float64(n*(n+1)))
		p.Lo, p.Hi = append(p.Lo, 0.6/float64(n)), append(p.Hi, 1.8/float64(n))
	}
	return p
}

// TestListing computes with the kernel itself, in plain floats, what the listing says.
func TestListing(t *testing.T) {
	p := line(12, 0.05)
	it := paper.New(p, nil)
	v := make([]float64, 12)
	for j := range v {
		v[j] = 1
	}
	for n := range 30 {
		if err := it.Step(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		u, s := make([]float64, 12), make([]float64, 12)
		for i, row := range p.C {
			for j, c := range row {
				u[i] += math.Exp(-c/p.Lambda) * v[j]
			}
			u[i] = p.Mu[i] / u[i]
			for j, c := range row {
				s[j] += math.Exp(-c/p.Lambda) * u[i]
			}
		}
		var mass float64
		for j := range s {
			q := math.Min(math.Max(math.Exp(it.Theta)*s[j], p.Lo[j]), p.Hi[j])
			mass += q
			v[j] = q / s[j]
			const same = 1e-13 // a few dozen roundings, and exponents of up to 20
			if !(math.Abs(it.Q[j]-q) <= same) || !(math.Abs(it.LogS[j]-math.Log(s[j])) <= same*20) ||
				!(math.Abs(it.Next[j]-math.Log(v[j])) <= same*20) {
				t.Errorf("step %d, column %d: q %v, log s %v, log v %v; want %v, %v, %v", n, j, it.Q[j], it.LogS[j], it.Next[j], q,
					math.Log(s[j]), math.Log(v[j]))
			}
		}
		if !(math.Abs(mass-1) <= 1e-12) {
			t.Errorf("step %d: the multiplier leads to a mass of %v", n, mass)
		}
	}
}

// TestProject: the residual falls to the goal, and the context ends a run.
func TestProject(t *testing.T) {
	p := line(20, 0.1)
	it, n, err := paper.Project(context.Background(), p, 1e-12, 1000)
	if err != nil || n < 2 || n == 1000 || !(it.Residual() <= 1e-12) {
		t.Errorf("%d iterations, residual %v, %v", n, it.Residual(), err)
	}
	if _, n, _ := paper.Project(context.Background(), p, 0, 3); n != 3 {
		t.Errorf("%d iterations, want 3", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, n, err := paper.Project(ctx, p, 0, 3); n != 0 || err == nil {
		t.Errorf("%d iterations, %v", n, err)
	}
	p.Lo[0], p.Hi[0] = 0, 0 // a column without room has v = 0
	if it, _, err = paper.Project(context.Background(), p, 1e-12, 1000); err != nil || it.Q[0] != 0 ||
		!math.IsInf(it.Next[0], -1) || !(it.Residual() <= 1e-12) {
		t.Errorf("q = %v, log v = %v, %v", it.Q, it.Next, err)
	}
}

func Example() {
	p := paper.Problem{
		C:  [][]float64{{0, 1, 4}, {1, 0, 1}, {4, 1, 0}},
		Mu: []float64{0.8, 0.1, 0.1},
		Lo: []float64{0.2, 0.2, 0.2}, Hi: []float64{0.5, 0.5, 0.5},
		Lambda: 0.1,
	}
	it, _, _ := paper.Project(context.Background(), p, 1e-12, 1000)
	fmt.Printf("%.4f\n", it.Q)
	// Output: [0.5000 0.3000 0.2000]
}

func BenchmarkStep(b *testing.B) {
	for _, n := range []int{50, 250} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := line(n, 0.01)
			it := paper.New(p, nil)
			for b.Loop() {
				if err := it.Step(context.Background(), p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
