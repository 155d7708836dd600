package codebook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// data is what a client may hand in, good or bad.
type data struct {
	name    string
	atoms   [][]float64
	weights []float64
	bad     error // what CheckAtoms says, nil for good data
}

// world is a collection of good and hostile data on S^dim, for a codebook that takes at most six atoms.
func world(dim int) []data {
	g := numtest.NewSplitMix64(11)
	var all []data
	add := func(name string, atoms [][]float64, weights []float64, bad error) {
		all = append(all, data{name, atoms, weights, bad})
	}
	axis := func(v float64) []float64 {
		x := make([]float64, dim+1)
		x[0] = v
		return x
	}
	for n := range 12 {
		a, w := instance(g, dim, 1)
		add(fmt.Sprint("point ", n), a, w, nil)
	}
	for n := range 12 {
		a, w := instance(g, dim, 2+n%5)
		add(fmt.Sprint("atoms ", n), a, w, nil)
	}
	two, _ := instance(g, dim, 2)
	one := []float64{1}
	add("tiny vector", [][]float64{axis(5e-324)}, one, nil)
	add("huge vector", [][]float64{axis(-math.MaxFloat64)}, one, nil)
	full := make([]float64, dim+1)
	for i := range full {
		full[i] = math.MaxFloat64
	}
	add("all huge", [][]float64{full}, one, nil)
	add("the same atom twice", [][]float64{two[0], two[0]}, []float64{0.5, 0.5}, nil)
	add("opposite atoms", [][]float64{axis(1), axis(-1)}, []float64{0.5, 0.5}, nil)
	add("a weight of zero", two, []float64{1, 0}, nil)
	add("a tiny weight", two, []float64{1, 1e-300}, nil)
	add("weights off by rounding", two, []float64{0.5, 0.5 + 1e-10}, nil)

	add("nil", nil, nil, ErrWeights)
	add("nil point", [][]float64{nil}, one, ErrPoint)
	add("zero vector", [][]float64{axis(0)}, one, ErrPoint)
	add("NaN", [][]float64{axis(math.NaN())}, one, ErrPoint)
	add("Inf", [][]float64{axis(math.Inf(-1))}, one, ErrPoint)
	add("short", [][]float64{make([]float64, dim)}, one, ErrPoint)
	add("long", [][]float64{append(axis(1), 1)}, one, ErrPoint)
	add("one bad atom", [][]float64{axis(1), axis(0)}, []float64{0.5, 0.5}, ErrPoint)
	add("a bad atom of weight zero", [][]float64{axis(1), nil}, []float64{1, 0}, ErrPoint)
	add("no weights", two, nil, ErrWeights)
	add("one weight for two", two, one, ErrWeights)
	add("weight NaN", two, []float64{math.NaN(), 1}, ErrWeights)
	add("weight Inf", two, []float64{math.Inf(1), 1}, ErrWeights)
	add("negative weight", two, []float64{1.5, -0.5}, ErrWeights)
	add("weights of sum 2", two, []float64{1, 1}, ErrWeights)
	add("weights of sum 0", two, []float64{0, 0}, ErrWeights)
	a, w := instance(g, dim, 7)
	add("too many atoms", a, w, ErrWeights)
	return all
}

func small(t testing.TB, dim int, eps string, points, bits int) *Codebook {
	return design(t, Config{Dim: dim, P: 2, Epsilon: given.Epsilon(t, eps), Points: points, Bits: bits, Atoms: 6})
}

// TestPrivacy: whatever the data, the law is a point of the one box, and any two laws of a seed are within e^eps of
// each other in every index, decided in integers by package ldp.
func TestPrivacy(t *testing.T) {
	for _, eps := range []string{"1e-3", "0.1", "1", "2.5", "4", "8", "40"} {
		for _, c := range []*Codebook{small(t, 1, eps, 8, 20), small(t, 2, eps, 33, 62), small(t, 5, eps, 200, 30)} {
			box := c.Box()
			if err := box.Verify(); err != nil {
				t.Fatal(err)
			}
			for s := range uint64(3) {
				var rows []ldp.Weights
				for _, d := range world(c.Config().Dim) {
					w := c.Law(seeds(s), d.atoms, d.weights)
					n := make([]uint64, w.Len())
					for j := range n {
						n[j] = w.At(j)
					}
					if _, err := box.Weights(n); err != nil {
						t.Fatalf("eps %s, %s: %v", eps, d.name, err)
					}
					rows = append(rows, w)
				}
				if err := ldp.CheckRows(given.Epsilon(t, eps), rows); err != nil {
					t.Errorf("eps %s: %v", eps, err)
				}
			}
		}
	}
}

