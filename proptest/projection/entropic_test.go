package projection

import (
	"errors"
	"math"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/proptest"
	"pgregory.net/rapid"
)

// TestReferenceConverges: the iteration that the laws are tested with ends, but for one problem in fifty at most, and
// says so of one that it does not solve.
func TestReferenceConverges(t *testing.T) {
	calls, none := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p, reg := drawEntropic(t, EntropicOn{Entropic: EntropicFunc(refEntropic), Reg: 0.1})
		calls++
		if _, err := refEntropic(p, reg); errors.Is(err, ErrNoAnswer) {
			none++
		} else if err != nil {
			t.Fatal(err)
		}
	})
	if none > calls/50 {
		t.Errorf("no answer to %d problems of %d", none, calls)
	}
	const bound = 0.5000004768371581 // the answer is at most that from even, and each step closes 5e-5 of what is left
	slow := proptest.Problem{C: [][]float64{{1021, 2}, {2, 1024}}, Mu: []float64{0.5, 0.5},
		Lo: []float64{0.032993986457108784, 0.032993986457108784}, Hi: []float64{bound, bound}}
	if _, err := refEntropic(slow, 102.2); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("an iteration that has not converged: %v", err)
	}
}

// TestGibbsDiameter: the diameter of a row of ones beside a row of tiny costs is that of the tiny costs.
func TestGibbsDiameter(t *testing.T) {
	for _, tt := range []struct {
		c    [][]float64
		reg  float64
		want float64
	}{
		{[][]float64{{1, 1}, {0, 6e-33}}, 6e-33, 1},
		{[][]float64{{1, 1}, {3.9e-85, 2.6e-227}}, 7.8e-85, 0.5},
		{[][]float64{{0x1p60, 1}, {0, 0x1p-60}}, 0x1p60, 1},
		{[][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}}, 0.5, 10},
		{[][]float64{{1, 2, 3}}, 1, 0},
	} {
		if got := gibbsDiameter(tt.c, tt.reg); !(math.Abs(got-tt.want) <= 0x1p-52*tt.want) {
			t.Errorf("gibbsDiameter(%v, %v) = %v, want %v", tt.c, tt.reg, got, tt.want)
		}
	}
}
