package places

import (
	"errors"
	"strings"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestAmounts: a cost is printed with its unit, and with the distance that it stands for.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		u          Unit
		v          float64
		want, root string
	}{
		{UnitOf("grid", 1, 20, 20), 0.25, "W_1 = 0.25 sides of the square = 5 cells", ""},
		{UnitOf("grid", 2, 4, 4), 0.25, "W_2^2 = 0.25 (W_2 = 0.5 sides of the square = 2 cells)",
			" (W_2 = 0.5 sides of the square = 2 cells)"},
		{UnitOf("greatcircle", 2, 0, 0), 9, "W_2^2 = 9 (W_2 = 3 km)", " (W_2 = 3 km)"},
		{UnitOf("explicit", 0, 0, 0), 9, "cost = 9 units of the matrix", ""},
	} {
		if got := c.u.Amount(c.v); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := c.u.Root(c.v); got != c.root {
			t.Errorf("%q, want %q", got, c.root)
		}
	}
	if got := UnitOf("greatcircle", 2, 0, 0).Costs(); got != "(km)^2" {
		t.Error(got)
	}
}

func TestParseGrid(t *testing.T) {
	if r, c, err := ParseGrid("20x30"); r != 20 || c != 30 || err != nil {
		t.Error(r, c, err)
	}
	for _, s := range []string{"", "x", "20", "0x5", "5x0", "-1x5", "2y2", "2x2x2", "1e1x2"} {
		if _, _, err := ParseGrid(s); err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func file(t *testing.T, name, text string) File {
	t.Helper()
	p, err := ReadText(strings.NewReader(text), name, costio.ReadPoints)
	if err != nil {
		t.Fatal(err)
	}
	return File{name, p}
}

// TestPoints: the columns choose the metric, and files that do not fit are named.
func TestPoints(t *testing.T) {
	plane, globe := file(t, "plane", "label,x,y\na,0,0\nb,3,4\n"), file(t, "globe", "label,lat,lon\nc,0,0\nd,0,90\n")
	for _, c := range []struct {
		in     File
		out    *File
		metric string
		p      float64
		unit   string
		fault  string
	}{
		{plane, nil, "", 1, "units of the coordinates", ""},
		{plane, nil, "euclidean", 2, "units of the coordinates", ""},
		{plane, nil, "cosine", 2, "", ErrPower.Error()},
		{globe, nil, "", 1, "km", ""},
		{globe, nil, "euclidean", 1, "degrees", ""},
		{plane, nil, "greatcircle", 1, "", "plane has x, y"},
		{plane, &globe, "", 1, "", "globe lat, lon"},
		{plane, nil, "taxi", 1, "", `"taxi"`},
		{plane, nil, "", -1, "", "plane"},
		{file(t, "blanks", "label,x\n a,0\n"), nil, "", 1, "", "blanks"},
	} {
		g, err := Points(c.in, c.out, c.metric, c.p)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s %s: %v, want %s", c.in.Name, c.metric, err, c.fault)
			}
			continue
		}
		if err != nil || g.Unit.Name != c.unit || !g.SameSupport || g.Cost == nil {
			t.Errorf("%s %s: %+v, %v", c.in.Name, c.metric, g.Unit, err)
		}
	}
	if _, err := Points(plane, nil, "cosine", 2); !errors.Is(err, ErrPower) {
		t.Error(err)
	}
	other := file(t, "other", "label,x,y\nz,1,1\n")
	if g, err := Points(plane, &other, "", 1); err != nil || g.SameSupport || len(g.Outputs) != 1 ||
		!strings.Contains(g.What, "2 input points, 1 output points") {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestMeanOf: users weigh the same, however much they counted; one table is scaled.
func TestMeanOf(t *testing.T) {
	for text, want := range map[string]struct {
		mean  [2]float64
		users int
	}{
		"a,1\nb,3\n": {[2]float64{0.25, 0.75}, 0},
		"user,label,count\nu,a,1000\nv,b,1\nw,b,0\n": {[2]float64{1, 1}, 3},
	} {
		c, err := ReadCounts(strings.NewReader(text), "t", []string{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		if mean, users := MeanOf(c, 2); [2]float64(mean) != want.mean || users != want.users {
			t.Errorf("%q: %v, %d", text, mean, users)
		}
	}
}

// TestEditDistance compares with the whole table, and no limit.
func TestEditDistance(t *testing.T) {
	word := rapid.SliceOfN(rapid.SampledFrom([]rune("abé")), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		a, b, limit := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(1, 5).Draw(t, "limit")
		d := make([][]int, len(a)+1)
		for i := range d {
			d[i] = make([]int, len(b)+1)
			for j := range d[i] {
				switch {
				case i == 0 || j == 0:
					d[i][j] = i + j
				case a[i-1] == b[j-1]:
					d[i][j] = d[i-1][j-1]
				default:
					d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
				}
			}
		}
		if got, want := editDistance(a, b, limit), min(limit, d[len(a)][len(b)]); got != want {
			t.Fatalf("editDistance(%q, %q, %d) = %d, want %d", string(a), string(b), limit, got, want)
		}
	})
}

// TestLabelHint: only a label that a policy lacks has a hint, and only a near one.
func TestLabelHint(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.4, 0.4}, 16)
	if err != nil {
		t.Fatal(err)
	}
	labels := []string{"home", "Caf\u00e9"}
	p, err := policy.New(policy.Config{
		Polytope: box, Mode: policy.Projection, InputLabels: labels, InputAliases: Aliases(labels),
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]string{
		"hone,1\n": `"home"`, "home,1\nHOME ,1\n": `"home"`, "Cafe,1\n": "Caf", "cinema,1\n": "", "home,-1\n": "", "": "",
	} {
		_, err := policy.ParsePrivate(p, []byte(data))
		if err == nil {
			t.Fatalf("%q is usable", data)
		}
		if hint := LabelHint(p, []byte(data), err); (hint != "") != (want != "") || !strings.Contains(hint, want) {
			t.Errorf("%q: %q, want %q", data, hint, want)
		}
	}
	if hint := LabelHint(p, []byte("hone,1\n"), errors.New("other")); hint != "" {
		t.Errorf("a hint on another error: %q", hint)
	}
	if _, err := policy.ParsePrivate(p, []byte("Cafe\u0301,1\n")); err != nil {
		t.Errorf("the alias: %v", err)
	}
}
