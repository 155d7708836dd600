package series

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/wpmerr"
)

// side of the grid, in cells.
const side = 8

// world has rows with a disc around each cell of a grid, of high weight e^eps times the low one.
func world(t testing.TB, eps string, radius float64) atlas.World {
	t.Helper()
	c, err := cost.NewGrid(side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		t.Fatal(err)
	}
	k := side * side
	base := slices.Repeat([]float64{0.7 / float64(k)}, k)
	box, err := ldp.NewPolytope(e, base, 40)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float64, k)
	w, err := atlas.OfRows(context.Background(), c, func(i int) ldp.Weights {
		for j, d := range c.Row(i, make([]float64, k)) {
			row[j] = math.Exp(-d * radius)
		}
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for j := range row {
			row[j] /= sum
		}
		return box.Round(row)
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// bump is a population around a cell.
func bump(x, y float64) []float64 {
	out, sum := make([]float64, side*side), 0.0
	for i := range out {
		out[i] = math.Exp(-(math.Pow(float64(i%side)-x, 2) + math.Pow(float64(i/side)-y, 2)) / 4)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func drawn(t testing.TB, w atlas.World, truth []float64, n int, r *rand.Rand) []uint64 {
	t.Helper()
	law, err := w.Channel.Law(truth)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint64, len(law))
	for range n {
		x, j := r.Float64(), 0
		for ; j < len(law)-1 && x >= law[j]; j++ {
			x -= law[j]
		}
		out[j]++
	}
	return out
}

// moving are epochs of a population of which a share moves each time, with the truth of each.
func moving(t testing.TB, worlds []atlas.World, n, epochs int, share float64, seed uint64) (list []Epoch, truths [][]float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	from, to := bump(2, 2), bump(6, 5)
	for m := range epochs {
		stay := math.Pow(1-share, float64(m))
		truth := make([]float64, len(from))
		for i := range truth {
			truth[i] = stay*from[i] + (1-stay)*to[i]
		}
		w := worlds[m%len(worlds)]
		list = append(list, Epoch{Name: fmt.Sprint(m), Number: m, World: w, Counts: drawn(t, w, truth, n, r)})
		truths = append(truths, truth)
	}
	return list, truths
}

func distance(t testing.TB, w atlas.World, a, b []float64) float64 {
	t.Helper()
	d, err := w.Distance(context.Background(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMaps: of people who stay, maps in a row are nearer to the truth than maps of one epoch, and trust older reports;
// of people who move at once they do not trust them, and are those of one epoch. A month more changes no map before it.
func TestMaps(t *testing.T) {
	ctx := context.Background()
	w := world(t, "3", 6)
	for _, c := range []struct {
		share       float64
		least, most float64 // of the errors, over those of one epoch
		old         bool    // the last map uses older reports
	}{{0, 0, 0.85, true}, {0.95, 0.999, 1.001, false}} {
		epochs, truths := moving(t, []atlas.World{w}, 400, 5, c.share, 2)
		list, err := Maps(ctx, epochs, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		alone, row := 0.0, 0.0
		for m, e := range epochs {
			one, err := w.Map(ctx, e.Counts, atlas.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			alone += distance(t, w, one.Shares, truths[m])
			row += distance(t, w, list[m].Shares, truths[m])
		}
		if of := row / alone; of < c.least || of > c.most {
			t.Errorf("%v move: maps in a row have %.2f of the error, want %v to %v", c.share, of, c.least, c.most)
		}
		last := list[len(list)-1]
		if (last.Rate > 0) != c.old || (last.Worth > 400.5) != c.old {
			t.Errorf("%v move: rate %v, worth %v reports", c.share, last.Rate, last.Worth)
		}
		first, err := Maps(ctx, epochs[:3], Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for m := range first {
			if !slices.Equal(first[m].Shares, list[m].Shares) || *first[m].Error != *list[m].Error {
				t.Errorf("%v move: epoch %d changes when epochs are added", c.share, m)
			}
		}
	}
}

// TestDrift: where older reports are used and people move, the stated error is larger than that of chance, and the real
// one is in keeping with it.
func TestDrift(t *testing.T) {
	ctx := context.Background()
	w := world(t, "1", 6)
	real, stated, drift := 0.0, 0.0, 0.0
	for seed := range uint64(3) {
		epochs, truths := moving(t, []atlas.World{w}, 1500, 6, 0.1, seed)
		list, err := Maps(ctx, epochs, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for m, x := range list {
			real += distance(t, w, x.Shares, truths[m])
			stated += x.Error.Expected
			drift += x.Drift
		}
	}
	if drift == 0 {
		t.Error("nothing drifts")
	}
	if of := real / stated; of < 1/1.6 || of > 1.6 { // three worlds; lab's study has the figures of many
		t.Errorf("real errors are %.2f of stated ones", of)
	}
}

// TestPolicies: reports of two policies give one map, nearer to the truth than those of one; the order of policies does
// not matter.
func TestPolicies(t *testing.T) {
	ctx := context.Background()
	worlds := []atlas.World{world(t, "3", 6), world(t, "2", 3)}
	epochs, truths := moving(t, worlds, 400, 4, 0, 5)
	list, err := Maps(ctx, epochs, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := worlds[1].Map(ctx, epochs[3].Counts, atlas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	last := list[3]
	if last.Rate == 0 {
		t.Fatal("older reports are not used: the test says nothing")
	}
	if a, b := distance(t, worlds[0], last.Shares, truths[3]), distance(t, worlds[0], one.Shares, truths[3]); a >= b {
		t.Errorf("error %v of both policies, %v of one", a, b)
	}
	if last.Raw != nil {
		t.Error("reports of two policies are shown as shares")
	}
}

// TestChanges: equal reports show no change, and a population that has moved shows where from and where to.
func TestChanges(t *testing.T) {
	ctx := context.Background()
	w := world(t, "3", 6)
	r := rand.New(rand.NewPCG(1, 2))
	before := Epoch{Name: "a", World: w, Counts: drawn(t, w, bump(1, 1), 3000, r)}
	after := Epoch{Name: "b", World: w, Counts: drawn(t, w, bump(6, 1), 3000, r)}
	west := make([]float64, side*side)
	for i := range west {
		if i%side < side/2 {
			west[i] = 1
		}
	}
	same, err := Changes(ctx, before, before, [][]float64{west}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if c := same[0]; c.Known() || c.Likeliest != 0 || c.Lower > -1e-3 || c.Upper < 1e-3 {
		t.Errorf("equal reports: %+v", c)
	}
	list, err := Changes(ctx, before, after, [][]float64{west}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	truth := 0.0
	for i, v := range bump(6, 1) {
		truth += west[i] * (v - bump(1, 1)[i])
	}
	if c := list[0]; !c.Known() || c.Lower > truth || c.Upper < truth {
		t.Errorf("a change of %v: %+v", truth, c)
	}
}

// TestCoverage: the interval of a change holds it about as often as its level says.
func TestCoverage(t *testing.T) {
	ctx := context.Background()
	w := world(t, "2", 6)
	r := rand.New(rand.NewPCG(7, 7))
	west := make([]float64, side*side)
	for i := range west {
		if i%side < side/2 {
			west[i] = 1
		}
	}
	from, to := bump(3, 3), bump(4, 4)
	truth := 0.0
	for i := range west {
		truth += west[i] * (to[i] - from[i])
	}
	const runs = 60
	held := 0
	for range runs {
		list, err := Changes(ctx, Epoch{World: w, Counts: drawn(t, w, from, 800, r)}, Epoch{World: w, Counts: drawn(t, w, to, 800, r)},
			[][]float64{west}, Settings{Level: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		if list[0].Lower <= truth && truth <= list[0].Upper {
			held++
		}
	}
	if held < 47 { // of a binomial law with 60 and 0.9, fewer have probability 0.004
		t.Errorf("%d of %d intervals hold the change", held, runs)
	}
}

// TestSame: equal epochs give equal bits.
func TestSame(t *testing.T) {
	w := world(t, "2", 6)
	epochs, _ := moving(t, []atlas.World{w}, 300, 3, 0.1, 9)
	var last []Moment
	for range 2 {
		list, err := Maps(context.Background(), epochs, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for m := range last {
			if !slices.Equal(last[m].Shares, list[m].Shares) || *last[m].Error != *list[m].Error {
				t.Errorf("epoch %d differs from run to run", m)
			}
		}
		last = list
	}
}

// elsewhere is a world of as many places in a row.
func elsewhere(t *testing.T, w atlas.World) atlas.World {
	t.Helper()
	c, err := cost.NewGrid(1, side*side, 1)
	if err == nil {
		w.Geometry, err = estimate.NewGeometry(context.Background(), c, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Between = c
	return w
}

// TestErrors: whatever is wrong has its error, which names the epoch.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	w := world(t, "2", 6)
	good := Epoch{Name: "good", Number: 4, World: w, Counts: slices.Repeat([]uint64{3}, side*side)}
	with := func(change func(*Epoch)) []Epoch {
		e := good
		e.Name, e.Number = "bad", 5
		change(&e)
		return []Epoch{good, e}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for name, c := range map[string]struct {
		ctx    context.Context
		epochs []Epoch
		want   error
	}{
		"none":         {ctx, nil, wpmerr.ErrShape},
		"no world":     {ctx, with(func(e *Epoch) { e.World = atlas.World{} }), estimate.ErrChannel},
		"no reports":   {ctx, with(func(e *Epoch) { e.Counts = make([]uint64, side*side) }), estimate.ErrCounts},
		"short":        {ctx, with(func(e *Epoch) { e.Counts = e.Counts[1:] }), wpmerr.ErrShape},
		"out of order": {ctx, with(func(e *Epoch) { e.Number = 4 }), wpmerr.ErrShape},
		"no distances": {ctx, with(func(e *Epoch) { e.World.Geometry = nil }), estimate.ErrNoGeometry},
		"elsewhere":    {ctx, with(func(e *Epoch) { e.World = elsewhere(t, w) }), wpmerr.ErrShape},
		"canceled":     {canceled, []Epoch{good}, wpmerr.ErrNotConverged},
	} {
		if _, err := Maps(c.ctx, c.epochs, Settings{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	nameless := with(func(e *Epoch) { e.Name, e.Number, e.World = "", 7, atlas.World{} })
	if _, err := Maps(ctx, nameless, Settings{}); err == nil || !strings.HasPrefix(err.Error(), "epoch 7: ") {
		t.Errorf("an epoch without a name: %v", err)
	}
	if _, err := Maps(ctx, []Epoch{good}, Settings{Prior: []float64{1}}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("a short prior: %v", err)
	}
}
