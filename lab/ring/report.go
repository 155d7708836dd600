package ring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
)

// Report describes the result folder.
func (r Result) Report() report.Report {
	c := r.Config
	w := distanceName(c.P)
	comparison := report.Table{
		Title: "Distance against ε",
		Text:  "Means over the inputs with standard errors. The worst case is certified for every input there is, and no ε-LDP mechanism has one below the last column.",
		Columns: []report.Column{
			{Name: "eps", Label: "ε"}, {Name: "wpm", Label: "WPM", Unit: w + ", steps"}, {Name: "wpm_se", Label: "standard error", Unit: "steps"},
			{Name: "kpm", Label: "KPM", Unit: w + ", steps"}, {Name: "kpm_se", Label: "standard error", Unit: "steps"},
			{Name: "better", Label: fmt.Sprintf("WPM closer, of %d inputs", c.Inputs)},
			{Name: "worst", Label: "worst case of WPM", Unit: w + ", steps"},
			{Name: "lower", Label: "of any mechanism, at least", Unit: w + ", steps"},
		},
	}
	for _, row := range r.Rows {
		comparison.Rows = append(comparison.Rows,
			[]any{row.Eps, row.WPM.Mean, row.WPM.SE, row.KPM.Mean, row.KPM.SE, row.Better, row.Worst, row.Lower})
	}
	iterations := report.Table{
		Name: "iterations", Title: "Distance against iterations of Algorithm 1",
		Text: fmt.Sprintf("ε = %s; the exact projection has %.6f, KPM %.6f. λ is in units of the cost.", c.Epsilon,
			r.Exact.Mean, r.KPM.Mean),
		Columns: []report.Column{{Name: "lambda", Label: "λ"}, {Name: "iteration"}, {Name: "w", Label: w, Unit: "steps"},
			{Name: "w_se", Label: "standard error", Unit: "steps"}},
	}
	for _, curve := range r.Curves {
		for i, n := range c.Iterations {
			iterations.Rows = append(iterations.Rows, []any{curve.Lambda, n, curve.W[i].Mean, curve.W[i].SE})
		}
	}
	worst := report.Table{
		Name: "worst", Title: "Worst cases",
		Text: fmt.Sprintf("ε = %s. Over point masses, and over mixtures that a search met: lower bounds both. The last column is certified for every input there is: for both modes of WPM by its base measure (the mixture is linear), for randomised response because its rule is linear; 0 where nothing is known.", c.Epsilon),
		Columns: []report.Column{
			{Name: "mechanism"}, {Name: "dirac", Label: "point masses", Unit: w + ", steps"},
			{Name: "search", Label: "search", Unit: w + ", steps"},
			{Name: "upper", Label: "certified", Unit: w + ", steps"},
		},
	}
	for _, x := range r.Worst {
		worst.Rows = append(worst.Rows, []any{x.Mechanism, x.Dirac, x.Search, x.Upper})
	}
	example := report.Table{
		Name: "example", Title: "The example",
		Text:    fmt.Sprintf("WPM is %.4f from the input, KPM %.4f.", r.Example.WWPM, r.Example.WKPM),
		Columns: []report.Column{{Name: "point"}, {Name: "input"}, {Name: "wpm", Label: "WPM"}, {Name: "kpm", Label: "KPM"}},
	}
	for i := range r.Example.Mu {
		example.Rows = append(example.Rows, []any{i, r.Example.Mu[i], r.Example.WPM[i], r.Example.KPM[i]})
	}
	steps := report.Table{
		Name: "moved", Title: "How far mass moves in the example",
		Text:    "Share of the mass that an optimal plan moves so many steps or more.",
		Columns: []report.Column{{Name: "steps"}, {Name: "wpm", Label: "WPM"}, {Name: "kpm", Label: "KPM"}},
	}
	for d := range r.Example.MovedWPM {
		steps.Rows = append(steps.Rows, []any{d, r.Example.MovedWPM[d], r.Example.MovedKPM[d]})
	}
	return report.Report{
		Title: "Distributions on a ring",
		Lead: fmt.Sprintf("%d random distributions on a ring of %d points. %s.", c.Inputs, c.Points, r.title()) +
			" Every distance is exact transport with a certified gap; inputs are drawn from the seed, nothing else is random.",
		Tables:  []report.Table{comparison, iterations, worst, example, steps},
		Figures: r.figures(w),
		Seed:    c.Seed,
		Settings: []report.Setting{
			{Name: "points", Value: strconv.Itoa(c.Points)},
			{Name: "cost", Value: fmt.Sprintf("d^%v in units of the spacing", c.P)},
			{Name: "inputs", Value: fmt.Sprintf("%d draws, Dirichlet(%v)", c.Inputs, c.Alpha)},
			{Name: "base measure", Value: fmt.Sprintf("uniform at its exact scale: %.10f per point at ε = %s", r.Example.Scale,
				c.Epsilon)},
			{Name: "ε of example and iterations", Value: c.Epsilon},
			{Name: "ε of the comparison", Value: strings.Join(c.Epsilons, ", ")},
			{Name: "λ", Value: strings.Trim(fmt.Sprint(c.Lambdas), "[]")}, {Name: "start of Algorithm 1", Value: "v = 1"},
			{Name: "largest certified gap of a W^p", Value: fmt.Sprintf("%.1e", r.Gap)},
		},
	}
}

