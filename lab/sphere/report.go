package sphere

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
)

// Mean returns the row of mean estimation, or false.
func (r Result) Mean(d int, eps float64) (MeanRow, bool) {
	i := slices.IndexFunc(r.Means, func(m MeanRow) bool { return m.Dim == d && m.Eps == eps })
	if i < 0 {
		return MeanRow{}, false
	}
	return r.Means[i], true
}

// Row returns the row of n atoms on S^d at eps (as the resolved Config spells it), or false.
func (r Result) Row(d, n int, eps string) (AtomRow, bool) {
	i := slices.IndexFunc(r.Rows, func(a AtomRow) bool { return a.Dim == d && a.Atoms == n && a.Epsilon == eps })
	if i < 0 {
		return AtomRow{}, false
	}
	return r.Rows[i], true
}

// Report describes the result folder.
func (r Result) Report() report.Report {
	return report.Report{
		Title: "The sphere: what tight parameters and a projection are worth",
		Lead: "The optimal mechanism on the sphere is compared with two published rules for its parameters (mean estimation, p = 2), and, for distributions of several atoms, with drawing one " +
			"atom and releasing it as a point (W₂).",
		Notes: []string{
			"A simulation: instances and candidates come from a seeded generator. Real releases go through codebook.Release, with a policy, a ledger and no seed.",
			"The rules were written anew from their formulas; no code of theirs was run.",
		},
		Facts: r.Facts(), Figures: r.Figures(), Tables: r.Tables(), Settings: r.Settings(), Seed: r.Config.Seed,
	}
}

// headline is the row of d = 63, eps = 4 if it was run, else the first.
func (r Result) headline() MeanRow {
	if m, ok := r.Mean(63, 4); ok {
		return m
	}
	return r.Means[0]
}

// Facts are the headline numbers: those of d = 63 and eps = 4 if they were run, else of the first row.
func (r Result) Facts() []report.Setting {
	var out []report.Setting
	m := r.headline()
	at := fmt.Sprintf("d = %d, ε = %v", m.Dim, m.Eps)
	out = append(out,
		report.Setting{Name: "MSE of PrivUnit2 over the optimum, " + at,
			Value: fmt.Sprintf("%.3f (PrivUnit2, grid), %.3f (PrivUnit2, search)", m.Grid.Ratio, m.Search.Ratio)},
		report.Setting{Name: "privacy that PrivUnit2 really spends, " + at,
			Value: fmt.Sprintf("%.3f and %.3f of %v", m.Grid.Spent, m.Search.Spent, m.Eps)},
	)
	a, ok := r.Row(2, 20, "4")
	if !ok {
		a = r.Rows[0]
	}
	return append(out,
		report.Setting{Name: fmt.Sprintf("W₂ of the projection over that of a random atom, S^%d, %d atoms, ε = %s", a.Dim,
			a.Atoms, a.Epsilon), Value: fmt.Sprintf("%.3f (%.3f against %.3f)", a.Ratio, a.Projection, a.RandomAtom)},
		report.Setting{Name: "laws within e^ε of each other", Value: "all, in exact integers"},
	)
}

