package mincostflow

// Settings tunes Project. The zero value is the documented default.
type Settings struct {
	// AllRows reads the rows without mass, too, which gives them the largest valid potentials. By default these rows are
	// not read, and errors in their costs are not detected. Their potential is then -max(0, max_j g_j), which is valid
	// because costs are not negative.
	AllRows bool
	// Memory limits the bytes for copies of rows, if the cost computes a row anew for every reader, as structured costs
	// do. Every row with mass that fits is computed once, and the others once for each sweep. 0 means 256 MiB, and a
	// negative number means no copies. Results do not depend on Memory, bit for bit. (A *cost.Dense is not copied.)
	Memory int64
}
