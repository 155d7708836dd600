// Package mapping is the study of maps: how far the estimators of package estimate are from the truth, for kinds of
// maps, privacy levels and numbers of devices.
//
// # Protocol
//
// Nine maps are made from the seed: five on a grid of 20 x 20 cells (spread, concentrated, several centres, roads, and
// the check-ins of package city), 300 places as irregular as a city's (spread and concentrated), 300 films by genre,
// and a coast, which is a ring. For every eps a policy is designed with the default of wpm.NewDesign. Each of N devices
// draws an input from the truth and releases one output, by the integers of the policy's rows in mixture mode. The map
// of each estimator is compared with the truth in W_p of the policy's cost, by exact transport with certified gaps.
// With Data, real check-ins are added: the first 500 users of the Gowalla study with one report each, and the mean of
// all users with 5,000 reports.
//
// With Plan, the maps are one of each of 14 kinds. They are drawn from the seed with their sizes, so that another seed
// gives other maps. Each has one number of devices for each eps. Package estimate/plan predicts each case, once with
// the truth as the prior and once without a prior.
//
// All of this is simulation. Equal Config give equal results at any GOMAXPROCS.
package mapping
