package cost_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	inf  = math.Inf(1)
	nan  = math.NaN()
	negz = math.Copysign(0, -1)
)

const maxF = math.MaxFloat64

// rows reads a whole matrix through a buffer that is dirty before every call.
func rows(m cost.Matrix) [][]float64 {
	k, kv := m.Dims()
	buf := make([]float64, kv)
	out := make([][]float64, k)
	for i := range out {
		for j := range buf {
			buf[j] = nan
		}
		out[i] = append([]float64(nil), m.Row(i, buf)...)
	}
	return out
}

func entry(m cost.Matrix, i, j int) float64 { return m.Row(i, nil)[j] }

// foreign is a Matrix from elsewhere.
type foreign struct {
	k, kv int
	rows  [][]float64
}

func (f foreign) Dims() (int, int)                 { return f.k, f.kv }
func (f foreign) Row(i int, _ []float64) []float64 { return f.rows[i] }

func TestDense(t *testing.T) {
	for _, c := range []struct {
		name  string
		k, kv int
		data  []float64
		want  error
		text  string
	}{
		{"1x1", 1, 1, []float64{0}, nil, ""},
		{"2x3", 2, 3, []float64{0, 1, 2, 3, 4, maxF}, nil, ""},
		{"minus zero", 1, 1, []float64{negz}, nil, ""},
		{"subnormal", 1, 1, []float64{5e-324}, nil, ""},
		{"no rows", 0, 3, nil, wpmerr.ErrShape, "0 x 3"},
		{"no columns", 3, 0, nil, wpmerr.ErrShape, "3 x 0"},
		{"negative size", -1, -1, []float64{1}, wpmerr.ErrShape, "-1 x -1"},
		{"short", 2, 2, []float64{1, 2, 3}, wpmerr.ErrShape, "3 numbers for a 2 x 2"},
		{"long", 2, 2, make([]float64, 5), wpmerr.ErrShape, "5 numbers"},
		{"product overflows", math.MaxInt/2 + 1, 4, []float64{}, wpmerr.ErrShape, "0 numbers"},
		{"negative", 2, 2, []float64{0, 1, 2, -3}, wpmerr.ErrNegative, "C[1][1] = -3"},
		{"NaN", 2, 2, []float64{0, nan, 2, 3}, wpmerr.ErrNotFinite, "C[0][1] = NaN"},
		{"Inf", 2, 2, []float64{0, 1, inf, 3}, wpmerr.ErrNotFinite, "C[1][0] = +Inf"},
		{"-Inf", 1, 1, []float64{-inf}, wpmerr.ErrNotFinite, "C[0][0] = -Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := cost.NewDense(c.k, c.kv, c.data)
			checkError(t, c.name, err, c.want, c.text)
			if (d == nil) != (err != nil) {
				t.Errorf("%s: matrix %v with error %v", c.name, d, err)
			}
		})
	}
	var e *cost.EntryError
	if _, err := cost.NewDense(1, 2, []float64{1, -2}); !errors.As(err, &e) || e.I != 0 || e.J != 1 || e.Value != -2 {
		t.Errorf("entry error is %+v", e)
	}
}

// checkError holds an error against a sentinel and a part of its text.
func checkError(t *testing.T, name string, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", name, err, want)
		return
	}
	if err != nil && !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %q does not say %q", name, err, text)
	}
}

func TestFromRows(t *testing.T) {
	in := [][]float64{{0, 1}, {2, 3}, {4, 5}}
	d, err := cost.FromRows(in)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "rows", rows(d), in)
	in[0][0] = 7
	if d.Data[0] != 0 {
		t.Error("FromRows keeps the caller's memory")
	}
	for _, c := range []struct {
		name string
		rows [][]float64
		want error
		text string
	}{
		{"nil", nil, wpmerr.ErrShape, "no rows"},
		{"empty row", [][]float64{{}}, wpmerr.ErrShape, "row 0 is empty"},
		{"ragged", [][]float64{{1, 2}, {1, 2}, {1}}, wpmerr.ErrShape, "row 2 has 1 numbers, row 0 has 2"},
		{"negative", [][]float64{{1}, {-1}}, wpmerr.ErrNegative, "C[1][0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cost.FromRows(c.rows)
			checkError(t, c.name, err, c.want, c.text)
		})
	}
	// One row many times over is small in memory, and its copy is not.
	row := make([]float64, 1<<16)
	many := make([][]float64, 1<<12)
	for i := range many {
		many[i] = row
	}
	_, err = cost.FromRows(many)
	checkError(t, "2^28 entries", err, wpmerr.ErrTooLarge, "65536")
}

