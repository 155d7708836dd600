package values

import "math"

// RNG is splitmix64, written out so that the files do not depend on a library's generator.
type RNG struct{ state uint64 }

// NewRNG returns the generator of a kind, seeded by the FNV-1a hash of its name.
func NewRNG(name string) RNG {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return RNG{h}
}

// Next returns 64 random bits.
func (r *RNG) Next() uint64 {
	r.state += 0x9E3779B97F4A7C15
	z := r.state
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Intn returns a number from 0 to n-1; the bias of the remainder does not matter here.
func (r *RNG) Intn(n int) int { return int(r.Next() % uint64(n)) }

// Between returns a number from a to b.
func (r *RNG) Between(a, b int) int { return a + r.Intn(b-a+1) }

// Upto returns a number from 0 to n.
func (r *RNG) Upto(n uint64) uint64 {
	if n == math.MaxUint64 {
		return r.Next()
	}
	return r.Next() % (n + 1)
}

// Float returns a multiple of 2^-53 in [0, 1).
func (r *RNG) Float() float64 { return float64(r.Next()>>11) * 0x1p-53 }

// Chance reports true in percent of a hundred cases.
func (r *RNG) Chance(percent int) bool { return r.Intn(100) < percent }

// Bytes returns n bytes, the highest of a number each.
func (r *RNG) Bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Next() >> 56)
	}
	return b
}

// Pick returns one of its arguments.
func Pick[T any](r *RNG, from ...T) T { return from[r.Intn(len(from))] }

// Grain returns a number in [0, 1]: coarse ones are multiples of 1/64, which make ties and short fractions, others have
// 53 bits.
func Grain(r *RNG, coarse bool) float64 {
	if coarse {
		return float64(r.Intn(65)) / 64
	}
	return r.Float()
}

// Bad returns a number that no cost, mass or bound may be, and its flag.
func Bad(r *RNG) (float64, string) {
	n := r.Intn(5)
	flags := []string{"nan", "infinite", "infinite", "negative", "negative"}
	return []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, -0x1p-1074}[n], flags[n]
}
