package baseline

import (
	"fmt"
	"math"
	"slices"
)

// GroupKPM is KPM between different items of the same groups, films by genre say: mu on the items of in is collected into groups, projected there
// as by KPMScaled onto the box of the uniform base measure of the given mass (0: that of KPM itself), and spread over the items of out. in and out
// must have as many groups.
//
// If mu has so few groups that their upper bounds do not hold all its mass, the other groups share the rest evenly: the divergence does not
// see them. With a single group every item of it is equally likely, whatever mu is.
//
// Errors: ErrGroup (also if mass has no group to go to, or a group no item), those of KPMScaled.
func GroupKPM(mu []float64, in, out *Groups, eps, mass float64) ([]float64, error) {
	mass, err := groupMass(in, out, eps, mass)
	if err != nil {
		return nil, err
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

// GroupKPMMeasure is the base measure of GroupKPM: q lies in [e^(-eps/2) m, e^(eps/2) m] for every mu. Errors as GroupKPM.
func GroupKPMMeasure(in, out *Groups, eps, mass float64) ([]float64, error) {
	mass, err := groupMass(in, out, eps, mass)
	if err != nil {
		return nil, err
	}
	return out.Spread(slices.Repeat([]float64{mass / float64(out.Len())}, out.Len()))
}

// GroupKPMChannel is GroupKPM on the Dirac inputs, one row for each item of in. Errors as GroupKPM.
func GroupKPMChannel(in, out *Groups, eps, mass float64) ([][]float64, error) {
	if in.Len() == 0 {
		return nil, fmt.Errorf("%w: nil groups", ErrGroup)
	}
	return onDiracs(in.items, func(mu []float64) ([]float64, error) { return GroupKPM(mu, in, out, eps, mass) })
}

// groupMass checks what GroupKPM is given, and fills in the mass.
func groupMass(in, out *Groups, eps, mass float64) (float64, error) {
	if in.Len() == 0 || in.Len() != out.Len() {
		return 0, fmt.Errorf("%w: %d groups of inputs, %d of outputs", ErrGroup, in.Len(), out.Len())
	}
	if err := checkEps(eps); err != nil {
		return 0, err
	}
	if mass == 0 {
		mass = float64(in.Len()) * KPMBase(in.Len(), eps)
	}
	if !(mass > 0) || math.IsInf(mass, 0) {
		return 0, fmt.Errorf("%w: mass = %v", ErrInfeasible, mass)
	}
	return mass, nil
}

// onDiracs applies a rule to the k point masses.
func onDiracs(k int, rule func(mu []float64) ([]float64, error)) ([][]float64, error) {
	rows := make([][]float64, k)
	mu := make([]float64, k)
	for i := range rows {
		mu[i] = 1
		q, err := rule(mu)
		if err != nil {
			return nil, fmt.Errorf("point %d: %w", i, err)
		}
		rows[i], mu[i] = q, 0
	}
	return rows, nil
}
