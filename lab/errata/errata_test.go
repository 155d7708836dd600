package errata

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// The instance of TestErrataAlgorithmOneIsDykstra in package proptest, whose two limits were computed elsewhere.
func TestAlternate(t *testing.T) {
	p := paper.Problem{
		C: [][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}}, Mu: []float64{0.4, 0.2, 0.4},
		Lo: []float64{0.05, 0.10, 0.15}, Hi: []float64{0.2, 0.4, 0.6}, Lambda: 1,
	}
	right, ok1, err := settled(t.Context(), p)
	free, ok2 := Alternate(p)
	if err != nil || !ok1 || !ok2 {
		t.Fatalf("no rest: %v, %v, %v", ok1, ok2, err)
	}
	for j, want := range []float64{0.2, 0.4, 0.4} {
		if !(math.Abs(right[j]-want) <= 1e-8) { // the vectors have eight digits
			t.Errorf("Algorithm 1: q[%d] = %v, want %v", j, right[j], want)
		}
	}
	for j, want := range []float64{0.2, 0.27422911, 0.52577089} {
		if !(math.Abs(free[j]-want) <= 1e-8) {
			t.Errorf("no correction: q[%d] = %v, want %v", j, free[j], want)
		}
	}
}

// What docs/errata.md says, on fewer instances: both ends occur, columns break at every eps, and cells are worse than
// sides.
func TestRun(t *testing.T) {
	cfg := Config{Instances: 60, Columns: 500, Users: 2, Seed: 1}
	res, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !(res.Compared > 50 && res.Elsewhere > 5 && res.Elsewhere < res.Compared-5 && res.Farthest > 0.01) {
		t.Errorf("%d of %d end elsewhere, %v away", res.Elsewhere, res.Compared, res.Farthest)
	}
	for _, c := range res.Columns {
		if !(c.Share > 0 && c.Share < 1) {
			t.Errorf("eps %s: %v of the columns break it", c.Epsilon, c.Share)
		}
	}
	for _, u := range res.Units {
		if !(u.Sides > -1e-9 && u.Cells > u.Sides) {
			t.Errorf("eps %s: excess %v in sides, %v in cells", u.Epsilon, u.Sides, u.Cells)
		}
	}
	few := Config{Instances: 10, Columns: 50, Users: 1, Seed: 1}
	first, err := Run(t.Context(), few)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Run(t.Context(), few); err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("another run differs (%v)", err)
	}
	for _, bad := range []Config{{Instances: -1}, {Columns: -1}, {Users: -1}} {
		if _, err := Run(t.Context(), bad); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
