package interior

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

var blasImpl blasgonum.Implementation

// Rules of thumb of the conjugate gradients.
const (
	solveTol    = 5e-2 // relative, in the norm of the preconditioner
	mostRounds  = 200
	manyRounds  = 40   // after which a factor is computed
	activeRatio = 1e-3 // outputs whose diagonal is nearly all y/m are left out of the factor
	ridge       = 1e-13
	factorRows  = 256 // added to the matrix at a time
)

// system is the Newton system of a step, and its solution. With dz eliminated the matrix of dm is
//
//	sum_i D_i (g_i - c)(g_i - c)^T + sum_i E_i a_i a_i^T + diag(y/m),   c = sum D_i g_i / sum D_i.
type system struct {
	d, e, q            []float64 // by input
	ratio, centre, rhs []float64 // by output
	diag               []float64
	sum, sumQ          float64

	dm, dy, ds, dlam, deta []float64
	dz                     float64

	r, dir, image, next []float64 // of the conjugate gradients
	wanted              bool      // a factor
	active              []int     // outputs of the factor
	factor, part        []float64 // upper triangle, row after row
}

func (d *system) init(v *Phase) {
	for _, x := range []*[]float64{&d.d, &d.e, &d.q, &d.ds, &d.dlam, &d.deta} {
		*x = make([]float64, v.k)
	}
	for _, x := range []*[]float64{
		&d.ratio, &d.centre, &d.rhs, &d.diag, &d.dm, &d.dy, &d.r, &d.dir, &d.image, &d.next, &d.part,
	} {
		*x = make([]float64, v.kv)
	}
}

// build computes the matrix, as far as it is stored, and the right-hand side.
func (d *system) build(v *Phase) {
	d.sum, d.sumQ = 0, -1
	clear(d.centre)
	clear(d.diag)
	for j, m := range v.m {
		d.ratio[j] = v.y[j] / m
		d.rhs[j] = v.mu/m - v.y[j] - v.dual[j]
	}
	for i, s := range v.s {
		d.d[i], d.e[i] = v.lam[i]/s, v.lam[i]/v.kappa[i]
		d.q[i] = v.mu/s - v.lam[i] + d.d[i]*v.primal[i]
		d.sum += d.d[i]
		d.sumQ += d.q[i] + v.lam[i]
		wd, we, wq := d.d[i], d.e[i], d.q[i]
		a := v.a[i*v.kv:][:v.kv]
		rhs, centre, diag := d.rhs[:v.kv], d.centre[:v.kv], d.diag[:v.kv]
		for j, g := range v.g[i*v.kv:][:v.kv] {
			rhs[j] -= wq * g
			centre[j] += wd * g
			diag[j] += wd*g*g + we*a[j]*a[j]
		}
	}
	for j, c := range d.centre {
		d.centre[j] = c / d.sum
		d.rhs[j] += d.centre[j] * d.sumQ
		d.diag[j] += d.ratio[j] - c*d.centre[j]
	}
}

// solve finds the step. It reports false if a number is not finite.
func (d *system) solve(ctx context.Context, v *Phase) (ok bool, err error) {
	if d.wanted {
		if err := d.factorize(ctx, v); err != nil {
			return false, err
		}
	}
	if err := d.conjugate(ctx, v); err != nil {
		return false, err
	}
	d.dz = d.sumQ/d.sum + dot(d.centre, d.dm)
	size := math.Abs(d.dz)
	for i, s := range v.s {
		d.ds[i] = d.dz - v.primal[i] - dot(v.g[i*v.kv:][:v.kv], d.dm)
		d.dlam[i] = v.mu/s - v.lam[i] - d.d[i]*d.ds[i]
		d.deta[i] = -dot(v.a[i*v.kv:][:v.kv], d.dm) / v.kappa[i]
		size += math.Abs(d.ds[i]) + math.Abs(d.dlam[i]) + math.Abs(d.deta[i])
	}
	for j, m := range v.m {
		d.dy[j] = v.mu/m - v.y[j] - d.ratio[j]*d.dm[j]
		size += math.Abs(d.dm[j]) + math.Abs(d.dy[j])
	}
	return size <= math.MaxFloat64, nil
}

