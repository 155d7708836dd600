package demo

import (
	"fmt"

	"github.com/wpm-go/wpm/experiments/figure"
	"github.com/wpm-go/wpm/experiments/gowalla"
	"github.com/wpm-go/wpm/experiments/report"
)

// Report describes the result folder, without the policy files.
func (r Result) Report() report.Report {
	c := r.Config
	cells := func(v float64) string { return fmt.Sprintf("%.3f cell widths", v) }
	facts := []report.Setting{
		{Name: "The map, to the truth", Value: cells(r.Learned.Map)},
		{Name: "Optimized unary encoding (OUE), the same users", Value: cells(r.Learned.OUE)},
		{Name: "Without data", Value: cells(r.Learned.Guess)},
		{Name: "Worst case of any user, certified", Value: cells(r.Worst)},
		{Name: "No mechanism as private is below", Value: cells(r.Lower)},
	}
	for _, m := range r.Modes {
		facts = append(facts, report.Setting{Name: fmt.Sprintf("Simulated releases as they are, %s mode", m.Mode),
			Value: cells(m.W1)})
	}
	if k, ok := r.Comparison.Row(gowalla.KPM, c.Epsilon); ok {
		facts = append(facts, report.Setting{Name: fullName(gowalla.KPM) + ", mean of its simulated releases",
			Value: cells(k.Mean)})
	}
	policies := report.Table{
		Name: "policies", Title: "Published files",
		Text:    "Each was decoded from its bytes and verified again: the integer box, every row, and the canonical form.",
		Columns: []report.Column{{Name: "file"}, {Name: "mode"}, {Name: "bytes"}, {Name: "id", Label: "id (SHA-256)"}},
	}
	for _, p := range r.Policies {
		policies.Rows = append(policies.Rows, []any{p.Name, string(p.Mode), p.Bytes, p.ID})
	}
	simulated := figure.Heat{
		Title: fmt.Sprintf("One simulated release per user at ε = %s: the histogram an analyst would see", c.Epsilon),
		Label: "share of mass in a cell", XLabel: "column (west to east)", YLabel: "row (south to north)", Scale: figure.Sqrt,
		Panels: []figure.Panel{{Title: "truth", Rows: c.Rows, Cols: c.Cols, Data: r.Comparison.Truth}},
	}
	for _, m := range r.Modes {
		simulated.Panels = append(simulated.Panels,
			figure.Panel{Title: "released, " + string(m.Mode) + " mode", Rows: c.Rows, Cols: c.Cols, Data: m.Histogram})
	}
	learned := figure.Heat{
		Title: fmt.Sprintf("What %d releases at ε = %s say", c.Users, c.Epsilon),
		Label: "share of mass in a cell", XLabel: "column (west to east)", YLabel: "row (south to north)", Scale: figure.Sqrt,
	}
	for _, p := range []struct {
		title string
		data  []float64
	}{{"truth", r.Comparison.Truth}, {"releases as they are", r.Modes[len(r.Modes)-1].Histogram},
		{"map, the estimate", r.Learned.Shares}, {"OUE", r.Learned.OUEShares}} {
		learned.Panels = append(learned.Panels, figure.Panel{Title: p.title, Rows: c.Rows, Cols: c.Cols, Data: p.data})
	}
	figures := append([]report.Figure{{
		Name: "map", Title: "What the server learns", Chart: learned,
		Text: "The map is an estimate from the releases alone, and costs no privacy. OUE is optimized unary encoding. " +
			"Its single cells are not to be trusted; \"wpm aggregate -map\" draws " +
			"what the releases support.",
	}, {
		Name: "releases", Title: "What the server receives", Chart: simulated,
		Text: fmt.Sprintf("Each of %d users released a single cell. For any two users the chances of releasing any given cell differ by at most a factor e^%s. "+
			"Together the releases show the districts.", c.Users, c.Epsilon),
	}}, r.Comparison.Figures()...)
	return report.Report{
		Title: "wpm demo: a private map of a synthetic city",
		Lead: fmt.Sprintf("%s These are the distances W₁: how far mass would have to move, on average. Each of %d synthetic users holds "+
			"check-ins on a %d x %d grid and releases one cell under local differential privacy.", r.Sentence(), c.Users, c.Rows,
			c.Cols),
		Facts: facts,
		Notes: []string{
			"WPM is the Wasserstein projection mechanism of this toolkit, KPM the Kullback-Leibler projection mechanism. All mechanisms have the same ε.",
			"A simulation: the city is generated and the releases are drawn from a seeded stream. Real releases go through policy.Release, which takes no seed.",
			fmt.Sprintf("One real release was made on the side: %d bytes, and a second request repeated it, so that the ledger paid ε = %s once.", r.ReportBytes, r.Spent),
		},
		Figures:  figures,
		Tables:   append(r.Comparison.Tables(), policies),
		Settings: r.Comparison.Settings(),
		Seed:     c.Seed,
	}
}
