package rivals

import (
	"fmt"

	"github.com/wpm-go/wpm/lab/report"
)

// Report describes the result folder.
func (r Result) Report() report.Report {
	best := report.Table{
		Name: "best", Title: "Each mechanism at its best reading",
		Text: fmt.Sprintf("W₁ to the truth in cell widths, %d devices, %d cities. The even map: %.2f.", r.Config.Devices,
			r.Config.Runs, r.Guess),
		Columns: []report.Column{{Name: "eps", Label: "ε"}, {Name: "method", Label: "mechanism"}, {Name: "reading"},
			{Name: "mean", Unit: "cells"}, {Name: "median", Unit: "cells"}, {Name: "q90", Label: "90 %", Unit: "cells"}},
	}
	all := best
	all.Name, all.Title = "all", "All readings"
	for _, x := range r.Rows {
		row := []any{x.Epsilon, names[x.Method], x.Reading, x.Mean, x.Median, x.Q90}
		all.Rows = append(all.Rows, row)
		if x.Best {
			best.Rows = append(best.Rows, row)
		}
	}
	return report.Report{
		Title: "Rivals at their best reading",
		Lead: "Maps of one report of each device, by mechanisms that need no trusted server, all at the same ε. Radii and kernels " +
			"are chosen in hindsight, in favour of the rivals.",
		Notes:  []string{"A simulation: cities and reports come from a seeded generator."},
		Tables: []report.Table{best, all}, Seed: r.Config.Seed,
		Settings: []report.Setting{
			{Name: "eps", Value: fmt.Sprint(r.Config.Epsilons)}, {Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "runs", Value: fmt.Sprint(r.Config.Runs)}, {Name: "side", Value: fmt.Sprint(r.Config.Side)},
			{Name: "methods", Value: fmt.Sprint(r.Config.Methods)},
		},
	}
}
