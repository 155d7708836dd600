package publisher

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestMappable: pairs are refused from that number of spans on that a channel refuses, with what to do.
func TestMappable(t *testing.T) {
	var x [][]float64
	for i := range 256 {
		x = append(x, []float64{float64(i & 3), float64(i >> 2 & 3), float64(i >> 4 & 3), float64(i >> 6)})
	}
	c, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), c, given.Epsilon(t, "4"), wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{Mode: policy.Mixture,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	if err := mappable(p, estimate.MaxRuns); err != nil {
		t.Error(err)
	}
	if err := mappable(p, 256*256); err != nil { // no row has more spans than outputs
		t.Error(err)
	}
	// Each has one at least.
	if err := mappable(p, 255); !errors.Is(err, wpmerr.ErrTooLarge) || !strings.Contains(err.Error(), "merge places") {
		t.Error(err)
	}
}
