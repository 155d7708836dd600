package private

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// numeralGrammar is the rule of docs/spec/release.md.
var numeralGrammar = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// FuzzNumeral: a text is a numeral by the grammar, and a count by strconv; no exponent hides a number that is small.
func FuzzNumeral(f *testing.F) {
	for _, s := range []string{"", "0", "12", "1e", "1+", "1..", "1.", ".5", "1.5e3", "1e999", "0e999", "1e-999", "0.00e+5",
		"9007199254740992", "9007199254740993", "1e16", "9e15", "1e15", "0.009007199254740993e18", "1e308", "2e308", "1_0",
		"1e0000000000000000000000000000000000000000000000000000000000001", strings.Repeat("9", 64), strings.Repeat("9", 65),
		"0." + strings.Repeat("0", 61) + "1", "0x1p3", "1E5", "1e+", "1e-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strconv.ParseFloat(s, 64)
		ok := numeralGrammar.MatchString(s) && len(s) <= 64
		wanted := ok && err == nil
		if !wanted {
			want = 0
		}
		if got, ok := Numeral([]byte(s)); got != want || ok != wanted {
			t.Fatalf("Numeral(%q) = %v, %v, want %v, %v", s, got, ok, want, wanted)
		}
		got, fine := numeral([]byte(s), power2, true)
		if fine = fine && got <= maxCount; fine != (wanted && want <= maxCount) || fine && got != want {
			t.Fatalf("as a count, %q is %v, %v; want %v", s, got, fine, want)
		}
	})
}
