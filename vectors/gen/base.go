package main

import (
	"math"
	"math/big"
	"slices"
)

type baseIn struct {
	C   [][]string `json:"c"`
	Eps string     `json:"eps"`
}

type baseOut struct {
	Value      string   `json:"value"`
	M          []string `json:"m"`
	Weights    []string `json:"weights"`
	Thresholds []string `json:"thresholds"`
}

// tiny decides what is zero in the linear program: 512 bits leave no doubt in a dozen rows.
var tiny = real0().SetMantExp(realInt(1), -250)

func sign(x *big.Float) int {
	if real0().Abs(x).Cmp(tiny) < 0 {
		return 0
	}
	return x.Sign()
}

// baseMeasure is the design as a linear program, and its dual,
//
//	max sum_i y_i   subject to   sum_i w_i <= 1,   y_i - w_i C_ij + a_ij - b_ij <= 0,   E sum_i b_ij - sum_i a_ij <= 0,
//
// all variables at least 0, by the simplex method with Bland's rule, in 512 bits. Thresholds are y_i / w_i; the prices of
// the last rows are the lower bounds x_j of the box. What comes out is proved by proveBase.
func baseMeasure(c [][]float64, eps float64) (value *big.Float, x, w, eta []*big.Float) {
	k, kv := len(c), len(c[0])
	e := rexp(realFloat(eps))
	// Columns: w, y, a, b, then a slack for each row, then the right side.
	columns, rows := 2*k+2*k*kv, 1+k*kv+kv
	t := make([][]*big.Float, rows+1)
	for r := range t {
		t[r] = make([]*big.Float, columns+rows+1)
		for n := range t[r] {
			t[r][n] = realInt(0)
		}
		if r < rows {
			t[r][columns+r] = realInt(1)
		}
	}
	t[0][columns+rows] = realInt(1)
	for i := range k {
		t[0][i] = realInt(1)
		t[rows][k+i] = realInt(-1) // the last row holds minus the prices of the objective
		for j := range kv {
			r, a, b := 1+i*kv+j, 2*k+i*kv+j, 2*k+k*kv+i*kv+j
			t[r][i], t[r][k+i], t[r][a], t[r][b] = realFloat(-c[i][j]), realInt(1), realInt(1), realInt(-1)
			t[1+k*kv+j][a], t[1+k*kv+j][b] = realInt(-1), e
		}
	}
	basis := make([]int, rows)
	for r := range basis {
		basis[r] = columns + r
	}
	for pivots := 0; ; pivots++ {
		must(pivots < 5000, "a simplex that does not end")
		in := slices.IndexFunc(t[rows][:columns+rows], func(v *big.Float) bool { return sign(v) < 0 })
		if in < 0 {
			break
		}
		out := -1
		var least *big.Float
		for r := range rows {
			if sign(t[r][in]) <= 0 {
				continue
			}
			ratio := rdiv(t[r][columns+rows], t[r][in])
			if out < 0 || sign(rsub(ratio, least)) < 0 || sign(rsub(ratio, least)) == 0 && basis[r] < basis[out] {
				out, least = r, ratio
			}
		}
		must(out >= 0, "an unbounded design")
		basis[out] = in
		pivot(t, out, in)
	}
	return readDesign(t, basis, k, kv)
}

// pivot makes column in the unit vector of row out.
func pivot(t [][]*big.Float, out, in int) {
	by := t[out][in]
	for n, v := range t[out] {
		t[out][n] = rdiv(v, by)
	}
	for r := range t {
		f := t[r][in]
		if r == out || f.Sign() == 0 {
			continue
		}
		for n, v := range t[out] {
			if v.Sign() != 0 {
				t[r][n] = rsub(t[r][n], rmul(f, v))
			}
		}
	}
}

// readDesign reads the answer off the last tableau.
func readDesign(t [][]*big.Float, basis []int, k, kv int) (value *big.Float, x, w, eta []*big.Float) {
	columns, rows := 2*k+2*k*kv, 1+k*kv+kv
	at := make([]*big.Float, columns+rows)
	for n := range at {
		at[n] = realInt(0)
	}
	for r, n := range basis {
		at[n] = t[r][columns+rows]
	}
	for i := range k {
		threshold := realInt(0)
		if sign(at[i]) > 0 {
			threshold = rdiv(at[k+i], at[i])
		} else {
			at[i] = realInt(0)
		}
		w, eta = append(w, at[i]), append(eta, threshold)
	}
	for j := range kv {
		v := t[rows][columns+1+k*kv+j]
		if sign(v) <= 0 {
			v = realInt(0)
		}
		x = append(x, v)
	}
	value = t[rows][columns+rows]
	if sign(value) == 0 { // any weights prove that
		value = realInt(0)
		for i := range w {
			w[i], eta[i] = realInt(0), realInt(0)
		}
		w[0] = realInt(1)
	}
	return value, x, w, eta
}

