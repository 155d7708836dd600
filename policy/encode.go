package policy

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wpm-go/wpm/ldp"
)

// format names the version of the file format. A change of meaning gets a new name.
const format = "wpm-policy-1"

// fields lists the members in the order of the file. Encoder and decoder take their names from here.
var fields = [...]string{
	"format", "epsilon", "bits", "mode", "work_limit_ms", "inputs", "outputs", "provenance", "metadata",
	"certificate", "cost", "input_labels", "output_labels", "lo", "hi", "fallback", "rows",
}

// Encode returns the one byte string of the policy.
func Encode(p Policy) ([]byte, error) {
	if p.c == nil {
		return nil, ErrPolicy
	}
	return p.c.encode(), nil
}

func (c *content) encode() []byte {
	box := c.Polytope
	kv := box.Len()
	e := &encoder{}
	e.field("format")
	e.text(format)
	e.field("epsilon")
	e.text(box.Epsilon().String())
	e.field("bits")
	e.int(box.Bits())
	e.field("mode")
	e.text(string(c.Mode))
	e.field("work_limit_ms")
	e.int(int(c.WorkLimit / time.Millisecond))
	e.field("inputs")
	e.int(c.Inputs)
	e.field("outputs")
	e.int(kv)
	e.field("provenance")
	e.provenance(c.Provenance)
	e.field("metadata")
	e.metadata(c.Metadata)
	e.field("certificate")
	e.object(c.Certificate)
	e.field("cost")
	e.object(c.Cost)
	e.field("input_labels")
	e.texts(c.InputLabels)
	e.field("output_labels")
	e.texts(c.OutputLabels)
	e.field("lo")
	e.weights(kv, box.Lo)
	e.field("hi")
	e.weights(kv, box.Hi)
	e.field("fallback")
	e.row(c.Fallback)
	e.field("rows")
	e.rows(c.Rows)
	e.raw("\n}\n")
	return e.buf
}

// encoder appends the canonical text. Every value must have been validated.
type encoder struct{ buf []byte }

func (e *encoder) raw(s string) { e.buf = append(e.buf, s...) }

// field starts the next member. Its name is written out at the call for the reader's sake; a test holds
// the order to that of fields.
func (e *encoder) field(name string) {
	if len(e.buf) == 0 {
		e.raw("{\n\"")
	} else {
		e.raw(",\n\"")
	}
	e.raw(name)
	e.raw("\":")
}

func (e *encoder) int(n int) { e.buf = strconv.AppendInt(e.buf, int64(n), 10) }

// weight writes a quantity that may exceed 2^53: as a string of digits.
func (e *encoder) weight(n uint64) {
	e.buf = append(e.buf, '"')
	e.buf = strconv.AppendUint(e.buf, n, 10)
	e.buf = append(e.buf, '"')
}

// text writes a JSON string. Texts hold no control characters, so two escapes are all there is.
func (e *encoder) text(s string) {
	e.buf = append(e.buf, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			e.buf = append(e.buf, '\\')
		}
		e.buf = append(e.buf, s[i])
	}
	e.buf = append(e.buf, '"')
}

func (e *encoder) object(b []byte) {
	if b == nil {
		e.raw("null")
		return
	}
	e.buf = append(e.buf, b...)
}

func (e *encoder) texts(s []string) {
	if s == nil {
		e.raw("null")
		return
	}
	for i, t := range s {
		e.comma(i, '[')
		e.text(t)
	}
	e.raw("]")
}

// comma writes the opening bracket before element 0 and a comma before every other.
func (e *encoder) comma(i int, open byte) {
	if i > 0 {
		open = ','
	}
	e.buf = append(e.buf, open)
}

func (e *encoder) weights(n int, at func(int) uint64) {
	for j := range n { // n >= 1
		e.comma(j, '[')
		e.weight(at(j))
	}
	e.raw("]")
}

func (e *encoder) row(r Row) {
	e.raw(`{"full":[`)
	for i, j := range r.full {
		if i > 0 {
			e.raw(",")
		}
		e.int(int(j))
	}
	e.raw(`],"extra":[`)
	for i, x := range r.extra {
		if i > 0 {
			e.raw(",")
		}
		e.raw("[")
		e.int(int(x.col))
		e.raw(",")
		e.weight(x.add)
		e.raw("]")
	}
	e.raw("]}")
}

func (e *encoder) rows(rows []Row) {
	if rows == nil {
		e.raw("null")
		return
	}
	for i, r := range rows {
		e.comma(i, '[')
		e.raw("\n")
		e.row(r)
	}
	e.raw("\n]")
}

func (e *encoder) provenance(p Provenance) {
	e.raw(`{"geometry":`)
	e.text(string(p.Geometry))
	e.raw(`,"geometry_epsilon":`)
	e.epsilon(p.GeometryEpsilon)
	e.raw(`,"base_measure":`)
	e.text(string(p.BaseMeasure))
	e.raw(`,"base_measure_epsilon":`)
	e.epsilon(p.BaseMeasureEpsilon)
	e.raw(`,"note":`)
	e.text(p.Note)
	e.raw("}")
}

func (e *encoder) epsilon(eps ldp.Epsilon) {
	if eps.IsZero() {
		e.raw("null")
		return
	}
	e.text(eps.String())
}

func (e *encoder) metadata(m map[string]string) {
	e.raw("{")
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			e.raw(",")
		}
		e.text(key)
		e.raw(":")
		e.text(m[key])
	}
	e.raw("}")
}
