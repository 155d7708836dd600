// Package private reads what a client keeps to itself: counts over the inputs of a policy. It turns bytes into a
// distribution, and draws an input from it. Package policy calls it after a debit and nowhere else.
//
// # The guarantee
//
// Reading is total: any bytes give a distribution, and whether they were usable. It takes the same steps either way:
// every text of one length takes as many entries, whose counts have as many bytes, and as many allocations. Data that
// are not usable leave a fault, which names a line and never its content, and counts of 1 for every input, with which a
// release works on. A Distribution prints as a fixed text whatever the verb or encoder, so that no log shows it.
//
// Privacy does not rest on what is read. Whatever the distribution, a release draws from a row in the box.
//
// # The format
//
// Lines of a label, a comma and a count, in UTF-8, each of at most 4096 bytes before its end:
//
//	label,count
//	home,12
//	"cinema, the old one",0.5
//
// or, under a header that says so, the same lines after the name of one user:
//
//	user,label,count
//	u17,home,12
//	u17,"cinema, the old one",0.5
//
// The rules:
//
//   - The first line may be a header: label,count or user,label,count as it stands here. A byte order mark
//     before it, empty lines, and a carriage return before a line end are ignored.
//   - A label is an input label of the policy or an alias of one, byte by byte, or the decimal index of an
//     input if inputs have no labels.
//   - A user is 1 to 256 bytes of UTF-8 without control characters, the same on every line.
//   - Label and user may stand in quotation marks, within which a quotation mark is doubled; they must if
//     they have a comma or start with a quotation mark.
//   - A count is a decimal with an optional exponent (12, 0.5, 1e-3), of at most 64 characters, taken as the nearest
//     float64, which is from 0 to 2^53. No sign, no space, no NaN, and no decimal comma: semicolons and tabs separate
//     no fields here, as they do in public tables.
//   - Counts of one label add up. Inputs that are not named have count 0.
//   - Data that start with the bytes 1f 8b are gzip (RFC 1952): one or more complete members with correct checksums,
//     and nothing after the last. The text is the concatenation of the members.
//
// The distribution is the counts divided by their sum, which must not be 0. Anything else makes the data unusable as a
// whole, as does more than MaxBytes of data or of text. A line is never dropped.
//
// # Cost
//
// One pass over the text, in memory for k counts and a line. The time depends on the bytes, and hardly on whether they
// are usable: docs/timing.md has the measurements.
package private
