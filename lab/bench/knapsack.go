//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/wpm-go/wpm/knapsack"
)

// knapsacks times f(m) for points in the unit square and an uneven base measure.
func knapsacks(c *config, w io.Writer) error {
	fmt.Fprint(w, "Scalar: the plain loop in C++, g++ -O3 -march=native. Vectors: the same with -ffast-math, where the compiler reorders the sums of the dot product.\n"+
		"wpm's result does not depend on the order of the sums, and is exact to a few roundings.\n\n")
	t := c.lines("scalar", "vectors", "numpy")
	for _, k := range []int{250, 1000, 4000} {
		for _, eps := range []string{"0.5", "2", "5"} {
			name := fmt.Sprintf("sq%dp1:dir:%s", k, eps)
			if !strings.Contains(name, c.Only) {
				continue
			}
			in, err := newInstance(name)
			if err != nil {
				return err
			}
			uneven(in)
			in.param[2] = float64(max(1, 4_000_000/(k*k))) // requests of some milliseconds
			file := c.tmp + "/knapsack.bin"
			if err := in.write(file); err != nil {
				return err
			}
			table, err := knapsack.New(context.Background(), in.C)
			if err != nil {
				return err
			}
			if err := table.Check(in.lo, in.hi); err != nil {
				return err
			}
			scalar, err := c.compiled("scalar_knapsack", file)
			if err != nil {
				return err
			}
			defer scalar.close()
			vector, err := c.compiled("vector_knapsack", file)
			if err != nil {
				return err
			}
			defer vector.close()
			python, err := c.python("numpy_knapsack.py", file)
			if err != nil {
				return err
			}
			defer python.close()
			got, err := c.compare(often(func() (answer, error) {
				f, _ := table.Max(in.lo, in.hi)
				return answer{Value: f, Met: true}, nil
			}), scalar, vector, python)
			if err != nil {
				return err
			}
			for n := range got[1:] {
				got[n+1].CPU /= in.param[2]
				if math.Abs(got[n+1].Value-got[0].Value) > 1e-12*got[0].Value {
					return fmt.Errorf("%s: f = %v, a peer says %v", name, got[0].Value, got[n+1].Value)
				}
			}
			t.add(fmt.Sprintf("%d points, eps %s", k, eps), name, got[0].CPU, got[1].CPU, got[2].CPU, got[3].CPU)
		}
	}
	t.write(w)
	return nil
}

// uneven replaces the base measure by one of mass 1 that differs from point to point.
func uneven(in *instance) {
	r := rand.New(rand.NewPCG(7, uint64(in.C.Kv)))
	m := make([]float64, in.C.Kv)
	var sum float64
	for j := range m {
		m[j] = 0.5 + r.Float64()
		sum += m[j]
	}
	for j := range m {
		in.lo[j], in.hi[j] = math.Exp(-in.eps/2)*m[j]/sum, math.Exp(in.eps/2)*m[j]/sum
	}
}
