//go:build unix

package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
)

// instance is one problem, as wpm and the peers see it.
type instance struct {
	name  string
	C     *cost.Dense
	mu    []float64
	lo    []float64
	hi    []float64
	eps   float64
	param [4]float64 // reg, eps, repetitions in one request, unused
	// target is a projection already found, for peers that solve between fixed marginals.
	target []float64
}

// newInstance draws the instance of a name, space:mass:eps. Space: ringN (a ring, squared distance), sqNpP (N random
// points of the unit square, distance to the P), gridN (N x N cells, p = 1), cosKxV (random directions in 64
// dimensions; cosN: outputs that are the inputs), pathN, clusN (N points in five normal clusters of width 0.03). Mass:
// dir (Dirichlet(0.1) on all rows) or sp20 (20 random rows). The base measure is uniform of mass 1. The same name is
// always the same instance.
func newInstance(name string) (*instance, error) {
	part := strings.Split(name, ":")
	if len(part) != 3 {
		return nil, fmt.Errorf("instance %q: want space:mass:eps", name)
	}
	eps, err := strconv.ParseFloat(part[2], 64)
	if err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	h := fnv.New64a()
	h.Write([]byte(part[0])) // the same space for every mass and eps
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	m, err := space(part[0], r)
	if err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	in := &instance{name: name, C: m, eps: eps}
	in.mu = make([]float64, m.K)
	switch part[1] {
	case "dir":
		for i := range in.mu {
			in.mu[i] = gammaTenth(r)
		}
	case "sp20":
		for _, i := range r.Perm(m.K)[:min(20, m.K)] {
			in.mu[i] = r.ExpFloat64()
		}
	default:
		return nil, fmt.Errorf("instance %q: unknown mass", name)
	}
	var sum float64
	for _, x := range in.mu {
		sum += x
	}
	for i := range in.mu {
		in.mu[i] /= sum
	}
	in.lo, in.hi, in.target = make([]float64, m.Kv), make([]float64, m.Kv), make([]float64, m.Kv)
	for j := range in.lo {
		in.lo[j] = math.Exp(-eps/2) / float64(m.Kv)
		in.hi[j] = math.Exp(eps/2) / float64(m.Kv)
	}
	in.param[1], in.param[2] = eps, 1
	return in, nil
}

// newTransport draws an instance of plain transport between two clouds of points, spaceKxDpP:mass. Space: gauss (N(0,
// 1) and N(1, 0.8^2), all coordinates alike) or square (both uniform); K points each, in D dimensions; the cost is the
// distance to the P. Mass: equal, or dir (Dirichlet(1) on both sides). lo, hi and target are those of the second cloud.
func newTransport(name string) (*instance, error) {
	part := strings.Split(name, ":")
	shape, k, dim, p := "", 0, 0, 0.0
	for _, s := range []string{"gauss", "square"} {
		if n, _ := fmt.Sscanf(part[0], s+"%dx%dp%g", &k, &dim, &p); n == 3 {
			shape = s
		}
	}
	if shape == "" || len(part) != 2 || part[1] != "equal" && part[1] != "dir" {
		return nil, fmt.Errorf("instance %q: want spaceKxDpP:mass", name)
	}
	h := fnv.New64a()
	h.Write([]byte(part[0]))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	first, second := r.Float64, r.Float64
	if shape == "gauss" {
		first, second = r.NormFloat64, func() float64 { return 1 + 0.8*r.NormFloat64() }
	}
	m, err := cost.NewPoints(points(k, dim, first), points(k, dim, second), p)
	if err != nil {
		return nil, fmt.Errorf("instance %q: %w", name, err)
	}
	in := &instance{name: name, mu: make([]float64, k), target: make([]float64, k)}
	for _, x := range [][]float64{in.mu, in.target} {
		sum := 0.0
		for i := range x {
			x[i] = 1
			if part[1] == "dir" {
				x[i] = r.ExpFloat64()
			}
			sum += x[i]
		}
		for i := range x {
			x[i] /= sum
		}
	}
	in.lo, in.hi = in.target, in.target
	in.C, err = cost.Materialize(context.Background(), m)
	return in, err
}

// points draws n points.
func points(n, dim int, draw func() float64) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, dim)
		for d := range x[i] {
			x[i][d] = draw()
		}
	}
	return x
}

func space(name string, r *rand.Rand) (*cost.Dense, error) {
	var n, k, kv int
	var p float64
	scan := func(format string, args ...any) bool {
		m, err := fmt.Sscanf(name, format, args...)
		return err == nil && m == len(args)
	}
	var m cost.Matrix
	var err error
	switch {
	case scan("ring%d", &n):
		m, err = cost.NewRing(n, 2)
	case scan("grid%d", &n):
		m, err = cost.NewGrid(n, n, 1)
	case scan("path%d", &n):
		x := make([][]float64, n)
		for i := range x {
			x[i] = []float64{float64(i) / float64(n)}
		}
		m, err = cost.NewPoints(x, nil, 1)
	case scan("sq%dp%g", &n, &p):
		m, err = cost.NewPoints(points(n, 2, r.Float64), nil, p)
	case scan("clus%d", &n):
		centres, x := points(5, 2, r.Float64), points(n, 2, r.NormFloat64)
		for _, to := range x {
			for d, c := range centres[r.IntN(len(centres))] {
				to[d] = c + 0.03*to[d]
			}
		}
		m, err = cost.NewPoints(x, nil, 1)
	case scan("cos%dx%d", &k, &kv):
		x := points(k, 64, r.NormFloat64)
		m, err = cost.NewCosine(x, points(kv, 64, r.NormFloat64))
	case scan("cos%d", &n):
		x := points(n, 64, r.NormFloat64)
		m, err = cost.NewCosine(x, x)
	default:
		return nil, fmt.Errorf("unknown space %q", name)
	}
	if err != nil {
		return nil, err
	}
	return cost.Materialize(context.Background(), m)
}

// gammaTenth draws from the gamma distribution of shape 0.1 (Marsaglia and Tsang, boosted from shape 1.1).
func gammaTenth(r *rand.Rand) float64 {
	const d = 1.1 - 1.0/3
	for {
		x := r.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		v = v * v * v
		if v > 0 && -r.ExpFloat64() < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(1-r.Float64(), 10)
		}
	}
}

// write writes the instance in the form the drivers read.
func (in *instance) write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, x := range []any{[2]int64{int64(in.C.K), int64(in.C.Kv)}, in.param[:], in.C.Data, in.mu, in.lo, in.hi,
		in.target} {
		if err := binary.Write(f, binary.LittleEndian, x); err != nil {
			return err
		}
	}
	return f.Close()
}

// support returns the rows that have mass, and their masses.
func (in *instance) support() (support []int, source []float64) {
	for i, x := range in.mu {
		if x > 0 {
			support, source = append(support, i), append(source, x)
		}
	}
	return support, source
}
