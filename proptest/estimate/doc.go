// Package estimate holds the laws of what estimates a map from counts of releases: the likeliest map, the interval of a
// region's share, and the releases as they are. See package proptest for how to run them.
package estimate
