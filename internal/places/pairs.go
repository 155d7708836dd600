package places

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxPairs is the largest number of pairs of a geometry.
const MaxPairs = 160_000

// A Pairing is what pairs are made of.
type Pairing struct {
	Sides []File         // one or two, of places
	List  [][2]int       // the pairs, by the places of either side; nil for all of them
	With  plane.Category // the zero value for none
}

// Category is plane.ParseCategory of the text in NFC, as labels of files are.
func Category(text string, geographic bool) (plane.Category, error) {
	return plane.ParseCategory(norm.NFC.String(text), geographic)
}

// Pairs is the geometry of all pairs, by the power p of their distance. Errors: plane.ErrPairs, costio.ErrLabel,
// wpmerr.ErrTooLarge, and those of cost.NewPoints.
func Pairs(of Pairing, p float64) (Geometry, error) {
	form, err := of.form()
	if err != nil {
		return Geometry{}, err
	}
	if err := of.count(); err != nil {
		return Geometry{}, err
	}
	var x [][]float64
	var labels []string
	values := max(len(of.With.Values), 1)
	for _, at := range of.each() {
		var parts []string
		var ends [][]float64
		for n, f := range of.Sides {
			parts, ends = append(parts, f.Labels[at[n]]), append(ends, f.X[at[n]])
		}
		for v := range values {
			if of.With.Name != "" {
				parts = append(parts[:len(of.Sides)], of.With.Values[v])
			}
			label := strings.Join(parts, plane.Between)
			if len(label) > policy.MaxLabel {
				return Geometry{}, fmt.Errorf("%w: the label %.60q... of a pair has %d bytes, at most %d", costio.ErrLabel, label, len(label),
					policy.MaxLabel)
			}
			x, labels = append(x, form.Coordinates(v, ends...)), append(labels, label)
		}
	}
	g := Geometry{Inputs: labels, Outputs: labels, SameSupport: true, Pairs: form.String(), Unit: UnitOf("points", p, 0, 0)}
	metric := "euclidean"
	if form.Geographic() {
		metric, g.Unit.Name = "chords of the globe", "km"
	}
	if g.Cost, err = cost.NewPoints(x, nil, p); err != nil {
		return Geometry{}, fmt.Errorf("pairs: %w", err)
	}
	g.What = fmt.Sprintf("%d pairs (%s), %s, p = %v", len(x), of.counts(), metric, p)
	return g, nil
}

// form checks the sides.
func (of Pairing) form() (plane.Form, error) {
	f := plane.Form{Places: len(of.Sides), With: of.With}
	for n, side := range of.Sides {
		columns := side.Columns
		if columns == nil {
			columns = plane.Columns(len(side.X[0]))
		}
		if n > 0 && !slices.Equal(columns, f.Columns) {
			return f, fmt.Errorf("%w: %s has the columns %s, %s %s: both need the same", plane.ErrPairs, of.Sides[0].Name,
				strings.Join(f.Columns, ", "), side.Name, strings.Join(columns, ", "))
		}
		f.Columns = columns
		if len(side.X) == 1 {
			return f, fmt.Errorf("%w: %s has one place, %q: pairs with it say no more than the other part of them", plane.ErrPairs,
				side.Name, side.Labels[0])
		}
		if err := side.checkLabels(); err != nil {
			return f, err
		}
		for _, l := range side.Labels {
			if strings.Contains(l, plane.Between) {
				return f, fmt.Errorf("%s: %w: %q contains %s, which stands between the labels of a pair", side.Name, costio.ErrLabel, l,
					plane.Between)
			}
		}
	}
	_, err := plane.ParseForm(f.String()) // as every reader of the policy will
	return f, err
}

// counts says in words how many of what there are.
func (of Pairing) counts() string {
	var parts []string
	for _, f := range of.Sides {
		parts = append(parts, fmt.Sprintf("%d", len(f.X)))
	}
	text := strings.Join(parts, " x ") + " places"
	if of.List != nil {
		text = fmt.Sprintf("%d of %s", len(of.List), text)
	}
	if of.With.Name != "" {
		text += fmt.Sprintf(" x %d of %s", len(of.With.Values), of.With.Name)
	}
	return text
}

// count refuses more pairs than MaxPairs, and says what to merge.
func (of Pairing) count() error {
	values := int64(max(len(of.With.Values), 1))
	n := int64(len(of.List))
	if of.List == nil {
		n = 1
		for _, f := range of.Sides {
			n *= int64(len(f.X)) // each is at most 2^20
		}
	}
	if n <= MaxPairs/values {
		return nil
	}
	var ways []string
	for _, f := range of.Sides {
		if most := MaxPairs / values * int64(len(f.X)) / n; of.List == nil && most > 1 {
			ways = append(ways, fmt.Sprintf("the places of %s to %d", f.Name, most))
		}
	}
	hint := "name fewer pairs"
	if len(ways) > 0 {
		hint = "merge " + strings.Join(ways, ", or ")
		if len(of.Sides) > 1 {
			hint += ", or name the pairs that there are in a third file"
		}
	}
	return fmt.Errorf("%w: %s make more than %d pairs: %s", wpmerr.ErrTooLarge, of.counts(), MaxPairs, hint)
}

// each lists the places of the pairs, without the category.
func (of Pairing) each() (list [][2]int) {
	if of.List != nil {
		return of.List
	}
	last := 1
	if len(of.Sides) > 1 {
		last = len(of.Sides[1].X)
	}
	for i := range of.Sides[0].X {
		for j := range last {
			list = append(list, [2]int{i, j})
		}
	}
	return list
}
