package policy

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

var (
	_ encoding.BinaryMarshaler   = Report{}
	_ encoding.BinaryUnmarshaler = (*Report)(nil)
	_ encoding.TextMarshaler     = Report{}
	_ encoding.TextUnmarshaler   = (*Report)(nil)
)

func TestReport(t *testing.T) {
	r := Report{id: [32]byte{0xab, 31: 0xcd}, index: 0x00012345}
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	want := append([]byte("wpm1\xab"), make([]byte, 30)...)
	want = append(want, 0xcd, 0x45, 0x23, 0x01, 0x00)
	if !bytes.Equal(b, want) || len(b) != 40 || ReportSize != 40 {
		t.Errorf("%x, want %x", b, want)
	}
	var s Report
	if err := s.UnmarshalBinary(b); err != nil || s != r {
		t.Errorf("%v, %v", s, err)
	}
	text, err := r.MarshalText()
	if err != nil || len(text) != 80 || string(text) != r.String() {
		t.Fatalf("%s, %v", text, err)
	}
	var u Report
	if err := u.UnmarshalText(text); err != nil || u != r {
		t.Errorf("%v, %v", u, err)
	}
	if s.Index() != 0x12345 || s.PolicyID() != r.id || s.IsZero() {
		t.Errorf("index %d id %x", s.Index(), s.PolicyID())
	}
	js, err := json.Marshal(map[string]Report{"r": r})
	if err != nil || string(js) != `{"r":"`+r.String()+`"}` {
		t.Errorf("%s, %v", js, err)
	}
	var back map[string]Report
	if err := json.Unmarshal(js, &back); err != nil || back["r"] != r {
		t.Errorf("%v, %v", back, err)
	}
}

func TestReportErrors(t *testing.T) {
	good := Report{id: [32]byte{1}, index: 7}
	b, err := good.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(i int, v byte) []byte {
		c := bytes.Clone(b)
		c[i] = v
		return c
	}
	for _, tc := range []struct {
		name string
		data []byte
	}{
		{"empty", nil},
		{"short", b[:39]},
		{"long", append(bytes.Clone(b), 0)},
		{"magic", edit(3, '2')},
		{"index of 2^20", edit(38, 0x10)},
		{"index of 2^31", edit(39, 0x80)},
		{"zero", append([]byte("wpm1"), make([]byte, 36)...)},
	} {
		r := Report{index: 99}
		if err := r.UnmarshalBinary(tc.data); !errors.Is(err, ErrReport) || r != (Report{index: 99}) {
			t.Errorf("%s: %v, receiver %v", tc.name, err, r)
		}
	}
	text := good.String()
	for _, s := range []string{"", text[:79], text + "0", strings.Replace(text, "77", "7g", 1), strings.Repeat("0", 80),
		strings.ToUpper(good.String())} {
		r := Report{index: 99}
		if err := r.UnmarshalText([]byte(s)); !errors.Is(err, ErrReport) || r != (Report{index: 99}) {
			t.Errorf("%q: %v, receiver %v", s, err, r)
		}
	}
	var zero Report
	if _, err := zero.MarshalBinary(); !errors.Is(err, ErrReport) {
		t.Errorf("zero MarshalBinary: %v", err)
	}
	if _, err := zero.MarshalText(); !errors.Is(err, ErrReport) {
		t.Errorf("zero MarshalText: %v", err)
	}
	if zero.String() != "report(zero)" {
		t.Errorf("zero String: %q", zero)
	}
}

func TestBelongs(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for _, tc := range []struct {
		name string
		r    Report
		ok   bool
	}{
		{"first", Report{p.ID(), 0}, true},
		{"last in use", Report{p.ID(), 2}, true},
		{"weight 0", Report{p.ID(), 3}, false},
		{"beyond", Report{p.ID(), 4}, false},
		{"far beyond", Report{p.ID(), 1<<32 - 1}, false},
		{"another policy", Report{[32]byte{1}, 0}, false},
		{"zero", Report{}, false},
	} {
		if err := p.Belongs(tc.r); (err == nil) != tc.ok || err != nil && !errors.Is(err, ErrReport) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestReportEdges: the first output that no policy has, and a text that is too short.
func TestReportEdges(t *testing.T) {
	var r Report
	data := binary.LittleEndian.AppendUint32(append([]byte(magic), slices.Repeat([]byte{7}, 32)...), MaxOutputs)
	if err := r.UnmarshalBinary(data); !errors.Is(err, ErrReport) ||
		!strings.HasSuffix(err.Error(), "output 1048576, at most 1048575") {
		t.Errorf("a report of output 2^20: %v", err)
	}
	if err := r.UnmarshalText([]byte("00")); err == nil || !strings.HasSuffix(err.Error(), "2 characters, want 80") {
		t.Errorf("a short text: %v", err)
	}
}
