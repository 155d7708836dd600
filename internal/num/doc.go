// Package num holds the few numerical kernels that several solvers share: sums that keep their
// digits, exact rational sums of floats, outward rounding of a rational,
// bounds on e^x, and log-sum-exp.
//
// # Guarantees
//
// u = 2^-53 is the unit roundoff and γ_n = n·u/(1 - n·u). All bounds hold for finite inputs.
//
//	Sum         |s - Σx|    <= u·|Σx| + γ_n²·Σ|x|
//	Dot         |s - Σxy|   <= u·|Σxy| + γ_n²·Σ|xy| + 5n·2^-1075
//	LogSumExp   |s - log Σ| <= (n + log n + 4)·u + 2u·|log Σ| + 2u·|log(Σ)-max|
//	Acc, Columns, SumRat, DotRat, Rat   exact
//	Down, Up    exact: the neighbouring float on the stated side
//	Exp         encloses e^x, |x| <= 700, between floats at most two apart
//	ExpFixed    encloses e^x between integers in units of 2^-bits
//
// Only +, -, *, /, fused multiply-add and integer operations are used, so every function gives the
// same bits on every platform, except LogSumExp: math.Exp and math.Log1p may differ in the last bit
// from one processor to the next.
//
// # Cost
//
// Every float kernel is one pass. The exact ones add each number into a fixed array of about 140
// machine words (an accumulator that covers every exponent a product of two floats can have), so
// that 10^5 numbers of any magnitudes cost 10^5 short additions and one conversion, and no
// rational arithmetic with growing denominators.
//
// # What is not here
//
// There is no parallel sum, and no matrix kernel: gonum has those. The functions trust their
// callers about lengths (Dot and DotRat panic on a mismatch); solvers validate at their own door.
package num
