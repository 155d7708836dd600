package privacy

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/internal/planted"
)

// refLocal finds r by bisection on the logarithm of 1/r.
func refLocal(public, mu []float64, eps, gamma float64) ([]float64, error) {
	b := (gamma + 1) / (math.Exp(eps) + gamma)
	p := proptest.Normalise(proptest.Clone(public), 1)
	at := func(t, spare float64) ([]float64, float64) { // the q for 1/r = e^t, and what goes to the empty points
		q, sum := make([]float64, len(mu)), 0.0
		for j, x := range mu {
			lo, hi := b*p[j], math.Exp(eps)*b*p[j]
			if x > 0 {
				q[j] = min(max(math.Exp(t+math.Log(x)), lo), hi)
			} else {
				q[j] = min(spare*lo, hi)
			}
			sum += q[j]
		}
		return q, sum
	}
	lo, hi := -2000.0, 2000.0
	for range 200 {
		if _, sum := at((lo+hi)/2, 1); sum < 1 {
			lo = (lo + hi) / 2
		} else {
			hi = (lo + hi) / 2
		}
	}
	from, to := 1.0, math.Exp(eps)
	for range 300 {
		if _, sum := at(hi, (from+to)/2); sum < 1 {
			from = (from + to) / 2
		} else {
			to = (from + to) / 2
		}
	}
	if _, sum := at(hi, 1); sum >= 1 {
		from = 1
	}
	q, _ := at(hi, from)
	return proptest.Normalise(q, 1), nil
}

// refLinear is the recursion, row by row.
func refLinear(public, mu []float64, eps float64) ([]float64, error) {
	return linearWith(public, mu, eps, func(order []int) {
		slices.SortStableFunc(order, func(a, b int) int {
			if public[a] < public[b] {
				return -1
			}
			if public[a] > public[b] {
				return 1
			}
			return 0
		})
	})
}

func linearWith(public, mu []float64, eps float64, sort func(order []int)) ([]float64, error) {
	k := len(public)
	order := proptest.Indices(k)
	sort(order)
	e := math.Exp(eps)
	var build func(order []int) [][]float64
	build = func(order []int) [][]float64 {
		n := len(order)
		if n == 1 {
			return [][]float64{{1}}
		}
		rest := 0.0
		for _, j := range order[1:] {
			rest += public[j]
		}
		p, tail := public[order[0]]/(public[order[0]]+rest), rest/(public[order[0]]+rest)
		d := e*p + tail
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, n)
			rows[i][0] = p / d
		}
		rows[0][0] = e * p / d
		inner := build(order[1:])
		for i, a := range order[1:] {
			rows[0][i+1] = public[a] / (public[order[0]] + rest) / d
			for j := range order[1:] {
				rows[i+1][j+1] = inner[i][j] * ((e-1)*p + tail) / d
			}
		}
		return rows
	}
	q := make([]float64, k)
	for i, row := range build(order) {
		for j, x := range row {
			q[order[j]] += mu[order[i]] * x
		}
	}
	return proptest.Normalise(q, 1), nil
}

func refDisk(rows, cols, radius int, eps float64, cell int) ([]float64, error) {
	return diskWith(rows, cols, radius, eps, cell, func(x, y float64) float64 {
		r := math.Hypot(x, y)
		if r <= float64(radius) {
			return 1
		}
		c := float64(radius)/r - 1
		return 4 * max(c*x+0.5, 0) * max(c*y+0.5, 0)
	})
}

func diskWith(rows, cols, radius int, eps float64, cell int, area func(x, y float64) float64) ([]float64, error) {
	var q []float64
	for y := -radius; y < rows+radius; y++ {
		for x := -radius; x < cols+radius; x++ {
			dx := math.Abs(float64(x - min(max(x, 0), cols-1)))
			dy := math.Abs(float64(y - min(max(y, 0), rows-1)))
			if math.Hypot(max(dx-0.5, 0), max(dy-0.5, 0)) < float64(radius) || dx+dy == 0 {
				q = append(q, 1+math.Expm1(eps)*area(math.Abs(float64(x-cell%cols)), math.Abs(float64(y-cell/cols))))
			}
		}
	}
	return proptest.Normalise(q, 1), nil
}

type estimator = Estimate

func pure(own, other, gain float64) (float64, float64, estimator, error) {
	return own, other, func(counts []uint64, reports uint64) ([]float64, error) {
		theta := make([]float64, len(counts))
		for j, c := range counts {
			theta[j] = (float64(c)/float64(reports) - other) / gain
		}
		return theta, nil
	}, nil
}