func TestValidate(t *testing.T) {
	one := [][]float64{{1}}
	for _, c := range []struct {
		name string
		m    cost.Matrix
		want error
		text string
	}{
		{"nil", nil, wpmerr.ErrShape, "nil"},
		{"nil Dense", (*cost.Dense)(nil), wpmerr.ErrShape, "nil"},
		{"nil Ring", (*cost.Ring)(nil), wpmerr.ErrShape, "nil"},
		{"nil Grid", (*cost.Grid)(nil), wpmerr.ErrShape, "nil"},
		{"nil Points", (*cost.Points)(nil), wpmerr.ErrShape, "nil"},
		{"nil Cosine", (*cost.Cosine)(nil), wpmerr.ErrShape, "nil"},
		{"nil GreatCircle", (*cost.GreatCircle)(nil), wpmerr.ErrShape, "nil"},
		{"zero Dense", new(cost.Dense), wpmerr.ErrShape, "0 x 0"},
		{"zero Ring", new(cost.Ring), wpmerr.ErrShape, "0 x 0"},
		{"zero Grid", new(cost.Grid), wpmerr.ErrShape, "0 x 0"},
		{"zero Points", new(cost.Points), wpmerr.ErrShape, "0 x 0"},
		{"zero Cosine", new(cost.Cosine), wpmerr.ErrShape, "0 x 0"},
		{"zero GreatCircle", new(cost.GreatCircle), wpmerr.ErrShape, "0 x 0"},
		{"Dense without data", &cost.Dense{K: 2, Kv: 2}, wpmerr.ErrShape, "0 numbers for a 2 x 2"},
		{"Dense with NaN", &cost.Dense{K: 1, Kv: 2, Data: []float64{0, nan}}, wpmerr.ErrNotFinite, "C[0][1]"},
		{"foreign", foreign{1, 1, one}, nil, ""},
		{"foreign, no rows", foreign{0, 1, nil}, wpmerr.ErrShape, "0 x 1"},
		{"foreign, short row", foreign{2, 1, [][]float64{{1}, {}}}, wpmerr.ErrShape, "row 1 has 0 numbers, want 1"},
		{"foreign, negative", foreign{2, 1, [][]float64{{1}, {-1}}}, wpmerr.ErrNegative, "C[1][0] = -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkError(t, c.name, cost.Validate(context.Background(), c.m), c.want, c.text)
			d, err := cost.Materialize(context.Background(), c.m)
			checkError(t, "Materialize of "+c.name, err, c.want, c.text)
			if (d == nil) != (err != nil) {
				t.Errorf("Materialize of %s: %v with error %v", c.name, d, err)
			}
			hi, r := given.Max(c.m), given.Range(c.m)
			if bad := c.want != nil; math.IsNaN(hi) != bad || math.IsNaN(r) != bad {
				t.Errorf("%s: Max %v, Range %v", c.name, hi, r)
			}
			if _, ok := cost.Exponent(c.m); ok {
				t.Errorf("%s has an exponent", c.name)
			}
			if _, err := cost.SpecOf(context.Background(), c.m); err == nil {
				t.Errorf("%s has a Spec", c.name)
			}
		})
	}
}

// TestMaterializeCancelled: no more than 16 rows are read after the context has ended, of any matrix.
func TestMaterializeCancelled(t *testing.T) {
	for _, at := range []int{0, 1, 20, 100} {
		ctx, cancel := context.WithCancel(context.Background())
		read := 0
		m := stopping{foreign{200, 3, make([][]float64, 200)}, func() {
			if read++; read == at {
				cancel()
			}
		}}
		for i := range m.rows {
			m.rows[i] = []float64{1, 2, 3}
		}
		if at == 0 {
			cancel()
		}
		d, err := cost.Materialize(ctx, m)
		if d != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at row %d: %v, %v", at, d, err)
		}
		if read-at > 16 || at == 0 && read > 0 {
			t.Errorf("cancelled at row %d: %d rows read", at, read)
		}
		if d, err := cost.Materialize(ctx, &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}); at > 0 &&
			(d != nil || !errors.Is(err, context.Canceled)) {
			t.Errorf("a Dense: %v, %v", d, err)
		}
		cancel()
	}
	if d, err := cost.Materialize(nil, foreign{1, 1, [][]float64{{1}}}); err != nil || d.Data[0] != 1 {
		t.Errorf("without a context: %v, %v", d, err)
	}
}

