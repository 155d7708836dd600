package network

import (
	"context"

	"github.com/wpm-go/wpm/internal/numtest"
)

// draw is a seeded generator of small problems.
type draw struct{ *numtest.SplitMix64 }

func newDraw(seed uint64) draw { return draw{numtest.NewSplitMix64(seed * 7919)} }

// countdown is a context that ends after a number of questions.
type countdown struct {
	context.Context
	left *int
}

func (c countdown) Err() error {
	if *c.left--; *c.left < 0 {
		return context.Canceled
	}
	return nil
}
