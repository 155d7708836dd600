package projection

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

const (
	most  = math.MaxFloat64
	least = math.SmallestNonzeroFloat64
)

func rat(x num.Twofold) *big.Rat { return new(big.Rat).Add(num.Rat(x.Hi), num.Rat(x.Lo)) }

// TestSource: masses in any unit are their exact parts of the whole, to twofold accuracy or LostMass.
func TestSource(t *testing.T) {
	var s Source // reused from one to the next
	for _, tt := range []struct {
		source  []float64
		support []int
	}{
		{[]float64{1, 0, 3}, nil}, {[]float64{0.1, 0.2, 0.7}, []int{0, 4, 9}}, {[]float64{0, 1}, []int{2, 5}},
		{[]float64{most, most, 1}, nil},
		{[]float64{least, least, 3 * least}, nil}, {[]float64{1e-300, 1e-310, 1}, nil}, {[]float64{least, most}, nil},
		{[]float64{1. / 3, 1e9, 7}, []int{7, 8, 9}},
	} {
		k := 10
		if tt.support == nil {
			k = len(tt.source)
		}
		given := slices.Clone(tt.source)
		if err := s.Set(k, tt.source, tt.support); err != nil || !slices.Equal(given, tt.source) {
			t.Fatalf("%v: %v", tt, err)
		}
		at := 0
		for n, m := range tt.source {
			if m == 0 {
				continue
			}
			i := n
			if tt.support != nil {
				i = tt.support[n]
			}
			if s.Rows[at] != i {
				t.Errorf("%v: row %d, want %d", tt, s.Rows[at], i)
			}
			want := num.Rat(m)
			want.Quo(want, num.SumRat(tt.source))
			if f, _ := want.Float64(); s.Mass[at].Float() != f {
				t.Errorf("%v: mass %d is %v, want %v", tt, n, s.Mass[at].Float(), f)
			}
			off, _ := new(big.Rat).Sub(rat(s.Mass[at]), want).Float64()
			if f, _ := want.Float64(); math.Abs(off) > 0x1p-99*f && math.Abs(off) > LostMass {
				t.Errorf("%v: mass %d is off by %v", tt, n, off)
			}
			at++
		}
		if at != len(s.Rows) || at != len(s.Mass) {
			t.Errorf("%v: %d rows with mass, want %d", tt, len(s.Rows), at)
		}
	}
	for _, tt := range []struct {
		source  []float64
		support []int
		want    error
	}{
		{[]float64{1}, nil, wpmerr.ErrShape}, {[]float64{1}, []int{0, 1}, wpmerr.ErrShape}, {nil, nil, wpmerr.ErrShape},
		{nil, []int{}, wpmerr.ErrMass}, {[]float64{0, 0, 0}, nil, wpmerr.ErrMass},
		{[]float64{1, -1, 1}, nil, wpmerr.ErrNegative}, {[]float64{1, math.NaN(), 1}, nil, wpmerr.ErrNotFinite},
		{[]float64{1, math.Inf(1), 1}, nil, wpmerr.ErrNotFinite},
		{[]float64{1, 1}, []int{1, 1}, wpmerr.ErrSupport}, {[]float64{1, 1}, []int{1, 0}, wpmerr.ErrSupport},
		{[]float64{1, 1}, []int{1, 3}, wpmerr.ErrSupport}, {[]float64{1}, []int{-1}, wpmerr.ErrSupport},
	} {
		if err := s.Set(3, tt.source, tt.support); !errors.Is(err, tt.want) || len(s.Rows) != 0 {
			t.Errorf("%v: %v, want %v", tt, err, tt.want)
		}
	}
}

// TestBox: bounds whose sum is 1, up to BoxTol, are a point, and those that are off by more leave nothing.
func TestBox(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64 // sums, over four columns
		full   int
		point  bool
		err    error
	}{
		{0.5, 2, 0, false, nil}, {1, 2, 1, false, nil}, {1 + 0x1p-41, 2, 1, true, nil},
		{1 + 0x1p-39, 2, 0, false, wpmerr.ErrInfeasible},
		{1 - 0x1p-41, 2, 0, false, nil}, {0.5, 1, -1, false, nil}, {0.5, 1 - 0x1p-41, -1, true, nil},
		{0.5, 1 - 0x1p-39, 0, false, wpmerr.ErrInfeasible},
		{0.5, 1 + 0x1p-41, 0, false, nil}, {1, 1, 1, false, nil}, {0.5, math.Inf(1), 0, false, wpmerr.ErrNotFinite},
		{-1, 1, 0, false, wpmerr.ErrNegative},
		{2, 1, 0, false, wpmerr.ErrBox}, {0, 1e300, 0, false, nil}, {1e300, 1e300, 0, false, wpmerr.ErrInfeasible},
		{0, 0, 0, false, wpmerr.ErrInfeasible},
	} {
		lo, hi := slices.Repeat([]float64{tt.lo / 4}, 4), slices.Repeat([]float64{tt.hi / 4}, 4)
		b := Box{Full: 7, Point: []float64{1}}
		if err := b.Set(4, lo, hi); tt.err != nil || err != nil {
			if !errors.Is(err, tt.err) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if b.Full != tt.full || (b.Point != nil) != tt.point {
			t.Errorf("%+v: %+v", tt, b)
		}
		if tt.point {
			lo, hi = []float64{0.25, 0.25, 0.25, 0.25}, []float64{0.25, 0.25, 0.25, 0.25}
		}
		if !slices.Equal(b.Lo, lo) || !slices.Equal(b.Hi, hi) {
			t.Errorf("%+v: %+v", tt, b)
		}
	}
	var b Box
	for _, err := range []error{b.Set(2, []float64{0}, []float64{1, 1}), b.Set(2, []float64{0, 0}, []float64{1}),
		b.SetTarget(3, []float64{1, 1})} {
		if !errors.Is(err, wpmerr.ErrShape) {
			t.Error(err)
		}
	}
	// A target in any unit is the nearest point in floats, and positive where it is.
	for _, target := range [][]float64{{1, 2, 5}, {0.1, 0.2, 0}, {most, most, least}, {least, 0, least},
		{3e-320, 1e-320, 7e-300}} {
		if err := b.SetTarget(3, target); err != nil || b.Full != 0 || &b.Lo[0] != &b.Hi[0] {
			t.Fatalf("%v: %+v, %v", target, b, err)
		}
		for j, x := range target {
			want, _ := new(big.Rat).Quo(num.Rat(x), num.SumRat(target)).Float64()
			if x > 0 {
				want = max(want, least)
			}
			if d := math.Abs(b.Lo[j] - want); d > 0x1p-52*want && d > 4*least {
				t.Errorf("%v: %v, want %v", target, b.Lo[j], want)
			}
		}
	}
	if err := b.SetTarget(2, []float64{0, 0}); !errors.Is(err, wpmerr.ErrMass) {
		t.Error(err)
	}
}

