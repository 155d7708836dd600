// Package design holds the laws of mechanism design: the cost of a point mass, base measures, mirror descent with its
// projection, and the base measure on the sphere. See package proptest for how to run them.
//
//	interface     what it is                      laws
//	NewKnapsack   φ_i, τ_i, subgradients          KnapsackLaws
//	BaseMeasurer  a base measure                  BaseLaws
//	              with bounds                     BaseBoundLaws, MinimaxOptimality, MinimaxWithin
//	              with a proof of them            BaseCertificateLaws
//	Descender     mirror descent, with its bound  DescenderLaws
//	GKLProjector  its projection                  GKLLaws
//	SphereSolver  the base measure on the sphere  SphereLaws
package design
