package basemeasure

import "github.com/wpm-go/wpm/knapsack"

// A game is the design problem as a linear program, for costs that are shifted to start at 0 and scaled to end between
// 1/2 and 1: neither changes the measures that are best. The designer plays m, the adversary cuts (i, eta). The cuts of
// the maximum share one bound, and each input with a weight floor_i in the average has a bound of its own:
//
//	max  sum lam_c t_c
//	     sum over the cuts of a bound of lam_c = share, or floor_i   (one row per bound)
//	     sum lam_c g_cj - y_j = 0                                    (one row per output)
//	     lam, y >= 0
//
// where the cut (i, eta) has t = eta and g_j = h(C_ij - eta), h(x) = alpha x for x > 0 and beta x otherwise. Two more
// columns, without a bound, keep the mass of m at most 1/alpha (t = -1/alpha, g = 1) and at least 1/beta (t = 1/beta,
// g = -1). The price of output j is -m_j, that of a bound the cost in the model of its input, or of its worst one.
type game struct {
	table       *knapsack.Table
	k, kv       int
	alpha, beta float64
	base, unit  float64 // a cost c of the table is (c - base) * unit here; unit is a power of two
	top         float64 // larger costs count as this
	aim         aim
}

func (g *game) scale(c float64) float64   { return (c - g.base) * g.unit }
func (g *game) unscale(x float64) float64 { return x/g.unit + g.base }

// column is a column of the game.
type column struct {
	input  int // of a cut; maxMass or minMass
	bound  int // its row among simplex.bounds, or noBound
	eta, t float64
	value  float64   // lam
	g      []float64 // by position, see simplex.perm
}

const (
	maxMass = -1 - iota // m may not be heavier than 1/alpha
	minMass             // nor lighter than 1/beta

	noBound = -1
)
