package cost

// Matrix is a read-only cost matrix C of k rows (inputs) and kv columns (outputs).
//
// Entries are finite and non-negative. Row returns row i: either a view that the caller must
// not modify, or buf[:kv] filled in (a nil or short buf is replaced). A row stays valid until
// the next call of Row with the same buf. Implementations are safe for concurrent use with
// distinct buffers, and return exactly kv entries, the same bits at every call.
//
// This is a contract between programs, not a check on data. A foreign type that breaks it has a bug. The solvers detect
// such a bug where the check costs nothing; elsewhere it may end in a panic.
type Matrix interface {
	Dims() (k, kv int)
	Row(i int, buf []float64) []float64
}

// Dense is a row-major cost matrix held in memory: C_ij = Data[i*Kv+j].
type Dense struct {
	K, Kv int
	Data  []float64
}

// Dims returns the numbers of rows and columns.
func (d *Dense) Dims() (k, kv int) {
	if d == nil {
		return 0, 0
	}
	return d.K, d.Kv
}

// Row returns row i without copying; buf is not used.
func (d *Dense) Row(i int, _ []float64) []float64 {
	return d.Data[i*d.Kv : (i+1)*d.Kv : (i+1)*d.Kv]
}
