package mirror

import (
	"fmt"
	"strings"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/mirror"
)

// Report describes the result folder.
func (r Result) Report() report.Report {
	c := r.Config
	descents := report.Table{
		Title: "Mirror descent, relative to the certified optimum", Folded: true,
		Text: "Bound is proved for the average, by the proposition with its constants repaired; gap is what the certificate of the averaged cuts proves by itself (-1: nothing yet).",
		Columns: []report.Column{
			{Name: "space"}, {Name: "eps", Label: "ε"}, {Name: "rule", Label: "step"}, {Name: "t", Label: "T"},
			{Name: "average", Label: "average - 1"}, {Name: "best", Label: "best - 1"},
			{Name: "bound"}, {Name: "gap", Label: "certified gap"}, {Name: "optimum", Label: "f*"},
		},
	}
	for _, d := range r.Descents {
		for _, p := range d.Points {
			descents.Rows = append(descents.Rows,
				[]any{d.Space, d.Epsilon, d.Rule, p.Step, p.Average, p.Best, p.Bound, p.Gap, d.Optimum})
		}
	}
	designs := report.Table{
		Name: "designs", Title: "Base measures: worst case and mean",
		Text: "Costs over point inputs, W^p in the units of each space. Minimax, mixed and average are certified to a relative gap of 1e-8.",
		Columns: []report.Column{
			{Name: "space"}, {Name: "eps", Label: "ε"}, {Name: "design"}, {Name: "worst", Label: "worst case"}, {Name: "mean"},
			{Name: "nonzeros", Label: "points in use"}, {Name: "mass"},
		},
	}
	for _, d := range r.Designs {
		designs.Rows = append(designs.Rows, []any{d.Space, d.Eps, d.Name, d.Worst, d.Mean, d.Nonzeros, d.Mass})
	}
	modes := report.Table{
		Name: "modes", Title: "Client modes: mean W₁ to the input", Text: "In units of the square's side.",
		Columns: []report.Column{{Name: "atoms", Label: "points of the input"}, {Name: "projection"},
			{Name: "projection_se", Label: "standard error"}, {Name: "mixture"}, {Name: "mixture_se", Label: "standard error"},
			{Name: "se", Label: "standard error of the difference"}, {Name: "kpm", Label: "KPM"},
			{Name: "kpm_se", Label: "standard error"}},
	}
	for _, m := range r.Modes {
		modes.Rows = append(modes.Rows,
			[]any{m.Atoms, m.Projection, m.ProjectionSE, m.Mixture, m.MixtureSE, m.SE, m.KPM, m.KPMSE})
	}
	return report.Report{
		Title: "Base measures: how to find a good one, and when it is worth it",
		Lead: "Mirror descent as in the paper's appendix, beside a solver that ends with a proof; uniform, minimax and average designs beside each other; and the two client modes of the same mechanism. " +
			r.title(),
		Tables:  []report.Table{descents, designs, modes},
		Figures: r.figures(),
		Seed:    c.Seed,
		Settings: []report.Setting{
			{Name: "descents", Value: fmt.Sprintf("%d points, %d steps, ε = %s", c.Points, c.Steps,
				strings.Join(c.Epsilons, ", "))},
			{Name: "designs", Value: fmt.Sprintf("%d points, ε = %s", c.Size, strings.Join(c.Designs, ", "))},
			{Name: "modes", Value: fmt.Sprintf("%d x %d grid, ε = %s, %d inputs for each number of points", c.Side, c.Side,
				c.ModeEps, c.Inputs)},
		},
	}
}

// floor is where the logarithmic plots end: what is below is drawn there.
const floor = 1e-6

func (r Result) figures() (out []report.Figure) {
	spaces, eps := []string{}, r.Config.Epsilons[len(r.Config.Epsilons)-1]
	for _, d := range r.Descents {
		if len(spaces) == 0 || spaces[len(spaces)-1] != d.Space {
			spaces = append(spaces, d.Space)
		}
	}
	for _, space := range spaces {
		out = append(out, r.descentFigure(space, eps))
	}
	for _, what := range []string{"worst", "mean"} {
		out = append(out, r.designFigure(what))
	}
	return append(out, r.modeFigure())
}

