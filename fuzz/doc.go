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
//	FuzzKnapsack         knapsack.Table                         greedy fill in rationals
//	FuzzProject          mincostflow.Project                    Verify in rationals
//	FuzzTransport        mincostflow.Transport                  VerifyTransport in rationals
//	FuzzKPM              baseline.KPM                           the closed form in rationals
//	FuzzBaseMeasure      basemeasure.Uniform                    Verify in rationals
//	FuzzAnswer           the lines of "wpm solve"               one valid JSON object; same answer twice
//
// Whatever the input, a target also fails on a panic, on NaN beside a nil error, on an error that wraps
// none of the package's sentinels, and on an input that was written to. Work per execution is bounded: sizes
// of a dozen at most.
//
// Run all of them, a minute each, with ./fuzz/run; with plain go test only the seeds run. Findings are
// kept in testdata/fuzz, and as a row in a table of the package they are about.
package fuzz
