package wpm_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Design a mechanism on a ring of six points and project a private distribution.
func Example() {
	ctx := context.Background()
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		panic(err)
	}
	design, err := wpm.NewDesign(ctx, ring, eps, wpm.Objective{})
	if err != nil {
		panic(err)
	}
	worst, _ := design.WorstCase()
	fmt.Printf("worst case %.6f, and no 2-LDP mechanism has less than %.6f\n", worst, design.Lower())

	m := design.Mechanism()
	pr, err := m.Project(ctx, []float64{0.5, 0.5, 0, 0, 0, 0})
	if err != nil {
		panic(err)
	}
	fmt.Printf("this one costs %.6f\n", pr.Objective())
	fmt.Println(pr) // it is private
	fmt.Println(m.Polytope().Verify())
	// Output:
	// worst case 0.726448, and no 2-LDP mechanism has less than 0.726448
	// this one costs 0.484298
	// wpm.Projection(redacted)
	// <nil>
}

// Publish a mechanism, and release from it on a device.
func ExampleDesign_Publish() {
	ctx := context.Background()
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		panic(err)
	}
	design, err := wpm.NewDesign(ctx, ring, eps, wpm.Objective{})
	if err != nil {
		panic(err)
	}
	p, err := design.Publish(policy.Config{
		Mode:       policy.Projection,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(policy.Verify(p))

	// On the device. Real releases pay from a ledger: see ledger.Open.
	report, err := policy.Release(ctx, p, ledger.UnaccountedForTesting(), []byte("0,3\n1,3\n"),
		design.Mechanism().Projector())
	if err != nil {
		panic(err)
	}
	bytes, err := report.MarshalBinary()
	if err != nil {
		panic(err)
	}
	fmt.Println(len(bytes), "bytes,", p.Belongs(report))
	// Output:
	// <nil>
	// 40 bytes, <nil>
}

// One mechanism for many clients: the base measure is given, and each client's distribution is projected.
func ExampleNew() {
	c, err := cost.NewGrid(2, 2, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		panic(err)
	}
	m, err := wpm.New(context.Background(), c, []float64{0.25, 0.25, 0.25, 0.25}, eps, wpm.Options{})
	if err != nil {
		panic(err)
	}
	pr, err := m.Project(context.Background(), []float64{1, 0, 0, 0})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f, W_1 = %.3f\n", pr.Q(), pr.Objective())
	fmt.Println(pr.Lower() <= pr.Objective() && pr.Objective() <= pr.Upper())
	// Output:
	// [0.412 0.285 0.152 0.152], W_1 = 0.325
	// true
}

// Which design for which goal: the worst client or the mean one.
func ExampleCompare() {
	line, err := cost.NewPoints([][]float64{{0}, {1}, {2}, {3}}, nil, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		panic(err)
	}
	goals := []wpm.Objective{{Kind: wpm.Uniform}, {Kind: wpm.Minimax}, {Kind: wpm.Average}}
	outcomes, err := wpm.Compare(context.Background(), line, eps, goals...)
	if err != nil {
		panic(err)
	}
	for n, o := range outcomes {
		fmt.Printf("%-8v worst %.3f, mean %.3f\n", goals[n].Kind, o.Worst, o.Mean)
	}
	// Output:
	// uniform  worst 1.038, mean 0.903
	// minimax  worst 0.945, mean 0.945
	// average  worst 1.269, mean 0.769
}

// A policy that somebody else published: verified, and run as a simulation.
func ExampleLoad() {
	ring, err := cost.NewRing(6, 1)
	if err != nil {
		panic(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		panic(err)
	}
	design, err := wpm.NewDesign(context.Background(), ring, eps, wpm.Objective{})
	if err != nil {
		panic(err)
	}
	published, err := design.Publish(policy.Config{
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		panic(err)
	}

	m, err := wpm.Load(context.Background(), published, wpm.Options{})
	if err != nil {
		panic(err)
	}
	k, kv := m.Dims()
	fmt.Println(k, kv, m.Epsilon(), m.Polytope().Verify())
	// Output:
	// 6 6 2 <nil>
}
