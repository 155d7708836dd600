package proptest

import (
	"math"
	"math/big"

	"pgregory.net/rapid"
)

// Generators lean to edges: one row or one column, ties and near-ties, zeros, duplicated points, tight
// clusters, huge spreads, mass at both ends of its range. A shrunk counterexample is small in size and
// simple in value.

// Size returns sizes from 1 to max, often 1 or 2.
func Size(max int) *rapid.Generator[int] {
	return rapid.Custom(func(t *rapid.T) int {
		switch rapid.IntRange(0, 5).Draw(t, "size style") {
		case 0:
			return 1
		case 1:
			return min(2, max)
		}
		return rapid.IntRange(1, max).Draw(t, "size")
	})
}

// The range of privacy levels that the generators draw.
const (
	MinEpsilon = 1e-6
	MaxEpsilon = 50
)

// Epsilon returns privacy levels from MinEpsilon to MaxEpsilon, uniform on a log scale, and common round numbers.
func Epsilon() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{1, MinEpsilon, 1e-3, 0.1, 0.5, math.Ln2, 2, 5, 10, 30, MaxEpsilon}),
		rapid.Map(rapid.Float64Range(math.Log(MinEpsilon), math.Log(MaxEpsilon)), func(x float64) float64 {
			return min(max(math.Exp(x), MinEpsilon), MaxEpsilon)
		}),
	)
}

// ExactEpsilon returns privacy levels in the same range as rationals: short decimals and fractions.
func ExactEpsilon() *rapid.Generator[*big.Rat] {
	return rapid.Custom(func(t *rapid.T) *big.Rat {
		if rapid.Bool().Draw(t, "fraction") {
			q := rapid.Int64Range(1, 1000).Draw(t, "denominator")
			return big.NewRat(rapid.Int64Range(1, MaxEpsilon*q).Draw(t, "numerator"), q)
		}
		places := rapid.IntRange(0, 6).Draw(t, "places")
		scale := int64(math.Pow10(places))
		n := int64(math.Exp(rapid.Float64Range(0, math.Log(MaxEpsilon*float64(scale))).Draw(t, "log units")))
		return big.NewRat(min(max(n, 1), MaxEpsilon*scale), scale)
	})
}

// Costs returns k x kv cost matrices.
func Costs(k, kv int) *rapid.Generator[[][]float64] {
	return rapid.Custom(func(t *rapid.T) [][]float64 {
		fill := func(f func(i, j int) float64) [][]float64 {
			c := make([][]float64, k)
			for i := range c {
				c[i] = make([]float64, kv)
				for j := range c[i] {
					c[i][j] = f(i, j)
				}
			}
			return c
		}
		style := rapid.SampledFrom([]string{
			"ties", "units", "uniform", "line", "clusters", "near ties", "spread", "zero", "flat rows", "discrete",
			"duplicate columns",
		}).Draw(t, "cost style")
		switch style {
		case "ties":
			return fill(func(int, int) float64 { return float64(rapid.IntRange(0, 3).Draw(t, "c")) })
		case "units": // integers: sums of a few are exact
			return fill(func(int, int) float64 { return float64(rapid.IntRange(0, 1<<10).Draw(t, "c")) })
		case "uniform":
			return fill(func(int, int) float64 { return rapid.Float64Range(0, 1).Draw(t, "c") })
		case "line", "clusters":
			// Points of a line, with repeats; or two clusters whose width is far below their distance.
			place := func(name string) float64 {
				x := float64(rapid.IntRange(0, 5).Draw(t, name))
				if style == "clusters" {
					x = math.Floor(x/3) + 1e-9*x
				}
				return x
			}
			square := rapid.Bool().Draw(t, "p = 2")
			x, v := make([]float64, k), make([]float64, kv)
			for i := range x {
				x[i] = place("x")
			}
			for j := range v {
				v[j] = place("v")
			}
			return fill(func(i, j int) float64 {
				d := math.Abs(x[i] - v[j])
				if square {
					d *= d
				}
				return d
			})
		case "near ties":
			base := rapid.SampledFrom([]float64{1, 3, 1e-3, 1e9}).Draw(t, "base")
			return fill(func(int, int) float64 {
				c := base
				for range rapid.IntRange(0, 3).Draw(t, "ulps") {
					c = math.Nextafter(c, math.Inf(1))
				}
				return c
			})
		case "spread":
			return fill(func(int, int) float64 {
				return math.Ldexp(1+rapid.Float64Range(0, 0.5).Draw(t, "c"), rapid.IntRange(-300, 300).Draw(t, "exponent"))
			})
		case "zero":
			return fill(func(int, int) float64 { return 0 })
		case "flat rows":
			row := rapid.SliceOfN(rapid.Float64Range(0, 10), k, k).Draw(t, "rows")
			return fill(func(i, _ int) float64 { return row[i] })
		case "discrete":
			return fill(func(i, j int) float64 {
				if i == j {
					return 0
				}
				return 1
			})
		}
		row := rapid.SliceOfN(rapid.Float64Range(0, 10), k, k).Draw(t, "rows")
		return fill(func(i, j int) float64 { return row[(i+j/2)%k] })
	})
}

