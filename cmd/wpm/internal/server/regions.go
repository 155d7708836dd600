package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/internal/sheet"
)

// regionShare is the share of a region in the map, and its interval.
type regionShare struct {
	Name  string  `json:"region"`
	Share float64 `json:"share"` // the likeliest one if there is no map
	atlas.Region
}

// intervals are the shares of regions by counts, and in a map of them; theta is nil if there is none.
func intervals(ctx context.Context, w atlas.World, counts []uint64, theta []float64, regions []plane.Region,
	s atlas.Settings) (list []regionShare, err error) {
	var weights [][]float64
	for _, region := range regions {
		weights = append(weights, region.Weights)
	}
	shares, err := w.Regions(ctx, counts, weights, s)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("-regions: %w", err)
	}
	for n, r := range shares {
		share := r.Likeliest
		if theta != nil {
			share = regions[n].Share(theta)
		}
		list = append(list, regionShare{regions[n].Name, share, r})
	}
	return list, err
}

// widened is the remark where the map, which the guess is part of, has a share that the reports alone speak against.
func (r regionShare) widened() string {
	if r.Share < r.Lower || r.Share > r.Upper {
		return "made wider, to hold the map's share"
	}
	return ""
}

// remark is what a reader of an interval must know.
func (r regionShare) remark() string {
	switch wider := r.widened(); {
	case wider != "":
		return wider
	case r.Wide:
		return "may be wider than need be"
	case r.Single:
		return "approximate: a single place"
	}
	return ""
}

func regionTable(list []regionShare, level float64) sheet.Table {
	t := sheet.Table{
		Title: fmt.Sprintf("Regions: the shares that agree with the reports are in the %v %% interval", plane.Significant(100*level, 12)),
		Head:  []string{"region", "guess", "map", "interval"},
	}
	remarks := slices.ContainsFunc(list, func(r regionShare) bool { return r.remark() != "" })
	if remarks {
		t.Head = append(t.Head, "remark")
	}
	for _, r := range list {
		row := []string{r.Name, fmt.Sprintf("%.4f", r.Guess), fmt.Sprintf("%.4f", r.Share),
			fmt.Sprintf("%.4f to %.4f", min(r.Lower, r.Share), max(r.Upper, r.Share))}
		if remarks {
			row = append(row, r.remark())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
