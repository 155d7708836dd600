package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// discs are the rows of a policy with uniform base measure: of each place, the share of nearest outputs is e^eps times
// as likely. Rows have no common sum.
func discs(dist [][]float64, eps, share float64) [][]float64 {
	rows := make([][]float64, len(dist))
	for i, d := range dist {
		rows[i] = make([]float64, len(d))
		order := make([]int, len(d))
		for j := range order {
			order[j] = j
		}
		for a := range order { // by distance, then index
			for b := a; b > 0 && d[order[b]] < d[order[b-1]]; b-- {
				order[b], order[b-1] = order[b-1], order[b]
			}
		}
		left := share * float64(len(d))
		for _, j := range order {
			w := min(max(left, 0), 1)
			rows[i][j] = 1 + w*math.Expm1(eps)
			left--
		}
	}
	return rows
}

// normal divides each row by its sum.
func normal(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for _, v := range row {
			out[i] = append(out[i], v/sum)
		}
	}
	return out
}

func geometryOf(t testing.TB, m cost.Matrix) (*Geometry, [][]float64) {
	t.Helper()
	g, err := NewGeometry(context.Background(), m, 1)
	if err != nil {
		t.Fatal(err)
	}
	dist := make([][]float64, g.K())
	for i := range dist {
		dist[i] = append([]float64(nil), g.dist.Row(i, make([]float64, g.K()))...)
	}
	return g, dist
}

