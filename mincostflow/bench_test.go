package mincostflow

import (
	"context"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// Instances are named space:mass:eps. Space: ringN (points on a ring, squared distance), sqNpP (N
// random points of the unit square, distance to the P), gridNpP (N x N cells), cosKxV (random
// directions in 64 dimensions, cosine distance). Mass: dir (Dirichlet(0.1) on all rows) or sp20 (20
// random rows). The bounds are exp(-eps/2)/kv and exp(eps/2)/kv.
func instanceNamed(name string) (Problem, error) {
	part := strings.Split(name, ":")
	if len(part) != 3 {
		return Problem{}, fmt.Errorf("instance %q: want space:mass:eps", name)
	}
	r := &source{numtest.NewSplitMix64(20240607)}
	c, err := r.space(part[0])
	if err != nil {
		return Problem{}, err
	}
	eps, err := strconv.ParseFloat(part[2], 64)
	if err != nil {
		return Problem{}, err
	}
	p := Problem{Cost: c}
	k, kv := c.Dims()
	switch part[1] {
	case "dir":
		p.Source = make([]float64, k)
		for i := range p.Source {
			p.Source[i] = r.gammaTenth()
		}
	case "sp20":
		for i := range k { // each row with the probability that leaves 20 in all
			if r.Float64()*float64(k-i) < float64(20-len(p.Support)) {
				p.Support = append(p.Support, i)
				p.Source = append(p.Source, -math.Log1p(-r.Float64()))
			}
		}
	default:
		return Problem{}, fmt.Errorf("instance %q: unknown mass", name)
	}
	normalise(p.Source)
	p.Lo, p.Hi = make([]float64, kv), make([]float64, kv)
	for j := range p.Lo {
		p.Lo[j] = math.Exp(-eps/2) / float64(kv)
		p.Hi[j] = math.Exp(eps/2) / float64(kv)
	}
	return p, nil
}

func normalise(x []float64) {
	var s float64
	for _, v := range x {
		s += v
	}
	for i := range x {
		x[i] /= s
	}
}

// source draws the instances.
type source struct{ *numtest.SplitMix64 }

func (r *source) normal() float64 {
	return math.Sqrt(-2*math.Log1p(-r.Float64())) * math.Cos(2*math.Pi*r.Float64())
}

// gammaTenth draws from the gamma distribution of shape 0.1 (Marsaglia and Tsang, boosted from
// shape 1.1).
func (r *source) gammaTenth() float64 {
	const d = 1.1 - 1.0/3
	for {
		x := r.normal()
		v := 1 + x/math.Sqrt(9*d)
		v = v * v * v
		if v > 0 && math.Log1p(-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(1-r.Float64(), 10)
		}
	}
}

func (r *source) space(name string) (*cost.Dense, error) {
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
	case scan("grid%dp%g", &n, &p):
		m, err = cost.NewGrid(n, n, p)
	case scan("sq%dp%g", &n, &p):
		m, err = cost.NewPoints(r.points(n, 2, r.Float64), nil, p)
	case scan("cos%dx%d", &k, &kv):
		x := r.points(k, 64, r.normal)
		m, err = cost.NewCosine(x, r.points(kv, 64, r.normal))
	default:
		err = fmt.Errorf("unknown space %q", name)
	}
	if err != nil {
		return nil, err
	}
	return cost.Materialize(context.Background(), m)
}

func (r *source) points(n, dim int, draw func() float64) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, dim)
		for d := range x[i] {
			x[i][d] = draw()
		}
	}
	return x
}

var benchInstances = []string{
	"ring30:dir:2", "ring100:dir:2", "ring300:dir:2", "ring1000:dir:0.5", "ring1000:dir:2", "ring2000:dir:0.5",
	"sq100p1:dir:2", "sq300p1:dir:2", "sq300p1:sp20:2", "sq1000p1:dir:0.5", "sq1000p1:dir:2", "sq1000p2:dir:2",
	"sq1000p1:sp20:2", "sq2000p1:dir:2", "sq4000p1:dir:2", "sq4000p1:sp20:2",
	"cos1346x250:dir:2", "cos250x1346:dir:2", "cos4000x500:dir:2", "grid20p1:dir:2", "grid50p1:dir:2", "grid50p2:dir:0.5",
}

