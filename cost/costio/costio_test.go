package costio_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err1 := io.WriteString(w, text)
	if err := errors.Join(err1, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func matrix(rows ...[]float64) [][]float64 { return rows }

func rowsOf(d *cost.Dense) [][]float64 {
	out := make([][]float64, d.K)
	for i := range out {
		out[i] = d.Row(i, nil)
	}
	return out
}

// check holds an error against a sentinel and its whole text. Both are "" and nil when there is none.
func check(t *testing.T, name string, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("%s: error %v, want %v", name, err, want)
		return
	}
	if err == nil {
		return
	}
	if err.Error() != text {
		t.Errorf("%s: error\n %q, want\n %q", name, err, text)
	}
	var e *costio.Error
	if !errors.As(err, &e) || e.File != "f" {
		t.Errorf("%s: error %v is not an *Error about the file", name, err)
	}
}

func TestReadCSV(t *testing.T) {
	two := matrix([]float64{0, 1}, []float64{1, 0})
	long := strings.Repeat("1,", 99_999) + "1"
	for _, c := range []struct {
		name, in string
		want     [][]float64
		err      error
		text     string
	}{
		{"plain", "0,1\n1,0\n", two, nil, ""},
		{"no newline at the end", "0,1\n1,0", two, nil, ""},
		{"CRLF", "0,1\r\n1,0\r\n", two, nil, ""},
		{"byte order mark", "\ufeff0,1\n1,0\n", two, nil, ""},
		{"byte order mark and quotes", "\ufeff\"0\",1\n1,0\n", two, nil, ""},
		{"spaces and quotes", " 0 ,\"1\"\n1,\t0\n", two, nil, ""},
		{"empty lines", "\n0,1\n\n\r\n1,0\n\n", two, nil, ""},
		{"header", "a,b\n0,1\n1,0\n", two, nil, ""},
		{"header of words and others", "10 things,\"Brazil, 1985\"\n0,1\n1,0\n", two, nil, ""},
		{"header with a gap", ",b\n0,1\n1,0\n", two, nil, ""},
		{"forms", "1e-3,+2.5,.5,5.,1E2,-0\n", matrix([]float64{1e-3, 2.5, .5, 5, 100, math.Copysign(0, -1)}), nil, ""},
		{"underflow", "1e-999\n", matrix([]float64{0}), nil, ""},
		{"one", "7", matrix([]float64{7}), nil, ""},

		{"empty", "", nil, costio.ErrFormat, `f: no rows of numbers`},
		{"only a header", "a,b\n", nil, costio.ErrFormat, `f: no rows of numbers`},
		{"only a mark", "\ufeff", nil, costio.ErrFormat, `f: no rows of numbers`},
		{"two headers", "a,b\nc,d\n", nil, costio.ErrNumber, `f:2: field 1: "c" is not a number`},
		{"half a header", "a,2\n", nil, costio.ErrNumber, `f:1: field 1: "a" is not a number`},
		{"gaps are no header", ",\n1,2\n", nil, costio.ErrNumber, `f:1: field 1: "" is not a number`},
		{"a typo is no header", "1.O\n2\n", nil, costio.ErrNumber, `f:1: field 1: "1.O" is not a number`},
		{"NaN is no header", "NaN,inf\n1,2\n", nil, wpmerr.ErrNotFinite, `f:1: field 1: "NaN" is not finite`},
		{"word", "0,1\n1,abc\n", nil, costio.ErrNumber, `f:2: field 2: "abc" is not a number`},
		{"missing", "0,1\n1,\n", nil, costio.ErrNumber, `f:2: field 2: "" is not a number`},
		{"hexadecimal", "0x1\n", nil, costio.ErrNumber, `f:1: field 1: "0x1" is not a number`},
		{"hexadecimal float", "1,0x1p-2\n", nil, costio.ErrNumber, `f:1: field 2: "0x1p-2" is not a number`},
		{"underscore", "1_0\n", nil, costio.ErrNumber, `f:1: field 1: "1_0" is not a number`},
		{"other digits", "0,\u0661\n", nil, costio.ErrNumber, "f:1: field 2: \"\u0661\" is not a number"},
		{"blanks", "0 1\n1 0\n", nil, costio.ErrNumber, `f:1: field 1: "0 1" is not a number`},
		{"infinity", "0,-Infinity\n", nil, wpmerr.ErrNotFinite, `f:1: field 2: "-Infinity" is not finite`},
		{"overflow", "0,1e999\n", nil, wpmerr.ErrNotFinite, `f:1: field 2: "1e999" is not finite`},
		{"negative", "0,1\n\n-1e-9,0\n", nil, wpmerr.ErrNegative, `f:3: field 1: "-1e-9" is negative`},
		{"short row", "0,1\n1\n", nil, costio.ErrFormat, `f:2: 1 fields, the first row has 2`},
		{"long row", "0,1\n1,2,3\n", nil, costio.ErrFormat, `f:2: 3 fields, the first row has 2`},
		{"row unlike the header", "a\n1,2\n", nil, costio.ErrFormat, `f:2: 2 fields, the first row has 1`},
		{"open quote", "0,\"1\n", nil, costio.ErrFormat, `f:1: not CSV: extraneous or missing " in quoted-field`},
		{"bare quote", "0,1\n1,0\"\n", nil, costio.ErrFormat, `f:2: not CSV: bare " in non-quoted-field`},
		{"UTF-16", "\xff\xfe0\x00\n\x00", nil, costio.ErrFormat, `f: the text is UTF-16; save it as UTF-8`},
		{"binary", "\x00\x01\x02", nil, costio.ErrNumber, `f:1: field 1: "\x00\x01\x02" is not a number`},
		{"long value", strings.Repeat("z", 500) + ",1\n", nil, costio.ErrNumber,
			`f:1: field 1: "` + strings.Repeat("z", 60) + `"... is not a number`},
		{"long line", long + "\n" + long + ",x\n", nil, costio.ErrFormat, `f:2: 100001 fields, the first row has 100000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, form := range []struct {
				name string
				read func(r io.Reader, name string) (*cost.Dense, error)
				r    io.Reader
			}{
				{"ReadCSV", costio.ReadCSV, strings.NewReader(c.in)},
				{"Read", costio.Read, strings.NewReader(c.in)},
				{"Read, byte by byte", costio.Read, iotest.OneByteReader(strings.NewReader(c.in))},
				{"ReadCSV, zipped", costio.ReadCSV, strings.NewReader(zipped(t, c.in))},
				{"Read, zipped", costio.Read, strings.NewReader(zipped(t, c.in))},
			} {
				d, err := form.read(form.r, "f")
				check(t, form.name+" "+c.name, err, c.err, c.text)
				if c.err == nil && err == nil {
					numtest.Equal(t, form.name+" "+c.name, rowsOf(d), c.want)
				}
				if err != nil && d != nil {
					t.Errorf("%s: a matrix with an error", c.name)
				}
			}
		})
	}
	if d, err := costio.ReadCSV(strings.NewReader(long), "f"); err != nil || d.Kv != 100_000 {
		t.Errorf("long line: %v", err)
	}
	commas := zipped(t, strings.Repeat(",", costio.MaxFields+1<<17))
	_, err := costio.Read(strings.NewReader(commas), "f")
	check(t, "small file, many fields", err, wpmerr.ErrTooLarge,
		fmt.Sprintf("f: too large: a line of more than %d bytes or %d commas", costio.MaxLine, costio.MaxFields))
}

var errRead = errors.New("the disk is on fire")

func TestReadErrors(t *testing.T) {
	for name, read := range map[string]func(r io.Reader) error{
		"Read":       func(r io.Reader) error { _, err := costio.Read(r, "f"); return err },
		"ReadCSV":    func(r io.Reader) error { _, err := costio.ReadCSV(r, "f"); return err },
		"ReadNPY":    func(r io.Reader) error { _, err := costio.ReadNPY(r, "f"); return err },
		"ReadPoints": func(r io.Reader) error { _, err := costio.ReadPoints(r, "f"); return err },
		"ReadCounts": func(r io.Reader) error { _, err := costio.ReadCounts(r, "f", nil); return err },
	} {
		t.Run(name, func(t *testing.T) {
			check(t, name, read(iotest.ErrReader(errRead)), errRead, "f: "+errRead.Error())
			for _, head := range []string{"a,1\n", npyHead("<f8", "(2, 2)"), "\x93NUM", "\x93NUMPY\x01\x00"} {
				// The parser may meet its own error first, but it must be one.
				if err := read(io.MultiReader(strings.NewReader(head), iotest.ErrReader(errRead))); err == nil {
					t.Errorf("%s after %q: no error", name, head)
				}
			}
			check(t, name+" of nothing", read(nil), costio.ErrFormat, "f: no reader")
			check(t, name+" of a broken gzip header", read(strings.NewReader("\x1f\x8b\x08")), io.ErrUnexpectedEOF,
				"f: unexpected EOF")
			whole := zipped(t, "a,1\nb,2\n")
			if err := read(strings.NewReader(whole[:len(whole)-10])); err == nil {
				t.Errorf("%s of half a gzip file: no error", name)
			} else if name == "ReadPoints" || name == "ReadCounts" { // the others do not get that far
				check(t, name+" of half a gzip file", err, io.ErrUnexpectedEOF, "f: unexpected EOF")
			}
			damaged := []byte(whole)
			damaged[len(damaged)-5] ^= 1
			if err := read(bytes.NewReader(damaged)); err == nil {
				t.Errorf("%s of a damaged gzip file: no error", name)
			}
		})
	}
}

// npyHead is a header as NumPy writes it: version 1.0, padded to 64 bytes.
func npyHead(dtype, shape string) string {
	return npyRaw(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape))
}

func npyRaw(dict string) string {
	n := 10 + len(dict) + 1
	dict += strings.Repeat(" ", (64-n%64)%64) + "\n"
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))) + dict
}

// pack writes values of any fixed-size types one after the other.
func pack(order binary.AppendByteOrder, values ...any) string {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, order.(binary.ByteOrder), v); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func TestReadNPY(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	two := matrix([]float64{0, 1, 2}, []float64{3, 4, 5})
	f8 := pack(le, []float64{0, 1, 2, 3, 4, 5})
	v2 := func() string {
		h := npyHead("<f8", "(2, 3)")
		return "\x93NUMPY\x02\x00" + string(le.AppendUint32(nil, uint32(len(h)-10))) + h[10:]
	}()
	for _, c := range []struct {
		name, in string
		want     [][]float64
		err      error
		text     string
	}{
		{"float64", npyHead("<f8", "(2, 3)") + f8, two, nil, ""},
		{"version 2", v2 + f8, two, nil, ""},
		{"big endian", npyHead(">f8", "(2, 3)") + pack(be, []float64{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"Fortran", npyRaw("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }") +
			pack(le, []float64{0, 3, 1, 4, 2, 5}), two, nil, ""},
		{"float32", npyHead("<f4", "(2, 3)") + pack(le, []float32{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"int8", npyHead("|i1", "(2, 3)") + "\x00\x01\x02\x03\x04\x05", two, nil, ""},
		{"uint8", npyHead("|u1", "(2, 3)") + "\x00\x01\x02\x03\x04\x05", two, nil, ""},
		{"int16", npyHead("<i2", "(2, 3)") + pack(le, []int16{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"uint16", npyHead(">u2", "(2, 3)") + pack(be, []uint16{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"int32", npyHead("<i4", "(2, 3)") + pack(le, []int32{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"uint32", npyHead("<u4", "(2, 3)") + pack(le, []uint32{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"int64", npyHead("<i8", "(2, 3)") + pack(le, []int64{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"uint64", npyHead("<u8", "(2, 3)") + pack(le, []uint64{0, 1, 2, 3, 4, 5}), two, nil, ""},
		{"large integer", npyHead("<i8", "(1, 1)") + pack(le, int64(1)<<53), matrix([]float64{1 << 53}), nil, ""},

		{"too large integer", npyHead("<i8", "(1, 2)") + pack(le, int64(1), int64(1)<<53+1), nil, costio.ErrNumber,
			"f: costio: not a number: entry 1 is the integer 9007199254740993, beyond 2^53"},
		{"largest uint64", npyHead("<u8", "(1, 1)") + pack(le, uint64(math.MaxUint64)), nil, costio.ErrNumber,
			"f: costio: not a number: entry 0 is the integer 18446744073709551615, beyond 2^53"},
		{"negative", npyHead("<i4", "(1, 2)") + pack(le, []int32{1, -2}), nil, wpmerr.ErrNegative,
			"f: negative value: C[0][1] = -2"},
		{"NaN", npyHead("<f4", "(2, 1)") + pack(le, []float32{1, float32(math.NaN())}), nil, wpmerr.ErrNotFinite,
			"f: value not finite: C[1][0] = NaN"},
		{"short", npyHead("<f8", "(2, 3)") + f8[:40], nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"short within a number", npyHead("<f8", "(2, 3)") + f8[:45], nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"no data", npyHead("<f8", "(2, 3)"), nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"a promise of a gigabyte", npyHead("<f8", "(16384, 8192)") + f8, nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"more data", npyHead("<f8", "(2, 3)") + f8 + "x", nil, costio.ErrFormat, "f: data after the NPY array"},
		{"too many entries", npyHead("<f8", "(16384, 8193)"), nil, wpmerr.ErrTooLarge,
			"f: NPY array of shape [16384 8193] has more than 134217728 entries"},
		{"overflowing shape", npyHead("<f8", "(65536, 65536)"), nil, wpmerr.ErrTooLarge,
			"f: NPY array of shape [65536 65536] has more than 134217728 entries"},
		{"one dimension", npyHead("<f8", "(6,)") + f8, nil, costio.ErrFormat,
			"f: NPY array of shape [6], need two dimensions"},
		{"three dimensions", npyHead("<f8", "(1, 2, 3)") + f8, nil, costio.ErrFormat,
			"f: NPY array of shape [1 2 3], need two dimensions"},
		{"scalar", npyHead("<f8", "()") + f8, nil, costio.ErrFormat, "f: NPY array of shape [], need two dimensions"},
		{"no entries", npyHead("<f8", "(0, 3)"), nil, costio.ErrFormat, "f: NPY array of shape [0 3] has no entries"},
		{"negative shape", npyHead("<f8", "(-2, -3)") + f8, nil, costio.ErrFormat,
			"f: NPY array of shape [-2 -3] has no entries"},
		{"bool", npyHead("|b1", "(1, 1)") + "\x01", nil, costio.ErrFormat,
			`f: NPY element type "|b1", need float64, float32 or an integer`},
		{"complex", npyHead("<c16", "(1, 1)"), nil, costio.ErrFormat,
			`f: NPY element type "<c16", need float64, float32 or an integer`},
		{"half", npyHead("<f2", "(1, 1)"), nil, costio.ErrFormat,
			`f: NPY element type "<f2", need float64, float32 or an integer`},
		{"string", npyHead("<U5", "(1, 1)"), nil, costio.ErrFormat,
			`f: NPY element type "<U5", need float64, float32 or an integer`},
		{"no type", npyHead("", "(1, 1)"), nil, costio.ErrFormat,
			`f: NPY element type "", need float64, float32 or an integer`},
		{"not NPY", "0,1\n1,0\n", nil, costio.ErrFormat, "f: not an NPY file"},
		{"empty", "", nil, costio.ErrFormat, "f: not an NPY file"},
		{"version 3", "\x93NUMPY\x03\x00", nil, costio.ErrFormat, "f: NPY version 3.0, need 1 or 2"},
		{"only magic", "\x93NUMPY", nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"no length", "\x93NUMPY\x01\x00\x10", nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"short header", npyHead("<f8", "(2, 3)")[:40], nil, io.ErrUnexpectedEOF, "f: unexpected EOF"},
		{"huge header", "\x93NUMPY\x02\x00\xff\xff\xff\xff", nil, wpmerr.ErrTooLarge,
			"f: NPY header of 4294967295 bytes, at most 65536"},
		{"empty header", "\x93NUMPY\x01\x00\x00\x00", nil, costio.ErrFormat, "f: bad NPY header: malformed dictionary"},
		{"fields in another order", npyRaw("{'shape': (1, 1), 'fortran_order': False, 'descr': '<f8', }"), nil,
			costio.ErrFormat, "f: bad NPY header: malformed dictionary"},
		{"not a dictionary", npyRaw("hello"), nil, costio.ErrFormat, "f: bad NPY header: npy: invalid dictionary format"},
		{"order", npyRaw("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1, 1), }"), nil, costio.ErrFormat,
			"f: bad NPY header: npy: invalid 'fortran_order' value (Maybe)"},
		{"shape", npyHead("<f8", "(1, x)"), nil, costio.ErrFormat,
			`f: bad NPY header: strconv.Atoi: parsing "x": invalid syntax`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, form := range []struct {
				name string
				read func(r io.Reader, name string) (*cost.Dense, error)
				r    io.Reader
			}{
				{"ReadNPY", costio.ReadNPY, strings.NewReader(c.in)},
				{"Read", costio.Read, strings.NewReader(c.in)},
				{"ReadNPY, byte by byte", costio.ReadNPY, iotest.OneByteReader(strings.NewReader(c.in))},
				{"Read, zipped", costio.Read, strings.NewReader(zipped(t, c.in))},
			} {
				if strings.HasPrefix(form.name, "Read,") || form.name == "Read" {
					if !strings.HasPrefix(c.in, "\x93NUMPY") {
						continue // it is CSV then
					}
				}
				d, err := form.read(form.r, "f")
				check(t, form.name+" "+c.name, err, c.err, c.text)
				if c.err == nil && err == nil {
					numtest.Equal(t, form.name+" "+c.name, rowsOf(d), c.want)
				}
			}
		})
	}
	// More than one chunk.
	big := make([]float64, 3*5000)
	for i := range big {
		big[i] = float64(i)
	}
	d, err := costio.ReadNPY(strings.NewReader(npyHead("<f8", "(3, 5000)")+pack(le, big)), "f")
	if err != nil {
		t.Fatal(err)
	}
	numtest.SameBits(t, "large NPY", d.Data, big)
}

// The bytes are those of the format's description, and another reader takes them.
func TestWriteNPY(t *testing.T) {
	d := &cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1, 2, 3, 4, 5}}
	var b bytes.Buffer
	if err := costio.WriteNPY(context.Background(), &b, d); err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" +
		strings.Repeat(" ", 58) + "\n" + pack(binary.LittleEndian, d.Data)
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	var m mat.Dense
	if err := npyio.Read(&b, &m); err != nil || !mat.Equal(&m, mat.NewDense(2, 3, d.Data)) {
		t.Errorf("npyio reads %v, %v", m, err)
	}
	// Every length of header ends on a boundary.
	for _, kv := range []int{1, 10, 100, 1000, 10000, 100000} {
		b.Reset()
		if err := costio.WriteNPY(context.Background(), &b, &cost.Dense{K: 1, Kv: kv, Data: make([]float64, kv)}); err != nil {
			t.Fatal(err)
		}
		if n := b.Len() - 8*kv; n != 128 {
			t.Errorf("header of %d bytes for %d columns, want 128", n, kv)
		}
	}
}

func TestReadPoints(t *testing.T) {
	wien := costio.Points{Columns: []string{"lat", "lon"}, Labels: []string{"Wien"}, X: matrix([]float64{48.2, 16.4})}
	for _, c := range []struct {
		name, in string
		want     costio.Points
		err      error
		text     string
	}{
		{"plain", "a,1,2\nb,3,4\n", costio.Points{Labels: []string{"a", "b"}, X: matrix([]float64{1, 2}, []float64{3, 4})},
			nil, ""},
		{"header", "name,lat,lon\nWien,48.2,16.4\n", wien, nil, ""},
		{"longitude first", "label,lon,lat\nWien,16.4,48.2\n", wien, nil, ""},
		{"label last, other names", "\ufeffLongitude, LATITUDE ,ID\n16.4,48.2,Wien\n", wien, nil, ""},
		{"lng", "lng,id,latitude\n16.4,Wien,48.2\n", wien, nil, ""},
		{"a plane", "y,label,x\n2,a,1\n",
			costio.Points{Columns: []string{"x", "y"}, Labels: []string{"a"}, X: matrix([]float64{1, 2})}, nil, ""},
		{"space", "z,y,label,x\n3,2,a,1\n",
			costio.Points{Columns: []string{"x", "y", "z"}, Labels: []string{"a"}, X: matrix([]float64{1, 2, 3})}, nil, ""},
		{"many", "x10,x2,x3,x4,x5,x6,x7,x8,x9,x1,name\n10,2,3,4,5,6,7,8,9,1,a\n",
			costio.Points{Columns: []string{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10"},
				Labels: []string{"a"}, X: matrix([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}, nil, ""},
		{"a label that is a column, with a header", "label,x\nx,0\nlat,1\n",
			costio.Points{Columns: []string{"x"}, Labels: []string{"x", "lat"}, X: matrix([]float64{0}, []float64{1})}, nil, ""},

		{"unknown columns", "label,lat,lon,people,\nWien,48.2,16.4,2,\n",
			costio.Points{Columns: wien.Columns, Labels: wien.Labels, X: wien.X, Ignored: []string{"people", ""}}, nil, ""},
		{"two columns for labels", "id,city,lat,name,lon\n7,AT,48.2,Wien,16.4\n",
			costio.Points{Columns: wien.Columns, Labels: wien.Labels, X: wien.X, Ignored: []string{"id", "city"}}, nil, ""},
		{"semicolons and decimal commas", "name;lat;lon;note\nWien;48,2;16,4;\"a;b\"\n",
			costio.Points{Columns: wien.Columns, Labels: wien.Labels, X: wien.X, Ignored: []string{"note"}}, nil, ""},
		{"semicolons without a header", "a;1,5\n", costio.Points{Labels: []string{"a"}, X: matrix([]float64{1.5})}, nil, ""},
		{"semicolons and points", "a;1.5\n", costio.Points{Labels: []string{"a"}, X: matrix([]float64{1.5})}, nil, ""},
		{"tabs and decimal commas", "label\tx\na\t1,5\n", costio.Points{Columns: []string{"x"}, Labels: []string{"a"}, X: matrix([]float64{1.5})},
			nil, ""},
		{"tabs", "label\tx\na\t1.5\n", costio.Points{Columns: []string{"x"}, Labels: []string{"a"}, X: matrix([]float64{1.5})},
			nil, ""},
		{"a semicolon in a label", "a;b,1\nc,2\n",
			costio.Points{Labels: []string{"a;b", "c"}, X: matrix([]float64{1}, []float64{2})}, nil, ""},
		{"digit groups", "label;x\na;1.234,5\n", costio.Points{}, costio.ErrNumber, `f:2: field 2: "1.234,5" is not a number`},
		{"no known column", "label,x0\na,1\n", costio.Points{}, costio.ErrFormat,
			"f:1: no column of coordinates; known are label (name, id), lat (latitude), lon (lng, longitude), x, y, z, x1, x2, ..."},
		{"column twice", "\nlon,label,lat,Longitude\n", costio.Points{}, costio.ErrDuplicate,
			`f:2: field 4: column lon is field 1 already, "lon"`},
		{"two labels", "name,Name,x\n", costio.Points{}, costio.ErrDuplicate,
			`f:1: field 2: column label is field 1 already, "name"`},
		{"no label column", "lat,lon\n1,2\n", costio.Points{}, costio.ErrFormat, "f:1: no column label (name, id)"},
		{"no longitude", "label,lat\na,1\n", costio.Points{}, costio.ErrFormat, "f:1: no column lon"},
		{"no x", "label,z,y\na,1,2\n", costio.Points{}, costio.ErrFormat, "f:1: no column x"},
		{"no x2", "label,x3,x1\na,1,2\n", costio.Points{}, costio.ErrFormat, "f:1: no column x2"},
		{"two kinds", "label,lat,lon,x\na,1,2,3\n", costio.Points{}, costio.ErrFormat,
			"f:1: field 4: column x does not go with column lat"},
		{"x and x1", "label,x,x2\na,1,2\n", costio.Points{}, costio.ErrFormat,
			"f:1: field 3: column x2 does not go with column x"},
		{"header or point", "x,0,0\ny,1,1\n", costio.Points{}, costio.ErrFormat,
			`f:1: field 1: "x" is the name of a column, and "0" a number: header or point? Put the line label,x1,... first`},
		{"number as a column", "label,1,2\na,1,2\n", costio.Points{}, costio.ErrFormat,
			`f:1: field 1: "label" is the name of a column, and "2" a number: header or point? Put the line label,x1,... first`},
		{"latitude", "label,lon,lat\na,48.2,16.4\nb,16.4,116\n", costio.Points{}, cost.ErrPoint,
			`f:3: field 3: "116" is not a latitude from -90 to 90`},
		{"longitude", "label,lon,lat\na,-181,16.4\n", costio.Points{}, cost.ErrPoint,
			`f:2: field 2: "-181" is not a longitude from -180 to 360`},
		{"labels that are numbers", "1,0.5\n2,-0.5\n",
			costio.Points{Labels: []string{"1", "2"}, X: matrix([]float64{.5}, []float64{-.5})}, nil, ""},
		{"labels kept as they are", "\" a, \"\"b\"\" \",1\nà,2\nÀ,3\n",
			costio.Points{Labels: []string{` a, "b" `, "à", "À"}, X: matrix([]float64{1}, []float64{2}, []float64{3})}, nil, ""},

		{"empty", "", costio.Points{}, costio.ErrFormat, "f: no points"},
		{"only a header", "label,x1\n", costio.Points{}, costio.ErrFormat, "f: no points"},
		{"no coordinates", "a\nb\n", costio.Points{}, costio.ErrFormat,
			"f:1: one field, need a label and at least one coordinate, separated by commas, or by semicolons"},
		{"not a number", "a,1,2\nb,3,abc\n", costio.Points{}, costio.ErrNumber, `f:2: field 3: "abc" is not a number`},
		{"first row half a number", "a,1,abc\n", costio.Points{}, costio.ErrNumber, `f:1: field 3: "abc" is not a number`},
		{"NaN", "a,nan\n", costio.Points{}, wpmerr.ErrNotFinite, `f:1: field 2: "nan" is not finite`},
		{"overflow", "a,1\nb,-1e400\n", costio.Points{}, wpmerr.ErrNotFinite, `f:2: field 2: "-1e400" is not finite`},
		{"ragged", "a,1,2\nb,3\n", costio.Points{}, costio.ErrFormat, "f:2: 2 fields, the first row has 3"},
		{"duplicate", "label,x\na,1\nb,2\na,3\n", costio.Points{}, costio.ErrDuplicate,
			`f:4: field 1: label "a" is on line 2 already`},
		{"no label", "a,1\n,2\n", costio.Points{}, costio.ErrLabel, `f:2: field 1: label "" is empty`},
		{"not UTF-8", "a,1\n\xff,2\n", costio.Points{}, costio.ErrLabel, `f:2: field 1: label "\xff" is not valid UTF-8: save the file as CSV UTF-8`},
		{"line break in a label", "a,1\n\"b\nc\",2\n", costio.Points{}, costio.ErrLabel,
			`f:2: field 1: label "b\nc" has a control character`},
		{"escape in a label", "a,1\n\x1b[31m,2\n", costio.Points{}, costio.ErrLabel,
			`f:2: field 1: label "\x1b[31m" has a control character`},
		{"line numbers after a quoted line break", "\"label\n\",x\nc,1\nd,zz\n", costio.Points{}, costio.ErrNumber,
			`f:4: field 2: "zz" is not a number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []string{c.in, zipped(t, c.in)} {
				p, err := costio.ReadPoints(strings.NewReader(in), "f")
				check(t, c.name, err, c.err, c.text)
				if c.err == nil && err == nil {
					numtest.Equal(t, c.name, *p, c.want)
				}
			}
		})
	}
}

