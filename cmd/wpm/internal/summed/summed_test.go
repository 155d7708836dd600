package summed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/shuffle"
)

// TestDigits: three digits on the right side of a number, and the nearest ones there.
func TestDigits(t *testing.T) {
	for _, test := range []struct {
		x        float64
		up, down string
	}{
		{0.545, "0.545", "0.545"}, {0.5450000000000002, "0.546", "0.545"}, {0.5449999999999999, "0.545", "0.544"},
		{4, "4", "4"}, {9.991, "10", "9.99"}, {999.5, "1e+03", "999"}, {1e-7, "1e-07", "1e-07"}, {0, "0", "0"},
		{0.1, "0.1", "0.1"}, {0.09999, "0.1", "0.0999"}, {1.0000000001, "1.01", "1"},
	} {
		if up, down := Up(test.x), Down(test.x); up != test.up || down != test.down {
			t.Errorf("%v: %s and %s, want %s and %s", test.x, up, down, test.up, test.down)
		}
	}
	r := rand.New(rand.NewPCG(7, 40))
	for range 10_000 {
		x := math.Exp(20 * (r.Float64() - 0.5))
		up, err1 := strconv.ParseFloat(Up(x), 64)
		down, err2 := strconv.ParseFloat(Down(x), 64)
		if err1 != nil || err2 != nil || !(down <= x && x <= up) || up-down > 1.01*unit(x) {
			t.Fatalf("%v: %v to %v", x, down, up)
		}
	}
}

// TestOf: any number of devices and any delta has a guarantee, and delta is never above 1/(10 N) unasked.
func TestOf(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.25, 0.25, 0.25, 0.25}, 62)
	if err != nil {
		t.Fatal(err)
	}
	last := math.Inf(1)
	many := []int{1, 1000, 1_000_000}
	if numtest.Full() { // each takes some seconds
		many = append(many, 100_000_000, math.MaxInt32)
	}
	for _, devices := range many {
		c, _, err := Of(box, devices, 0)
		if err != nil || !(c.Epsilon > 0 && c.Epsilon <= 1) || !(c.Delta <= 1e-6 && c.Delta*float64(devices) <= 0.1000001) {
			t.Errorf("%d devices: %v, %v", devices, c, err)
		}
		if devices <= shuffle.MaxClients && c.Epsilon > last {
			t.Errorf("%d devices have eps' %v, fewer %v", devices, c.Epsilon, last)
		}
		last = c.Epsilon
	}
	for _, delta := range []float64{5e-324, 1e-300, 1e-20, 0.5, math.Nextafter(1, 0)} {
		if c, _, err := Of(box, 1000, delta); err != nil || c.Delta != delta || fmt.Sprint(c) == "" {
			t.Errorf("delta %v: %v, %v", delta, c, err)
		}
	}
}
