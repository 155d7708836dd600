// Package vectors holds the test vectors of wpm: inputs, and what every implementation in any language must make of
// them, or refuse. README.md describes the files; vectors.schema.json is their schema; gen makes them.
//
// The package reads them for the tests of this module. It imports nothing of it.
package vectors

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed *.json
var files embed.FS

// File is what a file of vectors holds.
type File struct {
	Kind        string            `json:"kind"`
	Version     int               `json:"version"`
	GeneratedBy string            `json:"generated_by"`
	Valid       int               `json:"valid"`
	Invalid     int               `json:"invalid"`
	Notes       map[string]string `json:"notes"` // what flags and reasons mean
	Cases       []Case            `json:"cases"`
}

// Case is one vector.
type Case struct {
	ID        string          `json:"id"`
	Statement string          `json:"statement"` // where the rule is
	Flags     []string        `json:"flags"`
	Valid     bool            `json:"valid"`
	Error     string          `json:"error,omitempty"` // why it is refused
	In        json.RawMessage `json:"in"`
	Out       json.RawMessage `json:"out,omitempty"`
}

// Kinds returns the kinds, sorted.
func Kinds() []string {
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		panic("vectors: " + err.Error()) // the pattern is a constant
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".schema.json") })
	for i, name := range names {
		names[i] = strings.TrimSuffix(path.Base(name), ".json")
	}
	return names
}

// Read returns the vectors of a kind. Errors: fs.ErrNotExist for a kind that there is not, and those of encoding/json.
func Read(kind string) (File, error) {
	var f File
	data, err := files.ReadFile(kind + ".json")
	if err != nil {
		return f, err
	}
	err = strict(data, &f)
	return f, err
}

// Decode reads the members of a case into structs, which must have them all. A case without out leaves it as it is.
// Errors: those of encoding/json, with the ID of the case.
func (c Case) Decode(in, out any) error {
	if err := strict(c.In, in); err != nil {
		return fmt.Errorf("%s: in: %w", c.ID, err)
	}
	if len(c.Out) == 0 {
		return nil
	}
	if err := strict(c.Out, out); err != nil {
		return fmt.Errorf("%s: out: %w", c.ID, err)
	}
	return nil
}

func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Float is a float64 in the spelling of the files: hexadecimal, "inf", "-inf" or "nan".
type Float float64

// UnmarshalText implements encoding.TextUnmarshaler. The error is that of strconv.ParseFloat.
func (f *Float) UnmarshalText(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	*f = Float(v)
	return err
}

// Floats returns the numbers.
func Floats(x []Float) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// Number is an exact number p/q, or one of 60 digits. A nil one is infinite, or was the empty text.
type Number struct{ *big.Rat }

// UnmarshalText implements encoding.TextUnmarshaler. The error quotes what is no number.
func (n *Number) UnmarshalText(b []byte) error {
	if s := string(b); s == "inf" || s == "" {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(b))
	if !ok {
		return fmt.Errorf("vectors: %q is no number", b)
	}
	n.Rat = r
	return nil
}
