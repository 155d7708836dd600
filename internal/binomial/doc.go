// Package binomial has the Clopper-Pearson bounds of a probability, from counts, with the care that audits need. They
// are right to eleven digits and on the safe side at counts of 0 and 1, at levels of 1e-300 and at 1e12 trials, where
// library quantiles of the beta distribution fail.
package binomial
