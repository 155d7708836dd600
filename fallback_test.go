package wpm_test

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
)

// faultyCost is a cost whose rows panic from a count of reads on.
type faultyCost struct {
	cost.Matrix
	reads, left, elsewhere atomic.Int64 // elsewhere: panics on goroutines of internal/parallel
}

func (c *faultyCost) Row(i int, buf []float64) []float64 {
	c.reads.Add(1)
	if c.left.Add(-1) < 0 {
		if strings.Contains(string(debug.Stack()), "/internal/parallel.(*Group).guard") {
			c.elsewhere.Add(1)
		}
		panic("a row that cannot be read")
	}
	return c.Matrix.Row(i, buf)
}

// TestSolverPanicFallsBack: a panic in a solver of this module, also on a goroutine of its loops, reaches
// policy.Release, which draws from something else. If it did not, this test would end the process.
func TestSolverPanicFallsBack(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 400
	ring, err := cost.NewRing(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	flat := make([]float64, n)
	for j := range flat {
		flat[j] = 1. / n
	}
	c := &faultyCost{Matrix: ring}
	c.left.Store(math.MaxInt64)
	m, err := wpm.New(context.Background(), c, flat, eps, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: m.Polytope(), Mode: policy.Projection, Inputs: n,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := m.Polytope().Bounds()
	for name, project := range map[string]policy.ProjectFunc{
		"exact": m.Projector(),
		"entropic": func(ctx context.Context, mu []float64) ([]float64, error) { // a Mechanism would hold all rows
			res, err := sinkhorn.Project(ctx, sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi},
				Reg: 0.01},
				sinkhorn.Settings{})
			return res.Q, err
		},
	} {
		for _, private := range []string{"0,1\n10,1\n77,2\n200,1\n", everyInput(t, p)} {
			c.reads.Store(0)
			c.left.Store(math.MaxInt64)
			release := func() {
				if _, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte(private),
					project); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			release()
			reads := c.reads.Load()
			if reads < 2 {
				t.Fatalf("%s: %d rows read", name, reads)
			}
			for _, left := range []int64{0, 1, reads / 3, reads / 2, reads - 1} {
				c.left.Store(left)
				release()
			}
		}
	}
	if c.elsewhere.Load() == 0 {
		t.Error("no panic was on another goroutine than the solver's")
	}
}

func everyInput(t *testing.T, p policy.Policy) string {
	t.Helper()
	counts := make([]float64, p.Inputs())
	for i := range counts {
		counts[i] = float64(1 + i%7)
	}
	b, err := policy.FormatPrivate(p, counts)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
