package codebook

import "errors"

// Errors of this package. ErrPoint and ErrWeights speak of private data: only CheckAtoms and FormatPrivate return them.
var (
	// ErrConfig reports settings out of range; errors of packages sphere, ldp and policy are wrapped beside it.
	ErrConfig = errors.New("codebook: bad configuration")
	// ErrFormat reports bytes that are not the canonical text of a codebook's policy.
	ErrFormat = errors.New("codebook: not a canonical policy file")
	// ErrZero reports a nil or zero Codebook.
	ErrZero = errors.New("codebook: not made by New or Decode")
	// ErrReport reports bytes that are no report, or a report that is not of this codebook.
	ErrReport = errors.New("codebook: bad report")
	// ErrRandom reports that the random source failed; its error is wrapped.
	ErrRandom = errors.New("codebook: no random bits")
	// ErrPoint reports a vector of the wrong length, with an entry that is not finite, or zero.
	ErrPoint = errors.New("codebook: bad point")
	// ErrWeights reports weights that are not a distribution on the atoms, or too many atoms.
	ErrWeights = errors.New("codebook: bad weights")
)
