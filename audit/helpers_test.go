package audit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
)

// ring publishes the mechanism on a ring of n points, with labels p0, p1, ... and the certificate of its base
// measure.
func ring(t testing.TB, n int, eps string, bits int, mode policy.Mode) policy.Policy {
	t.Helper()
	c, err := cost.NewRing(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return publish(t, c, eps, bits, mode, nil)
}

// publish makes a policy; change may edit its Config.
func publish(t testing.TB, c cost.Matrix, eps string, bits int, mode policy.Mode,
	change func(*policy.Config)) policy.Policy {
	t.Helper()
	e := given.Epsilon(t, eps)
	d, err := wpm.NewDesign(context.Background(), c, e, wpm.Objective{Options: wpm.Options{Bits: bits}})
	if err != nil {
		t.Fatal(err)
	}
	cfg := policy.Config{
		Mode: mode, Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
		Certificate: d.Certificate(),
	}
	k, kv := c.Dims()
	for i := range k {
		cfg.InputLabels = append(cfg.InputLabels, fmt.Sprintf("p%d", i))
	}
	for j := range kv {
		cfg.OutputLabels = append(cfg.OutputLabels, fmt.Sprintf("p%d", j))
	}
	if change != nil {
		change(&cfg)
	}
	p, err := d.Mechanism().Publish(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func projector(t testing.TB, p policy.Policy) policy.ProjectFunc {
	t.Helper()
	m, err := wpm.Load(context.Background(), p, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Projector()
}

// fair is the mechanism of the controls, whose loss is 0.2 % below eps = 1.
func fair(t testing.TB) Table {
	t.Helper()
	list, err := plants()
	if err != nil {
		t.Fatal(err)
	}
	return list[0].table
}

// tableSampler draws the rows of a table, by a seeded source.
func tableSampler(t Table, seed uint64) Sampler {
	outputs := map[int][]int{} // by input and word
	for _, row := range t.Rows {
		f := inverse(row.N)
		for word := range t.total() {
			outputs[row.Input] = append(outputs[row.Input], f(word))
		}
	}
	return func(ctx context.Context, client Row, n int, counts []uint64) error {
		input := client.Input
		rng := rand.NewChaCha8(key("draws", seed, int64(input)))
		row := outputs[input]
		for range n {
			counts[row[rng.Uint64()>>uint(64-t.Bits)]]++
		}
		return ctx.Err()
	}
}
