package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Small worlds: every box over a grid of base measures, every distribution with a denominator of at most 8, projected
// by an exact solver of this file's own. Nothing here is a float but what the client's solver would return.

// maxDenominator bounds the denominators of the distributions.
const maxDenominator = 8

// distributions calls f with every distribution over k inputs whose denominator, in lowest terms, is d <=
// maxDenominator, as whole numbers that sum to d.
func distributions(k int, f func(a []int64, d int64)) {
	a := make([]int64, k)
	var walk func(i int, left, d, gcd int64)
	walk = func(i int, left, d, gcd int64) {
		if i == k-1 {
			if a[i] = left; gcdOf(gcd, left) == 1 {
				f(a, d)
			}
			return
		}
		for a[i] = 0; a[i] <= left; a[i]++ {
			walk(i+1, left-a[i], d, gcdOf(gcd, a[i]))
		}
	}
	for d := int64(1); d <= maxDenominator; d++ {
		walk(0, d, d, 0)
	}
}

func gcdOf(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// transport returns the column sums of a cheapest plan with row sums a and column sums in [lo, hi], in whole numbers,
// by shortest augmenting paths (Bellman and Ford). The first lo_j units into a column earn a prize above every path, so
// they are filled first.
//
// Precondition: sum lo <= sum a <= sum hi.
func transport(c [][]int64, a, lo, hi []int64) []int64 {
	const prize, far = 1 << 20, 1 << 40
	k, kv := len(a), len(lo)
	flow := make([]int64, k*kv)
	s := make([]int64, kv)
	dist, from := make([]int64, k+kv), make([]int, k+kv)
	for i := range a {
		for left := a[i]; left > 0; {
			for v := range dist {
				dist[v], from[v] = far, -1
			}
			dist[i] = 0
			for again := true; again; {
				again = false
				for r := range k {
					for j := range kv {
						if d := dist[r] + c[r][j]; dist[r] < far && d < dist[k+j] {
							dist[k+j], from[k+j], again = d, r, true
						}
						if d := dist[k+j] - c[r][j]; flow[r*kv+j] > 0 && dist[k+j] < far && d < dist[r] {
							dist[r], from[r], again = d, k+j, true
						}
					}
				}
			}
			end, best, room := -1, int64(far), int64(0)
			for j := range kv {
				d, free := dist[k+j], hi[j]-s[j]
				if s[j] < lo[j] {
					d, free = d-prize, lo[j]-s[j]
				}
				if free > 0 && d < best {
					end, best, room = j, d, free
				}
			}
			room = min(room, left)
			for v := k + end; v != i; v = from[v] {
				if v < k { // back along a column to this row
					room = min(room, flow[v*kv+from[v]-k])
				}
			}
			for v := k + end; v != i; v = from[v] {
				if v < k {
					flow[v*kv+from[v]-k] -= room
				} else {
					flow[from[v]*kv+v-k] += room
				}
			}
			s[end] += room
			left -= room
		}
	}
	return s
}

// brute is transport by trying every plan, for the test of transport.
func brute(c [][]int64, a, lo, hi []int64) (cost int64) {
	cost = math.MaxInt64
	kv := len(lo)
	s := make([]int64, kv)
	var walk func(i, j int, left, so int64)
	walk = func(i, j int, left, so int64) {
		switch {
		case i == len(a):
			for j := range s {
				if s[j] < lo[j] || s[j] > hi[j] {
					return
				}
			}
			cost = min(cost, so)
		case j == kv-1:
			s[j] += left
			next := int64(0)
			if i+1 < len(a) {
				next = a[i+1]
			}
			walk(i+1, 0, next, so+left*c[i][j])
			s[j] -= left
		default:
			for x := range left + 1 {
				s[j] += x
				walk(i, j+1, left-x, so+x*c[i][j])
				s[j] -= x
			}
		}
	}
	walk(0, 0, a[0], 0)
	return cost
}

// The solver of the small worlds is right: its column sums admit a plan of the least cost there is.
func TestTransportIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		k, kv := 1+r.IntN(3), 1+r.IntN(3)
		c, a, lo, hi := make([][]int64, k), make([]int64, k), make([]int64, kv), make([]int64, kv)
		total, sumLo, sumHi := int64(0), int64(0), int64(0)
		for i := range c {
			a[i] = r.Int64N(5)
			total += a[i]
			for range kv {
				c[i] = append(c[i], r.Int64N(5))
			}
		}
		for j := range lo {
			lo[j] = r.Int64N(3)
			hi[j] = lo[j] + r.Int64N(8)
			sumLo, sumHi = sumLo+lo[j], sumHi+hi[j]
		}
		if sumLo > total || total > sumHi {
			continue
		}
		s := transport(c, a, lo, hi)
		if got, want := brute(c, a, s, s), brute(c, a, lo, hi); got != want {
			t.Fatalf("cost %v, supplies %v, box %v %v: %v costs %d, least %d", c, a, lo, hi, s, got, want)
		}
	}
}

