package costio

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// endless returns the same text for ever, and counts.
type endless struct {
	text string
	n    int64
}

func (e *endless) Read(p []byte) (int, error) {
	at := int(e.n % int64(len(e.text)))
	for n := copy(p, e.text[at:]+e.text[:at]); n < len(p); {
		n += copy(p[n:], p[:n])
	}
	e.n += int64(len(p))
	return len(p), nil
}

func TestBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		b    bounded
		want error
		max  int64 // bytes taken from the source before the error
	}{
		{"bytes", bounded{r: &endless{text: "1\n"}, left: 1 << 20, text: true}, errBytes, 1<<20 + chunkBytes},
		{"bytes, not text", bounded{r: &endless{text: ","}, left: 1 << 25}, errBytes, 1<<25 + chunkBytes},
		{"commas", bounded{r: &endless{text: ","}, left: 1 << 62, text: true}, errLine, MaxFields + chunkBytes},
		{"line", bounded{r: &endless{text: "a"}, left: 1 << 62, text: true}, errLine, MaxLine + chunkBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := io.Copy(io.Discard, &c.b)
			if !errors.Is(err, c.want) || !errors.Is(err, wpmerr.ErrTooLarge) {
				t.Errorf("%s: %v, want %v", c.name, err, c.want)
			}
			if n := c.b.r.(*endless).n; n > c.max {
				t.Errorf("%s: stopped after %d bytes, want at most %d", c.name, n, c.max)
			}
		})
	}
	// Long lines are not short ones joined.
	ok := bounded{r: io.LimitReader(&endless{text: strings.Repeat("1,", 1000) + "\n"}, 1<<26), left: 1 << 27, text: true}
	if _, err := io.Copy(io.Discard, &ok); err != nil {
		t.Errorf("many lines: %v", err)
	}
	over := bounded{r: strings.NewReader("12345"), left: 4}
	if got, err := io.ReadAll(&over); !errors.Is(err, errBytes) {
		t.Errorf("one byte over the bound: %q, %v", got, err)
	}
	// A file of exactly the bound is not too large.
	ok = bounded{r: strings.NewReader("12345"), left: 5}
	if got, err := io.ReadAll(&ok); err != nil || string(got) != "12345" {
		t.Errorf("exact bound: %q, %v", got, err)
	}
}

func TestBecomeText(t *testing.T) {
	// Read allows the bytes of an NPY file until it knows better.
	s, err := newSource(&endless{text: "1\n"}, "x", maxNPYBytes, false)
	if err != nil {
		t.Fatal(err)
	}
	s.becomeText()
	if s.below.left != MaxBytes || !s.below.text {
		t.Errorf("%d bytes, text %v, want %d, true", s.below.left, s.below.text, MaxBytes)
	}
}
