// Package projection holds the laws of projections: the exact one, the entropic one with its iteration, the projection
// in divergence, and Hilbert's metric. See package proptest for how to run them.
//
//	interface    what it is                         laws
//	Projector    one projection                     ProjectorLaws, ZeroEpsilon
//	             with bounds, with a proof of them  ProjectorBoundLaws, ProjectorCertificateLaws
//	Entropic     one entropic projection            EntropicLaws
//	             with bounds, with a proof of them  EntropicBoundLaws, EntropicCertificateLaws
//	Composite    one iteration of Algorithm 1       CompositeLaws
//	KLProjector  the projection in KL(q || s)       KLLaws
//	Hilbert      the metric, diameter, contraction  HilbertLaws
package projection
