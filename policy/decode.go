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

	"github.com/wpm-go/wpm/ldp"
)

// versions is a set of versions of the format.
type versions uint8

const (
	v1, v2, v3 versions = 1, 2, 4
	every               = v1 | v2 | v3
)

// draft is a policy while its file is read.
type draft struct {
	Config
	version    versions       // every, until the format is read
	line       map[string]int // of the members that were read
	rest       []byte         // the lines after that of the member, without the end of the text
	epsilon    string
	bits       int32
	workLimit  int32
	inputs     int32
	outputs    int32
	provenance statedProvenance
	lo, hi     []uint64
	in, out    []int32
}

// A misread is about a byte of a member's value. Where it wants nothing, want is what is wrong.
type misread struct {
	at   int
	want string
}

func (e misread) Error() string { return e.want }

// What follows reads the values of members. The comparison in Decode finds what is missing, too much, or in another
// spelling.

// parseJSON reads JSON into v.
func parseJSON(value []byte, v any, want string) error {
	err := json.Unmarshal(value, v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return misread{max(0, int(syntax.Offset)-1), want}
	}
	return misread{0, want}
}

func parseCount(value []byte, n *int32) error {
	return parseJSON(value, n, "a whole number below 2^31")
}

func isNull(value []byte) bool { return string(value) == "null" }

func parseObject(value []byte, object *[]byte) error {
	if !isNull(value) {
		*object = bytes.TrimSpace(value)
	}
	return nil
}

func parseInts(value []byte, list *[]int32) error {
	if !isNull(value) {
		*list = integers(value)
	}
	return nil
}

// parseLabels refuses a long list with more labels than there are inputs or outputs before it reads anything: a short
// text takes sixteen bytes of memory for each of its own.
func parseLabels(value []byte, labels *[]string, kind string, n int32) error {
	if count := stringsIn(value); bytes.HasPrefix(value, []byte("[")) && count > max(int(n), 1<<16) {
		return labelCount(count, kind, int(n))
	}
	return parseJSON(value, labels, "null or a list of strings")
}

func labelCount(count int, kind string, n int) error {
	return fmt.Errorf("%w: %d %s labels for %d %ss", ErrShape, count, kind, n, kind)
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

// parseAliases reads a list of pairs.
func parseAliases(value []byte, list *[]Alias) error {
	if n := stringsIn(value); n > MaxInputs {
		return tooManyAliases(n)
	}
	var pairs [][2]any
	if json.Unmarshal(value, &pairs) != nil {
		return misread{0, "a list of pairs, an index and a string"}
	}
	for _, p := range pairs {
		i, _ := p[0].(float64)
		label, _ := p[1].(string)
		*list = append(*list, Alias{int(min(max(i, 0), MaxInputs)), label})
	}
	return nil
}

func tooManyAliases(n int) error {
	return fmt.Errorf("%w: %d aliases, at most %d", ErrLimit, n, MaxInputs)
}

// bounds reads a number for each output, or one for all of them.
func (d *draft) bounds(value []byte, list *[]uint64) error {
	*list = numbers(value, uint64(math.MaxUint64))
	if len(*list) == 1 && value[0] == '"' {
		*list = slices.Repeat(*list, int(min(max(d.outputs, 0), MaxOutputs)))
	}
	return nil
}

// rows reads one row for each input, each on a line.
func (d *draft) rows(value []byte) error {
	if isNull(value) {
		return nil
	}
	text := bytes.TrimSuffix(d.rest, []byte("\n]"))
	count := 1 + bytes.Count(text, []byte("\n"))
	if count != int(d.inputs) || count > MaxInputs { // or a long text of short lines would take much memory
		return fmt.Errorf("%w: %d rows for %d inputs, at most %d", ErrShape, count, d.inputs, MaxInputs)
	}
	d.Rows = make([]Row, 0, count)
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		d.Rows = append(d.Rows, readRow(line))
	}
	return nil
}