// TestMapPlain holds Map against the algorithm written out. Where two places are near each other, the posterior may have
// a mode with the mass on either, and the two may find different ones: in one of 100 of these worlds at most.
func TestMapPlain(t *testing.T) {
	grid, err := cost.NewGrid(4, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cost.NewRing(13, 1)
	if err != nil {
		t.Fatal(err)
	}
	cases, differ := 0, 0
	for seed := range numtest.Cases(9, 40) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		var x [][]float64
		for range 15 {
			x = append(x, []float64{r.NormFloat64(), r.NormFloat64()})
		}
		points, err := cost.NewPoints(x, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range []cost.Matrix{grid, ring, points} {
			name := [...]string{"grid", "ring", "points"}[i]
			g, dist := geometryOf(t, m)
			k := g.K()
			for _, c := range []struct {
				eps float64
				n   int
			}{{0.5, 20}, {1, 300}, {3, 100}, {4, 20000}} {
				rows := discs(dist, c.eps, .3)
				theta, prior := make([]float64, k), make([]float64, k)
				for i := range theta {
					theta[i] = math.Exp(-dist[i][k/3] / g.unit)
					prior[i] = 1 + r.Float64()
				}
				normalized(theta)
				normalized(prior)
				channel := channelOf(t, rows)
				counts := drawCounts(r, channel, theta, c.n)
				want, weights := plainMap(counts, normal(rows), dist, prior)
				got, err := Map(context.Background(), Problem{Counts: counts, Channel: channel, Prior: prior, Geometry: g},
					Settings{})
				if err != nil {
					t.Fatalf("%s, %+v: %v", name, c, err)
				}
				// Map stops when a step gains less than gainGoal, so a log-weight is off by a few times that.
				off, far := 0.0, 0.0
				for i := range want {
					off += math.Abs(got.Theta[i]-want[i]) / 2
				}
				for m, w := range weights {
					far = max(far, math.Abs(got.Models[m].Weight-w))
				}
				cases++
				if !(off <= 5*gainGoal) || !(far <= 5*gainGoal) {
					differ++
					t.Logf("seed %d, %s, %+v: map off by %v, weights by %v", seed, name, c, off, far)
				}
			}
		}
	}
	if differ > cases/100 {
		t.Errorf("%d of %d maps differ", differ, cases)
	}
}

// TestMapManyReleases holds Map against the algorithm written out where counts leave nothing open: the way from the
// guess is long then, over maps with shares next to nothing.
func TestMapManyReleases(t *testing.T) {
	m, err := cost.NewGrid(4, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, m)
	k := g.K()
	for seed := range numtest.Cases(2, 6) {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		rows := make([][]float64, k)
		for i := range rows {
			rows[i] = make([]float64, k)
			for j := range rows[i] {
				if r.IntN(3) > 0 {
					rows[i][j] = math.Exp(r.NormFloat64())
				}
			}
			rows[i][r.IntN(k)]++
		}
		channel := channelOf(t, rows)
		prior, q := make([]float64, k), make([]float64, k)
		for i := range prior {
			prior[i] = math.Exp(2 * r.NormFloat64())
		}
		normalized(prior)
		channel.forward(someTheta(r, k), q)
		for _, n := range []float64{1e5, 1e7, 1e9} {
			counts := make([]uint64, k)
			for j, v := range q {
				counts[j] = uint64(n * v)
			}
			want, _ := plainMap(counts, normal(rows), dist, prior)
			p := Problem{Counts: counts, Channel: channel, Prior: prior, Geometry: g}
			got, err := Map(context.Background(), p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			off := 0.0
			for i, v := range want {
				off += math.Abs(got.Theta[i]-v) / 2
			}
			if !(off <= 5*gainGoal) { // as in TestMapPlain
				t.Errorf("seed %d, %v releases: map off by %v", seed, n, off)
			}
		}
	}
}

// mapWorld is a problem on a 5 x 6 grid with two towns.
func mapWorld(t testing.TB, eps float64, n int) Problem {
	m, err := cost.NewGrid(5, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, m)
	channel := channelOf(t, discs(dist, eps, .25))
	theta := make([]float64, g.K())
	theta[7], theta[8], theta[27] = .5, .3, .2
	return Problem{Counts: drawCounts(rand.New(rand.NewPCG(3, 4)), channel, theta, n), Channel: channel, Geometry: g}
}

// TestMapEdges holds that odd problems have finite answers: distributions of places, and of models.
func TestMapEdges(t *testing.T) {
	points := func(x ...[]float64) cost.Matrix {
		m, err := cost.NewPoints(x, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	equal := func(k int, d float64) cost.Matrix {
		m := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
		for i := range k * k {
			if i%(k+1) != 0 {
				m.Data[i] = d
			}
		}
		return m
	}
	line := points([]float64{0}, []float64{1}, []float64{2}, []float64{4})
	four := [][]float64{{5, 1, 1, 1}, {1, 5, 1, 1}, {1, 1, 5, 1}, {1, 1, 1, 5}}
	tiny := [][]float64{{1, 1e-300, 1e-300, 5e-324}, {1e-300, 1, 1e-300, 5e-324}, {1e-300, 1e-300, 1, 5e-324}, {1, 1, 1,
		1e-320}}
	for _, c := range []struct {
		name   string
		places cost.Matrix
		rows   [][]float64
		counts []uint64
		prior  []float64
		same   bool // the map is the prior
	}{
		{"one place", points([]float64{3}), [][]float64{{1, 2}}, []uint64{5, 0}, nil, true},
		{"all at one point", points([]float64{3}, []float64{3}, []float64{3}, []float64{3}), four, []uint64{9, 0, 0, 0},
			[]float64{1, 2, 3, 4}, false},
		{"all but one at a point", points([]float64{3}, []float64{3}, []float64{3}, []float64{4}), four, []uint64{9, 0, 0,
			0}, nil, false},
		{"equal distances", equal(4, 2), four, []uint64{9, 1, 1, 1}, nil, false},
		{"huge distances", equal(4, math.MaxFloat64), four, []uint64{9, 1, 1, 1}, nil, false},
		{"tiny distances", equal(4, math.SmallestNonzeroFloat64), four, []uint64{9, 1, 1, 1}, nil, false},
		{"a prior of zero", line, four, []uint64{9, 1, 1, 1}, []float64{0, 1, 1, 1}, false},
		{"a prior at one place", line, four, []uint64{9, 1, 1, 1}, []float64{0, 0, 1, 0}, false},
		{"a prior far from even", line, four, []uint64{9, 1, 1, 1}, []float64{1e-320, 1, 1e300, math.MaxFloat64}, false},
		{"one output", line, four, []uint64{0, 0, 70, 0}, nil, false},
		{"one release", line, four, []uint64{0, 0, 1, 0}, nil, false},
		{"2^53 releases", line, four, []uint64{1 << 52, 0, 1 << 52, 0}, nil, false},
		{"2^53 releases of one output", line, four, []uint64{0, 1 << 53, 0, 0}, nil, false},
		{"small probabilities", line, tiny, []uint64{3, 3, 3, 3}, nil, false},
		{"small probabilities, many releases", line, tiny, []uint64{1 << 40, 0, 0, 1 << 40}, nil, false},
		{"a prior next to zero, where releases are", line,
			[][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
			[]uint64{900, 100, 100, 100}, []float64{1, 1, 1, 1e-310}, false},
		{"rows alike", line, [][]float64{{1, 2}, {2, 4}, {1, 2}, {3, 6}}, []uint64{500, 0}, nil, true},
		{"more outputs", line, [][]float64{{5, 1, 1, 1, 1}, {1, 5, 1, 1, 1}, {1, 1, 5, 1, 5}, {1, 1, 1, 5, 1}}, []uint64{9,
			1, 0, 1, 8}, nil, false},
		{"fewer outputs", line, [][]float64{{5, 1}, {1, 5}, {1, 1}, {0, 1}}, []uint64{90, 10}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := NewGeometry(context.Background(), c.places, 1)
			if err != nil {
				t.Fatal(err)
			}
			res, err := Map(context.Background(), Problem{Counts: c.counts, Channel: channelOf(t, c.rows), Prior: c.prior,
				Geometry: g}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			k := g.K()
			checkDistribution(t, res.Theta, k)
			sum := 0.0
			for _, m := range res.Models {
				if !(m.Weight >= 0 && m.Length >= 0 && m.Length <= math.MaxFloat64) {
					t.Errorf("model %+v", m)
				}
				sum += m.Weight
			}
			models := 36
			if c.prior != nil {
				models = 72
			}
			if len(res.Models) != models || !res.Models[0].Guess() || res.Models[1].Guess() || !(math.Abs(sum-1) <= 1e-14) ||
				!(res.Ratio >= 0 && res.Ratio <= 1) {
				t.Errorf("%d models of sum %v, ratio %v", len(res.Models), sum, res.Ratio)
			}
			prior := c.prior
			if prior == nil {
				prior = slices.Repeat([]float64{1}, k)
			}
			prior = slices.Clone(prior)
			largest := slices.Max(prior)
			for i := range prior {
				prior[i] /= largest
			}
			normalized(prior)
			for i, v := range res.Theta {
				if c.same && !(math.Abs(v-prior[i]) <= indefinite) {
					t.Errorf("place %d: %v, prior %v", i, v, prior[i])
				}
			}
			if c.same && res.Signal != NoSignal {
				t.Errorf("signal %v of a map that is the prior", res.Signal)
			}
		})
	}
}

func TestMapErrors(t *testing.T) {
	good := mapWorld(t, 1, 100)
	small, err := NewGeometry(context.Background(), &cost.Dense{K: 1, Kv: 1, Data: []float64{0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	none := channelOf(t, [][]float64{{1, 0}})
	for name, c := range map[string]struct {
		change func(*Problem)
		want   error
	}{
		"no channel":       {func(p *Problem) { p.Channel = nil }, wpmerr.ErrShape},
		"no geometry":      {func(p *Problem) { p.Geometry = nil }, ErrNoGeometry},
		"another geometry": {func(p *Problem) { p.Geometry = small }, wpmerr.ErrShape},
		"counts":           {func(p *Problem) { p.Counts = p.Counts[1:] }, wpmerr.ErrShape},
		"no counts":        {func(p *Problem) { p.Counts = make([]uint64, 30) }, ErrCounts},
		"too many counts":  {func(p *Problem) { p.Counts = slices.Repeat([]uint64{1 << 60}, 30) }, ErrCounts},
		"counts one above": {func(p *Problem) { p.Counts = append([]uint64{1<<53 + 1}, p.Counts[1:]...) }, ErrCounts},
		"counts, one by one, above": {func(p *Problem) {
			p.Counts = append([]uint64{1 << 53}, slices.Repeat([]uint64{1}, 29)...)
		}, ErrCounts},
		"prior": {func(p *Problem) { p.Prior = make([]float64, 30) }, wpmerr.ErrMass},
		"an output from nowhere": {func(p *Problem) {
			*p = Problem{Counts: []uint64{1, 1}, Channel: none, Geometry: small}
		}, ErrChannel},
		"an output of prior zero": {func(p *Problem) { *p = zeroPrior(t) }, ErrChannel},
	} {
		p := good
		c.change(&p)
		if res, err := Map(context.Background(), p, Settings{}); !errors.Is(err, c.want) || res.Theta != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// zeroPrior has an output that only a place of prior 0 releases.
func zeroPrior(t *testing.T) Problem {
	g, err := NewGeometry(context.Background(), &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return Problem{Counts: []uint64{1, 1}, Channel: channelOf(t, [][]float64{{1, 0}, {0, 1}}), Prior: []float64{1, 0},
		Geometry: g}
}

// TestMapCancelled stops Map at each look at the context.
func TestMapCancelled(t *testing.T) {
	p := mapWorld(t, 2, 300)
	for n := 1; ; n++ {
		ctx := &numtest.Asked{Context: context.Background(), Most: n}
		res, err := Map(ctx, p, Settings{})
		if err == nil {
			if n < 60 { // every model, and two steps of each
				t.Errorf("the context was looked at %d times", n)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || res.Theta != nil {
			t.Fatalf("stopped at look %d: %v", n, err)
		}
	}
}

// TestMapProgress holds that progress goes up to the end, with groups and without.
func TestMapProgress(t *testing.T) {
	p := mapWorld(t, 2, 300)
	for _, places := range []int{0, maxPlaces} {
		last, end := 0, 0
		s := Settings{Progress: func(done, total int) {
			if done < last || done > total || end != 0 && total != end {
				t.Errorf("%d of %d after %d of %d", done, total, last, end)
			}
			last, end = done, total
		}}
		if _, err := mapOf(context.Background(), p, s, places, ladder{rungs: []int{5, 15}}); err != nil {
			t.Fatal(err)
		}
		if last != end || end == 0 {
			t.Errorf("the last report is of %d of %d", last, end)
		}
	}
}

// TestMapWrongPrior: a prior that the counts speak against costs little, also where it has nobody, and a right one keeps
// what it knows.
func TestMapWrongPrior(t *testing.T) {
	grid, err := cost.NewGrid(12, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, grid)
	k := g.K()
	channel := channelOf(t, discs(dist, 3, .1))
	hill := func(at int) []float64 {
		p := make([]float64, k)
		for i := range p {
			if d := dist[i][at] / g.unit; d < 4 {
				p[i] = math.Exp(-d)
			}
		}
		return normalized(p)
	}
	truth, wrong := hill(3*12+3), hill(8*12+8)
	counts := drawCounts(rand.New(rand.NewPCG(5, 5)), channel, truth, 2000)
	off := func(prior []float64, places int) float64 {
		res, err := mapOf(context.Background(), Problem{Counts: counts, Channel: channel, Prior: prior, Geometry: g},
			Settings{}, places, ladder{rungs: []int{30, 60}})
		if err != nil {
			t.Fatal(err)
		}
		checkDistribution(t, res.Theta, k)
		sum := 0.0
		for i, v := range res.Theta {
			sum += math.Abs(v-truth[i]) / 2
		}
		return sum
	}
	for _, c := range []struct {
		name   string
		places int
		most   float64
	}{
		{"places", k, 1.1}, // what a wrong prior may cost where the reports say much
		{"groups", 1, 1.2}, // within a group, most is still as the prior says
	} {
		t.Run(c.name, func(t *testing.T) {
			none, bad, good := off(nil, c.places), off(wrong, c.places), off(truth, c.places)
			if !(bad <= c.most*none) || !(good <= none/2) {
				t.Errorf("off by %.3g without a prior, %.3g with a wrong one, %.3g with the truth", none, bad, good)
			}
		})
	}
}

// TestMapSame holds that a second Map, one from another goroutine at the same time, and one on another number of
// threads have the same bits, and that the problem is left alone.
func TestMapSame(t *testing.T) {
	p := mapWorld(t, 1, 1000)
	p.Prior = slices.Repeat([]float64{2}, 30)
	before := slices.Clone(p.Counts)
	var all [4]Result
	var group sync.WaitGroup
	for n := range 2 { // on a geometry that nobody has used
		group.Go(func() { all[n], _ = Map(context.Background(), p, Settings{}) })
	}
	group.Wait()
	for n, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		g, err := NewGeometry(context.Background(), p.Geometry.dist, 1)
		if err != nil {
			t.Fatal(err)
		}
		q := p
		q.Geometry = g
		all[2+n], _ = Map(context.Background(), q, Settings{})
		runtime.GOMAXPROCS(old)
	}
	for n, r := range all {
		if len(r.Theta) != 30 || !slices.Equal(r.Theta, all[0].Theta) || !slices.Equal(r.Models, all[0].Models) {
			t.Errorf("run %d differs", n)
		}
	}
	if !slices.Equal(p.Counts, before) || p.Prior[0] != 2 || p.Prior[29] != 2 {
		t.Error("the problem was changed")
	}
}

// TestMapLaws holds that the unit of the cost does not matter, that places and outputs have no order, and that the
// units of rows and prior say nothing. Modes are found to gainGoal, and rounding may decide where they are left.
//
// Where a release is far likelier for some inputs than for others, the posterior may have several modes, and which one
// is found may then depend on the order: in one of 400 of these worlds, which are more awkward than those of a policy.
func TestMapLaws(t *testing.T) {
	worlds := numtest.Cases(100, 400)
	differ := 0
	for seed := range uint64(worlds) {
		w := makeWorld(seed)
		k, kv := len(w.rows), len(w.counts)
		r := rand.New(rand.NewPCG(seed, 1))
		x, prior := make([][]float64, k), make([]float64, k)
		for i := range x {
			x[i] = []float64{float64(r.IntN(4)), r.NormFloat64()}
			prior[i] = .1 + r.Float64()
		}
		run := func(places, outputs []int, scale float64) Result {
			at, u := make([][]float64, k), make([]float64, k)
			for i, a := range places {
				at[i] = []float64{scale * x[a][0], scale * x[a][1]}
				u[i] = scale * prior[a]
			}
			m, err := cost.NewPoints(at, nil, 2)
			if err != nil {
				t.Fatal(err)
			}
			g, err := NewGeometry(context.Background(), m, 1)
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]uint64, kv)
			for j, b := range outputs {
				counts[j] = w.counts[b]
			}
			c, err := NewChannel(k, kv, func(i int, dst []float64) {
				for j, b := range outputs {
					dst[j] = scale * w.rows[places[i]][b]
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			res, err := Map(context.Background(), Problem{Counts: counts, Channel: c, Prior: u, Geometry: g}, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		places, outputs := r.Perm(k), r.Perm(kv)
		identity := func(n int) []int {
			out := make([]int, n)
			for i := range out {
				out[i] = i
			}
			return out
		}
		a, b := run(identity(k), identity(kv), 1), run(places, outputs, 1024)
		checkDistribution(t, a.Theta, k)
		for i, p := range places {
			if !(math.Abs(a.Theta[p]-b.Theta[i]) <= 5*gainGoal) {
				t.Logf("world %d, place %d: %v, and %v elsewhere", seed, p, a.Theta[p], b.Theta[i])
				differ++
				break
			}
		}
	}
	if differ > worlds/100 {
		t.Errorf("%d of %d maps depend on the order or the units", differ, worlds)
	}
}

// TestMapTwins holds that of two places at one point, which rows tell apart, each gets its share.
func TestMapTwins(t *testing.T) {
	const n = 1_000_000
	truth := []float64{.3, .02, .25, .01, .2, .05, .15, .02} // four points, two places each
	var at [][]float64
	rows := make([][]float64, len(truth))
	for i := range truth {
		at = append(at, []float64{float64(i / 2)})
		rows[i] = slices.Repeat([]float64{1}, len(truth))
		rows[i][i] = math.Exp(3)
	}
	m, err := cost.NewPoints(at, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := geometryOf(t, m)
	channel := channelOf(t, rows)
	counts := drawCounts(rand.New(rand.NewPCG(1, 1)), channel, truth, n)
	res, err := Map(context.Background(), Problem{Counts: counts, Channel: channel, Geometry: g}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// A share is that of an output, less the low ones, over the difference of high and low: its deviation is below this.
	deviation := (math.Exp(3) + 7) / (math.Exp(3) - 1) / (2 * math.Sqrt(n))
	for i, v := range res.Theta {
		if !(math.Abs(v-truth[i]) <= 4*deviation) {
			t.Errorf("place %d: %v, want %v within %v", i, v, truth[i], 4*deviation)
		}
	}
}

// TestMapFinds holds that all mass at one place is found as N grows.
func TestMapFinds(t *testing.T) {
	p := mapWorld(t, 2, 100)
	theta := make([]float64, 30)
	theta[11] = 1
	last := 0.0
	for _, n := range []int{30, 300, 3000, 300_000} {
		p.Counts = drawCounts(rand.New(rand.NewPCG(1, 2)), p.Channel, theta, n)
		res, err := Map(context.Background(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !(res.Theta[11] > last) {
			t.Errorf("%d releases: share %v after %v", n, res.Theta[11], last)
		}
		last = res.Theta[11]
	}
	if !(last > .99) {
		t.Errorf("share %v at the end", last)
	}
}

// TestSignalHolds holds the signal against what it is about: the distance of the map to the truth over that of the
// guess, in W_1. Means over the answers of each signal are on its side of the rule, with 0.15 for a prior that these
// truths are not drawn from.
func TestSignalHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var sum, count [3]float64
	for _, eps := range []float64{.3, 1, 2} {
		p := mapWorld(t, eps, 1)
		table := &cost.Dense{K: 30, Kv: 30}
		for i := range 30 {
			table.Data = append(table.Data, p.Geometry.dist.Row(i, make([]float64, 30))...)
		}
		w1 := func(a, b []float64) float64 {
			res, err := mincostflow.Transport(context.Background(), table, a, b)
			if err != nil {
				t.Fatal(err)
			}
			return res.Objective
		}
		for run := range 24 {
			truth := make([]float64, 30)
			x, y := r.IntN(30), r.IntN(30)
			for i := range truth {
				near := math.Exp(-table.Data[x*30+i]/.2) + .5*math.Exp(-table.Data[y*30+i]/.1)
				truth[i] = near + .3*float64(run%3)
			}
			normalized(truth)
			p.Counts = drawCounts(r, p.Channel, truth, []int{30, 300, 3000}[run/8])
			res, err := Map(context.Background(), p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			sum[res.Signal] += w1(res.Theta, truth) / w1(slices.Repeat([]float64{1}, 30), truth)
			count[res.Signal]++
		}
	}
	t.Logf("none %.2f (%v), weak %.2f (%v), ok %.2f (%v)", sum[0]/count[0], count[0], sum[1]/count[1], count[1],
		sum[2]/count[2], count[2])
	if !(sum[NoSignal]/count[NoSignal] > noSignal-.15) || !(sum[GoodSignal]/count[GoodSignal] < weakSignal+.15) ||
		!(sum[WeakSignal]/count[WeakSignal] > weakSignal-.15) {
		t.Errorf("mean ratios by signal: %v of %v", sum, count)
	}
}

// TestSignal holds the rule, and that it tells counts that say nothing from those that say much.
func TestSignal(t *testing.T) {
	for ratio, want := range map[float64]string{0: "none", 1: "none"} {
		if ratio == 0 {
			want = "ok"
		}
		if got := SignalOf(ratio).String(); got != want {
			t.Errorf("ratio %v: %s, want %s", ratio, got, want)
		}
	}
	for want := NoSignal; want <= GoodSignal; want++ {
		text, err := want.MarshalText()
		var got Signal
		if err2 := got.UnmarshalText(text); err != nil || err2 != nil || got != want {
			t.Errorf("%v as text %q: %v, %v, %v", want, text, got, err, err2)
		}
	}
	if err := new(Signal).UnmarshalText([]byte("good")); !errors.Is(err, wpmerr.ErrSettings) {
		t.Errorf("a name of no signal: %v", err)
	}
	if got := SignalOf(.8); got != WeakSignal || got.String() != "weak" {
		t.Errorf("ratio .8: %v", got)
	}
	if got := Signal(7).String(); got != "Signal(7)" {
		t.Error(got)
	}
	for _, c := range []struct {
		eps  float64
		n    int
		want Signal
	}{{.01, 100, NoSignal}, {.2, 30, NoSignal}, {1, 3000, GoodSignal}, {4, 1000, GoodSignal}} {
		res, err := Map(context.Background(), mapWorld(t, c.eps, c.n), Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if res.Signal != c.want {
			t.Errorf("eps %v, %d releases: %v (%v), want %v", c.eps, c.n, res.Signal, res.Ratio, c.want)
		}
	}
}

// TestWeighted: whole counts as weighted ones give the same map, and what is wrong with weighted ones is an error.
func TestWeighted(t *testing.T) {
	ctx := context.Background()
	c, err := cost.NewRing(12, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGeometry(ctx, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := NewChannel(12, 12, func(i int, dst []float64) {
		for j := range dst {
			if dst[j] = 1; i == j {
				dst[j] = 9
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	whole := []uint64{40, 3, 3, 5, 2, 1, 4, 30, 9, 4, 2, 5}
	p := Problem{Counts: whole, Channel: ch, Geometry: g}
	want, err := Map(ctx, p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	w := Problem{Channel: ch, Geometry: g}
	for _, n := range whole {
		w.Weighted = append(w.Weighted, float64(n))
	}
	got, err := Map(ctx, w, Settings{})
	if err != nil || !slices.Equal(got.Theta, want.Theta) {
		t.Errorf("%v, %v, want %v", got.Theta, err, want.Theta)
	}
	if _, err := EM(ctx, w); !errors.Is(err, ErrCounts) {
		t.Errorf("EM: %v", err)
	}
	both := w
	both.Counts = whole
	if _, err := Map(ctx, both, Settings{}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("counts of both sorts: %v", err)
	}
	for _, v := range []float64{-1, math.NaN(), math.Inf(1), 1 << 60} {
		bad := w
		bad.Weighted = slices.Clone(w.Weighted)
		bad.Weighted[3] = v
		if _, err := Map(ctx, bad, Settings{}); !errors.Is(err, ErrCounts) {
			t.Errorf("a count of %v: %v", v, err)
		}
	}
	none := w
	none.Weighted = make([]float64, 12)
	if _, err := Map(ctx, none, Settings{}); !errors.Is(err, ErrCounts) {
		t.Errorf("no releases: %v", err)
	}
	far := func(Result) (float64, error) { return 1, nil }
	if _, err := Map(ctx, p, Settings{Groups: -5, Far: far}); !errors.Is(err, wpmerr.ErrSettings) {
		t.Errorf("-5 groups, with Far: %v", err)
	}
	if _, err := Map(ctx, p, Settings{Groups: 1}); !errors.Is(err, wpmerr.ErrSettings) {
		t.Errorf("one group: %v", err)
	}
	coarse, err := Map(ctx, p, Settings{Groups: 6})
	if err != nil || len(coarse.Theta) != 12 || math.Abs(coarse.Theta[0]-want.Theta[0]) > 0.15 {
		t.Errorf("six groups: %v, %v, want about %v", coarse.Theta, err, want.Theta)
	}
}
