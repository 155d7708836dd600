package gowalla

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
)

// Row returns the row of method m at eps (in the spelling of Config.Epsilons as resolved), or false.
func (r Result) Row(m Method, eps string) (Row, bool) {
	for _, row := range r.Rows {
		if row.Method == m && row.Epsilon == eps {
			return row, true
		}
	}
	return Row{}, false
}

// rows returns the rows of one method in the order of eps.
func (r Result) rows(m Method) []Row {
	var out []Row
	for _, row := range r.Rows {
		if row.Method == m {
			out = append(out, row)
		}
	}
	return out
}

// Report describes the result folder: tables, figures and settings.
func (r Result) Report() report.Report {
	rep := report.Report{
		Title: "Gowalla: what a city's map looks like through a private sample",
		Lead: fmt.Sprintf("Each of %d users releases one check-in cell under eps-local differential privacy; the server averages. Shown is how far the average is from the "+
			"true map, in W₁: the mean distance, in cell widths, that mass would have to move.", r.Users),
		Notes: []string{
			"The releases are a simulation: they are drawn from a seeded stream. Real releases go through policy.Release, which takes no seed.",
			"Location data of people: research use only, cite Cho, Myers and Leskovec (KDD 2011), do not redistribute maps made from it.",
		},
		Facts:    r.Facts(),
		Figures:  r.Figures(),
		Tables:   r.Tables(),
		Settings: r.Settings(),
		Seed:     r.Config.Seed,
	}
	if r.Source.Format == FormatSynthetic {
		rep.Title = "A synthetic city: what its map looks like through a private sample"
		rep.Notes[1] = "The city is made from the seed: nobody lives in it. With check-ins of people (-data), distances differ, and so may the order of the mechanisms."
	}
	return rep
}

// Facts are the headline numbers.
func (r Result) Facts() []report.Setting {
	var out []report.Setting
	e := r.Config.MapEps
	if w, ok := r.Row(WPM, e); ok {
		out = append(out, report.Setting{Name: "WPM, expected W₁ at ε = " + e, Value: cells(w.Expected)})
		if k, ok := r.Row(KPM, e); ok {
			out = append(out, report.Setting{Name: "KPM, expected W₁ at ε = " + e, Value: cells(k.Expected)})
			if w.Expected > 0 {
				out = append(out, report.Setting{Name: "KPM over WPM at ε = " + e,
					Value: fmt.Sprintf("%.2f times", k.Expected/w.Expected)})
			}
		}
	}
	return append(out, report.Setting{Name: "released rows within e^ε of each other", Value: "all, in exact integers"})
}

func cells(v float64) string { return fmt.Sprintf("%.3f cell widths", v) }

// Tables are the table of errors and the table of designs.
func (r Result) Tables() []report.Table {
	main := report.Table{
		Name: "distance", Title: "Distance to the truth",
		Text: "Expected: of the mean of the released distributions, no randomness. Sampled: of the histogram of one simulated release per user, mean and standard deviation over the " +
			"runs. Loss: the largest log ratio between the weights of two users in one cell, which the integers certify to be at most ε. Gap: the largest certified gap of a user's projection.",
		Columns: []report.Column{
			{Name: "method", Label: "mechanism"}, {Name: "epsilon", Label: "ε"},
			{Name: "expected", Label: "expected W₁", Unit: "cells"}, {Name: "sampled_mean", Label: "sampled W₁", Unit: "cells"},
			{Name: "sampled_sd", Label: "sd", Unit: "cells"},
			{Name: "loss", Label: "loss"}, {Name: "gap", Label: "gap", Unit: "cells"}, {Name: "certified", Label: "certified"},
		},
	}
	if !r.Config.SkipTieRange {
		main.Text += " Ties: the exact projection is not unique on a grid. These columns are the least and the greatest expected W₁ that a search met over all choices of exact " +
			"projections for all users, of point masses in mixture mode: an independent exact computation may end anywhere between them."
		main.Columns = append(main.Columns, report.Column{Name: "tie_low", Label: "over ties, least", Unit: "cells"},
			report.Column{Name: "tie_high", Label: "greatest", Unit: "cells"})
	}
	for _, row := range r.Rows {
		cells := []any{string(row.Method), row.Epsilon, row.Expected, row.Mean, row.SD, row.Loss, row.Gap, true}
		if !r.Config.SkipTieRange {
			cells = append(cells, row.TieLow, row.TieHigh)
		}
		main.Rows = append(main.Rows, cells)
	}
	runs := report.Table{
		Name: "runs", Title: "Every simulated run", Folded: true,
		Columns: []report.Column{{Name: "method", Label: "mechanism"}, {Name: "epsilon", Label: "ε"}, {Name: "run"},
			{Name: "w1", Label: "sampled W₁", Unit: "cells"}},
	}
	for _, row := range r.Rows {
		for n, v := range row.Sampled {
			runs.Rows = append(runs.Rows, []any{string(row.Method), row.Epsilon, n, v})
		}
	}
	designs := report.Table{
		Name: "designs", Title: "The base measure of WPM",
		Text: "The uniform measure at the scale with the least worst case over all inputs. No ε-LDP mechanism at all has a worst case below the lower bound.",
		Columns: []report.Column{
			{Name: "epsilon", Label: "ε"}, {Name: "mass", Label: "total mass"},
			{Name: "worst", Label: "worst case W₁", Unit: "cells"},
			{Name: "lower", Label: "lower bound for every mechanism", Unit: "cells"},
		},
	}
	for _, d := range r.Designs {
		designs.Rows = append(designs.Rows, []any{d.Epsilon, d.Mass, d.Worst, d.Lower})
	}
	tables := []report.Table{main, designs, runs, r.mapTable()}
	if len(r.Estimates) > 0 {
		tables = append(tables, r.estimateTable())
	}
	return tables
}

