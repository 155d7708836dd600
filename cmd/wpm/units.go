package main

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/policy"
)

// unit is what distances are measured in, with the power of them that costs are.
type unit struct {
	name string  // of distances; of costs where p is not known
	p    float64 // 0 if it is not known
	cell float64 // of a square grid: the side of a cell, in sides of the square; else 0
}

// unitOf returns the unit of a kind of cost, as package cost names it; rows and cols are of a grid.
func unitOf(kind string, p float64, rows, cols int) unit {
	switch kind {
	case "greatcircle":
		return unit{name: "km", p: p}
	case "ring":
		return unit{name: "steps", p: p}
	case "points":
		return unit{name: "units of the coordinates", p: p}
	case "grid":
		u := unit{name: "sides of the square", p: p}
		if rows == cols {
			u.cell = 1 / float64(rows)
		}
		return u
	case "cosine":
		return unit{name: "units of 1 - cos"}
	}
	return unit{name: "units of the matrix"}
}

// unitOfPolicy is the unit of a policy's cost; the zero unit if it has none.
func unitOfPolicy(p policy.Policy) unit {
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return unit{}
	}
	power := spec.P
	if power == 0 {
		power = 1
	}
	return unitOf(spec.Kind, power, spec.Rows, spec.Cols)
}

// quantity names what costs are: W_1, or W_p^p, or just a cost where p is not known.
func (u unit) quantity() string {
	switch u.p {
	case 0:
		return "cost"
	case 1:
		return "W_1"
	}
	return fmt.Sprintf("W_%v^%v", u.p, u.p)
}

// String names the unit of distances, for a card.
func (u unit) String() string {
	if u.cell > 0 {
		return fmt.Sprintf("%s, each %.6g cells", u.name, 1/u.cell)
	}
	return u.name
}

// costs names the unit of costs: km, (km)^2.
func (u unit) costs() string {
	if u.p == 0 || u.p == 1 {
		return u.name
	}
	return fmt.Sprintf("(%s)^%v", u.name, u.p)
}

// distance prints a distance with its unit, in cells as well where there are any.
func (u unit) distance(w float64, format string) string {
	text := fmt.Sprintf(format+" %s", w, u.name)
	if u.cell > 0 {
		text += fmt.Sprintf(" = "+format+" cells", w/u.cell)
	}
	return text
}

// amount prints a cost and, where that is another number, its distance.
func (u unit) amount(v float64) string {
	const format = "%.10g"
	switch u.p {
	case 0:
		return fmt.Sprintf("%s = "+format+" %s", u.quantity(), v, u.name)
	case 1:
		return u.quantity() + " = " + u.distance(v, format)
	}
	return fmt.Sprintf("%s = "+format+" (W_%v = %s)", u.quantity(), v, u.p, u.distance(math.Pow(v, 1/u.p), format))
}
