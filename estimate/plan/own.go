package plan

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Own returns how far the places of so many people are from the population that they are drawn from: W_p, in the unit of the
// places, the mean over the worlds. No map of the population can be expected to be nearer than the people are, without
// any privacy, unless it is smoothed. Errors: ErrSettings, those of transport, and that of ctx.
func (l *Planner) Own(ctx context.Context, people int) (float64, error) {
	ctx = wpmerr.Context(ctx)
	if people < 1 || people > MaxDevices {
		return 0, fmt.Errorf("%w: %d people, want 1 to %d", wpmerr.ErrSettings, people, MaxDevices)
	}
	far := make([]float64, Worlds)
	err := parallel.Each(ctx, Worlds, func(n int) error {
		drawn := draw(l.worlds[n], people, n)
		shares := make([]float64, len(drawn))
		for i, c := range drawn {
			shares[i] = float64(c) / float64(people)
		}
		var err error
		far[n], err = l.distance(ctx, l.worlds[n], shares)
		return err
	}, nil)
	return summary(far).Mean, err
}
