// Package proptest holds the laws of the mechanism, so that anyone can run them on an implementation of
// their own, as testing/fstest does for file systems.
//
// # The problem
//
// The paper states what a mechanism, a projection or a base measure must satisfy. A test that a package writes for
// itself shares the misunderstandings of the package. Here each statement is a function of its own. It draws instances,
// asks an implementation behind a small interface, and compares the answer with a slow second opinion in rational
// arithmetic that shares no code with any solver.
//
//	privacy       releases: integer boxes, rows, samplers, rivals
//	projection    projections, exact, entropic and in divergence
//	design        base measures, mirror descent, the sphere
//	estimate      maps and intervals from counts of releases
//
// The comment of each of these packages lists its interfaces, with the laws of each.
//
// This package has what the laws share: the type Law and its runner, generators, and comparisons with a tolerance.
// Package proptest/exact has the exact arithmetic that they compare with.
//
// Wrap the implementation and run the laws in a test:
//
//	func TestMyProjector(t *testing.T) {
//		proptest.Run(t, projection.ProjectorLaws(), projection.Projector(mine))
//	}
//
// A certificate is data. An implementation returns a plan with potentials, or weights with thresholds, and the laws
// recompute what these prove. An implementation without bounds or without certificates leaves out the corresponding
// groups of laws.
//
// Each law is also a function of a *rapid.T, for rapid.Check, rapid.MakeFuzz or a test of one law. A Law names the
// statement that it comes from, and docs/mathematics.md names the laws of each statement.
//
// # Guarantee
//
// A failure is a counterexample. A law compares with exact arithmetic, and allows a tolerance only where an
// implementation works in floats (see the constants, each with its reason). Privacy laws have no tolerance: they
// compare integers. Passing is evidence, not proof. The package's own tests check that each law rejects planted errors
// of the kind it is meant to find.
//
// Instances are tiny, with a dozen rows and columns at most; where a certificate allows it, some are large. Edge cases
// are frequent: ties and near-ties, zeros, point masses, one row or column, mass at both ends of its range, boxes that
// miss mass 1 by rounding, costs over hundreds of orders of magnitude, eps from 1e-6 to 50. Implementations get copies,
// and an implementation that writes to its input fails. A panic fails, too.
//
// # Cost
//
// A case of a law takes 0.1 to 10 ms, most of it in the exact oracle. So the 100 cases of a normal run take at most a
// second for a law that holds. There are three levels: go test -short draws 20 cases of a law, go test draws 100, and
// go test -rapid.checks=10000 is an audit. The instances of Law.First come before them at every level.
//
// After a failure, rapid looks for a smaller counterexample for up to 30 s per law; -rapid.shrinktime=5s shortens this
// search. A failure prints its seed and a command that repeats it. No file is written.
//
// # Options
//
// projection.EntropicOn and projection.CompositeOn set the domain of an entropic solver, and with it the tolerance for
// C/reg. A solver that does not converge may return projection.ErrNoAnswer or design.ErrNoAnswer. Laws of bounds and of
// certificates are groups of their own. To leave a law out, drop it by its Name from the slice that Run takes. All
// other tolerances are constants: ValueTol is what "near" means for a value.
package proptest