// conjugate solves the system for dm by preconditioned conjugate gradients.
func (d *system) conjugate(ctx context.Context, v *Phase) error {
	copy(d.r, d.rhs)
	clear(d.dm)
	clear(d.dir)
	first, before := 0.0, 1.0
	rounds := 0
	for ; rounds < mostRounds; rounds++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.precondition()
		now := dot(d.r, d.next)
		if rounds == 0 {
			first = now
		}
		if !(now > solveTol*solveTol*first) {
			break
		}
		for j, x := range d.next {
			d.dir[j] = x + now/before*d.dir[j]
		}
		before = now
		d.apply(v)
		step := now / dot(d.dir, d.image)
		blasImpl.Daxpy(v.kv, step, d.dir, 1, d.dm, 1)
		blasImpl.Daxpy(v.kv, -step, d.image, 1, d.r, 1)
	}
	d.wanted = rounds > manyRounds
	return nil
}

// apply writes the matrix times dir to image.
func (d *system) apply(v *Phase) {
	n := v.kv
	along := d.sum * dot(d.centre, d.dir)
	for j, x := range d.dir {
		d.image[j] = d.ratio[j]*x - d.centre[j]*along
	}
	for i := range v.k {
		g, a := v.g[i*n:][:n], v.a[i*n:][:n]
		blasImpl.Daxpy(n, d.d[i]*dot(g, d.dir), g, 1, d.image, 1)
		blasImpl.Daxpy(n, d.e[i]*dot(a, d.dir), a, 1, d.image, 1)
	}
}

// precondition writes an approximate solution for the right-hand side r to next.
func (d *system) precondition() {
	for j, x := range d.r {
		d.next[j] = x / d.diag[j]
	}
	n := len(d.active)
	if n == 0 {
		return
	}
	for p, j := range d.active {
		d.part[p] = d.r[j]
	}
	blasImpl.Dtrsv(blas.Upper, blas.Trans, blas.NonUnit, n, d.factor, n, d.part, 1)
	blasImpl.Dtrsv(blas.Upper, blas.NoTrans, blas.NonUnit, n, d.factor, n, d.part, 1)
	for p, j := range d.active {
		d.next[j] = d.part[p]
	}
}

// factorize computes the Cholesky factor of the matrix on the outputs that are in use. If there is none, the
// preconditioner is the diagonal.
func (d *system) factorize(ctx context.Context, v *Phase) error {
	d.active = d.active[:0]
	for j, x := range d.diag {
		if x > (1+activeRatio)*d.ratio[j] {
			d.active = append(d.active, j)
		}
	}
	n := len(d.active)
	if n == 0 {
		return nil
	}
	if cap(d.factor) < n*n {
		d.factor = make([]float64, n*n)
	}
	d.factor = d.factor[:n*n]
	clear(d.factor)
	rows := make([]float64, n*factorRows)
	for from := 0; from < 2*v.k; from += factorRows {
		if err := ctx.Err(); err != nil {
			d.active = d.active[:0]
			return err
		}
		d.columns(v, from, rows)
		blasImpl.Dsyrk(blas.Upper, blas.NoTrans, n, factorRows, 1, rows, factorRows, 1, d.factor, n)
	}
	for p, j := range d.active {
		d.factor[p*n+p] = d.factor[p*n+p]*(1+ridge) + d.ratio[j]
	}
	var lapack lapackgonum.Implementation
	if !lapack.Dpotrf(blas.Upper, n, d.factor, n) {
		d.active = d.active[:0]
	}
	return nil
}

// columns writes factorRows of the 2k scaled vectors g_i - c and a_i, from number from on, as the columns of rows.
// Beyond the last they are zero.
func (d *system) columns(v *Phase, from int, rows []float64) {
	for c := range factorRows {
		i := from + c
		var scale float64
		var vector []float64
		shift := 0.0
		switch {
		case i < v.k:
			scale, vector, shift = math.Sqrt(d.d[i]), v.g[i*v.kv:], 1
		case i < 2*v.k:
			scale, vector = math.Sqrt(d.e[i-v.k]), v.a[(i-v.k)*v.kv:]
		default:
			vector = d.ratio // any, times zero
		}
		for p, j := range d.active {
			rows[p*factorRows+c] = scale * (vector[j] - shift*d.centre[j])
		}
	}
}

func dot(a, b []float64) float64 { return blasImpl.Ddot(len(a), a, 1, b, 1) }
