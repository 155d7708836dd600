package shuffle

import (
	"fmt"
	"math"
)

// Guarantee is an eps' with what proves it: see Verify.
type Guarantee struct {
	// Epsilon is eps': whatever one client's data are replaced by, the chance of no event grows by more than the factor
	// e^eps' and delta. It is the eps of the reports where nothing smaller is proved.
	Epsilon float64
	// Edges are numbers of blanket draws among the other clients, ascending: from one edge to below the next, the number
	// counts as the edge. Below the first, everything counts as known.
	Edges []int
}

// Solve returns the smallest eps' for p.Delta, to a relative 1e-4, that its edges prove. Errors: ErrProblem.
func Solve(p Problem) (Guarantee, error) {
	if err := p.validate(); err != nil {
		return Guarantee{}, err
	}
	edges := newEdges(p)
	low, high := 0.0, p.Epsilon // and high is always proved
	for high-low > 0x1p-13*high {
		mid := (low + high) / 2
		if bound(p, mid, edges) <= p.Delta {
			high = mid
		} else {
			low = mid
		}
		if mid < 0x1p-40 {
			break
		}
	}
	return Guarantee{Epsilon: high, Edges: edges}, nil
}

// manyEdges is how many edges there are at most.
const manyEdges = 64

// newEdges covers the likely numbers of blanket draws with edges at equal steps. Below the first is less than
// delta/10^4 (Chernoff).
func newEdges(p Problem) []int {
	gamma, _ := p.Blanket.Float64()
	n := p.Clients - 1
	mean := float64(n) * gamma
	far := math.Sqrt(2 * mean * (math.Log(1e4) - math.Log(p.Delta))) // of any delta, however small
	first, last := max(0, int(mean-far)), min(n, int(mean+far*2/3)+1)
	step := max(1, (last-first+manyEdges)/manyEdges)
	var edges []int
	for m := first; m <= last; m += step {
		edges = append(edges, m)
	}
	return edges
}

// Verify decides whether the reports are (g.Epsilon, p.Delta)-DP: nil if so. Errors: ErrProblem, ErrEvidence, ErrDelta.
func (g Guarantee) Verify(p Problem) error {
	delta, err := g.Delta(p)
	if err == nil && !(delta <= p.Delta) {
		err = fmt.Errorf("%w: %v at eps' %v, want %v", ErrDelta, delta, g.Epsilon, p.Delta)
	}
	return err
}

// maxEdges bounds the time of Verify.
const maxEdges = 1 << 10

// Delta returns the delta that g proves at g.Epsilon; p.Delta does not enter. It is sums of floats, and every rounding
// makes it larger. Errors: ErrProblem, ErrEvidence.
func (g Guarantee) Delta(p Problem) (float64, error) {
	if err := p.validate(); err != nil {
		return 0, err
	}
	if !(g.Epsilon >= 0) || math.IsInf(g.Epsilon, 0) {
		return 0, fmt.Errorf("%w: eps' is %v", ErrEvidence, g.Epsilon)
	}
	if len(g.Edges) == 0 || len(g.Edges) > maxEdges {
		return 0, fmt.Errorf("%w: %d edges, want 1 to %d", ErrEvidence, len(g.Edges), maxEdges)
	}
	last := -1
	for i, m := range g.Edges {
		if m <= last || m >= p.Clients {
			return 0, fmt.Errorf("%w: edge %d is %d, want them ascending and below %d", ErrEvidence, i, m, p.Clients)
		}
		last = m
	}
	if g.Epsilon >= p.Epsilon {
		return 0, nil // each report alone is as private
	}
	return bound(p, g.Epsilon, g.Edges), nil
}
