package private

import "strconv"

// Numeral reads a number as private data have it: a decimal without sign, with an optional exponent, of at most
// 64 characters, as the nearest float64, which must be finite. For other text it does a conversion, too, and returns 0.
func Numeral(b []byte) (v float64, ok bool) { return numeral(b, huge, true) }

// numeral is Numeral for texts of the forms up to most. Every text costs one pass over its bytes and one
// conversion. Below huge no conversion fails: a failure of strconv allocates an error, which takes longer than the
// conversion. Other texts, and what is not wanted, are converted as 1000, with as many digits as they have bytes.
func numeral(b []byte, most form, wanted bool) (v float64, ok bool) {
	f := formOf(b)
	ok = wanted && f >= zero && f <= most && len(b) <= maxNumeral
	text := dummyNumeral[:min(max(len(b), 1), maxNumeral)]
	if ok {
		text = string(b)
	}
	v, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil {
		return 0, false
	}
	return v, true
}

const dummyNumeral = "1000000000000000000000000000000000000000000000000000000000000000" // of maxNumeral bytes

// form is what a text is as a numeral, 1*DIGIT [ "." *DIGIT ] [ "e" [ sign ] 1*DIGIT ]: none or the beginning of one,
// or from zero on, one. (strconv reads more: signs, "inf", hexadecimal, ".5", and underscores.)
type form uint8

const (
	none      form = iota // A in the table
	empty                 // B, the empty text
	zeroMark              // C, 0e
	zeroSign              // D, 0e+
	mark                  // E, 12e
	signPlus              // F, 12e+
	signMinus             // G, 12e-
	zero                  // H, 0
	zeroPoint             // I, 0.0
	zeroPower             // J, 0e9
	whole                 // K, 12
	parted                // L, 12. or 0.12
	negative              // M, 12e-9
	power0                // N, 12e0, leading zeros of an exponent
	power1                // O, 12e9
	power2                // P, 12e99
	huge                  // Q, 12e999: above 10^37 with as many characters as a numeral may have
)

// after is the form of a text with one more byte, which is 0, 1 to 9, a point, an e, plus, minus, or another. It is a
// constant, because this package has no variables.
const after = "AAAAAAA" + "HKAAAAA" + "JJAADDA" + "JJAAAAA" + "NOAAFGA" + "NOAAAAA" + "MMAAAAA" + "HKICAAA" +
	"ILACAAA" + "JJAAAAA" + "KKLEAAA" + "LLAEAAA" + "MMAAAAA" + "NOAAAAA" + "PPAAAAA" + "QQAAAAA" + "QQAAAAA"

// classes is the column of after for each byte, as a letter: G for others.
const classes = others + others + "GGGGGGGGGGGEGFCG" + "ABBBBBBBBBGGGGGG" + "GGGGGDGGGGGGGGGG" + others +
	"GGGGGDGGGGGGGGGG" + others + others + others + others + others + others + others + others + others

const others = "GGGGGGGGGGGGGGGG" // 16 bytes

// formOf goes over all bytes, whatever they are.
func formOf(b []byte) form {
	f := empty
	for _, c := range b {
		f = form(after[int(f)*7+int(classes[c]-'A')] - 'A')
	}
	return f
}
