package ldp

import "math/bits"

// Round returns the point of the box that is nearest to 2^B q in l1, for any q at all. With X_j = 2^B q_j taken
// exactly, it minimises sum_j |n_j - X_j| over all integer points of the box. A NaN or missing entry counts as lo_j,
// entries beyond the last column are ignored, infinities go to the nearer bound. Among equal candidates, the lowest
// indices are moved. The result is a point of the box if p has passed Verify, and the zero Weights if p is nil or zero.
//
// Argument for the box: step 1 gives lo <= n <= hi; step 2 lowers n, not below lo, to sum <= 2^B; steps 3
// and 4 raise it, not above hi, by rest = 2^B - sum n units, which fit because sum hi >= 2^B.
//
// Argument for the distance: sum |n_j - X_j| is separable and convex, so a point is a minimum if no unit can be moved
// at a gain from one column to another. The cost of the unit from n_j to n_j + 1 is -1 if n_j + 1 <= X_j, 1 - 2f in the
// step that passes X_j with fraction f > 0, and +1 from n_j >= X_j on. Step 1 takes all units of cost -1 in the box,
// and no others except those below lo. If these are too many, some are given back, at a cost of +1 each whichever they
// are (step 2; then rest = 0). If they are too few, units are taken in order of cost: the largest fractions first (step
// 3), then any (step 4).
//
// For q in the box up to rounding, the total variation between n / 2^B and q is at most
// (kv/4 + |2^B - 2^B sum q|/2) / 2^B, hence W_p^p grows by no more than R times that.
func (p *Polytope) Round(q []float64) Weights {
	if p.Len() == 0 {
		return Weights{}
	}
	n, frac := make([]uint64, len(p.lo)), make([]uint64, len(p.lo))
	room := p.Total() // becomes 2^B - sum lo >= 0
	fractions := uint64(0)
	for j, lo := range p.lo { // step 1: n = floor(X) brought into the box
		room -= lo
		var f uint64
		if j < len(q) {
			n[j], f = floorUnits(q[j], p.bits)
		}
		if lo <= n[j] && n[j] < p.hi[j] {
			frac[j] = f
			if f > 0 {
				fractions++
			}
		}
		n[j] = min(max(n[j], lo), p.hi[j])
	}
	// Step 2. Keep what is above lo, the last columns first, as long as it fits: what is lost is
	// lost by the first ones, and nothing is if sum n <= 2^B. Then room = 2^B - sum n.
	for j := len(n) - 1; j >= 0; j-- {
		extra := min(n[j]-p.lo[j], room)
		n[j] = p.lo[j] + extra
		room -= extra
	}
	if count := min(room, fractions); count > 0 { // step 3: the largest fractions, one unit each
		roundUp(n, frac, count)
		room -= count
	}
	for j := range n { // step 4: the rest to the first columns that can take it
		extra := min(p.hi[j]-n[j], room)
		n[j] += extra
		room -= extra
	}
	return Weights{&row{p.bits, n}}
}

// roundUp adds one unit in the count columns with the largest frac, the lowest indices among equals.
//
// Precondition: 1 <= count <= the number of positive entries of frac; entries are below 2^63.
// Argument: the first loop finds level = the largest v with at least count entries >= v, from the top
// bit down; it is positive. Less than count entries are above it; they and the first of those
// equal to it are taken.
func roundUp(n, frac []uint64, count uint64) {
	level := uint64(0)
	for step := uint64(1) << 62; step > 0; step /= 2 {
		if atLeast(frac, level+step) >= count {
			level += step
		}
	}
	equal := count - atLeast(frac, level+1)
	for j, f := range frac {
		if f > level {
			n[j]++
		} else if f == level && equal > 0 {
			n[j]++
			equal--
		}
	}
}

// atLeast counts the entries v >= level; without a branch, for speed.
func atLeast(frac []uint64, level uint64) (count uint64) {
	for _, v := range frac {
		_, less := bits.Sub64(v, level, 0)
		count += 1 - less
	}
	return count
}

// floorUnits returns floor(2^b q) and a key of the fraction that is left: 0 if there is none, else a
// positive number below 2^63 that increases with the fraction. NaN and q <= 0 give 0 and no fraction;
// q >= 2, above every box, gives 2^63 and none.
//
// Argument: comparing q with 0 and 2 is exact. q = mant 2^exp, so 2^b q = mant / 2^t with t = -(exp + b). From q < 2
// follows t >= 52 - b >= -10, so a shift to the left stays below 2^63. Otherwise quotient and remainder of mant by 2^t
// are shifts and masks, also for t >= 64, where Go's shift gives 0, hence all of mant remains.
//
// The fraction is r / 2^t, 0 < r < 2^53; with L = bits.Len64(r) it is (r 2^(53-L)) 2^(L-t-53), where
// the first factor is in [2^52, 2^53). So the key (L - t + 1100) 2^52 + r 2^(53-L) orders as the
// pair (L - t, r 2^(53-L)) does, which is as the fractions do; and -1073 < L - t <= 0.
func floorUnits(q float64, b int) (units, key uint64) {
	if !(q > 0) {
		return 0, 0
	}
	if q >= 2 {
		return 1 << 63, 0
	}
	mant, exp := split(q)
	t := -(exp + b)
	if t <= 0 {
		return mant << uint(-t), 0
	}
	r := mant & (1<<uint(t) - 1)
	if r == 0 {
		return mant >> uint(t), 0
	}
	l := bits.Len64(r)
	return mant >> uint(t), uint64(l-t+1100)<<52 + r<<uint(53-l)
}
