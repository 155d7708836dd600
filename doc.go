// Package wpm is the Wasserstein projection mechanism: it releases one point drawn from the
// distribution closest to a private one, in Wasserstein distance, that e^ε-local differential
// privacy allows.
//
// # The problem
//
// A client holds a private distribution μ over k public points x_1, ..., x_k. It releases one of kv
// public points v_1, ..., v_kv, drawn from
//
//	q ∈ argmin { W_p(ν, μ) : α m_j <= ν_j <= β m_j for all j },  α = e^(-ε/2), β = e^(ε/2),
//
// where the base measure m is public. Whatever μ is, q lies in one box whose sides have ratio e^ε, so
// every output is at most e^ε times likelier under one private distribution than under another. That is
// ε-local differential privacy for the whole distribution (the paper's proposition on projections), and
// with the right m it is minimax optimal.
//
// # What this package does
//
// It is glue, and the only place where a solver meets the trusted core:
//
//   - a [Mechanism] is a cost, an integer box (package ldp) and a choice of solver;
//   - [Mechanism.Project] finds q with a proof of its distance (package mincostflow) and rounds it into
//     the integer box;
//   - [Mechanism.Channel] gives the integer rows of the mixture mode: row i is the exact projection of
//     the point mass at x_i, and "draw i from μ, then j from row i" is minimax optimal too, with no
//     solver on the device;
//   - [Mechanism.Projector] hands the projection to package policy, the only path for private points.
//
// # Guarantee and cost
//
// Privacy does not depend on anything here: whatever a solver returns, ldp rounds it into the published
// box, and the draw uses exactly B random bits. A wrong solver costs utility, never privacy.
//
// New reads the cost once, O(k kv). Project costs |supp μ| kv per pricing sweep. A Channel costs
// O(kv log kv) a row and 8 kv bytes a row kept.
//
// Import a solver package instead of this one if all you need is that solver: they stand alone.
package wpm