func (r Result) descentFigure(space, eps string) report.Figure {
	chart := figure.Line{
		Title:  fmt.Sprintf("Mirror descent on %s, ε = %s: what is reached and what is proved", space, eps),
		XLabel: "steps T", YLabel: "excess over the optimum f*, in units of f*", X: figure.Log, Y: figure.Log,
	}
	for _, d := range r.Descents {
		if d.Space != space || d.Epsilon != eps {
			continue
		}
		paper := d.Rule == mirror.Paper.String()
		lines := []struct {
			name string
			look int
			thin bool
			y    func(Checkpoint) float64
		}{
			{"average", 1, false, func(c Checkpoint) float64 { return c.Average }},
			{"best iterate", 3, false, func(c Checkpoint) float64 { return c.Best }},
			{"certified gap", 2, false, func(c Checkpoint) float64 { return c.Gap }},
			{"bound", 5, true, func(c Checkpoint) float64 { return c.Bound }},
		}
		for _, l := range lines {
			s := figure.Series{Name: l.name + ", " + d.Rule + " step", Look: l.look, Thin: l.thin || !paper, Bare: !paper}
			for _, p := range d.Points {
				if y := l.y(p); y >= 0 {
					s.X, s.Y = append(s.X, float64(p.Step)), append(s.Y, max(y, floor))
				}
			}
			if len(s.X) > 0 {
				chart.Series = append(chart.Series, s)
			}
		}
	}
	return report.Figure{
		Name: "descent-" + space, Title: "Mirror descent: " + space, Chart: chart,
		Text: "Strong lines: the paper's step; pale ones: the adaptive step. The bound is proved before the first step and far " +
			"above what happens; the certificate is proved from the cuts that were seen, and needs no optimum to compare with. " +
			"Its line begins at the first step whose cuts prove anything. Values below 1e-6 are drawn there.",
	}
}

func (r Result) designFigure(what string) report.Figure {
	eps := r.Config.Designs[len(r.Config.Designs)/2]
	chart := figure.Bars{
		Title:  fmt.Sprintf("Worst case relative to the uniform base measure, ε = %s", eps),
		YLabel: "cost over that of the uniform one", Groups: Families,
	}
	text := "Lower is better. KPM's mass ignores the geometry. Minimax is the best there is for the worst input; the star shows why it can be a trap: it announces the centre."
	if what == "mean" {
		chart.Title = fmt.Sprintf("Mean over point inputs relative to the uniform base measure, ε = %s", eps)
		text = "What the same designs cost on average. Minimax can be worse than uniform here: it lifts every input to the worst. Half and half is a sensible middle."
	}
	value := func(d Design) float64 {
		if what == "mean" {
			return d.Mean
		}
		return d.Worst
	}
	base := map[string]float64{}
	for _, d := range r.Designs {
		if d.Epsilon == eps && d.Name == "uniform" {
			base[d.Space] = value(d)
		}
	}
	for n, name := range []string{"KPM's", "uniform", "minimax", "mixed", "average"} {
		s := figure.BarSeries{Name: name, Look: designLooks[n]}
		for _, space := range Families {
			for _, d := range r.Designs {
				if d.Epsilon == eps && d.Name == name && d.Space == space {
					s.Values = append(s.Values, value(d)/base[space])
				}
			}
		}
		chart.Series = append(chart.Series, s)
	}
	return report.Figure{Name: "designs-" + what,
		Title: "Designs: " + map[string]string{"worst": "worst case", "mean": "mean"}[what], Text: text, Chart: chart}
}

// designLooks are those of KPM's base measure and of WPM's: uniform, as in all other figures, and three more.
var designLooks = []int{figure.LookKPM, figure.LookWPM, figure.LookMinimax, figure.LookMixed, figure.LookAverage}

func (r Result) modeFigure() report.Figure {
	chart := figure.Line{
		Title:  "The projection pays off for spread-out inputs; for one point the modes are the same",
		XLabel: "points of the input distribution", YLabel: "W₁ to the input (sides of the square), mean ± standard error", X: figure.Log,
		YZero: true,
	}
	p, m, k := figure.Series{Name: "projection mode", Look: figure.LookWPM},
		figure.Series{Name: "mixture mode", Look: figure.LookMixture},
		figure.Series{Name: "KPM", Look: figure.LookKPM}
	for _, mode := range r.Modes {
		x := float64(mode.Atoms)
		p.X, p.Y, p.Err = append(p.X, x), append(p.Y, mode.Projection), append(p.Err, mode.ProjectionSE)
		m.X, m.Y, m.Err = append(m.X, x), append(m.Y, mode.Mixture), append(m.Err, mode.MixtureSE)
		k.X, k.Y, k.Err = append(k.X, x), append(k.Y, mode.KPM), append(k.Err, mode.KPMSE)
	}
	chart.Series = []figure.Series{p, m, k}
	return report.Figure{
		Name: "modes", Title: "Client modes", Chart: chart,
		Text: "Both modes draw from the same published box and have the same worst case. " +
			"The mixture needs no solver on the device and makes the same draws for everybody.",
	}
}

// title says what the numbers say, whatever they are.
func (r Result) title() string {
	var worst float64
	at := ""
	for _, d := range r.Descents {
		if p := d.Points[len(d.Points)-1]; d.Rule == mirror.Paper.String() && p.Average > worst {
			worst, at = p.Average, d.Space+", ε = "+d.Epsilon
		}
	}
	return fmt.Sprintf("After %d steps the average that the paper returns costs up to %.3g times the optimum (%s).",
		r.Config.Steps, 1+worst, at)
}
