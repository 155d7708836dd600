package places

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/policy"
)

// Unit is what distances are measured in, with the power of them that costs are.
type Unit struct {
	Name string  // of distances; of costs where p is not known
	P    float64 // 0 if it is not known
	Cell float64 // of a square grid: the side of a cell, in sides of the square; else 0
}

// UnitOf returns the unit of a kind of places, as cost.Spec.Places names it; rows and cols are of a grid.
func UnitOf(kind string, p float64, rows, cols int) Unit {
	switch kind {
	case "greatcircle":
		return Unit{Name: "km", P: p}
	case "ring":
		return Unit{Name: "steps", P: p}
	case "points":
		return Unit{Name: "units of the coordinates", P: p}
	case "grid":
		u := Unit{Name: "sides of the square", P: p}
		if rows == cols {
			u.Cell = 1 / float64(rows)
		}
		return u
	case "cosine":
		return Unit{Name: "units of 1 - cos"}
	}
	return Unit{Name: "units of the matrix"}
}

// UnitOfPolicy is the unit of a policy's cost; the zero unit if it has none.
func UnitOfPolicy(p policy.Policy) Unit {
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return Unit{}
	}
	power := spec.P
	if power == 0 {
		power = 1
	}
	u := UnitOf(spec.Places(), power, spec.Rows, spec.Cols)
	if form, err := plane.ParseForm(p.Metadata()[plane.PairsKey]); err == nil && form.Geographic() {
		u.Name = "km"
	}
	if stated, err := cost.PowerOf(p.Metadata()); err == nil && u.P == 0 && spec.Places() == "explicit" {
		u.P = stated
	}
	return u
}

// Quantity names what costs are: W_1, or W_p^p, or just a cost where p is not known.
func (u Unit) Quantity() string {
	switch u.P {
	case 0:
		return "cost"
	case 1:
		return "W_1"
	}
	return fmt.Sprintf("W_%v^%v", u.P, u.P)
}

// String names the unit of distances, for a card.
func (u Unit) String() string {
	if u.Cell > 0 {
		return fmt.Sprintf("%s, each %.6g cells", u.Name, 1/u.Cell)
	}
	return u.Name
}

// Distances is the unit of distances between maps, and how many there are in one of the cost's: cells, where a grid has
// square ones.
func (u Unit) Distances() (name string, scale float64) {
	if u.Cell > 0 {
		return "cells", 1 / u.Cell
	}
	return u.Name, 1
}

// Costs names the unit of costs: km, (km)^2.
func (u Unit) Costs() string {
	if u.P == 0 || u.P == 1 {
		return u.Name
	}
	return fmt.Sprintf("(%s)^%v", u.Name, u.P)
}

// Distance prints a distance with its unit, in cells as well where there are any.
func (u Unit) Distance(w float64, format string) string {
	text := fmt.Sprintf(format+" %s", w, u.Name)
	if u.Cell > 0 {
		text += fmt.Sprintf(" = "+format+" cells", w/u.Cell)
	}
	return text
}

// Amount prints a cost and, where that is another number, its distance.
func (u Unit) Amount(v float64) string {
	const format = "%.10g"
	switch u.P {
	case 0:
		return fmt.Sprintf("%s = "+format+" %s", u.Quantity(), v, u.Name)
	case 1:
		return u.Quantity() + " = " + u.Distance(v, format)
	}
	return fmt.Sprintf("%s = "+format+"%s", u.Quantity(), v, u.Root(v))
}

// Root prints the distance that a cost stands for, as a remark after the cost; nothing where that is the same number.
func (u Unit) Root(v float64) string {
	if u.P == 0 || u.P == 1 {
		return ""
	}
	return fmt.Sprintf(" (W_%v = %s)", u.P, u.Distance(math.Pow(v, 1/u.P), "%.10g"))
}
