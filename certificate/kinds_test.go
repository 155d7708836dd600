package certificate

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/mincostflow/units"
)

// TestIntegerText: whole units, arcs and logarithms: what they read back to, and what they are not.
func TestIntegerText(t *testing.T) {
	var p unitPlan
	if err := json.Unmarshal([]byte("[[1,2,3],[4,5,9223372036854775807]]"), &p); err != nil || len(p) != 2 ||
		p[0] != (units.Entry{I: 1, J: 2, Units: 3}) || p[1].Units != math.MaxInt64 {
		t.Errorf("%v, %v", p, err)
	}
	var a arcs
	const text = "[[0,1,null,null,-3],[2,0,-4,5,6]]"
	if err := json.Unmarshal([]byte(text), &a); err != nil || len(a) != 2 ||
		a[0] != (network.Arc{From: 0, To: 1, Lower: -network.Unlimited, Upper: network.Unlimited, Cost: -3}) ||
		a[1] != (network.Arc{From: 2, To: 0, Lower: -4, Upper: 5, Cost: 6}) {
		t.Errorf("%v, %v", a, err)
	}
	if b, err := json.Marshal(a); err != nil || string(b) != text {
		t.Errorf("%s, %v", b, err)
	}
	for _, v := range []any{unitPlan(nil), arcs(nil), wholes(nil), logs(nil)} {
		if b, err := json.Marshal(v); err != nil || string(b) != "[]" {
			t.Errorf("empty %T: %s, %v", v, b, err)
		}
	}
	for _, s := range []string{"null", "0", "{}", "[1]", "[[]]", "[[1,2]]", "[[1,2,3,4]]", "[[1,2,3],4]", "[[1.5,2,3]]",
		"[[1,2,3.5]]", "[[1,2,1e3]]", "[[1,2,9223372036854775808]]", `[["1",2,3]]`, "[[1,2,3] ]", "[[[1,2,3]]]"} {
		if err := json.Unmarshal([]byte(s), &p); err == nil {
			t.Errorf("%s was read as the plan %v", s, p)
		}
	}
	for _, s := range []string{"null", "[[]]", "[[1,2,3,4]]", "[[1,2,3,4,5,6]]", "[[null,2,3,4,5]]", "[[1,2,3,4,null]]",
		"[[1,2,3,4,5.5]]", "[[1,2,3,4,5],6]", "[[1,2,3,4,5] ]", "[[9223372036854775808,2,3,4,5]]"} {
		if err := json.Unmarshal([]byte(s), &a); err == nil {
			t.Errorf("%s was read as the arcs %v", s, a)
		}
	}
	var l logs
	if err := json.Unmarshal([]byte("[null,-2.5]"), &l); err != nil || len(l) != 2 || !math.IsInf(l[0], -1) ||
		l[1] != -2.5 {
		t.Errorf("%v, %v", l, err)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1)} {
		if b, err := json.Marshal(logs{x}); err == nil {
			t.Errorf("the logarithm %v has the text %s", x, b)
		}
	}
}

// TestFractionLimits: potentials whose sums would be long are refused before they are added; those of the widest costs
// are not.
func TestFractionLimits(t *testing.T) {
	frac := func(num, den *big.Int) fraction { return fraction{new(big.Rat).SetFrac(num, den)} }
	two := func(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }
	one := big.NewInt(1)
	odd := func(n uint) *big.Int { return new(big.Int).Add(two(n), one) }
	var primes fractions // a common denominator of some 2300 bits
	for p := int64(3); p < 1700; p += 2 {
		if big.NewInt(p).ProbablyPrime(0) {
			primes = append(primes, frac(one, big.NewInt(p)))
		}
	}
	for name, test := range map[string]struct {
		xs   fractions
		want error
	}{
		"widest costs": {fractions{frac(odd(2126), two(1074)), frac(one, two(1074)),
			frac(new(big.Int).Neg(odd(2126)), two(1074))}, nil},
		"thirds and fifths": {fractions{frac(one, big.NewInt(3)), frac(one, big.NewInt(5)), frac(one, big.NewInt(3))},
			nil},
		"long numerator":        {fractions{frac(odd(4096), one)}, ErrLimit},
		"long denominator":      {fractions{frac(one, odd(2048))}, ErrLimit},
		"many denominators":     {primes, ErrLimit},
		"two long denominators": {fractions{frac(one, odd(1500)), frac(one, odd(1501))}, ErrLimit},
		"missing":               {fractions{{nil}}, ErrShape},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.xs.check("f", len(test.xs)); !errors.Is(err, test.want) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
		})
	}
	if err := primes[:10].check("f", 9); !errors.Is(err, ErrShape) {
		t.Errorf("ten for nine: %v", err)
	}
}
