// Package policy is the published mechanism as a file, and the only way by which private data leave a device:
// counts over points through Release, and what another kind of mechanism takes through its own release, which
// Account pays for (package sphere/codebook: vectors).
//
// # The file
//
// A mechanism is an integer box: weights lo_j <= n_j <= hi_j with sum n_j = 2^B and hi_j <= e^ε lo_j. A
// Policy is that box with what a client needs to release from it: the number k of inputs and kv of
// outputs, labels, the cost, one integer row per input (for the mixture mode), a row for clients without
// usable data, and where geometry and base measure come from. It has exactly one byte string: Encode
// writes it, Decode accepts nothing else, and its SHA-256 is the ID that every report carries.
//
// The text is JSON, one member per line in a fixed order, with no white space but those line ends; every
// member is always there, null when absent, but for input_aliases, which is left out when there are none. Counts and
// indices below 2^31 are JSON numbers. The weights lo, hi and the amounts in rows are strings of decimal digits,
// because they reach 2^62 and a reader that keeps JSON numbers in doubles would change them silently. There is no other
// number in what this package reads, hence no NaN, no exponent and no second spelling. Cost and certificate are one
// compact JSON object each, which this package bounds and stores but does not interpret: at most 10,000 levels deep,
// with numbers of any length, and with names that may repeat. Who reads a cost may ask for more.
//
//	{
//	"format":"wpm-policy-1",            with a geometry "wpm-policy-2"
//	"epsilon":"0.5",                    exact, as ldp.Epsilon prints it
//	"bits":62,
//	"mode":"mixture",                   or "projection"
//	"work_limit_ms":0,                  projection: when the solver is abandoned
//	"inputs":3,
//	"outputs":2,
//	"provenance":{...},                 two origins with their epsilons or null, and a note
//	"metadata":{"title":"..."},         keys in byte order
//	"certificate":null,
//	"cost":{"kind":"explicit",...},
//	"input_labels":["a","b","c"],
//	"output_labels":null,               absent: the index in decimal
//	"input_aliases":[[2,"ç"]],          other spellings in private data, by input and bytes; left out when there are none
//	"lo":["...","..."],
//	"hi":["...","..."],
//	"fallback":{"full":[0],"extra":[[1,"17"]]},
//	"rows":[
//	{"full":[0],"extra":[]},
//	...
//	]
//	}
//
// An origin is "public" (of the geometry), "data-independent" (of the base measure), or either of "derived-dp", which
// alone has an epsilon, and "unstated". Labels have 1 to 256 bytes, the note and values of the metadata up to 4096,
// keys 1 to 64, of which there are at most 64; none has a control character, and those of one list are distinct. A file
// has at most 64 MiB, and 2^20 inputs and outputs. A program that finds another value, member or size refuses the file.
//
// A row starts from lo; columns in full are raised to hi, each pair [j,"u"] in extra adds u units to column
// j. So a row takes space for what it adds to lo, not for all kv columns.
//
// # Version 2: rows by threshold
//
// A policy with a Geometry needs one number for a row. For each input it puts the outputs in an order, by an integer
// key and then by index, and the row is the greedy fill in that order: outputs are raised from lo to hi as far as 2^B
// goes. The number is the threshold: the first output at which sum lo and the widths hi - lo up to and with it reach
// 2^B (the first of the order if sum lo is 2^B). What comes before it is at hi, what comes after it at lo, and it takes
// the rest.
//
// The file has other members in place of rows, and a bound that is the same for all outputs is one string:
//
//	"format":"wpm-policy-2",
//	...
//	"lo":"932376321048097057",
//	"hi":["...","..."],
//	"fallback":{...},
//	"geometry":{"kind":"points","axes":2,"rows":0,"cols":0},
//	"input_points":null,                coordinates, vector by vector; null: the inputs are the outputs
//	"output_points":[1,0,0,-1],
//	"thresholds":[0,1]
//	}
//
// The key of points is the squared Euclidean distance, with coordinates from -2^31 to 2^31 - 1. Places on a sphere and
// embeddings under the cosine are unit vectors times 2^30, rounded: their squared distances order as the angles do. A
// grid (kind "grid", its rows and cols) has as its key the distance of cell centres in the unit square, a ring (kind
// "ring") the number of steps; both have as many inputs as outputs, and null for points. A file is refused if the keys
// might reach 2^63: if the sum over the axes of (max - min)^2 and 4 max |x|^2 both do.
//
// Decode checks that the thresholds are outputs, and VerifyRows that they are the right ones, which takes a look at
// every pair. Privacy needs neither: whatever the order and the threshold, the row that is drawn from is one that ldp
// has found in the box, and if the rest does not fit the threshold, it is the fallback row.
//
// # The release
//
// Release draws one output, in one of two modes. Mixture draws i from the client's distribution μ and then
// an output from the published row i: no solver, minimax optimal. Projection calls a solver for μ and
// rounds what it returns into the box. Both sample weights that package ldp has checked against the box,
// so the law of every release lies in the box whatever the private data, the solver or the draw of i were,
// and e^ε bounds the ratio of any two of them.
//
// Release is total. Private bytes that do not parse, or hold no mass, give the public fallback row, in mixture
// mode by the same work. Nothing looks into them before the debit; after it, one pass keeps k counts and a line.
// A solver that fails, panics, returns garbage or does not return costs utility: the client then uses the
// mixture rows, or the fallback row if there are none. An error, and the length of a report, never depends
// on private bytes: errors come from the arguments, the ledger and the random source only.
//
// Symbols: k inputs, kv outputs, B bits, μ the private distribution, ε the privacy level.
//
// # Cost
//
// Decode and Encode are linear in the file. Verify is O(kv) and O(kv) more for each row of version 1. A release in
// mixture mode is O(k + kv + total length of all rows + bytes of private text): it reads every row, so that
// the memory it touches does not tell which one it used. In version 2 it is O((k + kv) axes + bytes of private text):
// one pass over the inputs and three over the outputs. The projection mode adds the solver.
//
// # Randomness, time, the ledger
//
// The random words come from crypto/rand; their number depends on the policy alone. No seed and no reader
// can be supplied. Simulations use ldp.Weights.Sample with a reader of their own.
//
// Every release is paid from a Ledger, in a file or in a Store of the caller's: the debit is durable before the random
// words are drawn. A second release of the same policy in the same epoch returns the first report again and costs
// nothing. This package reads no clock: the epoch is the caller's. (The work limit is a timer.)
//
// # What is not covered
//
// The device, the process and its crypto/rand are trusted. In projection mode the running time depends
// on μ, and on whether the private bytes are usable; in both modes the time to parse them depends on them: an
// attacker who can time the device is out of scope. A ledger file that is deleted, or replaced by an older copy of
// itself, cannot be told from a fresh one. Its hash chain finds accidents and careless edits, not an owner who
// recomputes it. A solver that is abandoned keeps its goroutine until it returns; on js/wasm, where goroutines are not
// preempted, a solver that never yields cannot be abandoned.
package policy
