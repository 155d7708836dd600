package codebook

import (
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// BenchmarkRelease is a whole release, candidates and costs included. The goal is 10 ms for 20 atoms, d = 63, N = 1024.
func BenchmarkRelease(b *testing.B) {
	for _, c := range []struct{ dim, atoms, points int }{{2, 1, 1024}, {63, 1, 1024}, {63, 5, 1024}, {63, 20, 1024},
		{2, 20, 1024}, {63, 20, 8192}} {
		b.Run(fmt.Sprintf("d=%d/n=%d/N=%d", c.dim, c.atoms, c.points), func(b *testing.B) {
			book := design(b, Config{Dim: c.dim, P: 2, Epsilon: given.Epsilon(b, "4"), Points: c.points})
			atoms, weights := instance(numtest.NewSplitMix64(1), c.dim, c.atoms)
			r := newStream(1)
			for b.Loop() {
				if _, err := book.SimulateAtoms(r, atoms, weights); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
