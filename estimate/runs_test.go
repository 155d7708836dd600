package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/wpmerr"
)

// few rows are scattered in a test.
const few = 12

// drawRuns draws rows of two values in each column of a random order, but for one entry each, and writes them out.
func drawRuns(t *rapid.T) (Runs, [][]float64) {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	k, kv := 1+r.IntN(few), 1+r.IntN(30)
	if r.IntN(8) == 0 { // more than a block of rows
		k += runsBlock
	}
	ratio := math.Exp([]float64{0, 1, 5, 30}[r.IntN(4)])
	out := Runs{}
	for _, j := range r.Perm(kv) {
		out.Order = append(out.Order, int32(j))
	}
	// With every low value 1 and all high ones ratio, the sum of a row is made 1 by what its odd output has more.
	spans, more, odd, largest := make([][]int32, k), make([]float64, k), make([]int, k), 0.0
	for i := range spans {
		sum, free := float64(kv), int32(r.IntN(kv))
		odd[i] = int(out.Order[free])
		for n := int32(0); int(n) < kv; n++ {
			if from := n; r.IntN(3) > 0 {
				for int(n) < kv && n != free && r.IntN(4) > 0 {
					n++
				}
				if n > from {
					spans[i] = append(spans[i], from, n)
					sum += float64(n-from) * (ratio - 1)
				}
			}
		}
		more[i], largest = sum, max(largest, sum)
	}
	largest += float64(r.IntN(2))
	rows := make([][]float64, k)
	for range kv {
		out.Low, out.High = append(out.Low, 1/largest), append(out.High, ratio/largest)
	}
	for i := range rows {
		more[i] = max(0, (largest-more[i])/largest)
		rows[i] = slices.Repeat([]float64{1 / largest}, kv)
		for s := 0; s < len(spans[i]); s += 2 {
			for n := spans[i][s]; n < spans[i][s+1]; n++ {
				rows[i][out.Order[n]] = ratio / largest
			}
		}
		rows[i][odd[i]] += more[i]
	}
	out.Row = func(i int, to []int32) ([]int32, int, float64, error) {
		return append(to, spans[i]...), odd[i], more[i], nil
	}
	return out, rows
}

// TestRuns holds a channel of runs in any order against the rows written out.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs, rows := drawRuns(t)
		c, err := NewRuns(context.Background(), len(rows), runs)
		if err != nil {
			t.Fatal(err)
		}
		checkProducts(t, c, rows)
		if len(rows) <= few && !checkScatter(t, c) {
			t.Fatal("no scatter")
		}
	})
}

// TestRunsErrors: what makes no rows is refused, and an error of a row or of the context ends the making.
func TestRunsErrors(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	own := errors.New("no row")
	good := func() Runs {
		return Runs{Order: []int32{1, 0}, Low: []float64{.25, .25}, High: []float64{.5, .5},
			Row: func(_ int, spans []int32) ([]int32, int, float64, error) { return append(spans, 0, 1), 0, .25, nil }}
	}
	row := func(r *Runs, spans []int32, j int, more float64, err error) {
		r.Row = func(int, []int32) ([]int32, int, float64, error) { return spans, j, more, err }
	}
	for name, c := range map[string]struct {
		k      int
		ctx    context.Context
		change func(r *Runs)
		want   error
	}{
		"good":              {2, nil, func(*Runs) {}, nil},
		"no rows":           {0, nil, func(*Runs) {}, wpmerr.ErrShape},
		"no outputs":        {2, nil, func(r *Runs) { *r = Runs{} }, wpmerr.ErrShape},
		"too few values":    {2, nil, func(r *Runs) { r.Low = r.Low[1:] }, wpmerr.ErrShape},
		"an output twice":   {2, nil, func(r *Runs) { r.Order[0] = 0 }, wpmerr.ErrShape},
		"no such output":    {2, nil, func(r *Runs) { r.Order[0] = 2 }, wpmerr.ErrShape},
		"low above high":    {2, nil, func(r *Runs) { r.Low[1] = .6 }, ErrChannel},
		"a negative value":  {2, nil, func(r *Runs) { r.Low[1] = -.1 }, ErrChannel},
		"no number":         {2, nil, func(r *Runs) { r.High[1] = math.NaN() }, ErrChannel},
		"a sum below 1":     {2, nil, func(r *Runs) { row(r, []int32{0, 1}, 0, .2, nil) }, ErrChannel},
		"less at an output": {2, nil, func(r *Runs) { row(r, []int32{0, 2}, 0, -.1, nil) }, ErrChannel},
		"odd elsewhere":     {2, nil, func(r *Runs) { row(r, []int32{0, 1}, 2, .25, nil) }, ErrChannel},
		"an empty span":     {2, nil, func(r *Runs) { row(r, []int32{0, 0, 0, 1}, 0, .25, nil) }, wpmerr.ErrShape},
		"adjacent spans":    {2, nil, func(r *Runs) { row(r, []int32{0, 1, 1, 2}, 0, 0, nil) }, wpmerr.ErrShape},
		"a span too far":    {2, nil, func(r *Runs) { row(r, []int32{0, 3}, 0, 0, nil) }, wpmerr.ErrShape},
		"an error of a row": {2, nil, func(r *Runs) { row(r, nil, 0, 0, own) }, own},
		"an ended context":  {2, ended, func(*Runs) {}, wpmerr.ErrNotConverged},
	} {
		r := good()
		c.change(&r)
		if got, err := NewRuns(c.ctx, c.k, r); !errors.Is(err, c.want) || (got == nil) != (err != nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestCoarseRows: the rows of groups are the means of the rows of their places, by the prior.
func TestCoarseRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs, rows := drawRuns(t)
		c, err := NewRuns(context.Background(), len(rows), runs)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(len(rows)), 3))
		k, kv := c.Dims()
		prior := someTheta(r, k)
		draw := func(n int) (by groups) {
			by = groups{of: make([]int, n), centers: make([]int, 1+r.IntN(min(n, few))), size: make([]float64, n)}
			for i := range by.of {
				by.of[i] = r.IntN(len(by.centers))
				by.size[by.of[i]]++
			}
			return by
		}
		by, outputs := draw(k), draw(kv)
		f := &fit{channel: c, prior: prior, within: prior, counts: make([]float64, kv), guess: make([]float64, kv)}
		mass, m := by.sum(prior), len(outputs.centers)
		want := make([]float64, len(by.centers)*m)
		for i, a := range by.of {
			share := 1 / by.size[a]
			if mass[a] > 0 {
				share = prior[i] / mass[a]
			}
			for j, b := range outputs.of {
				want[a*m+b] += share * rows[i][j]
			}
		}
		n := len(by.centers)
		switch whole, err := c.Merge(by.of, n, prior); {
		case slices.Contains(by.size[:n], 0):
			if err == nil {
				t.Fatal("a group without places")
			}
		case err != nil:
			t.Fatal(err)
		default:
			for a := range n {
				for b, got := range outputs.sum(whole.row(a)) {
					if w := want[a*m+b]; !(math.Abs(got-w) <= 1e-8*w) {
						t.Fatalf("merged group %d, outputs %d: %v, want %v", a, b, got, w)
					}
				}
			}
		}
		for n, got := range f.coarse(by, outputs).channel.rows {
			if !(math.Abs(got-want[n]) <= 1e-8*want[n]) { // as in TestChannelProducts
				t.Fatalf("group %d, outputs %d: %v, want %v", n/m, n%m, got, want[n])
			}
		}
	})
}
