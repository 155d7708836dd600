package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestCoarseLoss holds what groups of places cost in W_1 against Map with every place by itself: half as many groups as
// 225 and 400 places, and the groups of larger maps for 900 places. The limits are those of the documentation; there are
// more kinds of maps than those on which the rule of the groups was chosen, and the seed is another. It also holds what is
// lost where a map of groups is the result if it is far enough from the truth (Settings.Far).
func TestCoarseLoss(t *testing.T) {
	type releases struct {
		eps, share float64
		n          int
	}
	for n, size := range []struct {
		side, runs int
		ladder     ladder
		rough      int     // groups to begin with
		held       []int   // groups that may be enough
		most       float64 // of the geometric mean: what the comment of Map says, or half of that for more cases
		releases   []releases
	}{
		{15, 2, ladder{rungs: []int{32, 112}}, 56, []int{84, 84}, 1.02,
			[]releases{{1, .333, 300}, {2, .2, 2800}, {4, .077, 2800}}},
		{20, 4, ladder{rungs: []int{57, 200}}, 100, []int{roughGroups, roughGroups, middleGroups}, 1.01,
			[]releases{{1, .333, 500}, {2, .2, 5000}, {4, .077, 5000}}},
		{30, 1, ladder{rungs: []int{roughGroups, fineGroups}, outputs: outputGroups}, roughGroups,
			[]int{roughGroups, roughGroups, middleGroups, fineGroups}, 1.01,
			[]releases{{1, .333, 20000}, {2, .2, 20000}, {2, .2, 200000}, {4, .077, 20000}}},
	} {
		if n > 0 && !numtest.Full() { // five minutes
			break
		}
		side, runs := size.side, float64(size.runs)
		m, err := cost.NewGrid(side, side, 1)
		if err != nil {
			t.Fatal(err)
		}
		g, dist := geometryOf(t, m)
		table := &cost.Dense{K: g.K(), Kv: g.K(), Data: slices.Concat(dist...)}
		w1 := func(a, b []float64) float64 {
			r, err := mincostflow.Transport(context.Background(), table, a, b)
			if err != nil {
				t.Fatal(err)
			}
			return r.Objective * float64(side)
		}
		r := rand.New(rand.NewPCG(2026, 18))
		logs, cases, beginning, holding := 0.0, 0.0, 0.0, 0.0
		for _, truth := range coarseTruths(r, side) {
			for _, c := range size.releases {
				channel := channelOf(t, discs(dist, c.eps, c.share))
				fine, coarse, begun, held := 0.0, 0.0, 0.0, 0.0
				for range size.runs {
					p := Problem{Counts: drawCounts(r, channel, truth.theta, c.n), Channel: channel, Geometry: g}
					a, err := mapOf(context.Background(), p, Settings{}, g.K(), ladder{})
					if err != nil {
						t.Fatal(err)
					}
					b, err := mapOf(context.Background(), p, Settings{}, 0, size.ladder)
					if err != nil {
						t.Fatal(err)
					}
					checkDistribution(t, b.Theta, g.K())
					first, err := mapOf(context.Background(), p, Settings{}, 0,
						ladder{rungs: []int{size.rough}, whole: g.K(), outputs: outputGroups})
					if err != nil {
						t.Fatal(err)
					}
					enough, err := mapOf(context.Background(), p, Settings{Draws: 10, Far: func(r Result) (float64, error) {
						off := 0.0
						for _, draw := range r.Draws {
							off += w1(draw, r.Theta) / float64(len(r.Draws))
						}
						return off / float64(side), nil
					}}, 0, ladder{rungs: size.held, whole: g.K(), outputs: outputGroups})
					if err != nil {
						t.Fatal(err)
					}
					held += w1(enough.Theta, truth.theta)
					fine, coarse = fine+w1(a.Theta, truth.theta), coarse+w1(b.Theta, truth.theta)
					begun += w1(first.Theta, truth.theta)
				}
				t.Logf("%d places, %s, %+v: every place %.3f, groups %.3f (%.3f), begun with groups %.3f, if far enough %.3f", g.K(),
					truth.name, c, fine/runs, coarse/runs, coarse/fine, begun/fine, held/fine)
				if !(coarse <= 1.2*fine) {
					t.Errorf("%d places, %s, %+v: %v with groups, %v without", g.K(), truth.name, c, coarse/runs, fine/runs)
				}
				if !(held <= 1.2*fine) {
					t.Errorf("%d places, %s, %+v: %v if groups may be enough, %v without", g.K(), truth.name, c, held/runs, fine/runs)
				}
				// Where groups only say where to begin, and which models to fit, a map is as good.
				if !(begun <= 1.05*fine) { // what the comment of Map says
					t.Errorf("%d places, %s, %+v: %v begun with groups, %v without", g.K(), truth.name, c, begun/runs, fine/runs)
				}
				logs, cases, beginning = logs+math.Log(coarse/fine), cases+1, beginning+math.Log(begun/fine)
				holding += math.Log(held / fine)
			}
		}
		coarse, begun, held := math.Exp(logs/cases), math.Exp(beginning/cases), math.Exp(holding/cases)
		t.Logf("%d places, geometric mean of %v cases: groups %.3f, begun with groups %.3f, if far enough %.3f", g.K(), cases,
			coarse, begun, held)
		if !(coarse <= size.most) || !(begun <= 1.01) || !(held <= size.most) {
			t.Errorf("%d places: by the geometric mean, groups are %.3f times as far from the truth, maps begun with them %.3f, "+
				"and maps of groups if these may be enough %.3f", g.K(), coarse, begun, held)
		}
	}
}

