package policy

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// benchPolicy has n inputs and outputs on a line and rows that fill nearest columns first.
func benchPolicy(b *testing.B, n int, mode Mode, rows bool) Policy {
	b.Helper()
	m := make([]float64, n)
	for j := range m {
		m[j] = 0.6 / float64(n)
	}
	box, err := ldp.NewPolytope(mustEpsilon(b, "4"), m, 62)
	if err != nil {
		b.Fatal(err)
	}
	cfg := Config{Polytope: box, Mode: mode, Inputs: n, Provenance: clean}
	for i := 0; rows && i < n; i++ {
		w, _ := columns(box)
		rest := box.Total()
		for _, v := range w {
			rest -= v
		}
		for d := 0; rest > 0; d++ {
			for _, j := range []int{i - d, i + d} {
				if j < 0 || j >= n || w[j] != box.Lo(j) {
					continue
				}
				add := min(rest, box.Hi(j)-box.Lo(j))
				w[j] += add
				rest -= add
			}
		}
		cfg.Rows = append(cfg.Rows, mustRow(b, box, w))
	}
	return mustNew(b, cfg)
}

func BenchmarkDecode(b *testing.B) {
	for _, bc := range []struct {
		n    int
		rows bool
	}{{1000, true}, {100_000, false}} {
		mode := Projection
		if bc.rows {
			mode = Mixture
		}
		data := mustEncode(b, benchPolicy(b, bc.n, mode, bc.rows))
		b.Run(fmt.Sprintf("n=%d/rows=%v", bc.n, bc.rows), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A file with everything a city needs: labels and coordinates for each output.
func BenchmarkDecodeLabels(b *testing.B) {
	const n = 100_000
	cfg := benchPolicy(b, n, Projection, false).get().Config
	x := []byte(`{"kind":"points","x":[`)
	for j := range n {
		cfg.OutputLabels = append(cfg.OutputLabels, fmt.Sprintf("place %06d", j))
		x = fmt.Appendf(x, "[%.15g,%.15g],", math.Sqrt(float64(j)), math.Cbrt(float64(j)))
	}
	cfg.InputLabels = cfg.OutputLabels
	cfg.Cost = append(x[:len(x)-1], `],"p":1}`...)
	data := mustEncode(b, mustNew(b, cfg))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		p, err := Decode(data)
		if err != nil {
			b.Fatal(err)
		}
		if err := Verify(p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, bc := range []struct {
		n    int
		rows bool
	}{{1000, true}, {100_000, false}} {
		p := benchPolicy(b, bc.n, Projection, bc.rows)
		b.Run(fmt.Sprintf("n=%d/rows=%v", bc.n, bc.rows), func(b *testing.B) {
			for b.Loop() {
				if err := Verify(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRelease(b *testing.B) {
	for _, n := range []int{250, 1000} {
		counts := make([]float64, n)
		for i := range counts {
			counts[i] = float64(i % 7)
		}
		for _, mode := range []Mode{Mixture, Projection} {
			p := benchPolicy(b, n, mode, true)
			private, err := FormatPrivate(p, counts)
			if err != nil {
				b.Fatal(err)
			}
			q := make([]float64, n)
			for j := range q {
				q[j] = 1 / float64(n)
			}
			// the cost without a solver
			project := ProjectFunc(func(context.Context, []float64) ([]float64, error) { return q, nil })
			b.Run(fmt.Sprintf("%s/n=%d", mode, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Release(b.Context(), p, ledger.UnaccountedForTesting(), private, project); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// The draw of a row alone: all rows are read.
func BenchmarkSecretRow(b *testing.B) {
	for _, n := range []int{250, 1000} {
		p := benchPolicy(b, n, Mixture, true)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := secretRow(p.c.Polytope, p.c.Rows, p.c.Fallback, n/2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A release with its ledger: two lines written and synced.
func BenchmarkReleaseLedger(b *testing.B) {
	p := benchPolicy(b, 250, Mixture, true)
	l, err := ledger.Open(filepath.Join(b.TempDir(), "ledger"), ledger.Options{Epoch: "e", Budget: "1000000000"})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for n := 0; b.Loop(); n++ {
		if _, err := Release(b.Context(), named(p, n), l, []byte("7,1"), nil); err != nil {
			b.Fatal(err)
		}
	}
	if l.Spent().Sign() == 0 {
		b.Fatal("nothing was paid")
	}
}

// Version 2, under the uniform measure over points of the plane: the file, its decoding with all privacy checks, and a
// release from it.
func BenchmarkVersion2(b *testing.B) {
	for _, n := range []int{4_000, 20_000, 100_000} {
		box, err := ldp.NewPolytope(mustEpsilon(b, "2"), slices.Repeat([]float64{1 / float64(n)}, n), 62)
		if err != nil {
			b.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		cfg := Config{Polytope: box, Geometry: &Geometry{Kind: Points, Axes: 2}, Thresholds: make([]int32, n),
			Provenance: clean}
		for i := range 2 * n {
			cfg.Geometry.OutputPoints = append(cfg.Geometry.OutputPoints, r.Int32())
			cfg.Thresholds[i/2] = r.Int32N(int32(n))
		}
		p := mustNew(b, cfg)
		data := mustEncode(b, p)
		b.Run(fmt.Sprintf("decode/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			b.ReportMetric(float64(len(data)), "file-bytes")
			for b.Loop() {
				q, err := Decode(data)
				if err == nil {
					err = Verify(q)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("release/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Release(b.Context(), p, ledger.UnaccountedForTesting(), []byte("7,1\n9,2"), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("rows/%d", n), func(b *testing.B) {
			var row []uint64
			for i := 0; b.Loop(); i++ {
				if row, err = p.AppendRow(row[:0], i%n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