// GridCosts returns costs that are multiples of 2^-10 below 2^10: adding, subtracting and scaling by
// powers of two is exact on them.
func GridCosts(k, kv int) *rapid.Generator[[][]float64] {
	entry := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 1<<20-1))
	return rapid.Custom(func(t *rapid.T) [][]float64 {
		c := make([][]float64, k)
		for i := range c {
			c[i] = make([]float64, kv)
			for j := range c[i] {
				c[i][j] = math.Ldexp(float64(entry.Draw(t, "units")), -10)
			}
		}
		return c
	})
}

// TransitiveCosts returns square costs whose isometries carry every point to every other: rings, hypercubes and the
// discrete metric. On these spaces the uniform base measure is optimal.
func TransitiveCosts(max int) *rapid.Generator[[][]float64] {
	return rapid.Custom(func(t *rapid.T) [][]float64 {
		n := rapid.IntRange(1, max).Draw(t, "points")
		p := rapid.SampledFrom([]float64{1, 2, 0.5}).Draw(t, "p")
		style := rapid.SampledFrom([]string{"ring", "hypercube", "discrete"}).Draw(t, "transitive style")
		if style == "hypercube" {
			for n&(n-1) != 0 {
				n &= n - 1
			}
		}
		c := make([][]float64, n)
		for i := range c {
			c[i] = make([]float64, n)
			for j := range c[i] {
				d := 0
				switch {
				case style == "ring":
					d = i - j
					if d < 0 {
						d = -d
					}
					d = min(d, n-d)
				case style == "hypercube":
					for x := i ^ j; x != 0; x &= x - 1 {
						d++
					}
				case i != j:
					d = 1
				}
				c[i][j] = math.Pow(float64(d), p)
			}
		}
		return c
	})
}

// Mass returns distributions on k points: point masses, uniform, counts, weights over many orders of
// magnitude, and sums that miss 1 by less than the module's tolerance.
func Mass(k int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		mu := make([]float64, k)
		switch rapid.SampledFrom([]string{"point", "uniform", "counts", "weights", "spread", "off by 1e-10", "halves"}).Draw(
			t, "mass style") {
		case "point":
			mu[rapid.IntRange(0, k-1).Draw(t, "at")] = 1
			return mu
		case "uniform":
			for i := range mu {
				mu[i] = 1 / float64(k)
			}
			return mu
		case "counts":
			for i := range mu {
				mu[i] = float64(rapid.IntRange(0, 5).Draw(t, "count"))
			}
		case "weights":
			for i := range mu {
				mu[i] = rapid.Float64Range(0, 1).Draw(t, "weight")
			}
		case "spread":
			for i := range mu {
				mu[i] = math.Ldexp(1, rapid.IntRange(-60, 0).Draw(t, "exponent"))
			}
			if rapid.Bool().Draw(t, "subnormal") {
				mu[0] = 5e-324
			}
		case "off by 1e-10":
			s := 1 + rapid.SampledFrom([]float64{1e-10, -1e-10, 9e-10}).Draw(t, "excess")
			for i := range mu {
				mu[i] = s / float64(k)
			}
			return mu
		case "halves":
			mu[rapid.IntRange(0, k-1).Draw(t, "first")] = 0.5
			mu[rapid.IntRange(0, k-1).Draw(t, "second")] += 0.5
			return mu
		}
		return Normalise(mu, 1)
	})
}

// Normalise scales x >= 0 to sum near s; where all are zero, the first becomes s.
func Normalise(x []float64, s float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	if sum == 0 {
		x[0], sum = 1, 1
	}
	for i := range x {
		x[i] = x[i] / sum * s
	}
	return x
}

// Shapes draws non-negative weights of sum about 1 with zeros, ties and spread.
func Shapes(n int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		x := make([]float64, n)
		switch rapid.SampledFrom([]string{"uniform", "few", "weights", "spread"}).Draw(t, "shape") {
		case "uniform":
			for j := range x {
				x[j] = 1
			}
		case "few":
			for j := range x {
				x[j] = float64(max(0, rapid.IntRange(-2, 2).Draw(t, "weight")))
			}
		case "weights":
			for j := range x {
				x[j] = rapid.Float64Range(0, 1).Draw(t, "weight")
			}
		case "spread":
			for j := range x {
				x[j] = math.Ldexp(1, rapid.IntRange(-40, 0).Draw(t, "exponent"))
			}
		}
		return Normalise(x, 1)
	})
}

// BaseMeasure returns base measures of mass between e^(-eps/2) and e^(eps/2), often at an end, often
// with zeros.
func BaseMeasure(kv int, eps float64) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		m := Shapes(kv).Draw(t, "shape")
		var mass float64
		switch rapid.SampledFrom([]string{"one", "low end", "high end", "inside"}).Draw(t, "mass") {
		case "one":
			mass = 1
		case "low end":
			mass = math.Exp(-eps / 2)
		case "high end":
			mass = math.Exp(eps / 2)
		default:
			mass = math.Exp(eps * rapid.Float64Range(-0.5, 0.5).Draw(t, "log mass / eps"))
		}
		return Normalise(m, mass)
	})
}

