package audit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// RowFile is a file of rows: see Given.
type RowFile struct {
	Name string
	Text io.Reader
}

// Given checks rows from another implementation or from a client's solver: each row against the policy's box, and all
// rows against each other. The text has a row on each line, a weight in units of 2^-B for every output, whole numbers
// in decimal with commas between. The rows of a client's data are as private as the data.
//
// The error is about the text (ErrTable, which names the line), or is that of the reader or of the context. Invalid
// rows give a Check that has not passed.
func Given(ctx context.Context, p policy.Policy, f RowFile) (Check, error) {
	ctx = wpmerr.Context(ctx)
	t, err := boxOf(p)
	if err != nil {
		return Check{}, err
	}
	r := newRowCheck(t, "given rows",
		"every row of "+f.Name+" a point of the box; every two of them within e^eps of each other")
	in := bufio.NewScanner(f.Text)
	in.Buffer(nil, (maxDigits+1)*len(t.Lo)+2)
	n := make([]uint64, len(t.Lo))
	line := 0
	for in.Scan() {
		line++
		if err := wpmerr.Ended(ctx); err != nil {
			return Check{}, err
		}
		fields := strings.Split(in.Text(), ",")
		if len(fields) != len(n) {
			return Check{}, fmt.Errorf("%w: line %d: %d weights for %d outputs", ErrTable, line, len(fields), len(n))
		}
		for j, s := range fields {
			if n[j], err = strconv.ParseUint(s, 10, 64); err != nil {
				return Check{}, fmt.Errorf("%w: line %d: weight %d is %.40q, not a whole number below 2^64", ErrTable, line, j, s)
			}
		}
		r.add("line "+strconv.Itoa(line), n)
	}
	if err := in.Err(); err != nil {
		return Check{}, fmt.Errorf("line %d: %w", line+1, err)
	}
	if line == 0 {
		return Check{}, fmt.Errorf("%w: no rows", ErrTable)
	}
	return r.done(), nil
}

// maxDigits is the length of 2^64 - 1.
const maxDigits = 20