// ringTicks marks some ten points of the ring.
func ringTicks(points int) (at []float64) {
	step := max(1, (points+9)/10)
	if step == 3 || step == 4 { // 30 points: every fifth
		step = 5
	}
	for i := 0; i < points; i += step {
		at = append(at, float64(i))
	}
	return at
}

// distanceName is W with p as its index.
func distanceName(p float64) string {
	switch p {
	case 1:
		return "W₁"
	case 2:
		return "W₂"
	}
	return fmt.Sprintf("W_%v", p)
}

// least is the probability below which the figure of the example shows nothing.
const least = 1e-4

// exampleFigures are one input and what becomes of it: where the mass is, and how far it went. The points of a ring
// have no first and no last, so marks stand on stems, beside each other; the axis is logarithmic, because what the
// mechanisms do is in the small probabilities.
func (r Result) exampleFigures() []report.Figure {
	c, ex := r.Config, r.Example
	floor := func(q []float64) float64 { return slices.Min(q) }
	stems := figure.Line{
		Title: fmt.Sprintf("At ε = %s KPM puts %.2g on every point, near or far; WPM keeps far points at %.2g",
			c.Epsilon, floor(ex.KPM), floor(ex.WPM)),
		XLabel: "point of the ring", YLabel: "probability, log axis", Y: figure.Log, YMin: least, XTicks: ringTicks(c.Points),
	}
	for n, part := range []struct {
		name string
		look int
		q    []float64
	}{{"input", figure.LookInput, ex.Mu}, {"WPM", figure.LookWPM, ex.WPM}, {"KPM", figure.LookKPM, ex.KPM}} {
		s := figure.Series{Name: part.name, Look: part.look, Stem: true, Thin: n > 0}
		for i, v := range part.q {
			if v >= least {
				s.X, s.Y = append(s.X, float64(i)+0.28*float64(n-1)), append(s.Y, v)
			}
		}
		if s.X != nil {
			stems.Series = append(stems.Series, s)
		}
	}
	far := min(2, len(ex.MovedWPM)-1)
	way := figure.Line{
		Title: fmt.Sprintf("WPM moves %.2g of the mass by %d steps or more, KPM %.2g", ex.MovedWPM[far], far,
			ex.MovedKPM[far]),
		XLabel: "steps along the ring", YLabel: "share of mass moved so far or further, log axis", Y: figure.Log, YMin: least,
	}
	for _, part := range []struct {
		name  string
		look  int
		moved []float64
	}{{"WPM", figure.LookWPM, ex.MovedWPM}, {"KPM", figure.LookKPM, ex.MovedKPM}} {
		s := figure.Series{Name: part.name, Look: part.look}
		for d, v := range part.moved {
			if d > 0 && v >= least {
				s.X, s.Y = append(s.X, float64(d)), append(s.Y, v)
			}
		}
		if n := len(s.X) + 1; n < len(part.moved) {
			s.Name += fmt.Sprintf(", below %v from %d steps on", least, n)
		}
		if s.X != nil {
			way.Series = append(way.Series, s)
		}
	}
	out := []report.Figure{{Name: "distribution", Title: "One input and what becomes of it", Chart: stems,
		Text: fmt.Sprintf("WPM is %.2f from the input, KPM %.2f. KPM lowers the peaks and puts the same floor everywhere; "+
			"WPM has a lower floor and puts what it must move beside the input's own points. Below %v nothing is drawn.",
			ex.WWPM, ex.WKPM, least)}}
	if way.Series != nil {
		out = append(out, report.Figure{Name: "moved", Title: "How far mass moves", Chart: way,
			Text: "The same input, by an optimal plan. What costs distance is mass that goes far, and KPM, which knows no distances, sends some everywhere."})
	}
	return out
}

