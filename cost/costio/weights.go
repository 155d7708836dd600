package costio

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadWeights reads one weight for each of a list of points from CSV rows label,weight; a header label,weight or
// label,count may come first. A point that is not in the file has weight 0. name stands for the file in errors: a label
// that is not in labels or is there twice, and a weight that is negative or not finite, are errors with their line, as
// is a file in which no weight is positive. Each is an *Error, as of Read, which may also wrap ErrLabel or
// ErrDuplicate.
func ReadWeights(r io.Reader, name string, labels []string) ([]float64, error) {
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	points := make(map[string]int32, len(labels))
	for i, s := range labels {
		points[s] = int32(i)
	}
	weights, lines := make([]float64, len(labels)), make([]int, len(labels))
	positive := false
	header := func() (bool, error) {
		if len(t.record) != 2 {
			return false, t.bad(0, ErrFormat, strconv.Itoa(len(t.record))+" fields, need label,weight")
		}
		last := strings.ToLower(strings.TrimSpace(t.record[1]))
		return last == "weight" || last == "count", nil
	}
	for err := range t.rows(header) {
		if err != nil {
			return nil, err
		}
		i, err := t.intern(1, points, nil, false)
		if err != nil {
			return nil, err
		}
		if lines[i] > 0 {
			return nil, t.bad(1, ErrDuplicate, fmt.Sprintf("label %s is on line %d already", quote(labels[i]), lines[i]))
		}
		lines[i] = t.line
		if weights[i], err = t.nonNegative(2); err != nil {
			return nil, err
		}
		positive = positive || weights[i] > 0
	}
	if !positive {
		return nil, t.empty("positive weights")
	}
	return weights, nil
}
