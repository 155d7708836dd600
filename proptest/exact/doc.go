// Package exact is the second opinion that the laws of proptest compare with: rationals, short loops, no cleverness,
// and nothing shared with what is under test. Costs grow quickly; it is meant for a dozen rows and columns.
package exact
