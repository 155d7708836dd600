package grid

import "math"

// transform sets out_i = min_j (C_ij + v_j), the two-dimensional distance transform of Felzenszwalb and
// Huttenlocher (2012), in time linear in the cells. v_j may be +Inf, not everywhere.
//
// The result can be off by transformError, either way.
func (k *kernel) transform(out, v []float64) {
	rows, cols := k.l.rows, k.l.cols
	dx, dy := k.l.spacing()
	k.lines(rows, func(r int, s *lineScratch) {
		lowest(k.one[r*cols:(r+1)*cols], v[r*cols:(r+1)*cols], dx*dx, s)
	})
	k.columns(out, k.one, func(out, in []float64, s *lineScratch) { lowest(out, in, dy*dy, s) })
}

// lowest sets out[c] = min_j (v[j] + scale (c-j)^2) by the lower envelope of the parabolas.
func lowest(out, v []float64, scale float64, s *lineScratch) {
	s.envelope(v, -1/scale, math.Inf(1))
	if len(s.stack) == 0 {
		for c := range out {
			out[c] = math.Inf(1)
		}
		return
	}
	p := 0
	for c := range out {
		x := float64(c)
		for p < len(s.cross) && s.cross[p] < x {
			p++
		}
		j := s.stack[p]
		d := x - float64(j)
		out[c] = v[j] + float64(scale*(d*d))
	}
}

// transformError bounds the error of transform for |v| <= size.
//
// One value v + scale d^2 has a relative error of 5 units in the last place (of 2^-53) against its terms,
// which are at most size + 1, and the exact C_ij, rounded once, is off by another one of 2. A crossing
// z is off by 4 units of the height of the two parabolas over their distance; where it decides
// wrongly, the loss is the difference of the slopes times that, 16 units of size + 1 at most. A source
// that was left out for one that is itself left out later adds up: n times at worst on a line of n.
func transformError(rows, cols int, size float64) float64 {
	return float64(rows+cols+2) * 24 * 0x1p-53 * (size + 2)
}
