package certificate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// The values that texts are made of. Their MarshalJSON is the canonical form; their UnmarshalJSON may accept
// more, since Decode compares with the canonical text in the end.

// digest is a SHA-256, in lower-case hexadecimal.
type digest [32]byte

func (d digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

func (d *digest) UnmarshalText(text []byte) error {
	if len(text) != 2*len(d) {
		return fmt.Errorf("a hash of %d characters, want %d", len(text), 2*len(d))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// number is a finite float64 in the shortest form that reads back to the same bits. There is one zero.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
		return nil, fmt.Errorf("%v is not finite", float64(x))
	}
	return appendFloat(nil, float64(x)), nil
}

// numbers is a list of them, [] if empty.
type numbers []float64

func (xs numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+20*len(xs))
	b = append(b, '[')
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("entry %d is %v", i, x)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFloat(b, x)
	}
	return append(b, ']'), nil
}

// appendFloat writes x in the layout of encoding/json: plain digits from 1e-6 up to 1e21, an exponent
// without padding outside.
func appendFloat(b []byte, x float64) []byte {
	if x == 0 {
		return append(b, '0') // also for -0
	}
	format := byte('f')
	if a := math.Abs(x); a < 1e-6 || a >= 1e21 {
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, 64)
	if n := len(b); format == 'e' && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' {
		b[n-2] = b[n-1] // e-09 becomes e-9
		b = b[:n-1]
	}
	return b
}

// indices is a list of indices, [] if empty.
type indices []int

func (xs indices) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+8*len(xs)), '[')
	for i, x := range xs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(x), 10)
	}
	return append(b, ']'), nil
}

// masses is a distribution: the indices that have mass, ascending, and their masses.
type masses struct {
	Index  indices `json:"index"`
	Weight numbers `json:"weight"`
}

// newMasses drops what is zero: it changes neither the problem nor any proof. support may be nil.
func newMasses(weight []float64, support []int) masses {
	var m masses
	for n, w := range weight {
		if w > 0 {
			i := n
			if support != nil {
				i = support[n]
			}
			m.Index = append(m.Index, i)
			m.Weight = append(m.Weight, w)
		}
	}
	return m
}

func (m masses) check(name string, k int) error {
	if len(m.Index) != len(m.Weight) || len(m.Index) == 0 {
		return fmt.Errorf("%w: %s has %d indices and %d weights", ErrShape, name, len(m.Index), len(m.Weight))
	}
	last := -1
	for n, i := range m.Index {
		if i <= last || i >= k {
			return fmt.Errorf("%w: index %d of %s is out of order or out of range", ErrShape, n, name)
		}
		last = i
		if !(m.Weight[n] > 0) {
			return fmt.Errorf("%w: weight %d of %s is not positive", ErrShape, n, name)
		}
	}
	return nil
}

// dense writes m out. check has passed.
func (m masses) dense(k int) []float64 {
	xs := make([]float64, k)
	for n, i := range m.Index {
		xs[i] = m.Weight[n]
	}
	return xs
}

// plan is a list of [row, column, mass].
type plan []projection.Entry

func (p plan) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+32*len(p)), '[')
	for n, e := range p {
		if math.IsNaN(e.Mass) || math.IsInf(e.Mass, 0) {
			return nil, fmt.Errorf("mass %d is %v", n, e.Mass)
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(e.I), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(e.J), 10)
		b = append(b, ',')
		b = appendFloat(b, e.Mass)
		b = append(b, ']')
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads the canonical form alone. (A general decoder would take a hundred times the size of a
// hostile text.)
func (p *plan) UnmarshalJSON(data []byte) error {
	if string(data) == "[]" {
		*p = plan{}
		return nil
	}
	out := make(plan, 0, max(0, bytes.Count(data, []byte("["))-1))
	rest := bytes.TrimPrefix(data, []byte("["))
	for len(out) == 0 || len(rest) > 0 && rest[0] == ',' {
		body, tail, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(",")), []byte("]"))
		body, open := bytes.CutPrefix(body, []byte("["))
		row, body, ok1 := bytes.Cut(body, []byte(","))
		column, mass, ok2 := bytes.Cut(body, []byte(","))
		i, err1 := strconv.Atoi(string(row))
		j, err2 := strconv.Atoi(string(column))
		x, err3 := strconv.ParseFloat(string(mass), 64)
		if !ok || !open || !ok1 || !ok2 || err1 != nil || err2 != nil || err3 != nil {
			return fmt.Errorf("entry %d of the plan is not [row,column,mass]", len(out))
		}
		out = append(out, projection.Entry{I: i, J: j, Mass: x})
		rest = tail
	}
	if string(rest) != "]" {
		return fmt.Errorf("the plan does not end after entry %d", len(out)-1)
	}
	*p = out
	return nil
}

