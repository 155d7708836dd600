// Package summed says what is known of one client if the reports of many are only summed: for plan and verify.
package summed

import (
	"fmt"
	"math"
	"strconv"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/shuffle"
)

// Central is the guarantee of all reports together, for one client.
type Central struct {
	Epsilon float64 `json:"eps"`
	Delta   float64 `json:"delta"`
}

// String has the two numbers, the first rounded up.
func (c Central) String() string { return fmt.Sprintf("(%s, %.2g)", Up(c.Epsilon), c.Delta) }

// Up writes three digits, rounded up.
func Up(x float64) string {
	text, read := digits(x)
	if read < x {
		text, _ = digits(read + unit(read))
	}
	return text
}

// Down writes three digits, rounded down.
func Down(x float64) string {
	text, read := digits(x)
	if read > x {
		text, _ = digits(x - unit(x)/2) // the nearest is above, so the one before is the nearest to this
	}
	return text
}

// digits writes the nearest three digits, and reads them back.
func digits(x float64) (text string, read float64) {
	text = fmt.Sprintf("%.3g", x)
	read, _ = strconv.ParseFloat(text, 64) // it reads what it has written
	return text, read
}

// unit is one of the third digit.
func unit(x float64) float64 { return math.Pow(10, math.Floor(math.Log10(x))-2) }

// Of proves the guarantee of the reports of so many devices. A delta of 0 is the common one.
func Of(box *ldp.Polytope, devices int, delta float64) (Central, certificate.Certificate, error) {
	if delta == 0 {
		delta = shuffle.Common(devices)
	}
	devices = min(devices, shuffle.MaxClients) // more are no less private
	p := shuffle.Problem{Clients: devices, Blanket: shuffle.Blanket(box), Epsilon: num.Up(box.Epsilon().Rat()), Delta: delta}
	g, err := shuffle.Solve(p)
	if err != nil {
		return Central{}, certificate.Certificate{}, err
	}
	c, err := certificate.NewShuffled(p, g)
	return Central{Epsilon: g.Epsilon, Delta: delta}, c, err
}
