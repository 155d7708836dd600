package policy

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/wpm-go/wpm/policy/ledger"
)

// A member is one member of the file: how it is written, how it is read, and which versions of the format have it.
type member struct {
	name     string
	versions versions
	optional versions              // in which it may be left out
	given    func(c *content) bool // whether it is there, nil if it always is
	append   func(b []byte, c *content) []byte
	parse    func(d *draft, value []byte) error
}

// formats are the names of the versions. A change of meaning gets a new one.
func formats() []string { return []string{"wpm-policy-1", "wpm-policy-2", "wpm-policy-3"} }

// members lists the members in the order of the file. Version 1 states rows, version 2 a geometry with thresholds, and
// version 3 a schedule and either of these, or codes, which give the bounds and the fallback, too.
func members() []member {
	return []member{
		{"format", every, 0, nil,
			func(b []byte, c *content) []byte { return appendText(b, formats()[c.version()-1]) },
			func(d *draft, v []byte) error { return d.format(v) }},
		{"epsilon", every, 0, nil,
			func(b []byte, c *content) []byte { return appendEpsilon(b, c.Polytope.Epsilon()) },
			func(d *draft, v []byte) error { return parseJSON(v, &d.epsilon, "a string") }},
		{"bits", every, 0, nil,
			func(b []byte, c *content) []byte { return appendInt(b, c.Polytope.Bits()) },
			func(d *draft, v []byte) error { return parseCount(v, &d.bits) }},
		{"mode", every, 0, nil,
			func(b []byte, c *content) []byte { return appendText(b, string(c.Mode)) },
			func(d *draft, v []byte) error { return parseJSON(v, &d.Mode, "a string") }},
		{"work_limit_ms", every, 0, nil,
			func(b []byte, c *content) []byte { return appendInt(b, int(c.WorkLimit/time.Millisecond)) },
			func(d *draft, v []byte) error { return parseCount(v, &d.workLimit) }},
		{"schedule", v3, v3, func(c *content) bool { return c.Schedule != ledger.Schedule{} },
			func(b []byte, c *content) []byte { return appendSchedule(b, c.Schedule) },
			func(d *draft, v []byte) error {
				return parseJSON(v, &d.Schedule, "an object of epochs, first, last and period")
			}},
		{"inputs", every, 0, nil,
			func(b []byte, c *content) []byte { return appendInt(b, c.Inputs) },
			func(d *draft, v []byte) error { return parseCount(v, &d.inputs) }},
		{"outputs", every, 0, nil,
			func(b []byte, c *content) []byte { return appendInt(b, c.Polytope.Len()) },
			func(d *draft, v []byte) error { return parseCount(v, &d.outputs) }},
		{"provenance", every, 0, nil,
			func(b []byte, c *content) []byte { return appendProvenance(b, c.Provenance) },
			func(d *draft, v []byte) error { return parseJSON(v, &d.provenance, "an object of strings") }},
		{"metadata", every, 0, nil,
			func(b []byte, c *content) []byte { return appendPairs(b, c.Metadata) },
			func(d *draft, v []byte) error { return parseJSON(v, &d.Metadata, "an object of strings") }},
		{"certificate", every, 0, nil,
			func(b []byte, c *content) []byte { return appendObject(b, c.Certificate) },
			func(d *draft, v []byte) error { return parseObject(v, &d.Certificate) }},
		{"cost", every, 0, nil,
			func(b []byte, c *content) []byte { return appendObject(b, c.Cost) },
			func(d *draft, v []byte) error { return parseObject(v, &d.Cost) }},
		{"input_labels", every, 0, nil,
			func(b []byte, c *content) []byte { return appendTexts(b, c.InputLabels) },
			func(d *draft, v []byte) error { return parseLabels(v, &d.InputLabels, "input", d.inputs) }},
		{"output_labels", every, 0, nil,
			func(b []byte, c *content) []byte { return appendTexts(b, c.OutputLabels) },
			func(d *draft, v []byte) error { return parseLabels(v, &d.OutputLabels, "output", d.outputs) }},
		{"input_aliases", every, every, func(c *content) bool { return len(c.InputAliases) > 0 },
			func(b []byte, c *content) []byte { return appendAliases(b, c.InputAliases) },
			func(d *draft, v []byte) error { return parseAliases(v, &d.InputAliases) }},
		{"lo", every, v3, (*content).bounded,
			func(b []byte, c *content) []byte { return c.appendBounds(b, c.Polytope.Lo) },
			func(d *draft, v []byte) error { return d.bounds(v, &d.lo) }},
		{"hi", every, v3, (*content).bounded,
			func(b []byte, c *content) []byte { return c.appendBounds(b, c.Polytope.Hi) },
			func(d *draft, v []byte) error { return d.bounds(v, &d.hi) }},
		{"fallback", every, v3, (*content).bounded,
			func(b []byte, c *content) []byte { return appendRow(b, c.Fallback) },
			func(d *draft, v []byte) error { d.Fallback = readRow(v); return nil }},

		// What follows are the rows. Version 3 has them in just one of these forms.
		{"rows", v1 | v3, v3, func(c *content) bool { return !c.ranked() && !c.coded() },
			func(b []byte, c *content) []byte { return appendRows(b, c.Rows) },
			func(d *draft, v []byte) error { return d.rows(v) }},

		{"geometry", v2 | v3, v3, (*content).ranked,
			func(b []byte, c *content) []byte { return c.Geometry.append(b) },
			func(d *draft, v []byte) error { return parseJSON(v, &d.Geometry, "an object of a kind and sizes") }},
		{"input_points", v2 | v3, v3, (*content).ranked,
			func(b []byte, c *content) []byte { return appendInts(b, c.Geometry.InputPoints) },
			func(d *draft, v []byte) error { return parseInts(v, &d.in) }},
		{"output_points", v2 | v3, v3, (*content).ranked,
			func(b []byte, c *content) []byte { return appendInts(b, c.Geometry.OutputPoints) },
			func(d *draft, v []byte) error { return parseInts(v, &d.out) }},
		{"thresholds", v2 | v3, v3, func(c *content) bool { return c.ranked() && !c.coded() },
			func(b []byte, c *content) []byte { return appendInts(b, c.Thresholds) },
			func(d *draft, v []byte) error { return parseInts(v, &d.Thresholds) }},
		{"codes", v3, v3, (*content).coded,
			func(b []byte, c *content) []byte { return appendCodes(b, c.Codes) },
			func(d *draft, v []byte) error { return d.codes(v) }},
	}
}

