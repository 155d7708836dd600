package mincostflow

import (
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

type referenceFile struct {
	Instances []struct {
		Name    string    `json:"name"`
		K       int       `json:"k"`
		Kv      int       `json:"kv"`
		Eps     float64   `json:"eps"`
		Mu      []float64 `json:"mu"`
		M       []float64 `json:"m"`
		Optimal string    `json:"optimal"`
		Cost    struct {
			Kind string      `json:"kind"`
			C    [][]float64 `json:"C"`
		} `json:"cost"`
	} `json:"instances"`
}

// TestReference compares with optima computed in rational arithmetic elsewhere (testdata/README.md).
func TestReference(t *testing.T) {
	var file referenceFile
	numtest.LoadJSON(t, "testdata/exact-sample.json", &file)
	if len(file.Instances) != 6 {
		t.Fatalf("%d instances, want 6", len(file.Instances))
	}
	for _, x := range file.Instances {
		t.Run(x.Name, func(t *testing.T) {
			p := Problem{Cost: dense(t, x.Cost.C...), Source: x.Mu}
			p.Lo, p.Hi = box(x.M, x.Eps)
			want, ok := new(big.Rat).SetString(x.Optimal)
			if !ok {
				t.Fatalf("optimal %q", x.Optimal)
			}
			for _, r := range mustBoth(t, p) {
				top := maxCost(p)
				numtest.NearRat(t, "Objective", r.Objective, want,
					numtest.Tol{Abs: 1e-12 * top, Why: "the promise for reference values"})
				// The reference takes exp(eps/2) as a real number and does not normalise mu; the
				// optimum moves by the difference, which is a few ulps of mass, times the cost.
				slack := 8 * 0x1p-52 * top
				w, _ := want.Float64()
				if !(r.Lower <= w+slack && w-slack <= r.Upper) || math.IsNaN(slack) {
					t.Errorf("bounds [%v, %v], optimum %v", r.Lower, r.Upper, w)
				}
			}
		})
	}
}
