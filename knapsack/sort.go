package knapsack

import (
	"math"
	"slices"
)

// The row lengths from which sortEven beats a comparison sort, and from which a radix sort does (measured: about 45 and
// 200).
const (
	evenMin  = 48
	radixMin = 192
)

// Eleven bits a digit: six digits cover 64 bits, and the counters (16 kB) stay in the first-level cache.
const (
	digitBits = 11
	digits    = 6
	digitSize = 1 << digitBits
)

// sorter holds the scratch of sortRow, for reuse from row to row.
type sorter struct {
	keys  []uint64
	spare []int32
	count [digits][digitSize]int32
}

// sortRow fills order with the columns of row by increasing cost, ties by lowest index.
// Costs are finite and non-negative, so their bit patterns sort as the numbers do where sortEven gives up.
func (s *sorter) sortRow(row []float64, order []int32) {
	if len(s.keys) < len(row) {
		s.keys, s.spare = make([]uint64, len(row)), make([]int32, len(row))
	}
	if len(row) >= evenMin && s.sortEven(row, order) {
		return
	}
	for j := range order {
		order[j] = int32(j)
	}
	if len(row) < radixMin {
		slices.SortFunc(order, func(a, b int32) int {
			switch x, y := row[a], row[b]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return int(a) - int(b)
		})
		return
	}
	s.count = [digits][digitSize]int32{}
	for j, c := range row {
		key := math.Float64bits(c + 0) // -0 + 0 = +0: the two zeros are a tie
		s.keys[j] = key
		for d := range digits {
			s.count[d][key>>(d*digitBits)%digitSize]++
		}
	}
	from, to := order, s.spare[:len(row)]
	for d := range digits {
		count, shift := &s.count[d], d*digitBits
		if count[s.keys[0]>>shift%digitSize] == int32(len(row)) {
			continue // the same digit everywhere
		}
		var sum int32
		for v, n := range count {
			count[v], sum = sum, sum+n
		}
		for _, j := range from {
			v := s.keys[j] >> shift % digitSize
			to[count[v]] = j
			count[v]++
		}
		from, to = to, from
	}
	if &from[0] != &order[0] {
		copy(order, from)
	}
}

// sortEven is a distribution sort (Knuth, volume 3): the place of a cost in the range of its row, in two digits of
// eight bits, nearly sorts an ordinary row. Insertions do the rest, in at most evenMoves moves a column, or it gives
// up.
const (
	evenBits  = 8
	evenMoves = 8
)

// sortEven sorts rows whose costs spread evenly over their range, five times as fast as the other sorts. It reports
// whether it did.
func (s *sorter) sortEven(row []float64, order []int32) bool {
	low, high := row[0], row[0]
	for _, c := range row {
		low, high = min(low, c), max(high, c)
	}
	spread := high - low
	if spread == 0 {
		spread = 1
	}
	const size, top = 1 << evenBits, 1<<(2*evenBits) - 1
	var count [2][size]int32
	keys, half := s.keys[:len(row)], s.spare[:len(row)]
	for j, c := range row {
		key := uint64((c - low) / spread * top)
		keys[j] = key
		count[0][key%size]++
		count[1][key>>evenBits]++
	}
	var sum0, sum1 int32
	for v := range size {
		count[0][v], sum0 = sum0, sum0+count[0][v]
		count[1][v], sum1 = sum1, sum1+count[1][v]
	}
	for j, key := range keys {
		v := key % size
		half[count[0][v]] = int32(j)
		count[0][v]++
	}
	for _, j := range half {
		v := keys[j] >> evenBits
		order[count[1][v]] = j
		count[1][v]++
	}
	// The sort is stable: move past columns that cost more, and no others.
	left := evenMoves * len(order)
	for at := 1; at < len(order); at++ {
		j, to := order[at], at
		for ; to > 0 && row[order[to-1]] > row[j]; to-- {
			order[to] = order[to-1]
		}
		order[to] = j
		if left -= at - to; left < 0 {
			return false
		}
	}
	return true
}
