package costio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/wpmerr"
)

// MaxCounts bounds the rows of a counts file: 2^26.
const MaxCounts = 1 << 26

// Counts are how often each user has each label. The pair (user, label) occurs at most once.
type Counts struct {
	Users  []string // distinct, in order of first appearance; nil if the file has no users
	Labels []string // the labels expected, or distinct ones in order of first appearance
	Rows   []Count  // in the order of the file
}

// Count is one row: N of label Labels[Label] for user Users[User], User 0 if there are no users.
type Count struct {
	User, Label int32
	Line        int32 // where it was read, for messages; ignored by WriteCounts
	N           float64
}

// ReadCounts reads counts from CSV rows user,label,count or label,count. If labels is not nil, a label that is not in
// it is an error, and Count.Label is the index into it. Counts may be any finite numbers >= 0, such as weights. name
// stands for the file in errors. Errors: an *Error, as of Read, which may also wrap ErrLabel, and those of r.
func ReadCounts(r io.Reader, name string, labels []string) (*Counts, error) {
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	c := &Counts{Labels: slices.Clone(labels)}
	users := make(map[string]int32)
	index := make(map[string]int32, len(labels))
	for i, s := range labels {
		index[s] = int32(i)
	}
	n := 0
	header := func() (bool, error) {
		n = len(t.record)
		if n != 2 && n != 3 {
			return false, t.bad(0, ErrFormat, strconv.Itoa(n)+" fields, need user,label,count or label,count")
		}
		if !strings.EqualFold(strings.TrimSpace(t.record[n-1]), "count") {
			return false, nil
		}
		if n == 3 && (pointColumn(t.record[0]) == "label" || strings.EqualFold(strings.TrimSpace(t.record[1]), "user")) {
			return false, t.bad(0, ErrFormat, "the columns are user,label,count in this order")
		}
		return true, nil
	}
	for err := range t.rows(header) {
		if err != nil {
			return nil, err
		}
		if len(c.Rows) >= MaxCounts {
			return nil, t.bad(0, wpmerr.ErrTooLarge, "more than "+strconv.Itoa(MaxCounts)+" rows")
		}
		row := Count{Line: int32(t.line)} // lines < MaxBytes
		if n == 3 {
			if row.User, err = t.intern(1, users, &c.Users, true); err != nil {
				return nil, err
			}
		}
		if row.N, err = t.nonNegative(n); err != nil { // first: of a header, this is what is odd
			return nil, err
		}
		if row.Label, err = t.intern(n-1, index, &c.Labels, labels == nil); err != nil {
			return nil, err
		}
		c.Rows = append(c.Rows, row)
	}
	if len(c.Rows) == 0 {
		return nil, t.empty("counts")
	}
	if a, b, twice := c.duplicate(); twice {
		first, second := c.Rows[a], c.Rows[b]
		what := "label " + quote(c.Labels[second.Label])
		if n == 3 {
			what += " of user " + quote(c.Users[second.User])
		}
		t.line = int(second.Line)
		return nil, t.bad(n-1, ErrDuplicate, fmt.Sprintf("%s is on line %d already", what, first.Line))
	}
	return c, nil
}

// intern returns the number of the label in field f, giving it one if grow is set.
func (t *table) intern(f int, index map[string]int32, list *[]string, grow bool) (int32, error) {
	if i, ok := index[t.record[f-1]]; ok {
		return i, nil
	}
	s, err := t.label(f)
	if err != nil {
		return 0, err
	}
	if !grow {
		return 0, t.bad(f, ErrLabel, "label "+quote(s)+" is not known")
	}
	i := int32(len(*list))
	index[s] = i
	*list = append(*list, s)
	return i, nil
}

// duplicate finds the first row b that repeats the pair of an earlier row a.
func (c *Counts) duplicate() (a, b int, twice bool) {
	order := c.order()
	for i := 1; i < len(order); i++ {
		p, q := order[i-1], order[i]
		if c.Rows[p].User == c.Rows[q].User && c.Rows[p].Label == c.Rows[q].Label && (!twice || int(q) < b) {
			a, b, twice = int(p), int(q), true
		}
	}
	return a, b, twice
}

// order sorts row numbers by user, label and place in the file.
func (c *Counts) order() []int32 {
	order := make([]int32, len(c.Rows))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(p, q int32) int {
		x, y := &c.Rows[p], &c.Rows[q]
		return cmp.Or(cmp.Compare(x.User, y.User), cmp.Compare(x.Label, y.Label), cmp.Compare(p, q))
	})
	return order
}

// ReadCountsFile is ReadCounts on a file. Errors: those of ReadCounts and of the file.
func ReadCountsFile(path string, labels []string) (*Counts, error) {
	return withFile(path, func(r io.Reader, name string) (*Counts, error) { return ReadCounts(r, name, labels) })
}

// ByUser returns the rows of each user, in the order of Users, each sorted by label: one group of all
// rows if there are no users. The groups are copies.
func (c *Counts) ByUser() [][]Count {
	sorted := make([]Count, 0, len(c.Rows))
	for _, i := range c.order() {
		sorted = append(sorted, c.Rows[i])
	}
	groups := make([][]Count, max(1, len(c.Users)))
	for start := 0; start < len(sorted); {
		end := start + 1
		for end < len(sorted) && sorted[end].User == sorted[start].User {
			end++
		}
		if u := int(sorted[start].User); u >= 0 && u < len(groups) {
			groups[u] = sorted[start:end:end]
		}
		start = end
	}
	return groups
}