// Tables are the table of the distributions and that of mean estimation.
func (r Result) Tables() []report.Table {
	means := report.Table{
		Name: "mse", Title: "Unbiased estimation of a unit vector (p = 2)",
		Text: "Mean squared error of y/E⟨x,y⟩ under the optimal mechanism and under PrivUnit2 with two published rules for its offset and its coin. Spent: the true privacy loss of the rule's mechanism, which may not exceed ε.",
		Columns: []report.Column{
			{Name: "d"}, {Name: "eps", Label: "ε"}, {Name: "optimum", Label: "optimal MSE"},
			{Name: "grid_mse", Label: "PrivUnit2, grid: MSE"}, {Name: "grid_ratio", Label: "over optimum"},
			{Name: "grid_spent", Label: "spent"},
			{Name: "search_mse", Label: "PrivUnit2, search: MSE"}, {Name: "search_ratio", Label: "over optimum"},
			{Name: "search_spent", Label: "spent"},
		},
	}
	for _, m := range r.Means {
		means.Rows = append(means.Rows,
			[]any{m.Dim, m.Eps, m.Optimum, m.Grid.MSE, m.Grid.Ratio, m.Grid.Spent, m.Search.MSE, m.Search.Ratio, m.Search.Spent})
	}
	atoms := report.Table{
		Name: "atoms", Title: "Distributions of several atoms, W₂",
		Text: "Means over the instances. Worst: W₂ of the worst input, a point. Wins: instances where the projection was closer than the random atom. Loss: the largest log ratio of two laws in one candidate, which integers certify to be at most ε. Gap: the largest certified gap of a W₂².",
		Columns: []report.Column{
			{Name: "d"}, {Name: "atoms", Label: "n"}, {Name: "epsilon", Label: "ε"}, {Name: "points", Label: "candidates"},
			{Name: "worst", Label: "worst input"},
			{Name: "uniform", Label: "uniform"}, {Name: "random_atom", Label: "random atom"},
			{Name: "projection", Label: "projection"}, {Name: "ratio", Label: "projection over random atom"},
			{Name: "wins"}, {Name: "loss"}, {Name: "gap"},
			{Name: "uniform_se", Label: "uniform, standard error"},
			{Name: "random_atom_se", Label: "random atom, standard error"},
			{Name: "projection_se", Label: "projection, standard error"},
		},
	}
	for _, a := range r.Rows {
		atoms.Rows = append(atoms.Rows,
			[]any{a.Dim, a.Atoms, a.Epsilon, a.Points, a.Worst, a.Uniform, a.RandomAtom, a.Projection, a.Ratio, a.Wins, a.Loss,
				a.Gap,
				a.UniformSE, a.RandomAtomSE, a.ProjectionSE})
	}
	scales := report.Table{
		Name: "scales", Title: "The optimal base measure over p", Folded: true,
		Text: "Its mass α*, between e^(-ε/2) and e^(ε/2), and the share of the sphere in the cap that an output favours.",
		Columns: []report.Column{{Name: "d"}, {Name: "eps", Label: "ε"}, {Name: "p"}, {Name: "alpha", Label: "α*"},
			{Name: "share", Label: "share of the cap"}},
	}
	for _, m := range r.Scales {
		scales.Rows = append(scales.Rows, []any{m.Dim, m.Eps, m.P, m.Alpha, m.S})
	}
	return []report.Table{means, atoms, scales}
}

// Figures are the ratio of the mean squared errors over eps, and W_2 of the three ways for each dimension.
func (r Result) Figures() []report.Figure {
	ratio := figure.Line{XLabel: "privacy parameter ε (larger: less private)", YLabel: "MSE over the optimal MSE",
		XTicks: spaced(r.Config.Epsilons)}
	for i, d := range r.Config.Dims {
		g := figure.Series{Name: fmt.Sprintf("grid rule, d = %d", d), Look: i%6 + 1}
		s := figure.Series{Name: fmt.Sprintf("search rule, d = %d", d), Look: i%6 + 1, Thin: true}
		for _, m := range r.Means {
			if m.Dim == d {
				g.X, g.Y = append(g.X, m.Eps), append(g.Y, m.Grid.Ratio)
				s.X, s.Y = append(s.X, m.Eps), append(s.Y, m.Search.Ratio)
			}
		}
		ratio.Series = append(ratio.Series, g, s)
	}
	m := r.headline()
	ratio.Title = fmt.Sprintf("Loose conditions: %.0f %% more error than needed at d = %d, ε = %v", 100*(m.Grid.Ratio-1),
		m.Dim, m.Eps)
	out := []report.Figure{{
		Name: "mse-ratio", Title: "What tight parameters are worth", Chart: ratio,
		Text: "At 1 a rule would be optimal. Strong lines: the rule with a grid of budgets; pale lines: the rule with a search over the offset. Both rest on conditions that are sufficient for privacy, not necessary, so " +
			"their mechanisms spend less than ε. From d = 63 on the lines of all dimensions nearly agree. In few dimensions and at large ε the grid of hundredths is itself too coarse.",
	}}
	for _, d := range r.Config.AtomDims {
		chart := figure.Line{Title: r.atomTitle(d), XLabel: "privacy parameter ε (larger: less private)",
			YLabel: "W₂ to the client's distribution (radii), mean ± standard error", YZero: true}
		for k, n := range r.Config.Atoms {
			series := []figure.Series{
				{Name: "projection", Look: figure.LookWPM}, {Name: "random atom", Look: figure.LookMixture},
				{Name: "no data", Look: figure.LookNoData},
			}
			for _, a := range r.Rows {
				if a.Dim != d || a.Atoms != n {
					continue
				}
				for i, v := range [][2]float64{{a.Projection, a.ProjectionSE}, {a.RandomAtom, a.RandomAtomSE},
					{a.Uniform, a.UniformSE}} {
					series[i].X, series[i].Y, series[i].Err = append(series[i].X, a.Eps), append(series[i].Y, v[0]),
						append(series[i].Err, v[1])
				}
			}
			for i := range series {
				series[i].Name += fmt.Sprintf(", n = %d", n)
				series[i].Thin = k%2 == 1
			}
			chart.XTicks = spaced(series[0].X)
			chart.Series = append(chart.Series, series...)
		}
		out = append(out, report.Figure{
			Name: fmt.Sprintf("atoms-%d", d), Title: fmt.Sprintf("Distributions of n atoms on S^%d", d), Chart: chart,
			Text: fmt.Sprintf("Lower is better. Means over %d random distributions, with their standard errors. A random atom, released as a point, is the mixture mode. The uniform law is what a client releases who says nothing. In many dimensions W₂ cannot fall far below it (two random points are nearly √2 apart), and what counts is the gain over it.", r.Config.Instances),
		})
	}
	return append(out, r.scaleFigure())
}

