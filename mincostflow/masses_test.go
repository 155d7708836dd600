package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestMassesInAnyUnit: masses that differ by a power of two only are one distribution, and give one result, bit for
// bit, unless they fall below the normal range.
func TestMassesInAnyUnit(t *testing.T) {
	for seed := range uint64(60) {
		d := newDraw(seed + 97e6)
		p := d.problem(9)
		want := mustProject(t, p, Settings{})
		least := 1.0
		for _, m := range p.Source {
			if m > 0 {
				least = min(least, m)
			}
		}
		if least < 0x1p-60 {
			continue
		}
		for _, e := range []int{-900, -1, 1, 300, 1022} {
			scaled := p
			scaled.Source = slices.Clone(p.Source)
			for n := range scaled.Source {
				scaled.Source[n] = math.Ldexp(p.Source[n], e)
			}
			if got := mustProject(t, scaled, Settings{}); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d times 2^%d: %+v, want %+v", seed, e, got, want)
			}
		}
	}
}

// TestOddMasses: whatever finite masses there are, the answer is that to their exact proportions. mustProject has it
// verified in rationals.
func TestOddMasses(t *testing.T) {
	const tiny, huge = math.SmallestNonzeroFloat64, math.MaxFloat64
	c := dense(t, []float64{0, 1, 4}, []float64{1, 0, 1}, []float64{4, 1, 0})
	lo, hi := []float64{0.25, 0.25, 0.25}, []float64{0.5, 0.5, 0.5}
	for _, x := range []struct {
		name   string
		source []float64
		want   float64
	}{
		// A point mass sends 1/4 on to the middle at 1 and 1/4 at 4, or moves from the middle 1/2 at 1.
		{"counts", []float64{7, 0, 0}, 1.25},
		{"a count and dust", []float64{0, 3e15, tiny}, 0.5},
		{"two of the largest", []float64{huge, huge, 0}, 0.25},
		{"all of the largest", []float64{huge, huge, huge}, 0},
		{"two of the smallest", []float64{tiny, tiny, 0}, 0.25},
		{"one of the smallest", []float64{0, tiny, 0}, 0.5},
		{"the largest and the smallest", []float64{huge, tiny, huge}, 0.25},
		{"subnormal", []float64{3 * tiny, tiny, 0}, 0.5},
		{"far apart", []float64{0x1p-1000, 0x1p1000, 0x1p-20}, 0.5},
	} {
		p := Problem{Cost: c, Source: x.source, Lo: lo, Hi: hi}
		r := mustProject(t, p, Settings{})
		tol := numtest.Tol{Abs: 1e-15, Why: "roundings of one objective"}
		numtest.Near(t, x.name, r.Objective, x.want, tol)
	}
	for seed := range uint64(numtest.Cases(100, 300)) {
		d := newDraw(seed + 98e6)
		p := d.problem(7)
		p.Source = slices.Clone(p.Source)
		any := false
		for n := range p.Source {
			switch d.Intn(4) {
			case 0:
				p.Source[n] = 0
			case 1:
				p.Source[n] = float64(d.Intn(1000))
			case 2:
				p.Source[n] = math.Ldexp(d.Float64(), -1074+d.Intn(2099))
			default:
				p.Source[n] = math.Ldexp(1+d.Float64(), -1074+d.Intn(175))
			}
			any = any || p.Source[n] > 0
		}
		if !any {
			continue
		}
		mustProject(t, p, Settings{})
		a := p.Source
		if p.Support != nil {
			continue
		}
		_, kv := p.Cost.Dims()
		b := make([]float64, kv)
		for j := range b {
			b[j] = math.Ldexp(1+d.Float64(), -1074+d.Intn(2098))
		}
		mustTransport(t, p.Cost, a, b)
	}
}

// TestTransportUniform: nil is uniform, on either side, for the solver and for the verifier.
func TestTransportUniform(t *testing.T) {
	c := &cost.Dense{K: 3, Kv: 4, Data: []float64{0, 1, 2, 3, 1, 0, 1, 2, 3, 1, 0, 5}}
	ones := func(n int) []float64 { return repeat(1, n) }
	want := mustTransport(t, c, ones(3), ones(4))
	for name, ab := range map[string][2][]float64{
		"source": {nil, repeat(7, 4)}, "target": {repeat(0.1, 3), nil}, "both": {nil, nil},
	} {
		got := mustTransport(t, c, ab[0], ab[1])
		if got.Objective != want.Objective || !slices.Equal(got.Q, want.Q) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		got.Potentials.F = got.Potentials.F[:2]
		if _, _, err := VerifyTransport(context.Background(), c, ab[0], ab[1], got); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("%s, potentials too short: %v", name, err)
		}
	}
	if _, err := Transport(context.Background(), nil, nil, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
	if _, _, err := VerifyTransport(context.Background(), nil, nil, nil, Result{}); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
}

