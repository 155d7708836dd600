package mapping

import (
	"fmt"

	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/lab/report"
)

const (
	// enough runs of a case show how they scatter, by bins from 0 to a little above the guess.
	enough, bins = 20, 14
	// mapAt is the place of the map among the estimators, after raw.
	mapAt = 1
)

// scatter is a figure of how far single maps of a case are from the truth, beside the raw releases of the same runs; of
// few runs there is none.
func (r Row) scatter(n int) (f report.Figure, ok bool) {
	raw, maps := r.Runs[0], r.Runs[mapAt]
	if len(maps) < enough {
		return f, false
	}
	width := r.Guess * 1.1 / (bins - 1)
	worse := 0
	bars := figure.Bars{YLabel: "runs", Series: []figure.BarSeries{
		{Name: "raw releases", Values: make([]float64, bins)},
		{Name: fmt.Sprintf("map (the guess is at %.2f)", r.Guess), Values: make([]float64, bins)}}}
	for b := range bins {
		bars.Groups = append(bars.Groups, fmt.Sprintf("%.1f", (float64(b)+0.5)*width))
	}
	for i := range maps {
		for s, d := range []float64{raw[i], maps[i]} {
			bars.Series[s].Values[min(int(d/width), bins-1)]++
		}
		if maps[i] > raw[i] {
			worse++
		}
	}
	bars.Title = fmt.Sprintf("ε = %s, %d devices: in %d of %d runs the map is worse than the raw releases", r.Epsilon,
		r.Devices, worse, len(maps))
	return report.Figure{Name: fmt.Sprintf("scatter-%d", n+1), Title: r.Map, Chart: bars,
		Text: "Runs by the distance to the truth, in " + r.Unit + ": below each pair of bars is the middle of its bin."}, true
}
