package atlas

import (
	"context"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/plane"
)

// maxFlows is the number of groups of reported pairs of which intervals are made. Of ten thousand pairs or more, the
// search for an end of an interval takes minutes, as the likeliest maps have hundreds of pairs. The disc of a report is
// far larger than such a group.
const maxFlows = 256

// flows are the reports of pairs, seen in groups: what contradicts a map by groups contradicts it by the reports.
type flows struct {
	by      *estimate.Channel // whose reports these are
	of      []int             // group of each output
	groups  int
	channel *estimate.Channel
}

// flowsOf groups outputs that are the inputs, by the finest level of up to maxFlows squares. It is nil if each is its own.
func flowsOf(ctx context.Context, ch *estimate.Channel, at plane.Places) (*flows, error) {
	k, kv := ch.Dims()
	for level, of := range at.Levels(kv) {
		n := slices.Max(of) + 1
		if n > maxFlows || n > maxSquared/k && n > 1 {
			continue
		}
		if level == 0 {
			return nil, nil
		}
		c, err := ch.MergeOutputs(ctx, of, n)
		return &flows{ch, of, n, c}, err
	}
	return nil, nil
}

// seen is a problem whose reports are seen in groups, if they are of this channel.
func (f *flows) seen(p estimate.Problem) estimate.Problem {
	if f == nil || p.Channel != f.by {
		return p
	}
	p.Channel = f.channel
	if p.Weighted != nil {
		p.Weighted = grouped(p.Weighted, f.of, f.groups)
	} else {
		p.Counts = grouped(p.Counts, f.of, f.groups)
	}
	return p
}

func grouped[T float64 | uint64](counts []T, of []int, n int) []T {
	out := make([]T, n)
	for j, c := range counts {
		out[of[j]] += c
	}
	return out
}
