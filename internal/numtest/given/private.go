package given

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

const maxUser = 256 // bytes

// PrivateLabels are the inputs that PrivateCases are about.
func PrivateLabels() []string { return []string{"home", `say "hi", x\y`, "køb 🚲"} }

// PrivateCase is a row of the table that parsing, releasing and fuzzing share.
type PrivateCase struct {
	Name, Data string
	Counts     []float64 // nil: unusable
}

// PrivateCases are private data, usable and not, for PrivateLabels.
var PrivateCases = sync.OnceValue(func() []PrivateCase {
	return []PrivateCase{
		{"one", "home,1\n", []float64{1, 0, 0}},
		{"no last line end", "home,1", []float64{1, 0, 0}},
		{"header", "label,count\nhome,1\n", []float64{1, 0, 0}},
		{"byte order mark and header", "\ufefflabel,count\nhome,1\n", []float64{1, 0, 0}},
		{"CRLF", "label,count\r\nhome,1\r\nkøb 🚲,2\r\n", []float64{1, 0, 2}},
		{"empty lines", "\n\nhome,1\n\r\n\n", []float64{1, 0, 0}},
		{"quoted label", "\"home\",1\n\"say \"\"hi\"\", x\\y\",0.5\n", []float64{1, 0.5, 0}},
		{"repeated label adds up", "home,1\nkøb 🚲,1\nhome,2.5\n", []float64{3.5, 0, 1}},
		{"zero beside others", "home,0\nkøb 🚲,1\n", []float64{0, 0, 1}},
		{"exponents", "home,1e-3\nkøb 🚲,25E+1\n", []float64{1e-3, 0, 250}},
		{"smallest float", "home,5e-324\n", []float64{5e-324, 0, 0}},
		{"underflow beside 1", "home,1e-999\nkøb 🚲,1\n", []float64{0, 0, 1}},
		{"largest count", "home,9007199254740992\n", []float64{1 << 53, 0, 0}},
		{"leading zeros", "home,007\n", []float64{7, 0, 0}},
		{"numeral of 64", "home,0." + strings.Repeat("3", 62) + "\n", []float64{1.0 / 3, 0, 0}},
		{"user column", "user,label,count\nu,home,1\nu,køb 🚲,2\n", []float64{1, 0, 2}},
		{"user column, byte order mark, CRLF", "\ufeffuser,label,count\r\nu,home,1\r\n", []float64{1, 0, 0}},
		{"users and labels quoted", `user,label,count
"u, ""v""","say ""hi"", x\y",1
"u, ""v""",home,1
`, []float64{1, 1, 0}},
		{"one user, quoted or not", "user,label,count\nu,home,1\n\"u\",home,1\n", []float64{2, 0, 0}},
		{"the longest user", "user,label,count\n" + strings.Repeat("u", maxUser) + ",home,1", []float64{1, 0, 0}},
		{"gzip", Zip("home,1\n"), []float64{1, 0, 0}},
		{"gzip of a user column", Zip("user,label,count\nu,home,1\n"), []float64{1, 0, 0}},
		{"gzip in two members, cut within a line", Zip("home,1\nho") + Zip("me,2"), []float64{3, 0, 0}},
		{"gzip with empty members", Zip("") + Zip("home,1\n") + Zip(""), []float64{1, 0, 0}},
		{"a line of 4096 bytes", "home,1\n" + strings.Repeat("\"", 4096) + "\n", nil},

		{"empty", "", nil},
		{"user header only", "user,label,count\n", nil},
		{"user header in another case", "User,label,count\nu,home,1\n", nil},
		{"user header after an empty line", "\nuser,label,count\nu,home,1\n", nil},
		{"second user", "user,label,count\nu,home,1\nv,home,1\n", nil},
		{"second user, a longer name", "user,label,count\nu,home,1\nuu,home,1\n", nil},
		{"two columns under a user header", "user,label,count\nhome,1\n", nil},
		{"four columns under a user header", "user,label,count\nu,u,home,1\n", nil},
		{"no user", "user,label,count\n,home,1\n", nil},
		{"empty user in quotation marks", "user,label,count\n\"\",home,1\n", nil},
		{"user of 257 bytes", "user,label,count\n" + strings.Repeat("u", maxUser+1) + ",home,1", nil},
		{"user with a control character", "user,label,count\nu\t,home,1", nil},
		{"user not UTF-8", "user,label,count\nu\xff,home,1", nil},
		{"users with all counts 0", "user,label,count\nu,home,0\n", nil},
		{"gzip of nothing", Zip(""), nil},
		{"gzip of two users", Zip("user,label,count\nu,home,1\nv,home,1\n"), nil},
		{"gzip cut off in its text", Zip(strings.Repeat("home,1\n", 1000))[:25], nil},
		{"gzip without its checksum", Zip("home,1\n")[:len(Zip("home,1\n"))-8], nil},
		{"gzip with a wrong checksum", Flipped(Zip("home,1\n"), 8), nil},
		{"gzip with a wrong length", Flipped(Zip("home,1\n"), 1), nil},
		{"gzip, then text", Zip("home,1\n") + "home,1\n", nil},
		{"gzip, then a NUL", Zip("home,1\n") + "\x00", nil},
		{"gzip, then half a member", Zip("home,1\n") + Zip("home,1\n")[:15], nil},
		{"gzip in gzip", Zip(Zip("home,1\n")), nil},
		{"a line of 4097 bytes", "home,1\n" + strings.Repeat("\"", 4097) + "\n", nil},
		{"header only", "label,count\n", nil},
		{"only line ends", "\r\n\n\n", nil},
		{"zero total", "home,0\n", nil},
		{"underflow to zero total", "home,1e-999\n", nil},
		{"header twice", "label,count\nlabel,count\nhome,1\n", nil},
		{"header later", "home,1\nlabel,count\n", nil},
		{"two byte order marks", "\ufeff\ufeffhome,1\n", nil},
		{"unknown label", "home,1\nhone,1\n", nil},
		{"label in another case", "Home,1\n", nil},
		{"space before label", " home,1\n", nil},
		{"no comma", "home 1\n", nil},
		{"no count", "home,\n", nil},
		{"no label", ",1\n", nil},
		{"three columns", "u,home,1\n", nil},
		{"label with a comma unquoted", "say \"hi\", x\\y,1\n", nil},
		{"open quotation", "\"home,1\n", nil},
		{"quotation then text", "\"home\"x,1\n", nil},
		{"quotation at the end", "\"home\"", nil},
		{"quotation, then no count", "\"home\",\n", nil},
		{"quoted user, then nothing", "user,label,count\n\"u\",\n", nil},
		{"quoted user and label, then no count", "user,label,count\n\"u\",\"home\",\n", nil},
		{"lone quotation mark", "\"", nil},
		{"negative", "home,-1\n", nil},
		{"minus zero", "home,-0\n", nil},
		{"plus", "home,+1\n", nil},
		{"NaN", "home,NaN\n", nil},
		{"Inf", "home,Inf\n", nil},
		{"hexadecimal", "home,0x10\n", nil},
		{"underscore", "home,1_0\n", nil},
		{"no digit before the point", "home,.5\n", nil},
		{"space before count", "home, 1\n", nil},
		{"space after count", "home,1 \n", nil},
		{"comma decimal", "home,0,5\n", nil},
		{"two points", "home,1.2.3\n", nil},
		{"difference", "home,1-2\n", nil},
		{"exponent alone", "home,1e\n", nil},
		{"one above the largest", "home,9007199254740993e1\n", nil},
		{"huge", "home,1e308\n", nil},
		{"overflow", "home,1e999\n", nil},
		{"numeral of 65", "home," + strings.Repeat("0", 64) + "1\n", nil},
		{"65536 digits", "home," + strings.Repeat("9", 1<<16) + "\n", nil},
		{"not UTF-8", "h\xffme,1\n", nil},
		{"UTF-16", "h\x00o\x00m\x00e\x00,\x001\x00", nil},
		{"NUL", "\x00", nil},
		{"64 KiB of commas", strings.Repeat(",", 1<<16), nil},
		{"64 KiB of quotation marks", strings.Repeat("\"", 1<<16), nil},
		{"JSON", `{"index":[0],"weight":[1]}`, nil},
		{"a gzip header cut off", "\x1f\x8b\x08\x00", nil},
		{"gzip magic and text", "\x1f\x8bhome,1\n", nil},
	}
})

// Zip packs a text in one member of gzip.
func Zip(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text)) // a bytes.Buffer does not fail
	_ = z.Close()
	return b.String()
}

// Flipped changes a bit of the byte that is so far from the end.
func Flipped(s string, fromEnd int) string {
	b := []byte(s)
	b[len(b)-fromEnd] ^= 1
	return string(b)
}
