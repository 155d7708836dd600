package knapsack

// Sorter orders the columns of one row of costs at a time, for callers without a Table. The zero Sorter is ready to
// use.
type Sorter struct {
	sorter
	order []int32
}

// Order returns the columns by increasing cost, ties by lowest index, like Table.Order. Costs must be finite and >= 0.
// The next call overwrites what it returns.
func (s *Sorter) Order(row []float64) []int32 {
	if cap(s.order) < len(row) {
		s.order = make([]int32, len(row))
	}
	s.order = s.order[:len(row)]
	if len(row) > 0 {
		s.sortRow(row, s.order)
	}
	return s.order
}

// FillUnits is Table.Project in whole units, and exact: it fills n, from lo, with the cheapest columns up to hi until
// total units are placed. order lists the columns by increasing cost. With integer bounds the fractional knapsack has
// an integer optimum, which FillUnits finds. It needs sum lo <= total <= sum hi, sums that fit in 64 bits, and slices
// of equal length.
func FillUnits(order []int32, lo, hi []uint64, total uint64, n []uint64) {
	rest := total
	for j, l := range lo {
		n[j] = l
		rest -= l
	}
	for _, j := range order {
		if rest == 0 {
			return
		}
		add := min(hi[j]-lo[j], rest)
		n[j] += add
		rest -= add
	}
}
