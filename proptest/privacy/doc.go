// Package privacy holds the laws of releases: integer boxes and rows, the two modes of the mechanism, the sampler, and
// the Kullback-Leibler mechanism. Laws about privacy compare integers and allow no tolerance. See package proptest for
// how to run them.
//
//	interface      what it is                       laws
//	VerifyFunc     the check of an integer box      VerifyLaws
//	NewBox         an integer box and its rounding  BoxLaws
//	NewMechanism   integer weights for an input     MechanismLaws, CheckLDP
//	NewChannel     the rows of the mixture mode     ChannelLaws
//	NewSampler     a draw from integer weights      SamplerLaws
//	KPM            the Kullback-Leibler mechanism   KPMLaws
//	LocalSampler   a rival with public data         LocalLaws
//	LinearSampler  a linear rival with public data  LinearLaws
//	Disk           a rival on a grid                DiskLaws
//	Oracle         a frequency oracle               OracleLaws
package privacy
