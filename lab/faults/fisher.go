package main

import "math/big"

// fisher returns the two-sided p-value of Fisher's exact test: with all margins as they are, how likely a table is that
// is no likelier than a of n beside b of m. The tables are compared as integers.
func fisher(a, n, b, m int) float64 {
	sum := a + b
	ways := func(k int) *big.Int { // of k of n beside sum-k of m
		w := new(big.Int).Binomial(int64(n), int64(k))
		return w.Mul(w, new(big.Int).Binomial(int64(m), int64(sum-k)))
	}
	seen, unlikely, all := ways(a), new(big.Int), new(big.Int)
	for k := max(0, sum-m); k <= min(n, sum); k++ {
		w := ways(k)
		all.Add(all, w)
		if w.Cmp(seen) <= 0 {
			unlikely.Add(unlikely, w)
		}
	}
	p, _ := new(big.Rat).SetFrac(unlikely, all).Float64()
	return p
}
