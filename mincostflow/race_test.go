//go:build race

package mincostflow

// raced: the race detector empties pools at random, so that counts of allocations mean nothing.
const raced = true
