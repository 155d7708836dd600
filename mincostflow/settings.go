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
	// Rows without mass get potentials, too. The largest valid ones take a pass over their costs, which
	// would be most of the work when few rows carry mass. By default they get them when these
	// rows are no more than those with mass, or have some thousand costs in all; otherwise
	// they stay unread, errors in their costs go unnoticed, and they get the potential
	// -max(0, max_j g_j), which is valid because costs are not negative. So the work is of the order
	// of |Support|*kv. SupportOnly never reads them, AllRows always does; both at once is an error.
	SupportOnly, AllRows bool
	// Memory is how many bytes copies of rows of the cost may take, if the cost computes them anew for every reader, as
	// structured costs do: every row with mass is then computed once, and those that do not fit once for each sweep. 0 is
	// 256 MiB, and a negative number none. Results do not depend on it, bit for bit. (A *cost.Dense is read where it is.)
	Memory int64
}

// resolve checks the settings and fills in defaults for a problem of the given size.
func (s Settings) resolve(nodes int) (Settings, error) {
	if s.Method != Auto && s.Method != Simplex {
		return s, fmt.Errorf("%w: Method = %d", ErrSettings, int(s.Method))
	}
	if s.SupportOnly && s.AllRows {
		return s, fmt.Errorf("%w: SupportOnly and AllRows exclude each other", ErrSettings)
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
