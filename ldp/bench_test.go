package ldp

import (
	"fmt"
	"testing"
)

func BenchmarkNewPolytope(b *testing.B) {
	for _, kv := range []int{30, 1000, 100_000} {
		b.Run(fmt.Sprint(kv), func(b *testing.B) {
			eps, m := epsilon(b, "1"), randomBase(newStream(1), kv)
			for b.Loop() {
				if _, err := NewPolytope(eps, m, 62); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, kv := range []int{30, 1000, 100_000} {
		b.Run(fmt.Sprint(kv), func(b *testing.B) {
			p := polytope(b, "1", uniform(kv, 1), 62)
			for b.Loop() {
				if err := p.Verify(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRound(b *testing.B) {
	for _, kv := range []int{30, 1000, 10_000} {
		for _, bits := range []int{32, 62} {
			b.Run(fmt.Sprintf("%d/%dbits", kv, bits), func(b *testing.B) {
				p, q := polytope(b, "1", uniform(kv, 1), bits), uniform(kv, 1)
				for s, j := newStream(1), 0; j < kv; j++ { // inside the box: half the columns are rounded up
					q[j] *= 0.8 + 0.4*s.float()
				}
				for b.Loop() {
					if w := p.Round(q); w.Len() != kv {
						b.Fatal(w.Len())
					}
				}
			})
		}
	}
}

func BenchmarkSample(b *testing.B) {
	for _, kv := range []int{30, 250, 10_000} {
		b.Run(fmt.Sprint(kv), func(b *testing.B) {
			w, r := polytope(b, "1", uniform(kv, 1), 62).Round(nil), newStream(1)
			sum := 0
			for b.Loop() {
				j, err := w.Sample(r)
				if err != nil {
					b.Fatal(err)
				}
				sum += j
			}
			if sum == 0 {
				b.Fatal("every index is 0")
			}
		})
	}
}

func BenchmarkExpBounds(b *testing.B) {
	for _, eps := range []string{"0.1", "5", "64"} {
		for _, bits := range []int{64, 200} {
			b.Run(fmt.Sprintf("eps%s/%dbits", eps, bits), func(b *testing.B) {
				e := epsilon(b, eps)
				for b.Loop() {
					if lower, _ := e.ExpBounds(bits); lower.Sign() <= 0 {
						b.Fatal(lower)
					}
				}
			})
		}
	}
}

func BenchmarkCheckRows(b *testing.B) {
	p := polytope(b, "1", uniform(1000, 1), 62)
	var rows []Weights
	for i := range 100 {
		rows = append(rows, p.Round(randomBase(newStream(uint64(i)), 1000)))
	}
	for b.Loop() {
		if err := CheckRows(p.Epsilon(), rows); err != nil {
			b.Fatal(err)
		}
	}
}
