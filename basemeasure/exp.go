package basemeasure

import "github.com/wpm-go/wpm/internal/num"

// privacy encloses e^(-eps/2), e^(eps/2) and e^eps.
type privacy struct{ alpha, beta, e num.Enclosure }

// newPrivacy halves eps, which is exact but for a subnormal eps, where all three are 1 to 2^-1000.
func newPrivacy(eps float64) privacy {
	return privacy{alpha: num.Exp(-eps / 2), beta: num.Exp(eps / 2), e: num.Exp(eps)}
}
