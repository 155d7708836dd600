package codebook

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"errors"
	"testing"
)

var (
	_ encoding.BinaryMarshaler   = Report{}
	_ encoding.BinaryUnmarshaler = (*Report)(nil)
)

// TestReportBytes: the bytes of one report, frozen.
func TestReportBytes(t *testing.T) {
	r := Report{index: 0x01020304 & (MaxPoints - 1)}
	for i := range r.seed {
		r.seed[i] = byte(i + 1)
	}
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	const want = "77707331" + "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20" + "04030200"
	if got := hex.EncodeToString(b); got != want || len(b) != ReportSize || ReportSize != 40 {
		t.Errorf("report %s, want %s", got, want)
	}
	var back Report
	if err := back.UnmarshalBinary(b); err != nil || back != r || back.Index() != 0x20304 || back.Seed() != r.seed {
		t.Errorf("read back %v, %v", back, err)
	}
}

// TestReportErrors: every other length, a change of any byte of the magic, an index beyond the limit, zero. The receiver stays.
func TestReportErrors(t *testing.T) {
	good, err := Report{seed: Seed{1}, index: 7}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	kept := Report{seed: Seed{9}, index: 3}
	refuse := func(what string, b []byte) {
		t.Helper()
		r := kept
		if err := r.UnmarshalBinary(b); !errors.Is(err, ErrReport) || r != kept {
			t.Errorf("%s: %v, %v", what, r, err)
		}
	}
	for n := range 2 * ReportSize {
		if n != ReportSize {
			refuse("length", append(bytes.Clone(good), good...)[:n])
		}
	}
	for i := range magic {
		b := bytes.Clone(good)
		b[i] ^= 1
		refuse("magic", b)
	}
	b := bytes.Clone(good)
	b[ReportSize-2] = 0x10 // 2^20
	refuse("index", b)
	refuse("zero", append([]byte(magic), make([]byte, 36)...))
	if _, err := (Report{}).MarshalBinary(); !errors.Is(err, ErrReport) || !(Report{}).IsZero() {
		t.Errorf("zero report: %v", err)
	}
}

// TestPoint: a report stands for its candidate; one of another codebook is refused.
func TestPoint(t *testing.T) {
	free := design(t, Config{Dim: 2, P: 2, Epsilon: epsilon(t, "1"), Points: 16})
	fixed := design(t, Config{Dim: 2, P: 2, Epsilon: epsilon(t, "1"), Points: 16, Seed: Seed{5}})
	for _, c := range []*Codebook{free, fixed} {
		r, err := c.Release([]float64{0, 0, 1})
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
	if _, err := free.Point(Report{seed: Seed{1}, index: 16}); !errors.Is(err, ErrReport) {
		t.Errorf("index beyond the candidates: %v", err)
	}
	if _, err := fixed.Point(Report{seed: Seed{1}, index: 3}); !errors.Is(err, ErrReport) {
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
