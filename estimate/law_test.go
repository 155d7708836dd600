package estimate

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestLaw: the law of a point mass is its row, and that of a mean the mean of the rows; both kinds of table.
func TestLaw(t *testing.T) {
	for name, rows := range map[string][][]float64{
		"two values": {{3, 1, 1}, {1, 3, 1}},
		"any":        {{1, 2, 3}, {7, 0, 1}},
	} {
		c, err := NewChannel(2, 3, func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Law([]float64{0.25, 0.75})
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			want := 0.0
			for i, theta := range []float64{0.25, 0.75} {
				sum := 0.0
				for _, v := range rows[i] {
					sum += v
				}
				want += theta * rows[i][j] / sum
			}
			if !(math.Abs(got[j]-want) <= 8*0x1p-53) { // some roundings of terms below 1
				t.Errorf("%s: Law[%d] = %v, want %v", name, j, got[j], want)
			}
		}
		if _, err := c.Law([]float64{1}); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%s: a short map: %v", name, err)
		}
	}
}

func TestGuess(t *testing.T) {
	if got, err := Guess([]float64{3e300, 1e300}, 2); err != nil || !(math.Abs(got[0]-0.75) <= 0x1p-52) ||
		!(math.Abs(got[1]-0.25) <= 0x1p-52) {
		t.Errorf("Guess() = %v, %v", got, err)
	}
	if got, err := Guess(nil, 2); err != nil || got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("Guess(nil) = %v, %v", got, err)
	}
	for _, c := range []struct {
		prior []float64
		want  error
	}{
		{[]float64{1}, wpmerr.ErrShape}, {[]float64{0, 0}, wpmerr.ErrMass}, {[]float64{1, -1}, wpmerr.ErrNegative},
		{[]float64{1, math.NaN()}, wpmerr.ErrNotFinite}, {[]float64{1, math.Inf(1)}, wpmerr.ErrNotFinite},
		{[]float64{1, math.Inf(-1)}, wpmerr.ErrNotFinite},
	} {
		if got, err := Guess(c.prior, 2); got != nil || !errors.Is(err, c.want) ||
			errors.Is(err, wpmerr.ErrShape) != (c.want == wpmerr.ErrShape) {
			t.Errorf("Guess(%v) = %v, %v, want %v", c.prior, got, err, c.want)
		}
	}
	if _, err := Guess(nil, 0); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no inputs: %v", err)
	}
}

// TestNumbersThatAreNone: no NaN, no infinity and no negative mass goes through as if it were a map or a weight, and no
// sum that overflows.
func TestNumbersThatAreNone(t *testing.T) {
	ctx := context.Background()
	c := channelOf(t, [][]float64{{3, 1}, {1, 3}})
	line, err := NewGeometry(ctx, &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		masses []float64
		want   error
	}{
		{[]float64{1, math.NaN()}, wpmerr.ErrNotFinite}, {[]float64{1, math.Inf(1)}, wpmerr.ErrNotFinite},
		{[]float64{1, -1}, wpmerr.ErrNegative}, {[]float64{1}, wpmerr.ErrShape},
	} {
		if q, err := c.Law(x.masses); q != nil || !errors.Is(err, x.want) {
			t.Errorf("Law(%v) = %v, %v", x.masses, q, err)
		}
		if of, _, err := line.Groups(ctx, x.masses, 1); of != nil || !errors.Is(err, x.want) {
			t.Errorf("Groups(%v) = %v, %v", x.masses, of, err)
		}
	}
	if q, err := c.Law([]float64{math.MaxFloat64, math.MaxFloat64}); q != nil || !errors.Is(err, wpmerr.ErrNotFinite) {
		t.Errorf("a sum that overflows: %v, %v", q, err)
	}
}

// TestNothing: what is missing gives ErrShape, and the zero Geometry has no places.
func TestNothing(t *testing.T) {
	c := channelOf(t, [][]float64{{3, 1}, {1, 3}})
	if _, err := NewChannel(2, 2, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no rows: %v", err)
	}
	for _, list := range [][]*Channel{{nil}, {c, nil}, {nil, c}} {
		if _, err := Join(list, []float64{1, 1}[:len(list)]); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("Join(%v): %v", list, err)
		}
	}
	if k := new(Geometry).K(); k != 0 {
		t.Errorf("the zero Geometry has %d places", k)
	}
}
