package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
)

// The designs of the menu, in its order.
const (
	designKPM     = "KPM's base"
	designUniform = "uniform"
	designMinimax = "minimax"
	designMixed   = "mixed"
	designAverage = "average"
)

// objective is what the base measure of a design is to make small.
type objective struct {
	name     string
	settings basemeasure.Settings
}

// menuRow is one design at one eps.
type menuRow struct {
	Epsilon  string  `json:"epsilon"`
	Design   string  `json:"design"`
	Worst    float64 `json:"worst"` // certified: at most this over all private distributions
	Mean     float64 `json:"mean"`  // over point inputs, by their weights
	Nonzeros int     `json:"nonzeros"`
	Mass     float64 `json:"mass"`
	Gap      float64 `json:"gap"` // certified, of what the design makes small, relative; -1 where that is not a claim
}

// maxMenu is the number of entries of the cost up to which the other designs are computed without being asked for: some seconds.
const maxMenu = 150 * 150

func objectiveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "objective", Value: designUniform, Usage: "what the base measure makes small: uniform (its exact scale), minimax, average, or mixed"},
		&cli.FloatFlag{Name: "mix", Value: 0.5, Usage: "with -objective mixed: the `SHARE` of the worst case; the rest is the average"},
		&cli.StringFlag{Name: "weights", Usage: "public weights of the inputs for average and mixed: CSV `FILE`, label,count (default: all the same)"},
		&cli.StringFlag{Name: "menu", Usage: "compare the designs: yes, no, or auto (small problems only)", Value: "auto"},
	}
}

// readObjectives returns the objectives of the menu, with the one asked for.
func readObjectives(c *cli.Command, g geometry) (asked objective, all []objective, err error) {
	name := c.String("objective")
	if c.IsSet("mix") && name != designMixed {
		return asked, nil, fmt.Errorf("-mix goes with -objective mixed")
	}
	if mix := c.Float("mix"); !(mix > 0 && mix < 1) {
		return asked, nil, fmt.Errorf("-mix: %v is not between 0 and 1", mix)
	}
	if menu := c.String("menu"); menu != "yes" && menu != "no" && menu != "auto" {
		return asked, nil, fmt.Errorf("-menu: %q is not yes, no or auto", menu)
	}
	var weights []float64
	if file := c.String("weights"); file != "" {
		if weights, err = readWeights(file, c.Root().Reader, g); err != nil {
			return asked, nil, err
		}
	}
	all = []objective{
		{designMinimax, basemeasure.Settings{}},
		{designMixed, basemeasure.Settings{Objective: basemeasure.Mixed, Mix: c.Float("mix"), InputWeights: weights}},
		{designAverage, basemeasure.Settings{Objective: basemeasure.Average, InputWeights: weights}},
	}
	if name == designUniform {
		return objective{name: name}, all, nil
	}
	for _, o := range all {
		if o.name == name {
			return o, all, nil
		}
	}
	return asked, nil, fmt.Errorf("-objective: %q is not uniform, minimax, average or mixed", name)
}

func readWeights(file string, stdin io.Reader, g geometry) ([]float64, error) {
	k, _ := g.cost.Dims()
	labels := g.inputs
	if labels == nil {
		labels = labelsOf(strconv.Itoa, k)
	}
	counts, err := readText(file, stdin, func(r io.Reader, name string) (*costio.Counts, error) { return costio.ReadCounts(r, name, labels) })
	if err != nil {
		return nil, err
	}
	if counts.Users != nil {
		return nil, fmt.Errorf("%s: weights are public: a table label,count, and not one of users", file)
	}
	weights := make([]float64, k)
	for _, row := range counts.Rows {
		weights[row.Label] += row.N
	}
	return weights, nil
}

// solveObjective finds the base measure of an objective. For the certificate the evidence is about the worst case, whatever was made small.
func solveObjective(ctx context.Context, c cost.Matrix, eps float64, o objective) (base basemeasure.Result, err error) {
	if o.name == designUniform {
		return basemeasure.Uniform(ctx, c, eps, basemeasure.Settings{})
	}
	if base, err = basemeasure.Solve(ctx, c, eps, o.settings); err != nil || o.name == designMinimax {
		return base, err
	}
	worst, err := basemeasure.Solve(ctx, c, eps, basemeasure.Settings{})
	if err != nil {
		return base, err
	}
	base.Weights, base.Thresholds, base.Lower, base.Settings = worst.Weights, worst.Thresholds, worst.Lower, worst.Settings
	base.F, base.Upper = base.WorstCase, math.Inf(1) // no claim: the certificate makes its own
	return base, nil
}