// WriteCounts writes counts as CSV with a header, user,label,count or label,count. Counts that would not read back are
// refused before anything is written: ErrFormat, ErrLabel, ErrDuplicate, wpmerr.ErrNotFinite or wpmerr.ErrNegative.
func WriteCounts(w io.Writer, c *Counts) error {
	if c == nil || len(c.Rows) == 0 {
		return fmt.Errorf("%w: no counts", ErrFormat)
	}
	if err := checkLabels(c.Users); err != nil {
		return fmt.Errorf("users: %w", err)
	}
	if err := checkLabels(c.Labels); err != nil {
		return err
	}
	for i, row := range c.Rows {
		switch {
		case row.Label < 0 || int(row.Label) >= len(c.Labels):
			return fmt.Errorf("%w: row %d has label number %d of %d", ErrFormat, i, row.Label, len(c.Labels))
		case row.User < 0 || int(row.User) >= max(1, len(c.Users)):
			return fmt.Errorf("%w: row %d has user number %d of %d", ErrFormat, i, row.User, len(c.Users))
		case math.IsNaN(row.N) || math.IsInf(row.N, 0):
			return fmt.Errorf("%w: row %d has count %v", wpmerr.ErrNotFinite, i, row.N)
		case row.N < 0:
			return fmt.Errorf("%w: row %d has count %v", wpmerr.ErrNegative, i, row.N)
		}
	}
	if a, b, twice := c.duplicate(); twice {
		return fmt.Errorf("%w: rows %d and %d have the same user and label", ErrDuplicate, a, b)
	}
	return writeAll(w, func(write func([]string) error) error {
		rec := []string{"user", "label", "count"}
		if len(c.Users) == 0 {
			rec = rec[1:]
		}
		if err := write(rec); err != nil {
			return err
		}
		for _, row := range c.Rows {
			if len(c.Users) > 0 {
				rec[0] = c.Users[row.User]
			}
			rec[len(rec)-2], rec[len(rec)-1] = c.Labels[row.Label], formatNumber(row.N)
			if err := write(rec); err != nil {
				return err
			}
		}
		return nil
	})
}

// maxTally bounds counts of reports, and their sum: beyond 2^53 float64 is not exact.
const maxTally = 1 << 53

// ReadTally reads how many reports there are of each point, from CSV with a header: the columns label (name) or index,
// and count, in any order. estimate, lower and upper, which "wpm aggregate" writes beside them, are skipped; any other
// column is an error. labels are those of the points. A point that is not in the file has no reports. An unknown or
// repeated point is an error, as is a count that is not a whole number from 0 to 2^53, or a sum of counts above 2^53.
// name stands for the file in errors. Errors: an *Error, as of Read, which may also wrap ErrLabel or ErrDuplicate, and
// those of r.
func ReadTally(r io.Reader, name string, labels []string) ([]uint64, error) {
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	more, err := t.next()
	if err != nil {
		return nil, err
	}
	if !more {
		return nil, t.empty("counts")
	}
	n := len(t.record)
	point, count, numbered, err := t.tallyColumns()
	if err != nil {
		return nil, err
	}
	index := make(map[string]int, len(labels))
	for j, s := range labels {
		if numbered {
			s = strconv.Itoa(j)
		}
		index[s] = j
	}
	tally, seen, sum := make([]uint64, len(labels)), make([]int, len(labels)), uint64(0)
	for {
		if more, err = t.next(); err != nil {
			return nil, err
		}
		if !more {
			return tally, nil
		}
		if err := t.width(n); err != nil {
			return nil, err
		}
		s := t.record[point-1]
		j, ok := index[s]
		if !ok {
			return nil, t.bad(point, ErrLabel, "output "+quote(s)+" is not known")
		}
		if seen[j] > 0 {
			return nil, t.bad(point, ErrDuplicate, fmt.Sprintf("output %s is on line %d already", quote(s), seen[j]))
		}
		seen[j] = t.line
		if tally[j], err = t.whole(count); err != nil {
			return nil, err
		}
		if sum += tally[j]; sum > maxTally {
			return nil, t.bad(count, wpmerr.ErrTooLarge, "the sum of the counts is above 2^53")
		}
	}
}

// tallyColumns reads the header of a tally: the fields of the point and of the count, and whether points are numbered.
func (t *table) tallyColumns() (point, count int, numbered bool, err error) {
	for i, s := range t.record {
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "label", "name", "index":
			if point > 0 {
				return 0, 0, false, t.bad(i+1, ErrDuplicate, "points are in field "+strconv.Itoa(point)+" already")
			}
			point, numbered = i+1, strings.EqualFold(strings.TrimSpace(s), "index")
		case "count":
			if count > 0 {
				return 0, 0, false, t.bad(i+1, ErrDuplicate, "counts are in field "+strconv.Itoa(count)+" already")
			}
			count = i + 1
		case "estimate", "lower", "upper":
		default:
			return 0, 0, false, t.bad(i+1, ErrFormat,
				"column "+quote(s)+" is not known; want a header label,count or index,count")
		}
	}
	if point == 0 || count == 0 {
		return 0, 0, false, t.bad(0, ErrFormat, "want a header label,count or index,count")
	}
	return point, count, numbered, nil
}

// whole reads field f (from 1): digits, at most 2^53.
func (t *table) whole(f int) (uint64, error) {
	s := strings.TrimSpace(t.record[f-1])
	n, err := strconv.ParseUint(s, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > maxTally:
		return 0, t.bad(f, wpmerr.ErrTooLarge, quote(s)+" is above 2^53")
	case err == nil:
		return n, nil
	}
	if x, ok := parseNumber(s); ok && x < 0 {
		return 0, t.bad(f, wpmerr.ErrNegative, quote(s)+" is negative")
	}
	return 0, t.bad(f, ErrNumber, quote(s)+" is not a whole number")
}