func TestReadCounts(t *testing.T) {
	abc := []string{"a", "b", "c"}
	for _, c := range []struct {
		name, in string
		labels   []string
		want     costio.Counts
		err      error
		text     string
	}{
		{"two fields", "a,1\nb,2.5\n", nil, costio.Counts{Labels: []string{"a", "b"},
			Rows: []costio.Count{{Label: 0, N: 1, Line: 1}, {Label: 1, N: 2.5, Line: 2}}}, nil, ""},
		{"three fields", "user,label,count\nu,a,1\nv,a,2\nu,b,0\n", nil,
			costio.Counts{Users: []string{"u", "v"}, Labels: []string{"a", "b"},
				Rows: []costio.Count{{0, 0, 2, 1}, {1, 0, 3, 2}, {0, 1, 4, 0}}}, nil, ""},
		{"known labels", "Label, Count \nc,1\na,2\n", abc,
			costio.Counts{Labels: abc, Rows: []costio.Count{{0, 2, 2, 1}, {0, 0, 3, 2}}}, nil, ""},
		{"a label named count", "count,3\n", nil,
			costio.Counts{Labels: []string{"count"}, Rows: []costio.Count{{0, 0, 1, 3}}}, nil, ""},

		{"empty", "", nil, costio.Counts{}, costio.ErrFormat, "f: no counts"},
		{"only a header", "label,count\n", nil, costio.Counts{}, costio.ErrFormat, "f: no counts"},
		{"one field", "3\n", nil, costio.Counts{}, costio.ErrFormat, "f:1: 1 fields, need user,label,count or label,count"},
		{"four fields", "a,b,c,1\n", nil, costio.Counts{}, costio.ErrFormat,
			"f:1: 4 fields, need user,label,count or label,count"},
		{"mixed", "a,1\nu,a,1\n", nil, costio.Counts{}, costio.ErrFormat, "f:2: 3 fields, the first row has 2"},
		{"first row is data", "a,N/A\nb,1\n", nil, costio.Counts{}, costio.ErrNumber, `f:1: field 2: "N/A" is not a number`},
		{"other header", "label,n\na,1\n", nil, costio.Counts{}, costio.ErrNumber, `f:1: field 2: "n" is not a number`},
		{"negative", "u,a,-1\n", nil, costio.Counts{}, wpmerr.ErrNegative, `f:1: field 3: "-1" is negative`},
		{"NaN", "a,1\nb,NaN\n", nil, costio.Counts{}, wpmerr.ErrNotFinite, `f:2: field 2: "NaN" is not finite`},
		{"unknown", "a,1\nd,1\n", abc, costio.Counts{}, costio.ErrLabel, `f:2: field 1: label "d" is not known`},
		{"other header, with labels", "who,what,times\nu,a,1\n", abc, costio.Counts{}, costio.ErrNumber,
			`f:1: field 3: "times" is not a number`},
		{"unknown, with users", "u,d,1\n", abc, costio.Counts{}, costio.ErrLabel, `f:1: field 2: label "d" is not known`},
		{"no labels known", "a,1\n", []string{}, costio.Counts{}, costio.ErrLabel, `f:1: field 1: label "a" is not known`},
		{"columns swapped", "label,user,count\na,u,1\n", nil, costio.Counts{}, costio.ErrFormat,
			"f:1: the columns are user,label,count in this order"},
		{"no user", ",a,1\n", nil, costio.Counts{}, costio.ErrLabel, `f:1: field 1: label "" is empty`},
		{"duplicate", "a,1\nb,1\nb,2\na,2\n", nil, costio.Counts{}, costio.ErrDuplicate,
			`f:3: field 1: label "b" is on line 2 already`},
		{"duplicate of a user", "u,a,1\nv,a,1\nv,b,1\nu,a,1\n", nil, costio.Counts{}, costio.ErrDuplicate,
			`f:4: field 2: label "a" of user "u" is on line 1 already`},
		{"three times", "a,1\na,1\na,1\n", nil, costio.Counts{}, costio.ErrDuplicate,
			`f:2: field 1: label "a" is on line 1 already`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []string{c.in, "\ufeff" + strings.ReplaceAll(c.in, "\n", "\r\n"), zipped(t, c.in)} {
				got, err := costio.ReadCounts(strings.NewReader(in), "f", c.labels)
				check(t, c.name, err, c.err, c.text)
				if c.err == nil && err == nil {
					numtest.Equal(t, c.name, *got, c.want)
				}
			}
		})
	}
	for name, labels := range map[string][]string{"duplicate": {"a", "a"}, "empty": {""}} {
		if _, err := costio.ReadCounts(strings.NewReader("a,1\n"), "f", labels); err == nil {
			t.Errorf("%s expected label: no error", name)
		}
	}
}

