package num

import "testing"

// TestRunning: running sums keep what plain ones lose.
func TestRunning(t *testing.T) {
	var n Running
	n.Add(1)
	for range 1 << 12 {
		n.Add(0x1p-60)
	}
	if n.LessFrom(1) != -0x1p-48 || n.Value() != 1+0x1p-48 || n.sum != 1 {
		t.Errorf("%v, %v above 1", n.Value(), -n.LessFrom(1))
	}
	n = Running{}
	for _, x := range []float64{0x1p-60, 1, 0x1p-60, 0x1p53} {
		n.Add(x)
	}
	if n.LessFrom(0x1p53) != -1-0x1p-59 && n.LessFrom(0x1p53) != -1 {
		t.Errorf("%v above 2^53", -n.LessFrom(0x1p53))
	}
}
