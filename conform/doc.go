// Package conform runs the test vectors and the laws of this module against a program in any language that speaks the
// protocol of docs/spec/conform.md: it reads one JSON object per line and answers with one JSON object per line, in
// order.
//
// [Run] starts the program, reads from its first line which kinds it offers, and asks only these. For every group of
// vectors and every law, the report gives the number of cases and the smallest case that failed.
//
// # Guarantee
//
// The program under test is not trusted. If it cannot be started, Run returns an error. If it dies, hangs, floods its
// output, prints anything but answers, or answers a line other than the one it was asked, the case fails, and the
// program is started again for the next case. Every run ends: each answer has a time limit. After several broken
// dialogues the rest of a group counts as failed, and after several more the rest of the run.
//
// Integers, indices and texts are compared exactly. Numbers are compared with exact results, within tolerances that
// docs/spec/conform.md lists.
//
// # Cost
//
// All vectors together have about 5,500 lines. At the level "default", each of about 50 laws has 100 cases of a few
// lines. Lines are asked one at a time, which takes seconds for a compiled client and a minute for a client in Python.
// Laws run in the library rapid, whose settings are global flags: only one Run may be active at a time, and no other
// tests of rapid may run beside it.
package conform
