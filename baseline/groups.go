package baseline

import (
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Groups assigns items to overlapping groups, such as films to genres. A mechanism on the groups becomes one
// on the items: collect the input, apply any rule to the groups, spread its output. Inputs and outputs may be
// different items of the same groups, each with Groups of their own.
type Groups struct {
	items   int
	members [][]int
	of      []int // the number of groups of each item
}

// NewGroups returns the groups with the given members, each an index in [0, items). Members are copied. A
// member that is out of range or twice in one group is ErrGroup; a group may be empty and an item in no group,
// as long as no mass gets there.
func NewGroups(items int, members [][]int) (*Groups, error) {
	if items < 1 || len(members) < 1 {
		return nil, fmt.Errorf("%w: %d items, %d groups", wpmerr.ErrShape, items, len(members))
	}
	g := &Groups{items: items, of: make([]int, items)}
	last := make([]int, items) // the last group seen with the item, plus one
	for at, group := range members {
		for _, i := range group {
			if i < 0 || i >= items {
				return nil, fmt.Errorf("%w: member %d of group %d is not one of %d items", ErrGroup, i, at, items)
			}
			if last[i] == at+1 {
				return nil, fmt.Errorf("%w: item %d is twice in group %d", ErrGroup, i, at)
			}
			last[i] = at + 1
			g.of[i]++
		}
		g.members = append(g.members, slices.Clone(group))
	}
	return g, nil
}

// Len returns the number of groups; nil Groups have none, and refuse every measure.
func (g *Groups) Len() int {
	if g == nil {
		return 0
	}
	return len(g.members)
}

// Collect maps a measure on the items to one on the groups: the mass of an item is split evenly between its
// groups. It is ErrGroup if an item with mass is in no group. x need not be a distribution.
func (g *Groups) Collect(x []float64) ([]float64, error) {
	if g == nil {
		return nil, fmt.Errorf("%w: nil groups", ErrGroup)
	}
	if err := checkMeasure("x", x, g.items); err != nil {
		return nil, err
	}
	for i, v := range x {
		if v > 0 && g.of[i] == 0 {
			return nil, fmt.Errorf("%w: item %d has mass %v and no group", ErrGroup, i, v)
		}
	}
	y, parts := make([]float64, len(g.members)), []float64(nil)
	for at, group := range g.members {
		parts = parts[:0]
		for _, i := range group {
			parts = append(parts, x[i]/float64(g.of[i]))
		}
		y[at] = num.Sum(parts)
	}
	return y, nil
}

// Spread maps a measure on the groups to one on the items: the mass of a group goes to its members evenly. It
// is ErrGroup if a group with mass is empty. Applied to the base measure of a mechanism on the groups it gives
// the base measure of the mechanism on the items. y need not be a distribution.
func (g *Groups) Spread(y []float64) ([]float64, error) {
	if g == nil {
		return nil, fmt.Errorf("%w: nil groups", ErrGroup)
	}
	if err := checkMeasure("y", y, len(g.members)); err != nil {
		return nil, err
	}
	x := make([]float64, g.items)
	for at, group := range g.members {
		if y[at] > 0 && len(group) == 0 {
			return nil, fmt.Errorf("%w: group %d has mass %v and no members", ErrGroup, at, y[at])
		}
		for _, i := range group {
			x[i] += y[at] / float64(len(group)) // at most as many terms as the item has groups
		}
	}
	return x, nil
}
