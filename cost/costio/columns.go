package costio

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns says in which fields of a record, from 1, a point is.
type columns struct {
	names  []string // of the coordinates, in their order; nil without a header
	label  int
	fields []int    // of the coordinates
	idle   []string // names of columns that nothing is taken from
}

// The coordinates that belong together, each family in its order. x1, x2, ... are the third.
var (
	latLon = []string{"lat", "lon"}
	xyz    = []string{"x", "y", "z"}
)

const knownColumns = "label (name, id), lat (latitude), lon (lng, longitude), x, y, z, x1, x2, ..."

// labelNames are the columns that may have the label, the best one first: real tables often have several.
var labelNames = []string{"label", "name", "id"}

// pointColumn returns the one name of a column of points, "" if it is not known.
func pointColumn(s string) string {
	switch s = strings.ToLower(strings.TrimSpace(s)); s {
	case "label", "name", "id":
		return "label"
	case "lat", "latitude":
		return "lat"
	case "lon", "lng", "longitude":
		return "lon"
	case "x", "y", "z":
		return s
	}
	if digits, ok := strings.CutPrefix(s, "x"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 1 && n <= MaxFields && strconv.Itoa(n) == digits {
			return s
		}
	}
	return ""
}

// family returns the n coordinates that name is one of.
func family(name string, n int) []string {
	switch {
	case slices.Contains(latLon, name):
		return latLon
	case slices.Contains(xyz, name):
		return xyz[:min(n, len(xyz))]
	}
	names := make([]string, n)
	for j := range names {
		names[j] = "x" + strconv.Itoa(j+1)
	}
	return names
}

// pointColumns reads the first row as a header, or, if it is none, says that the columns are label,x1,...,xn.
func (t *table) pointColumns() (c columns, header bool, err error) {
	word, number, known := 0, 0, 0 // fields of each kind, the last of it
	for i, s := range t.record {
		if _, ok := t.parse(s); ok {
			number = i + 1
		} else if r, _ := utf8.DecodeRuneInString(strings.TrimSpace(s)); r == '_' || unicode.IsLetter(r) {
			word = i + 1
		}
		if pointColumn(s) != "" {
			known = i + 1
		}
	}
	if number > 0 || word == 0 {
		if known > 0 {
			return c, false, t.bad(known, ErrFormat,
				fmt.Sprintf("%s is the name of a column, and %s a number: header or point? Put the line label,x1,... first",
					quote(t.record[known-1]), quote(t.record[number-1])))
		}
		c.label = 1
		for j := range len(t.record) - 1 {
			c.fields = append(c.fields, j+2)
		}
		return c, false, nil
	}
	at := make(map[string]int, len(t.record))
	best := len(labelNames)
	for _, s := range t.record {
		if n := slices.Index(labelNames, strings.ToLower(strings.TrimSpace(s))); n >= 0 {
			best = min(best, n)
		}
	}
	var names []string
	for i, s := range t.record {
		name := pointColumn(s)
		if name == "label" && strings.ToLower(strings.TrimSpace(s)) != labelNames[best] {
			name = ""
		}
		if name == "" {
			c.idle = append(c.idle, strings.Clone(s))
			continue
		}
		if first, twice := at[name]; twice {
			return c, true, t.bad(i+1, ErrDuplicate,
				fmt.Sprintf("column %s is field %d already, %s", name, first, quote(t.record[first-1])))
		}
		at[name] = i + 1
		if name != "label" {
			names = append(names, name)
		}
	}
	if at["label"] == 0 {
		return c, true, t.bad(0, ErrFormat, "no column label (name, id)")
	}
	if len(names) == 0 {
		return c, true, t.bad(0, ErrFormat, "no column of coordinates; known are "+knownColumns)
	}
	want := family(names[0], len(names))
	for _, name := range names {
		if family(name, len(names))[0] != want[0] {
			return c, true, t.bad(at[name], ErrFormat, fmt.Sprintf("column %s does not go with column %s", name, names[0]))
		}
	}
	for _, name := range want {
		if at[name] == 0 {
			return c, true, t.bad(0, ErrFormat, "no column "+name)
		}
		c.fields = append(c.fields, at[name])
	}
	c.names, c.label = want, at["label"]
	return c, true, nil
}
