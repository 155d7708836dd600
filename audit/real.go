package audit

import (
	"math"
	"strconv"
)

// Real is a number for people: it prints and marshals with nine significant digits, so that a report does not
// depend on the last bits of a machine's logarithm. Infinities are the strings "inf" and "-inf" in JSON.
type Real float64

const realDigits = 9

func (x Real) String() string {
	switch {
	case math.IsInf(float64(x), 1):
		return "inf"
	case math.IsInf(float64(x), -1):
		return "-inf"
	}
	return strconv.FormatFloat(float64(x), 'g', realDigits, 64)
}

// MarshalJSON implements json.Marshaler. There is no error.
func (x Real) MarshalJSON() ([]byte, error) {
	switch v := float64(x); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return strconv.AppendQuote(nil, x.String()), nil
	default:
		r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', realDigits, 64), 64)
		if err != nil {
			return nil, err
		}
		return strconv.AppendFloat(nil, r, 'g', -1, 64), nil
	}
}

// short prints a few digits for tables.
func (x Real) short() string {
	if math.IsInf(float64(x), 0) {
		return x.String()
	}
	return strconv.FormatFloat(float64(x), 'g', 4, 64)
}
