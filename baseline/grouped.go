package baseline

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// GroupKPM is KPM between different items of the same groups, such as films by genre. mu on the items of in is
// collected into groups. There it is projected, as by KPMScaled, onto the box of the uniform base measure of the given
// mass (0 means the mass of KPM itself). The result is spread over the items of out. in and out must have the same
// number of groups. The base measure is out.Spread of the uniform measure.
//
// If mu has so few groups that their upper bounds do not hold all its mass, the other groups share the rest evenly,
// because the divergence does not depend on them. With a single group every item is equally likely, whatever mu is.
//
// Errors: ErrGroup (also if mass has no group to go to, or a group no item), those of KPMScaled.
func GroupKPM(mu []float64, in, out *Groups, eps, mass float64) ([]float64, error) {
	if in.Len() == 0 || in.Len() != out.Len() {
		return nil, fmt.Errorf("%w: %d groups of inputs, %d of outputs", ErrGroup, in.Len(), out.Len())
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	if mass == 0 {
		mass = float64(in.Len()) * KPMBase(in.Len(), eps)
	}
	if !(mass > 0) || math.IsInf(mass, 0) {
		return nil, fmt.Errorf("%w: mass = %v", wpmerr.ErrInfeasible, mass)
	}
	g, err := in.Collect(mu)
	if err != nil {
		return nil, err
	}
	if g, err = KPMScaled(g, eps, mass); err != nil {
		return nil, err
	}
	return out.Spread(g)
}
