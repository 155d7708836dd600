package cost

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/wpm-go/wpm/wpmerr"
)

// Spec is a cost in words, and the Go side of its JSON form:
//
//	{"kind":"explicit","C":[[0,1],[1,0]]}
//	{"kind":"ring","n":30,"p":2}
//	{"kind":"grid","rows":20,"cols":20,"p":1}
//	{"kind":"points","x":[[0,0],[1,0]],"v":[[0,1]],"p":2}
//	{"kind":"cosine","x":[[1,2],[3,4]],"v":[[1,1]]}
//	{"kind":"greatcircle-2","x":[[48.2,16.4],[52.5,13.4]],"p":1}
//	{"kind":"greatcircle","x":[[48.2,16.4],[52.5,13.4]],"p":1}
//
// The last two differ by the formula of the distance, see GreatCircle.
//
// Fields of another kind must have their zero value. A nil V means the same points as X, and P = 0
// means p = 1, as an absent field does in JSON.
type Spec struct {
	Kind string      `json:"kind"`
	C    [][]float64 `json:"C,omitempty"`
	N    int         `json:"n,omitempty"`
	Rows int         `json:"rows,omitempty"`
	Cols int         `json:"cols,omitempty"`
	X    [][]float64 `json:"x,omitempty"`
	V    [][]float64 `json:"v,omitempty"`
	P    float64     `json:"p,omitempty"`
}

// fieldOrder is the order of the fields in the canonical form; every kind has some of them.
var fieldOrder = [...]string{"C", "n", "rows", "cols", "x", "v", "p"}

// fieldsOf returns the fields of a kind and says which must be there. ok is false for an unknown kind.
func fieldsOf(kind string) (required, optional []string, ok bool) {
	switch kind {
	case "explicit":
		return []string{"C"}, nil, true
	case "ring":
		return []string{"n"}, []string{"p"}, true
	case "grid":
		return []string{"rows", "cols"}, []string{"p"}, true
	case "points", "greatcircle-2", "greatcircle":
		return []string{"x"}, []string{"v", "p"}, true
	case "cosine":
		return []string{"x"}, []string{"v"}, true
	}
	return nil, nil, false
}

func contains(list []string, s string) bool {
	for _, t := range list {
		if s == t {
			return true
		}
	}
	return false
}

// checkFields holds the fields that are set against those of the kind.
func checkFields(kind string, set func(field string) bool) error {
	required, optional, ok := fieldsOf(kind)
	if !ok {
		return fmt.Errorf("%w: field \"kind\": %s is not one of explicit, ring, grid, points, cosine, greatcircle-2, greatcircle", ErrSpec,
			clip(strconv.Quote(kind)))
	}
	for _, f := range fieldOrder {
		switch {
		case !set(f) && contains(required, f):
			return fmt.Errorf("%w: kind %q needs the field %q", ErrSpec, kind, f)
		case set(f) && !contains(required, f) && !contains(optional, f):
			return fmt.Errorf("%w: field %q does not belong to kind %q", ErrSpec, f, kind)
		}
	}
	return nil
}

// check applies the rules that need no arithmetic on the entries.
func (s Spec) check() error {
	set := func(f string) bool {
		switch f {
		case "C":
			return s.C != nil
		case "n":
			return s.N != 0
		case "rows":
			return s.Rows != 0
		case "cols":
			return s.Cols != 0
		case "x":
			return s.X != nil
		case "v":
			return s.V != nil
		default:
			return s.P != 0
		}
	}
	if err := checkFields(s.Kind, set); err != nil {
		return err
	}
	switch s.Kind {
	case "ring":
		return s.count("n", s.N)
	case "grid":
		if err := s.count("rows", s.Rows); err != nil {
			return err
		}
		if err := s.count("cols", s.Cols); err != nil {
			return err
		}
		if s.Rows > MaxPoints/s.Cols {
			return fmt.Errorf("%w: fields \"rows\" and \"cols\": %d x %d: %w, at most %d cells", ErrSpec, s.Rows, s.Cols,
				wpmerr.ErrTooLarge, MaxPoints)
		}
	}
	return nil
}

func (s Spec) count(field string, n int) error {
	if err := checkCount(field, n); err != nil {
		return fmt.Errorf("%w: field %q: %w", ErrSpec, field, err)
	}
	return nil
}

// exponent resolves the default.
func (s Spec) exponent() float64 {
	if s.P == 0 {
		return 1
	}
	return s.P
}

// Build returns the cost that s describes: a *Dense, *Ring, *Grid, *Points, *Cosine or *GreatCircle.
// Numbers are copied. The error is ErrSpec for the wrong fields, or that of the constructor.
func (s Spec) Build() (Matrix, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	m, err := s.build()
	if err != nil {
		return nil, fmt.Errorf("cost of kind %q: %w", s.Kind, err)
	}
	return m, nil
}

func (s Spec) build() (Matrix, error) {
	switch s.Kind {
	case "explicit":
		return built(FromRows(s.C))
	case "ring":
		return built(NewRing(s.N, s.exponent()))
	case "grid":
		return built(NewGrid(s.Rows, s.Cols, s.exponent()))
	case "points":
		return built(NewPoints(s.X, s.V, s.exponent()))
	case "cosine":
		return built(NewCosine(s.X, s.V))
	}
	x, err := pairs("x", s.X)
	if err != nil {
		return nil, err
	}
	v, err := pairs("v", s.V)
	if err != nil {
		return nil, err
	}
	return built(newGreatCircle(x, v, s.exponent(), s.Kind == "greatcircle"))
}

