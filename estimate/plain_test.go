package estimate

import (
	"math"
	"slices"
)

// plainMap is the algorithm of Map written out, for a prior that is not even.
func plainMap(counts []uint64, rows, dist [][]float64, prior []float64) (theta, weights []float64) {
	logs, maps := plainModels(counts, rows, dist, prior)
	even, more := plainModels(counts, rows, dist, slices.Repeat([]float64{1 / float64(len(prior))}, len(prior)))
	for _, v := range even {
		logs = append(logs, v+math.Log(.05/.95))
	}
	maps = append(maps, more...)
	weights = make([]float64, len(logs))
	largest, sum := slices.Max(logs), 0.0
	for m, v := range logs {
		weights[m] = math.Exp(v - largest)
		sum += weights[m]
	}
	theta = make([]float64, len(prior))
	for m := range weights {
		weights[m] /= sum
		for i := range theta {
			theta[i] += weights[m] * maps[m][i]
		}
	}
	return theta, weights
}

// plainModels returns the log-weights and the maps of the models of a prior: dense loops, Gaussian elimination, Jacobi
// rotations, no cache, steps to the end.
func plainModels(counts []uint64, rows, dist [][]float64, prior []float64) (logs []float64, maps [][]float64) {
	k, kv := len(rows), len(counts)
	n := 0.0
	for _, c := range counts {
		n += float64(c)
	}
	likelihood := func(theta []float64) (float64, []float64) {
		v, q := 0.0, make([]float64, kv)
		for j, c := range counts {
			for i, t := range theta {
				q[j] += t * rows[i][j]
			}
			if c > 0 {
				v += float64(c) * math.Log(q[j])
			}
		}
		return v, q
	}
	var near []float64
	for i := range k {
		least := math.Inf(1)
		for j := range k {
			if dist[i][j] > 0 {
				least = min(least, dist[i][j])
			}
		}
		near = append(near, least)
	}
	slices.Sort(near)
	unit := near[(k-1)/2]/2 + near[k/2]/2

	first, _ := likelihood(prior)
	logs, maps = []float64{first}, [][]float64{prior}
	taus, rough := []float64{.3, .6, 1.2, 2.4, 4}, 0.0
	for _, tau := range taus {
		rough += math.Exp(-tau)
	}
	for _, length := range []float64{.5, 1.5, 6, 48, -2, -6, -15} { // below 0: the square
		near := make([][]float64, k)
		for a := range near {
			near[a] = make([]float64, k)
			for b, d := range dist[a] {
				near[a][b] = math.Exp(-d / (math.Abs(length) * unit))
			}
		}
		kernel := make([][]float64, k)
		for i := range kernel {
			kernel[i] = make([]float64, k)
			for j := range kernel[i] {
				for a := range k { // H E H, entry by entry
					for b := range k {
						h := -1 / float64(k)
						g := h
						if a == i {
							h++
						}
						if b == j {
							g++
						}
						kernel[i][j] += h * near[a][b] * g
					}
				}
			}
		}
		if length < 0 {
			kernel = plainSquare(kernel)
		}
		l := plainRoot(kernel)
		r := len(l[0])
		z := make([]float64, r)
		last := 0.3
		for _, tau := range taus {
			for b := range z {
				z[b] *= last / tau
			}
			last = tau
			at := func(z []float64) (float64, []float64, []float64) {
				theta, sum := make([]float64, k), 0.0
				for i := range k {
					f := 0.0
					for b := range r {
						f += tau * l[i][b] * z[b]
					}
					theta[i] = prior[i] * math.Exp(f)
					sum += theta[i]
				}
				for i := range theta {
					theta[i] /= sum
				}
				v, q := likelihood(theta)
				for _, x := range z {
					v -= x * x / 2
				}
				return v, theta, q
			}
			v, theta, q := at(z)
			logdet := 0.0
			for range 200 {
				g, most := make([]float64, k), make([]float64, kv)
				for j, c := range counts {
					most[j] = n / q[j]
					for i := range g {
						g[i] += rows[i][j] * float64(c) / q[j]
					}
				}
				m := make([][]float64, r) // I + W | right side
				a := make([][]float64, r)
				for b := range r {
					a[b], m[b] = make([]float64, kv), make([]float64, r+1)
					for i := range k {
						x := tau * l[i][b] * theta[i]
						for j := range counts {
							a[b][j] += x * (rows[i][j] - q[j])
						}
						m[b][r] += x * (g[i] - n)
					}
					m[b][r] -= z[b]
				}
				for b := range r {
					for d := range r {
						for j := range kv {
							m[b][d] += a[b][j] * a[d][j] * most[j]
						}
					}
					m[b][b]++
				}
				var step []float64
				step, logdet = plainSolve(m)
				gain := 0.0
				for t := 1.0; t > 1e-12; t /= 2 {
					trial := slices.Clone(z)
					for b := range z {
						trial[b] += t * step[b]
					}
					if tv, tt, tq := at(trial); tv >= v {
						gain, z, v, theta, q = tv-v, trial, tv, tt, tq
						break
					}
				}
				if gain < 1e-9 {
					break
				}
			}
			logs = append(logs, v-logdet/2-tau-math.Log(7*rough))
			maps = append(maps, theta)
		}
	}
	return logs, maps
}

