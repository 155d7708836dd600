package mincostflow

import "fmt"

// Settings tunes Project. The zero value is the documented default.
type Settings struct {
	// MaxPivots ends the simplex after that many pivots with ErrNotConverged. Default (0):
	// 1000 pivots for every node and a million more; instances met in practice need 2 to 30
	// for every node.
	MaxPivots int
	// AllRows reads the rows without mass, too, which gives them the largest valid potentials. By default they stay
	// unread, errors in their costs go unnoticed, and they get the potential -max(0, max_j g_j), which is valid
	// because costs are not negative.
	AllRows bool
	// Memory is how many bytes copies of rows of the cost may take, if the cost computes them anew for every reader,
	// as structured costs do: every row with mass is then computed once, and those that do not fit once for each
	// sweep. 0 is 256 MiB, and a negative number none. Results do not depend on it, bit for bit. (A *cost.Dense is
	// read where it is.)
	Memory int64

	noKnapsack bool // for tests: the simplex also for a single row with mass
}

// resolve checks the settings and fills in defaults for a problem of the given size.
func (s Settings) resolve(nodes int) (Settings, error) {
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
