package policy

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// What follows writes the values of members. What is absent is null.

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

func appendEpsilon(b []byte, eps ldp.Epsilon) []byte {
	if eps.IsZero() {
		return append(b, "null"...)
	}
	return appendText(b, eps.String())
}

func appendObject(b, object []byte) []byte {
	if object == nil {
		return append(b, "null"...)
	}
	return append(b, object...)
}

func appendTexts(b []byte, list []string) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	return appendList(b, len(list), func(b []byte, i int) []byte { return appendText(b, list[i]) })
}

func appendInts(b []byte, list []int32) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	return appendList(b, len(list), func(b []byte, i int) []byte { return appendInt(b, int(list[i])) })
}

func appendAliases(b []byte, list []Alias) []byte {
	return appendList(b, len(list), func(b []byte, i int) []byte {
		b = appendInt(append(b, '['), list[i].Input)
		return append(appendText(append(b, ','), list[i].Label), ']')
	})
}

func appendSchedule(b []byte, s ledger.Schedule) []byte {
	b = appendText(append(b, `{"epochs":`...), string(s.Epochs))
	b = appendEpoch(append(b, `,"first":`...), s.First)
	b = appendEpoch(append(b, `,"last":`...), s.Last)
	return append(appendInt(append(b, `,"period":`...), s.Period), '}')
}

func appendEpoch(b []byte, epoch string) []byte {
	if epoch == "" {
		return append(b, "null"...)
	}
	return appendText(b, epoch)
}

func appendPairs(b []byte, pairs map[string]string) []byte {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(pairs)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendText(b, key), ':'), pairs[key])
	}
	return append(b, '}')
}

func appendProvenance(b []byte, p Provenance) []byte {
	b = appendText(append(b, `{"geometry":`...), string(p.Geometry))
	b = appendEpsilon(append(b, `,"geometry_epsilon":`...), p.GeometryEpsilon)
	b = appendText(append(b, `,"base_measure":`...), string(p.BaseMeasure))
	b = appendEpsilon(append(b, `,"base_measure_epsilon":`...), p.BaseMeasureEpsilon)
	return append(appendText(append(b, `,"note":`...), p.Note), '}')
}

// appendBounds writes bounds that are all equal as one, but in version 1.
func (c *content) appendBounds(b []byte, bound func(int) uint64) []byte {
	if c.version() > 1 && constant(c.Polytope.Len(), bound) {
		return appendUnits(b, bound(0))
	}
	return appendList(b, c.Polytope.Len(), func(b []byte, j int) []byte { return appendUnits(b, bound(j)) })
}

// constant reports whether all n bounds are equal.
func constant(n int, bound func(int) uint64) bool {
	for j := range n {
		if bound(j) != bound(0) {
			return false
		}
	}
	return true
}

func (g *Geometry) append(b []byte) []byte {
	b = appendText(append(b, `{"kind":`...), g.Kind)
	return fmt.Appendf(b, `,"axes":%d,"rows":%d,"cols":%d}`, g.Axes, g.Rows, g.Cols)
}

func appendRow(b []byte, r Row) []byte {
	b = appendList(append(b, `{"full":`...), len(r.full), func(b []byte, i int) []byte {
		return appendInt(b, int(r.full[i]))
	})
	b = appendList(append(b, `,"extra":`...), len(r.extra), func(b []byte, i int) []byte {
		b = appendInt(append(b, '['), int(r.extra[i].col))
		return append(appendUnits(append(b, ','), r.extra[i].add), ']')
	})
	return append(b, '}')
}

// appendCodes writes a line for each component.
func appendCodes(b []byte, codes []Code) []byte {
	b = appendList(b, len(codes), func(b []byte, n int) []byte {
		c := codes[n]
		b = appendUnits(append(b, "\n{\"weight\":"...), c.Weight)
		b = appendUnits(append(b, `,"low":`...), c.Low)
		if c.Colors == 0 {
			b = appendUnits(append(b, `,"high":`...), c.High)
			return append(appendInts(append(b, `,"thresholds":`...), c.Thresholds), '}')
		}
		b = appendInt(append(b, `,"colors":`...), c.Colors)
		b = base64.StdEncoding.AppendEncode(append(b, `,"color":"`...), c.Packed)
		return append(b, `"}`...)
	})
	return append(b[:len(b)-1], "\n]"...)
}

// appendRows writes a line for each row.
func appendRows(b []byte, rows []Row) []byte {
	if rows == nil {
		return append(b, "null"...)
	}
	b = appendList(b, len(rows), func(b []byte, i int) []byte { return appendRow(append(b, '\n'), rows[i]) })
	return append(b[:len(b)-1], "\n]"...)
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
