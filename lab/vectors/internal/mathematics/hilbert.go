package mathematics

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/reals"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

type hilbertIn struct {
	Op  string     `json:"op"` // distance, log-distance, diameter or gibbs
	X   []string   `json:"x,omitempty"`
	Y   []string   `json:"y,omitempty"`
	A   [][]string `json:"a,omitempty"`
	Reg string     `json:"reg,omitempty"`
}

type hilbertOut struct {
	Distance    string `json:"distance,omitempty"`
	Diameter    string `json:"diameter,omitempty"`
	Tau         string `json:"tau,omitempty"`
	OneMinusTau string `json:"one_minus_tau,omitempty"`
}

// logRatio writes the logarithm of a rational that is at least 1.
func logRatio(x *big.Rat) (*big.Float, string) {
	v := reals.Int(0)
	if x.Cmp(big.NewRat(1, 1)) > 0 {
		v = reals.Log(reals.Rat(x))
	}
	return v, reals.Digits(v)
}

// distance returns Hilbert's distance as the rational whose logarithm it is; nil for infinity.
func distance(x, y []float64) *big.Rat {
	var low, high *big.Rat
	for i := range x {
		switch {
		case x[i] == 0 && y[i] == 0:
			continue
		case x[i] == 0 || y[i] == 0:
			return nil
		}
		ratio := exact.Quo(exact.Rat(x[i]), exact.Rat(y[i]))
		if low == nil {
			low, high = ratio, ratio
		}
		low, high = exact.Min(low, ratio), exact.Max(high, ratio)
	}
	if low == nil {
		return big.NewRat(1, 1)
	}
	return exact.Quo(high, low)
}

func contraction(d *big.Float) (tau, rest string) {
	e := reals.Exp(reals.Mul(d, reals.Float(-0.5)))
	den := reals.Add(reals.Int(1), e)
	return reals.Digits(reals.Quo(reals.Sub(reals.Int(1), e), den)),
		reals.Digits(reals.Quo(reals.Mul(reals.Int(2), e), den))
}

// hilbertDice are what the cases of all operations draw first.
type hilbertDice struct {
	coarse, spoil bool
	size          int
	bad           float64 // what spoils a case, with its flag and reason
	flag, why     string
}

func (d hilbertDice) number(r *values.RNG) float64 {
	return values.Pick(r, values.Grain(r, d.coarse), values.Grain(r, d.coarse), 1, float64(r.Intn(9)), 0x1p-1074, 1e300, 0)
}

// Hilbert fills in the cases of the kind hilbert: Hilbert's distance, diameters and contraction.
func Hilbert(s *cases.Set) {
	r := &s.RNG
	s.Until(230, 110, func(n int) {
		d := hilbertDice{coarse: r.Chance(50), size: values.Pick(r, 1, 2, 3, 5, 8), spoil: n%3 == 2, why: "finite"}
		if d.bad, d.flag = values.Bad(r); d.bad < 0 && !math.IsInf(d.bad, 0) {
			d.why = "negative"
		}
		op := []func(*values.RNG, hilbertDice) (hilbertIn, hilbertOut, string, []string){
			hilbertDistance, hilbertLogs, hilbertMatrix, hilbertGibbs,
		}[n/3%4]
		in, out, reason, flags := op(r, d)
		s.Add(reason, in, out, flags...)
	})
}

// hilbertDistance draws the distance of two vectors.
func hilbertDistance(r *values.RNG, d hilbertDice) (in hilbertIn, out hilbertOut, reason string, flags []string) {
	flags = []string{}
	x, y := make([]float64, d.size), make([]float64, d.size)
	near := r.Chance(30)
	for i := range x {
		x[i] = d.number(r)
		y[i] = d.number(r)
		if near {
			y[i] = x[i] * (1 + float64(r.Intn(3))*0x1p-52)
		}
		if (x[i] == 0) != (y[i] == 0) && r.Chance(90) {
			x[i], y[i] = 1, 1
		}
	}
	if slices.Contains(x, 0) {
		flags = append(flags, "zero-mass")
	}
	if d.spoil {
		reason, flags = d.why, []string{d.flag}
		switch r.Intn(3) {
		case 0:
			x[r.Intn(d.size)] = d.bad
		case 1:
			y[r.Intn(d.size)] = d.bad
		case 2:
			y, reason, flags = append(y, 1), "shape", []string{"long"}
		}
	}
	in = hilbertIn{Op: "distance", X: values.HexFloats(x), Y: values.HexFloats(y)}
	if reason == "" {
		if far := distance(x, y); far == nil {
			out.Distance, flags = "inf", append(flags, "infinite")
		} else {
			_, out.Distance = logRatio(far)
		}
	}
	return in, out, reason, flags
}