func TestByUser(t *testing.T) {
	c, err := costio.ReadCounts(strings.NewReader("u,b,1\nv,a,2\nu,a,3\n"), "f", []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "groups", c.ByUser(), [][]costio.Count{{{0, 0, 3, 3}, {0, 1, 1, 1}}, {{1, 0, 2, 2}}})
	c, err = costio.ReadCounts(strings.NewReader("b,1\na,2\n"), "f", nil)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Equal(t, "one group", c.ByUser(), [][]costio.Count{{{0, 0, 1, 1}, {0, 1, 2, 2}}})
	strange := costio.Counts{Rows: []costio.Count{{User: 5}, {User: -1}}}
	numtest.Equal(t, "users that do not exist", strange.ByUser(), [][]costio.Count{nil})
	numtest.Equal(t, "nothing", new(costio.Counts).ByUser(), [][]costio.Count{nil})
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, text := range []string{"0,1\n2,3\n", zipped(t, "0,1\n2,3\n"),
		npyHead("<f8", "(2, 2)") + pack(binary.LittleEndian, []float64{0, 1, 2, 3})} {
		d, err := costio.ReadFile(write("c.dat", text)) // the name says nothing
		if err != nil {
			t.Fatal(err)
		}
		numtest.Equal(t, "ReadFile", rowsOf(d), matrix([]float64{0, 1}, []float64{2, 3}))
	}
	path := write("p.csv", "a,1\nb,x\n")
	if _, err := costio.ReadPointsFile(path); err == nil || err.Error() != path+`:2: field 2: "x" is not a number` {
		t.Errorf("ReadPointsFile: %v", err)
	}
	path = write("n.csv", "a,1\nb,x\n")
	if _, err := costio.ReadCountsFile(path, nil); err == nil || err.Error() != path+`:2: field 2: "x" is not a number` {
		t.Errorf("ReadCountsFile: %v", err)
	}
	missing := filepath.Join(dir, "none")
	_, err := costio.ReadFile(missing)
	var e *costio.Error
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) || strings.Count(err.Error(), missing) != 1 {
		t.Errorf("missing file: %v", err)
	}
	if _, err := costio.ReadFile(dir); err == nil {
		t.Error("a directory: no error")
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errRead }

