package wpm_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
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

	// On the device. Real releases pay from a ledger: see policy.OpenLedger.
	report, err := policy.Release(ctx, p, policy.UnaccountedForTesting(), []byte("0,3\n1,3\n"), design.Mechanism().Projector())
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
