//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// What a user pays for a projection that is nearly the best: W_1 of what each method returns, beside its time. The
// paper takes Algorithm 1 because exact projection is slow; these are the numbers.

// reached is one point of the figure.
type reached struct {
	method  string
	look    int
	points  int
	seconds float64
	ratio   float64 // W_1 over that of the exact projection
}

// projector is one way to project an instance.
type projector struct {
	name    string
	look    int
	most    int // points beyond which it takes minutes
	project func(in *instance, reg float64) ([]float64, error)
	share   float64 // reg in shares of the range of the cost
}

var projectors = []projector{
	{"exact", figure.LookWPM, 1600, func(in *instance, _ float64) ([]float64, error) {
		r, err := mincostflow.Project(context.Background(),
			projection.Problem{Cost: in.C, Source: in.mu, Lo: in.lo, Hi: in.hi}, mincostflow.Settings{})
		return r.Q, err
	}, 0.01},
	{"Algorithm 1, λ = 0.01 R, 40 rounds", figure.LookAlgorithm1, 1600, kernel(40), 0.01},
	{"the same in logarithms", figure.LookAlgorithm1, 1600, algorithm1(40), 0.01},
	{"Algorithm 1, λ = 0.001 R, 400 rounds, in logarithms", figure.LookAlgorithm1, 800, algorithm1(400), 0.001},
	{"fast, λ = 0.01 R", figure.LookFast, 1600, fast, 0.01},
	{"fast, λ = 0.001 R", figure.LookFast, 1600, fast, 0.001},
}

// algorithm1 is the listing of the paper, in logarithms.
func algorithm1(rounds int) func(in *instance, reg float64) ([]float64, error) {
	return func(in *instance, reg float64) ([]float64, error) {
		p := paper.Problem{Lo: in.lo, Hi: in.hi, Lambda: reg}
		for i, w := range in.mu {
			if w > 0 {
				p.C, p.Mu = append(p.C, in.C.Row(i, nil)), append(p.Mu, w)
			}
		}
		it, _, err := paper.Project(context.Background(), p, 0, rounds)
		return it.Q, err
	}
}

// kernel is Algorithm 1 with the kernel exp(-C/reg) in memory, two products with it a round: the fastest plain form,
// for a reg of at least 1/700 of the largest cost, below which exponentials vanish.
func kernel(rounds int) func(in *instance, reg float64) ([]float64, error) {
	return func(in *instance, reg float64) ([]float64, error) {
		k, kv := in.C.Dims()
		gibbs, v, s, logs, q := make([]float64, k*kv), make([]float64, kv), make([]float64, kv), make([]float64, kv),
			make([]float64, kv)
		for n, c := range in.C.Data {
			gibbs[n] = math.Exp(-c / reg)
		}
		for j := range v {
			v[j] = 1
		}
		var exact kl.Workspace
		for range rounds {
			clear(s)
			for i, w := range in.mu {
				if w == 0 {
					continue
				}
				row := gibbs[i*kv : (i+1)*kv]
				u := w / floats.Dot(row, v)
				floats.AddScaled(s, u, row)
			}
			for j := range s {
				logs[j] = math.Log(s[j])
			}
			if _, ok := exact.Project(logs, in.lo, in.hi, q); !ok {
				return nil, errors.New("no distribution of finite divergence in the box")
			}
			for j := range v {
				v[j] = q[j] / s[j]
			}
		}
		return q, nil
	}
}

func fast(in *instance, reg float64) ([]float64, error) {
	r, err := sinkhorn.Project(context.Background(),
		sinkhorn.Problem{Problem: projection.Problem{Cost: in.C, Source: in.mu, Lo: in.lo, Hi: in.hi}, Reg: reg},
		sinkhorn.Settings{Tolerance: 1e-6})
	return r.Q, err
}

// distances is the table.
func distances(c *config, w io.Writer) error {
	fmt.Fprint(w, "One distribution on all points of a square (Dirichlet(0.1)), p = 1, eps = 2. R is the range of the cost. The columns "+
		"of time are processor time.\n\n| points | method | seconds (time) | W₁ over the exact one |\n| --: | --- | --: | --: |\n")
	for _, points := range []int{100, 200, 400, 800, 1600} {
		in, err := newInstance(fmt.Sprintf("sq%dp1:dir:2", points))
		if err != nil {
			return err
		}
		best := 0.0
		for _, p := range projectors {
			if points > p.most {
				continue
			}
			reg, err := sinkhorn.RelativeReg(context.Background(), in.C, p.share)
			if err != nil {
				return err
			}
			var seconds []float64
			var q []float64
			for range c.Runs {
				a, err := often(func() (a answer, err error) {
					q, err = p.project(in, reg)
					return a, err
				}).run()
				if err != nil {
					return fmt.Errorf("%s on %d points: %w", p.name, points, err)
				}
				seconds = append(seconds, a.CPU)
			}
			t, err := mincostflow.Transport(context.Background(), in.C, in.mu, q)
			if err != nil {
				return err
			}
			if best == 0 {
				best = t.Objective
			}
			slices.Sort(seconds)
			r := reached{p.name, p.look, points, seconds[len(seconds)/2], t.Objective / best}
			c.reached = append(c.reached, r)
			fmt.Fprintf(w, "| %d | %s | %.3g | %.4f |\n", r.points, r.method, r.seconds, r.ratio)
		}
	}
	return nil
}

// drawDistances draws W_1 against time, one line a method, along which the number of points grows.
func (c *config) drawDistances(file string) error {
	if c.reached == nil {
		return errors.New("-figure-distance: the table \"distance\" was not made")
	}
	last := c.reached[len(c.reached)-1]
	chart := figure.Line{
		XLabel: "processor time (seconds), log axis", YLabel: "W₁ over that of the exact projection", X: figure.Log,
	}
	var exact, slow float64
	for _, p := range projectors {
		s := figure.Series{Name: p.name, Look: p.look, Thin: p.share < 0.01}
		for _, r := range c.reached {
			if r.method == p.name {
				s.X, s.Y = append(s.X, r.seconds), append(s.Y, r.ratio)
			}
			if r.points == last.points && r.method == projectors[0].name {
				exact = r.seconds
			}
			if r.points == last.points && r.method == projectors[1].name {
				slow = r.seconds
			}
		}
		if s.X != nil {
			chart.Series = append(chart.Series, s)
		}
	}
	chart.Title = fmt.Sprintf("Time: on %d points exact projection takes %.2g s, the paper's 40 rounds %.2g s",
		last.points, exact, slow)
	img, err := figure.Render(chart)
	if err != nil {
		return err
	}
	return os.WriteFile(file, img.SVG, 0o644)
}
