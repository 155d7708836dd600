// Package estimate holds the laws of estimators of a map from counts of releases: the maximum likelihood map, the
// interval of a region's share, and the releases as they are. See package proptest for how to run them.
package estimate