// TestEveryRanking enumerates what a ranking can do: all 70 choices of 4 high candidates of 8, each a law in the box,
// and any two within e^eps; with the fallback and the many-atom laws that lie between.
func TestEveryRanking(t *testing.T) {
	const n, k = 8, 4
	for _, eps := range []string{"0.01", "1", "3"} {
		c := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, eps), Points: n, High: k, Bits: 24})
		rows := []ldp.Weights{c.Fallback()}
		for set := range 1 << n {
			cost := make([]float64, n)
			count := 0
			for j := range cost {
				if set>>j&1 == 0 {
					cost[j] = 1 // ties everywhere
				} else {
					count++
				}
			}
			if count != k {
				continue
			}
			q := nearestOf(c, cost)
			high := 0
			for j, v := range q {
				switch {
				case v == c.hi[j] && set>>j&1 == 1:
					high++
				case v == c.lo[j] && set>>j&1 == 0:
				default:
					t.Fatalf("set %b: candidate %d gets %v", set, j, v)
				}
			}
			if high != k {
				t.Fatalf("set %b: %d high", set, high)
			}
			rows = append(rows, c.box.Round(q))
		}
		if len(rows) != 71 {
			t.Fatalf("%d rows", len(rows))
		}
		big := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, eps), Points: 300, High: 100})
		ties := make([]float64, 300)
		for j := range ties {
			ties[j] = float64(j * j % 5) // 0, 1 and 4
		}
		left := big.Config().High
		for _, level := range []float64{0, 1, 4} {
			q := nearestOf(big, ties)
			for j, v := range q { // of equals, the first
				if ties[j] == level {
					if (v == big.hi[j]) != (left > 0) {
						t.Fatalf("ties: candidate %d gets %v", j, v)
					}
					left--
				}
			}
		}
		// Costs that no ranking should see still mark exactly k.
		for _, cost := range [][]float64{make([]float64, n),
			{math.NaN(), 1, math.NaN(), 0, math.Inf(1), math.Inf(-1), math.NaN(), 2}} {
			high := 0
			for j, v := range nearestOf(c, cost) {
				if v == c.hi[j] {
					high++
				}
			}
			if high != k {
				t.Errorf("costs %v: %d high", cost, high)
			}
		}
		if err := ldp.CheckRows(given.Epsilon(t, eps), rows); err != nil {
			t.Errorf("eps %s: %v", eps, err)
		}
		worst, err := ldp.WorstRatio(rows)
		if err != nil {
			t.Fatal(err)
		}
		if loss := math.Log(float64(worst.Num) / float64(worst.Den)); !(loss > 0.98*given.Epsilon(t, eps).Float64()) {
			t.Errorf("eps %s: only %v is used", eps, loss)
		}
	}
}

// words is a reader of a fixed seed and then one word.
func words(seed Seed, bits int, word uint64) io.Reader {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	return io.MultiReader(bytes.NewReader(seed[:]), bytes.NewReader(b[:(bits+7)/8]))
}

// TestReleaseEnumerated runs through all random words of a release, for every client of the world: index j comes
// exactly as often as its law says, the seed is the one that was read, and the counts of two clients are within e^eps.
func TestReleaseEnumerated(t *testing.T) {
	bits := numtest.Cases(8, 10)
	c := small(t, 2, "1.5", 9, bits)
	seed := seeds(1)
	var rows []ldp.Weights
	for _, d := range world(2) {
		law := c.Law(seed, d.atoms, d.weights)
		count := make([]uint64, law.Len())
		for word := range uint64(1) << bits {
			r, err := c.SimulateAtoms(words(seed, bits, word), d.atoms, d.weights)
			if err != nil {
				t.Fatal(err)
			}
			if r.Seed() != seed {
				t.Fatalf("%s: the report has another seed", d.name)
			}
			count[r.Index()]++
		}
		for j, n := range count {
			if n != law.At(j) {
				t.Errorf("%s: index %d came %d times, its weight is %d", d.name, j, n, law.At(j))
			}
		}
		row, err := c.Box().Weights(count)
		if err != nil {
			t.Fatalf("%s: the counts are not in the box: %v", d.name, err)
		}
		rows = append(rows, row)
	}
	if err := ldp.CheckRows(c.Config().Epsilon, rows); err != nil {
		t.Error(err)
	}
}

