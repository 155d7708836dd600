package fuzz

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/wpmerr"
)

var costSentinels = []error{
	wpmerr.ErrShape, wpmerr.ErrNotFinite, wpmerr.ErrNegative, cost.ErrExponent, cost.ErrPoint, wpmerr.ErrTooLarge, cost.ErrSpec,
}

const maxCells = 1 << 12 // of a structured cost that a target builds

// FuzzCostSpec: an accepted text has one canonical form, and the cost it describes has finite entries >= 0.
func FuzzCostSpec(f *testing.F) {
	for _, s := range []string{
		`{"kind":"explicit","C":[[0,1],[1,0]]}`, `{"kind":"ring","n":30,"p":2}`, `{"kind":"grid","rows":3,"cols":4,"p":1}`,
		`{"kind":"points","x":[[0,0],[1,0]],"v":[[0,1]],"p":2}`, `{"kind":"cosine","x":[[1,2],[0,0]],"v":[[1,1]]}`,
		`{"kind":"greatcircle","x":[[48.2,16.4],[-90,180]],"p":0.5}`, `{"kind":"ring","n":30,"n":31}`,
		`{"Kind":"ring","n":3}`,
		`{"kind":"explicit","C":[[1e308]]}`, `{"kind":"ring","n":16777216}`, `{"kind":"points","x":[[1e200],[-1e200]],"p":2}`,
		`{"kind":"explicit","C":[[null]]}`, `{"kind":"explicit","C":[[-0]]}`, `null`, `[]`, ` {"kind":"ring","n":3} `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		s, err := cost.ParseSpec(data)
		if !bytes.Equal(data, kept) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			typed(t, err, costSentinels...)
			return
		}
		canonical, err := json.Marshal(s)
		if err != nil {
			typed(t, err, costSentinels...)
			return
		}
		again, err := cost.ParseSpec(canonical)
		if err != nil {
			t.Fatalf("%q has the canonical form %q, which is refused: %v", data, canonical, err)
		}
		if text, err := json.Marshal(again); err != nil || !bytes.Equal(text, canonical) {
			t.Fatalf("%q -> %q -> %q, %v", data, canonical, text, err)
		}
		if s.N > maxCells || s.Rows > maxCells || s.Cols > maxCells || s.Rows*s.Cols > maxCells {
			return
		}
		m, err := s.Build()
		if err != nil {
			typed(t, err, costSentinels...)
			return
		}
		k, kv := m.Dims()
		if k < 1 || kv < 1 {
			t.Fatalf("%q is %d x %d", data, k, kv)
		}
		other, err := again.Build()
		if err != nil {
			t.Fatalf("%q builds, its canonical form does not: %v", data, err)
		}
		for i := 0; i < k; i += 1 + k/8 {
			row := m.Row(i, nil)
			if len(row) != kv {
				t.Fatalf("%q: row %d has %d entries, want %d", data, i, len(row), kv)
			}
			for j, c := range row {
				if !(c >= 0 && c <= math.MaxFloat64) {
					t.Fatalf("%q: C[%d][%d] = %v", data, i, j, c)
				}
			}
			sameBits(t, "row of the canonical form", other.Row(i, make([]float64, kv)), row)
		}
		if back, err := cost.SpecOf(context.Background(), m); err != nil {
			t.Fatalf("%q: SpecOf: %v", data, err)
		} else if text, err := json.Marshal(back); err != nil || !bytes.Equal(text, canonical) {
			// A default that was left out, and v that repeats x, may be spelt out.
			if spec, err := cost.ParseSpec(text); err != nil || spec.Kind != s.Kind {
				t.Fatalf("%q: SpecOf gives %q, %v", canonical, text, err)
			}
		}
	})
}

// fileError fails the test unless err is a *costio.Error that wraps a sentinel.
func fileError(t *testing.T, err error) {
	t.Helper()
	var e *costio.Error
	if !errors.As(err, &e) || e.Line < 0 || e.Field < 0 || e.File != "file" {
		t.Fatalf("%q (%T) names no place", err, err)
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		return // the error of the reader, which the package passes on
	}
	typed(t, err, append([]error{costio.ErrFormat, costio.ErrNumber, costio.ErrLabel, costio.ErrDuplicate,
		gzip.ErrHeader, gzip.ErrChecksum, io.ErrUnexpectedEOF}, costSentinels...)...)
}

