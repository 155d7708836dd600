package fuzz

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// feed turns fuzzed bytes into numbers that lean to edges. At the end of the bytes it goes on with zeros.
type feed struct{ b []byte }

func (f *feed) byte() byte {
	if len(f.b) == 0 {
		return 0
	}
	v := f.b[0]
	f.b = f.b[1:]
	return v
}

// size returns a number from 1 to max.
func (f *feed) size(max int) int { return 1 + int(f.byte())%max }

func (f *feed) uint64() uint64 {
	var w [8]byte
	f.b = f.b[copy(w[:], f.b):]
	return binary.LittleEndian.Uint64(w[:])
}

var special = [...]float64{
	math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Copysign(0, -1), 5e-324, math.MaxFloat64, -math.MaxFloat64,
	0x1p-1022, 1e300, 1e-300, 1 + 0x1p-52, 1 - 0x1p-53, 0.1, 1e9, 1e-9,
}

// float returns a number of one of six kinds: small integers (ties), parts of 32, powers of two, near
// ties, raw bits, special values.
func (f *feed) float() float64 {
	v := f.byte()
	n := float64(v >> 3)
	switch v & 7 {
	case 0, 1:
		return n
	case 2, 3:
		return n / 32
	case 4:
		return math.Ldexp(1, int(v>>3)*8-128)
	case 5:
		return 1 + n*0x1p-52
	case 6:
		return math.Float64frombits(f.uint64())
	}
	return special[int(v>>3)%len(special)]
}

// floats returns n numbers as they come.
func (f *feed) floats(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f.float()
	}
	return x
}

// good returns n finite numbers >= 0, in most cases: one feed in eight gives whatever comes.
func (f *feed) good(n int) []float64 {
	raw := f.byte()%8 == 7
	x := f.floats(n)
	for i, v := range x {
		if raw {
			continue
		}
		if v = math.Abs(v); !(v <= 1e200) {
			v = 1
		}
		x[i] = v
	}
	return x
}

// mass returns n numbers of sum about s.
func (f *feed) mass(n int, s float64) []float64 {
	x := f.good(n)
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	if sum == 0 {
		x[0], sum = 1, 1
	}
	for i := range x {
		x[i] = x[i] / sum * s
	}
	return x
}

// rows returns a k x kv matrix.
func (f *feed) rows(k, kv int) [][]float64 {
	data := f.good(k * kv)
	c := make([][]float64, k)
	for i := range c {
		c[i] = data[i*kv : (i+1)*kv : (i+1)*kv]
	}
	return c
}

// epsilon returns a privacy level of the solvers, 0 to 700, in most cases.
func (f *feed) epsilon() float64 {
	switch v := f.byte(); v % 8 {
	case 7:
		return f.float()
	case 6:
		return float64(f.byte()) / 255 * 700
	case 5:
		return math.Ldexp(1, -int(f.byte()%64))
	default:
		return float64(v) / 32
	}
}

func clone(x []float64) []float64 { return append([]float64(nil), x...) }

func sameBits(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d entries, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s[%d] = %v, want %v", what, i, got[i], want[i])
		}
	}
}

func finite(t *testing.T, what string, x ...float64) {
	t.Helper()
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s[%d] = %v", what, i, v)
		}
	}
}

// typed fails the test unless err wraps one of the sentinels.
func typed(t *testing.T, err error, sentinels ...error) {
	t.Helper()
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Fatalf("error %q (%T) wraps none of the sentinels", err, err)
}