// stopping is a Matrix that tells of every row.
type stopping struct {
	foreign
	tell func()
}

func (s stopping) Row(i int, buf []float64) []float64 {
	s.tell()
	return s.foreign.Row(i, buf)
}

func TestMaterialize(t *testing.T) {
	d := &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}
	if got, err := cost.Materialize(context.Background(), d); got != d || err != nil {
		t.Errorf("Materialize(Dense) = %p, %v, want %p", got, err, d)
	}
	big, err := cost.NewRing(1<<14, 1) // 2^28 entries
	if err != nil {
		t.Fatal(err)
	}
	_, err = cost.Materialize(context.Background(), big)
	checkError(t, "large", err, wpmerr.ErrTooLarge, "16384 x 16384")
	f := foreign{2, 2, [][]float64{{1, 2}, {3, 4}}}
	got, err := cost.Materialize(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "foreign", rows(got), f.rows)
	got.Data[0] = 9
	if f.rows[0][0] != 1 {
		t.Error("Materialize shares memory with the rows of a foreign matrix")
	}
}

func TestExponents(t *testing.T) {
	x := [][]float64{{0, 0}, {1, 1}}
	places := [][2]float64{{0, 0}, {1, 1}}
	for name, build := range map[string]func(p float64) (cost.Matrix, error){
		"ring":        func(p float64) (cost.Matrix, error) { return cost.NewRing(5, p) },
		"grid":        func(p float64) (cost.Matrix, error) { return cost.NewGrid(2, 3, p) },
		"points":      func(p float64) (cost.Matrix, error) { return cost.NewPoints(x, nil, p) },
		"greatcircle": func(p float64) (cost.Matrix, error) { return cost.NewGreatCircle(places, nil, p) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []float64{0, negz, -1, nan, inf, -inf} {
				_, err := build(p)
				checkError(t, fmt.Sprintf("%s p = %v", name, p), err, cost.ErrExponent, fmt.Sprint(p))
			}
			for _, p := range []float64{1e-300, 0.5, 1, 1.5, 2, 3, 4} {
				m, err := build(p)
				if err != nil {
					t.Errorf("%s p = %v: %v", name, p, err)
					continue
				}
				if q, ok := cost.Exponent(m); q != p || !ok {
					t.Errorf("%s: Exponent = %v, %v, want %v", name, q, ok, p)
				}
				if d := entry(m, 0, 0); d != 0 {
					t.Errorf("%s p = %v: diagonal %v", name, p, d)
				}
			}
		})
	}
}

// A power that overflows is an error at once, and one that nearly does is not.
func TestOverflow(t *testing.T) {
	line := [][]float64{{0}, {2}}
	places := [][2]float64{{0, 0}, {0, 1}, {0, 180}}
	for _, c := range []struct {
		name  string
		build func() (cost.Matrix, error)
		want  error
	}{
		{"ring", func() (cost.Matrix, error) { return cost.NewRing(5, 1023) }, nil}, // 2^1023
		{"ring over", func() (cost.Matrix, error) { return cost.NewRing(5, 1024) }, wpmerr.ErrNotFinite},
		{"ring of ones", func() (cost.Matrix, error) { return cost.NewRing(3, 1e300) }, nil}, // d <= 1
		{"grid", func() (cost.Matrix, error) { return cost.NewGrid(30, 30, 2000) }, nil},
		{"grid over", func() (cost.Matrix, error) { return cost.NewGrid(30, 30, 3000) }, wpmerr.ErrNotFinite},
		{"points", func() (cost.Matrix, error) { return cost.NewPoints(line, nil, 1023) }, nil},
		{"points over", func() (cost.Matrix, error) { return cost.NewPoints(line, nil, 1024) }, wpmerr.ErrNotFinite},
		{"points, difference over",
			func() (cost.Matrix, error) { return cost.NewPoints([][]float64{{maxF}, {-maxF}}, nil, 1) }, wpmerr.ErrNotFinite},
		{"points, norm over", func() (cost.Matrix,
			error) {
			return cost.NewPoints([][]float64{{maxF, maxF}, {0, 0}}, nil, 1)
		}, wpmerr.ErrNotFinite},
		{"points, square over", func() (cost.Matrix, error) { return cost.NewPoints([][]float64{{1e200}, {0}}, nil, 2) },
			wpmerr.ErrNotFinite},
		{"points, square not over", func() (cost.Matrix, error) { return cost.NewPoints([][]float64{{1e200}, {0}}, nil, 1) },
			nil},
		{"points, far box but near pairs", func() (cost.Matrix, error) {
			return cost.NewPoints([][]float64{{0}, {1e200}}, [][]float64{{0.5e200}}, 1.5)
		}, nil},
		{"places", func() (cost.Matrix, error) { return cost.NewGreatCircle(places, nil, 70) }, nil},
		{"places over", func() (cost.Matrix, error) { return cost.NewGreatCircle(places, nil, 72) }, wpmerr.ErrNotFinite},
		{"near places", func() (cost.Matrix, error) { return cost.NewGreatCircle(places[:2], nil, 150) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := c.build()
			checkError(t, c.name, err, c.want, "")
			if err == nil {
				for _, r := range rows(m) {
					for _, x := range r {
						if !(x >= 0 && x <= maxF) {
							t.Errorf("%s: entry %v", c.name, x)
						}
					}
				}
			}
		})
	}
}

