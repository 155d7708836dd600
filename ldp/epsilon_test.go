package ldp

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseEpsilon(t *testing.T) {
	nine37, thirtyEight := strings.Repeat("9", 37), "0.1"+strings.Repeat("0", 36)+"1"
	for _, c := range []struct{ in, rat, text string }{
		{"0.1", "1/10", "0.1"},
		{"1e-3", "1/1000", "0.001"},
		{"1E-3", "1/1000", "0.001"},
		{"2.50", "5/2", "2.5"},
		{"10", "10", "10"},
		{"1e1", "10", "10"},
		{"1e+1", "10", "10"},
		{"0.64e2", "64", "64"}, // the largest
		{"64", "64", "64"},
		{"64/1", "64", "64"},
		{"1e001", "10", "10"}, // three digits of an exponent are read, leading zeros and all; four are not
		{"1e0001", "", ""},
		{"1e0_1", "", ""}, // digits are digits, whatever big.Rat takes for an exponent
		{"1e1_", "", ""},
		{"1e_1", "", ""},
		{"1E1E1", "", ""},
		{"1eE1", "", ""},
		{"1e1E1", "", ""},
		{"E1", "", ""},
		{"1P1", "", ""},
		{"1/3", "1/3", "1/3"},
		{"2/6", "1/3", "1/3"},
		{"5/10", "1/2", "0.5"},
		{"10/3", "10/3", "10/3"},
		{"1e-18", "1/1000000000000000000", "0.000000000000000001"}, // the smallest
		{"1/1000000000000000000", "1/1000000000000000000", "0.000000000000000001"},
		{"1e-6", "1/1000000", "0.000001"},
		{"0." + nine37, nine37 + "/1" + strings.Repeat("0", 37), "0." + nine37},
		{thirtyEight, "10000000000000000000000000000000000001/1" + strings.Repeat("0", 38), thirtyEight}, // the most places
		// 2^-1 + 2^-40: 40 places, so a fraction.
		{"549755813889/1099511627776", "549755813889/1099511627776", "549755813889/1099511627776"},
		// the largest denominator, 2^128 - 1
		{"1/340282366920938463463374607431768211455e0", "", ""},
		{"340282366920938463463374607431768211454/340282366920938463463374607431768211455",
			"340282366920938463463374607431768211454/340282366920938463463374607431768211455",
			"340282366920938463463374607431768211454/340282366920938463463374607431768211455"},
		// one more, 2^128
		{"340282366920938463463374607431768211455/340282366920938463463374607431768211456", "", ""},
		{"64.00000000000000001", "", ""},
		{"1e2", "", ""},
		{"0.999999999999999999e-18", "", ""},
		{"", "", ""},
		{"0", "", ""},
		{"0.0", "", ""},
		{"0e5", "", ""},
		{"0/3", "", ""},
		{"1/0", "", ""},
		{"0/0", "", ""},
		{"1/", "", ""},
		{"/3", "", ""},
		{"/", "", ""},
		{"1/2/3", "", ""},
		{"1.0/3", "", ""},
		{"1/3.0", "", ""},
		{"1e0/3", "", ""},
		{"+1", "", ""},
		{"-1", "", ""},
		{"1/-3", "", ""},
		{"1/+3", "", ""},
		{"--1", "", ""},
		{".5", "", ""},
		{"5.", "", ""},
		{".", "", ""},
		{"1.e1", "", ""},
		{"1..2", "", ""},
		{"1.2.3", "", ""},
		{"e5", "", ""},
		{"1e", "", ""},
		{"1e+", "", ""},
		{"1e-", "", ""},
		{"1e+-3", "", ""},
		{"1e1e1", "", ""},
		{"1e1.0", "", ""},
		{"01", "", ""},
		{"00.1", "", ""},
		{"010/3", "", ""}, // eight thirds to big.Rat
		{"1/03", "", ""},
		{"0x1", "", ""},
		{"0x1p-2", "", ""},
		{"0b1", "", ""},
		{"0o7", "", ""},
		{"1p1", "", ""},
		{"1_0", "", ""},
		{" 1", "", ""},
		{"1 ", "", ""},
		{"1 /3", "", ""},
		{"1\n", "", ""},
		{"1\x00", "", ""},
		{"NaN", "", ""},
		{"nan", "", ""},
		{"Inf", "", ""},
		{"inf", "", ""},
		{"infinity", "", ""},
		{"1,5", "", ""},
		{"१", "", ""}, // a digit, but not of ours
		{"0.1ε", "", ""},
		// Nothing here may take long.
		{"1e999", "", ""},
		{"1e-999", "", ""},
		{"1e1000", "", ""},
		{"1e999999999", "", ""},
		{"1e-999999999", "", ""},
		{"1/1" + strings.Repeat("0", 90), "", ""},
		{"1/1" + strings.Repeat("0", 9_000_000), "", ""},
		{"0." + strings.Repeat("1", 39), "", ""},                                // a denominator of 10^39 > 2^128
		{"0." + strings.Repeat("1", 97), "", ""},                                // 99 bytes
		{"0.1" + strings.Repeat("0", 97), "1/10", "0.1"},                        // 100 bytes
		{"0.1" + strings.Repeat("0", 98), "", ""},                               // 101 bytes
		{"1" + strings.Repeat("0", 90) + "e-90", "1", "1"},                      // long, but plain
		{strings.Repeat("3", 49) + "/" + strings.Repeat("9", 49), "1/3", "1/3"}, // long before it is reduced
	} {
		e, err := ParseEpsilon(c.in)
		name := c.in[:min(len(c.in), 120)]
		if c.rat == "" {
			if !errors.Is(err, ErrEpsilon) || e != (Epsilon{}) || len(err.Error()) > 300 {
				t.Errorf("ParseEpsilon(%q) = %v, %v, want ErrEpsilon", name, e, err)
			}
			continue
		}
		want, _ := new(big.Rat).SetString(c.rat)
		if err != nil || e.Rat().Cmp(want) != 0 || e.String() != c.text || e.IsZero() {
			t.Errorf("ParseEpsilon(%q) = %v, %v, want %v", name, e, err, c.text)
			continue
		}
		if again, err := ParseEpsilon(e.String()); err != nil || again != e {
			t.Errorf("ParseEpsilon(%q) = %v, %v, want what it came from", e.String(), again, err)
		}
		if f, _ := want.Float64(); e.Float64() != f {
			t.Errorf("%v.Float64() = %v, want %v", e, e.Float64(), f)
		}
	}
}

