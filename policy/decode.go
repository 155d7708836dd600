package policy

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
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
	s := &scanner{data: data, at: -1}
	if !utf8.Valid(data) {
		for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(data[s.pos:]) {
			s.pos += n
		}
		s.fail("not UTF-8")
		return Policy{}, s.err
	}
	raw := s.policy()
	if s.err != nil {
		return Policy{}, s.err
	}
	cfg, err := raw.config()
	if err != nil {
		return Policy{}, atLine(data, err)
	}
	p, enc, err := build(cfg)
	if err != nil {
		return Policy{}, atLine(data, err)
	}
	// The scanner reads the canonical form only, up to the choices left to New (a default filled in, say).
	// This comparison is what the promise rests on.
	if !bytes.Equal(enc, data) {
		s.pos, s.at = diverge(enc, data), -1
		s.fail("not the canonical text of this policy")
		return Policy{}, s.err
	}
	return p, nil
}

// atLine puts the line of the member that err is about in front of it. A scanned text has one member a line,
// and one row.
func atLine(data []byte, err error) error {
	var p placed
	if !errors.As(err, &p) {
		return err
	}
	start := bytes.Index(data, []byte("\n\""+p.member+"\":"))
	if start < 0 {
		return err
	}
	line := 2 + bytes.Count(data[:start], []byte("\n"))
	if p.member == "rows" && data[start+len(p.member)+4] == '[' {
		line += 1 + p.row
	}
	return fmt.Errorf("line %d: %w", line, err)
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

// raw is a scanned file, in which only the syntax has been checked.
type raw struct {
	format, epsilon, mode     string
	bits, workLimit           int
	inputs, outputs           int
	geometry, base            string
	geometryEps, baseEps      *string
	note                      string
	metadata                  map[string]string
	certificate, cost         []byte
	inputLabels, outputLabels []string
	lo, hi                    []uint64
	fallback                  Row
	rows                      []Row
}

// config turns texts into values and the bounds into a box, which ldp verifies.
func (r *raw) config() (Config, error) {
	if len(r.lo) != r.outputs || len(r.hi) != r.outputs {
		return Config{}, place("outputs", fmt.Errorf("%w: %d lower and %d upper bounds for %d outputs", ErrShape, len(r.lo), len(r.hi), r.outputs))
	}
	if r.inputs == 0 { // New would fill in a default
		return Config{}, place("inputs", fmt.Errorf("%w: 0 inputs", ErrShape))
	}
	eps, err := ldp.ParseEpsilon(r.epsilon)
	if err != nil {
		return Config{}, place("epsilon", fmt.Errorf("policy: epsilon: %w", err))
	}
	box, err := ldp.NewPolytopeFromBounds(eps, r.lo, r.hi, r.bits)
	if err != nil {
		member := "lo"
		if errors.Is(err, ldp.ErrBits) {
			member = "bits"
		}
		return Config{}, place(member, fmt.Errorf("policy: box: %w", err))
	}
	prov := Provenance{Geometry: Origin(r.geometry), BaseMeasure: Origin(r.base), Note: r.note}
	for _, e := range []struct {
		text *string
		into *ldp.Epsilon
	}{{r.geometryEps, &prov.GeometryEpsilon}, {r.baseEps, &prov.BaseMeasureEpsilon}} {
		if e.text == nil {
			continue
		}
		if *e.into, err = ldp.ParseEpsilon(*e.text); err != nil {
			return Config{}, place("provenance", fmt.Errorf("%w: %w", ErrProvenance, err))
		}
	}
	return Config{
		Polytope: box, Mode: Mode(r.mode), WorkLimit: time.Duration(r.workLimit) * time.Millisecond, Inputs: r.inputs,
		InputLabels: r.inputLabels, OutputLabels: r.outputLabels, Rows: r.rows, Fallback: r.fallback,
		Cost: r.cost, Certificate: r.certificate, Provenance: prov, Metadata: r.metadata,
	}, nil
}

// scanner reads the canonical text from left to right. The first fault is kept in err; after it every
// method returns at once, with a zero value.
type scanner struct {
	data []byte
	pos  int
	at   int // index in fields of the member being read, -1 outside any
	err  error
}

func (s *scanner) policy() *raw {
	r := &raw{}
	s.field("format")
	start := s.pos
	if r.format = s.text(); s.err == nil && r.format != format {
		s.pos = start
		s.fail(fmt.Sprintf("format %q, this program reads %q", clip(r.format), format))
	}
	s.field("epsilon")
	r.epsilon = s.text()
	s.field("bits")
	r.bits = s.int()
	s.field("mode")
	r.mode = s.text()
	s.field("work_limit_ms")
	r.workLimit = s.int()
	s.field("inputs")
	r.inputs = s.int()
	s.field("outputs")
	r.outputs = s.int()
	s.field("provenance")
	s.provenance(r)
	s.field("metadata")
	r.metadata = s.metadata()
	s.field("certificate")
	r.certificate = s.object()
	s.field("cost")
	r.cost = s.object()
	s.field("input_labels")
	r.inputLabels = s.texts()
	s.field("output_labels")
	r.outputLabels = s.texts()
	s.field("lo")
	r.lo = s.weights()
	s.field("hi")
	r.hi = s.weights()
	s.field("fallback")
	r.fallback = s.row()
	s.field("rows")
	r.rows = s.rows()
	s.at = -1
	s.expect("\n}\n", "the end of the policy")
	if s.err == nil && s.pos != len(s.data) {
		s.fail("text after the policy")
	}
	return r
}

// fail records the first fault, at the current position.
func (s *scanner) fail(problem string) {
	if s.err != nil {
		return
	}
	e := &FormatError{Offset: s.pos, Line: 1 + bytes.Count(s.data[:s.pos], []byte("\n")), Problem: problem}
	if s.at >= 0 {
		e.Field = fields[s.at]
	}
	s.err = e
}

// fault records a fault in terms of what was wanted and what is there.
func (s *scanner) fault(want string) {
	rest := s.data[s.pos:]
	switch {
	case len(rest) == 0:
		s.fail("the text ends, want " + want)
	case isSpace(rest[0]):
		s.fail("white space, want " + want)
	default:
		s.fail(fmt.Sprintf("%q, want %s", clip(string(rest[:min(len(rest), 2*clipLen)])), want))
	}
}

const clipLen = 24

// clip shortens a text for a message.
func clip(s string) string {
	if len(s) <= clipLen {
		return s
	}
	return s[:clipLen] + "..."
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// has reports whether the next bytes are lit, and if so steps over them.
func (s *scanner) has(lit string) bool {
	if s.err != nil || len(s.data)-s.pos < len(lit) || string(s.data[s.pos:s.pos+len(lit)]) != lit {
		return false
	}
	s.pos += len(lit)
	return true
}

// expect steps over lit or records a fault.
func (s *scanner) expect(lit, want string) {
	if s.err == nil && !s.has(lit) {
		s.fault(want)
	}
}

// field steps over the start of the next member, or says which member is there instead.
func (s *scanner) field(name string) {
	if s.err != nil {
		return
	}
	lead := ",\n"
	if s.at < 0 {
		lead = "{\n"
	}
	if s.has(lead + `"` + name + `":`) {
		s.at++
		return
	}
	want := fmt.Sprintf("member %q", name)
	last := s.at
	s.at = -1 // the fault is between members
	if !s.has(lead) {
		s.fault(fmt.Sprintf("%q and %s", lead, want))
		return
	}
	got, ok := s.name()
	if !ok {
		s.fault(want)
		return
	}
	n := slices.Index(fields[:], got)
	switch {
	case n < 0:
		s.fail(fmt.Sprintf("unknown member %q, want %s", clip(got), want))
	case n <= last:
		s.fail(fmt.Sprintf("duplicate member %q, want %s", got, want))
	case n > last+1:
		s.fail(fmt.Sprintf("member %q out of order, want %s", got, want))
	default:
		s.fault(want + ` followed by ":"`)
	}
}

// name reads a member's name for a message, without moving.
func (s *scanner) name() (string, bool) {
	t := &scanner{data: s.data, pos: s.pos}
	got := t.text()
	return got, t.err == nil
}

// int reads a count or an index: 0 or digits without a leading zero, below 2^31.
func (s *scanner) int() int {
	start := s.pos
	n := s.digits("a number")
	if s.err == nil && n > math.MaxInt32 {
		s.pos = start
		s.fail("number above 2^31 - 1")
		return 0
	}
	return int(n)
}

// weight reads a string of digits.
func (s *scanner) weight() uint64 {
	s.expect(`"`, "a string of digits")
	n := s.digits("digits")
	s.expect(`"`, "the end of a string of digits")
	return n
}

// digits reads a decimal below 2^64 in its one canonical form.
func (s *scanner) digits(want string) uint64 {
	if s.err != nil {
		return 0
	}
	start, n := s.pos, uint64(0)
	for ; s.pos < len(s.data); s.pos++ {
		d := uint64(s.data[s.pos] - '0')
		if d > 9 {
			break
		}
		if n > (math.MaxUint64-d)/10 {
			s.pos = start
			s.fail("number above 2^64 - 1")
			return 0
		}
		n = 10*n + d
	}
	switch {
	case s.pos == start:
		s.fault(want)
		return 0
	case s.data[start] == '0' && s.pos > start+1:
		s.pos = start
		s.fail("number with a leading zero")
		return 0
	}
	return n
}

// text reads a JSON string in which only the quotation mark and the backslash are escaped.
func (s *scanner) text() string {
	s.expect(`"`, "a string")
	if s.err != nil {
		return ""
	}
	start, escaped := s.pos, false
	for s.pos < len(s.data) {
		switch b := s.data[s.pos]; {
		case b == '"':
			body := s.data[start:s.pos]
			s.pos++
			if !escaped {
				return string(body)
			}
			out := make([]byte, 0, len(body))
			for i := 0; i < len(body); i++ {
				if body[i] == '\\' {
					i++
				}
				out = append(out, body[i])
			}
			return string(out)
		case b == '\\':
			if s.pos+1 >= len(s.data) || s.data[s.pos+1] != '"' && s.data[s.pos+1] != '\\' {
				s.fail(`escape other than \" and \\`)
				return ""
			}
			escaped = true
			s.pos += 2
		case b < ' ':
			s.fail("control character in a string")
			return ""
		default:
			s.pos++
		}
	}
	s.fault("the end of a string")
	return ""
}

// optional reads a string or null.
func (s *scanner) optional() *string {
	if s.has("null") {
		return nil
	}
	t := s.text()
	return &t
}

// object reads a compact JSON object or null. What is in it is checked by build.
func (s *scanner) object() []byte {
	if s.err != nil || s.has("null") {
		return nil
	}
	if s.pos >= len(s.data) || s.data[s.pos] != '{' {
		s.fault("an object or null")
		return nil
	}
	start := s.pos
	n, problem := objectEnd(s.data[start:])
	s.pos = start + n
	if problem != "" {
		s.fail(problem)
		return nil
	}
	return s.data[start:s.pos]
}

// objectEnd returns the length of the JSON object at the start of b, going by brackets and strings alone,
// and refuses white space outside strings. With a problem it returns the offset of that.
func objectEnd(b []byte) (n int, problem string) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1, ""
			}
		case ' ', '\t', '\n', '\r':
			return i, "white space in an object"
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(b), "the text ends within an object"
}

