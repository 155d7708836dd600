// Package privacy holds the laws of what is released: integer boxes and rows, the two modes of the mechanism, the
// sampler, and the Kullback-Leibler mechanism. Those about privacy compare integers and allow no tolerance. See package
// proptest for how to run them.
package privacy
