// Package design holds the laws of mechanism design: the cost of a point mass, base measures, mirror descent with its
// projection, and the base measure on the sphere. See package proptest for how to run them.
package design