// A Box is a float box { Lo <= q <= Hi, sum q = 1 } that holds a distribution, up to the convention for
// inexact masses.
type Box struct{ Lo, Hi []float64 }

// Boxes returns boxes: those of a base measure and a privacy level, intervals of any width, single
// points, columns that are shut (hi = 0), masses at both ends.
func Boxes(kv int) *rapid.Generator[Box] {
	return rapid.Custom(func(t *rapid.T) Box {
		if rapid.Bool().Draw(t, "from a base measure") {
			eps := Epsilon().Draw(t, "eps")
			return BoxOf(BaseMeasure(kv, eps).Draw(t, "m"), eps)
		}
		var b Box
		switch rapid.SampledFrom([]string{"intervals", "point", "low end", "high end", "free", "dyadic"}).Draw(t,
			"box style") {
		case "point":
			b.Lo = Shapes(kv).Draw(t, "lo")
			b.Hi = Clone(b.Lo)
		case "free": // no lower bound; an upper one that may be far above 1
			b.Lo = make([]float64, kv)
			b.Hi = Normalise(Shapes(kv).Draw(t, "hi"), 2)
			if rapid.Bool().Draw(t, "vast") {
				b.Hi[0] = 1e300
			}
		case "low end": // sum lo = 1: the box is the point lo
			b.Lo = Shapes(kv).Draw(t, "lo")
			b.Hi = plus(b.Lo, Shapes(kv).Draw(t, "width"))
		case "high end":
			b.Hi = Shapes(kv).Draw(t, "hi")
			b.Lo = make([]float64, kv)
			f := rapid.Float64Range(0, 1).Draw(t, "ratio")
			for j := range b.Lo {
				b.Lo[j] = f * b.Hi[j]
			}
		case "dyadic": // multiples of 2^-6: every sum is exact
			rest := 64
			b.Lo, b.Hi = make([]float64, kv), make([]float64, kv)
			for j := range kv {
				n := rapid.IntRange(0, rest).Draw(t, "lo units")
				rest -= n
				b.Lo[j] = float64(n) / 64
				b.Hi[j] = float64(n+rapid.IntRange(0, 64).Draw(t, "width units")) / 64
			}
			b.Hi[0] += float64(rest) / 64
		default:
			b.Lo = Normalise(Shapes(kv).Draw(t, "lo"), rapid.Float64Range(0, 1).Draw(t, "sum lo"))
			b.Hi = plus(b.Lo, Shapes(kv).Draw(t, "width"))
		}
		return b
	})
}

// BoxOf returns the float box of a base measure, lo = e^(-eps/2) m and hi = e^(eps/2) m.
func BoxOf(m []float64, eps float64) Box {
	b := Box{Lo: make([]float64, len(m)), Hi: make([]float64, len(m))}
	for j, v := range m {
		b.Lo[j] = math.Exp(-eps/2) * v
		b.Hi[j] = max(b.Lo[j], math.Exp(eps/2)*v)
	}
	return b
}

func plus(x, y []float64) []float64 {
	s := make([]float64, len(x))
	for i := range x {
		s[i] = x[i] + y[i]
	}
	return s
}

// Problems returns projections with at most maxK rows and maxKv columns.
func Problems(maxK, maxKv int) *rapid.Generator[Problem] {
	return problemsWith(maxK, maxKv, Costs)
}

// GridProblems is Problems with GridCosts.
func GridProblems(maxK, maxKv int) *rapid.Generator[Problem] {
	return problemsWith(maxK, maxKv, GridCosts)
}

func problemsWith(maxK, maxKv int, costs func(k, kv int) *rapid.Generator[[][]float64]) *rapid.Generator[Problem] {
	return rapid.Custom(func(t *rapid.T) Problem {
		k, kv := Size(maxK).Draw(t, "k"), Size(maxKv).Draw(t, "kv")
		b := Boxes(kv).Draw(t, "box")
		return Problem{C: costs(k, kv).Draw(t, "C"), Mu: Mass(k).Draw(t, "mu"), Lo: b.Lo, Hi: b.Hi}
	})
}

// Hostile returns what a broken solver might return: NaN, infinities, negatives, zeros, subnormals, wrong lengths, nil.
func Hostile(n int) *rapid.Generator[[]float64] {
	value := rapid.OneOf(
		rapid.SampledFrom([]float64{
			0, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), -1, 1, 5e-324, -5e-324, math.MaxFloat64,
			-math.MaxFloat64,
			0x1p62, 0x1p63, 0x1p64, 1 / float64(n),
		}),
		rapid.Float64(),
	)
	return rapid.Custom(func(t *rapid.T) []float64 {
		length := n
		if rapid.IntRange(0, 4).Draw(t, "length style") == 4 {
			length = rapid.IntRange(0, n+2).Draw(t, "length")
		}
		return rapid.SliceOfN(value, length, length).Draw(t, "q")
	})
}