// matrixTrips checks a matrix that was read, and that both writers write what reads back to the same bits.
func matrixTrips(t *testing.T, d *cost.Dense) {
	t.Helper()
	if err := cost.Validate(context.Background(), d); err != nil {
		t.Fatalf("read an invalid matrix: %v", err)
	}
	var csv, npy bytes.Buffer
	if err := costio.WriteCSV(context.Background(), &csv, d); err != nil {
		t.Fatal(err)
	}
	if err := costio.WriteNPY(context.Background(), &npy, d); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*bytes.Buffer{"CSV": &csv, "NPY": &npy} {
		again, err := costio.Read(b, "file")
		if err != nil {
			t.Fatalf("%s written does not read back: %v", name, err)
		}
		if again.K != d.K || again.Kv != d.Kv {
			t.Fatalf("%s came back as %d x %d, was %d x %d", name, again.K, again.Kv, d.K, d.Kv)
		}
		sameBits(t, name, again.Data, d.Data)
	}
}

func zipped(f *testing.F, b []byte) []byte {
	f.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// FuzzCostCSV: any bytes, as CSV, NPY or gzip of either, give a valid matrix that round-trips, or an error that
// names the place.
func FuzzCostCSV(f *testing.F) {
	for _, s := range []string{
		"0,1\n1,0\n", "a,b\n0,1\n", "\ufeff0, 1\r\n2 ,3", "1e-3,5e-324\n", "0,1\n2\n", "NaN\n", "-1\n", "\"1\",\"2\"\n",
		"0x10\n", "1_0\n", "", "\n\n",
		"1;2\n", "-0\n", "1e400\n", "inf", "x\n",
	} {
		f.Add([]byte(s))
	}
	f.Add(zipped(f, []byte("0,1\n1,0\n")))
	f.Add(zipped(f, zipped(f, []byte("0,1\n1,0\n"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooWide(data) {
			return
		}
		d, err := costio.Read(bytes.NewReader(data), "file")
		if err != nil {
			if fileError(t, err); d != nil {
				t.Fatal("a matrix beside an error")
			}
			return
		}
		matrixTrips(t, d)
	})
}

// tooWide tells bombs from what a target should spend its time on: decompressed data of more than 64 kB.
func tooWide(data []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return false
	}
	n := 0
	buf := make([]byte, 1<<12)
	for n < 1<<16 {
		m, err := z.Read(buf)
		if n += m; err != nil {
			return false
		}
	}
	return true
}

// FuzzCostNPY: the binary reader on its own.
func FuzzCostNPY(f *testing.F) {
	for _, rows := range [][][]float64{{{0, 1}, {1, 0}}, {{5e-324}}, {{1, 2, 3}}} {
		d, err := cost.FromRows(rows)
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := costio.WriteNPY(context.Background(), &b, d); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		f.Add(zipped(f, b.Bytes()))
		for _, swap := range [][2]string{{"<f8", ">f8"}, {"<f8", "<i8"}, {"<f8", "<u8"}, {"False", "True "}, {"<f8", "|b1"},
			{"(2, 2)", "(9, 9)"}, {"(2, 2)", "(-1,2)"}} {
			f.Add(bytes.Replace(b.Bytes(), []byte(swap[0]), []byte(swap[1]), 1))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooWide(data) {
			return
		}
		d, err := costio.ReadNPY(bytes.NewReader(data), "file")
		if err != nil {
			if fileError(t, err); d != nil {
				t.Fatal("a matrix beside an error")
			}
			return
		}
		matrixTrips(t, d)
	})
}

// FuzzPoints: what is read round-trips, labels and coordinates.
func FuzzPoints(f *testing.F) {
	for _, s := range []string{
		"label,x1,x2\nhome,0,1\nwork,2.5,-3\n", "a,1\nb,2\n", "a,1\na,2\n", "\"x, y\",1\n", "a\n", ",1\n", "a,NaN\n",
		"a,1,2\nb,1\n", "label,x\n", "", "a,1e999\n",
		"\ufeffa,1\n", "a,\"1\"\n", "\"a\"\"b\",1\n", "a, 1 \n", "é,1\n", "\xff,1\n",
		"lon,label,lat\n16.4,Wien,48.2\n", "y,id,x\n2,a,1\n", "x2,name,x1\n2,a,1\n", "label,lat\na,1\n", "x,0\n",
		"label,lat,lon,n\n", "label;x\na;1,5\n", "id\tname\tx\n1\ta\t2\n",
		`{"type":"FeatureCollection","features":[{"id":"a","geometry":{"type":"Point","coordinates":[16.4,48.2]}},` +
			`{"properties":{"name":"b"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,2],[0,0]]]}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooWide(data) {
			return
		}
		p, err := costio.ReadPoints(bytes.NewReader(data), "file")
		if err != nil {
			if fileError(t, err); p != nil {
				t.Fatal("points beside an error")
			}
			return
		}
		seen := map[string]bool{}
		for i, x := range p.X {
			finite(t, "coordinates", x...)
			if len(x) == 0 || len(x) != len(p.X[0]) || p.Columns != nil && len(x) != len(p.Columns) || p.Labels[i] == "" ||
				seen[p.Labels[i]] {
				t.Fatalf("point %d: %q %v", i, p.Labels[i], x)
			}
			seen[p.Labels[i]] = true
		}
		var b bytes.Buffer
		if err := costio.WritePoints(&b, p); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := costio.ReadPoints(&b, "file")
		if err != nil || !reflect.DeepEqual(again.Labels, p.Labels) || len(again.X) != len(p.X) ||
			p.Columns != nil && !reflect.DeepEqual(again.Columns, p.Columns) {
			t.Fatalf("%v came back as %v, %v", p, again, err)
		}
		for i := range p.X {
			sameBits(t, "coordinates", again.X[i], p.X[i])
		}
	})
}

// FuzzCounts: what is read round-trips, with and without users, with and without expected labels.
func FuzzCounts(f *testing.F) {
	for _, s := range []string{
		"user,label,count\nu,home,3\nu,work,0.5\nv,home,1e3\n", "label,count\nhome,3\nwork,0\n", "home,3\nhome,4\n",
		"u,home,3\nu,home,3\n", "home,-1\n",
		"home,NaN\n", "elsewhere,1\n", "home\n", "a,b,c,d\n", "", "label,count\n", "\"home\",3\r\n",
		"u,home,9007199254740993\n", "home,count\n",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, known bool) {
		if tooWide(data) {
			return
		}
		var labels []string
		if known {
			labels = []string{"home", "work"}
		}
		c, err := costio.ReadCounts(bytes.NewReader(data), "file", labels)
		if err != nil {
			if fileError(t, err); c != nil {
				t.Fatal("counts beside an error")
			}
			return
		}
		for _, r := range c.Rows {
			if !(r.N >= 0 && r.N <= math.MaxFloat64) || int(r.Label) >= len(c.Labels) || r.Label < 0 || r.User < 0 ||
				len(c.Users) > 0 && int(r.User) >= len(c.Users) {
				t.Fatalf("row %+v of %v", r, c)
			}
		}
		if known && !reflect.DeepEqual(c.Labels, labels) {
			t.Fatalf("labels %q", c.Labels)
		}
		var b bytes.Buffer
		if err := costio.WriteCounts(&b, c); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := costio.ReadCounts(&b, "file", labels)
		if err != nil || len(again.Rows) != len(c.Rows) || !reflect.DeepEqual(again.Users, c.Users) ||
			!reflect.DeepEqual(again.Labels, c.Labels) {
			t.Fatalf("%+v came back as %+v, %v", c, again, err)
		}
		for i, r := range c.Rows {
			s := again.Rows[i]
			if r.User != s.User || r.Label != s.Label || math.Float64bits(r.N) != math.Float64bits(s.N) {
				t.Fatalf("row %d: %+v came back as %+v", i, r, s)
			}
		}
	})
}

// FuzzTally: what is read is whole and bounded, and comes back when it is written in the other order, by index.
func FuzzTally(f *testing.F) {
	for _, s := range []string{
		"label,count\nhome,3\nwork,0\n", "index,count\n1,9007199254740992\n", "count,label\n3,home\n",
		"label,count,estimate,lower,upper\nhome,1,1,0.5,1\n",
		"label,count\nhome,1\nhome,1\n", "label,count\nhome,-1\n", "label,count\nhome,1e3\n", "home,1\n",
		"index,count\n2,1\n", "", "label,count\nelsewhere,1\n",
		"index,count\n0,9007199254740992\n1,1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooWide(data) {
			return
		}
		labels := []string{"home", "work"}
		tally, err := costio.ReadTally(bytes.NewReader(data), "file", labels)
		if err != nil {
			if fileError(t, err); tally != nil {
				t.Fatal("counts beside an error")
			}
			return
		}
		if len(tally) != 2 || tally[0] > 1<<53 || tally[1] > 1<<53 || tally[0]+tally[1] > 1<<53 {
			t.Fatalf("%d", tally)
		}
		again, err := costio.ReadTally(strings.NewReader(fmt.Sprintf("count,index\n%d,1\n%d,0\n", tally[1], tally[0])),
			"file", labels)
		if err != nil || !reflect.DeepEqual(again, tally) {
			t.Fatalf("%d came back as %d, %v", tally, again, err)
		}
	})
}
