// Package errata measures three claims of docs/errata.md, whose numbers depend on the instance: how often alternating
// projections without a correction end elsewhere than Algorithm 1 (item 7), how many columns of a box of floats break
// e^eps (item 12), and what the unit of lambda does (item 13).
//
// # Protocols
//
//	7   random instances of 3 to 6 points: costs 0 to 3 in whole numbers, sources and base measures from exponential
//	    variables, e^eps = 4, reg = 1; both iterations until no entry moves by 1e-12. Elsewhere: total variation above 1e-3
//	12  m uniform in [0, 1), lo = exp(-eps/2) m and hi = exp(eps/2) m in floats; a column is broken if hi > e^eps lo,
//	    decided with rational bounds of e^eps
//	13  users of a synthetic city on 20 x 20 cells, uniform base measure; 40 iterations of Algorithm 1 with lambda = 0.01,
//	    lengths in sides of the city and in cells; W_1 of the result over that of the exact projection
//
// All of it is a function of Seed. Cost: some ten seconds.
package errata

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("errata: bad configuration")

// Config is the protocol; the fields say what zero means.
type Config struct {
	Out       string `json:"out"`       // folder to write the report to; "": nothing is written
	Instances int    `json:"instances"` // of item 7; 0: 1000
	Columns   int    `json:"columns"`   // of item 12, for each eps; 0: 20,000
	Users     int    `json:"users"`     // of item 13; 0: 40
	Seed      uint64 `json:"seed"`

	// Progress, if not nil, is told what is being done and how much of it is.
	Progress func(done, total int, what string) `json:"-"`
}

// Result is what was measured.
type Result struct {
	Config    Config   `json:"config"`
	Compared  int      `json:"compared"`  // instances on which both iterations came to rest
	Elsewhere int      `json:"elsewhere"` // of these, where they differ
	Farthest  float64  `json:"farthest"`  // largest total variation
	Columns   []Column `json:"columns"`
	Units     []Unit   `json:"units"`
}

// Column is item 12 at one eps.
type Column struct {
	Epsilon string  `json:"epsilon"`
	Share   float64 `json:"share"` // of columns that break e^eps
}

// Unit is item 13 at one eps: mean W_1 over that of the exact projection, less one.
type Unit struct {
	Epsilon string  `json:"epsilon"`
	Sides   float64 `json:"sides"`
	Cells   float64 `json:"cells"`
}

func (c Config) resolve() (Config, error) {
	for _, v := range []struct {
		what     string
		n        *int
		zero, hi int
	}{{"Instances", &c.Instances, 1000, 1_000_000}, {"Columns", &c.Columns, 20_000, 10_000_000},
		{"Users", &c.Users, 40, 10_000}} {
		if *v.n == 0 {
			*v.n = v.zero
		}
		if *v.n < 1 || *v.n > v.hi {
			return c, fmt.Errorf("%w: %s is %d, want 1 to %d", ErrConfig, v.what, *v.n, v.hi)
		}
	}
	return c, nil
}

// Run measures the three and, if cfg.Out is set, writes the report.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	res := Result{Config: cfg}
	res.Config.Progress = nil
	if err := res.alternate(ctx); err != nil {
		return Result{}, err
	}
	for _, text := range []string{"0.5", "1", "2", "3", "4", "5"} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			return Result{}, err
		}
		res.Columns = append(res.Columns, Column{text, broken(cfg, eps)})
	}
	if err := res.units(ctx); err != nil {
		return Result{}, err
	}
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, res.Report())
	}
	return res, err
}

// stream is a generator of its own for each item.
func stream(cfg Config, item uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, item)) }

