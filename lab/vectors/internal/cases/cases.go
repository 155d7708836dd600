// Package cases collects the cases of a kind of test vectors and writes their file.
package cases

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

// A vector is one case. In and Out are structs of strings: no reader has to keep a number in a double.
type vector struct {
	ID        string   `json:"id"`
	Statement string   `json:"statement"`
	Flags     []string `json:"flags"`
	Valid     bool     `json:"valid"`
	Error     string   `json:"error,omitempty"`
	In        any      `json:"in"`
	Out       any      `json:"out,omitempty"`
}

// A Set holds the cases of a kind. RNG draws them.
type Set struct {
	RNG values.RNG

	kind, statement string
	cases           []vector
	seen            map[string]bool // inputs
}

// New returns an empty set, with the generator of its kind. The statement is what its cases are about.
func New(kind, statement string) *Set {
	return &Set{RNG: values.NewRNG(kind), kind: kind, statement: statement, seen: map[string]bool{}}
}

// Add adds a case unless the same input is there already: a valid one with its answer if reason is "", else one that is
// refused for that reason. Each flag, and the reason, must have a note.
func (s *Set) Add(reason string, in, out any, flags ...string) {
	text, err := json.Marshal(in)
	if err != nil {
		panic(err)
	}
	if s.seen[string(text)] {
		return
	}
	s.seen[string(text)] = true
	if flags == nil {
		flags = []string{}
	}
	for _, f := range flags {
		if flagNotes[f] == "" {
			panic("no note for flag " + f)
		}
	}
	v := vector{Statement: s.statement, Flags: flags, Valid: reason == "", Error: reason, In: in}
	if v.Valid {
		v.Out = out
	} else if flagNotes["invalid: "+reason] == "" {
		panic("no note for error " + reason)
	}
	s.cases = append(s.cases, v)
}

// Valid adds a case with its answer, see Add.
func (s *Set) Valid(in, out any, flags ...string) { s.Add("", in, out, flags...) }

// Invalid adds a case that is refused, see Add.
func (s *Set) Invalid(reason string, in any, flags ...string) { s.Add(reason, in, nil, flags...) }

func (s *Set) count() (valid, invalid int) {
	for _, v := range s.cases {
		if v.Valid {
			valid++
		} else {
			invalid++
		}
	}
	return valid, invalid
}

// Until calls f with 0, 1, .. until the set has so many valid and invalid cases.
func (s *Set) Until(valid, invalid int, f func(n int)) {
	for n := 0; ; n++ {
		if v, i := s.count(); v >= valid && i >= invalid {
			return
		}
		if n > 20000 {
			panic("the cases of " + s.kind + " do not come to an end")
		}
		f(n)
	}
}

// Encode returns the text of the file: one case on a line.
func (s *Set) Encode() []byte {
	valid, invalid := s.count()
	notes := map[string]string{}
	for _, v := range s.cases {
		for _, f := range v.Flags {
			notes[f] = flagNotes[f]
		}
		if !v.Valid {
			notes["invalid: "+v.Error] = flagNotes["invalid: "+v.Error]
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"kind\": %q,\n\"version\": 1,\n\"generated_by\": \"cd lab && go run ./vectors ../vectors\",\n", s.kind)
	fmt.Fprintf(&b, "\"valid\": %d,\n\"invalid\": %d,\n\"notes\": %s,\n\"cases\": [\n", valid, invalid, marshal(notes))
	for n := range s.cases {
		s.cases[n].ID = fmt.Sprintf("%s-%04d", s.kind, n+1)
		b.Write(marshal(s.cases[n]))
		if n < len(s.cases)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n}\n")
	return b.Bytes()
}

func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
