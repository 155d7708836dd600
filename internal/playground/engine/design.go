package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/shuffle"
)

// DesignAnswer is what the visitor's device might release. Distances are in units.
type DesignAnswer struct {
	Worst float64 `json:"worst"` // proved: nobody's cloud is farther from the places it is of
	Lower float64 `json:"lower"` // proved: no mechanism with this eps has a smaller worst case

	// Of Me, if there is one.
	Cloud []float64 `json:"cloud,omitempty"` // chance of each place
	W1    float64   `json:"w1,omitempty"`    // of the cloud
	// of the closest cloud in the box, which a device with a solver draws from
	Closest float64 `json:"closest,omitempty"`
}

// ProofAnswer is what the page has made, read back and checked.
type ProofAnswer struct {
	Worst  float64 `json:"worst"`  // in units: of what is published, to the integer
	Lower  float64 `json:"lower"`  // in units
	Bytes  int     `json:"bytes"`  // of the policy
	Column int     `json:"column"` // with the largest quotient of bounds
	High   string  `json:"high"`   // its bounds, integers
	Low    string  `json:"low"`
	Ratio  string  `json:"ratio"` // High / Low, rounded up
	Bound  string  `json:"bound"` // e^eps, rounded down
	Bits   int     `json:"bits"`
}

// BrokenAnswer is the refusal of a box.
type BrokenAnswer struct {
	Column  int    `json:"column"`
	High    string `json:"high"`
	Refusal string `json:"refusal"`
}

// design is a mechanism of the uniform base measure at one eps.
type design struct {
	world  *world
	eps    ldp.Epsilon
	base   basemeasure.Result
	box    *ldp.Polytope
	lo, hi []float64
	rows   []ldp.Weights // made when they are asked for
	known  []bool
	proof  *ProofAnswer
}

func (w *world) design(ctx context.Context, eps ldp.Epsilon) (*design, error) {
	d := &design{world: w, eps: eps}
	var err error
	if d.base, err = basemeasure.Uniform(ctx, w.sorted, eps.Float64(), basemeasure.Settings{}); err != nil {
		return nil, err
	}
	if d.box, err = ldp.NewPolytope(eps, d.base.M, wpm.DefaultBits); err != nil {
		return nil, err
	}
	d.lo, d.hi = d.box.Bounds()
	d.rows, d.known = make([]ldp.Weights, len(w.labels)), make([]bool, len(w.labels))
	return d, nil
}

// row is what a device at place i releases from: the integers nearest to the closest point of the box.
func (d *design) row(i int) ldp.Weights {
	if !d.known[i] {
		q := make([]float64, len(d.lo))
		_ = d.world.sorted.Project(i, d.lo, d.hi, q) // ldp takes whatever it gets, and the box is one
		d.rows[i], d.known[i] = d.box.Round(q), true
	}
	return d.rows[i]
}

func (d *design) cloud(ctx context.Context, me []Stay) (*DesignAnswer, error) {
	a := &DesignAnswer{Worst: d.base.Upper * d.world.scale, Lower: d.base.Lower * d.world.scale}
	if len(me) == 0 {
		return a, nil
	}
	p, err := d.world.stays(me)
	if err != nil {
		return nil, err
	}
	k := len(d.lo)
	a.Cloud = make([]float64, k)
	mu := make([]float64, k)
	for n, i := range p.places {
		mu[i] = p.weights[n]
		row := d.row(i)
		for j := range a.Cloud {
			a.Cloud[j] += p.weights[n] * float64(row.At(j)) / float64(d.box.Total())
		}
	}
	if a.W1, err = d.world.distance(ctx, mu, a.Cloud); err != nil {
		return nil, err
	}
	closest, err := mincostflow.Project(ctx,
		projection.Problem{Cost: d.world.sorted, Source: p.weights, Support: p.places,
			Lo: d.lo, Hi: d.hi}, mincostflow.Settings{})
	a.Closest = closest.Objective * d.world.scale
	return a, err
}

// draw is simulated release number n of the visitor.
func (d *design) draw(me []Stay, n uint64) (*int, error) {
	p, err := d.world.stays(me)
	if err != nil {
		return nil, err
	}
	s := stream(n, "draw")
	r := s.Uint64()
	j, err := d.row(p.places[pick(p.weights, float64(r>>11)*0x1p-53)]).Sample(s)
	return &j, err
}

// SumAnswer is what is known of one person if nobody sees single releases, but only how often each place was released:
// (Epsilon, Delta)-differential privacy.
type SumAnswer struct {
	Epsilon float64 `json:"eps"`
	Delta   float64 `json:"delta"`
}