func refOracle(_ int, eps float64) (float64, float64, estimator, error) {
	return pure(0.5, 1/(math.Exp(eps)+1), math.Tanh(eps/2)/2)
}

func TestLocalLaws(t *testing.T) {
	planted.Laws(t, LocalLaws(), refLocal, []planted.Error[LocalSampler]{
		{Name: "cuts once and divides by the sum", Impl: func(public, mu []float64, eps, gamma float64) ([]float64, error) {
			b := (gamma + 1) / (math.Exp(eps) + gamma)
			q := make([]float64, len(mu))
			for j := range mu {
				q[j] = min(max(mu[j], b*public[j]), math.Exp(eps)*b*public[j])
			}
			return proptest.Normalise(q, 1), nil
		}, Killed: []string{"LocalInBox"}},
		{Name: "spends twice eps", Impl: func(public, mu []float64, eps, gamma float64) ([]float64, error) {
			return refLocal(public, mu, 2*eps, gamma)
		}, Killed: []string{"LocalInBox"}},
		{Name: "releases the public data", Impl: func(public, mu []float64, eps, gamma float64) ([]float64, error) {
			return proptest.Normalise(proptest.Clone(public), 1), nil
		}, Killed: []string{"LocalClamped"}},
	})
}

func TestLinearLaws(t *testing.T) {
	planted.Laws(t, LinearLaws(), refLinear, []planted.Error[LinearSampler]{
		{Name: "takes the points as they come", Impl: func(public, mu []float64, eps float64) ([]float64, error) {
			return linearWith(public, mu, eps, func([]int) {})
		}, Killed: []string{"LinearPrivate"}},
		{Name: "mixes with the uniform law", Impl: func(public, mu []float64, eps float64) ([]float64, error) {
			k, e := float64(len(mu)), math.Exp(eps)
			q := make([]float64, len(mu))
			for j, x := range mu {
				q[j] = (1 + (e-1)*x) / (e + k - 1)
			}
			return proptest.Normalise(q, 1), nil
		}, Killed: []string{"LinearKeepsPublic"}},
		{Name: "mixes with the public data", Impl: func(public, mu []float64, eps float64) ([]float64, error) {
			q := make([]float64, len(mu))
			for j, x := range mu {
				q[j] = public[j] + math.Tanh(eps/2)/float64(len(mu))*(x-public[j])
			}
			return proptest.Normalise(q, 1), nil
		}, Killed: []string{"LinearUniform"}},
	})
}

func TestDiskLaws(t *testing.T) {
	planted.Laws(t, DiskLaws(), refDisk, []planted.Error[Disk]{
		{Name: "stays within the grid", Impl: func(rows, cols, radius int, eps float64, cell int) ([]float64, error) {
			var q []float64
			for i := range rows * cols {
				q = append(q, 1)
				if math.Hypot(float64(i%cols-cell%cols), float64(i/cols-cell/cols)) <= float64(radius) {
					q[i] = math.Exp(eps)
				}
			}
			return proptest.Normalise(q, 1), nil
		}, Killed: []string{"DiskPrivate", "DiskArea"}},
		{Name: "has a square for a disk", Impl: func(rows, cols, radius int, eps float64, cell int) ([]float64, error) {
			return diskWith(rows, cols, radius, eps, cell, func(x, y float64) float64 {
				if max(x, y) <= float64(radius) {
					return 1
				}
				return 0
			})
		}, Killed: []string{"DiskArea"}},
		{Name: "spends twice eps", Impl: func(rows, cols, radius int, eps float64, cell int) ([]float64, error) {
			return refDisk(rows, cols, radius, 2*eps, cell)
		}, Killed: []string{"DiskPrivate"}},
	})
}

func TestOracleLaws(t *testing.T) {
	planted.Laws(t, OracleLaws(), refOracle, []planted.Error[Oracle]{
		{Name: "other with e^(2 eps)", Impl: func(_ int, eps float64) (float64, float64, estimator, error) {
			return pure(0.5, 1/(math.Exp(2*eps)+1), math.Tanh(eps)/2)
		}, Killed: []string{"OraclePrivate"}},
		{Name: "divides by own", Impl: func(_ int, eps float64) (float64, float64, estimator, error) {
			return pure(0.5, 1/(math.Exp(eps)+1), 0.5)
		}, Killed: []string{"OracleUnbiased"}},
	})
}
