package wpm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
)

// favour replaces the base measure, which is the uniform one, by that of Map. Without a table its worst case is left
// out.
func (d *Design) favour(ctx context.Context, c cost.Matrix, sorted *knapsack.Table, eps float64, o Objective) error {
	_, kv := c.Dims()
	d.even, d.gap = d.base.WorstCase, 0
	share, err := estimate.Disc(ctx, c, 1, eps, o.Devices)
	if err != nil {
		return fmt.Errorf("wpm: kind %v: %w", o.Kind, err)
	}
	if kv == 1 { // there is one channel
		return nil
	}
	// Whole outputs: lo = m e^(-eps/2) for all, e^eps times that for those within the disc, and the sum of a row is 1.
	share = max(1, math.Round(share*float64(kv))) / float64(kv)
	m := math.Exp(eps/2) / (float64(kv) * (1 + math.Expm1(eps)*share))
	base := basemeasure.Result{
		M: slices.Repeat([]float64{m}, kv), Mass: float64(kv) * m, Nonzeros: kv, Peak: 1,
		Lower: d.base.Lower, Weights: d.base.Weights, Thresholds: d.base.Thresholds, Status: d.base.Status,
		Settings: d.base.Settings,
	}
	d.base = base
	if sorted == nil {
		return nil
	}
	k, _ := sorted.Dims()
	lo, hi, phi := slices.Repeat([]float64{math.Exp(-eps/2) * m}, kv), slices.Repeat([]float64{math.Exp(eps/2) * m}, kv),
		make([]float64, k)
	if err := sorted.All(lo, hi, phi, nil); err != nil {
		return err
	}
	for i, v := range phi {
		if v > phi[d.base.Worst] {
			d.base.Worst = i
		}
	}
	d.base.WorstCase = phi[d.base.Worst]
	d.base.F, d.base.Upper = d.base.WorstCase, d.base.WorstCase
	d.base.Mean = num.Sum(phi) / float64(k)
	return nil
}

// Even returns, if the objective is Map, the worst case in real numbers of the uniform base measure at its best scale.
// This is the largest cost of a client if the map did not matter. Even is 0 for other objectives.
func (d *Design) Even() float64 { return d.even }

// Disc returns the share of the outputs that a release favours, by the widths of the box: these have the high weight,
// and the others the low weight.
func (d *Design) Disc() float64 {
	lo, hi := d.mechanism.box.Bounds()
	free, wide := 1-num.Sum(lo), 0.0
	for j := range lo {
		wide += hi[j] - lo[j]
	}
	if !(wide > 0) {
		return 0
	}
	return min(max(free/wide, 0), 1)
}