// distribution draws n shares.
func distribution(r *rand.Rand, n int) []float64 {
	x, sum := make([]float64, n), 0.0
	for i := range x {
		x[i] = r.ExpFloat64()
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// alternate is item 7.
func (res *Result) alternate(ctx context.Context) error {
	r := stream(res.Config, 7)
	for range res.Config.Instances {
		n := 3 + r.IntN(4)
		p := paper.Problem{Mu: distribution(r, n), Lambda: 1}
		for _, m := range distribution(r, n) { // mass one: lo = m/2, hi = 2m
			p.Lo, p.Hi = append(p.Lo, m/2), append(p.Hi, 2*m)
		}
		for range n {
			row := make([]float64, n)
			for j := range row {
				row[j] = float64(r.IntN(4))
			}
			p.C = append(p.C, row)
		}
		right, ok, err := settled(ctx, p)
		if err != nil {
			return err
		}
		free, also := Alternate(p)
		if !ok || !also {
			continue
		}
		res.Compared++
		tv := 0.0
		for j := range free {
			tv += math.Abs(free[j]-right[j]) / 2
		}
		if tv > 1e-3 {
			res.Elsewhere++
		}
		res.Farthest = max(res.Farthest, tv)
	}
	return nil
}

// What both iterations need to be taken as ended.
const (
	rest  = 1e-12
	steps = 5000
)

// settled is Algorithm 1 until its q rests.
func settled(ctx context.Context, p paper.Problem) (q []float64, ok bool, err error) {
	it := paper.New(p, nil)
	last := make([]float64, len(p.Lo))
	for range steps {
		if err := it.Step(ctx, p); err != nil {
			return nil, false, err
		}
		if still(last, it.Q) {
			return it.Q, true, nil
		}
		copy(last, it.Q)
	}
	return it.Q, false, nil
}

func still(a, b []float64) bool {
	for j := range a {
		if !(math.Abs(a[j]-b[j]) <= rest) {
			return false
		}
	}
	return true
}

// Alternate alternates the two projections of the lemma without a correction: rows of the plan are scaled to Mu, then
// columns to the projection of the column sums, which it returns, with whether they came to rest.
func Alternate(p paper.Problem) (q []float64, ok bool) {
	k, kv := len(p.Mu), len(p.Lo)
	plan := make([]float64, k*kv)
	for i, row := range p.C {
		for j, c := range row {
			plan[i*kv+j] = math.Exp(-c / p.Lambda)
		}
	}
	var exact kl.Workspace
	q, last, logs := make([]float64, kv), make([]float64, kv), make([]float64, kv)
	for range steps {
		sums := make([]float64, kv)
		for i := range k {
			row := plan[i*kv : (i+1)*kv]
			total := 0.0
			for _, v := range row {
				total += v
			}
			for j := range row {
				row[j] *= p.Mu[i] / total
				sums[j] += row[j]
			}
		}
		for j, v := range sums {
			logs[j] = math.Log(v)
		}
		if _, feasible := exact.Project(logs, p.Lo, p.Hi, q); !feasible {
			return q, false
		}
		for n := range plan {
			plan[n] *= q[n%kv] / sums[n%kv]
		}
		if still(last, q) {
			return q, true
		}
		copy(last, q)
	}
	return q, false
}

// broken is item 12: the share of columns above e^eps. The bounds of e^eps are 2^-200 apart: no quotient of floats lies
// between them but by a chance of 2^-90.
func broken(cfg Config, eps ldp.Epsilon) float64 {
	r, n := stream(cfg, 12), 0
	_, e := eps.ExpBounds(200)
	for range cfg.Columns {
		m := r.Float64()
		lo, hi := math.Exp(-eps.Float64()/2)*m, math.Exp(eps.Float64()/2)*m
		if new(big.Rat).SetFloat64(hi).Cmp(new(big.Rat).Mul(e, new(big.Rat).SetFloat64(lo))) > 0 {
			n++
		}
	}
	return float64(n) / float64(cfg.Columns)
}

// units is item 13.
func (res *Result) units(ctx context.Context) error {
	const side, lambda, rounds = 20, 0.01, 40
	pop, err := city.Generate(res.Config.Seed, res.Config.Users, side, side)
	if err != nil {
		return err
	}
	grid, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return err
	}
	for _, text := range []string{"0.5", "1", "2", "4"} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			return err
		}
		base, err := basemeasure.Uniform(ctx, grid, eps.Float64(), basemeasure.Settings{})
		if err != nil {
			return err
		}
		box, err := ldp.NewPolytope(eps, base.M, 62)
		if err != nil {
			return err
		}
		lo, hi := box.Bounds()
		w := make([][3]float64, len(pop.Users)) // exact, lengths in sides, in cells
		err = parallel.Each(ctx, len(w), func(u int) error {
			support, weight := pop.Users[u].Distribution()
			data := make([]float64, 0, len(support)*side*side)
			for _, i := range support {
				data = append(data, grid.Row(i, nil)...)
			}
			c, err := cost.NewDense(len(support), side*side, data)
			if err != nil {
				return err
			}
			exact, err := mincostflow.Project(ctx, projection.Problem{Cost: c, Source: weight, Lo: lo, Hi: hi},
				mincostflow.Settings{})
			if err != nil {
				return err
			}
			w[u][0] = exact.Objective
			for n, unit := range []float64{1, side} {
				p := paper.Problem{Mu: weight, Lo: lo, Hi: hi, Lambda: lambda / unit}
				for i := range support {
					p.C = append(p.C, c.Row(i, nil))
				}
				it, _, err := paper.Project(ctx, p, 0, rounds)
				if err != nil {
					return err
				}
				t, err := mincostflow.Transport(ctx, c, weight, it.Q)
				if err != nil {
					return err
				}
				w[u][n+1] = t.Objective
			}
			return nil
		}, func(done int) {
			if res.Config.Progress != nil {
				res.Config.Progress(done, len(w), "units of lambda at eps "+text)
			}
		})
		if err != nil {
			return err
		}
		var sum [3]float64
		for _, v := range w {
			for n := range sum {
				sum[n] += v[n]
			}
		}
		res.Units = append(res.Units, Unit{text, sum[1]/sum[0] - 1, sum[2]/sum[0] - 1})
	}
	return nil
}