type coarseTruth struct {
	name  string
	theta []float64
}

// coarseTruths are maps of a square grid of the unit square.
func coarseTruths(r *rand.Rand, side int) []coarseTruth {
	at := func(i int) (x, y float64) { return float64(i%side) / float64(side), float64(i/side) / float64(side) }
	bump := func(i int, x, y, sd float64) float64 {
		a, b := at(i)
		return math.Exp(-((a-x)*(a-x)+(b-y)*(b-y))/(2*sd*sd)) / (sd * sd)
	}
	road := func(d float64) float64 { return math.Exp(-d * d / .0025) }
	var out []coarseTruth
	for _, truth := range []struct {
		name    string
		density func(i int) float64
	}{
		{"spread", func(i int) float64 { return .5 + bump(i, .6, .45, .25) }},
		{"centres", func(i int) float64 {
			return .01 + .5*bump(i, .75, .2, .06) + .3*bump(i, .3, .4, .04) + .2*bump(i, .5, .8, .08)
		}},
		{"point", func(i int) float64 { return 1e-4 + bump(i, .3, .7, .03) }},
		{"roads", func(i int) float64 {
			x, y := at(i)
			return .01 + road(x-.3) + road(y-.6) + .7*road((x-y)/math.Sqrt2)
		}},
		{"rough", func(int) float64 { return math.Exp(1.5 * r.NormFloat64()) }},
	} {
		theta := make([]float64, side*side)
		for i := range theta {
			theta[i] = truth.density(i)
		}
		normalized(theta)
		out = append(out, coarseTruth{truth.name, theta})
	}
	return out
}

