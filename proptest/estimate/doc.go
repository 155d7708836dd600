// Package estimate holds the laws of estimators of a map from counts of releases: the maximum likelihood map, the
// interval of a region's share, and the releases as they are. See package proptest for how to run them.
//
//	interface  what it is                        laws
//	Likeliest  a map of maximum likelihood       LikeliestLaws
//	Interval   the interval of a region's share  IntervalLaws
//	Raw        releases as shares                RawLaws
package estimate
