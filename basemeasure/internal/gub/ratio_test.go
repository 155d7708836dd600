package gub

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
		s := New(kv, make([]float64, k), 0.02*g.Float64(), 0.02*g.Float64(), new(Counts))
		n := g.Intn(kv + 1)
		moves := func() float64 {
			switch g.Intn(4) {
			case 0:
				return 3 * pivotTol * (g.Float64() - 0.5) // about the tolerance
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
		e := new(Entry)
		e.sign = float64(2*g.Intn(2) - 1)
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
			list = append(list, blocker{leaving{kind, at, e.sign * w, 0}, max(value, 0), slack})
		}
		for c := range n {
			s.nonkey = append(s.nonkey, &Column{Value: value()})
			s.w = append(s.w, moves())
			add(leaveNonkey, c, s.nonkey[c].Value, s.w[c], s.valueTol)
		}
		for bound := range s.keys {
			s.keys[bound] = &Column{Value: value()}
			s.w = append(s.w, moves())
			add(leaveKey, bound, s.keys[bound].Value, s.w[n+bound], s.valueTol)
		}
		for p := n; p < kv; p++ {
			s.y[p], s.dy[p] = value(), moves()
			add(leaveSlack, p, s.y[p], -s.dy[p], s.slackTol)
		}

		tol := pivotTol * size
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
		if got := s.leaves(e, size); got != want {
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
