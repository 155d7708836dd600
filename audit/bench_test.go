package audit

import (
	"context"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/policy"
)

// grid is the mechanism of the paper's map: 20 x 20 cells, eps = 4.
func grid(b *testing.B) policy.Policy {
	c, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		b.Fatal(err)
	}
	return publish(b, c, "4", 62, policy.Mixture, nil)
}

// BenchmarkExact is the exact part without random rows (k = kv = 400), and with them.
func BenchmarkExact(b *testing.B) {
	p := grid(b)
	for name, random := range map[string]int{"rows": 0, "random": 1000} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				checks, err := Exact(context.Background(), p, random, 1, nil)
				if err != nil {
					b.Fatal(err)
				}
				for _, c := range checks {
					if !c.Passed {
						b.Fatal(c.Fault)
					}
				}
			}
		})
	}
}

// BenchmarkStatistical draws 1e6 in all: 2 inputs, 500000 each, of 30 and of 400 outputs.
func BenchmarkStatistical(b *testing.B) {
	for name, p := range map[string]policy.Policy{"ring30": ring(b, 30, "5", 62, policy.Mixture), "grid400": grid(b)} {
		table := must(TableOf(p, 0, p.Inputs()/2))
		s := must(Draws(p, table, Seeded(1)))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				st, err := Statistical(context.Background(), Design{Table: table, Samples: 500_000, Serial: true}, s)
				if err != nil || st.Violated {
					b.Fatal(st, err)
				}
			}
		})
	}
}

func BenchmarkControls(b *testing.B) {
	for b.Loop() {
		if _, err := Controls(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInterval(b *testing.B) {
	for b.Loop() {
		if _, _, err := Interval(150_000, 1_000_000, 1e-10); err != nil {
			b.Fatal(err)
		}
	}
}
