// Package policy defines the published mechanism as a file, and holds the only way by which private data leave a
// device. Counts over points leave through Release. Other private data leave through the release of their own
// mechanism, which is paid through Account: vectors, for instance, through package sphere/codebook.
//
// # The file
//
// A mechanism is an integer box: weights lo_j <= n_j <= hi_j with sum n_j = 2^B and hi_j <= e^ε lo_j. A Policy is such
// a box, with what a client needs to release from it: the numbers k of inputs and kv of outputs, labels, the cost, one
// integer row per input (for the mixture mode), a row for clients without usable data, and the origins of geometry and
// base measure. A policy has exactly one byte string. Encode writes it, Decode accepts nothing else, and its SHA-256 is
// the ID that every report carries.
//
// The text is JSON, with one member per line in a fixed order and no white space except the line ends. A member
// without a value is null; only input_aliases and schedule are left out when there are none. Counts and indices below
// 2^31 are JSON numbers. The weights lo, hi and the amounts in rows are strings of decimal digits, because they reach
// 2^62 and a reader that keeps JSON numbers in doubles would change them silently. This package reads no other numbers,
// and so no NaN, no exponent and no second spelling. Cost and certificate are one compact JSON object each. This
// package bounds and stores them but does not interpret them: they are at most 10,000 levels deep, numbers may have any
// length, and names may repeat. A reader of a cost may require more.
//
//	{
//	"format":"wpm-policy-1",            with a geometry "wpm-policy-2", with a schedule "wpm-policy-3"
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
// The origin of the geometry is "public", and that of the base measure "data-independent". Either may also be
// "derived-dp", which alone has an epsilon, or "unstated". A label has 1 to 256 bytes. The note and the values of the
// metadata have up to 4096 bytes. There are at most 64 keys of metadata, of 1 to 64 bytes each. No such text has a
// control character, and the labels or keys of one list are distinct. A file has at most 64 MiB, 2^20 inputs and 2^20
// outputs. A program that finds another value, member or size refuses the file.
//
// A row starts from lo. Columns in full are raised to hi, and each pair [j,"u"] in extra adds u units to column j. So a
// row takes space only for what it adds to lo, not for all kv columns.
//
// # Version 2: rows by threshold
//
// A policy with a Geometry needs one number for a row. For each input the Geometry orders the outputs, by an integer
// key and then by index. The row is the greedy fill in that order: outputs are raised from lo to hi as far as 2^B goes.
// The number is the threshold: the first output at which sum lo, plus the widths hi - lo of all outputs up to and
// including it, reaches 2^B (the first output of the order if sum lo is 2^B). Outputs before the threshold are at hi,
// outputs after it are at lo, and the threshold takes the rest.
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
// embeddings under the cosine are unit vectors times 2^30, rounded: their squared distances order as the angles do. The
// key of a grid (kind "grid", with its rows and cols) is the distance between cell centres in the unit square, and the
// key of a ring (kind "ring") is the number of steps. Both have as many inputs as outputs, and null for points. A file
// is refused if the keys might reach 2^63: if the sum over the axes of (max - min)^2 and 4 max |x|^2 both do.
//
// Decode checks that the thresholds are outputs. VerifyRows checks that they are the right ones, and reads every pair
// of input and output for this. Privacy needs neither check: whatever the order and the threshold, package ldp has
// checked that the row which is drawn from lies in the box. If the rest does not fit the threshold, the fallback row is
// used.
//
// # Version 3: a schedule
//
// A policy with a Schedule states its rows in either form. After the work limit it has one more member, which says how
// it counts epochs, when it begins and ends, and in how many epochs a client releases once:
//
//	"schedule":{"epochs":"month","first":"2026-01","last":null,"period":12},
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
// Every release is paid from a Ledger, in a file or in a Store that the caller provides. The debit is durable before
// the random words are drawn. A second release of the same policy in the same epoch returns the first report again and
// costs nothing. This package reads no clock: the epoch is the caller's. (The work limit is a timer.)
//
// # What is not covered
//
// The device, the process and its crypto/rand are trusted. In projection mode the running time depends on μ, and on
// whether the private bytes are usable. In both modes the time to parse the private bytes depends on them. An attacker
// who can time the device is out of scope. A ledger file that is deleted, or replaced by an older copy, cannot be told
// from a fresh one. Its hash chain detects accidents and careless edits, but not an owner who recomputes the chain. An
// abandoned solver keeps its goroutine until it returns. On js/wasm, where goroutines are not preempted, a solver that
// never yields cannot be abandoned.
package policy
