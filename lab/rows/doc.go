// Package rows is the study of rows for a map: how far the map of package estimate is from the truth for the default
// design, the best disc (objective map), and the list of codes and discs of package channel, on made-up cities.
//
// The cities are grids, clumps, a line, places on the globe and films (sets of genres, with cosine costs), each with one
// truth. Counts are drawn from the truth: this is a simulation. Equal runs of a city have the same generator for every
// design. Distances are W_1, by exact transport.
//
// With 3 runs of each cell the study takes some two minutes on two cores.
package rows