// codes reads a component on each line.
func (d *draft) codes([]byte) error {
	for line := range bytes.SplitSeq(bytes.TrimSuffix(d.rest, []byte("\n]")), []byte("\n")) {
		var c struct {
			Weight, Low, High units
			Colors            int32
			Color             []byte
			Thresholds        []int32
		}
		err := json.Unmarshal(bytes.TrimSuffix(line, []byte(",")), &c)
		if err != nil || c.Weight == 0 { // short lines would take much memory
			return placed{"codes", 1 + len(d.Codes), fmt.Errorf("%w: component %d: %.40q is no component with a weight", ErrShape,
				len(d.Codes), line)}
		}
		d.Codes = append(d.Codes, Code{uint64(c.Weight), uint64(c.Low), int(c.Colors), c.Color, uint64(c.High), c.Thresholds})
	}
	return nil
}

// units is a weight, a string of digits.
type units uint64

func (u *units) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 64)
	*u = units(n)
	return err
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

// statedProvenance is a Provenance as the file has it.
type statedProvenance struct {
	Geometry        Origin  `json:"geometry"`
	GeometryEpsilon *string `json:"geometry_epsilon"`
	Base            Origin  `json:"base_measure"`
	BaseEpsilon     *string `json:"base_measure_epsilon"`
	Note            string  `json:"note"`
}

// finish turns texts into values and the bounds into a box, which ldp verifies.
func (d *draft) finish() error {
	if lo, hi, kv := len(d.lo), len(d.hi), int(d.outputs); d.Codes == nil && (lo != kv || hi != kv) {
		return place("outputs", fmt.Errorf("%w: %d lower and %d upper bounds for %d outputs", ErrShape, lo, hi, kv))
	}
	if d.inputs == 0 { // New would fill in a default
		return place("inputs", fmt.Errorf("%w: 0 inputs", ErrShape))
	}
	eps, err := ldp.ParseEpsilon(d.epsilon)
	if err != nil {
		return place("epsilon", fmt.Errorf("policy: epsilon: %w", err))
	}
	if d.Polytope, err = d.box(eps); err != nil {
		return err
	}
	if g := d.Geometry; g != nil {
		g.InputPoints, g.OutputPoints = d.in, d.out
	}
	d.WorkLimit, d.Inputs = time.Duration(d.workLimit)*time.Millisecond, int(d.inputs)
	d.Provenance, err = d.provenance.read()
	return place("provenance", err)
}

// box returns the box of the bounds, or that of the codes.
func (d *draft) box(eps ldp.Epsilon) (box *ldp.Polytope, err error) {
	if d.Codes != nil {
		box, err = CodesBox(eps, int(d.bits), int(d.inputs), d.Codes)
		if err == nil && box.Len() != int(d.outputs) {
			return nil, place("outputs", fmt.Errorf("%w: the components have %d outputs, not %d", ErrShape, box.Len(), d.outputs))
		}
		return box, place("codes", err)
	}
	box, err = ldp.NewPolytopeFromBounds(eps, d.lo, d.hi, int(d.bits))
	if err == nil {
		return box, nil
	}
	member := "lo"
	if errors.Is(err, ldp.ErrBits) {
		member = "bits"
	}
	return nil, place(member, fmt.Errorf("policy: box: %w", err))
}

func (s statedProvenance) read() (Provenance, error) {
	p := Provenance{Geometry: s.Geometry, BaseMeasure: s.Base, Note: s.Note}
	for _, e := range []struct {
		text *string
		into *ldp.Epsilon
	}{{s.GeometryEpsilon, &p.GeometryEpsilon}, {s.BaseEpsilon, &p.BaseMeasureEpsilon}} {
		if e.text == nil {
			continue
		}
		var err error
		if *e.into, err = ldp.ParseEpsilon(*e.text); err != nil {
			return p, fmt.Errorf("%w: %w", ErrProvenance, err)
		}
	}
	return p, nil
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
