// Package country is the study of a policy of many places on a map like that of a real country: 20,000 towns and
// villages, whose inhabitants follow Zipf's law, in clusters around cities and along the roads between them, with
// great-circle distances.
//
// For each eps the mechanism is designed, published, read again, and verified with the order of its rows. Then 1,000
// devices release one place each. The truth is the mean of the distributions of the devices. Four maps are compared
// with it in W_1, in km: the releases as they are counted; two guesses without any release, all places alike and places
// by their public number of inhabitants; and a place from each device without privacy, which is the error of sampling
// alone.
//
// This is a simulation. The country, the devices and the releases come from a seeded generator, and no ledger is paid.
// Equal Config give equal results, except for the times, which are those of the wall. With the defaults the study takes
// about a minute on two cores.
package country