// scaleFigure is the mass of the optimal base measure over p.
func (r Result) scaleFigure() report.Figure {
	chart := figure.Line{XLabel: "power p of the distance, log axis",
		YLabel: "mass α* of the optimal base measure, log axis",
		X:      figure.Log, Y: figure.Log, XTicks: []float64{0.5, 1, 2, 4, 8, 12}}
	first, last := r.Scales[0], r.Scales[0]
	for i, m := range r.Scales {
		if i%len(scaleExponents) == 0 {
			chart.Series = append(chart.Series, figure.Series{Name: fmt.Sprintf("d = %d, ε = %v", m.Dim, m.Eps)})
		}
		s := &chart.Series[len(chart.Series)-1]
		s.X, s.Y = append(s.X, m.P), append(s.Y, m.Alpha)
		if m.Dim == first.Dim && m.Eps == 4 {
			if m.P == scaleExponents[0] {
				first = m
			}
			last = m
		}
	}
	chart.Title = fmt.Sprintf("The best mass depends on p: on S^%d at ε = 4 it goes from %.3g at p = %v to %.3g at p = %v",
		first.Dim, first.Alpha, first.P, last.Alpha, last.P)
	return report.Figure{Name: "scale", Title: "The optimal base measure over p", Chart: chart,
		Text: "The base measure is uniform on the sphere; only its mass is to be chosen, and with it the cap of outputs that are e^ε times " +
			"likelier. Mass 1 would be an even split of ε. Exact values of the closed form, nothing is sampled."}
}

// spaced leaves out ticks that would be printed over each other.
func spaced(x []float64) []float64 {
	var out []float64
	for i := len(x) - 1; i >= 0; i-- {
		if len(out) == 0 || out[len(out)-1]-x[i] >= (x[len(x)-1]-x[0])/16 {
			out = append(out, x[i])
		}
	}
	slices.Reverse(out)
	return out
}

// atomTitle says what the numbers say, whatever they are.
func (r Result) atomTitle(d int) string {
	wins, all, best := 0, 0, 2.0
	for _, a := range r.Rows {
		if a.Dim == d {
			wins, all, best = wins+a.Wins, all+r.Config.Instances, min(best, a.Ratio)
		}
	}
	return fmt.Sprintf("S^%d: the projection is closer than a random atom in %d of %d cases; at best its W₂ is %.2f of the other", d, wins, all, best)
}

// Settings are the protocol in words.
func (r Result) Settings() []report.Setting {
	c := r.Config
	return []report.Setting{
		{Name: "mean estimation", Value: fmt.Sprintf("d = %s; eps = %s", list(c.Dims), list(c.Epsilons))},
		{Name: "distributions", Value: fmt.Sprintf("d = %s; n = %s atoms, uniform on the sphere, weights Dirichlet(2); eps = %s", list(c.AtomDims), list(c.Atoms), strings.Join(c.AtomEpsilons, ", "))},
		{Name: "candidates", Value: fmt.Sprintf("%d, or 40 over the share of the optimal cap if that is more, at most %d; new ones for each instance, the same for every law", c.Points, maxPoints)},
		{Name: "instances", Value: fmt.Sprint(c.Instances)},
		{Name: "W₂", Value: "exact transport from the integers that would be released"},
	}
}

func list[T any](v []T) string {
	s := make([]string, len(v))
	for i, x := range v {
		s[i] = fmt.Sprint(x)
	}
	return strings.Join(s, ", ")
}
