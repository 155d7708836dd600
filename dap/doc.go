// Package dap sums reports under secret sharing, so that no server sees one of them.
//
// # The problem
//
// A report of wpm is one output of a policy. Two servers, the leader and the helper, shall learn how often each output
// occurs and nothing else, unless they collude; and a client that sends anything but one output shall be refused,
// though nobody sees what it sends.
//
// # The method
//
// Prio3Histogram, a verifiable distributed aggregation function (VDAF): the client cuts the indicator of its output into two
// shares that add up to it in a prime field, each of which is random alone, and proves in shares that it is an
// indicator. The servers check the proof by one exchange and add up their shares. The code is Cloudflare's CIRCL
// (vdaf/prio3/histogram); this package turns a policy into its parameters ([NewTask]), a report into an upload
// ([Task.Shard]), and the result into partial counts that wpm aggregate reads ([Task.Counts]).
//
// # The guarantee
//
// Each report is eps-LDP by itself, whatever the servers do. While they do not collude, what is seen is the sum, and package
// shuffle says what that is worth. Shares are drawn from an existing report, which has been paid for in a ledger: so after
// the debit, and nothing in them but the report depends on private data.
//
// Refused uploads are counted as malformed. Which client sends, and how often, is for the servers to control: an upload
// with a nonce that was there before is refused.
//
// # Cost
//
// For k outputs an upload has some 16 (k + 7 sqrt(k)) bytes, and takes k log k operations of the client and of each
// server. BenchmarkUpload measures both.
//
// # Sources
//
// draft-irtf-cfrg-vdaf (Prio3Histogram), draft-ietf-ppm-dap; Corrigan-Gibbs and Boneh, Prio (NSDI 2017); Boneh, Boyle,
// Corrigan-Gibbs, Gilboa and Ishai (CRYPTO 2019).
package dap
