package sinkhorn_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// moody is a cost that gives one bad row, at one reading of them all.
type moody struct {
	*cost.Dense
	bad  func(row []float64) []float64
	left *int // readings before it
}

func (m moody) Row(i int, buf []float64) []float64 {
	row := append(buf[:0], m.Dense.Row(i, nil)...)
	*m.left--
	if *m.left == -1 {
		row = m.bad(row)
	}
	return row
}

// small is a problem with a row without mass and a column without room, so that rows are read for every purpose.
func small(t *testing.T) sinkhorn.Problem {
	t.Helper()
	c, err := cost.FromRows([][]float64{{0, 1, 4, 2}, {1, 0, 1, 2}, {4, 1, 0, 2}})
	if err != nil {
		t.Fatal(err)
	}
	return sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: []float64{0.25, 0.75}, Support: []int{0, 2},
		Lo: []float64{0.1, 0.1, 0.1, 0},
		Hi: []float64{0.6, 0.6, 0.6, 0}}, Reg: 0.5}
}

// TestBadRowsAtAnyReading: a solver reads the cost several times, and a matrix may be a program. Whenever a row is bad,
// there is an error that says so or an answer that holds for the good one; never a panic.
func TestBadRowsAtAnyReading(t *testing.T) {
	good := small(t)
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		bad  func(row []float64) []float64
		want error
	}{
		{"short", func(row []float64) []float64 { return row[:1] }, wpmerr.ErrShape},
		{"long", func(row []float64) []float64 { return append(row, 1) }, wpmerr.ErrShape},
		{"NaN", func(row []float64) []float64 { row[0] = math.NaN(); return row }, wpmerr.ErrNotFinite},
		{"negative", func(row []float64) []float64 { row[0] = -1; return row }, wpmerr.ErrNegative},
	} {
		for _, s := range []sinkhorn.Settings{{Method: sinkhorn.Paper, AllRows: true}, {AllRows: true},
			{Gap: 0.9, AllRows: true}, {}} {
			p := good
			seen := 0
			for n := 0; ; n++ {
				left := n
				p.Cost = moody{good.Cost.(*cost.Dense), tt.bad, &left}
				r, err := sinkhorn.Project(ctx, p, s)
				if left >= 0 { // the bad reading never came
					break
				}
				if seen++; err == nil {
					if _, _, err := sinkhorn.Verify(context.Background(), good, r); err != nil {
						t.Errorf("%s at reading %d, %v: no error, and %v", tt.name, n, s.Method, err)
					}
				} else if !errors.Is(err, tt.want) {
					t.Errorf("%s at reading %d, %v: %v, want %v", tt.name, n, s.Method, err, tt.want)
				}
			}
			if seen < 2 {
				t.Errorf("%v reads %d rows", s.Method, seen)
			}
		}
		r, err := sinkhorn.Project(ctx, good, sinkhorn.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 6 { // two passes over three rows; the upper bound needs those with mass only
			left, p := n, good
			p.Cost = moody{good.Cost.(*cost.Dense), tt.bad, &left}
			if _, _, err := sinkhorn.Verify(context.Background(), p, r); left < 0 && !errors.Is(err, tt.want) {
				t.Errorf("Verify, %s at reading %d: %v, want %v", tt.name, n, err, tt.want)
			}
		}
	}
}

// empty is a cost of any dimensions.
type empty struct{ k, kv int }

func (e empty) Dims() (k, kv int)                { return e.k, e.kv }
func (e empty) Row(_ int, _ []float64) []float64 { return nil }