func TestRing(t *testing.T) {
	m, err := cost.NewRing(5, 2)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "ring 5", rows(m), [][]float64{
		{0, 1, 4, 4, 1}, {1, 0, 1, 4, 4}, {4, 1, 0, 1, 4}, {4, 4, 1, 0, 1}, {1, 4, 4, 1, 0},
	})
	if m.N() != 5 || m.P() != 2 || given.Max(m) != 4 || given.Range(m) != 4 {
		t.Errorf("N %d, P %v, Max %v, Range %v", m.N(), m.P(), given.Max(m), given.Range(m))
	}
	m, err = cost.NewRing(1, 1)
	if err != nil || entry(m, 0, 0) != 0 || given.Range(m) != 0 {
		t.Errorf("ring of one point: %v, %v", m, err)
	}
	for _, n := range []int{0, -1, math.MinInt} {
		_, err := cost.NewRing(n, 1)
		checkError(t, fmt.Sprint(n), err, wpmerr.ErrShape, fmt.Sprint(n))
	}
	for _, n := range []int{cost.MaxPoints + 1, math.MaxInt} {
		_, err := cost.NewRing(n, 1)
		checkError(t, fmt.Sprint(n), err, wpmerr.ErrTooLarge, fmt.Sprint(n))
	}
}

func TestRowPanics(t *testing.T) {
	ring, _ := cost.NewRing(3, 1)
	grid, _ := cost.NewGrid(1, 3, 1)
	points, _ := cost.NewPoints([][]float64{{0}, {1}, {2}}, nil, 1)
	cosine, _ := cost.NewCosine([][]float64{{0}, {1}, {2}}, nil)
	circle, _ := cost.NewGreatCircle(make([][2]float64, 3), nil, 1)
	for _, m := range []cost.Matrix{ring, grid, points, cosine, circle} {
		for _, i := range []int{-1, 3} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%T: Row(%d) of 3 did not panic", m, i)
					}
				}()
				m.Row(i, nil)
			}()
		}
	}
}

