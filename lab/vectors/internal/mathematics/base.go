package mathematics

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/problem"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
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
var tiny = reals.New().SetMantExp(reals.Int(1), -250)

func sign(x *big.Float) int {
	if reals.New().Abs(x).Cmp(tiny) < 0 {
		return 0
	}
	return x.Sign()
}

// baseMeasure is the design as a linear program, and its dual,
//
//	max sum_i y_i   subject to   sum_i w_i <= 1,   y_i - w_i C_ij + a_ij - b_ij <= 0,   E sum_i b_ij - sum_i a_ij <= 0,
//
// all variables at least 0, by the simplex method with Bland's rule, in 512 bits. Thresholds are y_i / w_i; the prices
// of the last rows are the lower bounds x_j of the box. What comes out is proved by proveBase.
func baseMeasure(c [][]float64, eps float64) (value *big.Float, x, w, eta []*big.Float) {
	k, kv := len(c), len(c[0])
	e := reals.Exp(reals.Float(eps))
	// Columns: w, y, a, b, then a slack for each row, then the right side.
	columns, rows := 2*k+2*k*kv, 1+k*kv+kv
	t := make([][]*big.Float, rows+1)
	for r := range t {
		t[r] = make([]*big.Float, columns+rows+1)
		for n := range t[r] {
			t[r][n] = reals.Int(0)
		}
		if r < rows {
			t[r][columns+r] = reals.Int(1)
		}
	}
	t[0][columns+rows] = reals.Int(1)
	for i := range k {
		t[0][i] = reals.Int(1)
		t[rows][k+i] = reals.Int(-1) // the last row holds minus the prices of the objective
		for j := range kv {
			r, a, b := 1+i*kv+j, 2*k+i*kv+j, 2*k+k*kv+i*kv+j
			t[r][i], t[r][k+i], t[r][a], t[r][b] = reals.Float(-c[i][j]), reals.Int(1), reals.Int(1), reals.Int(-1)
			t[1+k*kv+j][a], t[1+k*kv+j][b] = reals.Int(-1), e
		}
	}
	basis := make([]int, rows)
	for r := range basis {
		basis[r] = columns + r
	}
	for pivots := 0; ; pivots++ {
		values.Must(pivots < 5000, "a simplex that does not end")
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
			ratio := reals.Quo(t[r][columns+rows], t[r][in])
			if out < 0 || sign(reals.Sub(ratio, least)) < 0 || sign(reals.Sub(ratio, least)) == 0 && basis[r] < basis[out] {
				out, least = r, ratio
			}
		}
		values.Must(out >= 0, "an unbounded design")
		basis[out] = in
		pivot(t, out, in)
	}
	return readDesign(t, basis, k, kv)
}

// pivot makes column in the unit vector of row out.
func pivot(t [][]*big.Float, out, in int) {
	by := t[out][in]
	for n, v := range t[out] {
		t[out][n] = reals.Quo(v, by)
	}
	for r := range t {
		f := t[r][in]
		if r == out || f.Sign() == 0 {
			continue
		}
		for n, v := range t[out] {
			if v.Sign() != 0 {
				t[r][n] = reals.Sub(t[r][n], reals.Mul(f, v))
			}
		}
	}
}

// readDesign reads the answer off the last tableau.
func readDesign(t [][]*big.Float, basis []int, k, kv int) (value *big.Float, x, w, eta []*big.Float) {
	columns, rows := 2*k+2*k*kv, 1+k*kv+kv
	at := make([]*big.Float, columns+rows)
	for n := range at {
		at[n] = reals.Int(0)
	}
	for r, n := range basis {
		at[n] = t[r][columns+rows]
	}
	for i := range k {
		threshold := reals.Int(0)
		if sign(at[i]) > 0 {
			threshold = reals.Quo(at[k+i], at[i])
		} else {
			at[i] = reals.Int(0)
		}
		w, eta = append(w, at[i]), append(eta, threshold)
	}
	for j := range kv {
		v := t[rows][columns+1+k*kv+j]
		if sign(v) <= 0 {
			v = reals.Int(0)
		}
		x = append(x, v)
	}
	value = t[rows][columns+rows]
	if sign(value) == 0 { // any weights prove that
		value = reals.Int(0)
		for i := range w {
			w[i], eta[i] = reals.Int(0), reals.Int(0)
		}
		w[0] = reals.Int(1)
	}
	return value, x, w, eta
}

