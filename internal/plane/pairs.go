package plane

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/cost"
)

// PairsKey names the metadata of a policy whose inputs are pairs: of two places, or of a place and a category, or of two
// places and a category. They have the text of a Form. The labels of an input are joined by Between.
const (
	PairsKey = "pairs"
	Between  = ">"
)

// Anywhere stands for all places of an end, in the name of a flow.
const Anywhere = "anywhere"

// ErrPairs: a form, labels or coordinates that are not those of pairs.
var ErrPairs = errors.New("bad pairs")

// Form says what pairs are of. The coordinates of a pair are those of its places, one after the other, and a corner of
// the simplex of the category: so the distance of two pairs is the root of the sum of the squares of the distances of
// their parts. A place in degrees has three coordinates, those of its point on the globe in km.
type Form struct {
	Columns []string // of a place: lat, lon; or x, y; and so on
	Places  int      // 1 or 2
	With    Category // the zero value is none
}

// Category is a choice of values, of which any two are at the same distance.
type Category struct {
	Name   string
	Values []string
	Cost   float64 // of a wrong one: the distance
}

// maxCategory bounds the bytes of a category: a policy has 4096 for the form.
const maxCategory = 2048

// taken are names that a map has for columns and for kinds of its rows, so that no category has them.
var taken = []string{"label", "from", "to", "place", "pair", "group", "region", "output", "truth", "guess", "raw", "share", "low",
	"high", "error", "kind", "unexplained"}

// ParseCategory reads NAME=A,B,C:COST. Where places are in degrees, the cost is in km, or in m if it says so.
func ParseCategory(text string, geographic bool) (c Category, err error) {
	bad := func(format string, args ...any) (Category, error) {
		return Category{}, fmt.Errorf("%w: %.60q: %s", ErrPairs, text, fmt.Sprintf(format, args...))
	}
	if len(text) > maxCategory {
		return bad("more than %d bytes", maxCategory)
	}
	name, list, named := strings.Cut(text, "=")
	colon := strings.LastIndex(list, ":")
	if !named || colon < 0 {
		return bad("want NAME=VALUE,VALUE,...:COST, as mode=walk,bike,car:2km")
	}
	c = Category{Name: name, Values: strings.Split(list[:colon], ",")}
	for n, word := range append([]string{name}, c.Values...) {
		switch {
		case word == "" || strings.TrimSpace(word) != word:
			return bad("a name is empty, or has blanks at an end")
		case strings.Contains(word, Between):
			return bad("%q contains %s, which stands between the labels of a pair", word, Between)
		case n > 0 && slices.Contains(c.Values[:n-1], word):
			return bad("%q is there twice", word)
		}
	}
	if slices.Contains(taken, name) {
		return bad("%q is the name of a column of maps, or of a kind of rows: take another", name)
	}
	if len(c.Values) < 2 {
		return bad("one value only")
	}
	number, unit := list[colon+1:], 1.0
	if geographic {
		if in, ok := strings.CutSuffix(number, "km"); ok {
			number = in
		} else if in, ok := strings.CutSuffix(number, "m"); ok {
			number, unit = in, 1000
		}
	}
	c.Cost, err = strconv.ParseFloat(number, 64)
	if c.Cost /= unit; err != nil || !(c.Cost > 0 && c.Cost <= math.MaxFloat64) {
		in := "the unit of the coordinates, which has no name"
		if geographic {
			in = "km or m"
		}
		return bad("the cost of a wrong value, %.40q, is no number above 0 in %s", list[colon+1:], in)
	}
	return c, nil
}

// corner returns corner n of the simplex: n-1 times a height less than before, from the middle of the corners before it.
func (c Category) corner(n int) []float64 {
	at := make([]float64, len(c.Values)-1)
	for a := range min(n, len(at)) {
		at[a] = c.Cost / math.Sqrt(float64(2*(a+1)*(a+2)))
	}
	if n > 0 {
		at[n-1] = c.Cost * math.Sqrt(float64(n+1)/float64(2*n))
	}
	return at
}

// Geographic reports whether places are in degrees, and distances in km.
func (f Form) Geographic() bool { return slices.Equal(f.Columns, []string{"lat", "lon"}) }

