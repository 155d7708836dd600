package channel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// The implementations are named, so that no program can put others in their place: results are the same everywhere.
var (
	blasOf   blasgonum.Implementation
	lapackOf lapackgonum.Implementation
)

const (
	// mostGroups is the number of groups of places of the risk.
	mostGroups = 200
	// evened is the share of the prior that is spread evenly: a place of prior 0 may have people.
	evened = 0.1
	// least is the share of the largest eigenvalue of the prior below which a direction is left out.
	least = 1e-7
)

// covariances are those of the logarithm of a map under the priors: exp(-D/l), with l in units of the mean distance of
// two places, or its square. Rough maps are as in estimate.Disc. With them alone, codes spend too much on fine scales
// where the truth is smooth.
var covariances = []struct {
	length float64
	square bool
}{{0.4, false}, {0.15, true}}

// risk is the Bayes risk of a linear estimate in energy distance. Matrices are row-major.
type risk struct {
	devices float64
	of      []int32   // the group of each place
	share   []float64 // of the prior, of each place in its group
	mass    []float64 // of the prior, of each group
	size    []float64 // places of each group
	order   [][]int32 // groups by distance, for each group
	largest float64   // of the distances that were seen
	priors  []prior   // none if all places are at one point
}

// prior is a covariance of the shares, R R'. The risk is the sum of the risks under each prior, times its scale.
type prior struct {
	r     int       // rank
	root  []float64 // R: groups x r
	weigh []float64 // A = R' W R: r x r
	scale float64
}

// newRisk takes the prior with sum 1.
func newRisk(d metric, prior []float64, devices float64) (*risk, error) {
	centers, of, largest := d.groups(min(d.k, mostGroups))
	n := len(centers)
	out := &risk{
		devices: devices, of: of, largest: largest, share: make([]float64, d.k), mass: make([]float64, n),
		size: make([]float64, n), order: make([][]int32, n),
	}
	for i, u := range prior {
		out.share[i] = (1-evened)*u + evened/float64(d.k)
		out.mass[of[i]] += out.share[i]
		out.size[of[i]]++
	}
	for i, a := range of {
		out.share[i] /= out.mass[a]
	}
	dist, buf := make([]float64, n*n), make([]float64, d.k)
	mean := 0.0
	for a, i := range centers {
		row := d.row(i, buf)
		for b, j := range centers {
			dist[a*n+b] = row[j]
			mean += row[j] * out.mass[a] * out.mass[b]
		}
		out.order[a] = nearest(dist[a*n:][:n])
	}
	if !(mean > 0) { // all at one point
		return out, nil
	}
	energy := make([]float64, n*n)
	for p, v := range dist {
		energy[p] = -v / mean
	}
	clip(energy, n)
	for _, c := range covariances {
		kernel := make([]float64, n*n)
		for p, v := range dist {
			kernel[p] = math.Exp(-v / (c.length * mean))
		}
		if c.square {
			kernel = out.square(kernel)
		}
		out.center(kernel)
		one, err := priorOf(kernel, energy, n)
		if err != nil {
			return nil, err
		}
		out.priors = append(out.priors, one)
	}
	return out, nil
}

// square returns K S K, S the sizes, of mean variance 1: a covariance of smoother maps, whatever the symmetric K is. It
// changes K.
func (k *risk) square(a []float64) []float64 {
	n := len(k.size)
	for i := range n {
		for j, s := range k.size {
			a[i*n+j] *= math.Sqrt(s)
		}
	}
	out := make([]float64, n*n)
	blasOf.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, a, n, a, n, 0, out, n)
	sum, total := 0.0, 0.0
	for i, s := range k.size {
		sum += s * out[i*n+i]
		total += s
	}
	blasOf.Dscal(n*n, total/sum, out, 1)
	return out
}

// priorOf takes a covariance, which it changes, and the matrix of the energy distance.
func priorOf(cov, energy []float64, n int) (prior, error) {
	out := prior{scale: 1}
	values, err := eigen(cov, n)
	if err != nil {
		return out, err
	}
	for out.r < n && values[n-1-out.r] > least*values[n-1] {
		out.r++
	}
	r := out.r
	out.root = make([]float64, n*r)
	for b := range r {
		s := math.Sqrt(values[n-1-b])
		for a := range n {
			out.root[a*r+b] = s * cov[a*n+n-1-b]
		}
	}
	half := make([]float64, n*r)
	blasOf.Dgemm(blas.NoTrans, blas.NoTrans, n, r, n, 1, energy, n, out.root, r, 0, half, r)
	out.weigh = make([]float64, r*r)
	blasOf.Dgemm(blas.Trans, blas.NoTrans, r, r, n, 1, out.root, r, half, r, 0, out.weigh, r)
	return out, nil
}

