// Package conform runs the test vectors and the laws of this module against a program in any language that speaks the
// lines of docs/spec/conform.md: a JSON object a line in, one a line out, in order.
//
// [Run] starts the program, reads from its first line what it offers, and asks. Of every group of vectors and every law
// it reports how many cases there were and the smallest one that failed. What the program does not offer is not asked.
//
// # Guarantee
//
// The program under test is not trusted. One that cannot be started is an error. One that dies, hangs, floods its
// output, prints something else than answers, or answers another line than the one it was asked, is a failed case with
// the line that it was asked; it is started again for the next. Everything ends: an answer has a time limit, and after
// some broken dialogues the rest of a group, and at last the rest of the run, is given up as failed.
//
// Integers, indices and texts are compared exactly. Numbers are compared with exact results, within tolerances that
// docs/spec/conform.md lists.
//
// # Cost
//
// About 5,000 lines for all vectors, and 100 cases of some lines for each of about 50 laws at the level "default", one at
// a time: seconds for a compiled client, a minute for one in Python. Laws run in the library rapid, whose settings are
// global flags: one Run at a time, and none beside other tests of rapid.
package conform