// Every rational in range has one text: equal numbers are == however they were written.
func TestEpsilonCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e, f := anyEpsilon().Draw(t, "e"), anyEpsilon().Draw(t, "f")
		again, err := ParseEpsilon(e.String())
		if err != nil || again != e || again.Rat().Cmp(e.Rat()) != 0 {
			t.Fatalf("%v re-read as %v, %v", e, again, err)
		}
		if g, err := ParseEpsilon(e.Rat().String()); err != nil || g != e {
			t.Fatalf("%v from its fraction is %v, %v", e, g, err)
		}
		k := rapid.Int64Range(1, 99).Draw(t, "k")
		num := new(big.Int).Mul(e.Rat().Num(), big.NewInt(k))
		den := new(big.Int).Mul(e.Rat().Denom(), big.NewInt(k))
		if g, err := ParseEpsilon(num.String() + "/" + den.String()); err != nil || g != e {
			t.Fatalf("%v from a fraction not in lowest terms is %v, %v", e, g, err)
		}
		if (e.Cmp(f) == 0) != (e == f) || e.Cmp(f) != e.Rat().Cmp(f.Rat()) || e.Cmp(f) != -f.Cmp(e) {
			t.Fatalf("Cmp(%v, %v) = %d", e, f, e.Cmp(f))
		}
	})
}

func TestEpsilonZeroAndAliases(t *testing.T) {
	var z Epsilon
	if !z.IsZero() || z.Rat().Sign() != 0 || z.Float64() != 0 || z.String() != "0" || z.Cmp(z) != 0 {
		t.Error("zero Epsilon is not zero")
	}
	if lo, hi := z.ExpBounds(64); lo.Cmp(big.NewRat(1, 1)) != 0 || hi.Cmp(lo) != 0 {
		t.Errorf("zero Epsilon: ExpBounds = %v, %v, want 1, 1", lo, hi)
	}
	e := epsilon(t, "0.3")
	e.Rat().SetInt64(9)
	e.Rat().Num().SetInt64(9)
	lo, _ := e.ExpBounds(30)
	lo.SetInt64(9)
	if again, _ := e.ExpBounds(30); e.String() != "0.3" || e.Rat().Cmp(big.NewRat(3, 10)) != 0 || again.Cmp(lo) == 0 {
		t.Error("a caller changed an Epsilon")
	}
}
