// Package ring is the paper's synthetic study: distributions on a ring of points, projected by WPM and by KPM.
//
// # Protocol
//
// The defaults of [Config] are the protocol; every number in it is a field.
//
//	points      0, ..., 29 on a ring; C = d^2 in units of the points' distance, not rescaled (0 to 225); p = 2
//	inputs      500 draws from a Dirichlet distribution of concentration 0.1; the first is the example of the figures
//	WPM         uniform base measure at its exact minimax scale; exact projection
//	Algorithm 1 the same box, lambda 0.1, 0.3, 1, 3, 10 (the paper names none), from v = 1, in the log domain: exp(-225/0.1) is no float
//	KPM         q = max(mu/r, 1/(e^eps + k - 1))
//	eps         5 for the example and the iterations; 0.5, 1, 2, 3, 4, 5, 6 for the comparison
//
// All W_2 are exact transport, with certified gaps. Three results: what the two mechanisms make of one input; W_2(q_t,
// mu) against the iteration t for each lambda beside the exact projection's; and W_2 against eps.
//
// This is a study of distributions: nothing is drawn but the inputs, from Seed. Equal Config gives equal results at any
// GOMAXPROCS.
//
// # Cost
//
// With the defaults 3 500 exact projections and some 2 500 runs of Algorithm 1 of 1 000 iterations: about half a minute
// on two cores.
package ring
