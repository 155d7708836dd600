package dap_test

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/cloudflare/circl/vdaf/prio3/histogram"

	"github.com/wpm-go/wpm/dap"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Three clients, two servers: only the sum comes out.
func Example() {
	eps, err := ldp.ParseEpsilon("1.1")
	check(err)
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{2, 2}, []uint64{6, 6}, 3)
	check(err)
	row, err := policy.NewRow(box, box.Round([]float64{0.5, 0.5}))
	check(err)
	p, err := policy.New(policy.Config{Polytope: box, Mode: policy.Mixture, Inputs: 1, Rows: []policy.Row{row},
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	check(err)

	task, err := dap.NewTask(p, nil)
	check(err)
	var key histogram.VerifyKey // of both servers, and of nobody else
	_, err = rand.Read(key[:])
	check(err)
	leader, err := task.NewAggregator(dap.Leader, key)
	check(err)
	helper, err := task.NewAggregator(dap.Helper, key)
	check(err)
	for range 3 {
		// For a person, a ledger in a file: ledger.Open.
		report, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), nil, nil)
		check(err)
		upload, err := task.Shard(report)
		check(err)
		check(dap.Aggregate(leader, helper, upload))
	}
	one, err := leader.Share()
	check(err)
	two, err := helper.Share()
	check(err)
	counts, err := task.Counts(one, two, "2026-11", "prio3")
	check(err)
	fmt.Println(counts.Total(), "reports of", len(counts.Reports), "outputs")
	// Output:
	// 3 reports of 2 outputs
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