// proveBase checks that the worst case of the box [x, E x] is the value, and that weights and thresholds prove it to be
// the least of all.
func proveBase(c [][]float64, eps float64, value *big.Float, x, w, eta []*big.Float) {
	e := reals.Exp(reals.Float(eps))
	worst, lower, sum := reals.Int(0), reals.Int(0), reals.Int(0)
	var b []*big.Float
	for range x {
		b = append(b, reals.Int(0))
	}
	for i, row := range c {
		order := make([]int, len(row))
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(p, q int) int { return reals.Float(row[p]).Cmp(reals.Float(row[q])) })
		rest, phi := reals.Int(1), reals.Int(0)
		for j, v := range x {
			rest = reals.Sub(rest, v)
			phi = reals.Add(phi, reals.Mul(v, reals.Float(row[j])))
			d := reals.Sub(reals.Float(row[j]), eta[i])
			if d.Sign() < 0 {
				d = reals.Mul(e, d)
			}
			b[j] = reals.Add(b[j], reals.Mul(w[i], d))
		}
		for _, j := range order {
			step := reals.Sub(reals.Mul(e, x[j]), x[j])
			if step.Cmp(rest) > 0 {
				step = rest
			}
			if step.Sign() > 0 {
				phi, rest = reals.Add(phi, reals.Mul(step, reals.Float(row[j]))), reals.Sub(rest, step)
			}
		}
		values.Must(sign(rest) == 0, "a box without the mass")
		if phi.Cmp(worst) > 0 {
			worst = phi
		}
		lower, sum = reals.Add(lower, reals.Mul(w[i], eta[i])), reals.Add(sum, w[i])
	}
	least := slices.MinFunc(b, func(p, q *big.Float) int { return p.Cmp(q) })
	if least.Sign() > 0 {
		least = reals.Quo(least, e)
	}
	lower = reals.Add(lower, least)
	values.Must(sign(reals.Sub(worst, value)) == 0 && sign(reals.Sub(lower, value)) == 0 &&
		sign(reals.Sub(sum, reals.Int(1))) == 0,
		"a design that is not proved")
}

// Base fills in the cases of the kind base: base measures of least worst cost.
func Base(s *cases.Set) {
	r := &s.RNG
	s.Until(205, 105, func(n int) {
		k, kv := values.Pick(r, 1, 2, 3, 3, 4), values.Pick(r, 1, 2, 3, 3, 4)
		coarse := r.Chance(60)
		scale := values.Pick(r, 1, 1, 1024, 0x1p-20)
		var c [][]float64
		for range k {
			row := make([]float64, kv)
			for j := range row {
				row[j] = values.Grain(r, coarse) * scale
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
		eps := values.Pick(r, 0, 0.125, 0.5, 1, 2, 4.75, 8, 12, 20, 3*r.Float())
		flags := problem.CostFlags(c)
		switch {
		case eps == 0:
			flags = append(flags, "zero-eps")
		case eps >= 20:
			flags = append(flags, "large-eps")
		}
		if n%3 == 2 {
			reason := "finite"
			bad, flag := values.Bad(r)
			if bad < 0 && !math.IsInf(bad, 0) {
				reason = "negative"
			}
			flags = []string{flag}
			switch r.Intn(3) {
			case 0, 1:
				c[r.Intn(k)][r.Intn(kv)] = bad
			case 2:
				eps, reason, flags = values.Pick(r, bad, 701, math.Nextafter(700, 1000), -0x1p-1074), "epsilon", []string{}
			}
			s.Invalid(reason, baseIn{values.HexMatrix(c), values.HexFloat(eps)}, flags...)
			return
		}
		value, x, w, eta := baseMeasure(c, eps)
		proveBase(c, eps, value, x, w, eta)
		root := reals.Exp(reals.Float(eps / 2))
		for j := range x {
			x[j] = reals.Mul(root, x[j])
		}
		s.Valid(baseIn{values.HexMatrix(c), values.HexFloat(eps)},
			baseOut{reals.Digits(value), reals.DigitList(x), reals.DigitList(w), reals.DigitList(eta)}, flags...)
	})
}
