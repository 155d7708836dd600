package plane

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	_ "github.com/wpm-go/wpm/internal/numtest" // the seed of random tests
)

func TestParseCategory(t *testing.T) {
	for _, c := range []struct {
		text       string
		geographic bool
		cost       float64 // 0: refused
		why        string
	}{
		{"mode=walk,bike,car:2km", true, 2, ""},
		{"mode=walk,bike:500m", true, .5, ""},
		{"mode=walk,bike:2", true, 2, ""},
		{"mode=walk,bike:2", false, 2, ""},
		{"mode=a:b,c:2", false, 2, ""}, // the last colon counts
		{"mode=walk,bike:2km", false, 0, "cost"},
		{"mode=walk,bike", true, 0, "want NAME="},
		{"walk,bike:2", true, 0, "want NAME="},
		{"mode=walk,bike:", true, 0, "cost"},
		{"mode=walk,bike:0", true, 0, "cost"},
		{"mode=walk,bike:-1", true, 0, "cost"},
		{"mode=walk,bike:NaN", true, 0, "cost"},
		{"mode=walk,bike:Inf", true, 0, "cost"},
		{"mode=walk,bike:1e999", true, 0, "cost"},
		{"mode=walk:2", true, 0, "one value"},
		{"mode=walk,:2", true, 0, "empty"},
		{"mode=walk, bike:2", true, 0, "blanks"},
		{"=walk,bike:2", true, 0, "empty"},
		{"mode=walk,walk:2", true, 0, "twice"},
		{"mode=walk,a>b:2", true, 0, "contains >"},
		{"a>b=walk,bike:2", true, 0, "contains >"},
		{"from=walk,bike:2", true, 0, "another"},
		{"mode=" + strings.Repeat("w", maxCategory) + ",b:2", true, 0, "bytes"},
	} {
		got, err := ParseCategory(c.text, c.geographic)
		if (err == nil) != (c.cost > 0) || err != nil && (!errors.Is(err, ErrPairs) || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%.60q, %v: %v", c.text, c.geographic, err)
		}
		if got.Cost != c.cost {
			t.Errorf("%.60q, %v: cost %v, want %v", c.text, c.geographic, got.Cost, c.cost)
		}
	}
}

func drawnForm(t *rapid.T) Form {
	columns := rapid.SampledFrom([][]string{{"lat", "lon"}, {"x", "y"}, {"x"}, {"x", "y", "z"}}).Draw(t, "columns")
	f := Form{Columns: columns, Places: rapid.IntRange(1, 2).Draw(t, "places")}
	if f.Places == 1 || rapid.Bool().Draw(t, "with") {
		f.With = Category{Name: "mode", Cost: rapid.Float64Range(1e-3, 1e3).Draw(t, "cost")}
		for n := range rapid.IntRange(2, 7).Draw(t, "values") {
			f.With.Values = append(f.With.Values, fmt.Sprint("v", n))
		}
	}
	return f
}

func (f Form) drawPlace(t *rapid.T) []float64 {
	if f.Geographic() {
		return []float64{rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lon")}
	}
	return rapid.SliceOfN(rapid.Float64Range(-9, 9), len(f.Columns), len(f.Columns)).Draw(t, "x")
}

// TestForm: a form is read back as it was, and the square of the distance of two pairs is the sum of those of their
// parts: of places, chords on the globe, and the cost of another value.
func TestForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawnForm(t)
		back, err := ParseForm(f.String())
		if err != nil || back.String() != f.String() || back.Places != f.Places || back.With.Cost != f.With.Cost {
			t.Fatalf("%q is read as %+v, %v", f, back, err)
		}
		var pair [2][][]float64
		var value [2]int
		want := 0.0
		for n := range pair {
			for range f.Places {
				pair[n] = append(pair[n], f.drawPlace(t))
			}
			value[n] = rapid.IntRange(0, max(len(f.With.Values)-1, 0)).Draw(t, "value")
		}
		for n := range f.Places {
			a, b := pair[0][n], pair[1][n]
			if f.Geographic() {
				c, err := cost.NewGreatCircle([][2]float64{[2]float64(a)}, [][2]float64{[2]float64(b)}, 1)
				if err != nil {
					t.Fatal(err)
				}
				chord := 2 * cost.EarthRadius * math.Sin(c.Row(0, nil)[0]/2/cost.EarthRadius)
				want += chord * chord
				continue
			}
			for i := range a {
				want += (a[i] - b[i]) * (a[i] - b[i])
			}
		}
		if value[0] != value[1] {
			want += f.With.Cost * f.With.Cost
		}
		got := 0.0
		x, y := f.Coordinates(value[0], pair[0]...), f.Coordinates(value[1], pair[1]...)
		for i := range x {
			got += (x[i] - y[i]) * (x[i] - y[i])
		}
		const tol = 1e-9 // coordinates of the globe are up to 6371 km, and off by some 2^-53 of that, each
		if !(math.Abs(math.Sqrt(got)-math.Sqrt(want)) <= tol*(1+math.Sqrt(want))) {
			t.Fatalf("%q: distance %v, want %v", f, math.Sqrt(got), math.Sqrt(want))
		}
	})
}