// maxFraction bounds the text of a stated bound. Exact bounds are sums of products of a few floats, integers of
// at most some 6000 bits over such: 4000 digits.
const maxFraction = 1 << 14

// fraction is a rational as "p/q" in lowest terms.
type fraction struct{ *big.Rat }

func (f fraction) MarshalText() ([]byte, error) { return []byte(f.Rat.String()), nil }

func (f *fraction) UnmarshalText(text []byte) error {
	if len(text) > maxFraction {
		return fmt.Errorf("a fraction of %d characters, at most %d", len(text), maxFraction)
	}
	// big.Rat reads exponents, hexadecimal and more; this comes first, so that no text costs more than its
	// length.
	num, den, ok := bytes.Cut(bytes.TrimPrefix(text, []byte("-")), []byte("/"))
	if !ok || !isWhole(num) || !isWhole(den) || string(den) == "0" {
		return fmt.Errorf("%.40q is not a fraction", text)
	}
	f.Rat, ok = new(big.Rat).SetString(string(text))
	if !ok {
		return fmt.Errorf("%.40q is not a fraction", text)
	}
	return nil
}

func isWhole(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0 && (b[0] != '0' || len(b) == 1)
}

// costText returns the SHA-256 of the canonical text of a cost, and that text, or nil where it is longer than a
// certificate may be. A matrix of a foreign type is written out.
func costText(ctx context.Context, c cost.Matrix) (hash digest, text []byte, err error) {
	var spec cost.Spec
	if cost.Structured(c) {
		spec, err = cost.SpecOf(ctx, c)
	} else {
		var d *cost.Dense
		if d, err = cost.Materialize(ctx, c); err == nil {
			spec = cost.Spec{Kind: "explicit", C: slices.Collect(slices.Chunk(d.Data, d.Kv))} // no copy
		}
	}
	if errors.Is(err, wpmerr.ErrNotConverged) {
		return digest{}, nil, err
	}
	if err != nil {
		return digest{}, nil, fmt.Errorf("%w: %w", ErrCost, err)
	}
	sum, kept := sha256.New(), &short{}
	into := io.MultiWriter(sum, kept)
	doubtful := 0 < len(spec.C) && firstRow(spec)*int64(len(spec.C)) > 2*MaxBytes
	if doubtful { // by its first row the text is far too long: it is not kept
		into = sum
	}
	n, err := spec.WriteTo(into)
	if err == nil && doubtful && n <= MaxBytes {
		_, err = spec.WriteTo(kept)
	}
	if err != nil {
		return digest{}, nil, fmt.Errorf("%w: %w", ErrCost, err)
	}
	return digest(sum.Sum(nil)), slices.Concat(kept.parts...), nil
}

// firstRow is the length of the text of a matrix's first row, 0 if there is none.
func firstRow(s cost.Spec) int64 {
	s.C = s.C[:1]
	n, err := s.WriteTo(io.Discard)
	if err != nil {
		return 0
	}
	return n
}

// short keeps a text of up to MaxBytes, and nothing of a longer one. It is in parts, which need no copy while it grows.
type short struct {
	parts  [][]byte
	length int // of the whole text
}

func (s *short) Write(p []byte) (int, error) {
	if s.length += len(p); s.length > MaxBytes {
		s.parts = nil
	} else {
		s.parts = append(s.parts, slices.Clone(p))
	}
	return len(p), nil
}

// readCost builds the cost that a text describes. The text must be the canonical one.
func readCost(text []byte) (cost.Matrix, error) {
	spec, err := cost.ParseSpec(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCost, err)
	}
	canonical, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCost, err)
	}
	if !bytes.Equal(canonical, text) {
		return nil, fmt.Errorf("%w: not the canonical text of this cost (byte %d)", ErrCost, diverge(canonical, text))
	}
	c, err := spec.Build()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCost, err)
	}
	return c, nil
}

// checkSizes bounds a k x kv problem.
func checkSizes(k, kv int) error {
	switch {
	case k < 1 || kv < 1:
		return fmt.Errorf("%w: %d x %d problem", ErrShape, k, kv)
	case k > cost.MaxPoints || kv > cost.MaxPoints || k > cost.MaxEntries/kv:
		return fmt.Errorf("%w: %d x %d problem, at most %d entries", ErrLimit, k, kv, cost.MaxEntries)
	}
	return nil
}

// checkLength wants a list of n numbers.
func checkLength(name string, xs []float64, n int) error {
	if len(xs) != n {
		return fmt.Errorf("%w: %d entries of %s, want %d", ErrShape, len(xs), name, n)
	}
	return nil
}

// diverge returns the first position at which a and b differ.
func diverge(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
