package mincostflow

import "fmt"

// Method chooses how Project solves.
type Method int

const (
	// Auto is the default: the fractional knapsack when a single row carries all the mass, the
	// network simplex otherwise.
	Auto Method = iota
	// Simplex always runs the network simplex.
	Simplex
)

// Settings tunes Project. The zero value is the documented default.
type Settings struct {
	// Method selects the algorithm. Default Auto.
	Method Method
	// MaxPivots ends the simplex after that many pivots with ErrNotConverged. Default (0):
	// 1000 pivots for every node and a million more; instances met in practice need 2 to 30
	// for every node.
	MaxPivots int
	// SupportOnly leaves rows without mass unread. They then get the potential
	// -max(0, max_j g_j), which is valid because costs are not negative, instead of the largest
	// valid one, and errors in their costs go unnoticed. The work falls from k*kv to
	// |Support|*kv, which counts when few rows carry mass.
	SupportOnly bool
}

// resolve checks the settings and fills in defaults for a problem of the given size.
func (s Settings) resolve(nodes int) (Settings, error) {
	if s.Method != Auto && s.Method != Simplex {
		return s, fmt.Errorf("%w: Method = %d", ErrSettings, int(s.Method))
	}
	if s.MaxPivots < 0 {
		return s, fmt.Errorf("%w: MaxPivots = %d is negative", ErrSettings, s.MaxPivots)
	}
	if s.MaxPivots == 0 {
		const most = 1<<31 - 1 // fits an int everywhere
		s.MaxPivots = most
		if nodes < most/1000-1000 {
			s.MaxPivots = 1000*nodes + 1_000_000
		}
	}
	return s, nil
}
