package sinkhorn

import (
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
)

type referenceFile struct {
	Instances []struct {
		Name      string    `json:"name"`
		K         int       `json:"k"`
		Kv        int       `json:"kv"`
		Eps       float64   `json:"eps"`
		Lambda    float64   `json:"lambda"`
		Mu        []float64 `json:"mu"`
		M         []float64 `json:"m"`
		Nu        []string  `json:"nu"`
		Transport string    `json:"transport_cost"`
		Objective string    `json:"objective"`
		Cost      struct {
			Kind string      `json:"kind"`
			C    [][]float64 `json:"C"`
		} `json:"cost"`
	} `json:"instances"`
}

// TestReference compares both methods with solutions in 60-digit arithmetic (testdata/README.md).
func TestReference(t *testing.T) {
	tol := numtest.Tol{Abs: 1e-10, Why: "the promise for reference values"}
	var file referenceFile
	numtest.LoadJSON(t, "testdata/entropic-sample.json", &file)
	if len(file.Instances) != 3 {
		t.Fatalf("%d instances, want 3", len(file.Instances))
	}
	for _, x := range file.Instances {
		for _, m := range methods {
			t.Run(x.Name+"/"+m.String(), func(t *testing.T) {
				p := Problem{Problem: projection.Problem{Cost: dense(t, x.Cost.C...), Source: x.Mu}, Reg: x.Lambda}
				p.Lo, p.Hi = box(x.M, x.Eps)
				r := mustProject(t, p, Settings{Method: m})
				var off float64
				for j, s := range x.Nu {
					off += math.Abs(r.Q[j] - decimal(t, s))
				}
				if !(off <= tol.Abs) {
					t.Errorf("|Q - reference|_1 = %g, tolerance %v", off, tol)
				}
				numtest.Near(t, "Transport", r.Transport, decimal(t, x.Transport), tol)
				numtest.Near(t, "Objective", r.Objective, decimal(t, x.Objective), tol)
				t.Log(off, r.Transport-decimal(t, x.Transport), r.Objective-decimal(t, x.Objective), r.Iterations)
			})
		}
	}
}

func decimal(t *testing.T, s string) float64 {
	t.Helper()
	x, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("decimal %q", s)
	}
	f, _ := x.Float64()
	return f
}
