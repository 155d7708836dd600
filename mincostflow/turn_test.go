package mincostflow

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// turnedCost is c with its sides exchanged.
func turnedCost(c *cost.Dense) *cost.Dense {
	t := &cost.Dense{K: c.Kv, Kv: c.K, Data: make([]float64, len(c.Data))}
	for i := range c.K {
		for j := range c.Kv {
			t.Data[j*c.K+i] = c.Data[i*c.Kv+j]
		}
	}
	return t
}

// tallProblem draws plain transport of many rows to few columns.
func (d draw) tallProblem(kind string, k, n int) (c *cost.Dense, a, b []float64) {
	c = &cost.Dense{K: k, Kv: n, Data: make([]float64, k*n)}
	scale := map[string]float64{"tiny": 0x1p-1060, "huge": 0x1p1023}[kind]
	for at := range c.Data {
		switch c.Data[at] = d.Float64(); kind {
		case "ties":
			c.Data[at] = float64(d.Intn(3))
		case "tiny", "huge":
			c.Data[at] *= scale
		case "far": // few costs dwarf the others
			if d.Intn(10) == 0 {
				c.Data[at] *= 1e12
			}
		}
	}
	a, b = make([]float64, k), make([]float64, n)
	for _, x := range [][]float64{a, b} {
		for i := range x {
			switch x[i] = 1e-3 + d.Float64(); {
			case kind == "ties":
				x[i] = 1
			case kind == "idle" && d.Intn(3) == 0:
				x[i] = 0
			case kind == "light" && d.Intn(3) == 0:
				x[i] = 0x1p-1000
			}
		}
	}
	a[0], b[0], b[n-1] = 1, 1, 1
	return c, a, b
}

// tall reports whether Transport exchanges the sides of a problem.
func tall(t *testing.T, c cost.Matrix, a, b []float64) bool {
	t.Helper()
	s := new(solver)
	if err := s.in.setTransport(c, a, b); err != nil {
		t.Fatal(err)
	}
	if err := s.load(context.Background(), nil, 0); err != nil {
		t.Fatal(err)
	}
	return s.in.tall()
}

// TestTurnedHasTheSameCost: many rows to few columns cost what few rows to many columns do, and either proves its own
// cost, of costs and masses of all kinds.
func TestTurnedHasTheSameCost(t *testing.T) {
	for _, kind := range []string{"random", "ties", "tiny", "huge", "far", "idle", "light"} {
		t.Run(kind, func(t *testing.T) {
			for seed := range numtest.Cases(3, 20) {
				d := newDraw(uint64(seed) + 21e6)
				n := 2 + d.Intn(7)
				c, a, b := d.tallProblem(kind, 2*turnRows+d.Intn(50), n)
				if !tall(t, c, a, b) || tall(t, turnedCost(c), b, a) {
					t.Fatal("the sides are not exchanged, or they are in both problems")
				}
				r, o := mustTransport(t, c, a, b), mustTransport(t, turnedCost(c), b, a)
				if r.Lower > o.Upper || o.Lower > r.Upper {
					t.Errorf("cost in [%v, %v], with sides exchanged in [%v, %v]", r.Lower, r.Upper, o.Lower, o.Upper)
				}
				if r.Status != Optimal || r.Stats.Sweeps == 0 {
					t.Errorf("%v after %+v", r.Status, r.Stats)
				}
				if again := mustTransport(t, computed{c, new(atomic.Int64)}, a, b); !reflect.DeepEqual(again, r) {
					t.Error("other bits from costs that are computed")
				}
			}
		})
	}
}

// TestTall: which problems are solved with their sides exchanged.
func TestTall(t *testing.T) {
	one := func(n, at int) []float64 { // has half of all mass at one place
		x := make([]float64, n)
		for i := range x {
			x[i] = 1
		}
		x[at] = float64(n)
		return x
	}
	for _, x := range []struct {
		name string
		k, n int
		a, b []float64
		want bool
	}{
		{"4000 x 20", 4000, 20, nil, nil, true},
		{"20 x 4000", 20, 4000, nil, nil, false},
		{"one column", 4000, 1, nil, nil, false},
		{"few rows", turnRows - 1, 2, nil, nil, false},
		{"as many as the square", 900, 30, nil, nil, true},
		{"fewer than the square", 899, 30, nil, nil, false},
		{"a heavy row", 4000, 20, one(4000, 7), nil, false},
		{"a heavy column", 4000, 20, nil, one(20, 7), true},
	} {
		if c := (&cost.Dense{K: x.k, Kv: x.n, Data: make([]float64, x.k*x.n)}); tall(t, c, x.a, x.b) != x.want {
			t.Errorf("%s: want %v", x.name, x.want)
		}
	}
}

// TestTurnedSavesPivots: 4000 rows and 20 columns took 3.4 pivots for each row. With sides exchanged, it is as many as 20
// rows and 4000 columns take, and a workspace that Project uses next does not exchange its sides.
func TestTurnedSavesPivots(t *testing.T) {
	c, a, b := newDraw(22e6).tallProblem("random", 4000, 20)
	r, o := mustTransport(t, c, a, b), mustTransport(t, turnedCost(c), b, a)
	if r.Stats != o.Stats || r.Stats.Pivots > 1000 {
		t.Errorf("%+v, with sides exchanged %+v", r.Stats, o.Stats)
	}
	lo, hi := box(uniform(20), 1)
	p := Problem{Cost: c, Source: a, Lo: lo, Hi: hi}
	want, err := bySimplex(p, math.MaxInt)
	if got := mustProject(t, p, Settings{}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Project after Transport is another than by a new workspace; %v", err)
	}
}

// TestTurnedStops: wherever the context ends, what there is holds, and errors name rows and columns as they were given.
func TestTurnedStops(t *testing.T) {
	c, a, b := newDraw(23e6).tallProblem("idle", 700, 4)
	for left := 0; ; left += 1 + left/8 {
		r, err := Transport(&numtest.Asked{Context: context.Background(), Most: left}, c, a, b)
		if err == nil {
			break
		}
		if !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if r.Status != Cancelled {
			continue // before the costs were read
		}
		if _, _, err := VerifyTransport(context.Background(), c, a, b, r); err != nil {
			t.Fatalf("stopped at look %d: %v", left, err)
		}
	}
	a[600] = 1
	c.Data[600*4+3] = -1
	if _, err := Transport(context.Background(), c, a, b); !errors.Is(err, wpmerr.ErrNegative) ||
		!strings.Contains(err.Error(), "600") {
		t.Errorf("a negative cost in row 600: %v", err)
	}
}

// TestTurnedSameBits: the number of processors changes nothing.
func TestTurnedSameBits(t *testing.T) {
	c, a, b := newDraw(24e6).tallProblem("ties", 9000, 20)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := mustTransport(t, c, a, b)
	runtime.GOMAXPROCS(8)
	if o := mustTransport(t, c, a, b); !reflect.DeepEqual(r, o) {
		t.Error("1 and 8 processors give other bits")
	}
}
