// Package projection holds the laws of projections: the exact one, the entropic one with its iteration, the projection
// in divergence, and Hilbert's metric. See package proptest for how to run them.
package projection
