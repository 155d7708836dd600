package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wpm-go/wpm/ldp"
)

// Decode reads a policy and verifies its box, rows and fallback. It accepts exactly the bytes that Encode
// writes for the same policy: so there is one file per policy, and the SHA-256 of the file is its ID.
//
// Errors: a *FormatError (ErrFormat), which says where the text departs from the canonical form, ErrLimit,
// those of New, and those of ldp for the epsilon and the box. The zero Policy comes with every error.
func Decode(data []byte) (Policy, error) {
	if len(data) > MaxBytes {
		return Policy{}, fmt.Errorf("%w: the policy has %d bytes, at most %d", ErrLimit, len(data), MaxBytes)
	}
	cfg, err := read(data)
	if err != nil {
		return Policy{}, cfg.atLine(err)
	}
	p, enc, err := build(cfg)
	if err != nil {
		return Policy{}, cfg.atLine(err)
	}
	// What was read is a policy, but perhaps in another spelling, or with something passed over. This comparison is
	// what the promise rests on.
	if !bytes.Equal(enc, data) {
		n := diverge(enc, data)
		return Policy{}, formatError(data, n, fmt.Sprintf("%.24q, want %.24q: not the canonical text", data[n:], enc[n:]))
	}
	return p, nil
}

// atLine puts the line of the member that err is about in front of it.
func (cfg *Config) atLine(err error) error {
	p := placed{}
	if !errors.As(err, &p) {
		return err
	}
	return fmt.Errorf("line %d: %w",
		2+slices.Index(members(cfg.Geometry != nil, len(cfg.InputAliases) > 0), p.member)+p.row, err)
}

// diverge returns the first position at which a and b differ.
func diverge(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// formatError is about byte n of data.
func formatError(data []byte, n int, problem string) *FormatError {
	e := &FormatError{Offset: n, Line: 1 + bytes.Count(data[:n], []byte("\n")), Problem: problem}
	if e.Line > 1 && n < len(data) {
		name, _, ok := bytes.Cut(data[1+bytes.LastIndexByte(data[:n], '\n'):], []byte(`":`))
		name = bytes.TrimPrefix(name, []byte(`"`))
		two := bytes.HasPrefix(data, []byte("{\n\"format\":\""+format2))
		all := members(two, bytes.Contains(data, []byte("\n\""+aliasMember+`":`)))
		if e.Field = all[min(e.Line-2, len(all)-1)]; ok && slices.Contains(all, string(name)) {
			e.Field = string(name)
		}
	}
	return e
}

// read takes the members off their lines. It may read other texts like the canonical one, because Decode compares
// what comes of it with the text. It must not fail on the canonical form, nor do more than linear work on any text.
func read(data []byte) (cfg Config, err error) {
	if !utf8.Valid(data) {
		return cfg, formatError(data, diverge(bytes.ToValidUTF8(data, []byte{0}), data), "not UTF-8")
	}
	const begin, end = "{\n", "\n}\n"
	body, ok := bytes.CutPrefix(data, []byte(begin))
	if !ok {
		return cfg, formatError(data, 0, fmt.Sprintf("%.24q, want %q", data, begin))
	}
	body, ended := bytes.CutSuffix(body, []byte(end))
	var f file
	values := [len(fields)]any{
		nil, &f.epsilon, &f.bits, &f.mode, &f.workLimit, &f.inputs, &f.outputs, &f.provenance, &cfg.Metadata,
		&cfg.Certificate, &cfg.Cost, &cfg.InputLabels, &cfg.OutputLabels,
		&cfg.InputAliases, &f.lo, &f.hi, &cfg.Fallback, &cfg.Rows, &cfg.Geometry, &f.in, &f.out, &cfg.Thresholds,
	}
	present := fields[:1]
	next := len(begin)
	for n, name := range fields {
		if !slices.Contains(present, name) {
			continue
		}
		if !ended && n >= slices.Index(fields[:], "rows") {
			return cfg, formatError(data, len(data), fmt.Sprintf("the text does not end with %q", end))
		}
		at := next
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		value, ok := bytes.CutPrefix(line, []byte(`"`+name+`":`))
		if !ok && name == aliasMember {
			continue
		}
		if !ok {
			return cfg, formatError(data, at, fmt.Sprintf("%.24q, want member %q", line, name))
		}
		at, next = at+len(line)-len(value), min(at+len(line)+1, len(data))
		body, value = rest, bytes.TrimSuffix(value, []byte(","))
		null := string(value) == "null"
		switch v := values[n].(type) {
		case nil:
			two := string(value) == `"`+format2+`"`
			if !two && string(value) != `"`+format+`"` {
				return cfg, formatError(data, at, fmt.Sprintf("format %.24s, this program reads %q and %q", value, format, format2))
			}
			present = members(two, true)
		case *[]byte:
			if !null {
				*v = bytes.TrimSpace(value)
			}
		case *[]uint64:
			*v = readBounds(value, f.outputs)
		case *[]int32:
			if !null {
				*v = integers(value)
			}
		case *[]string:
			// before anything is read: a short text takes sixteen bytes of memory for each of its own
			if err := countLabels(name, value, &f); err != nil {
				return cfg, place(name, err)
			}
			if off := unmarshal(value, v); off >= 0 {
				return cfg, formatError(data, at+off, fmt.Sprintf("%.24q, want %s", data[at+off:], wanted(v)))
			}
		case *[]Alias:
			if n := stringsIn(value); n > MaxInputs {
				cfg.InputAliases = make([]Alias, 1) // there are some, which decides on what line they are
				return cfg, place(name, tooManyAliases(n))
			}
			if *v, err = readAliases(value); err != nil {
				return cfg, formatError(data, at, err.Error())
			}
		case *Row:
			*v = readRow(value)
		case *[]Row:
			if null {
				break
			}
			if *v, err = readRows(bytes.TrimSuffix(body, []byte("\n]")), int(f.inputs)); err != nil {
				return cfg, place(name, err)
			}
		default:
			if off := unmarshal(value, v); off >= 0 {
				return cfg, formatError(data, at+off, fmt.Sprintf("%.24q, want %s", data[at+off:], wanted(v)))
			}
		}
	}
	return cfg, f.config(&cfg)
}

// countLabels refuses a long list with more labels than there are inputs or outputs.
func countLabels(member string, value []byte, f *file) error {
	kind, n := "input", int(f.inputs)
	if member == "output_labels" {
		kind, n = "output", int(f.outputs)
	}
	if count := stringsIn(value); bytes.HasPrefix(value, []byte("[")) && count > max(n, 1<<16) {
		return labelCount(count, kind, n)
	}
	return nil
}

// stringsIn returns how many strings a JSON text has.
func stringsIn(text []byte) (n int) {
	within := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			within = !within
			if within {
				n++
			}
		case '\\':
			i++ // what it escapes
		}
	}
	return n
}

