package basemeasure

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/basemeasure/internal/gub"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestOffer compares what is offered to enter, in every round of whole attempts, with all that could: the reduced cost
// of each kind by its definition.
func TestOffer(t *testing.T) {
	const rounding = 1e-12 // sums of some dozen products of the size of the master's numbers
	g := numtest.NewSplitMix64(96)
	kinds := map[string]int{}
	none := 0
	for n := range 30 {
		k, kv := 2+g.Intn(10), 2+g.Intn(10)
		c0 := &cost.Dense{K: k, Kv: kv}
		for range k * kv {
			if n%3 == 0 {
				c0.Data = append(c0.Data, float64(g.Intn(4)))
			} else {
				c0.Data = append(c0.Data, g.Float64())
			}
		}
		for _, settings := range []Settings{{}, {Objective: Average}, {Objective: Mixed, Mix: 0.5}, {Exclude: []int{0}}} {
			p, set, err := newProblem(context.Background(), c0, []float64{0.3, 1, 4}[g.Intn(3)], settings, true)
			if err != nil {
				t.Fatal(err)
			}
			v := newSolver(context.Background(), p, set)
			o, err := v.open()
			if err != nil {
				t.Fatal(err)
			}
			a := v.newAttempt(v.units)
			if !a.start(v.worstInput(o)) {
				t.Fatal("no start")
			}
			s := a.master
			alpha, beta := p.priv.alpha.Near, p.priv.beta.Near
			for range 100 {
				a.query(1)
				basic := map[*gub.Column]bool{}
				for c := range s.Columns {
					basic[c] = true
				}
				slacks := a.price()
				var offered []*gub.Column
				for c := range s.Columns {
					if !basic[c] {
						offered = append(offered, c)
					}
				}
				negative := false
				m := make([]float64, kv)
				for j, x := range s.Multipliers {
					m[j] = x
					negative = negative || x < -gub.Rounding
				}
				for j, x := range m {
					if (slacks[j] == slackMay) != (x < -gub.Rounding) {
						t.Fatalf("the slack of an output with the multiplier %v: %v", x, slacks[j])
					}
				}
				rise := func(c *gub.Column) float64 { // what the designer pays for a column, by definition
					sum := c.Objective
					for j, x := range m {
						switch c.Label {
						case maxMass:
							sum += x
						case minMass:
							sum -= x
						default:
							d := a.units.scale(c0.Row(c.Label, nil)[j]) - c.Objective
							sum += x * (alpha*max(d, 0) - beta*max(-d, 0))
						}
					}
					return sum
				}
				price := func(bound int) float64 { // what the model says a bound costs
					if bound == gub.NoBound {
						return 0
					}
					return rise(s.Key(bound))
				}
				gain := func(c *gub.Column) float64 { return rise(c) - price(c.Bound) }
				// What is offered.
				cuts := map[[2]int]bool{}
				for _, c := range offered {
					if c.Label >= 0 && c.Objective != a.units.scale(a.tau[c.Label]) { // a cut of the basis
						own := a.own[c.Label]
						if c.Bound != a.shared || own == gub.NoBound || c.Objective != s.Key(own).Objective ||
							!(price(own)-price(a.shared) > gub.Rounding-rounding) {
							t.Fatalf("input %d has the threshold %v, want %v", c.Label, c.Objective, a.units.scale(a.tau[c.Label]))
						}
						continue
					}
					cuts[[2]int{c.Label, c.Bound}] = true
				}
				for i := range k {
					for _, tt := range []struct {
						bound int
						in    bool
					}{{a.own[i], a.own[i] != gub.NoBound}, {a.shared, a.shared != gub.NoBound && p.criterion.inMax[i]}} {
						if !tt.in {
							continue
						}
						above := a.units.scale(a.phi[i]) - price(tt.bound)
						if has := cuts[[2]int{i, tt.bound}]; has != (above > gub.Rounding || negative) && math.Abs(above) > rounding {
							t.Fatalf("the cut of input %d in bound %d, %v above its price: %v", i, tt.bound, above, has)
						}
					}
				}
				if !cuts[[2]int{maxMass, gub.NoBound}] || !cuts[[2]int{minMass, gub.NoBound}] {
					t.Fatal("no bounds on the mass")
				}
				for pivots := range 12 {
					more := pivots%2 == 0
					clear(m)
					for j, x := range s.Multipliers {
						m[j] = x
					}
					most := 0.0
					for _, c := range offered {
						most = max(most, gain(c))
					}
					for j, x := range m {
						if more || slacks[j] == slackMay {
							most = max(most, -x)
						}
					}
					e, found := s.Price(func(j int) bool { return more || slacks[j] == slackMay })
					if !found {
						if none++; most > rounding {
							t.Fatalf("nothing enters, but there is %v", most)
						}
						break
					}
					if !(math.Abs(e.Reduced-most) <= rounding*(1+most)) {
						t.Fatalf("%+v gains %v, the best %v", e, e.Reduced, most)
					}
					kind, own := "slack", 0.0
					if e.Column == nil {
						own = -m[e.Row]
					} else {
						if own, kind = gain(e.Column), "cut"; e.Column.Label < 0 {
							kind = "mass"
						}
						offered = slices.DeleteFunc(offered, func(c *gub.Column) bool { return c == e.Column })
					}
					if !(math.Abs(e.Reduced-own) <= rounding*(1+most)) {
						t.Fatalf("%+v: it gains %v", e, own)
					}
					kinds[kind]++
					if s.Enter(e) != gub.Pivoted {
						break
					}
				}
				s.Withdraw()
				if a.round() {
					break
				}
			}
		}
	}
	for _, kind := range []string{"slack", "cut", "mass"} {
		if kinds[kind] < 20 {
			t.Errorf("%d of kind %s: the test tests little", kinds[kind], kind)
		}
	}
	if none < 20 {
		t.Errorf("%d times nothing", none)
	}
}
