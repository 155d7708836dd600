package series

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/estimate/atlas"
)

// Change is how the share of a region has changed from one epoch to another.
type Change struct {
	From, To     atlas.Region // its shares
	Lower, Upper float64      // of the share in To less that in From
	Likeliest    float64
}

// Known reports whether the reports say that the share has changed: 0 is not in the interval.
func (c Change) Known() bool { return c.Lower > 0 || c.Upper < 0 }

// Changes compares the shares of regions in two epochs, by the reports of each alone. A region has a weight from 0 to 1
// for each input.
//
// Errors: those of Maps for epochs that do not fit together, whatever their order, and those of World.Regions, with the
// epoch.
func Changes(ctx context.Context, from, to Epoch, regions [][]float64, s Settings) ([]Change, error) {
	to.Number = from.Number + 1 // the order of the two does not matter here
	if err := check([]Epoch{from, to}); err != nil {
		return nil, err
	}
	var shares [2][]atlas.Region
	for n, e := range []Epoch{from, to} {
		var err error
		shares[n], err = e.World.Regions(ctx, e.Counts, regions, atlas.Settings{Prior: s.Prior, Level: s.Level})
		if err != nil {
			return nil, fmt.Errorf("epoch %s: %w", e.label(), err)
		}
	}
	var list []Change
	for n := range regions {
		a, b := shares[0][n], shares[1][n]
		c := Change{From: a, To: b, Likeliest: b.Likeliest - a.Likeliest}
		c.Lower = c.Likeliest - math.Hypot(b.Likeliest-b.Lower, a.Upper-a.Likeliest)
		c.Upper = c.Likeliest + math.Hypot(b.Upper-b.Likeliest, a.Likeliest-a.Lower)
		list = append(list, c)
	}
	return list, nil
}
