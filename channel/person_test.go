package channel

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestPerson: on four places in a ring, a code of single places with odds 3 to 1, and a disc of two places, by hand.
func TestPerson(t *testing.T) {
	c, err := cost.NewRing(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := distances(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &Mixture{Epsilon: parse(t, "1.2"), Bits: 4, Inputs: 4, near: d, Components: []Component{
		{Weight: 12, Low: 2, Colors: 4, Color: []int32{0, 1, 2, 3}}, // 6, 2, 2, 2
		{Weight: 4, Low: 0, Colors: 2, Color: []int32{0, 0, 1, 1}},  // 4, 0
	}}
	// The first favours one place: the own one at 6/16, one at distance 1 at 4/16, at 2 at 2/16. The second favours the
	// pair of the owner, at a mean distance of 1/2.
	want := Person{
		Share: 12./16*0.25 + 4./16*0.5, Own: 6./16 + 4./16, Far: 4./16*1 + 2./16*2 + 4./16*0.5, Even: 1,
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	got := m.Person()
	near("share", got.Share, want.Share)
	near("own", got.Own, want.Own)
	near("far", got.Far, want.Far)
	near("even", got.Even, want.Even)

	// A disc of two places on a ring: the place and, of equals, the one with the lower index.
	m.Components = []Component{{Weight: 16, Low: 2, High: 6}}
	got = m.Person()
	near("own, disc", got.Own, 12./16)
	near("share, disc", got.Share, 36./64) // outputs 0 and 1 are of three discs, 2 and 3 of one
}
