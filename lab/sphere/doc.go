// Package sphere is the study of the mechanism on the sphere, against what else there is. It has two parts.
//
// # Mean estimation
//
// The rival is PrivUnit2 (Bhowmick, Duchi, Freudiger, Kapoor and Rogers, Protection Against Reconstruction and Its
// Applications in Private Federated Learning, 2018, Algorithm 1): a point of a cap around x with the probability of a
// coin, else one of the rest, scaled to be unbiased. For p = 2 the optimal mechanism on S^d is PrivUnit2 with its best
// parameters: the cap's offset t* and the coin that maximise the mean E<x,y> = t* under pure eps-LDP, so that y/t* is
// unbiased with the least mean squared error, 1/t*^2 - 1. So the optimum is no other mechanism, and the idea is
// theirs; what differs is the parameters. Published implementations of PrivUnit2 split eps between offset and coin by
// the sufficient conditions (16a) and (16b) of that paper, which are not tight: they spend less than eps. Two such
// rules are compared, written anew from their formulas:
//
//	grid     the share of eps for the offset in hundredths, the largest offset that the conditions allow, found in steps of one per cent
//	         (google-research, rcc_dp)
//	search   the offset by interval search on both sides of sqrt(2/(d+1)), the coin from what the conditions leave (apple, pfl-research)
//
// Their mean squared error is that of the mechanism which they make, computed from the exact share of its cap; "spent"
// is its true privacy loss, log(p/(1-p)) + log((1-S)/S).
//
// # Distributions of several atoms
//
// A client's distribution has n atoms, uniform on S^d, with weights of a Dirichlet law with parameter 2. Compared in
// W_2, on the same public candidates: the projection (codebook.Codebook.Law), the rival "draw an atom, release it as a
// point with the optimal mechanism" (its law is the mixture), and the uniform law, which needs no data. Every W_2 is
// exact transport (package mincostflow, its gap is reported), from the integers that would be released; ldp decides in
// integers that all laws of a list of candidates are within e^eps of each other. Numbers are means over random
// instances, each with its own candidates.
//
// This is a simulation: instances and seeds come from a seeded generator. Equal Config give equal results at any
// GOMAXPROCS. Cost: about ten seconds on two cores with the defaults.
package sphere
