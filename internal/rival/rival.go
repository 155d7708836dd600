// Package rival has optimized unary encoding as the demo and the playground show it beside the product: with the same
// eps, one report of each person, and the same reading.
package rival

import (
	"context"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/estimate"
)

// Unary has n people make a report each (Wang et al., USENIX Security 2017: a bit for every place), person i of the
// place that at returns, and returns a map of all reports, as shares. It is that of estimate.Map with the geometry g, from
// the exact likelihood of every report, where that takes seconds. For more reports it is the unbiased estimate, brought to
// the nearest distribution. Reading says which. Errors are those of at and of packages baseline and estimate.
func Unary(ctx context.Context, k int, eps float64, n int, at func(i int) (int, error), random baseline.Source,
	g *estimate.Geometry) ([]float64, error) {
	o, err := baseline.NewUnary(k, eps)
	if err != nil {
		return nil, err
	}
	sets := make([][]int32, n)
	for i := range sets {
		own, err := at(i)
		if err != nil {
			return nil, err
		}
		sets[i] = o.Report(nil, own, random)
	}
	if !exact(k, n) {
		return unbiased(o, sets)
	}
	reports, err := baseline.NewReports(k, eps, sets)
	if err != nil {
		return nil, err
	}
	_, kv := reports.Dims()
	channel, err := estimate.NewChannel(k, kv, reports.Row)
	if err != nil {
		return nil, err
	}
	m, err := estimate.Map(ctx, estimate.Problem{Counts: reports.Counts(), Channel: channel, Geometry: g},
		estimate.Settings{})
	return m.Theta, err
}

// exact tells whether the likelihood of n reports of k places is taken whole: k n numbers, at most those of 400 places and
// 2,000 reports. That takes some seconds, and a minute in a browser.
func exact(k, n int) bool { return k*n <= 400*2000 }

// Reading says how Unary reads n reports of k places.
func Reading(k, n int) string {
	if exact(k, n) {
		return "read by the same estimator"
	}
	return "read by its unbiased estimate"
}

// unbiased is the distribution nearest to the unbiased estimate.
func unbiased(o baseline.Oracle, sets [][]int32) ([]float64, error) {
	counts := make([]uint64, o.Dims())
	for _, set := range sets {
		for _, j := range set {
			counts[j]++
		}
	}
	shares := make([]float64, len(counts))
	if err := o.Estimate(shares, counts, uint64(len(sets))); err != nil {
		return nil, err
	}
	return baseline.Simplex(shares)
}