// Report describes the result folder.
func (res Result) Report() report.Report {
	c := res.Config
	seven := report.Table{Title: "Item 7: without the correction",
		Columns: []report.Column{{Name: "instances", Label: "instances that came to rest"},
			{Name: "elsewhere", Label: "ended elsewhere"}, {Name: "farthest", Label: "largest total variation"}},
		Rows: [][]any{{res.Compared, res.Elsewhere, res.Farthest}}}
	twelve := report.Table{Name: "columns", Title: "Item 12: columns of a box of floats that break e^ε",
		Columns: []report.Column{{Name: "eps", Label: "ε"}, {Name: "share"}}}
	for _, v := range res.Columns {
		twelve.Rows = append(twelve.Rows, []any{v.Epsilon, v.Share})
	}
	thirteen := report.Table{Name: "units", Title: "Item 13: excess of W₁ after 40 iterations with λ = 0.01",
		Columns: []report.Column{{Name: "eps", Label: "ε"}, {Name: "sides", Label: "lengths in sides of the city"},
			{Name: "cells", Label: "in cells"}}}
	for _, v := range res.Units {
		thirteen.Rows = append(thirteen.Rows, []any{v.Epsilon, v.Sides, v.Cells})
	}
	return report.Report{
		Title:  "Three claims of the errata, measured",
		Lead:   "Numbers that depend on the instance, for docs/errata.md; drawn from the seed.",
		Tables: []report.Table{seven, twelve, thirteen}, Seed: c.Seed,
		Settings: []report.Setting{{Name: "instances", Value: fmt.Sprint(c.Instances)},
			{Name: "columns for each ε", Value: fmt.Sprint(c.Columns)},
			{Name: "users of the synthetic city", Value: fmt.Sprint(c.Users)}},
	}
}