// floors returns floor(e^eps n) for n <= top, by the series in rationals up to its 120th term: what is left out is
// below the 120th term, and no n here is so close to a quotient as that.
func floors(t testing.TB, eps ldp.Epsilon, top uint64) []uint64 {
	t.Helper()
	term, sum := big.NewRat(1, 1), big.NewRat(1, 1)
	for n := int64(1); n <= 120; n++ {
		sum.Add(sum, term.Mul(term, eps.Rat()).Quo(term, big.NewRat(n, 1)))
	}
	most := new(big.Rat).Add(sum, term)
	floor := make([]uint64, top+1)
	for n := range floor {
		k := new(big.Rat).SetInt64(int64(n))
		down, up := new(big.Rat).Mul(sum, k), new(big.Rat).Mul(most, k)
		f, g := new(big.Int).Quo(down.Num(), down.Denom()), new(big.Int).Quo(up.Num(), up.Denom())
		if f.Cmp(g) != 0 {
			t.Fatalf("e^%v * %d is not decided", eps, n)
		}
		floor[n] = min(f.Uint64(), 1<<62)
	}
	return floor
}

// A world is a box with the rows that clients of it have used.
type world struct {
	box         *ldp.Polytope
	floor       []uint64
	least, most []uint64
	rows        map[[4]uint64]bool
}

func newWorld(t testing.TB, box *ldp.Polytope, floor []uint64) *world {
	t.Helper()
	w := &world{box: box, floor: floor, rows: map[[4]uint64]bool{}}
	lo, hi := uint64(0), uint64(0)
	for j := range box.Len() {
		if box.Lo(j) > box.Hi(j) || box.Hi(j) > floor[box.Lo(j)] {
			t.Fatalf("eps %v: column %d has [%d, %d]", box.Epsilon(), j, box.Lo(j), box.Hi(j))
		}
		lo, hi = lo+box.Lo(j), hi+box.Hi(j)
	}
	if lo > box.Total() || hi < box.Total() {
		t.Fatalf("sums %d, %d of a box of %d units", lo, hi, box.Total())
	}
	w.least, w.most = slices.Repeat([]uint64{math.MaxUint64}, box.Len()), make([]uint64, box.Len())
	return w
}

// use notes the weights of one client, which must be a point of the box.
func (w *world) use(t testing.TB, row ldp.Weights) (n [4]uint64) {
	t.Helper()
	sum := uint64(0)
	for j := range w.box.Len() {
		n[j] = row.At(j)
		if n[j] < w.box.Lo(j) || n[j] > w.box.Hi(j) {
			t.Fatalf("column %d: %d outside [%d, %d]", j, n[j], w.box.Lo(j), w.box.Hi(j))
		}
		w.least[j], w.most[j], sum = min(w.least[j], n[j]), max(w.most[j], n[j]), sum+n[j]
	}
	if sum != w.box.Total() || row.Len() != w.box.Len() {
		t.Fatalf("weights %v sum to %d, want %d", n, sum, w.box.Total())
	}
	if !w.rows[n] {
		w.rows[n] = true
		// A new row: the sampler's law over all 2^B words is the weights, exactly.
		var counts [4]uint64
		var word [1]byte
		r := bytes.NewReader(nil)
		for x := range w.box.Total() {
			word[0] = byte(x)
			r.Reset(word[:])
			j, err := row.Sample(r)
			if err != nil {
				t.Fatal(err)
			}
			counts[j]++
		}
		if counts != n {
			t.Fatalf("sampled %v, weights %v", counts, n)
		}
	}
	return n
}

