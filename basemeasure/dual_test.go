package basemeasure

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// eighths draws a table of costs that are multiples of 1/8, few enough that sums of them are exact.
func eighths(t *testing.T, g *numtest.SplitMix64, k, kv int) *knapsack.Table {
	t.Helper()
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, float64(g.Intn(25))/8)
	}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// criteria draws an objective of each kind.
func criteria(g *numtest.SplitMix64, k int) []criterion {
	weights := make([]float64, k)
	for i := range weights {
		weights[i] = float64(g.Intn(3))
	}
	weights[g.Intn(k)]++
	list := []Settings{
		{}, {Objective: Average}, {Objective: Average, InputWeights: weights},
		{Objective: Mixed, Mix: 0.3, InputWeights: weights},
	}
	if k > 1 {
		list = append(list, Settings{Exclude: []int{g.Intn(k)}},
			Settings{Objective: Mixed, Mix: 0.7, Exclude: []int{g.Intn(k)}})
	}
	var out []criterion
	for _, s := range list {
		out = append(out, s.criterion(k))
	}
	return out
}

// TestShiftIsBest: no other shift of all thresholds proves more, and few passes find the best one.
func TestShiftIsBest(t *testing.T) {
	const rounding = 1e-12 // a few dozen roundings of numbers below 100
	g := numtest.NewSplitMix64(82)
	ctx := &numtest.Asked{Context: context.Background(), Most: -1}
	shifts := 0
	for range 60 {
		k, kv := 1+g.Intn(6), 1+g.Intn(6)
		table := eighths(t, g, k, kv)
		e := math.Exp(4 * g.Float64())
		for _, a := range criteria(g, k) {
			c := cuts{make([]float64, k), make([]float64, k)}
			for i := range k {
				c.thresholds[i] = float64(g.Intn(33)-4) / 7
				if a.share > 0 && a.inMax[i] {
					c.weights[i] = float64(1 + g.Intn(3))
				}
			}
			p := &problem{k: k, kv: kv, table: table, priv: privacy{e: num.Enclosure{Down: e, Near: e, Up: e}}, criterion: a}
			d := p.dual()
			found := d.shift(ctx, c)
			shifts++
			weights := append([]float64(nil), d.effective(c.weights)...)
			best := math.Inf(-1)
			for n := -250; n <= 250; n++ {
				sum, total, least := 0.0, 0.0, math.Inf(1)
				for j := range kv {
					b := 0.0
					for i, w := range weights {
						x := table.Row(i, nil)[j] - c.thresholds[i] - float64(n)/50
						b += w * max(x, 0)
						b -= e * w * max(-x, 0)
					}
					least = min(least, b)
				}
				for i, w := range weights {
					sum += w * (c.thresholds[i] + float64(n)/50)
					total += w
				}
				best = max(best, (sum+min(least, least/e))/total)
			}
			if !(found.lower >= best-rounding) {
				t.Fatalf("%+v: shifted to %v, another shift proves %v", c, found.lower, best)
			}
			// What it claims is what its thresholds prove.
			copy(d.Thresholds, found.thresholds)
			least, _ := d.Least(weights)
			if value := d.Value(weights, least); value != found.lower {
				t.Fatalf("%+v: %v claimed, %v proved", c, found.lower, value)
			}
		}
	}
	// A twentieth more than measured: the last bits of exponentials differ between machines.
	if enough := 784; ctx.Times() > enough+enough/20 {
		t.Errorf("%d steps beside the first ones of %d shifts, %d were enough", ctx.Times(), shifts, enough)
	}
}

// TestLine: the line at a scale is the value there, and nowhere above it.
func TestLine(t *testing.T) {
	const rounding = 1e-12 // sums of a few products below 100
	g := numtest.NewSplitMix64(83)
	for range 60 {
		k, kv := 1+g.Intn(7), 2+g.Intn(7)
		table := eighths(t, g, k, kv)
		priv := newPrivacy(0.1 + 3*g.Float64())
		shape := make([]float64, kv)
		for j := range shape {
			shape[j] = float64(g.Intn(3))
		}
		shape[0]++
		for _, a := range criteria(g, k) {
			r := (&problem{table: table, k: k, kv: kv, priv: priv, criterion: a}).search(shape, 100)
			scale := func() float64 {
				x := g.Float64()
				return math.Exp(math.Log(priv.alpha.Near) + (0.01+0.98*x)*math.Log(priv.beta.Near/priv.alpha.Near))
			}
			for range 4 {
				at := scale()
				line, f := r.eval(at)
				if line.at != at || !(math.Abs(line.tau+at*line.slope-f) <= rounding) {
					t.Fatalf("at %v: the line %+v has %v, the value is %v", at, line, line.tau+at*line.slope, f)
				}
				for range 6 {
					other := scale()
					if _, f := r.eval(other); line.tau+other*line.slope > f+rounding {
						t.Fatalf("the line %+v is above the value %v at %v", line, f, other)
					}
				}
			}
		}
	}
}

// TestCandidates: which cuts are tried after a search, in which order, by the comment of candidates.
func TestCandidates(t *testing.T) {
	g := numtest.NewSplitMix64(97)
	for range 200 {
		k := 1 + g.Intn(6)
		for _, a := range criteria(g, k) {
			r := &search{p: &problem{criterion: a}, phi: make([]float64, k), tau: make([]float64, k)}
			counted, active, worst := 0, 0, 0.0
			for i := range k {
				r.phi[i], r.tau[i] = float64(1+g.Intn(2)), g.Float64()
				if a.inMax[i] {
					counted++
					worst = max(worst, r.phi[i])
				}
			}
			for i := range k {
				if a.inMax[i] && r.phi[i] == worst {
					active++
				}
			}
			list := r.candidates()
			want := 2
			if a.share > 0 && active < counted && (active > 1 || a.share < 1) {
				want = 4
			}
			for n, c := range list[:want] {
				if th := [][]float64{r.phi, r.tau}[n%2]; &c.thresholds[0] != &th[0] {
					t.Fatalf("candidate %d has the thresholds %v", n, c.thresholds)
				}
				for i, w := range c.weights {
					x := 0.0
					switch {
					case a.share == 0 || !a.inMax[i]:
					case n < 2, r.phi[i] == worst:
						x = 1
					}
					if w != x {
						t.Fatalf("candidate %d has the weight %v at %d, want %v", n, w, i, x)
					}
				}
			}
			if len(list) != want {
				t.Fatalf("%d candidates, want %d", len(list), want)
			}
		}
	}
}