// compareDesigns fills the menu at one eps.
func compareDesigns(ctx context.Context, c cost.Matrix, eps ldp.Epsilon, all []objective) ([]menuRow, error) {
	e := eps.Float64()
	_, kv := c.Dims()
	table, err := knapsack.New(c)
	if err != nil {
		return nil, err
	}
	weights := all[len(all)-1].settings.InputWeights
	var rows []menuRow
	add := func(name string, m []float64, gap float64) error {
		row := menuRow{Epsilon: eps.String(), Design: name, Gap: gap}
		k, _ := c.Dims()
		lo, hi, phi := make([]float64, kv), make([]float64, kv), make([]float64, k)
		for j, x := range m {
			lo[j], hi[j] = math.Exp(-e/2)*x, math.Exp(e/2)*x
			row.Mass += x
			if x > 0 {
				row.Nonzeros++
			}
		}
		if err := table.All(lo, hi, phi, make([]float64, k)); err != nil {
			return err
		}
		var sum float64
		for i, x := range phi {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			row.Mean, sum, row.Worst = row.Mean+w*x, sum+w, max(row.Worst, x)
		}
		row.Mean /= sum
		rows = append(rows, row)
		return nil
	}
	if m, err := baseline.KPMMeasure(kv, e); err != nil {
		return nil, err
	} else if err := add(designKPM, m, -1); err != nil {
		return nil, err
	}
	u, err := basemeasure.Uniform(ctx, table, e, basemeasure.Settings{})
	if err != nil {
		return nil, err
	}
	if err := add(designUniform, u.M, -1); err != nil {
		return nil, err
	}
	for _, o := range all {
		r, err := basemeasure.Solve(ctx, table, e, o.settings)
		if err != nil && !(errors.Is(err, basemeasure.ErrNotConverged) && ctx.Err() == nil) { // else the best there is, and its gap says how far off
			return nil, fmt.Errorf("%s at eps %s: %w", o.name, eps, err)
		}
		gap := 0.0
		if r.Upper > 0 {
			gap = (r.Upper - r.Lower) / r.Upper
		}
		if err := add(o.name, r.M, gap); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// printMenu tabulates the designs, and says what to make of them.
func (d designCard) printMenu(b *bytes.Buffer) {
	if len(d.Menu) == 0 {
		fmt.Fprintf(b, "\nThe other designs (minimax, mixed, average) were not computed at this size: -menu yes does.\n")
		return
	}
	fmt.Fprintf(b, "\nDesigns, %s of the worst point mass and of the mean one, in %s:\n\n", d.unit.quantity(), d.unit.costs())
	w := tabwriter.NewWriter(b, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "eps\tdesign\tworst case\tmean\tpoints in use\tmass\t\n")
	var uniform, minimax menuRow
	for _, r := range d.Menu {
		fmt.Fprintf(w, "%s\t%s\t%.6g\t%.6g\t%d of %d\t%.4g\t\n", r.Epsilon, r.Design, r.Worst, r.Mean, r.Nonzeros, d.Outputs, r.Mass)
		if r.Epsilon == d.Epsilon {
			switch r.Design {
			case designUniform:
				uniform = r
			case designMinimax:
				minimax = r
			}
		}
	}
	w.Flush()
	if uniform.Worst > 0 {
		change := "raises the mean by"
		diff := minimax.Mean/uniform.Mean - 1
		if diff < 0 {
			change, diff = "lowers the mean by", -diff
		}
		fmt.Fprintf(b, "\nAgainst uniform, minimax lowers the worst case by %.1f %% and %s %.1f %% at eps = %s.\n", 100*(1-minimax.Worst/uniform.Worst), change, 100*diff, d.Epsilon)
	}
	fmt.Fprintf(b, "Minimax is the wrong choice where the average matters: it lifts every input to the worst one's cost, is ruled by far points that nobody may\n"+
		"be at, and at small eps releases nothing but a few central points. Mixed (-objective mixed) is a sensible middle.\n")
}
