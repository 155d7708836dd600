// Package privacy holds the laws of releases: integer boxes and rows, the two modes of the mechanism, the sampler, and
// the Kullback-Leibler mechanism. Laws about privacy compare integers and allow no tolerance. See package proptest for
// how to run them.
package privacy