// hilbertLogs draws that of two vectors given by their logarithms.
func hilbertLogs(r *values.RNG, d hilbertDice) (in hilbertIn, out hilbertOut, reason string, flags []string) {
	flags = []string{}
	x, y := make([]float64, d.size), make([]float64, d.size)
	var low, high *big.Rat
	for i := range x {
		x[i], y[i] = (r.Float()-0.5)*2000, values.Pick(r, (r.Float()-0.5)*2000, x[i], 0)
		diff := exact.Sub(exact.Rat(x[i]), exact.Rat(y[i]))
		if low == nil {
			low, high = diff, diff
		}
		low, high = exact.Min(low, diff), exact.Max(high, diff)
	}
	if d.spoil {
		if r.Chance(50) {
			x[r.Intn(d.size)], reason, flags = values.Pick(r, math.NaN(), math.Inf(1)), "finite", []string{"nan"}
			if !slices.ContainsFunc(x, math.IsNaN) {
				flags = []string{"infinite"}
			}
		} else {
			x, reason, flags = x[1:], "shape", []string{"short"}
		}
	}
	in = hilbertIn{Op: "log-distance", X: values.HexFloats(x), Y: values.HexFloats(y)}
	if reason == "" {
		out.Distance = exact.Sub(high, low).RatString()
	}
	return in, out, reason, flags
}

// hilbertMatrix draws the diameter of a matrix.
func hilbertMatrix(r *values.RNG, d hilbertDice) (in hilbertIn, out hilbertOut, reason string, flags []string) {
	flags = []string{}
	a := make([][]float64, values.Pick(r, 1, 2, 3, 4))
	for i := range a {
		for range d.size {
			a[i] = append(a[i], max(d.number(r), values.Pick(r, 0, 1.0/64)))
		}
	}
	if r.Chance(20) {
		clear(a[0])
		flags = append(flags, "zero-mass")
	}
	if len(a) != d.size {
		flags = append(flags, "k!=kv")
	}
	if d.spoil {
		reason, flags = d.why, []string{d.flag}
		a[r.Intn(len(a))][r.Intn(d.size)] = d.bad
	}
	in = hilbertIn{Op: "diameter", A: values.HexMatrix(a)}
	if reason == "" {
		out = matrixDiameter(a)
		if out.Diameter == "inf" {
			flags = append(flags, "infinite")
		}
	}
	return in, out, reason, flags
}

// hilbertGibbs draws that of a Gibbs kernel.
func hilbertGibbs(r *values.RNG, d hilbertDice) (in hilbertIn, out hilbertOut, reason string, flags []string) {
	flags = []string{}
	c := make([][]float64, values.Pick(r, 1, 2, 3, 4))
	for i := range c {
		for range d.size {
			c[i] = append(c[i], values.Grain(r, d.coarse)*values.Pick(r, 1, 1, 100.0))
		}
	}
	reg := values.Pick(r, 0.5, 1, 0.125, 0.01, 7, r.Float()+0.001)
	if len(c) != d.size {
		flags = append(flags, "k!=kv")
	}
	if d.spoil {
		reason, flags = d.why, []string{d.flag}
		if r.Chance(50) {
			c[r.Intn(len(c))][r.Intn(d.size)] = d.bad
		} else {
			reg, reason = values.Pick(r, d.bad, 0, math.Inf(1)), "reg"
			flags = []string{}
		}
	}
	in = hilbertIn{Op: "gibbs", A: values.HexMatrix(c), Reg: values.HexFloat(reg)}
	if reason == "" {
		diameter := gibbs(c, reg)
		out.Diameter = diameter.RatString()
		out.Tau, out.OneMinusTau = contraction(reals.Rat(diameter))
	}
	return in, out, reason, flags
}

// matrixDiameter compares every two rows in every two columns.
func matrixDiameter(a [][]float64) hilbertOut {
	var rows [][]float64
	column := make([]bool, len(a[0]))
	for _, row := range a {
		used := false
		for j, v := range row {
			if v > 0 {
				used, column[j] = true, true
			}
		}
		if used {
			rows = append(rows, row)
		}
	}
	most := big.NewRat(1, 1)
	for _, x := range rows {
		for j := range x {
			if column[j] && x[j] == 0 {
				return hilbertOut{Diameter: "inf", Tau: "1", OneMinusTau: "0"}
			}
		}
	}
	for _, x := range rows {
		for _, y := range rows {
			for j := range x {
				for l := range x {
					if column[j] && column[l] {
						up := exact.Mul(exact.Rat(x[j]), exact.Rat(y[l]))
						most = exact.Max(most, exact.Quo(up, exact.Mul(exact.Rat(x[l]), exact.Rat(y[j]))))
					}
				}
			}
		}
	}
	v, text := logRatio(most)
	tau, rest := contraction(v)
	return hilbertOut{Diameter: text, Tau: tau, OneMinusTau: rest}
}

// gibbs returns the diameter of exp(-c/reg).
func gibbs(c [][]float64, reg float64) *big.Rat {
	most := new(big.Rat)
	for _, x := range values.Matrix(c) {
		for _, y := range values.Matrix(c) {
			for j := range x {
				for l := range x {
					most = exact.Max(most, exact.Sub(exact.Add(x[l], y[j]), exact.Add(x[j], y[l])))
				}
			}
		}
	}
	return exact.Quo(most, exact.Rat(reg))
}
