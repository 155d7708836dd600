package rivals

import (
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/lab/report"
)

// Table is a table of readings.
func Table(name, title, text, unit string, rows []Row) report.Table {
	t := report.Table{Name: name, Title: title, Text: text,
		Columns: []report.Column{{Name: "eps", Label: "ε"}, {Name: "method", Label: "mechanism"}, {Name: "reading"},
			{Name: "mean", Unit: unit}, {Name: "median", Unit: unit}, {Name: "q90", Label: "90 %", Unit: unit}},
	}
	for _, x := range rows {
		t.Rows = append(t.Rows, []any{x.Epsilon, names[x.Method], x.Reading, x.Mean, x.Median, x.Q90})
	}
	return t
}

// Report describes the result folder.
func (r Result) Report() report.Report {
	text := fmt.Sprintf("W₁ to the truth in cell widths, %d devices, %d cities. The even map: %.2f.", r.Config.Devices,
		r.Config.Runs, r.Guess)
	best := slices.DeleteFunc(slices.Clone(r.Rows), func(x Row) bool { return !x.Best })
	return report.Report{
		Title: "Rivals at their best reading",
		Lead: "Maps of one report of each device, by mechanisms that need no trusted server, all at the same ε. Radii and kernels " +
			"are chosen in hindsight, in favour of the rivals.",
		Notes: []string{"A simulation: cities and reports come from a seeded generator."},
		Tables: []report.Table{Table("best", "Each mechanism at its best reading", text, "cells", best),
			Table("all", "All readings", text, "cells", r.Rows)}, Seed: r.Config.Seed,
		Settings: []report.Setting{
			{Name: "eps", Value: fmt.Sprint(r.Config.Epsilons)}, {Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "runs", Value: fmt.Sprint(r.Config.Runs)}, {Name: "side", Value: fmt.Sprint(r.Config.Side)},
			{Name: "methods", Value: fmt.Sprint(r.Config.Methods)},
		},
	}
}
