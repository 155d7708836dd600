// Package exact is the second opinion that the laws of proptest compare with. It uses rationals and short, simple
// loops, and shares nothing with the code under test. Its running time grows quickly; it is meant for a dozen rows and
// columns.
package exact
