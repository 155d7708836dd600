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

// candidates returns the cuts worth shifting, the most promising first: of all inputs that count, and of those that
// attain the worst case. Weights are relative.
func (r *search) candidates() []cuts {
	obj := r.p.criterion
	worst, _ := obj.worst(r.phi)
	all, active := make([]float64, len(r.phi)), make([]float64, len(r.phi))
	idle, some := 0, 0
	for i, phi := range r.phi {
		switch {
		case !obj.inMax[i] || obj.share == 0:
		case phi >= worst-worst*activeTol:
			all[i], active[i] = 1, 1
			some++
		default:
			all[i] = 1
			idle++
		}
	}
	// At the kink of an input's own cost any threshold between two of its costs is optimal; the one that
	// belongs to a vanishing slope is the value of phi itself. On a transitive space it closes the gap.
	list := []cuts{{all, r.phi}, {all, r.tau}}
	if idle > 0 && (some > 1 || obj.share < 1) {
		list = append(list, cuts{active, r.phi}, cuts{active, r.tau})
	}
	return list
}

// activeTol is the relative distance from the worst case at which an input counts as attaining it.
const activeTol = 1e-9