func TestWriteErrors(t *testing.T) {
	nan := math.NaN()
	one := matrix([]float64{1})
	large, err := cost.NewRing(1<<14, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, c := range []struct {
		name string
		err  error
		want error
	}{
		{"CSV nil", costio.WriteCSV(context.Background(), &b, nil), wpmerr.ErrShape},
		{"CSV NaN", costio.WriteCSV(context.Background(), &b, &cost.Dense{K: 1, Kv: 1, Data: []float64{nan}}), wpmerr.ErrNotFinite},
		{"CSV too wide", costio.WriteCSV(context.Background(), &b,
			&cost.Dense{K: 1, Kv: costio.MaxFields + 1, Data: make([]float64, costio.MaxFields+1)}), wpmerr.ErrTooLarge},
		{"NPY too large", costio.WriteNPY(context.Background(), &b, large), wpmerr.ErrTooLarge},
		{"NPY nil", costio.WriteNPY(context.Background(), &b, nil), wpmerr.ErrShape},
		{"points nil", costio.WritePoints(&b, nil), costio.ErrFormat},
		{"points empty", costio.WritePoints(&b, &costio.Points{}), costio.ErrFormat},
		{"points without labels", costio.WritePoints(&b, &costio.Points{X: one}), costio.ErrFormat},
		{"points without coordinates", costio.WritePoints(&b, &costio.Points{Labels: []string{"a"}, X: matrix(nil)}),
			costio.ErrFormat},
		{"points ragged", costio.WritePoints(&b, &costio.Points{Labels: []string{"a", "b"}, X: matrix([]float64{1}, nil)}),
			costio.ErrFormat},
		{"points columns", costio.WritePoints(&b, &costio.Points{Labels: []string{"a"}, X: one, Columns: []string{"lat"}}),
			costio.ErrFormat},
		{"points latitude", costio.WritePoints(&b,
			&costio.Points{Labels: []string{"a"}, X: matrix([]float64{91, 0}), Columns: []string{"lat", "lon"}}), cost.ErrPoint},
		{"points NaN", costio.WritePoints(&b, &costio.Points{Labels: []string{"a"}, X: matrix([]float64{nan})}),
			wpmerr.ErrNotFinite},
		{"points label", costio.WritePoints(&b, &costio.Points{Labels: []string{"a\n"}, X: one}), costio.ErrLabel},
		{"points twice", costio.WritePoints(&b,
			&costio.Points{Labels: []string{"a", "a"}, X: matrix([]float64{1}, []float64{2})}), costio.ErrDuplicate},
		{"counts nil", costio.WriteCounts(&b, nil), costio.ErrFormat},
		{"counts empty", costio.WriteCounts(&b, &costio.Counts{}), costio.ErrFormat},
		{"counts label", costio.WriteCounts(&b, &costio.Counts{Labels: []string{"a"}, Rows: []costio.Count{{Label: 1}}}),
			costio.ErrFormat},
		{"counts user", costio.WriteCounts(&b,
			&costio.Counts{Users: []string{"u"}, Labels: []string{"a"}, Rows: []costio.Count{{User: 1}}}), costio.ErrFormat},
		{"counts user of none", costio.WriteCounts(&b,
			&costio.Counts{Users: []string{}, Labels: []string{"a"}, Rows: []costio.Count{{User: 1}}}), costio.ErrFormat},
		{"counts users", costio.WriteCounts(&b,
			&costio.Counts{Users: []string{""}, Labels: []string{"a"}, Rows: []costio.Count{{}}}), costio.ErrLabel},
		{"counts NaN", costio.WriteCounts(&b, &costio.Counts{Labels: []string{"a"}, Rows: []costio.Count{{N: nan}}}),
			wpmerr.ErrNotFinite},
		{"counts negative", costio.WriteCounts(&b, &costio.Counts{Labels: []string{"a"}, Rows: []costio.Count{{N: -1}}}),
			wpmerr.ErrNegative},
		{"counts twice", costio.WriteCounts(&b, &costio.Counts{Labels: []string{"a"}, Rows: []costio.Count{{}, {}}}),
			costio.ErrDuplicate},
		{"full CSV", costio.WriteCSV(context.Background(), full{}, &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}), errRead},
		{"full NPY", costio.WriteNPY(context.Background(), full{}, &cost.Dense{K: 1, Kv: 1, Data: []float64{1}}), errRead},
		{"full points", costio.WritePoints(full{}, &costio.Points{Labels: []string{"a"}, X: one}), errRead},
		{"full counts", costio.WriteCounts(full{}, &costio.Counts{Labels: []string{"a"}, Rows: []costio.Count{{N: 1}}}),
			errRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: error %v, want %v", c.name, c.err, c.want)
			}
		})
	}
	if b.Len() > 0 {
		t.Errorf("bad data was written: %q", b.String())
	}
}

