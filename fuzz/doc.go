// Package fuzz holds the fuzz targets of the module: one for every public entry point that takes data from
// outside, each with an oracle that knows the right answer or a property of it. It has no code of its own.
//
//	target               entry point                            oracle
//	FuzzParseEpsilon     ldp.ParseEpsilon                       a grammar and math/big; round trip
//	FuzzPolytope         ldp.NewPolytope, Round, Sample         the definition in big integers
//	FuzzPolytopeBounds   ldp.NewPolytopeFromBounds, Weights     the definition in big integers
//	FuzzPolicyDecode     policy.Decode                          re-encoding gives the same bytes; Verify
//	FuzzRelease          policy.Release on private bytes        never fails, whatever bytes and solver
//	FuzzReport           policy.Report decoding                 re-encoding gives the same bytes
//	FuzzCostSpec         cost.ParseSpec, Build                  canonical form; entries finite and >= 0
//	FuzzCostCSV          costio.Read (CSV, NPY, gzip)           what is read is valid and round-trips
//	FuzzCostNPY          costio.ReadNPY                         what is read is valid and round-trips
//	FuzzPoints           costio.ReadPoints                      round trip
//	FuzzCounts           costio.ReadCounts                      round trip
//	FuzzRegions          costio.ReadRegions                     a second parser
//	FuzzTally            costio.ReadTally                       round trip, in any order of rows
//	FuzzKnapsack         knapsack.Table                         greedy fill in rationals
//	FuzzProject          mincostflow.Project                    Verify in rationals
//	FuzzTransport        mincostflow.Transport                  VerifyTransport in rationals
//	FuzzProjector        mincostflow.Projector                  a new one, bit for bit; the optimum of Project
//	FuzzProjectUnits     units.Project                          Verify: upper = lower; enumeration
//	FuzzNetwork          network.Solve, Verify              a slow solver; spoilt proofs are refused
//	FuzzDIMACS           network.ReadDIMACS                 round trip; the answer verifies
//	FuzzKPM              baseline.KPM                           the closed form in rationals
//	FuzzBaselines        baseline's other rules                 their boxes, the definition of a distribution
//	FuzzBaseMeasure      basemeasure.Uniform                    Verify in rationals
//	FuzzObjectives       basemeasure.Solve, all objectives      Verify in rationals; Uniform from above
//	FuzzSolve            basemeasure.Solve                      Verify in rationals; the best uniform measure
//	FuzzMirror           mirror.Descend                         basemeasure.Verify in rationals
//	FuzzSphere           sphere.Solve, Paper, Enclose           bounds proved in interval arithmetic
//	FuzzCodebook         codebook.Codebook.Law, Simulate        the law is in the box; never fails
//	FuzzEntropic         sinkhorn.Project                       Verify in rationals; the exact solver
//	FuzzUsers            sinkhorn.Projector                     Verify in rationals; the exact solver; same bits
//	FuzzKLProject        kl.Project                            the conditions of optimality
//	FuzzHilbert          hilbert.Distance, GibbsDiameter        the definitions, term by term
//	FuzzHistogram        aggregate.NewHistogram, Count          binomial tails in rationals
//	FuzzPartialCounts    aggregate.DecodeCounts, Merge          re-encoding gives the same bytes; sums
//	FuzzEvaluate         aggregate.Evaluate                     exact transport in rationals
//	FuzzLikeliest        estimate.MLE, EM, Interval             the likelihood of other distributions
//	FuzzAnswer           the lines of "wpm solve"               one valid JSON object; same answer twice
//
// Whatever the input, a target also fails on a panic, on NaN beside a nil error, on an error that wraps
// none of the package's sentinels, and on an input that was written to. Work per execution is bounded: sizes
// of a dozen at most.
//
// Targets beside unexported code, in the packages themselves, stand at the end of this file.
//
// Run all of them, a minute each, with ./fuzz/run; with plain go test only the seeds run. Findings are
// kept in testdata/fuzz, and as a row in a table of the package they are about.
//
// In the module of the studies, which fuzz/run runs, too:
//
//	lab/fuzz/FuzzCheckins      the data of gowalla              a second parser; packing; round trip
//	lab/fuzz/FuzzPlaces        its pair of tables               a second parser
//	lab/fuzz/FuzzRatings       the data of movielens            a second parser; round trip
package fuzz

// Targets beside unexported code, in the packages themselves:
//
//	certificate/FuzzDecode     certificate.Decode, Verify       re-encoding gives the same bytes; no claim without proof
//	certificate/FuzzRead       certificate.Read, WithCost       lines and bytes are kept; no cost but the named one
//	policy/FuzzDecode          policy.Decode                    re-encoding gives the same bytes
//	policy/FuzzReport          policy.Report                    re-encoding gives the same bytes
//	policy/private/FuzzRead    private.Read                     a second parser; packed or not
//	policy/private/FuzzNumeral  private.Read                    the grammar as a regular expression, and strconv
//	policy/ledger/FuzzLedger          ledger.Read                sums; what opening the same text says; a payment
//	policy/ledger/FuzzStore           ledger.Account, NewLedger        every draw is covered by the text, however it is torn
//	internal/playground/engine/FuzzAnswer   engine.Answer         an error or finite numbers, and never a panic
//	audit/FuzzCertificates     audit.Certificates               a plain loop over the lines; private kinds tell nothing
//	audit/FuzzInputs           audit.ParseInputs                a search through the policy
//	sphere/codebook/FuzzReport    codebook.Report, Belongs      re-encoding gives the same bytes; the fields one by one
//	sphere/codebook/FuzzDecode    codebook.Decode               re-encoding gives the same bytes; Verify
//	sphere/codebook/FuzzPrivate   codebook.Release on private bytes   a second parser; the law is in the box; never fails
//	cmd/wpm/FuzzOrigin         -geometry and -base of design    what is taken, a policy takes; written out it is the same
//	device/FuzzPolicy          a policy file of a device        a policy that is not verified is not released
//	aggregate/reports/FuzzReports   the reports of "wpm aggregate"   a plain loop over lines; its partial counts come back
//	cost/costio/FuzzReadWeights   costio.ReadWeights           finite, not negative, not all zero; reads back
//	certificate/FuzzObjects    the objects of "wpm certify"       encoding/json