// center replaces a symmetric K by C K C, C = diag(mass) - mass mass': the covariance of the shares, to first order, of
// a map whose logarithm has the covariance K.
func (k *risk) center(a []float64) {
	n := len(k.mass)
	mean, all := make([]float64, n), 0.0
	for i, m := range k.mass {
		for j, v := range a[i*n:][:n] {
			mean[i] += v * k.mass[j]
		}
		all += mean[i] * m
	}
	for i := range n {
		for j := range n {
			a[i*n+j] = (a[i*n+j] + all - mean[i] - mean[j]) * k.mass[i] * k.mass[j]
		}
	}
}

// eigen replaces a symmetric matrix by its eigenvectors, as columns, by rising eigenvalues, which it returns.
func eigen(a []float64, n int) ([]float64, error) {
	values, work := make([]float64, n), make([]float64, 1)
	lapackOf.Dsyev('V', 'U', n, a, n, values, work, -1)
	work = make([]float64, int(work[0]))
	if !lapackOf.Dsyev('V', 'U', n, a, n, values, work, len(work)) {
		return nil, fmt.Errorf("channel: no eigenvalues of a matrix of side %d", n)
	}
	return values, nil
}

// clip replaces H A H by its positive part, H taking the mean away: -D of a distance of negative type has no other.
func clip(a []float64, n int) {
	mean, all := make([]float64, n), 0.0
	for i := range n {
		for _, v := range a[i*n:][:n] {
			mean[i] += v / float64(n)
		}
		all += mean[i] / float64(n)
	}
	for i := range n {
		for j := range n {
			a[i*n+j] += all - mean[i] - mean[j]
		}
	}
	vectors := append([]float64(nil), a...)
	values, err := eigen(vectors, n)
	if err != nil || values[0] >= -1e-12*values[n-1] {
		return
	}
	for b, v := range values {
		s := math.Sqrt(max(v, 0))
		for i := range n {
			vectors[i*n+b] *= s
		}
	}
	blasOf.Dgemm(blas.NoTrans, blas.Trans, n, n, n, 1, vectors, n, vectors, n, 0, a, n)
}

// groups returns n places that are far from each other, the group of each place, which is its nearest of them, and the
// largest distance seen.
func (d metric) groups(n int) (centers []int, of []int32, largest float64) {
	of = make([]int32, d.k)
	near, buf := make([]float64, d.k), make([]float64, d.k)
	for i := range near {
		near[i] = math.Inf(1)
	}
	for next := 0; len(centers) < n; {
		row := d.row(next, buf)
		for i, v := range row {
			largest = max(largest, v)
			if v < near[i] {
				near[i], of[i] = v, int32(len(centers))
			}
		}
		of[next], near[next] = int32(len(centers)), -1 // a place of its own, wherever others are
		centers = append(centers, next)
		for i, v := range near {
			if v > near[next] {
				next = i
			}
		}
	}
	return centers, of, largest
}

// packed is the number of entries of a lower triangle.
func packed(r int) int { return r * (r + 1) / 2 }

// entries is the number of those of an information.
func (k *risk) entries() (n int) {
	for _, p := range k.priors {
		n += packed(p.r)
	}
	return n
}

// information returns that of a release with m outputs: for each prior, a lower triangle with the entries off the
// diagonal doubled, so that a product of two triangles is a trace. rows are those of groups; what all rows of a column
// share may be left out of them, and q is the law of a release from the prior.
func (k *risk) information(rows, q []float64) []float64 {
	n, m := len(k.mass), len(q)
	out := make([]float64, 0, k.entries())
	for _, p := range k.priors {
		r := p.r
		y, gram := make([]float64, m*r), make([]float64, r*r)
		blasOf.Dgemm(blas.Trans, blas.NoTrans, m, r, n, 1, rows, m, p.root, r, 0, y, r)
		for j, v := range q {
			blasOf.Dscal(r, 1/math.Sqrt(v), y[j*r:], 1)
		}
		blasOf.Dsyrk(blas.Lower, blas.Trans, r, m, 1, y, r, 0, gram, r)
		for a := range r {
			for b := range a {
				out = append(out, 2*gram[a*r+b])
			}
			out = append(out, gram[a*r+a])
		}
	}
	return out
}

// ofCode is the information of a release of a code.
func (k *risk) ofCode(eps float64, colors int, color []int32) []float64 {
	rows, q := make([]float64, len(k.mass)*colors), make([]float64, colors)
	// A colour has e^-eps / z, and the own one 1 / z.
	low := math.Exp(-eps)
	z := 1 + low*float64(colors-1)
	for i, g := range color {
		rows[int(k.of[i])*colors+int(g)] += k.share[i] * (1 - low) / z
		q[g] += k.share[i] * k.mass[k.of[i]] * (1 - low) / z
	}
	for g := range q {
		q[g] += low / z
	}
	return k.information(rows, q)
}