func TestReadTally(t *testing.T) {
	abc := []string{"a", "b", "x, y"}
	for _, c := range []struct {
		name, in string
		want     []uint64
		err      error
		text     string
	}{
		{"labels", "label,count\nb,3\na,0\n", []uint64{0, 3, 0}, nil, ""},
		{"indices", "index,count\n2,9007199254740992\n", []uint64{0, 0, 1 << 53}, nil, ""},
		{"columns in another order", " COUNT ,Name\n3,b\n", []uint64{0, 3, 0}, nil, ""},
		{"a histogram", "label,count,estimate,lower,upper\n\"x, y\",2,0.5,0.1,0.9\nb,2,0.5,0.1,0.9\n", []uint64{0, 2, 2}, nil,
			""},
		{"no rows", "label,count\n", []uint64{0, 0, 0}, nil, ""},

		{"empty", "", nil, costio.ErrFormat, "f: no counts"},
		{"no header", "a,1\nb,2\n", nil, costio.ErrFormat,
			`f:1: field 1: column "a" is not known; want a header label,count or index,count`},
		{"no counts", "label,estimate\n", nil, costio.ErrFormat, "f:1: want a header label,count or index,count"},
		{"no points", "count\n", nil, costio.ErrFormat, "f:1: want a header label,count or index,count"},
		{"two points", "label,index,count\n", nil, costio.ErrDuplicate, "f:1: field 2: points are in field 1 already"},
		{"two counts", "count,label,count\n", nil, costio.ErrDuplicate, "f:1: field 3: counts are in field 1 already"},
		{"users", "user,label,count\nu,a,1\n", nil, costio.ErrFormat,
			`f:1: field 1: column "user" is not known; want a header label,count or index,count`},
		{"unknown", "label,count\na,1\n0,1\n", nil, costio.ErrLabel, `f:3: field 1: output "0" is not known`},
		{"no such index", "index,count\n3,1\n", nil, costio.ErrLabel, `f:2: field 1: output "3" is not known`},
		{"index with a zero", "index,count\n00,1\n", nil, costio.ErrLabel, `f:2: field 1: output "00" is not known`},
		{"twice", "label,count\na,1\nb,2\na,1\n", nil, costio.ErrDuplicate, `f:4: field 1: output "a" is on line 2 already`},
		{"negative", "label,count\na,-1\n", nil, wpmerr.ErrNegative, `f:2: field 2: "-1" is negative`},
		{"fraction", "label,count\na,0.5\n", nil, costio.ErrNumber, `f:2: field 2: "0.5" is not a whole number`},
		{"word", "label,count\na,many\n", nil, costio.ErrNumber, `f:2: field 2: "many" is not a whole number`},
		{"sign", "label,count\na,+1\n", nil, costio.ErrNumber, `f:2: field 2: "+1" is not a whole number`},
		{"above 2^53", "label,count\na,9007199254740993\n", nil, wpmerr.ErrTooLarge,
			`f:2: field 2: "9007199254740993" is above 2^53`},
		{"above 2^64", "label,count\na,18446744073709551617\n", nil, wpmerr.ErrTooLarge,
			`f:2: field 2: "18446744073709551617" is above 2^53`},
		{"sum above 2^53", "label,count\na,9007199254740992\nb,1\n", nil, wpmerr.ErrTooLarge,
			"f:3: field 2: the sum of the counts is above 2^53"},
		{"ragged", "label,count\na\n", nil, costio.ErrFormat, "f:2: 1 fields, the first row has 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, in := range []string{c.in, zipped(t, c.in)} {
				got, err := costio.ReadTally(strings.NewReader(in), "f", abc)
				check(t, c.name, err, c.err, c.text)
				numtest.Equal(t, c.name, got, c.want)
			}
		})
	}
	if _, err := costio.ReadTally(strings.NewReader("label,count\n"), "f", []string{"a", "a"}); !errors.Is(err,
		costio.ErrDuplicate) {
		t.Errorf("labels twice: %v", err)
	}
}
