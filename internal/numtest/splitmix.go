package numtest

// SplitMix64 is the generator of Steele, Lea and Flood (2014): one 64-bit counter and a mixing
// function. The zero value is seed 0. It is here because the reference instances were made with it.
type SplitMix64 struct{ x uint64 }

// NewSplitMix64 returns a generator that starts at seed.
func NewSplitMix64(seed uint64) *SplitMix64 { return &SplitMix64{seed} }

// Uint64 returns the next 64 bits.
func (s *SplitMix64) Uint64() uint64 {
	s.x += 0x9E3779B97F4A7C15
	z := s.x
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Float64 returns the top 53 bits of the next draw as a number in [0, 1).
func (s *SplitMix64) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Intn returns (next draw) mod n; it panics if n <= 0. The bias, n·2^-64, does not matter to tests.
func (s *SplitMix64) Intn(n int) int {
	if n <= 0 {
		panic("numtest: Intn of a number that is not positive")
	}
	return int(s.Uint64() % uint64(n))
}

// Cloud returns n points of so many axes in a box of a side around a centre.
func Cloud(rng *SplitMix64, n, axes int, centre, side float64) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		for range axes {
			x[i] = append(x[i], centre+side*(rng.Float64()-0.5))
		}
	}
	return x
}