// estimateTable has a row for each kind of report, estimator and eps.
func (r Result) estimateTable() report.Table {
	t := report.Table{
		Name: "estimates", Title: "Maps estimated from one report of each user",
		Text: "W₁ to the truth, mean and standard deviation over the runs. A map is another task than a sample of a user's own distribution. raw: the reports as they are. map and EM: the estimators of " +
			"package estimate, which see reports and public data alone, and take the exact likelihood of every report. The disk's authors have its largest radius. own: the unbiased estimate of the oracle, and the " +
			"nearest distribution. Nothing: the uniform map.",
		Columns: []report.Column{
			{Name: "reports"}, {Name: "estimator"}, {Name: "epsilon", Label: "ε"}, {Name: "w1", Label: "W₁", Unit: "cells"},
			{Name: "sd", Unit: "cells"},
		},
	}
	for _, e := range r.Estimates {
		t.Rows = append(t.Rows, []any{e.Reports, e.Estimator, e.Epsilon, e.Mean, e.SD})
	}
	return t
}

// mapTable holds the numbers of the heat maps, and of the maps that are not drawn.
func (r Result) mapTable() report.Table {
	t := report.Table{
		Name: "maps", Title: "The maps at ε = " + r.Config.MapEps, Folded: true,
		Text:    "The share of mass in every cell: of the truth, and of the mean of what users draw from.",
		Columns: []report.Column{{Name: "row"}, {Name: "col"}, {Name: "truth"}},
	}
	for _, m := range r.Maps {
		t.Columns = append(t.Columns, report.Column{Name: string(m.Method), Label: m.Method.Name()})
	}
	for i, x := range r.Truth {
		row := []any{i / r.Config.Cols, i % r.Config.Cols, x}
		for _, m := range r.Maps {
			row = append(row, m.Data[i])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Settings are the protocol in words, enough to repeat the run.
func (r Result) Settings() []report.Setting {
	c := r.Config
	var methods []string
	for _, m := range c.Methods {
		methods = append(methods, string(m))
	}
	out := []report.Setting{}
	if s := r.Source; s.Format != "" {
		out = append(out,
			report.Setting{Name: "data",
				Value: fmt.Sprintf("%s (%s), %d lines, %d coordinates off the globe", strings.Join(s.Files, " and "), s.Format,
					s.Lines, s.OffGlobe)},
			report.Setting{Name: "area",
				Value: fmt.Sprintf("latitude %v to %v, longitude %v to %v", c.Area.South, c.Area.North, c.Area.West, c.Area.East)},
			report.Setting{Name: "in the area",
				Value: fmt.Sprintf("%d check-ins of %d users; %d users with at least %d", s.Checkins, s.Users, s.Eligible,
					c.MinCheckins)},
		)
	}
	return append(out,
		report.Setting{Name: "users",
			Value: fmt.Sprintf("%d with %d check-ins, in %.1f cells each on average", r.Users, r.Checkins, r.CellsMean)},
		report.Setting{Name: "grid",
			Value: fmt.Sprintf("%d x %d cells, Euclidean distance of centres in the unit square, p = 1; W₁ in widths of a column", r.Config.Rows, r.Config.Cols)},
		report.Setting{Name: "eps", Value: strings.Join(c.Epsilons, ", ")},
		report.Setting{Name: "mechanisms", Value: strings.Join(methods, ", ")},
		report.Setting{Name: "projection", Value: r.projection()},
		report.Setting{Name: "Algorithm 1",
			Value: fmt.Sprintf("lambda %v in units of the unit square's side, %d rounds", r.Config.Lambda, r.Config.Rounds)},
		report.Setting{Name: "runs", Value: strconv.Itoa(c.Runs)},
		report.Setting{Name: "bits of a weight", Value: strconv.Itoa(c.Bits)},
		report.Setting{Name: "largest certified gap of a W₁", Value: fmt.Sprintf("%.1e cell widths", r.TransportGap)},
	)
}

// projection says what finds the projections of WPM.
func (r Result) projection() string {
	switch c := r.Config; {
	case c.Solver == wpm.Entropic.String():
		return c.Solver
	case c.Ties == TiesRandom:
		return fmt.Sprintf("%s; of several that cost the same, the mean of %d that are extreme in random directions (ties: %s)", c.Solver, tieDraws, c.Ties)
	default:
		return fmt.Sprintf("%s; of several that cost the same, the one that the solver ends at (ties: %s)", c.Solver, c.Ties)
	}
}

// Figures are W_1 against eps for WPM and KPM (both kinds of error), the same for all mechanisms, and the heat maps.
func (r Result) Figures() []report.Figure {
	var out []report.Figure
	if pair := r.pair(); pair != nil {
		main := figure.Line{
			Title:  r.pairTitle(),
			XLabel: "privacy parameter ε (larger: less private)", YLabel: "W₁ to the truth (cell widths)", YZero: true,
		}
		for _, m := range pair {
			rows := r.rows(m)
			exp := figure.Series{Name: m.Name() + ", expected", Look: m.look()}
			smp := figure.Series{Name: m.Name() + ", sampled (mean ± sd)", Look: m.look(), Thin: true}
			for _, row := range rows {
				exp.X, exp.Y = append(exp.X, row.Eps), append(exp.Y, row.Expected)
				smp.X, smp.Y, smp.Err = append(smp.X, row.Eps), append(smp.Y, row.Mean), append(smp.Err, row.SD)
			}
			main.XTicks = exp.X
			main.Series = append(main.Series, exp, smp)
		}
		out = append(out, report.Figure{
			Name: "w1-eps", Title: "WPM and KPM against ε", Chart: main,
			Text: fmt.Sprintf("Lower is better. Strong lines: the bias of the mechanism, without randomness. Pale lines: the histogram of one simulated release per user, %d runs; the bars are one "+
				"standard deviation. Sampling %d users adds an error of its own, which no mechanism can avoid.", r.Config.Runs,
				r.Users),
		})
	}
	all := figure.Line{
		Title:  "The bias of every mechanism: distance without sampling noise",
		XLabel: "privacy parameter ε (larger: less private)", YLabel: "W₁ of the mean map (cell widths)", YZero: true,
	}
	for _, m := range r.Config.Methods {
		if m == Paper {
			continue // its line would lie on WPM's
		}
		s := figure.Series{Name: m.Name(), Look: m.look()}
		for _, row := range r.rows(m) {
			s.X, s.Y = append(s.X, row.Eps), append(s.Y, row.Expected)
		}
		all.XTicks = s.X
		all.Series = append(all.Series, s)
	}
	out = append(out, report.Figure{
		Name: "w1-eps-all", Title: "All mechanisms", Chart: all,
		Text: "A line that seems to be missing lies below another: KPM and randomised response are nearly the same where most distributions sit on few cells. Both modes of WPM use the same published box. The mixture needs no solver on the device and has the same worst case; the projection is never further from any single user's distribution.",
	})
	maps := figure.Heat{
		Title: "The map as released at ε = " + r.Config.MapEps + ": the mean of all users' distributions",
		Label: "share of mass in a cell", XLabel: "column (west to east)", YLabel: "row (south to north)", Scale: figure.Log,
		Panels: []figure.Panel{{Title: "truth", Rows: r.Config.Rows, Cols: r.Config.Cols, Data: r.Truth}},
	}
	// Half the least mass of any cell in a released map, so that the floor of each is a visible, light colour; the truth
	// has zeros.
	least := math.Inf(1)
	for _, m := range r.Maps {
		if m.Method == WPM || m.Method == KPM || r.pair() == nil {
			title := m.Method.Name()
			if row, ok := r.Row(m.Method, r.Config.MapEps); ok {
				title += fmt.Sprintf(", %.2f cells from the truth", row.Expected)
			}
			maps.Panels = append(maps.Panels, figure.Panel{Title: title, Rows: r.Config.Rows, Cols: r.Config.Cols, Data: m.Data})
			least = min(least, slices.Min(m.Data))
		}
	}
	if top := slices.Max(r.Truth); least/2 < top && least/2 > figure.MinLog*top {
		maps.Min = least / 2
	}
	return append(out, report.Figure{
		Name: "maps", Title: "The truth and what is released", Chart: maps,
		Text: "Equal colours are equal shares in all panels; the colour scale is logarithmic, and its lightest colour stands for everything below. KPM moves mass to all cells alike, near or far; WPM moves it nearby, so the " +
			"districts stay where they are.",
	})
}

// pair is WPM and KPM if both were run.
func (r Result) pair() []Method {
	if len(r.rows(WPM)) == 0 || len(r.rows(KPM)) == 0 {
		return nil
	}
	return []Method{WPM, KPM}
}

// pairTitle says what the numbers say, whatever they are.
func (r Result) pairTitle() string {
	w, k := r.rows(WPM), r.rows(KPM)
	better := 0
	for i := range w {
		if w[i].Expected < k[i].Expected {
			better++
		}
	}
	last := len(w) - 1
	switch {
	case better == len(w) && w[last].Expected > 0:
		return fmt.Sprintf("WPM is closer to the truth than KPM at every ε, %.1f times at ε = %s",
			k[last].Expected/w[last].Expected, w[last].Epsilon)
	default:
		return fmt.Sprintf("WPM is closer to the truth than KPM at %d of %d values of ε", better, len(w))
	}
}
