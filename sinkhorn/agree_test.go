package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestProjectorAgrees: a Projector gives the results of Project for every setting, Reg and number of atoms: bit for
// bit, but for distributions that share a kernel. Those have the sums of all rows in another order, and so the same Q,
// bounds and values up to rounding where all rows have mass, and up to what the goal leaves open where not.
func TestProjectorAgrees(t *testing.T) {
	shared, whole := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(rt, "seed"))
		k := rapid.SampledFrom([]int{1, 5, 10, 65, 100, 130, 160, 200}).Draw(rt, "k")
		atoms := rapid.IntRange(rapid.SampledFrom([]int{1, (k + 1) / 2, k}).Draw(rt, "at least"), k).Draw(rt, "atoms")
		c, lo, hi := unitSquare(t, g, k, rapid.SampledFrom([]float64{1, 2}).Draw(rt, "p"),
			rapid.SampledFrom([]float64{0.1, 1, 5}).Draw(rt, "eps"))
		for j := range rapid.IntRange(0, k/3).Draw(rt, "closed") {
			lo[3*j], hi[3*j] = 0, 0
		}
		for j := range hi {
			hi[j] *= 2
		}
		reg := rapid.SampledFrom([]float64{2, 0.3, 0.03, 0.003}).Draw(rt, "Reg")
		set := Settings{
			Method:        rapid.SampledFrom([]Method{Fast, Paper}).Draw(rt, "method"),
			Tolerance:     rapid.SampledFrom([]float64{0, 1e-10, 1e-4}).Draw(rt, "tolerance"),
			Gap:           rapid.SampledFrom([]float64{0, 0.5, 0.01}).Draw(rt, "gap"),
			MaxIterations: rapid.SampledFrom([]int{1, 4, 300}).Draw(rt, "limit"), // Paper takes for ever at a small Reg
			AllRows:       rapid.Bool().Draw(rt, "all rows"),
		}
		u := newUsers(g, 1, atoms, k)
		p := Problem{Problem: projection.Problem{Cost: c, Source: u.source[0], Support: u.support[0], Lo: lo, Hi: hi},
			Reg: reg}
		want, wantErr := Project(context.Background(), p, set)
		pr, err := NewProjector(context.Background(), c, lo, hi, reg, set)
		if err != nil {
			rt.Fatal(err)
		}
		var r Result
		err = pr.Project(context.Background(), p.Source, p.Support, &r)
		if !errors.Is(err, wpmerr.ErrNotConverged) && err != nil || r.Status != want.Status {
			rt.Fatalf("%v, status %v; Project: %v, status %v", err, r.Status, wantErr, want.Status)
		}
		switch {
		case !onShared(t, pr, p.Source, p.Support):
			if !reflect.DeepEqual(r, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				rt.Fatalf("%v, %+v\nProject: %v, %+v", err, r, wantErr, want)
			}
		case atoms == k:
			whole++
			if !asProject(r, want) {
				rt.Fatalf("%+v\nProject: %+v", r, want)
			}
		default:
			shared++
			if r.Reg != want.Reg || !(r.Lower <= want.Upper && want.Lower <= r.Upper) {
				rt.Fatalf("Reg %v, [%v, %v]; Project: %v, [%v, %v]", r.Reg, r.Lower, r.Upper, want.Reg, want.Lower, want.Upper)
			}
			// Both plans are as many steps from the start, and rounding is all that is between them, if they took as many.
			if r.Iterations == want.Iterations {
				if d := distance1(r.Q, want.Q); !(d <= sameSteps) || !(math.Abs(r.Lower-want.Lower) <= sameSteps*3) ||
					!(math.Abs(r.Objective-want.Objective) <= sameSteps*3) {
					rt.Fatalf("Q is off by %v, Lower %v and %v, objective %v and %v", d, r.Lower, want.Lower, r.Objective,
						want.Objective)
				}
			} else if set.Gap == 0 && r.Status == Converged && set.Tolerance < 1e-9 {
				if d := distance1(r.Q, want.Q); !(d <= sameQ) {
					rt.Fatalf("Q is off by %v after %d and %d iterations", d, r.Iterations, want.Iterations)
				}
			}
		}
	})
	if (shared == 0 || whole == 0) && numtest.Full() {
		t.Errorf("%d distributions on all rows and %d on most of them had the shared kernel", whole, shared)
	}
}

// sameSteps is how far two runs of the same steps may be apart, over costs of up to 3: sums of 200 terms, each off by
// 2^-52, times exponents of up to 3/Reg = 1000, through at most 64 steps that do not expand.
const sameSteps = 200 * 0x1p-52 * 1000 * 64

// TestProjectorGrid: a Projector of a large grid takes the method for grids where Project does.
func TestProjectorGrid(t *testing.T) {
	p := gridProblem(t, 50, 50, 1, 0.01)
	for _, n := range []int{1700, 40, 2500}[:numtest.Cases(2, 3)] { // 1678 rows make gridCells pairs
		source, support := slices.Clone(p.Source[:n]), make([]int, n)
		sum := 0.0
		for i, x := range source {
			support[i] = i
			sum += x
		}
		for i := range source {
			source[i] /= sum
		}
		set := Settings{Tolerance: 1e-3}
		q := p
		q.Source, q.Support = source, support
		want, err := Project(context.Background(), q, set)
		if err != nil && !is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, set)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := pr.Project(context.Background(), source, support, &r); err != nil && !is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if onShared(t, pr, source, support) {
			t.Fatalf("%d rows share a kernel", n)
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%d rows: %d iterations, [%v, %v]; Project: %d, [%v, %v]",
				n, r.Iterations, r.Lower, r.Upper, want.Iterations, want.Lower, want.Upper)
		}
	}
}