// lastOfAll is the last member that every file has. The end of the text is looked at behind it.
const lastOfAll = "output_labels"

// encode writes the members, one a line. Everything must have been validated.
func (c *content) encode() []byte {
	b, version := []byte("{"), versions(1)<<(c.version()-1)
	for n, m := range members() {
		if m.versions&version == 0 || m.given != nil && !m.given(c) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = m.append(append(b, "\n\""+m.name+`":`...), c)
	}
	return append(b, "\n}\n"...)
}

// read takes the members off their lines. It may read other texts like the canonical one, because Decode compares
// what comes of it with the text. It must not fail on the canonical form, nor do more than linear work on any text.
func read(data []byte) (d draft, err error) {
	d.version, d.line = every, map[string]int{}
	const begin, end = "{\n", "\n}\n"
	body, ok := bytes.CutPrefix(data, []byte(begin))
	if !ok {
		return d, formatError(data, 0, "", fmt.Sprintf("%.24q, want %q", data, begin))
	}
	body, ended := bytes.CutSuffix(body, []byte(end))
	at := len(begin) // of the line
	for _, m := range members() {
		if m.versions&d.version == 0 {
			continue
		}
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		value, ok := bytes.CutPrefix(line, []byte(`"`+m.name+`":`))
		if !ok && m.optional&d.version != 0 {
			continue
		}
		if !ok {
			return d, formatError(data, at, m.name, fmt.Sprintf("%.24q, want member %q", line, m.name))
		}
		d.line[m.name], d.rest, body = 2+len(d.line), rest, rest
		if err := m.parse(&d, bytes.TrimSuffix(value, []byte(","))); err != nil {
			return d, m.fault(data, at+len(line)-len(value), err)
		}
		if m.name == lastOfAll && !ended {
			return d, formatError(data, len(data), "", fmt.Sprintf("the text does not end with %q", end))
		}
		at = min(at+len(line)+1, len(data))
	}
	return d, d.finish()
}

// fault is an error of parse about the value that stands at a byte of data.
func (m member) fault(data []byte, at int, err error) error {
	if e, ok := err.(misread); ok {
		at += e.at
		return formatError(data, at, m.name, fmt.Sprintf("%.24q, want %s", data[at:], e.want))
	}
	return place(m.name, err)
}

// format reads the version, which decides on the members that follow.
func (d *draft) format(value []byte) error {
	for n, name := range formats() {
		if string(value) == strconv.Quote(name) {
			d.version = 1 << n
			return nil
		}
	}
	return misread{0, fmt.Sprintf("a format that this program reads: one of %q", formats())}
}

// formatError is about byte n of data, where a member belongs.
func formatError(data []byte, n int, belongs, problem string) *FormatError {
	e := &FormatError{Offset: n, Line: 1 + bytes.Count(data[:n], []byte("\n")), Problem: problem}
	if e.Line == 1 || n == len(data) {
		return e
	}
	e.Field = belongs
	name, _, ok := bytes.Cut(data[1+bytes.LastIndexByte(data[:n], '\n'):], []byte(`":`))
	for _, m := range members() {
		if ok && string(name) == `"`+m.name {
			e.Field = m.name
		}
	}
	return e
}
