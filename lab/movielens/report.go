package movielens

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
)

// rows are the rows of one mechanism, by eps.
func (r Result) rows(m Method) (out []Row) {
	for _, row := range r.Rows {
		if row.Method == m {
			out = append(out, row)
		}
	}
	return out
}

// look is the fixed look of the mechanism in every figure of the studies.
func (m Method) look() int {
	switch m {
	case WPM:
		return figure.LookWPM
	case KPM:
		return figure.LookKPM
	case Exponential:
		return figure.LookExponential
	}
	return figure.LookNoData
}

// Report describes the result folder.
func (r Result) Report() report.Report {
	c := r.Config
	chart := figure.Line{
		Title: r.title(), XLabel: "privacy parameter ε (larger: less private)", YLabel: "HR@1 (probability of a hit), mean ± standard error",
		X: figure.Log, YZero: true,
	}
	table := report.Table{
		Title: "Hit rate at 1", Text: "Mean over the splits and its standard error. The masses are those of the uniform base measures chosen on validation users.",
		Columns: []report.Column{
			{Name: "method", Label: "mechanism"}, {Name: "eps", Label: "ε"}, {Name: "hit_rate", Label: "HR@1"},
			{Name: "se", Label: "standard error"},
			{Name: "masses", Label: "masses, by split"},
		},
	}
	for _, m := range Methods() {
		s := figure.Series{Name: m.Name(), Look: m.look(), Bare: m == Uniform, Thin: m == Uniform}
		for _, row := range r.rows(m) {
			s.X, s.Y, s.Err = append(s.X, row.Eps), append(s.Y, row.HitRate), append(s.Err, row.SE)
			masses := make([]string, len(row.Masses))
			for i, x := range row.Masses {
				masses[i] = strconv.FormatFloat(x, 'g', 3, 64)
			}
			table.Rows = append(table.Rows, []any{m.Name(), row.Eps, row.HitRate, row.SE, strings.Join(masses, " ")})
		}
		chart.XTicks = s.X
		chart.Series = append(chart.Series, s)
	}
	splits := report.Table{
		Name: "splits", Title: "Hit rate of every split", Folded: true,
		Text: "The mass is that of the base measure chosen on validation users; 0 where there is none to choose.",
		Columns: []report.Column{{Name: "method", Label: "mechanism"}, {Name: "eps", Label: "ε"}, {Name: "split"},
			{Name: "hit_rate", Label: "HR@1"}, {Name: "mass"}},
	}
	for _, row := range r.Rows {
		for n, v := range row.Splits {
			mass := 0.0
			if len(row.Masses) > n {
				mass = row.Masses[n]
			}
			splits.Rows = append(splits.Rows, []any{row.Method.Name(), row.Eps, n, v, mass})
		}
	}
	ceilings := report.Table{
		Name: "ceilings", Title: "What could be reached",
		Text: "Without privacy for the test users and without an ε: the candidate that most validation users like, recommended to everybody, which needs nothing of a test user; and WPM with the " +
			"box [0, 1], its limit as ε grows.",
		Columns: []report.Column{
			{Name: "method", Label: "rule"}, {Name: "hit_rate", Label: "HR@1"}, {Name: "se", Label: "standard error"},
			{Name: "splits", Label: "by split"},
		},
	}
	for _, row := range r.Ceilings {
		rates := make([]string, len(row.Splits))
		for i, x := range row.Splits {
			rates[i] = strconv.FormatFloat(x, 'g', 6, 64)
		}
		ceilings.Rows = append(ceilings.Rows, []any{row.Method.Name(), row.HitRate, row.SE, strings.Join(rates, " ")})
	}
	differences := report.Table{
		Name: "differences", Title: "WPM less the others",
		Text: fmt.Sprintf("The difference of the hit rates on the same split: mean, standard error, and the t-interval of level %v. Splits share films and users, so the interval is about other splits of "+
			"these ratings, and not about other ratings.", Level),
		Columns: []report.Column{
			{Name: "method", Label: "mechanism"}, {Name: "eps", Label: "ε"}, {Name: "mean", Label: "WPM less it"},
			{Name: "se", Label: "standard error"},
			{Name: "low", Label: "from"}, {Name: "high", Label: "to"},
		},
	}
	for _, d := range r.Differences {
		differences.Rows = append(differences.Rows, []any{d.Method.Name(), d.Eps, d.Mean, d.SE, d.Low, d.High})
	}
	return report.Report{
		Title: "MovieLens: recommending a film under local differential privacy",
		Lead: fmt.Sprintf("%d users, %d films, %d ratings; %d splits. A user's distribution over rated films becomes a distribution over %d other films, from which one is released. "+
			"HR@1 is the exact probability that the user rated it %d or more. %s.", r.Users, r.Films, r.Ratings, c.Splits,
			c.Candidates, c.Like, r.title()),
		Notes: []string{
			"The embedding, the candidates and the mass of the base measure are chosen on the ratings of validation users, without privacy. The guarantee holds for the test users; tuning on users' data is outside it.",
			"Hit rates are exact probabilities, nothing is drawn; float distributions, not the integer weights of a deployment, which differ by less than 1e-15.",
			"MovieLens-100K (F. M. Harper and J. A. Konstan, The MovieLens Datasets, 2015): research use, not to be redistributed. This folder holds aggregates only.",
		},
		Tables: []report.Table{table, differences, ceilings, splits},
		Figures: []report.Figure{{
			Name: "hitrate-eps", Title: "Hit rate against ε", Chart: chart,
			Text: "Higher is better; bars are one standard error over the splits. KPM knows only genres, because inputs and outputs are different films; the exponential mechanism knows only the mean distance of a film. The uniform choice is what no information gives.",
		}},
		Seed: c.Seed,
		Settings: []report.Setting{
			{Name: "data", Value: r.source()},
			{Name: "splits", Value: r.splits()},
			{Name: "embedding", Value: fmt.Sprintf("%d principal components of films x validation users, %s", c.Dimension,
				c.Embedding)},
			{Name: "cost", Value: "1 - cosine, p = 1"},
			{Name: "eps", Value: strings.Join(c.Epsilons, ", ")},
			{Name: "candidates", Value: strconv.Itoa(c.Candidates)},
			{Name: "a hit is a rating of", Value: fmt.Sprintf("%d or more", c.Like)},
			{Name: "base measures", Value: fmt.Sprintf("uniform, %d masses from e^(-ε/2) to e^(ε/2)", c.Scales)},
			{Name: "projection", Value: fmt.Sprintf("Algorithm 1, lambda = %v, %d rounds", c.Lambda, c.Rounds)},
		},
	}
}

// source says what was read.
func (r Result) source() string {
	s := fmt.Sprintf("%d ratings of %d films by %d users", r.Ratings, r.Films, r.Users)
	if r.Config.Ratings == "" {
		return s
	}
	return fmt.Sprintf("%s and %s: %s", filepath.Base(r.Config.Ratings), filepath.Base(r.Config.Films), s)
}

// splits says where the splits are from.
func (r Result) splits() string {
	c := r.Config
	if c.SplitFile != "" {
		return fmt.Sprintf("%d of %s", c.Splits, filepath.Base(c.SplitFile))
	}
	return fmt.Sprintf("%d, of seeds %d to %d", c.Splits, c.Seed, c.Seed+uint64(c.Splits)-1)
}

// title says what the numbers say, whatever they are.
func (r Result) title() string {
	above, below, all := 0, 0, 0
	for _, d := range r.Differences {
		if d.Method != KPM {
			continue
		}
		all++
		if d.Low > 0 {
			above++
		}
		if d.High < 0 {
			below++
		}
	}
	return fmt.Sprintf("WPM recommends better than KPM on genres at %d of %d values of ε, worse at %d; elsewhere the t-interval of the difference holds 0", above, all, below)
}
