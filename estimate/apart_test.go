package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawApart draws a channel of one of the forms that are kept, with rows that are equal and rows that nearly are.
func drawApart(t *rapid.T) *Channel {
	t.Helper()
	runs, rows := drawRuns(t)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "form"), 3))
	k := len(rows)
	copies := make([]int, k)
	for i := range copies {
		if copies[i] = i; r.IntN(3) == 0 {
			copies[i] = r.IntN(k)
		}
	}
	if form := r.IntN(4); form > 0 {
		near := r.IntN(2) == 0
		c, err := NewChannel(k, len(rows[0]), func(i int, dst []float64) {
			for j, v := range rows[copies[i]] {
				switch dst[j] = v; {
				case form == 2 && j%3 == 0: // no two values in a column
					dst[j] *= 1 + float64(copies[i]*j%7)
				case form == 3 && near:
					dst[j] *= 1 + float64(copies[i]%2)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	row := runs.Row
	runs.Row = func(i int, spans []int32) ([]int32, int, float64, error) { return row(copies[i], spans) }
	c, err := NewRuns(t.Context(), k, runs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestContrast: sums are those over all outputs, a sum that stops is above what it may be, and rows that are called the
// same are.
func TestContrast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawApart(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights"), 4))
		w := make([]float64, c.kv)
		for y := range w {
			w[y] = math.Exp(4*r.NormFloat64()) * float64(r.IntN(4))
		}
		sum, same := c.Contrast(w), c.Same()
		for i := range c.k {
			for j := range i + 1 {
				want, size := 0.0, 0.0
				a, b := c.row(i), c.row(j)
				for y, v := range w {
					d := a[y] - b[y]
					want += d * d * v
					// Entries err by some 2^-53 of themselves, as scales of equal rows do by evenScales. The odd entries of both
					// rows are added to what they replace.
					size += v * (a[y]*a[y] + b[y]*b[y])
				}
				got, _ := sum(i, j, math.Inf(1))
				if !(math.Abs(got-want) <= 1e-13*size+3e-12*math.Sqrt(size*want)) {
					t.Fatalf("rows %d and %d: %v, want %v", i, j, got, want)
				}
				if other, _ := sum(j, i, math.Inf(1)); other != got {
					t.Fatalf("rows %d and %d: %v, and %v in the other order", i, j, got, other)
				}
				most := got * r.Float64()
				if part, _ := sum(i, j, most); got > 0 && !(part > most && part <= got*(1+1e-12)) {
					t.Fatalf("rows %d and %d: %v above %v, of %v", i, j, part, most, got)
				}
				if same[i] == same[j] && !slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= evenScales*x }) {
					t.Fatalf("rows %d and %d are called the same: %v, %v", i, j, a, b)
				}
				if c.rows != nil && (same[i] == same[j]) != slices.Equal(a, b) {
					t.Fatalf("rows %d and %d: %v, %v", i, j, a, b)
				}
			}
			if first := same[i]; first > i || same[first] != first {
				t.Fatalf("row %d is called that of %d", i, first)
			}
		}
	})
}

// TestWords: two rows whose sum is at most a number have a word in common.
func TestWords(t *testing.T) {
	indexed, near, far := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawApart(t)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights"), 7))
		w := make([]float64, c.kv)
		for y := range w {
			w[y] = math.Exp(r.NormFloat64()) * float64(min(1, r.IntN(9)))
		}
		sum := c.Contrast(w)
		most, _ := sum(r.IntN(c.k), r.IntN(c.k), math.Inf(1))
		words, m := c.Words(w, most)
		if len(words) != c.k*m || m > maxWords {
			t.Fatalf("%d words of %d rows, %d each", len(words), c.k, m)
		}
		if m == 0 {
			return
		}
		indexed++
		for i := range c.k {
			for j := range i {
				common := false
				for g, word := range words[i*m:][:m] {
					common = common || word == words[j*m+g]
				}
				switch v, _ := sum(i, j, math.Inf(1)); {
				case !common && v <= most:
					t.Fatalf("rows %d and %d: no word in common at %v, at most %v", i, j, v, most)
				case common:
					near++
				default:
					far++
				}
			}
		}
	})
	if !testing.Short() && (indexed == 0 || near == 0 || far == 0) { // what the test is about; 20 channels may lack one
		t.Errorf("%d channels with words, %d pairs with a common one, %d without", indexed, near, far)
	}
}

// TestBlocks: the sums of blocks are those of rows, and every output is in a block.
func TestBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawApart(t)
		sums, of := c.Blocks(rapid.IntRange(1, 40).Draw(t, "blocks"))
		m := slices.Max(of) + 1
		size := make([]int, m)
		for _, b := range of {
			size[b]++
		}
		if slices.Min(size) == 0 || len(sums) != c.k*m || len(of) != c.kv {
			t.Fatalf("blocks of %v, %d sums of %d rows", size, len(sums), c.k)
		}
		largest := float64(slices.Max(size))
		for i := range c.k {
			want := make([]float64, m)
			for y, v := range c.row(i) {
				want[of[y]] += v
			}
			for b, v := range want { // the last is for the rounding of want
				if !(math.Abs(sums[i*m+b]-v) <= (0x1p-40*largest*largest+1e-14)*v) {
					t.Fatalf("row %d, block %d: %v, want %v", i, b, sums[i*m+b], v)
				}
			}
		}
	})
}
