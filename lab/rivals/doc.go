// Package rivals compares the maps of wpm with those of other mechanisms at their best reading: frequency oracles with
// exact likelihoods, discs whose radius is swept, geo-indistinguishability at its true eps, hierarchies of blocks.
//
// The people are made-up cities, or those of a World: package compare takes anybody's.
//
// Every mechanism is read by several estimators, among them wpm's own. What a deployer could not choose beforehand, the
// radius of a disc and the width of a kernel, is chosen in hindsight, in favour of the rival. The table gives every
// reading, with the mean, the median and the 90 % quantile over the runs.
package rivals
