//go:build !js

package costio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/sbinet/npyio"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// npyio trusts its input: it allocates what the header says, panics on some bad headers, and takes a
// short file for zeros. So the header is bounded before it sees it, a panic is an error, and the
// data comes through a reader that never returns less than it is asked for.
func readNPY(src *source) (d *cost.Dense, err error) {
	format := func(msg string) error { return &Error{File: src.name, Msg: msg, Err: ErrFormat} }
	header, err := npyHeader(src)
	if err != nil {
		return nil, err
	}
	nr, err := parseNPY(io.MultiReader(bytes.NewReader(header), fullReader{src}))
	if err != nil {
		return nil, format("bad NPY header: " + err.Error())
	}
	h := nr.Header.Descr
	if len(h.Shape) != 2 {
		return nil, format(fmt.Sprintf("NPY array of shape %v, need two dimensions", h.Shape))
	}
	k, kv := h.Shape[0], h.Shape[1]
	if k < 1 || kv < 1 {
		return nil, format(fmt.Sprintf("NPY array of shape %v has no entries", h.Shape))
	}
	if k > cost.MaxEntries/kv {
		return nil, &Error{File: src.name,
			Msg: fmt.Sprintf("NPY array of shape %v has more than %d entries", h.Shape, cost.MaxEntries), Err: wpmerr.ErrTooLarge}
	}
	read := npyReader(h.Type)
	if read == nil {
		return nil, format("NPY element type " + quote(h.Type) + ", need float64, float32 or an integer")
	}
	data, err := read(nr, k*kv)
	if err != nil {
		return nil, src.fail(err)
	}
	if _, err := src.ReadByte(); err != io.EOF {
		if err != nil {
			return nil, src.fail(err)
		}
		return nil, format("data after the NPY array")
	}
	if h.Fortran {
		data = transpose(data, kv, k)
	}
	d, err = cost.NewDense(k, kv, data)
	if err != nil {
		return nil, &Error{File: src.name, Msg: err.Error(), Err: err}
	}
	return d, nil
}

// npyHeader reads magic, version, length and text of the header.
func npyHeader(src *source) ([]byte, error) {
	fixed := make([]byte, 8, 128)
	if n, err := io.ReadFull(src, fixed); !bytes.HasPrefix(fixed[:n], npyio.Magic[:]) {
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return nil, src.fail(err)
		}
		return nil, &Error{File: src.name, Msg: "not an NPY file", Err: ErrFormat}
	} else if err != nil {
		return nil, src.fail(err)
	}
	width := 2
	switch fixed[6] {
	case 1:
	case 2:
		width = 4
	default:
		return nil, &Error{File: src.name, Msg: fmt.Sprintf("NPY version %d.%d, need 1 or 2", fixed[6], fixed[7]),
			Err: ErrFormat}
	}
	size := make([]byte, 4) // little-endian, zero-extended
	if _, err := io.ReadFull(src, size[:width]); err != nil {
		return nil, src.fail(err)
	}
	n := binary.LittleEndian.Uint32(size)
	if n > maxNPYHeader {
		return nil, &Error{File: src.name, Msg: fmt.Sprintf("NPY header of %d bytes, at most %d", n, maxNPYHeader),
			Err: wpmerr.ErrTooLarge}
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(src, text); err != nil {
		return nil, src.fail(err)
	}
	return append(append(fixed, size[:width]...), text...), nil
}

// parseNPY hands the header to npyio, whose slicing of a malformed one can panic.
func parseNPY(r io.Reader) (nr *npyio.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			nr, err = nil, fmt.Errorf("malformed dictionary")
		}
	}()
	return npyio.NewReader(r)
}

// fullReader makes a short file an error: npyio ignores both short reads and io.EOF.
type fullReader struct{ r io.Reader }

func (f fullReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.r, p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// npyReader returns the function that reads elements of an NPY type as float64, or nil.
func npyReader(dtype string) func(nr *npyio.Reader, n int) ([]float64, error) {
	t := npyio.TypeFrom(dtype)
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Float64:
		return readNumbers[float64]
	case reflect.Float32:
		return readNumbers[float32]
	case reflect.Int8:
		return readNumbers[int8]
	case reflect.Int16:
		return readNumbers[int16]
	case reflect.Int32:
		return readNumbers[int32]
	case reflect.Int64:
		return readNumbers[int64]
	case reflect.Uint8:
		return readNumbers[uint8]
	case reflect.Uint16:
		return readNumbers[uint16]
	case reflect.Uint32:
		return readNumbers[uint32]
	case reflect.Uint64:
		return readNumbers[uint64]
	}
	return nil
}

// readNumbers reads n elements in chunks: memory grows with the data, not with the header.
func readNumbers[T float32 | float64 | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	nr *npyio.Reader, n int) ([]float64, error) {
	const exact = 1 << 53
	integer := T(3)/2 == 1
	var data []float64
	chunk := make([]T, min(n, 1<<12))
	for len(data) < n {
		c := chunk[:min(len(chunk), n-len(data))]
		if err := nr.Read(&c); err != nil {
			return nil, err
		}
		for _, v := range c {
			x := float64(v)
			if integer && (math.Abs(x) > exact || T(x) != v) {
				return nil, fmt.Errorf("%w: entry %d is the integer %v, beyond 2^53", ErrNumber, len(data), v)
			}
			data = append(data, x)
		}
	}
	return data, nil
}

// transpose turns an r x c matrix into a c x r one.
func transpose(a []float64, r, c int) []float64 {
	b := make([]float64, len(a))
	for i := range r {
		for j := range c {
			b[j*r+i] = a[i*c+j]
		}
	}
	return b
}

// WriteNPY writes a cost matrix as NPY version 1.0, float64, little-endian, C order. Rows are written as they are
// computed. The error is that of cost.Validate, wpmerr.ErrTooLarge above cost.MaxEntries, wpmerr.ErrNotConverged if ctx
// ends, or that of the writer. What has been written is then not a whole file.
//
// It does not use npyio, whose header is not aligned to 64 bytes as the format asks.
func WriteNPY(ctx context.Context, w io.Writer, m cost.Matrix) error {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, m); err != nil {
		return err
	}
	k, kv := m.Dims()
	if k > cost.MaxEntries/kv {
		return fmt.Errorf("%w: %d x %d entries, at most %d", wpmerr.ErrTooLarge, k, kv, cost.MaxEntries)
	}
	const fixed = 10 // magic, version, length
	dict := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", k, kv)
	dict += strings.Repeat(" ", 63-(fixed+len(dict))%64) + "\n"
	bw := bufio.NewWriterSize(w, chunkBytes) // remembers the first error
	bw.Write(npyio.Magic[:])
	bw.Write([]byte{1, 0})
	bw.Write(binary.LittleEndian.AppendUint16(nil, uint16(len(dict))))
	bw.WriteString(dict)
	buf := make([]float64, kv)
	for i := range k {
		if i%16 == 0 && ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
		for _, x := range m.Row(i, buf) {
			if _, err := bw.Write(binary.LittleEndian.AppendUint64(bw.AvailableBuffer(), math.Float64bits(x))); err != nil {
				return err
			}
		}
	}
	return bw.Flush()
}
