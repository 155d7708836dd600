package compare

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/lab/rivals"
	"github.com/wpm-go/wpm/ldp"
)

// fileName is eps as a part of a file name: a fraction has a hyphen.
func fileName(eps ldp.Epsilon) string { return strings.ReplaceAll(eps.String(), "/", "-") }

// logRatio is the logarithm of a ratio of weights.
func logRatio(r ldp.Ratio) float64 {
	if r.Num == 0 {
		return 0
	}
	return math.Log(float64(r.Num) / float64(r.Den))
}

// of returns the rows of one method and metric, by eps.
func (r Result) of(m Method, metric string) (rows []Row) {
	for _, row := range r.Rows {
		if row.Method == m && row.Metric == metric {
			rows = append(rows, row)
		}
	}
	return rows
}

const aboutMaps = "Each mechanism is read by estimate.Map and by the best of all its other readings; of several radii and " +
	"kernels the best is chosen in hindsight. These laws are floats, and no integers certify them."

// Report describes the result folder. The error is that of writing laws.
func (r Result) Report() (report.Report, error) {
	c := r.Config
	users := report.Table{
		Title: "Scores of users", Text: "Means over the users with the standard error of the mean. " +
			"Loss is the log of the largest ratio of " +
			"two laws in one output, over all users and point masses; integers certify that it is at most ε.",
		Columns: []report.Column{{Name: "method", Label: "mechanism"}, {Name: "eps", Label: "ε"}, {Name: "metric"},
			{Name: "mean"},
			{Name: "se", Label: "standard error"}, {Name: "loss"}},
	}
	maps := report.Table{
		Name: "maps", Title: "Scores of maps",
		Text: fmt.Sprintf("Bias: the mean of all laws against the mean of all users, exact. Sampled: "+
			"the histogram of one release per user, mean and standard deviation of %d simulations. "+
			"No estimate is made from the releases.", c.Seeds),
		Columns: []report.Column{{Name: "method", Label: "mechanism"}, {Name: "eps", Label: "ε"}, {Name: "metric"},
			{Name: "bias"},
			{Name: "sampled"}, {Name: "sd", Label: "standard deviation"}},
	}
	for _, row := range r.Rows {
		users.Rows = append(users.Rows, []any{row.Method.Name(), row.Eps, row.Metric, row.Mean, row.SE, row.Loss})
		if row.Sampled != nil {
			maps.Rows = append(maps.Rows, []any{row.Method.Name(), row.Eps, row.Metric, row.Bias, row.MapMean, row.MapSD})
		}
	}
	designs := report.Table{
		Name: "designs", Title: "Base measures of WPM",
		Text: fmt.Sprintf("W_%v. The worst case is certified for every input there is, and no "+
			"ε-LDP mechanism has one below the last column.", r.P),
		Columns: []report.Column{{Name: "eps", Label: "ε"}, {Name: "mass"}, {Name: "worst", Label: "worst case"},
			{Name: "lower", Label: "of any mechanism, at least"}},
	}
	for _, d := range r.Designs {
		designs.Rows = append(designs.Rows, []any{d.Epsilon, d.Mass, d.Worst, d.Lower})
	}
	var tables []report.Table
	for _, t := range []report.Table{users, maps, designs} {
		if t.Rows != nil {
			tables = append(tables, t)
		}
	}
	if r.Maps != nil {
		tables = append(tables, rivals.Table("estimates", "Maps of all reports", fmt.Sprintf("W₁ to the mean of all users, "+
			"simulations: %d. %s The even map: %.4g.", c.Seeds, aboutMaps, r.Maps.Guess), r.Unit, r.Maps.Shown()))
	}
	out := report.Report{
		Title: "A comparison of mechanisms",
		Lead: fmt.Sprintf("%d users, %d inputs, %d outputs. Every mechanism is a map from a user's distribution to the law "+
			"that one sample is drawn from; all laws are integers within e^ε of each other. %s.", len(r.IDs), r.Inputs,
			r.Outputs, r.title(c.Metrics[0])),
		Notes: []string{
			"A simulation: sampled maps are drawn from a seeded generator. Scores of users are exact.",
			"long.csv and the laws hold numbers of single users: they are as private as the data.",
		},
		Tables: tables, Figures: r.figures(), Seed: c.Seed, Settings: r.settings(),
	}
	if len(c.Methods) == 0 {
		out.Lead = fmt.Sprintf("%d users, %d places. Maps of one report of each user.", len(r.IDs), r.Inputs)
		out.Notes = []string{"A simulation: reports are drawn from a seeded generator."}
	}
	if slices.Contains(c.Methods, KPMTuned) {
		out.Notes = append(out.Notes,
			fmt.Sprintf("%s is given the best of %d masses for these very users by the first metric, "+
				"which costs privacy that is not counted: a bound on what tuning can do.", KPMTuned.Name(), tuneSteps))
	}
	long, err := r.long()
	if err != nil {
		return out, err
	}
	out.Files = []report.File{{Name: "long.csv", Data: long,
		Text: "every number in long format: method, eps, metric, kind, user or seed, value"}}
	for _, l := range r.laws {
		for _, part := range []struct {
			name, text string
			rows       []ldp.Weights
		}{{"laws-", "laws of the users, in their order", l.users}, {"channel-", "laws of the point masses", l.channel}} {
			data, err := npy(part.rows)
			if err != nil {
				return out, err
			}
			out.Files = append(out.Files, report.File{Name: part.name + l.name + ".npy", Data: data, Text: part.text})
		}
	}
	return out, nil
}

