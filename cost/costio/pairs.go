package costio

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/wpmerr"
)

// MaxPairs bounds the rows of ReadPairs: 2^20.
const MaxPairs = 1 << 20

// ReadPairs reads pairs from CSV rows from,to; a header with these words may come first. It returns their numbers among
// the labels of either side. name stands for the file in errors: a label that is not among those of its side, and a pair
// that is there twice are errors, with their line. Each is an *Error, as of Read, which may also wrap ErrLabel or
// ErrDuplicate.
func ReadPairs(r io.Reader, name string, from, to []string) ([][2]int, error) {
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	sides := [2][]string{from, to}
	var number [2]map[string]int32
	for n, labels := range sides {
		if err := checkLabels(labels); err != nil {
			return nil, err
		}
		number[n] = make(map[string]int32, len(labels))
		for i, s := range labels {
			number[n][s] = int32(i)
		}
	}
	header := func() (bool, error) {
		if n := len(t.record); n != 2 {
			return false, t.bad(0, ErrFormat, strconv.Itoa(n)+" fields, need from,to")
		}
		return strings.EqualFold(strings.TrimSpace(t.record[0]), "from") && strings.EqualFold(strings.TrimSpace(t.record[1]), "to"), nil
	}
	var pairs [][2]int
	lines := make(map[[2]int]int)
	for err := range t.rows(header) {
		if err != nil {
			return nil, err
		}
		if len(pairs) == MaxPairs {
			return nil, t.bad(0, wpmerr.ErrTooLarge, "more than "+strconv.Itoa(MaxPairs)+" pairs")
		}
		var at [2]int
		for n := range at {
			i, err := t.intern(n+1, number[n], &sides[n], false)
			if err != nil {
				return nil, err
			}
			at[n] = int(i)
		}
		if line, twice := lines[at]; twice {
			return nil, t.bad(0, ErrDuplicate, fmt.Sprintf("the pair from %s to %s is on line %d already", quote(t.record[0]),
				quote(t.record[1]), line))
		}
		lines[at] = t.line
		pairs = append(pairs, at)
	}
	if len(pairs) == 0 {
		return nil, t.empty("pairs")
	}
	return pairs, nil
}