// Every entry of the grid against exact arithmetic.
func TestGrid(t *testing.T) {
	for _, s := range []struct{ rows, cols int }{{1, 1}, {1, 7}, {7, 1}, {2, 3}, {4, 6}, {5, 5}, {3, 10}} {
		square, err := cost.NewGrid(s.rows, s.cols, 2)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := cost.NewGrid(s.rows, s.cols, 1)
		if err != nil {
			t.Fatal(err)
		}
		if r, c := plain.Size(); r != s.rows || c != s.cols {
			t.Errorf("Size = %d, %d, want %v", r, c, s)
		}
		r2, r1 := rows(square), rows(plain)
		centre := func(i int) (x, y *big.Rat) {
			return big.NewRat(int64(2*(i%s.cols)+1), int64(2*s.cols)), big.NewRat(int64(2*(i/s.cols)+1), int64(2*s.rows))
		}
		for i := range r2 {
			for j := range r2[i] {
				xi, yi := centre(i)
				xj, yj := centre(j)
				dx, dy := xi.Sub(xi, xj), yi.Sub(yi, yj)
				d2 := new(big.Rat).Add(dx.Mul(dx, dx), dy.Mul(dy, dy))
				if want, _ := d2.Float64(); r2[i][j] != want {
					t.Errorf("%v: C[%d][%d] = %v, want %v correctly rounded", s, i, j, r2[i][j], want)
				}
				want := new(big.Float).SetPrec(200).SetRat(d2)
				f, _ := want.Sqrt(want).Float64()
				numtest.Near(t, fmt.Sprintf("%v C[%d][%d]", s, i, j), r1[i][j], f,
					numtest.Tol{Rel: 0x1p-51, Why: "two roundings, and one of the reference"})
			}
		}
	}
	for _, c := range []struct {
		rows, cols int
		want       error
	}{
		{0, 1, wpmerr.ErrShape}, {1, 0, wpmerr.ErrShape}, {-3, -3, wpmerr.ErrShape},
		{cost.MaxPoints, 2, wpmerr.ErrTooLarge}, {math.MaxInt, 1, wpmerr.ErrTooLarge}, {1 << 16, 1 << 16, wpmerr.ErrTooLarge},
	} {
		_, err := cost.NewGrid(c.rows, c.cols, 1)
		checkError(t, fmt.Sprint(c), err, c.want, "")
	}
}