// ofDisc is the information of a release of a disc of so many places. A group is an output of as many places as it has.
func (k *risk) ofDisc(eps, places float64) []float64 {
	n, low := len(k.mass), math.Exp(-eps)
	rows, q := make([]float64, n*n), make([]float64, n)
	total := 0.0
	for _, s := range k.size {
		total += s
	}
	z := low*total + (1-low)*places
	for j, s := range k.size {
		q[j] = low * s / z
	}
	for a, order := range k.order {
		left := places
		for _, j := range order {
			in := min(k.size[j], left)
			left -= in
			rows[a*n+int(j)] = (1 - low) * in / z
			q[j] += k.mass[a] * (1 - low) * in / z
		}
	}
	return k.information(rows, q)
}

// balance scales the risks, so that the best disc has the risk 1 under each prior.
func (k *risk) balance(discs []candidate) {
	at := 0
	for n := range k.priors {
		p := &k.priors[n]
		end, best := at+packed(p.r), math.Inf(1)
		for _, c := range discs {
			best = min(best, p.value(k.devices, c.info[at:end], nil))
		}
		if best > 0 && best <= math.MaxFloat64 {
			p.scale = 1 / best
		}
		at = end
	}
}

// value returns the risk of an information, and, if gradient is not nil, sets it to minus the derivative, over N.
func (k *risk) value(info, gradient []float64) float64 {
	all, at := 0.0, 0
	for _, p := range k.priors {
		n := packed(p.r)
		var g []float64
		if gradient != nil {
			g = gradient[at : at+n]
		}
		all += p.scale * p.value(k.devices, info[at:at+n], g)
		blasOf.Dscal(len(g), p.scale, g, 1)
		at += n
	}
	return all
}

// value returns trace(A M^-1), M = 1 + N I, and, if gradient is not nil, sets it to M^-1 A M^-1, a lower triangle.
func (p *prior) value(devices float64, info, gradient []float64) float64 {
	r := p.r
	m := make([]float64, r*r)
	at := 0
	for a := range r {
		for b := range a {
			m[a*r+b] = devices / 2 * info[at]
			at++
		}
		m[a*r+a] = 1 + devices*info[at]
		at++
	}
	if !lapackOf.Dpotrf(blas.Lower, r, m, r) {
		return math.Inf(1)
	}
	x := append([]float64(nil), p.weigh...)
	lapackOf.Dpotrs(blas.Lower, r, r, m, r, x, r) // M^-1 A
	trace := 0.0
	for a := range r {
		trace += x[a*r+a]
	}
	if gradient == nil {
		return trace
	}
	t := make([]float64, r*r)
	for a := range r {
		for b := range r {
			t[a*r+b] = x[b*r+a]
		}
	}
	lapackOf.Dpotrs(blas.Lower, r, r, m, r, t, r)
	at = 0
	for a := range r {
		for b := range a + 1 {
			gradient[at] = t[a*r+b]
			at++
		}
	}
	return trace
}

const (
	// wantGap is the relative duality gap at which the weights are good enough, and maxSteps how long they may take.
	wantGap  = 0.004
	maxSteps = 300
)

// weights minimizes the risk over mixtures of channels of the given information, from w on, which it changes. It
// returns the risk, and how far below it the least may be: the duality gap, of the same unit.
//
// A step with the exponent 1/2 never makes the risk larger; that with 1 is tried first.
func (k *risk) weights(infos [][]float64, w []float64, steps int) (value, gap float64) {
	p := k.entries()
	sum := func(w []float64) []float64 {
		all := make([]float64, p)
		for c, v := range w {
			if v > 0 {
				blasOf.Daxpy(p, v, infos[c], 1, all, 1)
			}
		}
		return all
	}
	gradient, other, g := make([]float64, p), make([]float64, p), make([]float64, len(w))
	next := make([]float64, len(w))
	value = k.value(sum(w), gradient)
	for step := 0; ; step++ {
		mean, most := 0.0, 0.0
		for c, info := range infos {
			g[c] = max(blasOf.Ddot(p, gradient, 1, info, 1), 0)
			mean += w[c] * g[c]
			most = max(most, g[c])
		}
		gap = k.devices * (most - mean)
		if !(gap > wantGap*value) || step >= steps || !(mean > 0) {
			return value, min(max(gap, 0), value)
		}
		for _, power := range []float64{1, 0.5} {
			all := 0.0
			for c, v := range w {
				next[c] = v * math.Pow(g[c]/mean, power)
				all += next[c]
			}
			for c := range next {
				next[c] /= all
			}
			f := k.value(sum(next), other)
			if f <= value || power < 1 {
				value = f
				copy(w, next)
				gradient, other = other, gradient
				break
			}
		}
	}
}
