package certificate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestReadAnswers: what is no answer is named with its line, and what is beyond it is not read.
func TestReadAnswers(t *testing.T) {
	for text, want := range map[string][]int{
		"": nil, " \n": nil, "{}": {1}, "{}\n\n{} {}": {1, 3, 3}, "{}\nx\n{}": {1, 2},
		`{"certificate":1,"certificate":2}`: {1}, `{"format":"wpm-policy-1"}`: {1}, "{": {1},
	} {
		var lines []int
		err := ReadAnswers(strings.NewReader(text), func(line int, c Certificate, err error) error {
			if lines = append(lines, line); err == nil {
				t.Errorf("%q: line %d is a certificate", text, line)
			}
			return nil
		})
		if err != nil || len(lines) != len(want) {
			t.Errorf("%q: lines %d, want %d, %v", text, lines, want, err)
			continue
		}
		for i := range want {
			if lines[i] != want[i] {
				t.Errorf("%q: lines %d, want %d", text, lines, want)
			}
		}
	}
	stop := errors.New("stop")
	if err := ReadAnswers(strings.NewReader("{}{}"), func(int, Certificate, error) error { return stop }); err != stop {
		t.Error(err)
	}
	for text, want := range map[string]string{`{"cost":{"kind":"ring"}}`: `{"kind":"ring"}`, `{}`: "", `[]`: "",
		`{"cost":1,"cost":2}`: "", `{"cost":`: ""} {
		if got := string(CostOf([]byte(text))); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzObjects: of a text that encoding/json reads as one object after the other, the same objects are cut out, and the
// lines are those on which they begin.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{"", "{}", " \r\n\t{}{}\n{\"a\":[{}]}", `{"}":"\"}","x":"\\\\"}` + "\n\n{}", "{}x", "{",
		`{"a`, "[{}]", "{]{}", "{}\n[]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects := objectReader{in: bufio.NewReader(bytes.NewReader(data)), line: 1}
		dec := json.NewDecoder(bytes.NewReader(data))
		for {
			var want json.RawMessage
			werr := dec.Decode(&want)
			got, line, err := objects.next()
			if werr != nil && werr != io.EOF {
				return // not JSON from here on
			}
			if werr == io.EOF && err != io.EOF {
				t.Fatalf("%q after the last value: %q, %v", data, got, err)
			}
			if werr == io.EOF {
				return
			}
			if want[0] != '{' {
				if err == nil {
					t.Fatalf("%q: %q is no object, and read as %q", data, want, got)
				}
				return
			}
			start := int(dec.InputOffset()) - len(want)
			if err != nil || !bytes.Equal(got, want) || line != 1+bytes.Count(data[:start], []byte("\n")) {
				t.Fatalf("%q: %q on line %d, %v, want %q", data, got, line, err, want)
			}
		}
	})
}