// list reads elements between brackets; lead stands before each element and before the closing bracket.
// An empty list is refused where the canonical form has none.
func (s *scanner) list(lead string, empty bool, element func()) {
	s.expect("[", "a list")
	if empty && s.has("]") {
		return
	}
	for s.err == nil {
		s.expect(lead, "a new line")
		element()
		if s.has(",") {
			continue
		}
		s.expect(lead+"]", "a comma or the end of the list")
		return
	}
}

func (s *scanner) texts() (out []string) {
	if s.has("null") {
		return nil
	}
	s.list("", false, func() { out = append(out, s.text()) })
	return out
}

func (s *scanner) weights() []uint64 {
	// One allocation, of 8 MiB at most whatever the text is.
	list, _, _ := bytes.Cut(s.data[s.pos:], []byte("]"))
	out := make([]uint64, 0, min(1+bytes.Count(list, []byte(",")), MaxOutputs))
	s.list("", false, func() { out = append(out, s.weight()) })
	return out
}

func (s *scanner) row() (r Row) {
	s.expect(`{"full":`, "a row")
	s.list("", true, func() { r.full = append(r.full, int32(s.int())) })
	s.expect(`,"extra":`, `member "extra" of a row`)
	s.list("", true, func() {
		s.expect("[", "a pair of column and units")
		col := int32(s.int())
		s.expect(",", "a comma within a pair")
		r.extra = append(r.extra, extra{col, s.weight()})
		s.expect("]", "the end of a pair")
	})
	s.expect("}", "the end of a row")
	return r
}

