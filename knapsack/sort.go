package knapsack

import (
	"math"
	"slices"
)

// radixMin is the row length from which a radix sort beats a comparison sort (measured: about 200).
const radixMin = 192

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
// Costs are finite and non-negative, so their bit patterns sort as the numbers do.
func (s *sorter) sortRow(row []float64, order []int32) {
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
	if len(s.keys) < len(row) {
		s.keys, s.spare = make([]uint64, len(row)), make([]int32, len(row))
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