// TestMassErrors: errors name the entry and its value.
func TestMassErrors(t *testing.T) {
	c := dense(t, []float64{0, 1}, []float64{1, 0})
	for _, x := range []struct {
		source []float64
		want   error
		text   string
	}{
		{[]float64{1, -2}, wpmerr.ErrNegative, "Source[1] = -2"},
		{[]float64{math.NaN(), 1}, wpmerr.ErrNotFinite, "Source[0] = NaN"},
		{[]float64{1, math.Inf(1)}, wpmerr.ErrNotFinite, "Source[1] = +Inf"},
		{[]float64{0, math.Copysign(0, -1)}, wpmerr.ErrMass, "sum to 0"},
	} {
		p := Problem{Cost: c, Source: x.source, Lo: []float64{0, 0}, Hi: []float64{1, 1}}
		_, err := Project(context.Background(), p, Settings{})
		if !errors.Is(err, x.want) || !strings.Contains(fmt.Sprint(err), x.text) {
			t.Errorf("%v: %v", x.source, err)
		}
		p.Source = []float64{1, 1}
		r := mustProject(t, p, Settings{})
		p.Source = x.source
		if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, x.want) {
			t.Errorf("%v: Verify says %v", x.source, err)
		}
	}
}

// unitTol: the sums of the floats below are off 1 by up to 2^-53, and one entry makes up for that
// and for the rounding of 49 others to 2^-61.
const unitTol = 0x1p-53 + 49*0x1p-61

func TestBoxUnits(t *testing.T) {
	third := 1.0 / 3
	for _, c := range []struct {
		name   string
		lo, hi []float64
	}{
		{"thirds", repeat(third, 3), repeat(third, 3)},
		{"thirds and room", repeat(third, 3), repeat(2*third, 3)},
		{"tiny", []float64{1e-300, 1}, []float64{1e-300, 1}},
		{"tiny and room", []float64{1e-300, 0}, []float64{2e-300, 1}},
		{"many", repeat(1.0/49, 49), repeat(1.0/49, 49)},
		{"huge", []float64{0, 0}, []float64{1e12, math.MaxFloat64}},
		{"nothing", []float64{0, 0, 0.5}, []float64{0, 1, 0.5}},
	} {
		low, room := make([]uint64, len(c.lo)), make([]uint64, len(c.lo))
		boxUnits(c.lo, c.hi, low, room)
		var sumLow, sumHigh uint64
		for j := range low {
			sumLow += low[j]
			sumHigh = min(sumHigh, unit) + min(low[j]+min(room[j], unit), unit)
			if (c.lo[j] == c.hi[j]) != (room[j] == 0) {
				t.Errorf("%s: column %d in [%v, %v] has room %d", c.name, j, c.lo[j], c.hi[j], room[j])
			}
			if c.lo[j] > 0 && low[j] < 1 {
				t.Errorf("%s: column %d needs %v but has lower bound %d", c.name, j, c.lo[j], low[j])
			}
			if d := math.Ldexp(float64(low[j]), -unitBits) - c.lo[j]; math.Abs(d) > unitTol {
				t.Errorf("%s: column %d: lower bound off by %g", c.name, j, d)
			}
		}
		if sumLow > unit || sumHigh < unit {
			t.Errorf("%s: units sum to [%d, %d], want %d between", c.name, sumLow, sumHigh, int64(unit))
		}
	}
}

func TestSourceUnits(t *testing.T) {
	mu := append(repeat(1.0/49, 49), 1e-300)
	in := &instance{Instance: projection.Instance{K: len(mu)}}
	if err := in.setSource(mu, nil); err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, 50)
	sourceUnits(in.Mass, got)
	var sum uint64
	for i, u := range got {
		sum += u
		if d := math.Ldexp(float64(u), -unitBits) - mu[i]; math.Abs(d) > unitTol {
			t.Errorf("row %d: off by %g", i, d)
		}
	}
	if sum != unit {
		t.Errorf("sum %d, want %d", sum, int64(unit))
	}
}
