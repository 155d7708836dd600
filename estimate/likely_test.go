package estimate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What the tests of EM, MLE and Interval share: channels, counts, and the likelihood by its definition.

func channelOf(t testing.TB, rows [][]float64) *Channel {
	t.Helper()
	c, err := NewChannel(len(rows), len(rows[0]), func(i int, dst []float64) { copy(dst, rows[i]) })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// logLikelihood is that of a release, on average, by the definition.
func logLikelihood(counts []uint64, rows [][]float64, theta []float64) float64 {
	n, l := 0.0, 0.0
	for _, c := range counts {
		n += float64(c)
	}
	for j, c := range counts {
		if c == 0 {
			continue
		}
		p := 0.0
		for i, row := range rows {
			sum := 0.0
			for _, x := range row {
				sum += x
			}
			p += theta[i] * row[j] / sum
		}
		l += float64(c) / n * math.Log(p)
	}
	return l
}

// discRows are the rows of a square grid of side n: the share f of the places that is nearest has e^eps times the
// probability of the rest.
func discRows(n int, eps, f float64) [][]float64 {
	k := n * n
	rows := make([][]float64, k)
	order, d := make([]int, k), make([]int, k)
	for i := range rows {
		for j := range k {
			x, y := i/n-j/n, i%n-j%n
			order[j], d[j] = j, x*x+y*y
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d[a], d[b]) })
		rows[i] = slices.Repeat([]float64{1}, k)
		for _, j := range order[:int(math.Ceil(f*float64(k)))] {
			rows[i][j] = math.Exp(eps)
		}
	}
	return rows
}

// twoTowns is a map of two towns in a square grid of side n.
func twoTowns(n int) []float64 {
	p := make([]float64, n*n)
	for i := range p {
		x, y := float64(i/n)/float64(n), float64(i%n)/float64(n)
		p[i] = math.Exp(-50*((x-.25)*(x-.25)+(y-.4)*(y-.4))) + 0.3*math.Exp(-100*((x-.6)*(x-.6)+(y-.5)*(y-.5))) + 0.002
	}
	return normalized(p)
}

func normalized(p []float64) []float64 {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// drawCounts draws n releases of devices that are spread like truth.
func drawCounts(r *rand.Rand, c *Channel, truth []float64, n int) []uint64 {
	_, kv := c.Dims()
	q := make([]float64, kv)
	c.forward(truth, q)
	for j := range kv - 1 {
		q[j+1] += q[j]
	}
	counts := make([]uint64, kv)
	for range n {
		j, _ := slices.BinarySearch(q, r.Float64()*q[kv-1])
		counts[min(j, kv-1)]++
	}
	return counts
}

// world is a small channel with counts. Rows lean to the awkward: equal ones, mixtures of others, zeros, entries far
// apart.
type world struct {
	rows   [][]float64
	counts []uint64
}

func drawWorld(t *rapid.T) world { return makeWorld(rapid.Uint64().Draw(t, "seed")) }

func makeWorld(seed uint64) world {
	r := rand.New(rand.NewPCG(seed, 0))
	k, kv := 1+r.IntN(6), 1+r.IntN(7)
	spread := []float64{0, 0.1, 1, 3, 10}[r.IntN(5)]
	w := world{rows: make([][]float64, k), counts: make([]uint64, kv)}
	zeros := r.IntN(3) == 0
	for i := range w.rows {
		w.rows[i] = make([]float64, kv)
		if i > 1 && r.IntN(4) == 0 { // a mixture of two, often of one
			a, b := w.rows[r.IntN(i)], w.rows[r.IntN(i)]
			for j := range a {
				w.rows[i][j] = (a[j] + b[j]) / 2
			}
			continue
		}
		for j := range w.rows[i] {
			if !zeros || r.IntN(3) > 0 || j == i%kv {
				w.rows[i][j] = math.Exp(spread * r.NormFloat64())
			}
		}
		normalized(w.rows[i])
	}
	many := []int{1, 3, 30, 1000}[r.IntN(4)]
	for range many {
		row := w.rows[r.IntN(k)]
		j := r.IntN(kv)
		for row[j] == 0 {
			j = r.IntN(kv)
		}
		w.counts[j]++
	}
	if r.IntN(8) == 0 {
		for j := range w.counts {
			w.counts[j] <<= 40
		}
	}
	return w
}

// someTheta draws a distribution, sometimes on few places.
func someTheta(r *rand.Rand, k int) []float64 {
	p := make([]float64, k)
	for i := range p {
		if r.IntN(3) > 0 {
			p[i] = math.Exp(3 * r.NormFloat64())
		}
	}
	p[r.IntN(k)] += 0.01
	return normalized(p)
}

func checkDistribution(t interface {
	Helper()
	Fatalf(string, ...any)
}, theta []float64, k int) {
	t.Helper()
	if len(theta) != k {
		t.Fatalf("%d shares for %d inputs", len(theta), k)
	}
	sum := 0.0
	for _, v := range theta {
		if !(v >= 0) {
			t.Fatalf("theta = %v", theta)
		}
		sum += v
	}
	if tol := float64(k+8) * 0x1p-52; !(math.Abs(sum-1) <= tol) { // a sum of k terms
		t.Fatalf("theta sums to 1%+.3g: %v", sum-1, theta)
	}
}