// unmarshal reads JSON into v, and returns where it is wrong, or -1.
func unmarshal(value []byte, v any) int {
	err := json.Unmarshal(value, v)
	if err == nil {
		return -1
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return max(0, int(syntax.Offset)-1)
	}
	return 0
}

// readBounds reads a number for each output, or one for all of them.
func readBounds(value []byte, outputs int32) []uint64 {
	list := numbers(value, uint64(math.MaxUint64))
	if len(list) == 1 && value[0] == '"' {
		list = slices.Repeat(list, int(min(max(outputs, 0), MaxOutputs)))
	}
	return list
}

// readAliases reads a list of pairs. The comparison in Decode finds what is missing, too much, or no whole number.
func readAliases(value []byte) (list []Alias, err error) {
	var pairs [][2]any
	if json.Unmarshal(value, &pairs) != nil {
		return nil, fmt.Errorf("%.24q, want a list of pairs, an index and a string", value)
	}
	for _, p := range pairs {
		i, _ := p[0].(float64)
		label, _ := p[1].(string)
		list = append(list, Alias{int(min(max(i, 0), MaxInputs)), label})
	}
	return list, nil
}

// readRows reads one row for each of so many inputs, each on a line.
func readRows(text []byte, inputs int) ([]Row, error) {
	count := 1 + bytes.Count(text, []byte("\n"))
	if count != inputs || count > MaxInputs { // or a long text of short lines would take much memory
		return nil, fmt.Errorf("%w: %d rows for %d inputs, at most %d", ErrShape, count, inputs, MaxInputs)
	}
	rows := make([]Row, 0, count)
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		rows = append(rows, readRow(line))
	}
	return rows, nil
}

