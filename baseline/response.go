package baseline

import "math"

// RandomizedResponse returns the output distribution of k-ary randomised response on a draw from mu:
// q_j = (1 + (e^eps - 1) mu_j)/(e^eps + k - 1), for k = len(mu). It releases the same as KPM on Dirac inputs,
// and more noise on all others. Every q_j is at least 1/(e^eps + k - 1). Errors as KPM.
func RandomizedResponse(mu []float64, eps float64) ([]float64, error) {
	k := len(mu)
	sum, err := checkDistribution("mu", mu, k)
	if err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	a, kappa := floor(k, eps), math.Expm1(eps)
	q := make([]float64, k)
	for j, x := range mu {
		q[j] = max((1+kappa*(x/sum))/(kappa+float64(k)), a)
	}
	return q, nil
}

// RandomizedResponseMeasure returns the base measure of randomised response on k points, which is that of KPM. Errors:
// those of KPMMeasure.
func RandomizedResponseMeasure(k int, eps float64) ([]float64, error) { return KPMMeasure(k, eps) }

// RandomizedResponseChannel returns randomised response on the k Dirac inputs, which is KPMChannel. Errors: those of
// KPMChannel.
func RandomizedResponseChannel(k int, eps float64) ([][]float64, error) { return KPMChannel(k, eps) }
