package mincostflow

// Settings tunes Project. The zero value is the documented default.
type Settings struct {
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
	maxPivots  int  // for tests: as if the context ended after so many; 0 is no limit
}
