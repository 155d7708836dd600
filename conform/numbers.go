package conform

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors"
)

// number is a float64 as lines write it: a JSON number that reads back as the same float64, or "inf", "-inf", "nan".
type number float64

// MarshalJSON implements json.Marshaler.
func (x number) MarshalJSON() ([]byte, error) {
	switch v := float64(x); {
	case math.IsNaN(v):
		return []byte(`"nan"`), nil
	case math.IsInf(v, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-inf"`), nil
	case v == 0 && math.Signbit(v):
		return []byte("-0.0"), nil
	default:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *number) UnmarshalJSON(text []byte) error {
	s := string(text)
	switch s {
	case `"inf"`, `"-inf"`, `"nan"`:
		s = s[1 : len(s)-1]
	default:
		if s[0] == '"' || s == "null" || s == "true" || s == "false" {
			return fmt.Errorf("%s is no number", text)
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%s is no float64", text)
	}
	*x = number(v)
	return nil
}

// numbers is never null in a line.
func numbers[T ~float64](x []T) []number {
	out := make([]number, len(x))
	for i, v := range x {
		out[i] = number(v)
	}
	return out
}

func rows[T ~float64](x [][]T) [][]number {
	out := make([][]number, len(x))
	for i, row := range x {
		out[i] = numbers(row)
	}
	return out
}

func floats[T ~float64](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// costLine is the cost of a line.
type costLine struct {
	Kind string     `json:"kind"`
	C    [][]number `json:"C"`
}

func explicit[T ~float64](c [][]T) costLine { return costLine{"explicit", rows(c)} }

// decimals writes weights.
func decimals(n []uint64) []string {
	out := make([]string, len(n))
	for j, v := range n {
		out[j] = strconv.FormatUint(v, 10)
	}
	return out
}

// units reads weights.
func units(text []string) ([]uint64, error) {
	out := make([]uint64, len(text))
	for j, s := range text {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil || strconv.FormatUint(v, 10) != s {
			return nil, fmt.Errorf("%q is no weight", s)
		}
		out[j] = v
	}
	return out, nil
}

// arc is an entry of a plan, [i, j, mass].
type arc struct {
	i, j int
	mass float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *arc) UnmarshalJSON(text []byte) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil || len(raw) != 3 {
		return fmt.Errorf("%s is no [i, j, mass]", text)
	}
	var m number
	for n, to := range []any{&a.i, &a.j, &m} {
		if err := json.Unmarshal(raw[n], to); err != nil {
			return fmt.Errorf("%s is no [i, j, mass]", text)
		}
	}
	a.mass = float64(m)
	return nil
}

// off says by how much got is further than allowed from want, or nil. An infinite want is one without a Rat.
func off(what string, got number, want vectors.Number, allowed float64) error {
	g := float64(got)
	if want.Rat == nil {
		if math.IsInf(g, 1) {
			return nil
		}
		return fmt.Errorf("%s is %v, want infinity", what, g)
	}
	if math.IsNaN(g) || math.IsInf(g, 0) {
		return fmt.Errorf("%s is %v, want %v", what, g, exact.Float(want.Rat))
	}
	d := exact.Sub(exact.Rat(g), want.Rat)
	if d.Abs(d).Cmp(exact.Rat(allowed)) > 0 {
		return fmt.Errorf("%s is %v, want %v within %.3g", what, g, exact.Float(want.Rat), allowed)
	}
	return nil
}

// relative is the allowance of a relative tolerance: of it, and of the rounding of the smallest numbers.
func relative(tolerance float64, want vectors.Number) float64 {
	if want.Rat == nil {
		return 0
	}
	return tolerance*math.Abs(exact.Float(want.Rat)) + 0x1p-1074
}

func rat(x number) (*big.Rat, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return exact.Rat(v), nil
	}
	return nil, fmt.Errorf("%v is not finite", float64(x))
}
