package estimate

import (
	"context"
	"math"
	"math/rand/v2"
)

// A Trial is a truth that Map makes up, as what the reports leave open may be, and the map of as many made-up reports of it.
type Trial struct{ Truth, Map []float64 }

// trial makes one where groups stand for places. Draws of the posterior of groups know nothing of what a truth does within
// a group, nor of what a map of groups makes of that: the distance of a Trial has both.
func (f *fit) trial(ctx context.Context, g *Geometry, by groups, a average, draw []float64, l ladder) (*Trial, error) {
	r := rand.New(rand.NewPCG(drawSeed, uint64(len(draw))))
	t := &Trial{Truth: by.detailed(g, a, draw, r)}
	own := *f
	q := make([]float64, len(f.counts))
	f.channel.forward(t.Truth, q)
	own.counts, own.n = make([]float64, len(q)), 0
	for j, v := range q {
		own.counts[j] = poisson(r, v*f.n)
		own.n += own.counts[j]
	}
	own.slack = 1e-9 + own.n*0x1p-50
	em, err := own.rough(ctx)
	if err != nil {
		return nil, err
	}
	own.first = em
	anew, err := own.group(ctx, g, em, len(by.centers))
	if err != nil {
		return nil, err
	}
	fitted, err := own.grouped(ctx, g, em, anew, l, Settings{})
	if err != nil {
		return nil, err
	}
	t.Map = anew.expand(g, f.within, fitted.theta())[0]
	return t, nil
}

// detailed is a draw of groups with what the likeliest model does within each: the logarithm of a place, given that of the
// place in the middle, has so much of the roughness left that the two differ as the kernel says.
func (by groups) detailed(g *Geometry, a average, draw []float64, r *rand.Rand) []float64 {
	best := a.likeliest()%family - 1
	tau, c := roughnesses[best%len(roughnesses)], kernels[best/len(roughnesses)]
	x, row := make([]float64, len(draw)), make([]float64, len(draw))
	for a, places := range by.members() {
		row = g.dist.Row(by.centers[a], row)
		for _, i := range places {
			rho := math.Exp(-row[i] / (c.length * g.unit))
			x[i] = draw[i] * math.Exp(tau*math.Sqrt(1-rho)*r.NormFloat64())
		}
	}
	by.fit(x, by.sum(draw))
	return x
}

// poisson draws a number of that mean; of a large mean, from the normal law.
func poisson(r *rand.Rand, mean float64) (n float64) {
	if mean > 100 {
		return math.Max(math.Round(mean+math.Sqrt(mean)*r.NormFloat64()), 0)
	}
	for left := mean - r.ExpFloat64(); left > 0; left -= r.ExpFloat64() {
		n++
	}
	return n
}
