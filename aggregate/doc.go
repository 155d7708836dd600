// Package aggregate turns the releases of many clients into a histogram, and says how far the histogram may be from the
// truth.
//
// # The problem
//
// N clients with private distributions mu_1, ..., mu_N over k points each release one of kv points, client u from q_u.
// The server counts: N_j releases of point j. Three things lie between the counts and the truth, the mean of the mu_u:
//
//	sampling   N_j/N is a random number with mean qbar_j, qbar the mean of the q_u
//	bias       qbar is not the mean of the mu_u: privacy moved mass
//	the rest   clients who did not answer, and reports sent twice: not visible here
//
// [NewHistogram] deals with the first: simultaneous confidence bands for qbar, valid whatever the q_u are, at any N.
// The second is bounded: by convexity of W_p^p,
//
//	W_p^p(qbar, mean of mu_u)  <=  mean of W_p^p(q_u, mu_u)  <=  f
//
// where f is the worst case that the policy certifies. The bands do not cover this bias, and more clients do not make
// it smaller.
//
// # From reports to counts
//
// A [Counter] counts reports one by one. It also counts the lines that are not reports of the policy, by reason.
// [Counts] hold the result, in O(kv) memory. They have a text format of their own (wpm-counts-1, see Counts.Encode), so
// that parts can be counted apart and added up by [Merge].
//
// A report is the ID of a policy and the index of an output, and nothing else: two clients who draw the same output
// send the same bytes. So a report that is sent twice cannot be detected here, nor in any later step. The layer that
// receives reports must refuse the second report of a client in an epoch. That layer knows the sender (by an account,
// or by a token that is spent once), and must not store the sender beside the report.
//
// # Post-processing
//
// If the releases are drawn from a known channel, qbar = mubar P with rows P_i, then the bias can be undone in part. In
// mixture mode this holds whatever the mu_u are; in projection mode it holds only if every mu_u is a point mass.
// Package estimate undoes the bias. It works on the releases alone, so it costs no privacy.
//
// # A truth to compare with
//
// [Evaluate] measures a histogram against a given distribution: W_p by exact transport with both bounds, and total
// variation.
//
// # Cost
//
// A Counter takes some tens of nanoseconds for each report. NewHistogram computes O(kv) bounds, at some microseconds
// each. Evaluate solves one transport problem.
package aggregate
