package costio

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// npyMagic is what a file of NPY begins with.
const npyMagic = "\x93NUMPY"

// Read reads a cost matrix from CSV or NPY, whichever the first bytes say. name stands for the file
// in errors. Errors: an *Error with file and line, which wraps ErrFormat, ErrNumber, wpmerr.ErrNotFinite,
// wpmerr.ErrNegative or wpmerr.ErrTooLarge; and those of r.
func Read(r io.Reader, name string) (*cost.Dense, error) {
	src, err := newSource(r, name, maxNPYBytes, false)
	if err != nil {
		return nil, err
	}
	// An error here comes back at the first read.
	if head, _ := src.Peek(len(npyMagic)); string(head) == npyMagic {
		return readNPY(src)
	}
	src.becomeText()
	t, err := tableOf(src)
	if err != nil {
		return nil, err
	}
	return readCSV(t)
}

// ReadNPY reads a cost matrix from NPY. Errors: those of Read.
func ReadNPY(r io.Reader, name string) (*cost.Dense, error) {
	src, err := newSource(r, name, maxNPYBytes, false)
	if err != nil {
		return nil, err
	}
	return readNPY(src)
}

// ReadFile is Read on a file. Errors: those of Read and of the file.
func ReadFile(path string) (*cost.Dense, error) { return withFile(path, Read) }

// ReadCSV reads a cost matrix from CSV. Errors: those of Read.
func ReadCSV(r io.Reader, name string) (*cost.Dense, error) {
	t, err := newTable(r, name)
	if err != nil {
		return nil, err
	}
	return readCSV(t)
}

func readCSV(t *table) (*cost.Dense, error) {
	var data []float64
	k, kv := 0, 0
	for err := range t.rows(func() (bool, error) { kv = len(t.record); return isHeader(t.record), nil }) {
		if err != nil {
			return nil, err
		}
		if len(data) > cost.MaxEntries-kv {
			return nil, t.bad(0, wpmerr.ErrTooLarge, "more than "+strconv.Itoa(cost.MaxEntries)+" entries")
		}
		for f := range kv {
			x, err := t.nonNegative(f + 1)
			if err != nil {
				return nil, err
			}
			data = append(data, x)
		}
		k++
	}
	if k == 0 {
		return nil, t.empty("rows of numbers")
	}
	return cost.NewDense(k, kv, data)
}

// WriteCSV writes a cost matrix as CSV without a header. Every number reads back to the same bits.
// The error is that of cost.Validate, wpmerr.ErrTooLarge above MaxFields columns, wpmerr.ErrNotConverged if ctx ends, or
// that of the writer. What has been written is then not a whole file.
func WriteCSV(ctx context.Context, w io.Writer, m cost.Matrix) error {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, m); err != nil {
		return err
	}
	k, kv := m.Dims()
	if kv > MaxFields {
		return fmt.Errorf("%w: %d columns, a CSV line has at most %d fields; write NPY", wpmerr.ErrTooLarge, kv, MaxFields)
	}
	return writeAll(w, func(write func([]string) error) error {
		buf := make([]float64, kv)
		rec := make([]string, kv)
		for i := range k {
			if i%16 == 0 && ctx.Err() != nil {
				return wpmerr.Ended(ctx)
			}
			for j, x := range m.Row(i, buf) {
				rec[j] = formatNumber(x)
			}
			if err := write(rec); err != nil {
				return err
			}
		}
		return nil
	})
}
