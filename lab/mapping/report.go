package mapping

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/report"
)

// Report describes the result folder.
func (r Result) Report() report.Report {
	columns := []report.Column{{Name: "truth"}, {Name: "unit"}, {Name: "eps", Label: "ε"}, {Name: "devices"},
		{Name: "guess"}}
	for _, by := range r.Config.estimators() {
		columns = append(columns, report.Column{Name: by.name},
			report.Column{Name: by.name + "_sd", Label: "standard deviation"},
			report.Column{Name: by.name + "_median", Label: "median"}, report.Column{Name: by.name + "_90", Label: "90 %"})
	}
	cases := report.Table{
		Name: "cases", Title: "W₁ to the truth", Columns: append(columns, report.Column{Name: "best"}),
		Text: fmt.Sprintf("Means over %d simulations. The guess is the uniform distribution, which costs no data.",
			r.Config.Runs),
	}
	for _, row := range r.Rows {
		line := []any{row.Map, row.Unit, row.Eps, row.Devices, row.Guess}
		for _, o := range row.By {
			line = append(line, o.Mean, o.SD, o.Median, o.Within90)
		}
		cases.Rows = append(cases.Rows, append(line, row.Best))
	}
	summary := report.Table{
		Name: "summary", Title: "Summary over the made maps",
		Text: "Ratios of mean W₁: to the guess, and to the best of all columns in that case, the guess among them.",
		Columns: []report.Column{
			{Name: "estimator"}, {Name: "worst_to_guess", Label: "largest ratio to the guess"},
			{Name: "worse", Label: "cases above 1.02 of the guess"},
			{Name: "geo_to_best", Label: "geometric mean to the best"},
			{Name: "worst_to_best", Label: "largest ratio to the best"},
			{Name: "behind", Label: "cases above 1.05 of the best"},
		},
	}
	for _, s := range r.Summary {
		summary.Rows = append(summary.Rows, []any{s.Estimator, s.WorstGuess, s.Worse, s.GeoBest, s.WorstBest, s.Behind})
	}
	tables := []report.Table{summary, cases}
	if r.Plan != nil {
		tables = append([]report.Table{r.Plan.table(r.Rows)}, tables...)
	}
	var devices []string
	for _, n := range r.Config.Devices {
		devices = append(devices, strconv.Itoa(n))
	}
	data := "none"
	if r.Config.Data != "" {
		data = "check-ins; see the documentation for their licence"
	}
	return report.Report{
		Title: "Maps from releases",
		Lead: fmt.Sprintf("%d cases: what estimators make of one release per device. "+
			"Everything is simulated, and each distance is exact transport.", len(r.Rows)),
		Tables: tables,
		Seed:   r.Config.Seed,
		Settings: []report.Setting{
			{Name: "ε", Value: strings.Join(r.Config.Epsilons, ", ")},
			{Name: "devices", Value: strings.Join(devices, ", ") + "; for some maps " + strconv.Itoa(r.Config.Large)},
			{Name: "simulations", Value: strconv.Itoa(r.Config.Runs)}, {Name: "policy", Value: "default design, mixture mode"},
			{Name: "data", Value: data},
			{Name: "largest certified gap of a distance, relative", Value: fmt.Sprintf("%.1e", r.Gap)},
		},
	}
}
