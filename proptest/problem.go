package proptest

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/proptest/exact"
)

// A Problem is one projection: the distribution Mu on the rows of C, onto { Lo <= q <= Hi, sum q = 1 }.
type Problem struct {
	C          [][]float64
	Mu, Lo, Hi []float64
}

// Cost returns C as a fresh matrix.
func (p Problem) Cost() *cost.Dense { return dense(p.C) }

// Clone returns a deep copy: laws hand out copies, so that an implementation that writes to its input
// fails a law rather than hides from it.
func (p Problem) Clone() Problem {
	q := Problem{Mu: Clone(p.Mu), Lo: Clone(p.Lo), Hi: Clone(p.Hi), C: make([][]float64, len(p.C))}
	for i, row := range p.C {
		q.C[i] = Clone(row)
	}
	return q
}

// Optimum returns the exact value of the problem: successive shortest paths on integers in the graph
// of the paper's appendix, with a dual proof. It is meant for at most a dozen rows and columns.
// The error is ErrInfeasible if the box or Mu hold no distribution.
func (p Problem) Optimum() (*big.Rat, error) {
	mu, err := exact.Distribution(p.Mu)
	if err != nil {
		return nil, err
	}
	l, h, err := exact.Box(p.Lo, p.Hi)
	if err != nil {
		return nil, err
	}
	v, _, err := exact.Flow(ExactCost(p.C), mu, l, h)
	return v, err
}

// Dirac returns φ, the exact cost of the projection of a point mass with costs c onto the box: a greedy fill in
// rationals. The error is ErrInfeasible if the box holds no distribution.
func Dirac(c, lo, hi []float64) (*big.Rat, error) {
	l, h, err := exact.Box(lo, hi)
	if err != nil {
		return nil, err
	}
	phi, _ := exact.Greedy(exact.Rats(c), l, h)
	return phi, nil
}

// GoString prints the problem so that it can be pasted into a test.
func (p Problem) GoString() string {
	var b strings.Builder
	b.WriteString("proptest.Problem{C: ")
	goRows(&b, p.C)
	for _, f := range []struct {
		name string
		x    []float64
	}{{"Mu", p.Mu}, {"Lo", p.Lo}, {"Hi", p.Hi}} {
		b.WriteString(", " + f.name + ": ")
		goFloats(&b, f.x)
	}
	b.WriteByte('}')
	return b.String()
}

func goRows(b *strings.Builder, rows [][]float64) {
	b.WriteString("[][]float64{")
	for i, r := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		s := new(strings.Builder)
		goFloats(s, r)
		b.WriteString(strings.TrimPrefix(s.String(), "[]float64"))
	}
	b.WriteByte('}')
}

func goFloats(b *strings.Builder, x []float64) {
	b.WriteString("[]float64{")
	for i, v := range x {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
	}
	b.WriteByte('}')
}

func Clone(x []float64) []float64 { return append([]float64(nil), x...) }

// dense panics on a matrix that is not a cost: only generators call it.
func dense(rows [][]float64) *cost.Dense {
	d, err := cost.FromRows(rows)
	if err != nil {
		panic(fmt.Sprintf("proptest: a generator made a bad cost: %v", err))
	}
	return d
}

func ExactCost(c [][]float64) [][]*big.Rat {
	r := make([][]*big.Rat, len(c))
	for i, row := range c {
		r[i] = exact.Rats(row)
	}
	return r
}

func MaxCost(c [][]float64) float64 {
	m := 0.0
	for _, row := range c {
		for _, v := range row {
			m = max(m, v)
		}
	}
	return m
}

// RowRange returns the largest spread of a row, R.
func RowRange(c [][]float64) float64 {
	r := 0.0
	for _, row := range c {
		a, b := row[0], row[0]
		for _, v := range row {
			a, b = min(a, v), max(b, v)
		}
		r = max(r, b-a)
	}
	return r
}

// TransportTo returns W_p^p(q, mu) exactly, for a float vector q taken as q / sum q.
func TransportTo(c [][]*big.Rat, mu []*big.Rat, q []float64) (*big.Rat, error) {
	t, err := exact.Distribution(q)
	if err != nil {
		return nil, err
	}
	v, _, err := exact.Flow(c, mu, t, t)
	return v, err
}
