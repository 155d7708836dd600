package city

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
)

// Stream starts the draws of a simulation on a city: of its releases, say. The demo and the playground draw from the same
// streams, so that they show the same numbers for the same city.
func Stream(seed uint64, what string) *rand.ChaCha8 {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm demo simulation, seed %d, %s", seed, what)))
}

// Draw draws one of the user's check-ins, and returns its cell. The error is that of r.
func (u User) Draw(r io.Reader) (int, error) {
	n, err := below(u.Total(), r)
	if err != nil {
		return 0, err
	}
	i := 0
	for n >= u.Counts[i] {
		n -= u.Counts[i]
		i++
	}
	return u.Cells[i], nil
}

// below draws a whole number from 0 to n-1, n <= 2^30, all alike: 4 bytes, rejected beyond the largest multiple of n.
func below(n int, r io.Reader) (int, error) {
	limit := uint64(1<<32) / uint64(n) * uint64(n)
	for {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return 0, fmt.Errorf("city: %w", err)
		}
		if v := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24; v < limit {
			return int(v % uint64(n)), nil
		}
	}
}
