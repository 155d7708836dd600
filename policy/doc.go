// Package policy defines the published mechanism as a file, and holds the only way by which private data leave a
// device. Counts over points leave through Release. Other private data leave through the release of their own
// mechanism: vectors, for instance, through package sphere/codebook. Both are paid by ledger.Account.
//
// # The file
//
// A mechanism is an integer box: weights lo_j <= n_j <= hi_j with sum n_j = 2^B and hi_j <= e^ε lo_j. A Policy is such
// a box, with what a client needs to release from it: the numbers k of inputs and kv of outputs, labels, the cost, one
// integer row per input (for the mixture mode), a row for clients without usable data, and the origins of geometry and
// base measure. A policy has exactly one byte string. Encode writes it, Decode accepts nothing else, and its SHA-256 is
// the ID that every report carries. docs/spec/policy.md has every member, its limits and the versions of the file. This
// package bounds cost and certificate, and stores them, but does not interpret them.
//
// # Rows
//
// A row of version 1 lists what it adds to lo. In version 2 a Geometry orders the outputs for each input, and a row is
// one number: the threshold at which the greedy fill in that order ends. Version 3 adds, to either form, a Schedule, or
// in place of rows a list of codes and discs. Decode checks that thresholds are outputs; VerifyRows checks that they are
// the right ones, and reads every pair of input and output. Privacy needs neither check: whatever the order and the
// threshold, package ldp has checked that the row which is drawn from lies in the box.
//
// # The release
//
// Release draws one output, in one of two modes. Mixture draws i from the client's distribution μ and then an output
// from the published row i. It needs no solver and is minimax optimal. Projection calls a solver for μ and rounds its
// answer into the box. Both modes sample weights that package ldp has checked against the box. So the law of every
// release lies in the box, whatever the private data, the solver or the draw of i, and e^ε bounds the ratio of any two
// such laws.
//
// Release is total. Private bytes that do not parse, or hold no mass, give the public fallback row, in mixture mode by
// the same work. Nothing reads the private bytes before the debit; after the debit, one pass over them keeps k counts
// and a line. A solver that fails, panics, returns garbage or does not return costs utility: the client then uses the
// mixture rows, or the fallback row if there are none. Neither an error nor the length of a report depends on private
// bytes: errors come only from the arguments, the ledger and the random source.
//
// Symbols: k inputs, kv outputs, B bits, μ the private distribution, ε the privacy level.
//
// # Cost
//
// Decode and Encode are linear in the file. Verify takes O(kv), and O(kv) more for each row of version 1. A release in
// mixture mode takes O(k + kv + total length of all rows + bytes of private text): it reads every row, so that its
// memory accesses do not reveal the row it used. In version 2 a release takes O((k + kv) axes + bytes of private text):
// one pass over the inputs and three over the outputs. Projection mode adds the time of the solver.
//
// # Randomness, time, the ledger
//
// The random words come from crypto/rand; their number depends on the policy alone. No seed and no reader
// can be supplied. Simulations use ldp.Weights.Sample with a reader of their own.
//
// Every release is paid from a ledger.Ledger, in a file or in a Store that the caller provides. The debit is durable
// before the random words are drawn. A second release of the same policy in the same epoch returns the first report
// again and costs nothing. This package reads no clock: the epoch is the caller's. (The work limit is a timer.)
//
// # What is not covered
//
// The device, the process and its crypto/rand are trusted. In projection mode the running time depends on μ, and on
// whether the private bytes are usable. In both modes the time to parse the private bytes depends on them. An attacker
// who can time the device is out of scope. Package ledger says what its text does not cover. An abandoned solver keeps
// its goroutine until it returns. On js/wasm, where goroutines are not preempted, a solver that never yields cannot be
// abandoned.
package policy