// proveBase checks that the worst case of the box [x, E x] is the value, and that weights and thresholds prove it to be
// the least of all.
func proveBase(c [][]float64, eps float64, value *big.Float, x, w, eta []*big.Float) {
	e := rexp(realFloat(eps))
	worst, lower, sum := realInt(0), realInt(0), realInt(0)
	var b []*big.Float
	for range x {
		b = append(b, realInt(0))
	}
	for i, row := range c {
		order := make([]int, len(row))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(p, q int) int { return realFloat(row[p]).Cmp(realFloat(row[q])) })
		rest, phi := realInt(1), realInt(0)
		for j, v := range x {
			rest = rsub(rest, v)
			phi = radd(phi, rmul(v, realFloat(row[j])))
			d := rsub(realFloat(row[j]), eta[i])
			if d.Sign() < 0 {
				d = rmul(e, d)
			}
			b[j] = radd(b[j], rmul(w[i], d))
		}
		for _, j := range order {
			step := rsub(rmul(e, x[j]), x[j])
			if step.Cmp(rest) > 0 {
				step = rest
			}
			if step.Sign() > 0 {
				phi, rest = radd(phi, rmul(step, realFloat(row[j]))), rsub(rest, step)
			}
		}
		must(sign(rest) == 0, "a box without the mass")
		if phi.Cmp(worst) > 0 {
			worst = phi
		}
		lower, sum = radd(lower, rmul(w[i], eta[i])), radd(sum, w[i])
	}
	least := slices.MinFunc(b, func(p, q *big.Float) int { return p.Cmp(q) })
	if least.Sign() > 0 {
		least = rdiv(least, e)
	}
	lower = radd(lower, least)
	must(sign(rsub(worst, value)) == 0 && sign(rsub(lower, value)) == 0 && sign(rsub(sum, realInt(1))) == 0, "a design that is not proved")
}

func baseVectors(s *set) {
	r := &s.rng
	s.until(205, 105, func(n int) {
		k, kv := pick(r, 1, 2, 3, 3, 4), pick(r, 1, 2, 3, 3, 4)
		coarse := r.chance(60)
		scale := pick(r, 1, 1, 1024, 0x1p-20)
		var c [][]float64
		for range k {
			row := make([]float64, kv)
			for j := range row {
				row[j] = grain(r, coarse) * scale
			}
			c = append(c, row)
		}
		switch n % 5 {
		case 0: // a path
			for i := range k {
				for j := range kv {
					c[i][j] = math.Abs(float64(i - j))
				}
			}
		case 1: // all alike
			for i := range k {
				for j := range kv {
					c[i][j] = 1
					if i == j {
						c[i][j] = 0
					}
				}
			}
		}
		eps := pick(r, 0, 0.125, 0.5, 1, 2, 4.75, 8, 12, 20, 3*r.float())
		flags := costFlags(c)
		switch {
		case eps == 0:
			flags = append(flags, "zero-eps")
		case eps >= 20:
			flags = append(flags, "large-eps")
		}
		if n%3 == 2 {
			reason := "finite"
			bad, flag := pickBad(r)
			if bad < 0 && !math.IsInf(bad, 0) {
				reason = "negative"
			}
			flags = []string{flag}
			switch r.intn(3) {
			case 0, 1:
				c[r.intn(k)][r.intn(kv)] = bad
			case 2:
				eps, reason, flags = pick(r, bad, 701, math.Nextafter(700, 1000), -0x1p-1074), "epsilon", []string{}
			}
			s.invalid(reason, baseIn{hexMatrix(c), hexFloat(eps)}, flags...)
			return
		}
		value, x, w, eta := baseMeasure(c, eps)
		proveBase(c, eps, value, x, w, eta)
		root := rexp(realFloat(eps / 2))
		for j := range x {
			x[j] = rmul(root, x[j])
		}
		s.valid(baseIn{hexMatrix(c), hexFloat(eps)}, baseOut{digits(value), digitList(x), digitList(w), digitList(eta)}, flags...)
	})
}
