package mapping

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// Planning says over all cases how predictions of the map compare with what it is.
type Planning struct {
	Cases     int     `json:"cases"`
	GeoMean   float64 `json:"geo_mean"` // of predicted over realised
	SD        float64 `json:"sd"`       // of its logarithm
	Within25  float64 `json:"within_25_percent"`
	WithinTwo float64 `json:"within_a_factor_2"`
	// Of the map over the guess, in the range of a plan without a prior, and above it.
	InRange    float64 `json:"in_range"`
	AboveRange float64 `json:"above_range"`
}

// column is that of the map among the estimators.
const column = 1

// predict fills in what is planned with policies, whose rows come by eps.
func (s study) predict(ctx context.Context, w world, eps []ldp.Epsilon, rows [][]ldp.Weights, out []Row) error {
	for _, prior := range [][]float64{w.truth, nil} {
		planner, err := plan.New(ctx, plan.Problem{Cost: w.cost, Prior: prior})
		if err != nil {
			return err
		}
		for n := range out {
			row := &out[n]
			e := slices.IndexFunc(eps, func(e ldp.Epsilon) bool { return e.String() == row.Epsilon })
			m, err := planner.Mechanism(func(i int) ldp.Weights { return rows[e][i] })
			if err != nil {
				return err
			}
			p, err := m.Predict(ctx, row.Devices, estimate.Settings{})
			if err != nil {
				return err
			}
			if prior == nil {
				row.PlannedRange = &[2]float64{p.Ratio.Low, p.Ratio.High}
			} else {
				row.Planned, row.PlannedGuess = p.Map.Mean*w.scale, p.Guess.Mean*w.scale
			}
			s.tick(n+1, len(out), "predictions for "+w.name)
		}
	}
	return nil
}

// planning compares them.
func planning(rows []Row) *Planning {
	p := &Planning{Cases: len(rows)}
	var logs []float64
	for _, r := range rows {
		ratio := r.Planned / r.By[column].Mean
		logs = append(logs, math.Log(ratio))
		p.GeoMean += math.Log(ratio) / float64(len(rows))
		if math.Abs(ratio-1) <= 0.25 {
			p.Within25 += 1 / float64(len(rows))
		}
		if ratio >= 0.5 && ratio <= 2 {
			p.WithinTwo += 1 / float64(len(rows))
		}
		switch at := r.By[column].ToGuess; {
		case at > r.PlannedRange[1]:
			p.AboveRange += 1 / float64(len(rows))
		case at >= r.PlannedRange[0]:
			p.InRange += 1 / float64(len(rows))
		}
	}
	for _, l := range logs {
		p.SD += (l - p.GeoMean) * (l - p.GeoMean) / float64(max(1, len(rows)-1))
	}
	p.GeoMean, p.SD = math.Exp(p.GeoMean), math.Sqrt(p.SD)
	return p
}

// table lists the cases.
func (p Planning) table(rows []Row) report.Table {
	t := report.Table{
		Name: "plan", Title: "Predicted and realised W₁ of the map",
		Text: fmt.Sprintf("Predictions are made with the truth as the prior. Predicted over realised: "+
			"geometric mean %.2f, standard deviation of the logarithm "+
			"%.2f; %.0f %% of %d cases are within 25 %%, and %.0f %% within a factor 2. The range is that of the map over the guess "+
			"without a prior; %.0f %% of the maps are in it, and %.0f %% above.",
			p.GeoMean, p.SD, 100*p.Within25, p.Cases, 100*p.WithinTwo, 100*p.InRange, 100*p.AboveRange),
		Columns: []report.Column{
			{Name: "truth"}, {Name: "unit"}, {Name: "eps", Label: "ε"}, {Name: "devices"}, {Name: "guess"}, {Name: "predicted"},
			{Name: "realised"}, {Name: "ratio"}, {Name: "to_guess", Label: "realised to the guess"}, {Name: "low"},
			{Name: "high"},
		},
	}
	for _, r := range rows {
		t.Rows = append(t.Rows, []any{r.Map, r.Unit, r.Eps, r.Devices, r.Guess, r.Planned, r.By[column].Mean,
			r.Planned / r.By[column].Mean,
			r.By[column].ToGuess, r.PlannedRange[0], r.PlannedRange[1]})
	}
	return t
}
