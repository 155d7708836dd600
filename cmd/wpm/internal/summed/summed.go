// Package summed says what is known of one client if the reports of many are only summed: for plan and verify.
package summed

import (
	"fmt"
	"math"

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
func Up(x float64) string { return digits(x, math.Ceil, 1-1e-12) }

// Down writes three digits, rounded down.
func Down(x float64) string { return digits(x, math.Floor, 1+1e-12) }

// digits rounds, but keeps a number that is three digits but for its last bits.
func digits(x float64, round func(float64) float64, keep float64) string {
	if !(x > 0) || math.IsInf(x, 1) {
		return fmt.Sprint(x)
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.3g", round(x/unit*keep)*unit)
}

// Of proves the guarantee of the reports of so many devices. A delta of 0 is the common one.
func Of(box *ldp.Polytope, devices int, delta float64) (Central, certificate.Certificate, error) {
	devices = min(devices, shuffle.MaxClients) // more are no less private
	if delta == 0 {
		delta = shuffle.Common(devices)
	}
	p := shuffle.Problem{Clients: devices, Blanket: shuffle.Blanket(box), Epsilon: num.Up(box.Epsilon().Rat()), Delta: delta}
	g, err := shuffle.Solve(p)
	if err != nil {
		return Central{}, certificate.Certificate{}, err
	}
	c, err := certificate.NewShuffled(p, g)
	return Central{Epsilon: g.Epsilon, Delta: delta}, c, err
}
