package ldp

import (
	"fmt"
	"math/big"
	"strings"
)

// Limits of an Epsilon.
const (
	maxEpsilon   = 64   // see ParseEpsilon
	minInverse   = 1e18 // eps >= 1e-18, see ParseEpsilon
	maxDenBits   = 128  // the denominator in lowest terms is below 2^128
	maxPlaces    = 38   // 10^38 < 2^128: a decimal of so many places keeps that bound
	maxText      = 100  // bytes; the longest canonical text has 41 + 1 + 39
	maxExpDigits = 3    // so 10^exponent has at most 999 digits
)

// Epsilon is a privacy loss: an exact rational, 1e-18 <= eps <= 64. Two of them are the same number if and only if they
// are ==. The zero Epsilon is not a privacy loss; every function that needs a privacy loss refuses it.
type Epsilon struct {
	text string // canonical (see canonical), or "" for the zero value
}

// ParseEpsilon reads a decimal ("0.1", "2.50", "1e-3") or a fraction of two whole numbers
// ("1/3"), exactly: "0.1" is one tenth, not the float64 beside it. Signs (but for an exponent's),
// spaces, underscores, hexadecimal, "NaN" and "Inf" are refused, with ErrEpsilon.
//
// Numbers outside [1e-18, 64] are also refused. Weights have at most 62 bits and a column in use has at least one unit,
// so above 62 ln 2 = 43 the bound hi <= e^eps lo does not bind; and below 2^-62 it forces hi = lo, one output law for
// all clients. The denominator must stay below 2^128 and the text within 100 bytes, so that reading and every later
// comparison are cheap whoever wrote the text.
func ParseEpsilon(s string) (Epsilon, error) {
	if len(s) > maxText {
		return Epsilon{}, fmt.Errorf("%w: text of %d bytes, more than %d", ErrEpsilon, len(s), maxText)
	}
	r, ok := parseRat(s)
	if !ok {
		return Epsilon{}, fmt.Errorf("%w: %q is neither a decimal nor a fraction", ErrEpsilon, s)
	}
	if r.Cmp(big.NewRat(maxEpsilon, 1)) > 0 {
		return Epsilon{}, fmt.Errorf("%w: %q is above %d", ErrEpsilon, s, maxEpsilon)
	}
	if r.Cmp(big.NewRat(1, minInverse)) < 0 {
		return Epsilon{}, fmt.Errorf("%w: %q is below 1e-18", ErrEpsilon, s)
	}
	if r.Denom().BitLen() > maxDenBits {
		return Epsilon{}, fmt.Errorf("%w: %q has a denominator of more than %d bits", ErrEpsilon, s, maxDenBits)
	}
	return Epsilon{canonical(r)}, nil
}

// parseRat reads
//
//	whole [ "." digits ] [ ("e" | "E") [ "+" | "-" ] digits ]   or   whole "/" whole
//
// with no idle zero in front of a whole (to big.Rat "010/3" is 8/3), a divisor other than 0 and at
// most maxExpDigits digits of exponent. If len(s) <= maxText the result is below 2^4000 in size.
func parseRat(s string) (*big.Rat, bool) {
	mant, ok := s, true
	if p, q, fraction := strings.Cut(s, "/"); fraction {
		mant, ok = p, isWhole(q) && q != "0" && isWhole(p)
	} else if m, exp, power := strings.Cut(strings.Replace(s, "E", "e", 1), "e"); power {
		if exp != "" && (exp[0] == '+' || exp[0] == '-') {
			exp = exp[1:]
		}
		mant, ok = m, isDigits(exp) && len(exp) <= maxExpDigits
	}
	whole, digits, point := strings.Cut(mant, ".")
	if !ok || !isWhole(whole) || point && !isDigits(digits) {
		return nil, false
	}
	return new(big.Rat).SetString(s)
}

func isWhole(s string) bool { return isDigits(s) && (s[0] != '0' || s == "0") }

func isDigits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// canonical writes r as a decimal without idle zeros when that takes at most maxPlaces places,
// and as a fraction in lowest terms otherwise. It is a function of the number alone, and one that
// ParseEpsilon takes back: the bounds on r give at most 41 digits above and 39 below.
func canonical(r *big.Rat) string {
	if places, exact := r.FloatPrec(); exact && places <= maxPlaces {
		return r.FloatString(places)
	}
	return r.String()
}

// String returns the canonical text of e, which ParseEpsilon reads back as e. For the zero Epsilon it returns "0",
// which ParseEpsilon refuses.
func (e Epsilon) String() string {
	if e.IsZero() {
		return "0"
	}
	return e.text
}

// IsZero reports whether e is the zero Epsilon, which is not a privacy loss.
func (e Epsilon) IsZero() bool { return e == Epsilon{} }

// Rat returns e as a new rational; 0 for the zero Epsilon.
func (e Epsilon) Rat() *big.Rat {
	r, ok := parseRat(e.text)
	if !ok { // the zero Epsilon: any other text was written by canonical
		return new(big.Rat)
	}
	return r
}

// Float64 returns the float64 nearest to e. It is for solvers and displays; no verdict uses it.
func (e Epsilon) Float64() float64 {
	f, _ := e.Rat().Float64()
	return f
}

// Cmp returns -1, 0 or +1 as e is less than, equal to or greater than f.
func (e Epsilon) Cmp(f Epsilon) int { return e.Rat().Cmp(f.Rat()) }
