package num

import "math"

// Log is math.Log, which some processors' versions get wrong for subnormal numbers.
func Log(x float64) float64 {
	if !(0 < x && x < 0x1p-1022) {
		return math.Log(x)
	}
	m, e := math.Frexp(x)
	return math.Log(m) + float64(e)*math.Ln2
}
