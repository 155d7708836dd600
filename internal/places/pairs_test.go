package places

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/wpmerr"
)

func sideOf(name, prefix string, n int, columns ...string) File {
	f := File{Name: name, Points: &costio.Points{Columns: columns}}
	for i := range n {
		f.Labels, f.X = append(f.Labels, fmt.Sprint(prefix, i)), append(f.X, []float64{float64(i), 1})
	}
	return f
}

func TestPairs(t *testing.T) {
	mode := plane.Category{Name: "mode", Values: []string{"walk", "car"}, Cost: 2}
	home, work := sideOf("homes.csv", "h", 3, "lat", "lon"), sideOf("works.csv", "w", 2, "lat", "lon")
	for _, c := range []struct {
		of     Pairing
		labels string
		form   string
		unit   string
		axes   int
	}{
		{Pairing{Sides: []File{home, work}}, "h0>w0 h0>w1 h1>w0 h1>w1 h2>w0 h2>w1", "lat,lon>lat,lon", "km", 6},
		{Pairing{Sides: []File{home, work}, List: [][2]int{{2, 1}, {0, 0}}}, "h2>w1 h0>w0", "lat,lon>lat,lon", "km", 6},
		{Pairing{Sides: []File{home}, With: mode}, "h0>walk h0>car h1>walk h1>car h2>walk h2>car", "lat,lon>mode=walk,car:2km", "km", 4},
		{Pairing{Sides: []File{sideOf("a", "a", 2), sideOf("b", "b", 2, "x", "y")}, List: [][2]int{{0, 1}}, With: mode}, "a0>b1>walk a0>b1>car",
			"x,y>x,y>mode=walk,car:2", "units of the coordinates", 5},
	} {
		g, err := Pairs(c.of, 1)
		if err != nil {
			t.Fatal(err)
		}
		points, ok := g.Cost.(interface{ Dim() int })
		if k, kv := g.Cost.Dims(); !ok || points.Dim() != c.axes || k != kv || k != len(g.Inputs) || !g.SameSupport {
			t.Errorf("%s: %d x %d, %d labels, %T", c.labels, k, kv, len(g.Inputs), g.Cost)
		}
		if got := strings.Join(g.Inputs, " "); got != c.labels || g.Pairs != c.form || g.Unit.Name != c.unit {
			t.Errorf("labels %q, form %q, unit %q", got, g.Pairs, g.Unit.Name)
		}
	}
}

func TestPairsErrors(t *testing.T) {
	mode := plane.Category{Name: "mode", Values: []string{"walk", "car", "bus"}, Cost: 2}
	with := func(label string) File {
		f := sideOf("homes.csv", "h", 3, "x", "y")
		f.Labels[1] = label
		return f
	}
	works := sideOf("works.csv", "w", 2, "x", "y")
	for text, c := range map[string]struct {
		of  Pairing
		err error
	}{
		"works.csv lat, lon":   {Pairing{Sides: []File{with("h"), sideOf("works.csv", "w", 2, "lat", "lon")}}, plane.ErrPairs},
		"one place, \"w0\"":    {Pairing{Sides: []File{with("h"), sideOf("works.csv", "w", 1, "x", "y")}}, plane.ErrPairs},
		"\"a>b\" contains >":   {Pairing{Sides: []File{with("a>b"), works}}, costio.ErrLabel},
		"blanks at an end":     {Pairing{Sides: []File{with("a "), works}}, nil},
		"of a pair has":        {Pairing{Sides: []File{with(strings.Repeat("a", 250)), sideOf("works.csv", "long label ", 2, "x", "y")}}, costio.ErrLabel},
		"homes.csv to 320, or": {Pairing{Sides: []File{sideOf("homes.csv", "h", 401), sideOf("works.csv", "w", 500)}}, wpmerr.ErrTooLarge},
		"works.csv to 399, or": {Pairing{Sides: []File{sideOf("homes.csv", "h", 401), sideOf("works.csv", "w", 400)}}, wpmerr.ErrTooLarge},
		"homes.csv to 53333":   {Pairing{Sides: []File{sideOf("homes.csv", "h", 60000)}, With: mode}, wpmerr.ErrTooLarge},
		"name fewer pairs":     {Pairing{Sides: []File{with("h"), works}, List: make([][2]int, 53334), With: mode}, wpmerr.ErrTooLarge},
	} {
		_, err := Pairs(c.of, 1)
		if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q: %v", text, err)
		}
	}
}