// TestNoCost: nil of every kind, and costs without rows or columns.
func TestNoCost(t *testing.T) {
	p := small(t)
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []cost.Matrix{
		nil, (*cost.Dense)(nil), (*cost.Ring)(nil), (*cost.Grid)(nil), (*cost.Points)(nil), (*cost.Cosine)(nil),
		(*cost.GreatCircle)(nil),
		empty{0, 1}, empty{1, 0}, empty{-1, -1}, &cost.Dense{K: 1, Kv: 2, Data: []float64{1}},
	} {
		p.Cost = c
		_, project := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
		_, projector := sinkhorn.NewProjector(context.Background(), c, p.Lo, p.Hi, 1, sinkhorn.Settings{})
		_, reg := sinkhorn.RelativeReg(context.Background(), c, 0.1)
		_, _, verify := sinkhorn.Verify(context.Background(), p, r)
		for name, err := range map[string]error{"Project": project, "NewProjector": projector, "RelativeReg": reg,
			"Verify": verify} {
			if !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%s of %T: %v, want ErrShape", name, c, err)
			}
		}
	}
	for _, tt := range []struct {
		data []float64
		rho  float64
		want error
	}{
		{[]float64{0, math.NaN()}, 1, wpmerr.ErrNotFinite}, {[]float64{0, math.Inf(1)}, 1, wpmerr.ErrNotFinite},
		{[]float64{0, -1}, 1, wpmerr.ErrNegative},
		{[]float64{0, 1}, 0, wpmerr.ErrReg}, {[]float64{0, 1}, math.NaN(), wpmerr.ErrReg},
		{[]float64{0, 0}, 1, wpmerr.ErrReg}, {[]float64{0, 1e-320}, 1e-9, wpmerr.ErrReg},
	} {
		if _, err := sinkhorn.RelativeReg(context.Background(), &cost.Dense{K: 1, Kv: 2, Data: tt.data}, tt.rho); !errors.Is(err, tt.want) {
			t.Errorf("RelativeReg(%v, %v): %v, want %v", tt.data, tt.rho, err, tt.want)
		}
	}
}

// TestAllRows: rows without mass are not read unless that is asked for, and get the largest potential that costs allow
// which are only known to be >= 0.
func TestAllRows(t *testing.T) {
	p := small(t)
	for _, offset := range []float64{0, 100} { // with an offset the potentials of the columns may be positive
		_, err := cost.FromRows([][]float64{{0, 1, 4, 2}, {-1, -1, -1, -1}, {4, 1, 0, 2}})
		if err == nil {
			t.Fatal("negative costs are read")
		}
		c := &cost.Dense{K: 3, Kv: 4,
			Data: []float64{offset, 1 + offset, 4 + offset, 2, -1, -1, -1, -1, 4 + offset, 1 + offset, offset, 2}}
		p.Cost = c
		r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		top := 0.0
		for _, g := range r.Potentials.G {
			top = max(top, g)
		}
		if r.Potentials.F[1] != -top {
			t.Errorf("F[1] is %v, want %v", r.Potentials.F[1], -top)
		}
		if _, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{AllRows: true}); !errors.Is(err,
			wpmerr.ErrNegative) {
			t.Errorf("%v, want ErrNegative", err)
		}
		copy(c.Data[4:8], []float64{0, 0, 0, 0}) // the worst row that there can be
		if _, _, err := sinkhorn.Verify(context.Background(), p, r); err != nil {
			t.Error(err)
		}
	}
}

// TestVerifyHugeCosts: sums of costs and potentials beyond the range of floats are compared all the same.
func TestVerifyHugeCosts(t *testing.T) {
	p := small(t)
	big := math.MaxFloat64
	c, err := cost.FromRows([][]float64{{0, big, big, big}, {big, 0, big, big}, {big, big, 0, big}})
	if err != nil {
		t.Fatal(err)
	}
	p.Cost, p.Reg = c, big/8
	r, err := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sinkhorn.Verify(context.Background(), p, r); err != nil {
		t.Fatal(err)
	}
	for _, f := range []float64{big, r.Potentials.F[0] + big/4} {
		spoilt := r
		spoilt.Potentials.F = append([]float64{f}, r.Potentials.F[1:]...)
		if _, _, err := sinkhorn.Verify(context.Background(), p, spoilt); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("F[0] = %v instead of %v: %v, want ErrCertificate", f, r.Potentials.F[0], err)
		}
	}
}