// Ties are ties: entries depend on the displacement, and on the distance, alone.
func TestGridTies(t *testing.T) {
	for _, p := range []float64{0.7, 1, 2, 3, 4} {
		m, err := cost.NewGrid(6, 6, p)
		if err != nil {
			t.Fatal(err)
		}
		// (3,4) and (5,0) are both at 5 cells; (1,2) and (2,1) too.
		if a, b := entry(m, 0, 3*6+4), entry(m, 0, 5); a != b {
			t.Errorf("p = %v: costs at distance 5 differ: %v, %v", p, a, b)
		}
		for i := range 36 {
			for j := range 36 {
				dr, dc := i/6-j/6, i%6-j%6
				if a, b := entry(m, i, j), entry(m, 0, abs(dc)*6+abs(dr)); a != b {
					t.Errorf("p = %v: C[%d][%d] = %v, but %v at the same displacement", p, i, j, a, b)
				}
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

func TestPoints(t *testing.T) {
	m, err := cost.NewPoints([][]float64{{0, 0}, {3, 4}}, [][]float64{{0, 0}, {0, 4}, {6, 8}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "p = 1", rows(m), [][]float64{{0, 4, 10}, {5, 3, 5}})
	if k, kv := m.Dims(); k != 2 || kv != 3 || m.Dim() != 2 || given.Max(m) != 10 || given.Range(m) != 10 {
		t.Errorf("Dims %d, %d, Dim %d, Max %v, Range %v", k, kv, m.Dim(), given.Max(m), given.Range(m))
	}
	m, err = cost.NewPoints([][]float64{{1e8, 1}, {1e8 + 1, 3}}, nil, 4)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "p = 4 on integers is exact", rows(m), [][]float64{{0, 25}, {25, 0}})

	for _, c := range []struct {
		name string
		x, v [][]float64
		want error
		text string
	}{
		{"none", nil, nil, wpmerr.ErrShape, "x = 0"},
		{"empty v", [][]float64{{1}}, [][]float64{}, wpmerr.ErrShape, "v = 0"},
		{"no coordinates", [][]float64{{}}, nil, wpmerr.ErrShape, "point x 0 is empty"},
		{"ragged x", [][]float64{{1, 2}, {1}}, nil, wpmerr.ErrShape, "point x 1 has 1 numbers"},
		{"ragged v", [][]float64{{1}}, [][]float64{{1}, {1, 2}}, wpmerr.ErrShape, "point v 1 has 2"},
		{"dimensions", [][]float64{{1}}, [][]float64{{1, 2}}, wpmerr.ErrShape, "x have 1 coordinates, points v have 2"},
		{"NaN", [][]float64{{1, nan}}, nil, cost.ErrPoint, "x[0][1] = NaN"},
		{"Inf", [][]float64{{1}}, [][]float64{{1}, {-inf}}, cost.ErrPoint, "v[1][0] = -Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cost.NewPoints(c.x, c.v, 1)
			checkError(t, "points: "+c.name, err, c.want, c.text)
			_, err = cost.NewCosine(c.x, c.v)
			checkError(t, "cosine: "+c.name, err, c.want, c.text)
		})
	}
}

func TestCosine(t *testing.T) {
	x := [][]float64{{1, 0}, {0, 2}, {-3, 0}, {0, 0}, {1e300, 1e300}, {5e-324, 5e-324}, {1, 1e-9}, {maxF, 0}}
	m, err := cost.NewCosine(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := rows(m)
	for _, c := range []struct {
		i, j int
		want float64
	}{
		{0, 0, 0}, {0, 1, 1}, {0, 2, 2}, {0, 3, 1}, {3, 0, 1},
		{3, 3, 1}, // a zero vector, by definition
		{4, 5, 0}, // (1,1) at both ends of the range
		{0, 7, 0},
		{0, 6, 5e-19}, // 1 - cos would give 0
	} {
		numtest.Near(t, fmt.Sprintf("C[%d][%d]", c.i, c.j), got[c.i][c.j], c.want,
			numtest.Tol{Rel: 10 * 0x1p-52, Why: "(n + 8) roundings"})
	}
	for i := range got {
		for j := range got {
			if got[i][j] != got[j][i] || !(got[i][j] >= 0 && got[i][j] <= 2) {
				t.Errorf("C[%d][%d] = %v, C[%d][%d] = %v", i, j, got[i][j], j, i, got[j][i])
			}
		}
		if i != 3 && got[i][i] != 0 {
			t.Errorf("C[%d][%d] = %v, want 0", i, i, got[i][i])
		}
	}
	// Opposite vectors, whose computed distance is above 2 about as often as below.
	g := numtest.NewSplitMix64(3)
	for range 200 {
		x := []float64{g.Float64(), g.Float64(), g.Float64()}
		m, err := cost.NewCosine([][]float64{x}, [][]float64{{-x[0], -x[1], -x[2]}})
		if err != nil {
			t.Fatal(err)
		}
		if c := entry(m, 0, 0); !(c <= 2 && c >= 2-11*0x1p-52) { // the documented (n+8)·2^-52
			t.Fatalf("distance of %v from its opposite = %v", x, c)
		}
	}
	if p, ok := cost.Exponent(m); m.Dim() != 2 || p != 0 || ok {
		t.Errorf("Dim = %d, Exponent = %v, %v", m.Dim(), p, ok)
	}
}

func TestGreatCircle(t *testing.T) {
	var golden struct {
		Tool, Command string
		Digits        int
		Pairs         []struct {
			Name string
			A, B [2]float64
			Km   string
		}
	}
	numtest.LoadJSON(t, "testdata/greatcircle.json", &golden)
	if len(golden.Pairs) == 0 {
		t.Fatal("no golden pairs")
	}
	for _, c := range golden.Pairs {
		for _, kind := range []string{"greatcircle", "greatcircle-2"} {
			m, err := cost.Spec{Kind: kind, X: [][]float64{c.A[:]}, V: [][]float64{c.B[:]}}.Build()
			if err != nil {
				t.Fatal(err)
			}
			name := kind + ", " + c.Name
			got, want := entry(m, 0, 0), numtest.ParseRat(t, c.Km)
			numtest.NearRat(t, name, got, want, numtest.Tol{
				Abs: 1.5e-11,
				Why: "documented: half the sum of latitudes, and each coordinate of a vector, is rounded to 2^-53 or better, " +
					"at most ten such roundings times 2R",
			})
			if want.Sign() == 0 && got != 0 {
				t.Errorf("%s = %v, want exactly 0", name, got)
			}
			// Near places, where the difference of latitudes is small, keep relative digits with haversines.
			if f, _ := want.Float64(); kind == "greatcircle" && f > 0 && f < 1 && c.A[1] == c.B[1] {
				numtest.NearRat(t, name, got, want,
					numtest.Tol{Rel: 0x1p-50, Why: "a few roundings; the difference of latitudes is exact"})
			}
		}
	}
	pole := [][2]float64{{90, 0}, {90, 123.4}, {90, -180}}
	m, err := cost.NewGreatCircle(pole, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := given.Max(m); got != 0 {
		t.Errorf("distance between longitudes of the pole: %v, want 0", got)
	}
	for _, c := range []struct {
		name string
		x, v [][2]float64
		want error
		text string
	}{
		{"none", nil, nil, wpmerr.ErrShape, "x = 0"},
		{"empty v", pole, [][2]float64{}, wpmerr.ErrShape, "v = 0"},
		{"latitude", [][2]float64{{0, 0}, {90.5, 0}}, nil, cost.ErrPoint, "latitude x[1][0] = 90.5"},
		{"latitude NaN", [][2]float64{{nan, 0}}, nil, cost.ErrPoint, "NaN"},
		{"longitude", pole, [][2]float64{{0, 361}}, cost.ErrPoint, "longitude v[0][1] = 361"},
		{"longitude low", [][2]float64{{0, -181}}, nil, cost.ErrPoint, "-181"},
		{"longitude Inf", [][2]float64{{0, inf}}, nil, cost.ErrPoint, "Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cost.NewGreatCircle(c.x, c.v, 1)
			checkError(t, c.name, err, c.want, c.text)
		})
	}
}

// TestGreatCircleFormulas: both formulas agree on random places, near ones and antipodes, within what both state, and
// each is exactly symmetric.
func TestGreatCircleFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat := rapid.Float64Range(-90, 90).Draw(t, "lat")
		lon := rapid.Float64Range(-180, 180).Draw(t, "lon")
		by := rapid.SampledFrom([]float64{1e-12, 1e-6, 1e-3, 1, 30, 90}).Draw(t, "by")
		near := func(name string, v, most float64) float64 {
			return min(most, max(-most, v+by*rapid.Float64Range(-1, 1).Draw(t, name)))
		}
		b := []float64{near("b lat", lat, 90), near("b lon", lon, 180)}
		if rapid.Bool().Draw(t, "antipode") {
			b[0] = -b[0]
			if b[1] += 180; b[1] > 360 {
				b[1] -= 360
			}
		}
		x := [][]float64{{lat, lon}, b}
		var d [2]float64
		for n, kind := range []string{"greatcircle", "greatcircle-2"} {
			m, err := cost.Spec{Kind: kind, X: x}.Build()
			if err != nil {
				t.Fatal(err)
			}
			d[n] = entry(m, 0, 1)
			if back := entry(m, 1, 0); back != d[n] || entry(m, 0, 0) != 0 || entry(m, 1, 1) != 0 {
				t.Errorf("%s: %v there and %v back, %v and %v to itself", kind, d[n], back, entry(m, 0, 0), entry(m, 1, 1))
			}
		}
		if !(math.Abs(d[0]-d[1]) <= 3e-11) { // 1.5e-11 each, see TestGreatCircle
			t.Errorf("%v and %v", d[0], d[1])
		}
	})
}

// Rows in the buffers of many goroutines are the rows of one.
func TestConcurrentRows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, m := range samples(t) {
		want := rows(m)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { numtest.Equal(t, fmt.Sprintf("%T", m), rows(m), want) })
		}
		wg.Wait()
	}
}