// TestMergeErrors: what is no partition is refused.
func TestMergeErrors(t *testing.T) {
	c := channelOf(t, [][]float64{{.7, .3}, {.5, .5}, {.3, .7}})
	for name, bad := range map[string]func() error{
		"too few places": func() error { _, err := c.Merge([]int{0, 0}, 1, nil); return err },
		"no such group":  func() error { _, err := c.Merge([]int{0, 1, 2}, 2, nil); return err },
		"below 0":        func() error { _, err := c.Merge([]int{0, 1, -1}, 2, nil); return err },
		"an empty group": func() error { _, err := c.Merge([]int{0, 0, 0}, 2, nil); return err },
		"a short prior":  func() error { _, err := c.Merge([]int{0, 0, 0}, 1, []float64{1}); return err },
	} {
		if err := bad(); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGroups holds that every place is in the group of the nearest center, and that groups of one place each are the
// places.
func TestGroups(t *testing.T) {
	m, err := cost.NewGrid(5, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, m)
	k := g.K()
	channel := channelOf(t, discs(dist, 1, .3))
	r := rand.New(rand.NewPCG(1, 1))
	p := Problem{Counts: drawCounts(r, channel, someTheta(r, k), 300), Channel: channel, Geometry: g}
	f, err := newFit(p)
	if err != nil {
		t.Fatal(err)
	}
	theta := someTheta(r, k)
	by, err := f.group(context.Background(), g, theta, 9)
	if err != nil || len(by.centers) != 9 {
		t.Fatalf("%d groups, error %v", len(by.centers), err)
	}
	for i, a := range by.of {
		for _, c := range by.centers {
			if dist[i][c] < dist[i][by.centers[a]] {
				t.Errorf("place %d is %v from its center and %v from another", i, dist[i][by.centers[a]], dist[i][c])
			}
		}
	}
	all, err := Map(context.Background(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	each, err := mapOf(context.Background(), p, Settings{}, 0, ladder{rungs: []int{k, k}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Theta {
		// Modes are found to gainGoal.
		if d := math.Abs(all.Theta[i] - each.Theta[i]); !(d <= gainGoal) {
			t.Errorf("place %d: %v with all places, %v with each its group", i, all.Theta[i], each.Theta[i])
		}
	}
}

// TestGroupsAreThoseOfRows compares Groups with the rule as it is stated, by whole rows: on points, with ties and copies, on
// a sphere, and on a table.
func TestGroupsAreThoseOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, kind := rapid.IntRange(1, 80).Draw(t, "k"), rapid.IntRange(0, 4).Draw(t, "kind")
		var points [][]float64
		var places [][2]float64
		weight := make([]float64, k)
		for i := range k {
			coordinate := rapid.Float64Range(-70, 70)
			if kind == 0 || kind == 4 {
				unit := 1.
				if kind == 4 { // so small that halves are rounded
					unit = math.SmallestNonzeroFloat64
				}
				coordinate = rapid.Map(rapid.IntRange(-9, 9), func(n int) float64 { return float64(n) * unit })
			}
			x, y := coordinate.Draw(t, "x"), coordinate.Draw(t, "y")
			points, places = append(points, []float64{x, y}), append(places, [2]float64{x, y})
			weight[i] = rapid.SampledFrom([]float64{0, 1, 1, 8, 1e-9, 1e6}).Draw(t, "weight")
		}
		var m cost.Matrix
		var err error
		if kind == 3 {
			m, err = cost.NewGreatCircle(places, nil, 1)
		} else if m, err = cost.NewPoints(points, nil, 1); err == nil && kind == 2 {
			m, err = cost.Materialize(t.Context(), m)
		}
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGeometry(t.Context(), m, 1)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, k+3).Draw(t, "n")
		of, centers, err := g.Groups(t.Context(), weight, n)
		if err != nil {
			t.Fatal(err)
		}
		near, score := slices.Repeat([]float64{math.Inf(1)}, k), make([]float64, k)
		want, list := make([]int, k), []int{}
		for next := argmax(weight); len(list) < n && near[next] > 0; next = argmax(score) {
			for i, d := range g.Row(next, make([]float64, k)) {
				if d < near[i] {
					near[i], want[i] = d, len(list)
				}
				score[i] = near[i] * math.Cbrt(weight[i])
			}
			list = append(list, next)
		}
		if !slices.Equal(of, want) || !slices.Equal(centers, list) {
			t.Fatalf("groups %v around %v, want %v around %v", of, centers, want, list)
		}
	})
}

// TestGroupsOfNextToNothing: half of three times the smallest number is rounded up, and tells nothing of a place there.
func TestGroupsOfNextToNothing(t *testing.T) {
	const u = math.SmallestNonzeroFloat64
	m, err := cost.NewPoints([][]float64{{0}, {3 * u}, {2 * u}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := geometryOf(t, m)
	of, _, err := g.Groups(t.Context(), []float64{1, 1, 1}, 2)
	if err != nil || !slices.Equal(of, []int{0, 1, 1}) {
		t.Errorf("groups %v, %v", of, err)
	}
}

// TestMergeOutputs: the law of a group of outputs is the sum of those of its outputs, for rows of two values and for
// others.
func TestMergeOutputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, kv := rapid.IntRange(1, 9).Draw(t, "k"), rapid.IntRange(1, 40).Draw(t, "kv")
		discs := rapid.Bool().Draw(t, "discs")
		c, err := NewChannel(k, kv, func(i int, dst []float64) {
			for j := range dst {
				dst[j] = 1
				if d := max(i-j, j-i); d <= 3 {
					dst[j] = 5
				} else if !discs {
					dst[j] = 1 + float64(i*j%7)
				}
			}
			dst[i%kv] = 3
		})
		if err != nil {
			t.Fatal(err)
		}
		m := rapid.IntRange(1, kv).Draw(t, "m")
		of := make([]int, kv)
		for j := range of {
			of[j] = j % m
		}
		merged, err := c.MergeOutputs(context.Background(), of, m)
		if err != nil {
			t.Fatal(err)
		}
		theta := rapid.SliceOfN(rapid.Float64Range(0.1, 1), k, k).Draw(t, "theta")
		want := make([]float64, m)
		q, err := c.Law(theta)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range q {
			want[of[j]] += v
		}
		got, err := merged.Law(theta)
		if err != nil {
			t.Fatal(err)
		}
		for b := range want {
			if math.Abs(got[b]-want[b]) > 1e-12 { // shares, of sums of 40
				t.Fatalf("group %d has %v, want %v", b, got[b], want[b])
			}
		}
	})
	c, err := NewChannel(2, 2, func(_ int, dst []float64) { dst[0], dst[1] = 1, 1 })
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range [][]int{nil, {0}, {0, 2}, {0, -1}, {0, 0}} {
		if _, err := c.MergeOutputs(t.Context(), of, 2); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%v: %v", of, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.MergeOutputs(ctx, []int{0, 1}, 2); !errors.Is(err, wpmerr.ErrNotConverged) {
		t.Errorf("cancelled: %v", err)
	}
}