func (s *scanner) rows() (out []Row) {
	if s.has("null") {
		return nil
	}
	s.list("\n", false, func() { out = append(out, s.row()) })
	return out
}

func (s *scanner) provenance(r *raw) {
	s.expect(`{"geometry":`, `member "geometry" of the provenance`)
	r.geometry = s.text()
	s.expect(`,"geometry_epsilon":`, `member "geometry_epsilon"`)
	r.geometryEps = s.optional()
	s.expect(`,"base_measure":`, `member "base_measure"`)
	r.base = s.text()
	s.expect(`,"base_measure_epsilon":`, `member "base_measure_epsilon"`)
	r.baseEps = s.optional()
	s.expect(`,"note":`, `member "note"`)
	r.note = s.text()
	s.expect("}", "the end of the provenance")
}

func (s *scanner) metadata() map[string]string {
	m := map[string]string{}
	s.expect("{", "an object")
	if s.has("}") {
		return m
	}
	last := ""
	for s.err == nil {
		start := s.pos
		key := s.text()
		if s.err == nil && len(m) > 0 && key <= last {
			s.pos = start
			s.fail(fmt.Sprintf("key %q after %q: keys are distinct and in byte order", clip(key), clip(last)))
		}
		s.expect(":", "a colon")
		m[key] = s.text()
		last = key
		if s.has(",") {
			continue
		}
		s.expect("}", "a comma or the end of the metadata")
		break
	}
	return m
}
