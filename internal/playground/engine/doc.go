// Package engine computes what the playground shows: designs, simulated releases, maps and their proofs. It runs in the
// page, as WebAssembly, and anywhere else.
//
// Serve answers lines of JSON, each a Request, in order. An Engine remembers the last world, people and design, so that
// a slider that moves asks for little. The page splits a picture into steps, each a line, and drops what has become
// stale in between.
//
// Everything drawn is a simulation: streams are seeded, and what is drawn is the index of a place. No report is made.
//
// # Cost
//
// On a grid of 20 x 20 cells in WebAssembly some tens of milliseconds a step, but for Estimate, which takes a second.
package engine
