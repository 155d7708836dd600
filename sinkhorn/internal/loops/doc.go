// Package loops holds the loops of method Fast over rows of a matrix: products, minima, exponentials, and how a matrix
// is cut into chunks for several threads. It knows nothing of problems.
package loops
