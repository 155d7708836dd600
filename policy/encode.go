package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wpm-go/wpm/ldp"
)

// format and format2 name the versions of the file format. A change of meaning gets a new name.
const format, format2 = "wpm-policy-1", "wpm-policy-2"

// fields lists the members in the order of the file. The last four are those of version 2, which has no rows.
var fields = [...]string{
	"format", "epsilon", "bits", "mode", "work_limit_ms", "inputs", "outputs", "provenance", "metadata",
	"certificate", "cost", "input_labels", "output_labels", aliasMember, "lo", "hi", "fallback", "rows",
	"geometry", "input_points", "output_points", "thresholds",
}

// aliasMember is the one member that may be absent, and is when there is nothing in it.
const aliasMember = "input_aliases"

// members lists the fields of a file of version 2 or 1, with or without aliases: entry n is on line n+2.
func members(two, aliases bool) []string {
	const last = len(fields) - 4
	drop := fields[last:]
	if two {
		drop = fields[last-1 : last]
	}
	return slices.DeleteFunc(slices.Clone(fields[:]), func(name string) bool {
		return slices.Contains(drop, name) || name == aliasMember && !aliases
	})
}

// Encode returns the one byte string of the policy.
func Encode(p Policy) ([]byte, error) {
	if p.c == nil {
		return nil, ErrPolicy
	}
	return p.c.encode(), nil
}

// encode writes the members, one a line. Everything must have been validated.
func (c *content) encode() []byte {
	box, g, version := c.Polytope, c.Geometry, format
	if g == nil {
		g = new(Geometry)
	} else {
		version = format2
	}
	present := members(version == format2, len(c.InputAliases) > 0)
	values := [len(fields)]any{
		version, box.Epsilon(), box.Bits(), string(c.Mode), int(c.WorkLimit / time.Millisecond), c.Inputs, box.Len(),
		c.Provenance, c.Metadata, c.Certificate, c.Cost, c.InputLabels, c.OutputLabels,
		c.InputAliases, box.Lo, box.Hi, c.Fallback, c.Rows, g, g.InputPoints, g.OutputPoints, c.Thresholds,
	}
	b := []byte("{")
	for n, v := range values {
		if !slices.Contains(present, fields[n]) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n\""+fields[n]+`":`...)
		if bound, ok := v.(func(int) uint64); ok && version == format2 && constant(box.Len(), bound) {
			b = appendUnits(b, bound(0))
		} else if ok {
			b = appendList(b, box.Len(), func(b []byte, j int) []byte { return appendUnits(b, bound(j)) })
		} else {
			b = appendValue(b, v)
		}
	}
	return append(b, "\n}\n"...)
}

// appendValue writes a value of any other type that a member has; what is absent is null.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case string:
		return appendText(b, v)
	case ldp.Epsilon:
		if !v.IsZero() {
			return appendText(b, v.String())
		}
	case []byte:
		if v != nil {
			return append(b, v...)
		}
	case []string:
		if v != nil {
			return appendList(b, len(v), func(b []byte, i int) []byte { return appendText(b, v[i]) })
		}
	case []int32:
		if v != nil {
			return appendList(b, len(v), func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) })
		}
	case *Geometry:
		b = appendText(append(b, `{"kind":`...), v.Kind)
		return fmt.Appendf(b, `,"axes":%d,"rows":%d,"cols":%d}`, v.Axes, v.Rows, v.Cols)
	case []Alias:
		return appendList(b, len(v), func(b []byte, i int) []byte {
			b = strconv.AppendInt(append(b, '['), int64(v[i].Input), 10)
			return append(appendText(append(b, ','), v[i].Label), ']')
		})
	case map[string]string:
		b = append(b, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(append(appendText(b, key), ':'), v[key])
		}
		return append(b, '}')
	case Provenance:
		b = appendText(append(b, `{"geometry":`...), string(v.Geometry))
		b = appendValue(append(b, `,"geometry_epsilon":`...), v.GeometryEpsilon)
		b = appendText(append(b, `,"base_measure":`...), string(v.BaseMeasure))
		b = appendValue(append(b, `,"base_measure_epsilon":`...), v.BaseMeasureEpsilon)
		return append(appendText(append(b, `,"note":`...), v.Note), '}')
	case Row:
		b = appendList(append(b, `{"full":`...), len(v.full), func(b []byte, i int) []byte {
			return strconv.AppendInt(b, int64(v.full[i]), 10)
		})
		b = appendList(append(b, `,"extra":`...), len(v.extra), func(b []byte, i int) []byte {
			b = strconv.AppendInt(append(b, '['), int64(v.extra[i].col), 10)
			return append(appendUnits(append(b, ','), v.extra[i].add), ']')
		})
		return append(b, '}')
	case []Row: // a line for each
		if v != nil {
			b = appendList(b, len(v), func(b []byte, i int) []byte { return appendValue(append(b, '\n'), v[i]) })
			return append(b[:len(b)-1], "\n]"...)
		}
	}
	return append(b, "null"...)
}

// constant reports whether all n bounds are equal, which version 2 writes as one.
func constant(n int, bound func(int) uint64) bool {
	for j := range n {
		if bound(j) != bound(0) {
			return false
		}
	}
	return true
}

func appendList(b []byte, n int, element func(b []byte, i int) []byte) []byte {
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, i)
	}
	return append(b, ']')
}

// appendUnits writes a quantity that may exceed 2^53: as a string of digits.
func appendUnits(b []byte, n uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), n, 10), '"')
}

// appendText writes a JSON string. Texts hold no control characters, so two escapes are all there is: encoding/json
// would escape U+2028, too, whatever one asks.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		if s[i] == '"' || s[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return append(b, '"')
}
