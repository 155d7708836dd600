// Package mapping is the study of maps: how far estimators of package estimate are from the truth, over kinds of maps,
// privacy levels and numbers of devices.
//
// # Protocol
//
// Nine maps are made from the seed: five on a grid of 20 x 20 cells (spread, concentrated, several centres, roads, and
// the check-ins of package city), 300 places as irregular as a city's (spread and concentrated), 300 films by genre,
// and a coast, which is a ring. For every eps a policy is designed with the default of wpm.NewDesign; N devices draw an
// input from the truth and release one output by the integers of the policy's rows in mixture mode. What each estimator
// makes of the counts is compared with the truth in W_p of the policy's cost, by exact transport with certified gaps.
// With Data, real check-ins are added: the first 500 users of the Gowalla study with one report each, and all users'
// mean with 5 000 reports.
//
// With Plan, the maps are one of each of 14 kinds, drawn from the seed with their sizes, so that another seed gives
// other maps, each with one number of devices for each eps; and package estimate/plan predicts each case, once with the
// truth as the prior and once without a prior.
//
// All of this is simulation. Equal Config gives equal results at any GOMAXPROCS.
package mapping
