package ring

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/experiments/figure"
	"github.com/wpm-go/wpm/experiments/report"
)

// The looks of the mechanisms, the same in all studies.
const (
	lookWPM   = 1
	lookKPM   = 2
	lookInput = 5
)

// Report describes the result folder.
func (r Result) Report() report.Report {
	c := r.Config
	w := distanceName(c.P)
	comparison := report.Table{
		Title: "Distance against ε", Text: "Means over the inputs with standard errors. The worst case is certified for every input there is, and no ε-LDP mechanism has one below the last column.",
		Columns: []report.Column{
			{Name: "eps", Label: "ε"}, {Name: "wpm", Label: "WPM", Unit: w}, {Name: "wpm_se", Label: "standard error"}, {Name: "kpm", Label: "KPM", Unit: w}, {Name: "kpm_se", Label: "standard error"},
			{Name: "better", Label: fmt.Sprintf("WPM closer, of %d inputs", c.Inputs)}, {Name: "worst", Label: "worst case of WPM", Unit: w}, {Name: "lower", Label: "of any mechanism, at least", Unit: w},
		},
	}
	for _, row := range r.Rows {
		comparison.Rows = append(comparison.Rows, []any{row.Eps, row.WPM.Mean, row.WPM.SE, row.KPM.Mean, row.KPM.SE, row.Better, row.Worst, row.Lower})
	}
	iterations := report.Table{
		Name: "iterations", Title: "Distance against iterations of Algorithm 1",
		Text:    fmt.Sprintf("ε = %s; the exact projection has %.6f, KPM %.6f. λ is in units of the cost.", c.Epsilon, r.Exact.Mean, r.KPM.Mean),
		Columns: []report.Column{{Name: "lambda", Label: "λ"}, {Name: "iteration"}, {Name: "w", Label: w}, {Name: "w_se", Label: "standard error"}},
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
			{Name: "mechanism"}, {Name: "dirac", Label: "point masses", Unit: w}, {Name: "search", Label: "search", Unit: w}, {Name: "upper", Label: "certified", Unit: w},
		},
	}
	for _, x := range r.Worst {
		worst.Rows = append(worst.Rows, []any{x.Mechanism, x.Dirac, x.Search, x.Upper})
	}
	example := report.Table{
		Name: "example", Title: "The example", Text: fmt.Sprintf("WPM is %.4f from the input, KPM %.4f.", r.Example.WWPM, r.Example.WKPM),
		Columns: []report.Column{{Name: "point"}, {Name: "input"}, {Name: "wpm", Label: "WPM"}, {Name: "kpm", Label: "KPM"}},
	}
	for i := range r.Example.Mu {
		example.Rows = append(example.Rows, []any{i, r.Example.Mu[i], r.Example.WPM[i], r.Example.KPM[i]})
	}
	return report.Report{
		Title: "Distributions on a ring",
		Lead: fmt.Sprintf("%d random distributions on a ring of %d points. %s.", c.Inputs, c.Points, r.title()) +
			" Every distance is exact transport with a certified gap; inputs are drawn from the seed, nothing else is random.",
		Tables:  []report.Table{comparison, iterations, worst, example},
		Figures: r.figures(w),
		Seed:    c.Seed,
		Settings: []report.Setting{
			{Name: "points", Value: strconv.Itoa(c.Points)}, {Name: "cost", Value: fmt.Sprintf("d^%v in units of the spacing", c.P)},
			{Name: "inputs", Value: fmt.Sprintf("%d draws, Dirichlet(%v)", c.Inputs, c.Alpha)},
			{Name: "base measure", Value: fmt.Sprintf("uniform at its exact scale: %.10f per point at ε = %s", r.Example.Scale, c.Epsilon)},
			{Name: "ε of example and iterations", Value: c.Epsilon}, {Name: "ε of the comparison", Value: strings.Join(c.Epsilons, ", ")},
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

func (r Result) figures(w string) []report.Figure {
	c := r.Config
	index := make([]float64, c.Points)
	for i := range index {
		index[i] = float64(i)
	}
	series := func(name string, look int, y []float64) figure.Series {
		return figure.Series{Name: name, Look: look, X: index, Y: y}
	}
	example := figure.Line{
		Title:  fmt.Sprintf("One input at ε = %s: WPM is %.2f away, KPM %.2f", c.Epsilon, r.Example.WWPM, r.Example.WKPM),
		XLabel: "point of the ring", YLabel: "probability", YZero: true,
		XTicks: ringTicks(c.Points),
		Series: []figure.Series{series("input", lookInput, r.Example.Mu), series("WPM", lookWPM, r.Example.WPM), series("KPM", lookKPM, r.Example.KPM)},
	}
	iterations := figure.Line{
		Title:  "Algorithm 1: a small λ ends closer to the exact projection, and later",
		XLabel: "iteration", YLabel: w + " to the input, mean ± standard error", X: figure.Log, YZero: true,
	}
	first, last := float64(c.Iterations[0]), float64(c.Iterations[len(c.Iterations)-1])
	for n, curve := range r.Curves {
		s := figure.Series{Name: fmt.Sprintf("λ = %v", curve.Lambda), Look: n%figure.Looks + 1}
		for i, k := range c.Iterations {
			s.X, s.Y, s.Err = append(s.X, float64(k)), append(s.Y, curve.W[i].Mean), append(s.Err, curve.W[i].SE)
		}
		iterations.Series = append(iterations.Series, s)
	}
	level := func(name string, y float64) figure.Series {
		return figure.Series{Name: name, X: []float64{first, last}, Y: []float64{y, y}, Bare: true, Thin: true}
	}
	iterations.Series = append(iterations.Series, level("exact projection", r.Exact.Mean), level("KPM", r.KPM.Mean))
	eps := figure.Line{Title: r.title(), XLabel: "privacy parameter ε (larger: less private)", YLabel: w + " to the input", YZero: true}
	wpm := figure.Series{Name: "WPM, mean ± standard error", Look: lookWPM}
	kpm := figure.Series{Name: "KPM, mean ± standard error", Look: lookKPM}
	worst := figure.Series{Name: "WPM, worst case (certified)", Look: lookWPM, Thin: true}
	for _, row := range r.Rows {
		wpm.X, wpm.Y, wpm.Err = append(wpm.X, row.Eps), append(wpm.Y, row.WPM.Mean), append(wpm.Err, row.WPM.SE)
		kpm.X, kpm.Y, kpm.Err = append(kpm.X, row.Eps), append(kpm.Y, row.KPM.Mean), append(kpm.Err, row.KPM.SE)
		worst.X, worst.Y = append(worst.X, row.Eps), append(worst.Y, row.Worst)
	}
	eps.XTicks = wpm.X
	eps.Series = []figure.Series{wpm, kpm, worst}
	return []report.Figure{
		{Name: "distribution", Title: "One input and what becomes of it", Chart: example,
			Text: "WPM keeps mass near the input's own points; KPM lowers the peaks and puts the same floor everywhere, near or far."},
		{Name: "iterations", Title: "Distance against iterations", Chart: iterations,
			Text: "Every iterate is in the box, so stopping early costs distance, never privacy. A large λ is fast and gives away what WPM gains over KPM; with a small one the first iterates are worse than KPM. The thin lines are the exact projection and KPM."},
		{Name: "w-eps", Title: "Distance against ε", Chart: eps,
			Text: "Lower is better. The thin line is what WPM certifies for the worst of all inputs."},
	}
}

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
