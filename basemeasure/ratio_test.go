package basemeasure

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestRatio compares the ratio test with its rule, over a list of everything that may block: of those with an entry
// above the tolerance that run empty before any of them is pushed below zero by more than is allowed, the one with the
// largest entry.
func TestRatio(t *testing.T) {
	g := numtest.NewSplitMix64(85)
	seen := map[leavingKind]int{}
	for range 20000 {
		k, kv := 1+g.Intn(4), 1+g.Intn(9)
		a := aim{floor: make([]float64, k)}
		for i := range a.floor {
			a.floor[i] = float64(g.Intn(3))
		}
		s := newSimplex(&game{k: k, kv: kv, aim: a}, new(Stats))
		s.n = g.Intn(kv + 1)
		s.pivotTol, s.lamTol, s.slackTol = 0.01, 0.02*g.Float64(), 0.02*g.Float64()
		moves := func() float64 {
			switch g.Intn(4) {
			case 0:
				return 0.03 * (g.Float64() - 0.5) // about the tolerance
			case 1:
				return 0
			}
			return 2*g.Float64() - 1
		}
		value := func() float64 {
			switch g.Intn(4) {
			case 0:
				return -0.01 * g.Float64() // a rounding below zero
			case 1:
				return 0
			}
			return g.Float64()
		}
		e := new(entry)
		e.dir = float64(2*g.Intn(2) - 1)
		if g.Intn(3) == 0 {
			e.limit = g.Float64()
		}
		size := 1 + g.Float64()

		type blocker struct {
			leaving
			value, slack float64
		}
		var list []blocker
		add := func(kind leavingKind, at int, value, w, slack float64) {
			list = append(list, blocker{leaving{kind, at, e.dir * w, 0}, max(value, 0), slack})
		}
		for c := range s.n {
			s.nonkey = append(s.nonkey, &column{value: value()})
			s.w = append(s.w, moves())
			add(leaveNonkey, c, s.nonkey[c].value, s.w[c], s.lamTol)
		}
		for bound := range s.keys {
			s.keys[bound] = &column{value: value()}
			s.w = append(s.w, moves())
			add(leaveKey, bound, s.keys[bound].value, s.w[s.n+bound], s.lamTol)
		}
		for p := s.n; p < kv; p++ {
			s.y[p], s.dy[p] = value(), moves()
			add(leaveSlack, p, s.y[p], -s.dy[p], s.slackTol)
		}

		tol := s.pivotTol * size
		most := math.Inf(1)
		for _, b := range list {
			if b.pivot > tol {
				most = min(most, (b.value+b.slack)/b.pivot)
			}
		}
		var want leaving
		for _, b := range list {
			if b.pivot > tol && b.value/b.pivot <= most && b.pivot > want.pivot {
				want = leaving{b.kind, b.at, b.pivot, b.value / b.pivot}
			}
		}
		if e.limit > 0 && (want.kind == leaveNone || e.limit <= want.step) {
			want = leaving{leaveSelf, 0, 1, e.limit}
		}
		if got := s.ratioTest(e, size); got != want {
			t.Fatalf("%+v leaves, want %+v", got, want)
		}
		seen[want.kind]++
	}
	for kind := leaveNone; kind <= leaveSelf; kind++ {
		if seen[kind] < 100 {
			t.Errorf("%d of kind %d: the test tests little", seen[kind], kind)
		}
	}
}

// TestCombineFrom compares the loops that TestKernels leaves out with the plain ones.
func TestCombineFrom(t *testing.T) {
	const same = 1e-14 // sums of at most a dozen products below one in another order
	g := numtest.NewSplitMix64(86)
	vector := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = g.Float64() - 0.5
		}
		return x
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		for j := range want {
			if !(math.Abs(got[j]-want[j]) <= same) {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		}
	}
	for n := range 10 {
		for rows := range 13 {
			weights := vector(rows)
			var want [][]float64
			for i := range rows {
				if g.Intn(3) == 0 {
					weights[i] = 0
				}
				want = append(want, vector(n+2))
			}

			from := g.Intn(n + 1)
			y := vector(n - from)
			sum := append([]float64(nil), y...)
			var terms []term
			for i := range rows {
				terms = append(terms, term{weights[i], want[i]})
				for j := range sum {
					sum[j] += weights[i] * want[i][from+j]
				}
			}
			combine(terms, from, y)
			near("combine from an entry on", y, sum)
		}
	}
	// Ranges cover everything once, whatever the work.
	for n := range 20 {
		for _, work := range []int{0, parallelWork - 1, parallelWork, 5 * parallelWork, 1000 * parallelWork} {
			covered := make([]int, n)
			share(n, work, func(from, to int) {
				for i := from; i < to; i++ {
					covered[i]++
				}
			})
			for i, c := range covered {
				if c != 1 {
					t.Fatalf("%d of %d is covered %d times", i, n, c)
				}
			}
		}
	}
}
