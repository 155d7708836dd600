package certificate_test

import (
	"context"
	"errors"
	flows "github.com/wpm-go/wpm/sinkhorn/grid"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sphere"
)

// TestMirrorIsBaseMeasure: what a mirror descent proves is a certificate of a base measure, about the same problem.
func TestMirrorIsBaseMeasure(t *testing.T) {
	c := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2.5, 1, 0, 1.5, 2.5, 1.5, 0}}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := mirror.Descend(context.Background(), table, 1.25, mirror.Settings{Steps: 50})
	made := must(t)(certificate.NewBaseMeasure(context.Background(), c, 1.25, basemeasure.Result{
		M: r.M, F: r.F, Lower: r.Lower, Upper: r.Upper, Weights: r.Weights, Thresholds: r.Thresholds,
	}))(err)
	if err := check(text(t, made)); err != nil {
		t.Error(err)
	}
	if made.ProblemHash() != sample(t)[certificate.BaseMeasure].ProblemHash() {
		t.Error("the problem has another hash than for basemeasure.Uniform")
	}
}

// TestEntropicEvidence: the stated upper bound leaves room for the last bits of exponentials, the plan may be moved by
// a flow, a file may have an explicit one, and none can be forged.
func TestEntropicEvidence(t *testing.T) {
	grid, err := cost.NewGrid(1, 4, 2)
	if err != nil {
		t.Fatal(err)
	}
	p := sinkhorn.Problem{
		Problem: projection.Problem{Cost: grid, Source: []float64{0.5, 0.25, 0.25, 0},
			Lo: []float64{0.125, 0.125, 0.125, 0.125},
			Hi: []float64{0.5, 0.5, 0.5, 0.5}}, Reg: 0.01,
	}
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	upper, _, err := sinkhorn.Verify(context.Background(), p, r)
	plain := must(t)(certificate.NewEntropic(context.Background(), p, r))(err)
	// (16 + 4 + 4) 2^-49 of the largest cost, 9/16.
	room := new(big.Rat).Mul(big.NewRat(24*9, 16), new(big.Rat).SetFrac64(1, 1<<49))
	if room.Add(room, upper); plain.Stated().Upper.Cmp(room) < 0 {
		t.Errorf("upper bound %v, proved %v: no room", plain.Stated().Upper, upper)
	}

	moved := r
	moved.Flow = &flows.Flow{Right: []float64{0, 1e-13, 0, 0}, Down: make([]float64, 4), Steps: 2}
	moved.Upper = 0.5
	flow := must(t)(certificate.NewEntropic(context.Background(), p, moved))(nil)
	var plan certificate.Certificate
	for _, c := range version1(t) {
		if strings.Contains(string(text(t, c)), `,"plan":[[0,0,0.33`) {
			plan = c
		}
	}
	for name, c := range map[string]certificate.Certificate{"plain": plain, "flow": flow, "plan": plan} {
		t.Run(name, func(t *testing.T) {
			if err := check(text(t, c)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, test := range []struct {
		c        certificate.Certificate
		old, new string
		want     error
	}{
		{plain, `"flow":null`, `"flow":{"right":[],"down":[],"steps":1}`, certificate.ErrShape},
		{plain, `"plan":null`, `"plan":[]`, certificate.ErrEvidence}, // nothing moved
		{flow, `"steps":2`, `"steps":0`, certificate.ErrEvidence},
		{flow, `"right":[0,1e-13,0,0]`, `"right":[0,0,0,1]`, certificate.ErrEvidence}, // out of the grid
		{flow, `"right":[0,1e-13,0,0]`, `"right":[0,1e-13,0]`, certificate.ErrShape},
		{flow, `"down":[0,0,0,0]`, `"down":[0,0,0,0,0]`, certificate.ErrShape},
		{flow, `"down":[0,0,0,0]`, `"down":[1,0,0,0]`, certificate.ErrEvidence},
		{flow, `"down":[0,0,0,0]`, `"down":null`, certificate.ErrShape},
		{plan, `"plan":[[0,0,`, `"plan":[[0,1,`, certificate.ErrEvidence},
		{plan, `"plan":[[0,0,`, `"plan":[[0,5,`, certificate.ErrEvidence},
		{plan, `"plan":[[0,0,`, `"plan":[[-1,0,`, certificate.ErrEvidence},
		{plan, `"plan":[[0,0,0.3`, `"plan":[[0,0,1e+308],[0,0,0.3`, certificate.ErrEvidence},
		{plan, `"at_most":0.72`, `"at_most":0.71`, certificate.ErrEvidence},
		{plan, `"at_most":0.72`, `"at_most":0.73`, certificate.ErrClaim},
	} {
		genuine := string(text(t, test.c))
		if !strings.Contains(genuine, test.old) {
			t.Fatalf("%q is not in %s", test.old, genuine)
		}
		if err := check(replace(t, []byte(genuine), test.old, test.new)); !errors.Is(err, test.want) {
			t.Errorf("%s for %s: %v, want %v", test.new, test.old, err, test.want)
		}
	}
	// Numbers whose last digits are the machine's.
	for _, test := range []struct {
		name, pattern, new string
		want               error
	}{
		{"at_most below the plan", `"at_most":[^,]*`, `"at_most":0.001`, certificate.ErrEvidence},
		{"at_most above the claim", `"at_most":[^,]*`, `"at_most":0.5`, certificate.ErrClaim},
		{"another transport", `"transport":[^,]*`, `"transport":0.5`, certificate.ErrEvidence},
		{"another residual", `"residual":[^,]*`, `"residual":0.5`, certificate.ErrEvidence},
		{"another q", `"q":\[[^\]]*\]`, `"q":[0.25,0.25,0.25,0.25]`, certificate.ErrEvidence},
		{"q out of the box", `"q":\[[^\]]*\]`, `"q":[0.625,0.125,0.125,0.125]`, certificate.ErrEvidence},
		{"a potential above the cost", `"f":\[[^,]*`, `"f":[1`, certificate.ErrEvidence},
		{"worse potentials", `"f":\[[^,]*`, `"f":[-1`, certificate.ErrClaim},
		{"a missing potential", `"f":\[[^,]*,`, `"f":[`, certificate.ErrShape},
		{"no regularisation", `"reg":[^,]*`, `"reg":-1`, certificate.ErrEvidence},
	} {
		t.Run(test.name, func(t *testing.T) {
			forged := regexp.MustCompile(test.pattern).ReplaceAll(text(t, plain), []byte(test.new))
			if err := check(forged); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", test.name, err, test.want)
			}
		})
	}
}

// TestSphereLimits: what sphere.Enclose gives has a certificate, at the ends of d, p and eps; bounds that would take
// long to verify are refused by their size.
func TestSphereLimits(t *testing.T) {
	for _, x := range []struct {
		d      int
		p, eps float64
		bits   int
	}{{1, 2, 700, 170}, {2, 0.5, 700, 170}, {1, 12, 1e-12, 1}, {1, 0.5, 300, 0}, {127, 3, 700, 170}, {20, 12, 700, 1},
		{numtest.Cases(2_000, 100_000), 12, 1e-12, 1}} {
		b, err := sphere.Enclose(x.d, x.p, x.eps, x.bits)
		c := must(t)(certificate.NewSphere(x.d, x.p, x.eps, b))(err)
		if _, err := certificate.Verify(context.Background(), c); err != nil {
			t.Errorf("%+v: %v", x, err)
		}
	}
	genuine := text(t, sample(t)[certificate.Sphere])
	above := regexp.MustCompile(`"above":"[^"]*"`)
	for _, s := range []string{"999999999/1000000000", "16/17", "1/1" + strings.Repeat("0", 300),
		strings.Repeat("7", 60) + "/1" + strings.Repeat("0", 61)} {
		if err := check(above.ReplaceAll(genuine, []byte(`"above":"`+s+`"`))); !errors.Is(err, certificate.ErrLimit) {
			t.Errorf("above %s: %v, want %v", s, err, certificate.ErrLimit)
		}
	}
}

// TestNoOptimum: a network without an optimum has no certificate, whatever it proves.
func TestNoOptimum(t *testing.T) {
	for name, g := range map[string]*network.Problem{
		"infeasible": {Supply: []int64{1, -1}},
		"unbounded":  {Supply: []int64{0}, Arcs: []network.Arc{{Upper: network.Unlimited, Cost: -1}}},
	} {
		r, _ := network.Solve(context.Background(), g, network.Settings{})
		if err := network.Verify(g, r); err != nil || r.Status == network.Optimal {
			t.Fatalf("%s: %v, %v", name, r.Status, err)
		}
		if _, err := certificate.NewFlow(g, r); !errors.Is(err, certificate.ErrStatus) {
			t.Errorf("%s: %v, want %v", name, err, certificate.ErrStatus)
		}
	}
}
