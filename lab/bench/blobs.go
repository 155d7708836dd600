//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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
		p, err := blobProblem(n)
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

// blobProblem draws the instance of n x n cells: widths of 0.05 to 0.15, and the same blobs on every n.
func blobProblem(n int) (sinkhorn.Problem, error) {
	c, err := cost.NewGrid(n, n, 2)
	if err != nil {
		return sinkhorn.Problem{}, err
	}
	r := rand.New(rand.NewPCG(5, 1))
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
