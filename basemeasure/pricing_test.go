package basemeasure

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestMenu compares what is offered to enter, in every round of whole attempts, with all that could: the reduced cost of each kind by its definition.
func TestMenu(t *testing.T) {
	const rounding = 1e-12 // sums of some dozen products of the size of the game's numbers
	g := numtest.NewSplitMix64(96)
	kinds := map[entryKind]int{}
	none := 0
	for n := range 30 {
		k, kv := 2+g.Intn(10), 2+g.Intn(10)
		c := &cost.Dense{K: k, Kv: kv}
		for range k * kv {
			if n%3 == 0 {
				c.Data = append(c.Data, float64(g.Intn(4)))
			} else {
				c.Data = append(c.Data, g.Float64())
			}
		}
		for _, settings := range []Settings{{}, {Objective: Average}, {Objective: Mixed, Mix: 0.5}, {Exclude: []int{0}}} {
			p, err := newProblem(context.Background(), c, []float64{0.3, 1, 4}[g.Intn(3)], settings, true)
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
				v.evaluate(s)
				m := a.offer()
				negative := false
				for r, x := range s.m {
					negative = negative || x < -gainTol
					if (m.slacks[s.perm[r]] == slackMay) != (x < -gainTol) {
						t.Fatalf("the slack of an output with the price %v: %v", x, m.slacks[s.perm[r]])
					}
				}
				price := func(i int) float64 { // what the model says an input costs
					key := s.shared
					if s.keys[i] != nil {
						key = s.keys[i]
					}
					if key == nil {
						return math.Inf(1)
					}
					sum := key.t
					for r, x := range s.m {
						sum += x * key.g[r]
					}
					return sum
				}
				cut := func(i int, eta float64) float64 {
					sum := eta - price(i)
					for r, x := range s.m {
						d := s.scale(c.Row(i, nil)[s.perm[r]]) - eta
						sum += x * (s.alpha*max(d, 0) - s.beta*max(-d, 0))
					}
					return sum
				}
				pool := func() float64 {
					if s.shared == nil {
						return math.Inf(1)
					}
					return price(s.shared.input)
				}
				// Who is on the menu.
				cuts, mu := map[int]bool{}, map[int]bool{}
				for _, c := range s.cands {
					if cuts[c.input] = true; c.eta != s.scale(v.tau[c.input]) {
						t.Fatalf("input %d has the threshold %v, want %v", c.input, c.eta, s.scale(v.tau[c.input]))
					}
				}
				for _, v := range m.mu {
					mu[v.input] = true
				}
				for i := range k {
					above := s.scale(v.phi[i]) - price(i)
					if want := s.takesPart(i) && (above > gainTol || negative); cuts[i] != want && math.Abs(above) > rounding {
						t.Fatalf("the cut of input %d, %v above its price: %v", i, above, cuts[i])
					}
					gain := price(i) - pool()
					if want := s.keys[i] != nil && s.share > 0 && s.counts(i) && gain > gainTol; mu[i] != want && math.Abs(gain) > rounding {
						t.Fatalf("input %d, %v above the pool: %v", i, gain, mu[i])
					}
				}
				for pivots := range 12 {
					more := pivots%2 == 0
					mass := 0.0
					for _, x := range s.m {
						mass += x
					}
					most := max(mass-1/s.alpha, 1/s.beta-mass)
					for _, c := range s.cands {
						if !c.gone {
							most = max(most, cut(c.input, c.eta))
						}
					}
					for i := range mu {
						if s.keys[i] != nil {
							most = max(most, price(i)-pool())
						}
					}
					for r, x := range s.m {
						if more || m.slacks[s.perm[r]] == slackMay {
							most = max(most, -x)
						}
					}
					e, found := m.best(more)
					if !found {
						if none++; most > rounding {
							t.Fatalf("nothing enters, but there is %v", most)
						}
						break
					}
					if !(math.Abs(e.gain-most) <= rounding*(1+most)) {
						t.Fatalf("%v gains %v, the best %v", e.kind, e.gain, most)
					}
					var own float64
					switch {
					case e.kind == enterMu:
						own = price(e.at) - pool()
					case e.kind == enterSlack:
						own = -s.m[e.at]
					case e.cand != nil:
						own = cut(e.input, e.eta)
					case e.input == maxMass:
						own = mass - 1/s.alpha
					case e.input == minMass:
						own = 1/s.beta - mass
					}
					if !(math.Abs(e.gain-own) <= rounding*(1+most)) || e.dir != 1 {
						t.Fatalf("%+v: it gains %v", e, own)
					}
					kinds[e.kind]++
					if e.kind == enterColumn {
						e.col = s.newColumn(e.input, e.eta)
					}
					if s.enter(&e.entry) != pivoted {
						break
					}
					m.done(e)
				}
				s.cands = s.cands[:0]
				if a.round() {
					break
				}
			}
		}
	}
	for kind := enterColumn; kind <= enterMu; kind++ {
		if kinds[kind] < 20 {
			t.Errorf("%d of kind %d: the test tests little", kinds[kind], kind)
		}
	}
	if none < 20 {
		t.Errorf("%d times nothing", none)
	}
}
