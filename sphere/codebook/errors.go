package codebook

import "errors"

// Errors of this package. ErrPoint and ErrWeights speak of private data: only CheckPoint and CheckAtoms return them.
var (
	// ErrConfig reports settings out of range; errors of packages sphere and ldp are wrapped beside it.
	ErrConfig = errors.New("codebook: bad configuration")
	// ErrZero reports a nil or zero Codebook.
	ErrZero = errors.New("codebook: not made by New")
	// ErrReport reports bytes that are no report, or a report that is not of this codebook.
	ErrReport = errors.New("codebook: bad report")
	// ErrRandom reports that the random source failed; its error is wrapped.
	ErrRandom = errors.New("codebook: no random bits")
	// ErrPoint reports a vector of the wrong length, with an entry that is not finite, or zero.
	ErrPoint = errors.New("codebook: bad point")
	// ErrWeights reports weights that are not a distribution on the atoms, or too many atoms.
	ErrWeights = errors.New("codebook: bad weights")
)
