// Package country is the study of a policy of many places on a map like that of a real country: 20,000 towns and
// villages, whose inhabitants follow Zipf's law, in clusters around cities and along the roads between them, with
// great-circle distances.
//
// For each eps the mechanism is designed, published, read again, verified with the order of its rows, and 1,000 devices
// release one place each. What comes of it is compared in W_1, in km, with the mean of the devices' distributions (the
// truth): the map of the releases as they are counted, and two guesses without any release: all places alike, and places by
// their public number of inhabitants. A place from each device without privacy says what sampling alone costs.
//
// This is a simulation: the country, the devices and the releases come from a seeded generator, and no ledger is paid.
// Equal Config give equal results but for the times, which are those of the wall. Cost: about a minute on two cores with
// the defaults.
package country