// private fails the test unless n_j <= e^eps n'_j for any two clients of the world and any j. In one column, the
// largest weight and the smallest are the worst pair.
func (w *world) private(t testing.TB) {
	t.Helper()
	for j := range w.least {
		if w.most[j] > w.floor[w.least[j]] {
			t.Fatalf("eps %v, column %d: weights %d and %d", w.box.Epsilon(), j, w.most[j], w.least[j])
		}
	}
}

// live lets a client of every distribution project exactly under each cost, and clients with broken solvers answer
// anything.
func (w *world) live(t testing.TB, k int, costs [][][]int64,
	clients func(k int, f func(a []int64, d int64))) (projections int) {
	t.Helper()
	kv := w.box.Len()
	lo, hi, supply, q := make([]int64, kv), make([]int64, kv), make([]int64, k), make([]float64, kv)
	clients(k, func(a []int64, d int64) {
		for _, c := range costs {
			// In units of 2^-B / d everything is whole, and so is an optimal plan.
			for j := range lo {
				lo[j], hi[j] = int64(w.box.Lo(j))*d, int64(w.box.Hi(j))*d
			}
			for i := range supply {
				supply[i] = a[i] * int64(w.box.Total())
			}
			s, whole := transport(c, supply, lo, hi), true
			for j := range q {
				whole = whole && s[j]%d == 0
				q[j] = float64(s[j]) / float64(d*int64(w.box.Total()))
			}
			n := w.use(t, w.box.Round(q))
			for j := range q { // an integer point of the box is rounded to itself, and no other by more than a unit
				units := int64(n[j])*d - s[j]
				if units <= -d || units >= d || whole && units != 0 {
					t.Fatalf("box %v, projection %v / %d rounded to %v", w.box.Len(), s, d, n)
				}
			}
			projections++
		}
	})
	nan, inf := math.NaN(), math.Inf(1)
	for _, q := range [][]float64{
		nil, {1}, {0, 1}, {0, 0, 1}, {0, 0, 0, 1}, {nan, nan, nan, nan}, {inf, -inf, 1, nan}, {-1, 2, 0, 0},
		{1e300, 1e-300, 5e-324, 1},
		{0.25, 0.25, 0.25, 0.25}, {2, 2, 2, 2, 2}, {0.9, nan, 0.05, 0.05},
	} {
		w.use(t, w.box.Round(q))
	}
	w.private(t)
	return projections
}