// TestOfPolicy: the ends of pairs are found in labels and coordinates, and what are none is refused.
func TestOfPolicy(t *testing.T) {
	f := Form{Columns: []string{"lat", "lon"}, Places: 2, With: Category{"mode", []string{"walk", "car"}, 2}}
	places := map[string][]float64{"a": {46.95, 7.45}, "b": {-33.9, 151.2}, "c": {0, 0}}
	labels := []string{"a>b>walk", "a>c>car", "b>b>walk", "c>b>car"}
	spec := cost.Spec{Kind: "points", P: 1}
	for _, l := range labels {
		part := strings.Split(l, Between)
		spec.X = append(spec.X, f.Coordinates(slices.Index(f.With.Values, part[2]), places[part[0]], places[part[1]]))
	}
	label := func(i int) string { return labels[i] }
	p, err := OfPolicy(spec, map[string]string{PairsKey: f.String()}, label)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(p.Columns, ","); got != "from_lat,from_lon,to_lat,to_lon" || p.Flat() || len(p.Ends) != 3 {
		t.Errorf("columns %s, %d ends", got, len(p.Ends))
	}
	for i, l := range labels {
		part := strings.Split(l, Between)
		for n, e := range p.Ends {
			if e.Labels[e.Of[i]] != part[n] {
				t.Errorf("end %s of %q is %q", e.Name, l, e.Labels[e.Of[i]])
			}
		}
		want := slices.Concat(places[part[0]], places[part[1]])
		for a, v := range p.In[i] {
			if math.Abs(v-want[a]) > 1e-6 {
				t.Errorf("%q is at %v, want %v", l, p.In[i], want)
			}
		}
	}
	if plain, err := OfPolicy(spec, nil, label); err != nil || plain.Ends != nil || plain.Kind != "points" {
		t.Errorf("without metadata: %+v, %v", plain, err)
	}
	for form, text := range map[string]string{
		"": "the form", "lat,lon": "the form", "x,y>lat,lon": "want NAME=", "x>x>x": "the form",
		"x,y,z>x,y,z": "6 coordinates", "lat,lon>lat,lon": "6 coordinates", "lat,lon>lat,lon>mode=walk,bus:2km": "no value of mode",
		",>,": "without a name", "lat,lon>lat,lon>m=a,b:2>m=a,b:2": "the form",
		"lat,lon>mode=a,b,c,d,e:2": "has 3 parts, and the form 2",
	} {
		_, err := OfPolicy(spec, map[string]string{PairsKey: form}, label)
		if !errors.Is(err, ErrPairs) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", form, err)
		}
	}
}

// TestPairLevels: each level of pairs divides those above it, up to the whole; the first are the pairs, and the places
// of an end are divided at halves of their extent.
func TestPairLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawnForm(t)
		spec, labels := cost.Spec{Kind: "points", P: 1}, []string(nil)
		side := rapid.IntRange(2, 6).Draw(t, "side")
		at := make([][]float64, side)
		for n := range at {
			at[n] = f.drawPlace(t)
		}
		for n := range side * side {
			ends, parts := [][]float64{at[n/side]}, []string{fmt.Sprint(n / side)}
			if f.Places > 1 {
				ends, parts = append(ends, at[n%side]), append(parts, fmt.Sprint(n%side))
			} else if n%side > 0 {
				continue
			}
			for v := range max(len(f.With.Values), 1) {
				if f.With.Name != "" {
					parts = append(parts[:f.Places:f.Places], f.With.Values[v])
				}
				spec.X, labels = append(spec.X, f.Coordinates(v, ends...)), append(labels, strings.Join(parts, Between))
			}
		}
		p, err := OfPolicy(spec, map[string]string{PairsKey: f.String()}, func(i int) string { return labels[i] })
		if err != nil {
			t.Fatal(err)
		}
		levels := p.Levels(len(labels))
		for i, b := range levels[0] {
			if b != i {
				t.Fatalf("the finest level is %v", levels[0])
			}
		}
		if top := levels[len(levels)-1]; slices.Max(top) != 0 {
			t.Fatalf("the top is %v", top)
		}
		for n, of := range levels[1:] {
			up := map[int]int{}
			for i, below := range levels[n] {
				if b, ok := up[below]; ok && b != of[i] {
					t.Fatalf("level %d divides a part of level %d: %v, %v", n+1, n, of, levels[n])
				}
				up[below] = of[i]
			}
			if numbers := slices.Compact(slices.Sorted(slices.Values(of))); numbers[len(numbers)-1] != len(numbers)-1 {
				t.Fatalf("level %d has the parts %v", n+1, numbers)
			}
		}
	})
}

// TestQuarters: the places of an end are first divided at the middle of their extent, whatever their number is.
func TestQuarters(t *testing.T) {
	var e End
	e.Kind, e.Columns = "points", []string{"x", "y"}
	for i := range 100 {
		e.In, e.Labels = append(e.In, []float64{float64(i % 10), float64(i / 10)}), append(e.Labels, fmt.Sprint(i))
	}
	levels := e.levels()
	quarters := levels[len(levels)-2]
	for i, b := range quarters {
		if want := i%10/5 + i/50*2; b != want {
			t.Fatalf("cell %d is in part %d, want %d", i, b, want)
		}
	}
}
