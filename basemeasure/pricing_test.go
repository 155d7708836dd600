package basemeasure

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestMenu compares what is offered to enter, in every round of whole attempts, with all that could: the reduced cost
// of each kind by its definition.
func TestOffer(t *testing.T) {
	const rounding = 1e-12 // sums of some dozen products of the size of the game's numbers
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
			p, err := newProblem(context.Background(), c0, []float64{0.3, 1, 4}[g.Intn(3)], settings, true)
			if err != nil {
				t.Fatal(err)
			}
			v := newSolver(context.Background(), p)
			if err := v.open(); err != nil {
				t.Fatal(err)
			}
			s := newSimplex(v.game, &v.res.Stats)
			s.pivotTol = tunings[0].pivotTol
			s.slackTol, s.lamTol = tunings[0].valueTol*s.alpha, tunings[0].valueTol*s.alpha/s.beta
			a := &attempt{v: v, s: s, bound: math.Inf(-1), proved: 1 / proveFactor}
			if !s.start(v.strategy(v.game)) {
				t.Fatal("no start")
			}
			for range 100 {
				v.evaluate(s, 1)
				m := a.offer()
				negative := false
				for r, x := range s.m {
					negative = negative || x < -gainTol
					if (m.slacks[s.perm[r]] == slackMay) != (x < -gainTol) {
						t.Fatalf("the slack of an output with the price %v: %v", x, m.slacks[s.perm[r]])
					}
				}
				price := func(bound int) float64 { // what the model says a bound costs
					if bound == noBound {
						return 0
					}
					sum := s.keys[bound].t
					for r, x := range s.m {
						sum += x * s.keys[bound].g[r]
					}
					return sum
				}
				mass := 0.0
				gain := func(c *column) float64 {
					switch c.input {
					case maxMass:
						return mass - 1/s.alpha
					case minMass:
						return 1/s.beta - mass
					}
					sum := c.eta - price(c.bound)
					for r, x := range s.m {
						d := s.scale(c0.Row(c.input, nil)[s.perm[r]]) - c.eta
						sum += x * (s.alpha*max(d, 0) - s.beta*max(-d, 0))
					}
					return sum
				}
				// What is offered.
				cuts := map[[2]int]bool{}
				for _, c := range s.cands {
					if c.input >= 0 && c.eta != s.scale(v.tau[c.input]) { // a cut of the basis
						own := s.own[c.input]
						if c.bound != s.shared || own == noBound || c.eta != s.keys[own].eta ||
							!(price(own)-price(s.shared) > gainTol-rounding) {
							t.Fatalf("input %d has the threshold %v, want %v", c.input, c.eta, s.scale(v.tau[c.input]))
						}
						continue
					}
					cuts[[2]int{c.input, c.bound}] = true
				}
				for i := range k {
					for _, tt := range []struct {
						bound int
						in    bool
					}{{s.own[i], s.own[i] != noBound}, {s.shared, s.shared != noBound && p.aim.inMax[i]}} {
						if !tt.in {
							continue
						}
						above := s.scale(v.phi[i]) - price(tt.bound)
						if has := cuts[[2]int{i, tt.bound}]; has != (above > gainTol || negative) && math.Abs(above) > rounding {
							t.Fatalf("the cut of input %d in bound %d, %v above its price: %v", i, tt.bound, above, has)
						}
					}
				}
				if !cuts[[2]int{maxMass, noBound}] || !cuts[[2]int{minMass, noBound}] {
					t.Fatal("no bounds on the mass")
				}
				for pivots := range 12 {
					more := pivots%2 == 0
					mass = 0
					for _, x := range s.m {
						mass += x
					}
					most := 0.0
					for _, c := range s.cands {
						most = max(most, gain(c))
					}
					for r, x := range s.m {
						if more || m.slacks[s.perm[r]] == slackMay {
							most = max(most, -x)
						}
					}
					left := len(s.cands)
					e, found := m.best(more)
					if !found {
						if none++; most > rounding {
							t.Fatalf("nothing enters, but there is %v", most)
						}
						break
					}
					if !(math.Abs(e.gain-most) <= rounding*(1+most)) {
						t.Fatalf("%+v gains %v, the best %v", e, e.gain, most)
					}
					kind, own := "slack", 0.0
					if e.col == nil {
						own = -s.m[e.at]
					} else {
						own, kind = gain(e.col), "cut"
						left--
						if e.col.input < 0 {
							kind = "mass"
						}
					}
					if !(math.Abs(e.gain-own) <= rounding*(1+most)) || e.dir != 1 || len(s.cands) != left {
						t.Fatalf("%+v: it gains %v", e, own)
					}
					kinds[kind]++
					if s.enter(&e) != pivoted {
						break
					}
				}
				s.withdraw()
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
