package mincostflow_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestStatusNames: what statuses are called.
func TestStatusNames(t *testing.T) {
	for s, want := range map[mincostflow.Status]string{
		mincostflow.Optimal: "optimal", mincostflow.Cancelled: "cancelled", 0: "unknown", 99: "unknown",
	} {
		if got := s.String(); got != want {
			t.Errorf("%d is %q, want %q", s, got, want)
		}
	}
}

// broken is a cost whose dimensions or rows are not what they should be.
type broken struct {
	k, kv int
	rows  [][]float64 // of the first readings; then the last
	at    *int
}

func (b broken) Dims() (k, kv int) { return b.k, b.kv }

func (b broken) Row(int, []float64) []float64 {
	row := b.rows[min(*b.at, len(b.rows)-1)]
	*b.at++
	return row
}

// TestVerifyReadsRowsTwice: Verify reads a row once for the lower and once for the upper bound, and trusts neither.
func TestVerifyReadsRowsTwice(t *testing.T) {
	c, err := cost.NewDense(1, 2, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	p := projection.Problem{Cost: c, Source: []float64{1}, Lo: []float64{0.25, 0.25}, Hi: []float64{0.75, 0.75}}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	good := []float64{0, 1}
	for _, tt := range []struct {
		name  string
		first []float64
		then  []float64
		want  error
	}{
		{"good", good, good, nil},
		{"short at once", []float64{0}, good, wpmerr.ErrShape},
		{"short later", good, []float64{0}, wpmerr.ErrShape},
		{"negative later", good, []float64{0, -1}, wpmerr.ErrNegative},
	} {
		p.Cost = broken{1, 2, [][]float64{tt.first, tt.then}, new(int)}
		if _, _, err := mincostflow.Verify(context.Background(), p, r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// TestVerifyPointOfBox: where the box is a point only up to rounding, Q is that point, up to an ulp, and nothing else
// in the box.
func TestVerifyPointOfBox(t *testing.T) {
	c, err := cost.NewDense(1, 2, []float64{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5 * (1 + 5e-13)
	p := projection.Problem{Cost: c, Source: []float64{1}, Lo: []float64{half, half}, Hi: []float64{half, half}}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := mincostflow.Verify(context.Background(), p, r); err != nil {
		t.Fatal(err)
	}
	r.Q = []float64{0.5 + 1e-15, 0.5 - 1e-15} // its sum is 1
	if _, _, err := mincostflow.Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("%v, want ErrCertificate", err)
	}
}

// TestRoundedBoxes: bounds that sum to 1 but for less than their rounding to the solver's units, in boxes of many
// columns.
func TestRoundedBoxes(t *testing.T) {
	const n = 1000
	c := &cost.Dense{K: 2, Kv: n, Data: make([]float64, 2*n)}
	for j := range n {
		c.Data[j], c.Data[n+j] = float64(j), float64(n-j)
	}
	least := math.Nextafter(0.001, 0) // n of these are 1 less 450 units of 2^-61, and each is rounded up to whole units
	for _, room := range []float64{1e-18, 1e-3} {
		p := projection.Problem{Cost: c, Source: []float64{0.25, 0.75}, Lo: make([]float64, n), Hi: make([]float64, n)}
		for j := range n {
			p.Lo[j], p.Hi[j] = least, least+room
		}
		r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := mincostflow.Verify(context.Background(), p, r); err != nil {
			t.Errorf("room %v: %v", room, err)
		}
	}
}

// TestFailedStatus: a call without a result has none of the statuses of one.
func TestFailedStatus(t *testing.T) {
	ctx := context.Background()
	c := &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}
	one, bad := []float64{1}, []float64{math.NaN()}
	for name, call := range map[string]func() (mincostflow.Status, error){
		"project": func() (mincostflow.Status, error) {
			r, err := mincostflow.Project(ctx, projection.Problem{}, mincostflow.Settings{})
			return r.Status, err
		},
		"project a bad cost": func() (mincostflow.Status, error) {
			r, err := mincostflow.Project(ctx,
				projection.Problem{Cost: &cost.Dense{K: 1, Kv: 1, Data: bad}, Source: one, Lo: one, Hi: one},
				mincostflow.Settings{})
			return r.Status, err
		},
		"transport": func() (mincostflow.Status, error) {
			r, err := mincostflow.Transport(ctx, c, one, bad)
			return r.Status, err
		},
		"projector": func() (mincostflow.Status, error) {
			p, err := mincostflow.NewProjector(context.Background(), c, one, one, mincostflow.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			var r mincostflow.Result
			if err := p.Project(ctx, one, nil, &r); err != nil || r.Status != mincostflow.Optimal {
				t.Errorf("%v, %v", r.Status, err)
			}
			err = p.Project(ctx, bad, nil, &r) // into the same result
			return r.Status, err
		},
	} {
		if s, err := call(); err == nil || s.String() != "unknown" {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}
