package costio_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
)

// nonNegative draws every finite float >= 0, and -0.
var nonNegative = rapid.Custom(func(t *rapid.T) float64 {
	x := math.Float64frombits(rapid.Uint64Range(0, math.Float64bits(math.MaxFloat64)).Draw(t, "bits"))
	return rapid.SampledFrom([]float64{x, 0, 1, math.Copysign(0, -1), 0.1, math.MaxFloat64, 5e-324}).Draw(t, "x")
})

// label leans to what CSV has to quote and what looks like something else.
var label = rapid.OneOf(
	rapid.SampledFrom([]string{"a", "b", `"`, ",", " ", " a", "a ", `\.`, "1", "nan", "count", "label", "#", "=1+1",
		"\ufeff", "é"}),
	rapid.StringN(1, 5, -1),
).Filter(func(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
})

// What is written reads back bit for bit, by either reader, zipped or not.
func TestMatrixRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, kv := rapid.IntRange(1, 5).Draw(t, "k"), rapid.IntRange(1, 5).Draw(t, "kv")
		d := &cost.Dense{K: k, Kv: kv, Data: rapid.SliceOfN(nonNegative, k*kv, k*kv).Draw(t, "data")}
		before := slices.Clone(d.Data)
		var csv, npy bytes.Buffer
		if err := costio.WriteCSV(context.Background(), &csv, d); err != nil {
			t.Fatal(err)
		}
		if err := costio.WriteNPY(context.Background(), &npy, d); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{csv.String(), npy.String()} {
			got, err := costio.Read(strings.NewReader(text), "f")
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			if got.K != k || got.Kv != kv ||
				!slices.EqualFunc(got.Data, before, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
				t.Fatalf("%q read as %v, want %v", text, got, before)
			}
		}
	})
}

// aliases are the other names of a column.
var aliases = map[string][]string{
	"label": {"label", "Name", " id "}, "lat": {"LAT", "latitude"}, "lon": {"lon", "Lng", "Longitude"},
	"x": {"X"}, "y": {"y"}, "z": {"Z "}, "x1": {"x1", "X1"}, "x2": {"x2"}, "x3": {"X3"},
}

// seq returns 0, ..., n-1.
func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestPointsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &costio.Points{Labels: rapid.SliceOfNDistinct(label, 1, 6, rapid.ID[string]).Draw(t, "labels")}
		p.Columns = rapid.SampledFrom([][]string{{"x1"}, {"x1", "x2", "x3"}, {"x"}, {"x", "y"}, {"x", "y", "z"},
			{"lat", "lon"}}).Draw(t, "columns")
		n := len(p.Columns)
		for range p.Labels {
			x := rapid.SliceOfN(nonNegative, n, n).Draw(t, "x")
			if p.Geographic() {
				x = []float64{math.Mod(x[0], 90), math.Mod(x[1], 360)}
			}
			x[0] = -x[0]
			p.X = append(p.X, x)
		}
		var b bytes.Buffer
		if err := costio.WritePoints(&b, p); err != nil {
			t.Fatal(err)
		}
		got, err := costio.ReadPoints(bytes.NewReader(b.Bytes()), "f")
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Fatalf("%q: %s", b.String(), d)
		}
		// The columns in any order, and with other names for them, are the same points.
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		order := rapid.Permutation(seq(n+1)).Draw(t, "order")
		b.Reset()
		w := csv.NewWriter(&b)
		for i, row := range rows {
			moved := make([]string, n+1)
			for f, to := range order {
				moved[to] = row[f]
				if i == 0 {
					moved[to] = rapid.SampledFrom(aliases[row[f]]).Draw(t, "alias")
				}
			}
			_ = w.Write(moved)
		}
		w.Flush()
		if got, err = costio.ReadPoints(&b, "f"); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Fatalf("%v: %s", order, d)
		}
	})
}

func TestCountsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &costio.Counts{Labels: rapid.SliceOfNDistinct(label, 1, 5, rapid.ID[string]).Draw(t, "labels")}
		if rapid.Bool().Draw(t, "with users") {
			c.Users = rapid.SliceOfNDistinct(label, 1, 4, rapid.ID[string]).Draw(t, "users")
		}
		pairs := rapid.SliceOfNDistinct(rapid.IntRange(0, max(1, len(c.Users))*len(c.Labels)-1), 1, 20, rapid.ID[int]).Draw(t,
			"pairs")
		for _, q := range pairs {
			c.Rows = append(c.Rows, costio.Count{
				User: int32(q / len(c.Labels)), Label: int32(q % len(c.Labels)), N: nonNegative.Draw(t, "n"),
			})
		}
		var b bytes.Buffer
		if err := costio.WriteCounts(&b, c); err != nil {
			t.Fatal(err)
		}
		got, err := costio.ReadCounts(bytes.NewReader(b.Bytes()), "f", c.Labels)
		if err != nil {
			t.Fatalf("%q: %v", b.String(), err)
		}
		// Users are numbered anew, by first appearance, so compare names.
		type row struct {
			user, label string
			n           uint64
		}
		named := func(c *costio.Counts) (out []row) {
			for _, r := range c.Rows {
				user := ""
				if c.Users != nil {
					user = c.Users[r.User]
				}
				out = append(out, row{user, c.Labels[r.Label], math.Float64bits(r.N)})
			}
			return out
		}
		if a, b := named(c), named(got); !slices.Equal(a, b) {
			t.Fatalf("read %v, wrote %v", b, a)
		}
		// The groups are the rows, each once, by user.
		n := 0
		for u, group := range got.ByUser() {
			for i, r := range group {
				if n++; int(r.User) != u || i > 0 && group[i-1].Label >= r.Label {
					t.Fatalf("group %d: %v", u, group)
				}
			}
		}
		if n != len(c.Rows) {
			t.Fatalf("%d rows in groups, want %d", n, len(c.Rows))
		}
	})
}

// Any bytes give data that is valid, or an *Error: no panic, no bad number.
func TestAnyBytes(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "1", ",", "\n", "\r\n", "\"", "-", "nan", "1e400", "count", "\xff", "\x00", "0.5,",
			"\ufeff", "\x1f\x8b", "\x93NUMPY\x01\x00",
			npyHead("<f8", "(1, 1)"), npyHead("<i8", "(2, 1)"), "{'descr': '<f8'", "'fortran_order': True", "'shape': (1,",
			"}"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 9), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "in"), "")
		if rapid.IntRange(0, 3).Draw(t, "header") == 0 {
			in = npyRaw(in)
		}
		for _, read := range []func(string) (*cost.Dense, error){
			func(s string) (*cost.Dense, error) { return costio.Read(strings.NewReader(s), "f") },
			func(s string) (*cost.Dense, error) { return costio.ReadNPY(strings.NewReader(s), "f") },
		} {
			if d, err := read(in); err == nil {
				if err := cost.Validate(context.Background(), d); err != nil {
					t.Fatalf("%q: %v", in, err)
				}
			}
		}
		if p, err := costio.ReadPoints(strings.NewReader(in), "f"); err == nil {
			if err := costio.WritePoints(new(bytes.Buffer), p); err != nil {
				t.Fatalf("%q: points that cannot be written: %v", in, err)
			}
		}
		if c, err := costio.ReadCounts(strings.NewReader(in), "f", nil); err == nil {
			if err := costio.WriteCounts(new(bytes.Buffer), c); err != nil {
				t.Fatalf("%q: counts that cannot be written: %v", in, err)
			}
		}
	})
}
