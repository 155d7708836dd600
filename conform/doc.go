// Package conform runs the test vectors and the laws of this module against a program in any language that speaks the
// lines of docs/spec/conform.md: a JSON object a line in, one a line out, in order.
//
// [Run] starts the program, reads from its first line which kinds it offers, and asks these. For every group of vectors
// and every law it reports how many cases there were, and the smallest one that failed.
//
// # Guarantee
//
// The program under test is not trusted. If it cannot be started, Run returns an error. If it dies, hangs, floods its
// output, prints anything but answers, or answers another line than the one it was asked, the case has failed, and the
// program is started again for the next one. Every run ends: an answer has a time limit, and after some broken
// dialogues the rest of a group, and at last the rest of the run, counts as failed.
//
// Integers, indices and texts are compared exactly. Numbers are compared with exact results, within tolerances that
// docs/spec/conform.md lists.
//
// # Cost
//
// All vectors are about 5,500 lines. Each of about 50 laws has 100 cases of some lines at the level "default". Lines
// are asked one at a time, which takes seconds for a compiled client and a minute for one in Python. Laws run in the
// library rapid, whose settings are global flags: only one Run may be active, and none beside other tests of rapid.
package conform