// sum proves the guarantee of the releases of n people.
func (d *design) sum(n int) (*SumAnswer, error) {
	if n < 1 || n > MaxPeople {
		return nil, fmt.Errorf("%w: %d people, want 1 to %d", ErrRequest, n, MaxPeople)
	}
	p := shuffle.Problem{Clients: n, Blanket: shuffle.Blanket(d.box), Epsilon: num.Up(d.eps.Rat()), Delta: shuffle.Common(n)}
	g, err := shuffle.Solve(p)
	return &SumAnswer{Epsilon: g.Epsilon, Delta: p.Delta}, err
}

// estimate makes the map of releases.
func (d *design) estimate(ctx context.Context, counts []uint64) (atlas.Estimate, error) {
	channel, err := atlas.NewChannel(ctx, len(d.lo), len(d.lo), d.row)
	if err != nil {
		return atlas.Estimate{}, err
	}
	w := atlas.World{Channel: channel, Geometry: d.world.near, Between: d.world.cost} // which every design of these places shares
	return w.Estimate(ctx, counts, atlas.Settings{Estimator: atlas.ByMap})
}

// prove designs the mechanism with its certificate, publishes it, reads the file back, and checks it as anybody would.
func (d *design) prove(ctx context.Context) (*ProofAnswer, error) {
	if d.proof != nil {
		return d.proof, nil
	}
	full, err := wpm.NewDesign(ctx, d.world.cost, d.eps, wpm.Objective{})
	if err != nil {
		return nil, err
	}
	p, err := full.Publish(policy.Config{
		Mode:       policy.Mixture,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: "a playground"},
	})
	if err != nil {
		return nil, err
	}
	text, err := policy.Encode(p)
	if err != nil {
		return nil, err
	}
	if p, err = policy.Decode(text); err != nil {
		return nil, err
	}
	if err := policy.Verify(p); err != nil {
		return nil, err
	}
	_, bounds, err := certificate.CheckPolicy(ctx, p)
	if err != nil {
		return nil, err
	}
	a := &ProofAnswer{Bytes: len(text), Bits: d.box.Bits()}
	a.Worst, _ = bounds.Worst.Float64()
	a.Lower, _ = bounds.Lower.Float64()
	a.Worst, a.Lower = a.Worst*d.world.scale, a.Lower*d.world.scale
	box := full.Mechanism().Polytope()
	var ratio *big.Rat
	a.Column, ratio = worstColumn(box)
	a.High, a.Low = str(box.Hi(a.Column)), str(box.Lo(a.Column))
	a.Ratio = decimal(ratio, true)
	lower, _ := d.eps.ExpBounds(128)
	a.Bound = decimal(lower, false)
	d.proof = a
	return a, nil
}

// worstColumn returns the column whose upper bound is the largest multiple of its lower one.
func worstColumn(box *ldp.Polytope) (column int, ratio *big.Rat) {
	ratio = new(big.Rat)
	for j := range box.Len() {
		if box.Lo(j) == 0 {
			continue // the upper bound is 0, too, or Verify would say so
		}
		r := new(big.Rat).SetFrac(new(big.Int).SetUint64(box.Hi(j)), new(big.Int).SetUint64(box.Lo(j)))
		if r.Cmp(ratio) > 0 {
			column, ratio = j, r
		}
	}
	return column, ratio
}

func str(n uint64) string { return new(big.Int).SetUint64(n).String() }

// decimal prints a positive number with 24 digits after the point, rounded up or down.
func decimal(r *big.Rat, up bool) string {
	const digits = 24
	n := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	n.Mul(n, r.Num())
	n, rest := n.QuoRem(n, r.Denom(), new(big.Int))
	if up && rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	s := n.String()
	for len(s) <= digits {
		s = "0" + s
	}
	return s[:len(s)-digits] + "." + s[len(s)-digits:]
}

// broken makes the upper bound of the worst column larger by the smallest amount there is, and checks the box. It needs
// no proof: the box of a design is the one that is published.
func (d *design) broken() (*BrokenAnswer, error) {
	lo, hi := make([]uint64, d.box.Len()), make([]uint64, d.box.Len())
	for j := range lo {
		lo[j], hi[j] = d.box.Lo(j), d.box.Hi(j)
	}
	a := new(BrokenAnswer)
	a.Column, _ = worstColumn(d.box)
	hi[a.Column]++
	a.High = str(hi[a.Column])
	if _, err := ldp.NewPolytopeFromBounds(d.eps, lo, hi, d.box.Bits()); err != nil {
		a.Refusal = err.Error()
		return a, nil
	}
	return nil, errors.New("playground: a broken box passed the check")
}
