package plane

import (
	"fmt"
	"testing"
)

// TestRounding: a share ends at the second digit of its error, as its interval does, and an interval grows by less than
// a digit of its half width, and by two steps of the 15th decimal where there is none.
func TestRounding(t *testing.T) {
	for _, c := range []struct {
		v, err float64
		want   string
	}{
		{0.02251346901186288, 0.023, "0.023"}, {0.02251346901186288, 0.0009, "0.02251"}, {0.3, 0.4, "0.3"}, {0.0038, 0.02, "0.004"},
		{0.0004, 0.1, "0"}, {1, 0.5, "1"}, {0.25, 1e-30, "0.25"},
	} {
		if got := fmt.Sprint(Rounded(c.v, c.err)); got != c.want {
			t.Errorf("%v to %v is %s, want %s", c.v, c.err, got, c.want)
		}
	}
	for low := 0.0; low < 1; low += 0.0173 {
		for high := low; high <= 1; high += 0.0119 {
			a, b := Outward(low, high)
			if half := (high - low) / 2; a > low || b < high || a < 0 || b > 1 ||
				half > 0 && (low-a > half/10+2e-15 || b-high > half/10+2e-15) {
				t.Errorf("[%v, %v] becomes [%v, %v]", low, high, a, b)
			}
		}
	}
	for _, c := range []struct {
		v, low, high float64
		want         string
	}{
		{0.363, 0.274, 0.458, "36 %, 27 to 46 %"}, {0.0316, 0.0098, 0.0532, "3.2 %, 0.9 to 5.4 %"}, {0.5, 0.5, 0.5, "50 %, 50 to 50 %"},
	} {
		if share, interval := Brief(c.v, c.low, c.high); share+", "+interval != c.want {
			t.Errorf("%v, %v to %v is %s, %s, want %s", c.v, c.low, c.high, share, interval, c.want)
		}
	}
	if got := Interval(Outward(0.0213, 0.3)); got != "2 to 30 %" {
		t.Errorf("%q", got)
	}
}
