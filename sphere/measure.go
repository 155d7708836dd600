package sphere

import "math"

// Measure is the optimal base measure Alpha sigma on S^d (sigma uniform, of mass 1), and the mechanism that it makes:
// for an input x, density Alpha e^(eps/2) on the cap {y : <x,y> >= T} and Alpha e^(-eps/2) outside.
type Measure struct {
	// T is the cosine of the cap's angle. Omt is 1 - T, which cannot be computed accurately from T for a small cap.
	T   float64 `json:"t"`
	Omt float64 `json:"omt"`
	// Alpha is the mass of the base measure: 1 / (e^(-eps/2) + (e^(eps/2) - e^(-eps/2)) S).
	Alpha float64 `json:"alpha"`
	// S is the cap's share of the sphere.
	S float64 `json:"S"`
	// J is the worst case of W_p^p, the same for every point mass, and W = J^(1/p) is that of W_p: the distance from x to
	// the rim of its cap.
	J float64 `json:"J"`
	W float64 `json:"W"`
	// Pin is the probability that the output lies in the cap, Pout that it does not.
	Pin  float64 `json:"pin"`
	Pout float64 `json:"pout"`
}

// measure fills in what follows from the cap.
func measure(t, omt, s, q, eps, e float64) Measure {
	mass := 1 + e*s
	return Measure{
		T: t, Omt: omt, S: s,
		Alpha: math.Exp(eps/2) / mass,
		J:     power(2*omt, q),
		W:     math.Sqrt(2 * omt),
		Pin:   (1 + e) * s / mass,
		Pout:  (1 - s) / mass,
	}
}