// wanted names what a member must be, for a message.
func wanted(v any) string {
	switch v.(type) {
	case *string:
		return "a string"
	case *int32:
		return "a whole number below 2^31"
	case *[]string:
		return "null or a list of strings"
	case **Geometry:
		return "an object of a kind and sizes"
	}
	return "an object of strings"
}

// integers returns the numbers of a list, 0 for what is none: the comparison in Decode finds it.
func integers(text []byte) []int32 {
	text = bytes.Trim(text, "[]")
	out := make([]int32, 0, 1+bytes.Count(text, []byte(",")))
	for number := range bytes.SplitSeq(text, []byte(",")) {
		v, _ := strconv.ParseInt(string(number), 10, 32)
		out = append(out, int32(v))
	}
	return out
}

// numbers returns the runs of digits in a text, with most for whatever is above: the comparison in Decode finds it.
func numbers[T int32 | uint64](text []byte, most T) (out []T) {
	if n := bytes.Count(text, []byte(",")); n > 0 {
		out = make([]T, 0, min(n+1, MaxOutputs))
	}
	within := false
	for _, b := range text {
		digit := b - '0'
		if digit > 9 {
			within = false
			continue
		}
		if !within {
			within = true
			out = append(out, 0)
		}
		if n := &out[len(out)-1]; *n > (most-T(digit))/10 {
			*n = most
		} else {
			*n = 10**n + T(digit)
		}
	}
	return out
}

func readRow(text []byte) (r Row) {
	full, pairs, _ := bytes.Cut(text, []byte("],"))
	r.full = numbers(full, int32(math.MaxInt32))
	n := numbers(pairs, uint64(math.MaxUint64))
	for i := 1; i < len(n); i += 2 {
		r.extra = append(r.extra, extra{int32(min(n[i-1], math.MaxInt32)), n[i]})
	}
	return r
}

// file holds the members that Config has in another form.
type file struct {
	epsilon, mode                    string
	bits, workLimit, inputs, outputs int32
	provenance                       struct {
		Geometry        Origin  `json:"geometry"`
		GeometryEpsilon *string `json:"geometry_epsilon"`
		Base            Origin  `json:"base_measure"`
		BaseEpsilon     *string `json:"base_measure_epsilon"`
		Note            string  `json:"note"`
	}
	lo, hi  []uint64
	in, out []int32
}

// config turns texts into values and the bounds into a box, which ldp verifies.
func (f *file) config(cfg *Config) error {
	if lo, hi, kv := len(f.lo), len(f.hi), int(f.outputs); lo != kv || hi != kv {
		return place("outputs", fmt.Errorf("%w: %d lower and %d upper bounds for %d outputs", ErrShape, lo, hi, kv))
	}
	if f.inputs == 0 { // New would fill in a default
		return place("inputs", fmt.Errorf("%w: 0 inputs", ErrShape))
	}
	eps, err := ldp.ParseEpsilon(f.epsilon)
	if err != nil {
		return place("epsilon", fmt.Errorf("policy: epsilon: %w", err))
	}
	cfg.Polytope, err = ldp.NewPolytopeFromBounds(eps, f.lo, f.hi, int(f.bits))
	if err != nil {
		member := "lo"
		if errors.Is(err, ldp.ErrBits) {
			member = "bits"
		}
		return place(member, fmt.Errorf("policy: box: %w", err))
	}
	if g := cfg.Geometry; g != nil {
		g.InputPoints, g.OutputPoints = f.in, f.out
	}
	cfg.Mode, cfg.WorkLimit, cfg.Inputs = Mode(f.mode), time.Duration(f.workLimit)*time.Millisecond, int(f.inputs)
	prov := &f.provenance
	cfg.Provenance = Provenance{Geometry: prov.Geometry, BaseMeasure: prov.Base, Note: prov.Note}
	for _, e := range []struct {
		text *string
		into *ldp.Epsilon
	}{{prov.GeometryEpsilon, &cfg.Provenance.GeometryEpsilon}, {prov.BaseEpsilon, &cfg.Provenance.BaseMeasureEpsilon}} {
		if e.text == nil {
			continue
		}
		if *e.into, err = ldp.ParseEpsilon(*e.text); err != nil {
			return place("provenance", fmt.Errorf("%w: %w", ErrProvenance, err))
		}
	}
	return nil
}
