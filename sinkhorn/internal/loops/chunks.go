package loops

// chunkCells is how many matrix cells make a unit of parallel work. Chunks depend on the shape of
// the matrix alone, and their partial sums are joined in index order: results have the same bits
// whatever the number of threads.
const chunkCells = 1 << 18

// fullRows is how many rows a chunk has at least, where there are more than 16 of them: the partial sums of
// every chunk are written and read again, which should be little beside its rows.
const fullRows = 256

// Chunks returns how many chunks a k x n matrix is cut into.
func Chunks(k, n int) int {
	c := (int64(k)*int64(n) + chunkCells - 1) / chunkCells
	return int(max(1, min(c, int64(k), int64(max(16, k/fullRows)), 64)))
}

// ChunkRows returns the rows of chunk c of m. Chunks of many rows begin at a multiple of 8: the products take
// four rows at a time, and are slow for the rest.
func ChunkRows(k, m, c int) (from, to int) {
	from, to = int(int64(k)*int64(c)/int64(m)), int(int64(k)*int64(c+1)/int64(m))
	if k/m < 16 {
		return from, to
	}
	from &^= 7
	if c+1 < m {
		to &^= 7
	}
	return from, to
}
