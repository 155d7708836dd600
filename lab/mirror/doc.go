// Package mirror is the study of base measures: how far the paper's mirror descent gets, what the optimal base measure
// is worth, and which client mode suits whom.
//
// # Protocol
//
// The defaults of [Config] are the protocol.
//
//	descent   ring (p = 2), unit square and path (p = 1) with 30 points, eps 0.5, 2, 5; the paper's step and the adaptive one, 100 000 steps. Over T:
//	          f of the average and of the best iterate above the optimum, the proved bound, and the gap that the certificate of the averaged
//	          cuts proves by itself. The optimum is basemeasure.Solve's, to a certified relative gap of 1e-9
//	designs   grid, unit square, path, normal points, tight clusters, a star with the centre, 100 points each; eps 0.5, 1, 2, 5. Worst case and mean
//	          over the inputs of: uniform of KPM's mass, uniform at its exact scale, minimax, half worst case half mean, mean only
//	modes     10 x 10 grid at eps 2, uniform base measure: 200 random distributions on 1, 2, 5, 10, 20, 50 points; W_1 to the input of
//	          the exact projection, of the mixture mode, and of KPM
//
// Everything is an exact computation on random spaces and inputs from Seed; nothing is released.
//
// # Cost
//
// With the defaults about a minute on two cores, most of it the descents.
package mirror