// release runs whole releases in both modes, over all words, for clients at one input and for a client without usable
// data.
func (w *world) release(t testing.TB, k int, c [][]int64) {
	t.Helper()
	kv := w.box.Len()
	var exact ProjectFunc = func(_ context.Context, mu []float64) ([]float64, error) {
		lo, hi, supply := make([]int64, kv), make([]int64, kv), make([]int64, k)
		for j := range lo {
			lo[j], hi[j] = int64(w.box.Lo(j)), int64(w.box.Hi(j))
		}
		for i := range supply {
			supply[i] = int64(mu[i] * float64(w.box.Total())) // a point mass: 0 or the total
		}
		q := make([]float64, kv)
		for j, v := range transport(c, supply, lo, hi) {
			q[j] = float64(v) / float64(w.box.Total())
		}
		return q, nil
	}
	var rows []Row
	var want [][4]uint64
	for i := range k {
		mu := make([]float64, k)
		mu[i] = 1
		q, _ := exact(context.Background(), mu)
		row := w.box.Round(q)
		want = append(want, w.use(t, row))
		r, err := NewRow(w.box, row)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	for _, cfg := range []Config{
		{Polytope: w.box, Rows: rows, Provenance: clean}, {Polytope: w.box, Mode: Projection, Inputs: k, Provenance: clean},
	} {
		p := mustNew(t, cfg)
		want := append(slices.Clone(want), w.use(t, p.Fallback()))
		for i, n := range want {
			var counts [4]uint64
			for x := range w.box.Total() {
				// input k does not exist
				r, err := release(context.Background(), p, ledger.UnaccountedForTesting(), fmt.Appendf(nil, "%d,1", i), exact,
					words(x<<56, x))
				if err != nil {
					t.Fatal(err)
				}
				counts[r.Index()]++
			}
			if counts != n {
				t.Fatalf("%v: input %d released %v, want %v", p, i, counts, n)
			}
		}
	}
	w.private(t)
}

func costsOf(k, kv int) [][][]int64 {
	line, other := make([][]int64, k), make([][]int64, k)
	for i := range k {
		for j := range kv {
			line[i] = append(line[i], max(int64(i-j), int64(j-i)))
			other[i] = append(other[i], int64(i*i+3*i*j+2*j)%5) // no metric, with ties
		}
	}
	return [][][]int64{line, other}
}

// Every world with k, kv <= 3 on the grid, and a sample of those with a 4, is private and exact.
func TestSmallWorlds(t *testing.T) {
	step := 1
	if !numtest.Full() {
		step = 29
	}
	worlds, projections, rows, full := 0, 0, 0, 0
	run := func(eps ldp.Epsilon, floor []uint64, bits, k int, shape []int64, end float64,
		clients func(int, func([]int64, int64))) {
		sum := int64(0)
		for _, v := range shape {
			sum += v
		}
		m := make([]float64, len(shape))
		for j, v := range shape {
			m[j] = float64(v) / float64(sum) * math.Exp(end*eps.Float64()/2)
		}
		box, err := ldp.NewPolytope(eps, m, bits)
		if err != nil {
			if !errors.Is(err, ldp.ErrBits) {
				t.Fatal(err)
			}
			return
		}
		w := newWorld(t, box, floor)
		costs := costsOf(k, len(m))
		projections += w.live(t, k, costs, clients)
		if worlds%40 == 0 {
			w.release(t, k, costs[0])
			full++
		}
		worlds++
		rows += len(w.rows)
	}
	count := 0
	r := rand.New(rand.NewPCG(2, 3))
	for _, text := range []string{"1/3", "1", "3"} {
		eps := mustEpsilon(t, text)
		floor := floors(t, eps, 1<<8)
		for _, bits := range []int{2, 5, 8} {
			for _, end := range []float64{-0.999, 0, 0.999} { // mass near e^(-eps/2), 1, near e^(eps/2)
				for kv := 1; kv <= 3; kv++ {
					shape := make([]int64, kv)
					for code := 1; code < 1<<(2*kv); code++ { // entries 0..3
						gcd := int64(0)
						for j := range shape {
							shape[j] = int64(code >> (2 * j) & 3)
							gcd = gcdOf(gcd, shape[j])
						}
						if gcd != 1 {
							continue
						}
						for k := 1; k <= 3; k++ {
							if count++; count%step == 0 {
								run(eps, floor, bits, k, shape, end, distributions)
							}
						}
					}
				}
				for range 60 {
					shape := []int64{1 + r.Int64N(4), r.Int64N(4), r.Int64N(4), r.Int64N(4)}[:3+r.IntN(2)]
					k := 4
					if len(shape) == 4 {
						k = 1 + r.IntN(4)
					}
					if count++; count%step == 0 {
						run(eps, floor, bits, k, shape, end, func(k int, f func([]int64, int64)) {
							distributions(k, func(a []int64, d int64) {
								if r.IntN(8) == 0 {
									f(a, d)
								}
							})
						})
					}
				}
			}
		}
	}
	if worlds == 0 || full == 0 || rows < 3*worlds {
		t.Errorf("%d worlds, %d with whole releases, %d rows: the test has gone blind", worlds, full, rows)
	}
	t.Logf("%d worlds, %d exact projections, %d rows sampled by every word, %d worlds with whole releases", worlds,
		projections, rows, full)
}
