// Package months is the study of maps month after month: how far they are from the truth when people move, for the ways
// to spend one budget.
//
// A population lives in a made-up city of package towns. Each epoch a share of it moves towards other places. Four ways
// have the same budget for the whole time: everybody reports in every epoch with a part of it; everybody reports once
// and is then silent; each device reports in one epoch, its slot, with all of it; and the same with maps of package
// estimate/series, which use the reports of epochs before. Beside them is the guess, which needs no report.
//
// Counts are drawn from the truth of their epoch: this is a simulation. Distances are W_1, by exact transport.
package months
