package costio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestLines reads texts in one piece, byte by byte and gzipped: each line once, long ones marked and skipped.
func TestLines(t *testing.T) {
	const limit = 8
	for _, c := range []struct {
		in   string
		want []string // "+" for a line that is too long
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"\n\na\r\n\r\r\nb", []string{"", "", "a", "\r", "b"}},
		{"12345678\n123456789\nx\n", []string{"12345678", "+", "x"}},
		{"12345678\r\nx", []string{"12345678", "x"}},
		{strings.Repeat("z", 1<<17) + "\nx\n", []string{"+", "x"}},
		{"x\n" + strings.Repeat("z", 1<<17), []string{"x", "+"}},
		{strings.Repeat("z", 1<<16), []string{"+"}},
		{strings.Repeat("z", 1<<16) + "\n", []string{"+"}},
		{"\x1f", []string{"\x1f"}},
	} {
		for name, r := range map[string]io.Reader{
			"plain": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in)),
			"zipped": strings.NewReader(zipped(t, c.in)), "data with EOF": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			in, err := costio.Unzip(r)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			lines := costio.NewLines(in, limit)
			for lines.Next() {
				s := string(lines.Bytes())
				if lines.Long() {
					s += "+"
				}
				if got = append(got, s); lines.Number() != len(got) {
					t.Errorf("line %d is called %d", len(got), lines.Number())
				}
			}
			if lines.Err() != nil || lines.Next() {
				t.Errorf("%.20q: %v", c.in, lines.Err())
			}
			if want := c.in != "" && !strings.HasSuffix(c.in, "\n"); lines.Cut() != want {
				t.Errorf("%.20q ends within a line: %v", c.in, lines.Cut())
			}
			numtest.Equal(t, fmt.Sprintf("%s: %.20q", name, c.in), got, c.want)
		}
	}
}

// TestLinesErrors: half a line before an error is none, and a broken archive is an error and not the end.
func TestLinesErrors(t *testing.T) {
	in, err := costio.Unzip(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(errRead)))
	if err != nil {
		t.Fatal(err)
	}
	lines := costio.NewLines(in, 100)
	if !lines.Next() || string(lines.Bytes()) != "a" || lines.Next() || !errors.Is(lines.Err(), errRead) {
		t.Errorf("%q, %v", lines.Bytes(), lines.Err())
	}
	whole := zipped(t, "a\nb\n")
	if in, err = costio.Unzip(strings.NewReader(whole[:len(whole)-3])); err != nil {
		t.Fatal(err)
	}
	lines = costio.NewLines(in, 100)
	for lines.Next() {
	}
	if !errors.Is(lines.Err(), io.ErrUnexpectedEOF) {
		t.Errorf("half an archive: %v", lines.Err())
	}
	for name, r := range map[string]io.Reader{"no reader": nil, "bad disk": iotest.ErrReader(errRead),
		"half a header": strings.NewReader("\x1f\x8b\x08")} {
		t.Run(name, func(t *testing.T) {
			if _, err := costio.Unzip(r); err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

// TestLinesMemory: Mebibytes of lines, and one line of as many, take the memory of two buffers.
func TestLinesMemory(t *testing.T) {
	for name, piece := range map[string]string{"lines": "0123456789abcde\n", "one line": "0123456789abcdef"} {
		text := &repeated{[]byte(strings.Repeat(piece, 64))}
		in, err := costio.Unzip(io.LimitReader(text, int64(numtest.Cases(16, 64))<<20))
		if err != nil {
			t.Fatal(err)
		}
		lines := costio.NewLines(in, 4096)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for lines.Next() {
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
}

// repeated is the same text for ever.
type repeated struct{ text []byte }

func (r *repeated) Read(p []byte) (int, error) {
	n := len(p) - len(p)%len(r.text)
	if n == 0 {
		return bytes.NewReader(r.text).Read(p)
	}
	for i := 0; i < n; i += len(r.text) {
		copy(p[i:], r.text)
	}
	return n, nil
}
