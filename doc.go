// Package wpm implements the Wasserstein projection mechanism. It releases one point, drawn from the distribution
// closest in Wasserstein distance to a private one that ε-local differential privacy allows.
//
// A client holds a private distribution μ over k public points x_1, ..., x_k. It releases one of kv
// public points v_1, ..., v_kv, drawn from
//
//	q ∈ argmin { W_p(ν, μ) : α m_j <= ν_j <= β m_j for all j },  α = e^(-ε/2), β = e^(ε/2),
//
// where the base measure m is public. Whatever μ is, q lies in the same box, whose upper bounds are e^ε times its lower
// bounds. So every output is at most e^ε times as likely under one private distribution as under another.
//
// # Use
//
// Once, with public data alone:
//
//	c, err := cost.NewGrid(20, 20, 1)                        // any cost.Matrix
//	eps, err := ldp.ParseEpsilon("2")
//	d, err := wpm.NewDesign(ctx, c, eps, wpm.Objective{})    // d.WorstCase() is proved; nothing beats d.Lower()
//	p, err := d.Publish(policy.Config{Mode: policy.Projection, Provenance: provenance})
//	text, err := policy.Encode(p)                            // the file that every client gets
//
// On each device:
//
//	p, err := policy.Decode(text)
//	m, err := wpm.Load(ctx, p, wpm.Options{})
//	report, err := policy.Release(ctx, p, ledger, private, m.Projector())
//
// A [Design] is a [Mechanism] with the rows of its mixture mode ([Channel]) and a certificate of its worst case. [New]
// makes a mechanism from any base measure. [Mechanism.Project] finds q with a proof of its distance, for studies and
// tests. In mixture mode a client draws i from μ and then j from row i. This mode is minimax optimal, too, and needs no
// solver on the device.
//
// # Guarantee
//
// Privacy does not depend on anything here: whatever a solver returns, package ldp rounds it into the published
// box of integers, and the draw uses exactly B random bits. A wrong solver costs utility, never privacy.
// policy.Release is the only path for private data; a [Projection] prints as nothing.
//
// Errors wrap [ErrShape], [ErrMass], [ErrOption] or [ErrLimit], or come from the packages that this one calls. A solver
// that is stopped by its context still returns a feasible answer with valid bounds: see [Unfinished].
//
// # Cost
//
// NewDesign takes the time of package basemeasure and of one exact verification, and 20 k kv bytes of memory. Uniform
// takes only O(k + kv) bytes, and some nanoseconds for each pair, on the cells of a grid or a ring and on places with
// more than 2^20 pairs. New reads a stored cost once. Project takes O(|supp μ| kv) for every sweep of its solver. A
// Channel takes O(kv log kv) time for each row, and 8 kv bytes for each row that it keeps.
//
// Import a solver package instead of this one if all you need is that solver: they stand alone.
package wpm
