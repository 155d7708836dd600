package basemeasure

import (
	"context"

	"github.com/wpm-go/wpm/wpmerr"
)

// prove returns the best proof among that given and those that the answer suggests. If ctx ends it returns what it has,
// with the reason.
func (r *search) prove(ctx context.Context, best proof) (proof, error) {
	d := r.p.dual()
	best = best.better(d.farthest())
	for _, c := range r.candidates() {
		if r.upper-best.lower <= closedGap*r.upper {
			break
		}
		if ctx.Err() != nil {
			return best, wpmerr.Ended(ctx)
		}
		best = best.better(d.shift(ctx, c))
	}
	return best, nil
}

// closedGap is the relative gap at which no further candidate is tried: what rounding leaves open.
const closedGap = 1e-13

// candidates returns the cuts worth shifting, the most promising first.
func (r *search) candidates() []cuts {
	k := len(r.phi)
	worst, _ := r.p.criterion.worst(r.phi)
	equal := func(take func(i int) bool, thresholds []float64) cuts {
		c := cuts{make([]float64, k), thresholds}
		if r.p.criterion.share == 0 {
			return c
		}
		n := 0
		for i := range k {
			if take(i) {
				n++
			}
		}
		for i := range k {
			if take(i) {
				c.weights[i] = 1 / float64(n)
			}
		}
		return c
	}
	counts := func(i int) bool { return r.p.criterion.inMax[i] }
	isActive := func(i int) bool { return r.p.criterion.inMax[i] && r.phi[i] >= worst-worst*activeTol }
	counted, active := 0, 0
	for i := range k {
		if r.p.criterion.inMax[i] {
			counted++
		}
		if isActive(i) {
			active++
		}
	}
	// At the kink of an input's own cost any threshold between two of its costs is optimal; the one that
	// belongs to a vanishing slope is the value of phi itself. On a transitive space it closes the gap.
	list := []cuts{equal(counts, r.phi), equal(counts, r.tau)}
	if active < counted && (active > 1 || r.p.criterion.share < 1) {
		list = append(list, equal(isActive, r.phi), equal(isActive, r.tau))
	}
	return list
}

// activeTol is the relative distance from the worst case at which an input counts as attaining it.
const activeTol = 1e-9
