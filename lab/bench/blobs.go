//go:build unix

package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// blobs chooses Reg by a certified gap of 1 % on n x n cells at squared distance, eps = 2.
func blobs(c *config, w io.Writer) error {
	fmt.Fprintln(w, "mu and m are sums of five Gaussian blobs. No peer gives a bound.\n\n| instance | wpm | gap | Reg |\n| --- | --: | --: | --: |")
	for _, n := range []int{256, 512} {
		name := fmt.Sprintf("blobs%d:2", n)
		if !strings.Contains(name, c.Only) {
			continue
		}
		p, err := blobProblem(n, 5)
		if err != nil {
			return err
		}
		var r sinkhorn.Result
		got, err := c.compare(own(func() (answer, error) {
			r, err = sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Gap: 0.01})
			if errors.Is(err, wpmerr.ErrNotConverged) {
				err = nil
			}
			return answer{Value: r.Upper, Met: true}, err
		}))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %s | %.2g | %.2g |\n", name, seconds(got[0].CPU), r.Gap()/r.Upper, r.Reg)
	}
	return nil
}

// grids compares the time to a residual at a given Reg with numpy, whose kernel is a product as well.
func grids(c *config, w io.Writer) error {
	const n, goal = 128, 1e-6
	fmt.Fprintf(w, "%d x %d cells at squared distance, five blobs, eps 2, an L1 residual of %g. The largest cost is 2.\n"+
		"numpy: Algorithm 1, two products of small matrices a pass, no logarithms; left out where a sum underflows, and\n"+
		"where it does not get there in 30 s. wpm's time includes its bounds.\n\n", n, n, goal)
	t := c.lines("numpy")
	for _, reg := range []float64{0.01, 0.001, 0.0002} {
		for seed := range uint64(5) {
			name := fmt.Sprintf("grid%d:%v:%d", n, reg, seed+1)
			if !strings.Contains(name, c.Only) {
				continue
			}
			p, err := blobProblem(n, seed+1)
			if err != nil {
				return err
			}
			p.Reg = reg
			file := c.tmp + "/grid.bin"
			var raw []byte
			for _, x := range slices.Concat(p.Source, p.Lo, p.Hi) {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
			}
			if err := os.WriteFile(file, raw, 0o600); err != nil {
				return err
			}
			peer, err := c.python("numpy_grid.py", file, fmt.Sprint(n), fmt.Sprint(reg), fmt.Sprint(goal), "30")
			if err != nil {
				return err
			}
			got, err := c.compare(own(func() (answer, error) {
				r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Tolerance: goal})
				return answer{Value: r.Residual, Met: err == nil}, err
			}), peer)
			peer.close()
			if err != nil {
				return err
			}
			if !got[1].Met {
				got[1].CPU = math.NaN()
			}
			t.add(fmt.Sprintf("reg %v", reg), name, got[0].CPU, got[1].CPU)
		}
	}
	t.write(w)
	return nil
}

// blobProblem draws an instance of n x n cells: widths of 0.05 to 0.15, and the same blobs on every n.
func blobProblem(n int, seed uint64) (sinkhorn.Problem, error) {
	c, err := cost.NewGrid(n, n, 2)
	if err != nil {
		return sinkhorn.Problem{}, err
	}
	r := rand.New(rand.NewPCG(seed, 1))
	mu, m := blobSum(n, r), blobSum(n, r)
	lo, hi := make([]float64, n*n), make([]float64, n*n)
	for j, x := range m {
		lo[j], hi[j] = math.Exp(-1)*x, math.Exp(1)*x
	}
	return sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}}, nil
}

// blobSum is a sum of five Gaussian blobs on n x n cells, of mass 1.
func blobSum(n int, r *rand.Rand) []float64 {
	out := make([]float64, n*n)
	for range 5 {
		x, y, width, height := 0.15+0.7*r.Float64(), 0.15+0.7*r.Float64(), 0.05+0.1*r.Float64(), 0.5+r.Float64()
		for i := range out {
			dx, dy := (float64(i%n)+0.5)/float64(n)-x, (float64(i/n)+0.5)/float64(n)-y
			out[i] += height * math.Exp(-(dx*dx+dy*dy)/(2*width*width))
		}
	}
	var sum float64
	for _, x := range out {
		sum += x
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
