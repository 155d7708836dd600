package patch

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/estimate"
	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// dense finds patches from the signals of all pairs of places. If first, what is inseparable whatever else is, is joined
// before: places without mass, and places with one row.
func dense(t testing.TB, ch *estimate.Channel, prior []float64, devices int64, first bool) Patches {
	t.Helper()
	k, kv := ch.Dims()
	u, err := estimate.Guess(prior, k)
	if err != nil {
		t.Fatal(err)
	}
	q, err := ch.Law(u)
	if err != nil {
		t.Fatal(err)
	}
	inverse := make([]float64, kv)
	for y, v := range q {
		if v > 0 {
			inverse[y] = 1 / v
		}
	}
	sum, same := ch.Contrast(inverse), ch.Same()
	of, members := make([]int32, k), [][]int(nil)
	for i := range k {
		n := len(members)
		for j := range i {
			if first && (u[i] == 0 && u[j] == 0 || u[i] > 0 && u[j] > 0 && same[i] == same[j]) {
				n = int(of[j])
				break
			}
		}
		if of[i] = int32(n); n == len(members) {
			members = append(members, nil)
		}
		members[n] = append(members[n], i)
	}
	n := len(members)
	apart := make([]float64, n*n)
	for i := range k {
		for j := range i {
			v, _ := sum(j, i, math.Inf(1))
			v *= float64(devices) * (u[i] + u[j]) * (u[i] + u[j])
			a, b := int(of[i]), int(of[j])
			apart[a*n+b], apart[b*n+a] = max(apart[a*n+b], v), max(apart[b*n+a], v)
		}
	}
	return patches(of, denseLink(apart, n))
}

// denseLink joins nodes by complete linkage, in chains of nearest neighbours, while the largest signal between two sets is
// below separable. apart is k x k and symmetric; it is changed. Sets whose nearest other is at separable or above are
// done: joining others never brings them nearer.
func denseLink(apart []float64, k int) []int32 {
	root := make([]int32, k)
	parent, open := make([]int, k), make([]bool, k)
	for i := range k {
		parent[i], open[i] = i, true
	}
	var chain []int
	for start := 0; start < k; {
		if len(chain) == 0 {
			if !open[start] {
				start++
				continue
			}
			chain = append(chain, start)
		}
		i := chain[len(chain)-1]
		before := -1
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		// The set before is taken among equals, so that a chain ends.
		next := before
		for j, v := range apart[i*k:][:k] {
			if j != i && open[j] && (next < 0 || v < apart[i*k+next]) {
				next = j
			}
		}
		switch {
		case next < 0 || !(apart[i*k+next] < separable):
			open[i] = false // done; the chain before it goes on without it
			chain = chain[:len(chain)-1]
		case next == before:
			chain = chain[:len(chain)-2]
			a, b := min(i, next), max(i, next)
			parent[b], open[b] = a, false
			for j := range k {
				far := max(apart[a*k+j], apart[b*k+j])
				apart[a*k+j], apart[j*k+a] = far, far
			}
		default:
			chain = append(chain, next)
		}
	}
	for i := range k {
		if root[i] = int32(i); parent[i] != i {
			root[i] = root[parent[i]]
		}
	}
	return root
}

// discs are rows of a disc policy on a grid, where many pairs have the same signal.
func discs(t testing.TB, side, reach int, odds float64) *estimate.Channel {
	t.Helper()
	k := side * side
	high := make([][]int32, k)
	widest := 0
	for i := range high {
		for j := range int32(k) {
			x, y := i%side-int(j)%side, i/side-int(j)/side
			if x*x+y*y > reach {
				continue
			}
			if n := len(high[i]); n > 0 && high[i][n-1] == j {
				high[i][n-1]++
			} else {
				high[i] = append(high[i], j, j+1)
			}
		}
		widest = max(widest, size(high[i]))
	}
	r := estimate.Runs{Low: make([]float64, k), High: make([]float64, k), Order: make([]int32, k)}
	total := float64(k) + float64(widest)*(odds-1)
	for j := range k {
		r.Order[j], r.Low[j], r.High[j] = int32(j), 1/total, odds/total
	}
	r.Row = func(i int, spans []int32) ([]int32, int, float64, error) {
		free := 0
		for n := 0; n < len(high[i]) && int(high[i][n]) <= free; n += 2 {
			free = int(high[i][n+1])
		}
		return append(spans, high[i]...), free % k, float64(widest-size(high[i])) * (odds - 1) / total, nil
	}
	ch, err := estimate.NewRuns(t.Context(), k, r)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func size(spans []int32) (n int) {
	for i := 0; i < len(spans); i += 2 {
		n += int(spans[i+1] - spans[i])
	}
	return n
}

// drawChannel draws rows that are far from each other, near, equal, or on a line, where many pairs have the same signal.
func drawChannel(t *rapid.T, tb testing.TB) *estimate.Channel {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "channel"), 5))
	if r.IntN(3) == 0 {
		return discs(tb, 2+r.IntN(9), r.IntN(30), 1+math.Exp(3*r.NormFloat64()))
	}
	k, kv := 1+r.IntN(40), 1+r.IntN(100)
	rows := make([][]float64, k)
	near, steps := math.Pow(10, -6*r.Float64()), 1+r.IntN(5)
	for i := range rows {
		if rows[i] = make([]float64, kv); i > 0 && r.IntN(3) == 0 {
			rows[i] = rows[r.IntN(i)]
			continue
		}
		for y := range rows[i] {
			rows[i][y] = 1 + near*float64(r.IntN(steps))
		}
	}
	return channelOf(tb, rows)
}

