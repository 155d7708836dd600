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
	facts := []report.Setting{
		{Name: "W₁ of the map to the truth", Value: fmt.Sprintf("%.3f cell widths", r.Learned.Map)},
		{Name: "W₁ of OUE, the same users", Value: fmt.Sprintf("%.3f cell widths", r.Learned.OUE)},
		{Name: "W₁ without data", Value: fmt.Sprintf("%.3f cell widths", r.Learned.Guess)},
		{Name: "worst case of any user, certified", Value: fmt.Sprintf("%.3f cell widths", r.Worst)},
		{Name: "no ε-LDP mechanism is below", Value: fmt.Sprintf("%.3f cell widths", r.Lower)},
	}
	for _, m := range r.Modes {
		facts = append(facts, report.Setting{Name: fmt.Sprintf("W₁ of the simulated releases, %s mode", m.Mode), Value: fmt.Sprintf("%.3f cell widths", m.W1)})
	}
	if k, ok := r.Comparison.Row(gowalla.KPM, c.Epsilon); ok {
		facts = append(facts, report.Setting{Name: "KPM, mean of its simulated releases", Value: fmt.Sprintf("%.3f cell widths", k.Mean)})
	}
	policies := report.Table{
		Name: "policies", Title: "Published files", Text: "Each was decoded from its bytes and verified again: the integer box, every row, and the canonical form.",
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
		simulated.Panels = append(simulated.Panels, figure.Panel{Title: "released, " + string(m.Mode) + " mode", Rows: c.Rows, Cols: c.Cols, Data: m.Histogram})
	}
	learned := figure.Heat{
		Title: fmt.Sprintf("What %d releases at ε = %s say", c.Users, c.Epsilon),
		Label: "share of mass in a cell", XLabel: "column (west to east)", YLabel: "row (south to north)", Scale: figure.Sqrt,
	}
	for _, p := range []struct {
		title string
		data  []float64
	}{{"truth", r.Comparison.Truth}, {"releases as they are", r.Modes[len(r.Modes)-1].Histogram},
		{"map", r.Learned.Shares}, {"OUE", r.Learned.OUEShares}} {
		learned.Panels = append(learned.Panels, figure.Panel{Title: p.title, Rows: c.Rows, Cols: c.Cols, Data: p.data})
	}
	figures := append([]report.Figure{{
		Name: "map", Title: "What the server learns", Chart: learned,
		Text: r.Sentence() + " The map is an estimate from the releases alone, and costs no privacy. " +
			"Its single cells are not to be trusted; \"wpm aggregate -map\" draws " +
			"what the releases support.",
	}, {
		Name: "releases", Title: "What the server receives", Chart: simulated,
		Text: fmt.Sprintf("Each of %d users released a single cell. For any two users the chances of releasing any given cell differ by at most a factor e^%s. "+
			"Together the releases show the districts.", c.Users, c.Epsilon),
	}}, r.Comparison.Figures()...)
	return report.Report{
		Title: "wpm demo: a private map of a synthetic city",
		Lead: fmt.Sprintf("%d synthetic users hold check-ins on a %d x %d grid. The mechanism is designed, published and verified, every user releases one cell under ε = %s local differential privacy, and the "+
			"map is rebuilt from the releases. W₁ is the mean distance, in cell widths, that mass would have to move. %s",
			c.Users, c.Rows, c.Cols, c.Epsilon, r.Sentence()),
		Facts: facts,
		Notes: []string{
			"A simulation: the city is generated and the releases are drawn from a seeded stream. Real releases go through policy.Release, which takes no seed.",
			fmt.Sprintf("One real release was made on the side: %d bytes, and a second request repeated it, so that the ledger paid ε = %s once.", r.ReportBytes, r.Spent),
		},
		Figures:  figures,
		Tables:   append(r.Comparison.Tables(), policies),
		Settings: r.Comparison.Settings(),
		Seed:     c.Seed,
	}
}