// npy is laws as an NPY file.
func npy(rows []ldp.Weights) ([]byte, error) {
	m := &cost.Dense{K: len(rows), Kv: rows[0].Len()}
	for _, q := range floats(rows) {
		m.Data = append(m.Data, q...)
	}
	var buf bytes.Buffer
	if err := costio.WriteNPY(context.Background(), &buf, m); err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	return buf.Bytes(), nil
}

// long is every number, one a line.
func (r Result) long() ([]byte, error) {
	var buf bytes.Buffer
	w := csv.NewWriter(&buf)
	var lines [][]string
	add := func(row Row, kind, of string, v float64) {
		lines = append(lines, []string{string(row.Method), row.Epsilon, row.Metric, kind, of,
			strconv.FormatFloat(v, 'g', -1, 64)})
	}
	for _, row := range r.Rows {
		for u, v := range row.Users {
			add(row, "user", r.IDs[u], v)
		}
		if row.Sampled != nil {
			add(row, "bias", "", row.Bias)
		}
		for n, v := range row.Sampled {
			add(row, "sampled", strconv.FormatUint(r.Config.Seed+uint64(n), 10), v)
		}
	}
	if err := w.Write([]string{"method", "eps", "metric", "kind", "of", "value"}); err != nil {
		return nil, err
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// title says what the numbers say of one metric, whatever they are.
func (r Result) title(name string) string {
	m, err := parseMetric(name)
	if err != nil || len(r.Config.Methods) < 2 {
		return name
	}
	wins := map[Method]int{}
	for i := range r.Config.Epsilons {
		best, value := Method(""), 0.0
		for _, method := range r.Config.Methods {
			if v := r.of(method, name)[i].Mean; best == "" || m.better(v, value) {
				best, value = method, v
			}
		}
		wins[best]++
	}
	first := r.Config.Methods[0]
	for _, method := range r.Config.Methods {
		if wins[method] > wins[first] {
			first = method
		}
	}
	what := "closest to the user"
	switch {
	case m.top > 0:
		what = "most often right"
	case m.power > 0:
		what = "closest to the user in " + m.label()
	case m.name == "tv":
		what = "closest to the user in total variation"
	case m.name == "kl":
		what = "closest to the user in divergence"
	}
	return fmt.Sprintf("%s is %s at %d of %d values of ε", first.Name(), what, wins[first], len(r.Config.Epsilons))
}

// mapTitle is title of the sampled maps, at the largest eps.
func (r Result) mapTitle(name string) string {
	last := len(r.Config.Epsilons) - 1
	best, least := Method(""), 0.0
	for _, m := range r.Config.Methods {
		if rows := r.of(m, name); rows[last].Sampled != nil && (best == "" || rows[last].MapMean < least) {
			best, least = m, rows[last].MapMean
		}
	}
	return fmt.Sprintf("One release per user makes the nearest map with %s at ε = %s: %s is %.3g",
		best.Name(), r.Config.Epsilons[last], name, least)
}

func (r Result) figures() (out []report.Figure) {
	unit := ""
	if r.Unit != "" {
		unit = " (" + r.Unit + ")"
	}
	for _, name := range r.Config.Metrics {
		m, err := parseMetric(name)
		if err != nil || len(r.Config.Methods) == 0 {
			continue
		}
		label := m.label()
		if m.power > 0 {
			label += unit
		}
		users := figure.Line{
			Title: r.title(name), XLabel: "privacy parameter ε (larger: less private)",
			YLabel: label + ", mean ± standard error", YZero: true,
		}
		if m.top > 0 { // what counts is at small eps
			users.X = figure.Log
		}
		maps := figure.Line{Title: r.mapTitle(name),
			XLabel: users.XLabel, YLabel: label + ", mean ± sd", YZero: true}
		for _, method := range r.Config.Methods {
			mean := figure.Series{Name: method.Name(), Look: r.look(method)}
			sampled, bias := mean, mean
			bias.Name, bias.Thin, bias.Bare = "", true, true
			for _, row := range r.of(method, name) {
				mean.X, mean.Y, mean.Err = append(mean.X, row.Eps), append(mean.Y, row.Mean), append(mean.Err, row.SE)
				sampled.X, sampled.Y, sampled.Err = append(sampled.X, row.Eps), append(sampled.Y, row.MapMean),
					append(sampled.Err, row.MapSD)
				bias.X, bias.Y = append(bias.X, row.Eps), append(bias.Y, row.Bias)
			}
			users.XTicks, maps.XTicks = mean.X, mean.X
			users.Series, maps.Series = append(users.Series, mean), append(maps.Series, sampled, bias)
		}
		file := strings.ReplaceAll(name, "@", "-")
		better := "Lower is better."
		if m.top > 0 {
			better = "Higher is better; the axis of ε is logarithmic."
		}
		out = append(out, report.Figure{Name: file, Title: "Users: " + m.label(), Chart: users,
			Text: better + " The score of a user is exact; bars are one standard error of the mean over the users."})
		if m.ofMaps() {
			out = append(out, report.Figure{Name: file + "-maps", Title: "Maps: " + m.label(), Chart: maps,
				Text: "Lower is better. Marks: the histogram of one simulated release per user, with one standard deviation. " +
					"Thin lines: the bias, which more users do not take away."})
		}
	}
	return out
}

func (r Result) settings() []report.Setting {
	c := r.Config
	names := make([]string, len(c.Methods))
	for i, m := range c.Methods {
		names[i] = string(m)
	}
	names = append(names, c.Maps...)
	out := []report.Setting{
		{Name: "data", Value: r.Source}, {Name: "cost of WPM", Value: fmt.Sprintf("distance to the power %v", r.P)},
		{Name: "ε", Value: strings.Join(c.Epsilons, ", ")}, {Name: "mechanisms", Value: strings.Join(names, ", ")},
		{Name: "metrics", Value: strings.Join(c.Metrics, ", ")}, {Name: "base measure of WPM", Value: c.Objective},
		{Name: "seeds of the maps", Value: fmt.Sprintf("%d to %d", c.Seed, c.Seed+uint64(c.Seeds)-1)},
		{Name: "largest certified gap of a W^r", Value: fmt.Sprintf("%.1e", r.Gap)},
	}
	if slices.Contains(c.Methods, Algorithm1) {
		out = append(out, report.Setting{Name: "Algorithm 1",
			Value: fmt.Sprintf("λ = %v, %d iterations", c.Lambda, c.Rounds)})
	}
	if slices.Contains(c.Methods, Local) || slices.Contains(c.Methods, Linear) {
		public := "uniform"
		if c.Public != nil {
			public = "given"
		}
		out = append(out, report.Setting{Name: "public distribution", Value: fmt.Sprintf("%s, γ = %v", public, c.Gamma)})
	}
	return out
}
