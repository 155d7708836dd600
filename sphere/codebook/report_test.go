package codebook

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest/given"
)

var (
	_ encoding.BinaryMarshaler   = Report{}
	_ encoding.BinaryUnmarshaler = (*Report)(nil)
	_ encoding.TextMarshaler     = Report{}
	_ encoding.TextUnmarshaler   = (*Report)(nil)
)

// TestReportBytes: the bytes and the text of one report, frozen.
func TestReportBytes(t *testing.T) {
	r := Report{index: 0x01020304 & (MaxPoints - 1)}
	for i := range r.seed {
		r.id[i], r.seed[i] = byte(0xa0^i), byte(i+1)
	}
	const want = "77706331" + "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf" +
		"0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20" + "04030200"
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b); got != want || r.String() != want || len(b) != ReportSize || ReportSize != 72 {
		t.Errorf("report %s, text %v, want %s", got, r, want)
	}
	for _, back := range []*Report{read(t, b), readText(t, want)} {
		if *back != r || back.Index() != 0x20304 || back.Seed() != r.seed || back.PolicyID() != r.id {
			t.Errorf("read back %v", back)
		}
	}
}

func read(t *testing.T, b []byte) *Report {
	t.Helper()
	var r Report
	if err := r.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	return &r
}

func readText(t *testing.T, s string) *Report {
	t.Helper()
	var r Report
	if err := r.UnmarshalText([]byte(s)); err != nil {
		t.Fatal(err)
	}
	return &r
}

// TestReportErrors: every other length, a change of any byte of the magic, an index beyond the limit, zero; text of
// another length, with capital letters or none of hexadecimal. The receiver stays.
func TestReportErrors(t *testing.T) {
	report := Report{id: [32]byte{0xab}, seed: Seed{1}, index: 7}
	good, err := report.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	kept := Report{seed: Seed{9}, index: 3}
	refuse := func(what string, read func(r *Report) error) {
		t.Helper()
		r := kept
		if err := read(&r); !errors.Is(err, ErrReport) || r != kept {
			t.Errorf("%s: %v, %v", what, r, err)
		}
	}
	binary := func(what string, b []byte) {
		t.Helper()
		refuse(what, func(r *Report) error { return r.UnmarshalBinary(b) })
	}
	for n := range 2 * ReportSize {
		if n != ReportSize {
			binary("length", append(bytes.Clone(good), good...)[:n])
		}
	}
	for i := range magic {
		b := bytes.Clone(good)
		b[i] ^= 1
		binary("magic", b)
	}
	b := bytes.Clone(good)
	copy(b[ReportSize-4:], []byte{0, 0, 0x10, 0}) // 2^20
	binary("index", b)
	copy(b[ReportSize-4:], []byte{0xff, 0xff, 0x0f, 0})
	if last := read(t, b); last.Index() != MaxPoints-1 {
		t.Errorf("the last index is read as %d", last.Index())
	}
	binary("zero", append([]byte(magic), make([]byte, ReportSize-len(magic))...))
	for _, s := range []string{"", report.String()[2:], report.String() + "00", strings.ToUpper(report.String()),
		"zz" + report.String()[2:]} {
		refuse(s, func(r *Report) error { return r.UnmarshalText([]byte(s)) })
	}
	for _, err := range []error{func() error { _, err := (Report{}).MarshalBinary(); return err }(),
		func() error { _, err := (Report{}).MarshalText(); return err }()} {
		if !errors.Is(err, ErrReport) {
			t.Errorf("zero report: %v", err)
		}
	}
	if (Report{}).String() != "report(zero)" || !(Report{}).IsZero() {
		t.Error("the zero report")
	}
}

// TestPoint: a report stands for its candidate; one of another codebook is refused.
func TestPoint(t *testing.T) {
	free := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 16})
	fixed := design(t, Config{Dim: 2, P: 2, Epsilon: given.Epsilon(t, "1"), Points: 16, Seed: Seed{5}})
	for _, c := range []*Codebook{free, fixed} {
		r, err := c.Simulate(newStream(3), []float64{0, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		y, err := c.Point(r)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := c.Candidate(r.Seed(), r.Index()); err != nil || !sameFloats(y, want) {
			t.Errorf("point %v, want %v, %v", y, want, err)
		}
	}
	for what, r := range map[string]Report{
		"index beyond the candidates": {id: free.ID(), seed: Seed{1}, index: 16},
		"another policy":              {id: fixed.ID(), seed: Seed{1}, index: 3},
	} {
		if _, err := free.Point(r); !errors.Is(err, ErrReport) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := fixed.Point(Report{id: fixed.ID(), seed: Seed{1}, index: 3}); !errors.Is(err, ErrReport) {
		t.Errorf("a seed that is not the fixed one: %v", err)
	}
}

func sameFloats(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// FuzzReport: no bytes and no text make a report but those that it is written as, and a report belongs to the codebook
// that its ID names if that has its seed and its candidate.
func FuzzReport(f *testing.F) {
	fixed := tiny(f)
	cfg := fixed.cfg
	cfg.Seed = Seed{}
	books := []*Codebook{fixed, design(f, cfg)}
	for _, c := range books {
		for _, index := range []uint32{0, 8, 9, MaxPoints - 1, MaxPoints} {
			b := slices.Concat([]byte(magic), c.id[:], fixed.cfg.Seed[:], binary.LittleEndian.AppendUint32(nil, index))
			f.Add(b)
			f.Add(hex.AppendEncode(nil, b))
			f.Add(bytes.ToUpper(hex.AppendEncode(nil, b)))
			f.Add(b[:len(b)-1])
		}
	}
	f.Add(make([]byte, ReportSize))
	f.Fuzz(func(t *testing.T, data []byte) {
		var x, y Report
		if err := x.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrReport) || !x.IsZero() {
				t.Fatalf("%x: %v, %v", data, x, err)
			}
		} else if again, err := x.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x became %x, %v", data, again, err)
		}
		if err := y.UnmarshalText(data); err != nil {
			if !errors.Is(err, ErrReport) || !y.IsZero() {
				t.Fatalf("%q: %v, %v", data, y, err)
			}
		} else if again, err := y.MarshalText(); err != nil || !bytes.Equal(again, data) || y.String() != string(data) {
			t.Fatalf("%q became %q, %v", data, again, err)
		}
		for _, c := range books {
			want := bytes.HasPrefix(data, []byte(magic)) && len(data) == 72 && bytes.Equal(data[4:36], c.id[:]) &&
				(c.Fresh() || bytes.Equal(data[36:68], c.cfg.Seed[:])) && binary.LittleEndian.Uint32(data[68:]) < 9
			if got := c.Belongs(x) == nil; got != want {
				t.Fatalf("%x: it belongs: %v, want %v", data, got, want)
			}
		}
	})
}