// TestReleaseIsTotal: bad data get the public fallback, and no error.
func TestReleaseIsTotal(t *testing.T) {
	c := small(t, 3, "2", 50, 40)
	for _, d := range world(3) {
		err := c.CheckAtoms(d.atoms, d.weights)
		if !errors.Is(err, d.bad) {
			t.Errorf("%s: CheckAtoms says %v, want %v", d.name, err, d.bad)
		}
		if _, err := c.SimulateAtoms(newStream(1), d.atoms, d.weights); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		if d.bad == nil {
			continue
		}
		law := c.Law(seeds(0), d.atoms, d.weights)
		for j := range law.Len() {
			if law.At(j) != c.Fallback().At(j) {
				t.Fatalf("%s: the law is not the fallback", d.name)
			}
		}
	}
	total := uint64(0)
	for j := range c.Fallback().Len() {
		total += c.Fallback().At(j)
		if d := int64(c.Fallback().At(j)) - int64(c.Fallback().At(0)); d < -1 || d > 1 {
			t.Errorf("the fallback is not uniform: %d and %d", c.Fallback().At(j), c.Fallback().At(0))
		}
	}
	if total != 1<<40 {
		t.Errorf("the fallback sums to %d", total)
	}
}

var errBroken = errors.New("broken")

// broken delivers n zero bytes and then fails.
type broken struct{ n int }

func (r *broken) Read(b []byte) (int, error) {
	if r.n == 0 {
		return 0, errBroken
	}
	n := min(len(b), r.n)
	r.n -= n
	clear(b[:n])
	return n, nil
}

// TestRandomSource: every client reads the same number of bytes, with and without a fixed seed; one byte less and there
// is an error that says nothing about the data, and no report.
func TestRandomSource(t *testing.T) {
	for _, c := range []struct {
		seed Seed
		need int
	}{{Seed{}, 32 + 5}, {Seed{7}, 5}} {
		b := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 20, Bits: 36, Atoms: 6, Seed: c.seed})
		for _, d := range world(2) {
			for n := range c.need {
				r, err := b.SimulateAtoms(&broken{n}, d.atoms, d.weights)
				if !errors.Is(err, ErrRandom) || !errors.Is(err, errBroken) && !errors.Is(err, io.ErrUnexpectedEOF) || !r.IsZero() {
					t.Fatalf("%s: after %d bytes: %v, %v", d.name, n, r, err)
				}
			}
			source := &broken{c.need}
			if _, err := b.SimulateAtoms(source, d.atoms, d.weights); err != nil || source.n != 0 {
				t.Fatalf("%s: %v, %d bytes left", d.name, err, source.n)
			}
		}
		if _, err := b.Simulate(nil, []float64{1, 0, 0}); !errors.Is(err, ErrRandom) {
			t.Errorf("nil reader: %v", err)
		}
	}
}

// TestFreshSeeds: real releases draw their own seeds; a fixed one stays.
func TestFreshSeeds(t *testing.T) {
	x := []byte("1,1,2,3\n")
	seen := map[Seed]bool{}
	free := small(t, 2, "1", 16, 62)
	for range 20 {
		r, err := Release(t.Context(), free, ledger.UnaccountedForTesting(), x)
		if err != nil {
			t.Fatal(err)
		}
		if seen[r.Seed()] {
			t.Fatal("a seed came twice")
		}
		seen[r.Seed()] = true
	}
	fixed := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 16, Seed: Seed{4}})
	if r, err := Release(t.Context(), fixed, ledger.UnaccountedForTesting(), x); err != nil || r.Seed() != (Seed{4}) {
		t.Errorf("seed %v, %v", r.Seed(), err)
	}
}

// TestInputsKept: the data are not written to.
func TestInputsKept(t *testing.T) {
	c := small(t, 4, "2", 40, 62)
	for _, d := range world(4) {
		var before []float64
		for _, x := range d.atoms {
			before = append(before, x...)
		}
		weights := append([]float64(nil), d.weights...)
		if _, err := c.SimulateAtoms(newStream(1), d.atoms, d.weights); err != nil {
			t.Fatal(err)
		}
		var after []float64
		for _, x := range d.atoms {
			after = append(after, x...)
		}
		numtest.SameBits(t, d.name, after, before)
		numtest.SameBits(t, d.name, d.weights, weights)
	}
}

// TestDirection: what counts is the direction.
func TestDirection(t *testing.T) {
	c := small(t, 2, "1", 64, 62)
	a := c.Law(seeds(2), [][]float64{{3, -4, 12}}, []float64{1})
	b := c.Law(seeds(2), [][]float64{{3 * 0x1p-1000, -4 * 0x1p-1000, 12 * 0x1p-1000}}, []float64{1})
	for j := range a.Len() {
		if a.At(j) != b.At(j) {
			t.Fatal("a scaled vector has another law")
		}
	}
}
