package codebook

// memory is what a release of any client takes. Release has it before the debit, for a client of the most atoms, and
// writes to all of it, so that the system has given every page. After the debit no data take more: where memory is
// short, a release that failed would tell something about them.
type memory struct {
	coords     []float64 // for float64s: vectors, costs and plans
	used       int       // of coords
	indices    []int32
	prices     []price
	lists      [][]int32
	atoms      [][]float64
	assignment assignment
}

// newMemory returns memory for up to k atoms.
func (c *Codebook) newMemory(k int) *memory {
	n, dim := c.cfg.Points, c.cfg.Dim+1
	m := &memory{
		// Vectors as they are read and at length 1, weights, costs; then an assignment.
		coords:  make([]float64, 2*k*dim+1+2*k+k*n+k*n+n+3*(k+1)),
		indices: make([]int32, k*n), prices: make([]price, k*k+2*k), lists: make([][]int32, k),
		atoms:      make([][]float64, k),
		assignment: assignment{from: make([]int, k+1), done: make([]bool, k+1), hops: make([]hop, k)},
	}
	clear(m.coords)
	clear(m.indices)
	clear(m.prices)
	clear(m.lists)
	clear(m.atoms)
	clear(m.assignment.from)
	clear(m.assignment.done)
	clear(m.assignment.hops)
	return m
}

// memoryFor returns memory for these atoms, if a client may have so many.
func (c *Codebook) memoryFor(atoms [][]float64) *memory {
	return c.newMemory(min(max(len(atoms), 1), c.cfg.Atoms))
}

// float64s returns n numbers. They are 0, unless anyPoint has begun again from the start.
func (m *memory) float64s(n int) []float64 {
	x := m.coords[m.used:][:n:n]
	m.used += n
	return x
}
