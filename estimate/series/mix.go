package series

import (
	"math"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
)

// mix is the reports of an epoch and of those before it, weighted by age.
type mix struct {
	at    int     // the epoch
	scale float64 // of all weights
	worth float64 // the sum of the counts
	parts []part  // by policy, that of the epoch first
	// before is the weight of older reports, without the scale, and how many equal ones are worth as much.
	before struct{ weight, worth float64 }
}

// part is the counts of one policy.
type part struct {
	world  atlas.World
	counts []float64
}

// mix weights the reports up to epoch t by rate^age.
func (w *walk) mix(t int, rate float64) mix {
	m := mix{at: t}
	sum, squares := 0.0, 0.0
	for s := t; s >= 0; s-- {
		e := w.epochs[s]
		weight := math.Pow(rate, float64(w.epochs[t].Number-e.Number)) // 0^0 is 1
		if weight == 0 {
			break
		}
		n := float64(e.reports())
		if s < t {
			m.before.weight += weight * n
			m.before.worth += weight * weight * n // of which the square is divided below
		}
		sum, squares = sum+weight*n, squares+weight*weight*n
		into := m.of(e.World)
		for j, c := range e.Counts {
			into[j] += weight * float64(c)
		}
	}
	if m.before.worth > 0 {
		m.before.worth = m.before.weight * m.before.weight / m.before.worth
	}
	m.worth = sum * sum / squares
	m.scale = m.worth / sum
	for _, p := range m.parts {
		for j := range p.counts {
			p.counts[j] *= m.scale
		}
	}
	return m
}

// of returns the counts of a policy, new ones if there are none.
func (m *mix) of(world atlas.World) []float64 {
	for _, p := range m.parts {
		if p.world.Channel == world.Channel {
			return p.counts
		}
	}
	_, kv := world.Channel.Dims()
	m.parts = append(m.parts, part{world, make([]float64, kv)})
	return m.parts[len(m.parts)-1].counts
}

// joined returns one world and its counts.
func (m mix) joined() (atlas.World, []float64, error) {
	world := m.parts[0].world
	if len(m.parts) == 1 {
		return world, m.parts[0].counts, nil
	}
	var channels []*estimate.Channel
	var weights, counts []float64
	for _, p := range m.parts {
		n := 0.0
		for _, c := range p.counts {
			n += c
		}
		channels, weights, counts = append(channels, p.world.Channel), append(weights, n), append(counts, p.counts...)
	}
	var err error
	world.Channel, err = estimate.Join(channels, weights)
	world.Same, world.Codes = false, true // the outputs are no places
	return world, counts, err
}
