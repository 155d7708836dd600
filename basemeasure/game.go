package basemeasure

import "github.com/wpm-go/wpm/knapsack"

// A game is the design problem as a linear program, for costs that are shifted to start at 0 and scaled to end between 1/2
// and 1: neither changes the measures that are best.
// The designer plays m, the adversary cuts (i, eta):
//
//	max  sum lam_c t_c
//	     sum over the cuts of input i of lam_c - mu_i = floor_i      (one row per input)
//	     sum mu_i = share
//	     sum lam_c g_cj - y_j = 0                                    (one row per output)
//	     lam, mu, y >= 0
//
// where the cut (i, eta) has t = eta and g_j = h(C_ij - eta), h(x) = alpha x for x > 0 and beta x otherwise, and two
// more columns bound the mass of m: maxMass (t = -1/alpha, g = 1) and minMass (t = 1/beta, g = -1). The price of
// output j is -m_j, the price of input i its cost in the model, which is at least phi_i(m) at an optimum.
// share is the weight of the worst case in the objective and floor_i that of input i in the average. For the worst
// case alone all floors are zero: all inputs share one bound, and mu_i is just the sum of lam over input i.
type game struct {
	table       *knapsack.Table
	k, kv       int
	alpha, beta float64
	base, unit  float64   // a cost c of the table is (c - base) * unit here; unit is a power of two
	share       float64   // weight of the maximum
	floor       []float64 // weight of each input in the average; nil: zero
	inMax       []bool    // inputs that count in the maximum; nil: all
}

func (g *game) scale(c float64) float64   { return (c - g.base) * g.unit }
func (g *game) unscale(x float64) float64 { return x/g.unit + g.base }

func (g *game) floorOf(i int) float64 {
	if g.floor == nil {
		return 0
	}
	return g.floor[i]
}

func (g *game) counts(i int) bool { return g.inMax == nil || g.inMax[i] }

// The two columns that are not cuts have these numbers instead of an input.
const (
	maxMass = -1 - iota // m may not be heavier than 1/alpha
	minMass             // nor lighter than 1/beta
)

// column is a basic column of the game.
type column struct {
	input    int // or maxMass or minMass
	eta, t   float64
	value    float64   // lam
	g        []float64 // by position, see simplex.perm
	position int       // among simplex.nonkey, or -1 for a key
}