// samples has one matrix of each structured type, with 12 rows.
func samples(t testing.TB) []cost.Matrix {
	g := numtest.NewSplitMix64(5)
	x := make([][]float64, 12)
	places := make([][2]float64, 12)
	for i := range x {
		x[i] = []float64{g.Float64(), g.Float64() - 0.5, 10 * g.Float64()}
		places[i] = [2]float64{180*g.Float64() - 90, 540*g.Float64() - 180}
	}
	ring, err1 := cost.NewRing(12, 1.5)
	grid, err2 := cost.NewGrid(3, 4, 1)
	points, err3 := cost.NewPoints(x, nil, 3)
	cosine, err4 := cost.NewCosine(x, nil)
	circle, err5 := cost.NewGreatCircle(places, nil, 1)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	return []cost.Matrix{ring, grid, points, cosine, circle}
}

// The buffer is used if it is long enough, and memory beyond its length never.
func TestRowBuffer(t *testing.T) {
	for _, m := range samples(t) {
		want := m.Row(3, nil)
		big := make([]float64, 40)
		for i := range big {
			big[i] = 7
		}
		got := m.Row(3, big[:20])
		numtest.SameBits(t, fmt.Sprintf("%T", m), got, want)
		if &got[0] != &big[0] {
			t.Errorf("%T: a long enough buffer is not used", m)
		}
		for i := range big {
			big[i] = 7
		}
		got = m.Row(3, big[:5])
		numtest.SameBits(t, fmt.Sprintf("%T", m), got, want)
		for i, x := range big {
			if x != 7 {
				t.Errorf("%T: wrote to big[%d] although the buffer has length 5", m, i)
			}
		}
	}
}