// TestDense: patches are those by the signals of all pairs, also where pairs have the same signal. Where every place has
// mass, it makes no difference that places with one row are joined first.
func TestDense(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ch := drawChannel(r, t)
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "prior"), 6))
		k, _ := ch.Dims()
		prior, zeros := []float64(nil), false
		if kind := rnd.IntN(4); kind > 0 {
			for range k {
				prior = append(prior, []float64{0, 1, rnd.Float64(), math.Exp(8 * rnd.NormFloat64())}[kind])
			}
			for i := range prior {
				if i > 0 && rnd.IntN(6) == 0 && kind != 2 {
					prior[i], zeros = 0, true
				}
			}
		}
		devices := int64(math.Pow(10, 12*rnd.Float64()))
		got, err := Find(t.Context(), ch, prior, devices)
		if err != nil {
			r.Fatal(err)
		}
		if want := dense(t, ch, prior, devices, true); !reflect.DeepEqual(got, want) {
			r.Fatalf("patches %v, want %v", got, want)
		}
		if want := dense(t, ch, prior, devices, false); !zeros && !reflect.DeepEqual(got, want) {
			r.Fatalf("patches %v, and %v if rows that are equal are not joined first", got, want)
		}
	})
}

// TestNear: the tree and the index find every pair that is inseparable. The tree reads a quarter of what all points are at
// most, and the index two numbers for each pair.
func TestNear(t *testing.T) {
	ch := discs(t, 40, 200, math.E)
	k, _ := ch.Dims()
	u := slices.Repeat([]float64{1 / float64(k)}, k)
	all := map[pair]bool{}
	for name, most := range map[string]int64{"tree": int64(k * k / 2 * blocks / 4), "index": int64(k * k)} {
		s, err := newSearch(ch, u, Countless/5_000, maxRead)
		if err != nil {
			t.Fatal(err)
		}
		var found []pair
		if name == "tree" {
			tree := s.newTree()
			found, err = s.among(t.Context(), len(tree.leaves), tree.candidates)
		} else if x, _ := s.newIndex(t.Context()); x == nil {
			t.Fatal("no index")
		} else {
			found, err = s.among(t.Context(), x.m, x.candidates)
		}
		if err != nil {
			t.Fatal(err)
		}
		read, want := s.read.Load(), 0
		for i := range s.nodes {
			for j := range i {
				if s.signal(s.nodes[j], s.nodes[i]) < separable {
					want++
					all[pair{int32(j), int32(i), 0}] = true
				}
			}
		}
		for _, p := range found {
			if p.signal = 0; !all[p] {
				t.Errorf("%s: the pair %v is separable, or found from the wrong side", name, p)
			}
		}
		if len(found) != want || want == 0 || read > most {
			t.Errorf("%s: %d of %d inseparable pairs, %d numbers read for %d places", name, len(found), want, read, k)
		}
	}
}

// TestMany: very many places with few rows, or without mass, are no work; and too many pairs are an error.
func TestMany(t *testing.T) {
	const k = 20_000
	few := func(i int, dst []float64) { clear(dst); dst[i%3], dst[3] = 1, 1 }
	differ := func(i int, dst []float64) {
		dst[0], dst[1] = 1+float64(i)/k, 1-float64(i)/k
	}
	half := make([]float64, k)
	for i := range half {
		half[i] = float64(i % 2)
	}
	for name, x := range map[string]struct {
		row     func(i int, dst []float64)
		prior   []float64
		devices int64
		patches int
		err     error
	}{
		"three rows":           {few, nil, Countless, 3, nil},
		"half without mass":    {few, half, Countless, 4, nil},
		"rows of no devices":   {differ, nil, 1, 1, nil},
		"rows of many devices": {differ, nil, k * k, 0, ErrLimit},
	} {
		ch, err := estimate.NewChannel(k, 4, func(i int, dst []float64) { x.row(i, dst) })
		if err != nil {
			t.Fatal(err)
		}
		p, err := Find(context.Background(), ch, x.prior, x.devices)
		if !errors.Is(err, x.err) || len(p.Size) != x.patches {
			t.Errorf("%s: %d patches, %v, want %d, %v", name, len(p.Size), err, x.patches, x.err)
		}
	}
}

// TestQuick: the same patches as Find's, or an error where the search is long.
func TestQuick(t *testing.T) {
	even := discs(t, 40, 200, 1.005)
	got, err := Quick(t.Context(), even)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Find(t.Context(), even, nil, Countless)
	if err != nil || got.Shared() == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("patches %v, want %v, %v", got, want, err)
	}
	// Small discs of neighbours are in one block of outputs: the tree does not tell them apart.
	if p, err := Quick(t.Context(), discs(t, 80, 8, 400)); err != nil || p.Shared() != 0 {
		t.Errorf("%d places in patches, %v", p.Shared(), err)
	}
	const k = 40_000 // two inseparable rows are apart by 10^4 of these
	line, err := estimate.NewChannel(k, 2, func(i int, dst []float64) { dst[0], dst[1] = 1e6+float64(i), 1e6-float64(i) })
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Quick(t.Context(), line); !errors.Is(err, ErrLimit) {
		t.Errorf("%d patches, %v", len(p.Size), err)
	}
	if _, err := Quick(t.Context(), nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no channel: %v", err)
	}
}
