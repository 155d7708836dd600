// Command gen writes the test vectors of the folder above it.
//
//	go run ./vectors/gen vectors      (from the root of the module)
//
// It uses exact arithmetic and short loops, and shares no code with the packages that the vectors test: only
// proptest/exact, the oracle of the laws. The same program writes the same bytes on every machine.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
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

// A set collects the cases of a kind.
type set struct {
	kind, statement string
	rng             rng
	cases           []vector
	seen            map[string]bool
}

// add adds a case unless the same input is there already.
func (s *set) add(reason string, in, out any, flags ...string) {
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

func (s *set) valid(in, out any, flags ...string)             { s.add("", in, out, flags...) }
func (s *set) invalid(reason string, in any, flags ...string) { s.add(reason, in, nil, flags...) }
func (s *set) count() (valid, invalid int) {
	for _, v := range s.cases {
		if v.Valid {
			valid++
		} else {
			invalid++
		}
	}
	return valid, invalid
}

// until runs f until the set has so many valid and invalid cases.
func (s *set) until(valid, invalid int, f func(n int)) {
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

// encode writes the file: one case on a line.
func (s *set) encode() []byte {
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
	fmt.Fprintf(&b, "{\n\"kind\": %q,\n\"version\": 1,\n\"generated_by\": \"go run ./vectors/gen vectors\",\n", s.kind)
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

// generators are the kinds, each with the statement that its vectors are about.
var generators = []struct {
	kind, statement string
	fill            func(*set)
}{
	{"verify", "docs/spec/mechanism.md, The box", verifyVectors},
	{"box", "docs/spec/mechanism.md, From a base measure to a box", boxVectors},
	{"round", "docs/spec/mechanism.md, Rounding", roundVectors},
	{"sample", "docs/spec/mechanism.md, Drawing", sampleVectors},
	{"phi", "docs/mathematics.md, knapsack", phiVectors},
	{"project", "docs/mathematics.md, projection", projectVectors},
	{"kl", "docs/mathematics.md, divergence", klVectors},
	{"kpm", "docs/mathematics.md, KPM", kpmVectors},
	{"hilbert", "docs/mathematics.md, Hilbert", hilbertVectors},
	{"entropic", "docs/mathematics.md, entropic projection", entropicVectors},
	{"base", "docs/mathematics.md, base measure", baseVectors},
	{"sphere", "docs/mathematics.md, sphere", sphereVectors},
	{"release", "docs/spec/release.md", releaseVectors},
	{"aggregate", "docs/spec/counts.md", aggregateVectors},
}

// generate returns the files by kind.
func generate() map[string][]byte {
	files := map[string][]byte{}
	for _, g := range generators {
		s := &set{kind: g.kind, statement: g.statement, rng: newRNG(g.kind), seen: map[string]bool{}}
		g.fill(s)
		files[g.kind] = s.encode()
	}
	return files
}

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		log.Fatal("usage: gen FOLDER")
	}
	for kind, text := range generate() {
		if err := os.WriteFile(filepath.Join(os.Args[1], kind+".json"), text, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
