package values

import "testing"

// TestSplitMix: the numbers of the reference code of splitmix64 for the seed 1234567.
func TestSplitMix(t *testing.T) {
	r := RNG{1234567}
	for n, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		if got := r.Next(); got != want {
			t.Errorf("number %d is %d, want %d", n, got, want)
		}
	}
}