// plainSolve eliminates without pivots, which a positive definite matrix allows. m is the matrix and the right side.
func plainSolve(m [][]float64) (x []float64, logdet float64) {
	r := len(m)
	for b := range r {
		logdet += math.Log(m[b][b])
		for d := b + 1; d < r; d++ {
			s := m[d][b] / m[b][b]
			for e := b; e <= r; e++ {
				m[d][e] -= s * m[b][e]
			}
		}
	}
	x = make([]float64, r)
	for b := r - 1; b >= 0; b-- {
		x[b] = m[b][r]
		for e := b + 1; e < r; e++ {
			x[b] -= m[b][e] * x[e]
		}
		x[b] /= m[b][b]
	}
	return x, logdet
}

// plainRoot takes the eigenvectors of a by Jacobi's rotations, times the roots of those eigenvalues above 1e-4 of the
// largest.
func plainRoot(a [][]float64) [][]float64 {
	k := len(a)
	v := make([][]float64, k)
	for i := range v {
		v[i] = make([]float64, k)
		v[i][i] = 1
	}
	for range 30 {
		for p := range k {
			for q := range p {
				if math.Abs(a[p][q]) < 1e-300 {
					continue
				}
				angle := math.Atan2(2*a[p][q], a[q][q]-a[p][p]) / 2
				c, s := math.Cos(angle), math.Sin(angle)
				for i := range k {
					a[i][p], a[i][q] = c*a[i][p]-s*a[i][q], s*a[i][p]+c*a[i][q]
				}
				for i := range k {
					a[p][i], a[q][i] = c*a[p][i]-s*a[q][i], s*a[p][i]+c*a[q][i]
				}
				for i := range k {
					v[i][p], v[i][q] = c*v[i][p]-s*v[i][q], s*v[i][p]+c*v[i][q]
				}
			}
		}
	}
	largest := 0.0
	for i := range k {
		largest = max(largest, a[i][i])
	}
	l := make([][]float64, k)
	for b := range k {
		if a[b][b] > 1e-4*largest {
			for i := range k {
				l[i] = append(l[i], math.Sqrt(a[b][b])*v[i][b])
			}
		}
	}
	return l
}

// plainSquare is the square of a matrix, of mean diagonal 1.
func plainSquare(a [][]float64) [][]float64 {
	k := len(a)
	out, mean := make([][]float64, k), 0.0
	for i := range out {
		out[i] = make([]float64, k)
		for j := range k {
			for b := range k {
				out[i][j] += a[i][b] * a[b][j]
			}
		}
		mean += out[i][i] / float64(k)
	}
	for i := range out {
		for j := range k {
			out[i][j] /= mean
		}
	}
	return out
}
