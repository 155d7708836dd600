package series

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/wpmerr"
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
// Errors: ErrShape for epochs of different places, and those of World.Regions, with the epoch.
func Changes(ctx context.Context, from, to Epoch, regions [][]float64, s Settings) ([]Change, error) {
	if err := check([]Epoch{from}); err != nil {
		return nil, err
	}
	if err := check([]Epoch{to}); err != nil {
		return nil, err
	}
	if a, _ := from.World.Channel.Dims(); true {
		if b, _ := to.World.Channel.Dims(); a != b {
			return nil, fmt.Errorf("%w: epoch %s has %d places, and %s has %d", wpmerr.ErrShape, from.Name, a, to.Name, b)
		}
	}
	var shares [2][]atlas.Region
	for n, e := range []Epoch{from, to} {
		var err error
		shares[n], err = e.World.Regions(ctx, e.Counts, regions, atlas.Settings{Prior: s.Prior, Level: s.Level})
		if err != nil {
			return nil, fmt.Errorf("epoch %s: %w", e.Name, err)
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