// String is what ParseForm reads.
func (f Form) String() string {
	parts := slices.Repeat([]string{strings.Join(f.Columns, ",")}, f.Places)
	if f.With.Name != "" {
		text := f.With.Name + "=" + strings.Join(f.With.Values, ",") + ":" + strconv.FormatFloat(f.With.Cost, 'g', -1, 64)
		if f.Geographic() {
			text += "km"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, Between)
}

// ParseForm reads a form. The error is ErrPairs.
func ParseForm(text string) (f Form, err error) {
	parts := strings.Split(text, Between)
	f.Columns = strings.Split(parts[0], ",")
	for len(parts) > f.Places && parts[f.Places] == parts[0] {
		f.Places++
	}
	switch rest := parts[f.Places:]; {
	case len(rest) == 1:
		if f.With, err = ParseCategory(rest[0], f.Geographic()); err != nil {
			return f, err
		}
	case len(rest) > 1 || f.Places != 2:
		return f, fmt.Errorf("%w: the form %.60q is not of two places, nor of one or two and a category", ErrPairs, text)
	}
	if f.Places > 2 || slices.Contains(f.Columns, "") {
		return f, fmt.Errorf("%w: the form %.60q has more than two places, or a coordinate without a name", ErrPairs, text)
	}
	if _, columns := f.ends(); slices.Contains(columns, f.With.Name) {
		return f, fmt.Errorf("%w: the form %.60q names a category as a column of coordinates: take another name", ErrPairs, text)
	}
	return f, nil
}

// ends are the ends of pairs, without their inputs, and the columns of the coordinates of their places.
func (f Form) ends() (list []End, columns []string) {
	kind := "points"
	if f.Geographic() {
		kind = "greatcircle"
	}
	for n := range f.Places {
		e := End{Places: Places{Kind: kind, Columns: f.Columns}, Name: [...]string{"from", "to"}[n]}
		if f.Places == 1 {
			e.Name = "place"
		}
		for _, name := range f.Columns {
			if f.Places > 1 {
				name = e.Name + "_" + name
			}
			columns = append(columns, name)
		}
		list = append(list, e)
	}
	if f.With.Name != "" {
		list = append(list, End{Name: f.With.Name, Labels: f.With.Values})
	}
	return list, columns
}

// axes is how many coordinates a place has in a pair.
func (f Form) axes() int {
	if f.Geographic() {
		return 3
	}
	return len(f.Columns)
}

// Coordinates returns those of a pair: of its places, as their columns have them, and of the value of the category.
func (f Form) Coordinates(value int, places ...[]float64) (x []float64) {
	for _, at := range places {
		if !f.Geographic() {
			x = append(x, at...)
			continue
		}
		lat, lon := at[0]*(math.Pi/180), at[1]*(math.Pi/180)
		level := cost.EarthRadius * math.Cos(lat)
		x = append(x, level*math.Cos(lon), level*math.Sin(lon), cost.EarthRadius*math.Sin(lat))
	}
	if f.With.Name != "" {
		x = append(x, f.With.corner(value)...)
	}
	return x
}

// microdegree is to what degrees are rounded that are found from coordinates: a tenth of a metre.
const microdegree = 1e6

// place is a place of a pair as its columns have it.
func (f Form) place(x []float64) []float64 {
	if !f.Geographic() {
		return x
	}
	degrees := func(y, x float64) float64 {
		return math.Round(math.Atan2(y, x)*(180/math.Pi)*microdegree)/microdegree + 0
	}
	return []float64{degrees(x[2], math.Hypot(x[0], x[1])), degrees(x[1], x[0])}
}

// End is one side of pairs: places, or the values of a category, which are nowhere.
type End struct {
	Places
	Name   string // from and to, or place if there is one, or that of the category
	Labels []string
	Of     []int // the one of each input
}

// Sums are those of shares of pairs by this end of them, nil of none.
func (e End) Sums(shares []float64) []float64 {
	if shares == nil {
		return nil
	}
	sums := make([]float64, len(e.Labels))
	for i, j := range e.Of {
		sums[j] += shares[i]
	}
	return sums
}

// OfPolicy returns the places of a policy's cost, which may be pairs by its metadata and the labels of its inputs. The
// error is ErrPairs.
func OfPolicy(spec cost.Spec, metadata map[string]string, label func(int) string) (Places, error) {
	form, pairs := metadata[PairsKey]
	if !pairs {
		return Of(spec), nil
	}
	p, err := ofPairs(spec, form, label)
	if err != nil {
		err = fmt.Errorf("the metadata %q: %w", PairsKey, err)
	}
	return p, err
}

func ofPairs(spec cost.Spec, form string, label func(int) string) (Places, error) {
	f, err := ParseForm(form)
	if err != nil {
		return Places{}, err
	}
	axes := f.Places*f.axes() + max(len(f.With.Values)-1, 0)
	if spec.Places() != "points" || len(spec.V) > 0 || len(spec.X) == 0 || len(spec.X[0]) != axes {
		return Places{}, fmt.Errorf("%w: the cost is none of points of %d coordinates, as the form %.60q needs", ErrPairs, axes, form)
	}
	p := Places{Kind: PairsKey}
	p.Ends, p.Columns = f.ends()
	number := make([]map[string]int, len(p.Ends))
	for n, e := range p.Ends {
		number[n] = map[string]int{}
		for i, s := range e.Labels {
			number[n][s] = i
		}
	}
	p.In = make([][]float64, len(spec.X))
	for i, x := range spec.X {
		parts := strings.Split(label(i), Between)
		if len(parts) != len(p.Ends) {
			return Places{}, fmt.Errorf("%w: the label %.60q of input %d has %d parts, and the form %d", ErrPairs, label(i), i, len(parts),
				len(p.Ends))
		}
		for n := range p.Ends {
			e := &p.Ends[n]
			j, known := number[n][parts[n]]
			switch at := x[min(n*f.axes(), len(x)):min((n+1)*f.axes(), len(x))]; {
			case n == f.Places && !known:
				return Places{}, fmt.Errorf("%w: the label %.60q of input %d names no value of %s", ErrPairs, label(i), i, e.Name)
			case n == f.Places:
			case !known:
				j = len(e.Labels)
				number[n][parts[n]] = j
				e.Labels, e.In = append(e.Labels, parts[n]), append(e.In, f.place(at))
			}
			if e.Of = append(e.Of, j); n < f.Places {
				p.In[i] = append(p.In[i], e.In[j]...)
			}
		}
	}
	return p, nil
}

// levels are the levels of an end: a quarter of the square around its places, a quarter of that, and so on.
func (e End) levels() [][]int {
	n := len(e.Labels)
	if !e.Flat() {
		return Places{}.Levels(n)
	}
	in, _ := e.Plane()
	least, most := Bounds(in)
	_, unit := Spread(in)
	side := max(most.X-least.X, most.Y-least.Y) * (1 + 1e-9) // so that the last place is within
	steps := math.Ceil(math.Log2(max(side/unit, 1)))
	levels := append(Places{}.Levels(n)[:1], e.Places.levels(in, side/math.Exp2(steps))...)
	return append(levels, make([]int, n))
}

// pairLevels are the levels of pairs: squares of one end with squares of the other, of which those of one end at a time
// are divided. A category is divided once, after the first division of the places.
func (p Places) pairLevels(k int) (levels [][]int) {
	var ends [][][]int
	var at []int
	for _, e := range p.Ends {
		l := e.levels()
		ends, at = append(ends, l), append(at, len(l)-1)
	}
	whole := make([]int, k)
	levels = append(levels, whole)
	for turn := 0; slices.Max(at) > 0; turn++ {
		n := turn % len(at)
		if at[n] == 0 {
			continue
		}
		at[n]--
		of := make([]int, k)
		for n, e := range p.Ends {
			number := map[[2]int]int{}
			for i, b := range of {
				key := [2]int{b, ends[n][at[n]][e.Of[i]]}
				if _, ok := number[key]; !ok {
					number[key] = len(number)
				}
				of[i] = number[key]
			}
		}
		levels = append(levels, of)
	}
	slices.Reverse(levels)
	return levels
}