type liar struct{ k, kv int }

func (l liar) Dims() (int, int)           { return l.k, l.kv }
func (liar) Row(int, []float64) []float64 { panic("read") }

func TestDims(t *testing.T) {
	var (
		dense  *cost.Dense
		ring   *cost.Ring
		grid   *cost.Grid
		points *cost.Points
		cosine *cost.Cosine
		circle *cost.GreatCircle
	)
	for n, c := range []cost.Matrix{nil, dense, ring, grid, points, cosine, circle, liar{0, 1}, liar{1, 0}, liar{-1, 1},
		&cost.Dense{},
		&cost.Dense{K: 2, Kv: 2, Data: make([]float64, 3)}, &cost.Dense{K: math.MaxInt, Kv: 4}} {
		if _, _, err := Dims(c); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("number %d: %v", n, err)
		}
	}
	if k, kv, err := Dims(liar{3, 2}); k != 3 || kv != 2 || err != nil {
		t.Error(k, kv, err)
	}
}

func TestCheckRow(t *testing.T) {
	for _, tt := range []struct {
		row  []float64
		want error
	}{
		{[]float64{0, math.Copysign(0, -1), most}, nil}, {[]float64{0, 1}, wpmerr.ErrShape}, {[]float64{0, -1, 1}, wpmerr.ErrNegative},
		{[]float64{0, math.NaN(), 1}, wpmerr.ErrNotFinite}, {[]float64{0, math.Inf(-1), 1}, wpmerr.ErrNotFinite},
		{[]float64{0, math.Inf(1), 1}, wpmerr.ErrNotFinite},
	} {
		err := CheckRow(7, tt.row, 3)
		if !errors.Is(err, tt.want) {
			t.Errorf("%v: %v", tt.row, err)
		}
		if entry := new(cost.EntryError); len(tt.row) == 3 && err != nil && (!errors.As(err,
			&entry) || entry.I != 7 || entry.J != 1) {
			t.Errorf("%v: %v names no entry", tt.row, err)
		}
	}
}

// TestInstance: a problem is checked from the cost on, then the source, then the box, and kept as it is checked.
func TestInstance(t *testing.T) {
	c := &cost.Dense{K: 3, Kv: 2, Data: make([]float64, 6)}
	good := Problem{Cost: c, Source: []float64{3, 0, 1}, Lo: []float64{0.5, 0.5}, Hi: []float64{1, 1}}
	var in Instance
	for range 2 { // also after the errors below
		if err := in.Set(good); err != nil {
			t.Fatal(err)
		}
		if in.K != 3 || in.Kv != 2 || !slices.Equal(in.Rows, []int{0, 2}) || in.Mass[1].Hi != 0.25 ||
			!slices.Equal(in.Lo, good.Lo) || !slices.Equal(in.Hi, good.Hi) || in.Full != 1 || in.Point != nil {
			t.Errorf("%+v", in)
		}
		bad := good
		for _, tt := range []struct {
			spoil func()
			want  error
		}{
			{func() { bad.Hi = []float64{0.25, 1} }, wpmerr.ErrBox},
			{func() { bad.Source = []float64{0, 0, 0} }, wpmerr.ErrMass},
			{func() { bad.Cost = nil }, wpmerr.ErrShape},
		} {
			tt.spoil()
			if err := in.Set(bad); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		}
	}
}

// TestEntryOnce: the error about an entry says once what is wrong, and where.
func TestEntryOnce(t *testing.T) {
	for _, c := range []struct {
		entry float64
		want  string
	}{
		{math.NaN(), "value not finite: C[3][1] = NaN"}, {-2, "negative value: C[3][1] = -2"},
	} {
		if err := CheckRow(3, []float64{0, c.entry}, 2); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