func (r Result) figures(w string) []report.Figure {
	c := r.Config
	iterations := figure.Line{
		Title:  "Algorithm 1: a small λ ends closer to the exact projection, and later",
		XLabel: "iteration", YLabel: w + " to the input (steps), mean ± standard error", X: figure.Log, YZero: true,
	}
	first, last := float64(c.Iterations[0]), float64(c.Iterations[len(c.Iterations)-1])
	for n, curve := range r.Curves {
		s := figure.Series{Name: fmt.Sprintf("λ = %v", curve.Lambda), Look: curveLooks[n%len(curveLooks)]}
		for i, k := range c.Iterations {
			s.X, s.Y, s.Err = append(s.X, float64(k)), append(s.Y, curve.W[i].Mean), append(s.Err, curve.W[i].SE)
		}
		iterations.Series = append(iterations.Series, s)
	}
	level := func(name string, look int, y float64) figure.Series {
		return figure.Series{Name: name, Look: look, X: []float64{first, last}, Y: []float64{y, y}, Bare: true}
	}
	iterations.Series = append(iterations.Series, level("WPM, exact", figure.LookWPM, r.Exact.Mean),
		level("KPM", figure.LookKPM, r.KPM.Mean))
	eps := figure.Line{Title: r.title(), XLabel: "privacy parameter ε (larger: less private)", YLabel: w + " to the input (steps)",
		YZero: true}
	wpm := figure.Series{Name: "WPM, mean ± standard error", Look: figure.LookWPM}
	kpm := figure.Series{Name: "KPM, mean ± standard error", Look: figure.LookKPM}
	worst := figure.Series{Name: "WPM, worst case (certified)", Look: figure.LookWPM, Thin: true}
	for _, row := range r.Rows {
		wpm.X, wpm.Y, wpm.Err = append(wpm.X, row.Eps), append(wpm.Y, row.WPM.Mean), append(wpm.Err, row.WPM.SE)
		kpm.X, kpm.Y, kpm.Err = append(kpm.X, row.Eps), append(kpm.Y, row.KPM.Mean), append(kpm.Err, row.KPM.SE)
		worst.X, worst.Y = append(worst.X, row.Eps), append(worst.Y, row.Worst)
	}
	eps.XTicks = wpm.X
	eps.Series = []figure.Series{wpm, kpm, worst}
	return append(r.exampleFigures(), []report.Figure{
		{Name: "iterations", Title: "Distance against iterations", Chart: iterations,
			Text: "Every iterate is in the box, so stopping early costs distance, never privacy. A large λ is fast and gives away what WPM gains over KPM; with a small one the first iterates are worse than KPM. The lines without marks are the exact projection and KPM."},
		{Name: "w-eps", Title: "Distance against ε", Chart: eps,
			Text: "Lower is better. The thin line is what WPM certifies for the worst of all inputs."},
	}...)
}

// curveLooks are those of the regularisations: none of a mechanism in the same figure.
var curveLooks = []int{3, 4, 5, 6, 7, 10, 11, 12, 13, 14}

// title says what the numbers say, whatever they are.
func (r Result) title() string {
	all, ratio := 0, 0.0
	for _, row := range r.Rows {
		if row.Better == r.Config.Inputs {
			all++
		}
	}
	if r.KPM.Mean > 0 {
		ratio = r.Exact.Mean / r.KPM.Mean
	}
	return fmt.Sprintf("WPM has %.2f times the mean distance of KPM at ε = %s; it is closer on every input at %d of %d values of ε", ratio, r.Config.Epsilon, all, len(r.Rows))
}