// built keeps a nil *Ring from becoming a Matrix that is not nil.
func built[M Matrix](m M, err error) (Matrix, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

// pairs reads points as places; nil stays nil.
func pairs(name string, points [][]float64) ([][2]float64, error) {
	if points == nil {
		return nil, nil
	}
	out := make([][2]float64, len(points))
	for i, a := range points {
		if len(a) != 2 {
			return nil, fmt.Errorf("%w: place %s[%d] has %d numbers, need latitude and longitude", wpmerr.ErrShape, name, i, len(a))
		}
		out[i] = [2]float64{a[0], a[1]}
	}
	return out, nil
}

// SpecOf returns the Spec that builds m again, bit for bit. Numbers are copied. A Metric of another package is written
// out as a matrix, without its distance; a policy states its power beside it, see PowerKey. The error is that of Validate, ErrTooLarge for a Metric that is too large to be
// written out, or ErrSpec if m is neither a type of this package nor a Metric.
func SpecOf(ctx context.Context, m Matrix) (Spec, error) {
	if err := Validate(ctx, m); err != nil {
		return Spec{}, err
	}
	switch c := m.(type) {
	case *Dense:
		return Spec{Kind: "explicit", C: unflatten(c.Data, c.Kv)}, nil
	case structured:
		return c.spec(), nil
	case Metric:
		d, err := Materialize(ctx, c)
		if err != nil {
			return Spec{}, err
		}
		return SpecOf(ctx, d)
	}
	return Spec{}, fmt.Errorf("%w: no kind describes a %T", ErrSpec, m)
}

// Places returns the kind of the places of s, which tells how its numbers are read, and drawn: explicit, where there are
// none, ring, grid, points, cosine or greatcircle. Kinds that differ by the formula of the distance alone have the same
// places.
func (s Spec) Places() string {
	if s.Kind == "greatcircle-2" {
		return "greatcircle"
	}
	return s.Kind
}

// MarshalJSON returns the canonical form: "kind" first, then the fields of the kind in the order of
// the examples at Spec, p always written, every float in the shortest form that reads back to the
// same bits, no white space. ParseSpec reads it back, and equal Specs give equal bytes. The error
// is ErrSpec for the wrong fields, ErrExponent, or ErrNotFinite for a number JSON cannot hold.
func (s Spec) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the text of MarshalJSON, a large matrix in pieces, and returns its length. Errors: those of MarshalJSON
// and of w, after which a part of the text may be written.
func (s Spec) WriteTo(w io.Writer) (int64, error) {
	if err := s.check(); err != nil {
		return 0, err
	}
	counted := &counter{w: w}
	b := bufio.NewWriterSize(counted, 1<<15)
	_, _ = b.WriteString(`{"kind":"` + s.Kind + `"`) // an error stays until Flush
	required, optional, _ := fieldsOf(s.Kind)
	for _, f := range fieldOrder {
		if !contains(required, f) && !contains(optional, f) {
			continue
		}
		var err error
		switch f {
		case "C":
			err = writeRows(b, f, s.C)
		case "n":
			writeInt(b, f, s.N)
		case "rows":
			writeInt(b, f, s.Rows)
		case "cols":
			writeInt(b, f, s.Cols)
		case "x":
			err = writeRows(b, f, s.X)
		case "v":
			if s.V != nil {
				err = writeRows(b, f, s.V)
			}
		case "p":
			p := s.exponent()
			if _, err = newPower(p); err == nil {
				_, _ = b.WriteString(`,"p":`)
				_, _ = b.Write(appendFloat(b.AvailableBuffer(), p))
			}
		}
		if err != nil {
			if failed := b.Flush(); failed != nil { // of w
				return counted.n, failed
			}
			return counted.n, fmt.Errorf("%w: field %q: %w", ErrSpec, f, err)
		}
	}
	_ = b.WriteByte('}')
	err := b.Flush()
	return counted.n, err
}

// counter counts the bytes that w took.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

func writeInt(b *bufio.Writer, field string, n int) {
	_, _ = b.WriteString(`,"` + field + `":` + strconv.Itoa(n))
}

func writeRows(b *bufio.Writer, field string, rows [][]float64) error {
	_, _ = b.WriteString(`,"` + field + `":[`)
	for i, row := range rows {
		if i > 0 {
			_ = b.WriteByte(',')
		}
		_ = b.WriteByte('[')
		for j, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("%w: %s[%d][%d] = %v", wpmerr.ErrNotFinite, field, i, j, x)
			}
			if j > 0 {
				_ = b.WriteByte(',')
			}
			_, _ = b.Write(appendFloat(b.AvailableBuffer(), x))
		}
		if err := b.WriteByte(']'); err != nil { // of a write before
			return err
		}
	}
	return b.WriteByte(']')
}

// appendFloat writes the shortest form that reads back to the same bits, in the layout of
// encoding/json: plain digits from 1e-6 up to 1e21, an exponent without padding outside.
func appendFloat(b []byte, x float64) []byte {
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, 64)
	if n := len(b); format == 'e' && n >= 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 becomes e-9
		b = b[:n-1]
	}
	return b
}
