package network

import "github.com/wpm-go/wpm/internal/numtest"

// draw is a seeded generator of small problems.
type draw struct{ *numtest.SplitMix64 }

func newDraw(seed uint64) draw { return draw{numtest.NewSplitMix64(seed * 7919)} }
