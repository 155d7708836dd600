package certificate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	flows "github.com/wpm-go/wpm/sinkhorn/grid"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEntropicMix: a certificate of a plan that is mixed in blocks of cells comes back whole. Tampered with, it is
// refused, or what it claims is still true by the word of another solver.
func TestEntropicMix(t *testing.T) {
	const rows, cols = 3, 6
	grid, err := cost.NewGrid(rows, cols, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := sinkhorn.Problem{Problem: projection.Problem{Cost: grid, Source: make([]float64, rows*cols)}, Reg: 0.02}
	for i := range p.Source {
		p.Source[i] = float64(1 + i*i%7)
		p.Lo, p.Hi = append(p.Lo, 0.5/(rows*cols)), append(p.Hi, 1.25/(rows*cols))
	}
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{MaxIterations: 2})
	if !errors.Is(err, wpmerr.ErrNotConverged) || !(r.Residual > 0.01) {
		t.Fatalf("residual %v, %v", r.Residual, err)
	}
	r.Flow = &flows.Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 2}
	r.Flow.Right[1], r.Flow.Down[8] = 0.001953125, -0.0009765625
	claim := func() {
		r.Upper = given.Max(grid)
		upper, _, err := sinkhorn.Verify(context.Background(), p, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Upper = num.Up(upper)
	}
	claim()
	plain := r.Upper
	r.Flow.Mix = true
	claim()
	if !(r.Upper < plain-1e-3) {
		t.Fatalf("%v mixed, %v not: nothing to mix", r.Upper, plain)
	}
	c := must(t)(certificate.NewEntropic(context.Background(), p, r))(nil)
	genuine := text(t, c)
	if err := check(genuine); err != nil {
		t.Fatal(err)
	}
	back, err := certificate.Decode(genuine)
	if err != nil || !bytes.Equal(text(t, back), genuine) || !bytes.Contains(genuine, []byte(`"steps":2,"mix":true}`)) {
		t.Fatalf("%v, and %s comes back as %s", err, genuine, text(t, back))
	}
	moved, err := mincostflow.Transport(context.Background(), grid, p.Source, r.Q)
	if err != nil {
		t.Fatal(err)
	}
	best, err := mincostflow.Project(context.Background(), p.Problem, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if stated := c.Stated(); stated.Upper.Cmp(num.Rat(moved.Lower)) < 0 || stated.Lower.Cmp(num.Rat(best.Upper)) > 0 {
		t.Fatalf("[%v, %v], exact %v, %v", stated.Lower, stated.Upper, best.Upper, moved.Lower)
	}

	list := func(name string, change func(x []string)) []byte {
		at := regexp.MustCompile(`"` + name + `":\[([^\]]*)\]`).FindSubmatchIndex(genuine)
		x := strings.Split(string(genuine[at[2]:at[3]]), ",")
		change(x)
		return slices.Concat(genuine[:at[2]], []byte(strings.Join(x, ",")), genuine[at[3]:])
	}
	up := func(i int) func(x []string) {
		return func(x []string) {
			f, err := strconv.ParseFloat(x[i], 64)
			b, bad := json.Marshal(math.Nextafter(f, math.Inf(1)) + 0) // no -0
			if err := errors.Join(err, bad); err != nil {
				t.Fatal(err)
			}
			x[i] = string(b)
		}
	}
	set := func(i int, to string) func(x []string) { return func(x []string) { x[i] = to } }
	swap := func(i, j int) func(x []string) { return func(x []string) { x[i], x[j] = x[j], x[i] } }
	for name, test := range map[string]struct {
		forged []byte
		want   error
	}{
		"no mixing":              {replace(t, genuine, `,"mix":true`, ``), certificate.ErrEvidence},
		"mixing denied":          {replace(t, genuine, `"mix":true`, `"mix":false`), certificate.ErrFormat},
		"mixing as a number":     {replace(t, genuine, `"mix":true`, `"mix":1`), certificate.ErrFormat},
		"mixing twice":           {replace(t, genuine, `"mix":true`, `"mix":true,"mix":true`), certificate.ErrFormat},
		"a flow out of the grid": {list("right", set(5, "0.001953125")), certificate.ErrEvidence},
		"a larger flow":          {list("down", set(3, "0.5")), certificate.ErrEvidence},
		"cells of q swapped":     {list("q", swap(0, 17)), certificate.ErrEvidence},
		"negative mass in q":     {list("q", set(4, "-0.05")), certificate.ErrEvidence},
		"negative mass in mu":    {list("weight", set(4, "-1")), certificate.ErrShape},
		"cells of mu swapped":    {list("weight", swap(0, 3)), certificate.ErrEvidence},
		"log_v swapped":          {list("log_v", swap(0, 3)), certificate.ErrEvidence},
		"blocks of another grid": {replace(t, genuine, `"rows":3,"cols":6`, `"rows":6,"cols":3`), certificate.ErrCost},
		"f above the costs":      {list("f", set(0, "0.5")), certificate.ErrEvidence},
	} {
		t.Run(name, func(t *testing.T) {
			if err := check(rehash(t, test.forged)); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
		})
	}
	// An ulp here or there, or a worse flow: where that is accepted, mu, q and both bounds are as they were, and true.
	for _, name := range []string{"right", "down", "log_v", "q", "f", "g"} {
		for i := range rows * cols {
			err := check(list(name, up(i)))
			switch leaves := i%cols == cols-1 && name == "right" || i/cols == rows-1 && name == "down"; {
			case leaves && !errors.Is(err, certificate.ErrEvidence):
				t.Errorf("%s[%d] an ulp up leaves the grid: %v", name, i, err)
			case err != nil && !errors.Is(err, certificate.ErrEvidence) && !errors.Is(err, certificate.ErrClaim):
				t.Errorf("%s[%d] an ulp up: %v", name, i, err)
			}
		}
	}
}