// BenchmarkProject times whole calls with the cost in memory.
func BenchmarkProject(b *testing.B) {
	for _, name := range benchInstances {
		b.Run(name, func(b *testing.B) {
			p, err := instanceNamed(name)
			if err != nil {
				b.Fatal(err)
			}
			if k, kv := p.Cost.Dims(); testing.Short() && k*kv > 1e6 {
				b.Skip("large instance in short mode")
			}
			var r Result
			for b.Loop() {
				if r, err = Project(context.Background(), p, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
			top := given.Max(p.Cost)
			b.ReportMetric(float64(r.Stats.Pivots), "pivots")
			b.ReportMetric(float64(r.Stats.Sweeps), "sweeps")
			b.ReportMetric(1e16*r.Gap()/top, "gap/1e-16maxC")
			b.ReportMetric(1e16*r.Gap()/r.Objective, "relgap/1e-16")
		})
	}
}

// BenchmarkTransport times plain transport with the cost in memory. The wall time on two processors over that on one:
//
//	for n in 1 2; do GOMAXPROCS=$n go test -run '^$' -bench BenchmarkTransport -count 5 ./mincostflow; done
func BenchmarkTransport(b *testing.B) {
	const k = 4000
	for _, dimensions := range []int{2, 50} {
		for _, p := range []float64{1, 2} {
			points, sources, targets := cloudsIn(dimensions, k, p)
			for _, weights := range []string{"equal", "weighted"} {
				b.Run(fmt.Sprintf("d=%d/p=%v/%s", dimensions, p, weights), func(b *testing.B) {
					var mass [2][]float64
					if weights == "weighted" {
						mass = [2][]float64{sources, targets}
					}
					benchmarkTransport(b, points, mass)
				})
			}
		}
	}
}

func benchmarkTransport(b *testing.B, points cost.Matrix, mass [2][]float64) {
	if testing.Short() {
		b.Skip("large instance in short mode")
	}
	c, err := cost.Materialize(context.Background(), points)
	if err != nil {
		b.Fatal(err)
	}
	report := numtest.ProcessorTime(b)
	for b.Loop() {
		if _, err := Transport(context.Background(), c, mass[0], mass[1]); err != nil {
			b.Fatal(err)
		}
	}
	report()
}

func BenchmarkVerify(b *testing.B) {
	for _, name := range []string{"sq300p1:dir:2", "sq2000p1:dir:2"} {
		b.Run(name, func(b *testing.B) {
			p, err := instanceNamed(name)
			if err != nil {
				b.Fatal(err)
			}
			r, err := Project(context.Background(), p, Settings{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, _, err := Verify(context.Background(), p, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// stream returns a Projector for the named mechanism, and n distributions with 20 random atoms each.
func stream(b *testing.B, name string, n int) (*Projector, []Problem) {
	p, err := instanceNamed(name)
	if err != nil {
		b.Fatal(err)
	}
	pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, Settings{})
	if err != nil {
		b.Fatal(err)
	}
	k, _ := p.Cost.Dims()
	d := newDraw(1)
	users := make([]Problem, n)
	for u := range users {
		p := &users[u]
		for i := range k {
			if d.Intn(k-i) < 20-len(p.Support) {
				p.Support = append(p.Support, i)
				p.Source = append(p.Source, -math.Log1p(-d.Float64()))
			}
		}
		normalise(p.Source)
	}
	return pr, users
}

// BenchmarkProjector times one distribution of a stream: 20 random atoms each. Streams are slower than the same
// distribution again and again, whose branches the processor learns.
func BenchmarkProjector(b *testing.B) {
	for _, name := range streams {
		b.Run(name, func(b *testing.B) {
			pr, users := stream(b, name, 500)
			b.ReportAllocs()
			var r Result
			pivots := 0
			u := 0
			for b.Loop() {
				if err := pr.Project(context.Background(), users[u].Source, users[u].Support, &r); err != nil {
					b.Fatal(err)
				}
				pivots += r.Stats.Pivots
				if u++; u == len(users) {
					u = 0
				}
			}
			b.ReportMetric(float64(pivots)/float64(b.N), "pivots")
		})
	}
}

var streams = []string{
	"cos1346x250:sp20:0.5", "cos1346x250:sp20:2", "cos1346x250:sp20:5",
	"sq250p1:sp20:0.5", "sq250p1:sp20:2", "sq250p1:sp20:5", "sq250p2:sp20:2",
}

// BenchmarkProjectorAll is a stream of 10 000 distributions on all processors.
func BenchmarkProjectorAll(b *testing.B) {
	for _, name := range streams {
		b.Run(name, func(b *testing.B) {
			pr, users := stream(b, name, 10_000)
			get := func(u int) ([]float64, []int) { return users[u].Source, users[u].Support }
			n := 0
			for b.Loop() {
				if err := pr.All(context.Background(), len(users), get,
					func(_ int, _ *Result, err error) error { return err }); err != nil {
					b.Fatal(err)
				}
				n += len(users)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "users/s")
		})
	}
}
