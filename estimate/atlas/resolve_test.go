package atlas

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	_ "github.com/wpm-go/wpm/internal/numtest"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/plane"
)

// rows of a mechanism on n cells in a row, sharp to 1/sharp.
func problem(t testing.TB, counts []uint64, sharp float64) (estimate.Problem, Estimate, plane.Places) {
	n := len(counts)
	c, err := estimate.NewChannel(n, n, func(i int, dst []float64) {
		for j := range dst {
			dst[j] = 1
			if max(i-j, j-i) <= 1 {
				dst[j] = sharp
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p := estimate.Problem{Counts: counts, Channel: c}
	r := Estimate{Estimator: ByMLE}
	if r.Guess, err = estimate.Guess(nil, n); err != nil {
		t.Fatal(err)
	}
	best, err := estimate.MLE(context.Background(), p, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.Shares = best.Theta
	return p, r, plane.Places{Kind: "grid", Rows: 1, Cols: n}
}

// row gives the places of a row of cells their coordinates.
func row(p plane.Places) plane.Places {
	for i := range p.Cols {
		p.In = append(p.In, []float64{(float64(i) + 0.5) / float64(p.Cols), 0.5})
	}
	return p
}

// resolved is the map of an estimate on a line.
func resolved(p estimate.Problem, e Estimate, at plane.Places) (Map, error) {
	m := Map{Estimate: e}
	err := m.resolve(context.Background(), p, at, nil, func(_ context.Context, a, b []float64) (off float64, _ error) {
		moved := 0.0
		for i, v := range a {
			moved += v - b[i]
			off += math.Abs(moved)
		}
		return off, nil
	})
	m.Parts = partsOf(e, m.Drawn, m.Of, m.Squares)
	return m, err
}

// TestResolve: from few reports the map is the guess, and no place is named; from many sharp ones each place is for
// itself, and the peak is named.
func TestResolve(t *testing.T) {
	name := func(i int) string { return string(rune('a' + i)) }
	few, r, at := problem(t, []uint64{1, 0, 1, 0, 0, 1, 0, 1}, 2)
	got, err := resolved(few, r, row(at))
	if err != nil || got.Squares != 1 || got.Single != nil || !slices.Equal(got.Drawn, r.Guess) {
		t.Errorf("of few: %+v, %v", got, err)
	}
	if text := got.headline(name); text != "The reports do not settle which parts of the map have more people than in the guess." {
		t.Errorf("of few: %s", text)
	}
	// Squares that reports do not settle are drawn while the picture is farther from the map than the map from the truth.
	rough, r, at := problem(t, []uint64{44, 14, 11, 242, 633, 402, 10, 24, 18, 191, 249, 25, 18, 50, 37, 25}, 9)
	for expected, squares := range map[float64]int{0: 16, 100: 6} {
		e := r
		e.Error = &Error{Expected: expected}
		if got, err := resolved(rough, e, row(at)); err != nil || got.Squares != squares {
			t.Errorf("with an error of %v: %d squares, want %d, %v", expected, got.Squares, squares, err)
		}
	}
	many, r, at := problem(t, []uint64{100, 100, 100, 100, 100, 9000, 9000, 9000}, 1000)
	got, err = resolved(many, r, row(at))
	if err != nil || got.Squares != 8 || !slices.Contains(got.Single, 6) || !slices.Equal(got.Drawn, r.Shares) {
		t.Errorf("of many: %+v, %v; map %v", got, err, r.Shares)
	}
	// One direction of the map hardly changes the law of the reports, so that the likeliest share of g is 97 or 98 %.
	if text := got.headline(name); !strings.HasPrefix(text, "Largest place: g, 9") || got.Coarse() != "" {
		t.Errorf("of many: %s", text)
	}
}

// TestFineness: a map may be drawn as the guess although the reports settle that single places have more. Nothing then
// says that the reports agree with the guess in every part.
func TestFineness(t *testing.T) {
	p, r, at := problem(t, []uint64{6, 4, 0, 5, 0, 3, 3, 4}, 10) // a peak, and two that may be none
	got, err := resolved(p, r, row(at))
	if err != nil || len(got.Single) == 0 || got.Squares != 1+len(got.Single) || likelihood(p, r.Shares)-likelihood(p, r.Guess) <= slack {
		t.Fatalf("%d squares, named %v, %v", got.Squares, got.Single, err)
	}
	want := "The picture is the guess, but for the places that are named, because the reports do not settle its larger parts."
	if text := got.Coarse(); text != want {
		t.Errorf("%q with %v named, want %q", text, got.Single, want)
	}
}

// TestFiner: where the reports do not settle squares that divide what is alike, they may settle smaller ones.
func TestFiner(t *testing.T) {
	p, r, at := problem(t, []uint64{12, 16, 11, 280, 0, 40, 21, 90}, 100) // peaks in both halves, which are alike
	halves := row(at).Levels(8)[2]
	if _, all, err := beyond(context.Background(), p, r, halves, 2); err != nil || all {
		t.Fatalf("halves %v: settled %v, %v", halves, all, err)
	}
	if got, err := resolved(p, r, row(at)); err != nil || got.Squares != 8 || !slices.Equal(got.Drawn, r.Shares) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestNamed: of a place that the headline names, the picture has the same share, and the headline its interval.
func TestNamed(t *testing.T) {
	p, r, at := problem(t, []uint64{6, 4, 0, 5, 0, 3, 3, 4}, 10)
	got, err := resolved(p, r, row(at))
	if err != nil || len(got.Single) == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	text := got.headline(func(i int) string { return string(rune('a' + i)) })
	for _, i := range got.Single {
		region := make([]float64, len(r.Shares))
		region[i] = 1
		s, err := estimate.Interval(context.Background(), p, region, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := plane.Interval(plane.Outward(s.Lower, s.Upper)); got.Drawn[i] != r.Shares[i] || !strings.Contains(text, want) {
			t.Errorf("place %d is drawn with %v, and estimated with %v; %q has no %q", i, got.Drawn[i], r.Shares[i], text, want)
		}
		part := slices.IndexFunc(got.Parts, func(p Part) bool { return p.Center == i })
		if part < 0 || got.Parts[part].Size != 1 || got.Parts[part].Share != r.Shares[i] {
			t.Errorf("place %d is named, and no part by itself: %+v", i, got.Parts)
		}
	}
}

// TestSettled: a place that is named is drawn with a share of its interval, also where an estimate smooths its peak away;
// the map stays a distribution, and its parts have what is drawn.
func TestSettled(t *testing.T) {
	for _, counts := range [][]uint64{{6, 4, 0, 5, 0, 3, 3, 4}, {100, 100, 100, 100, 100, 9000, 9000, 9000}} {
		p, r, at := problem(t, counts, 10)
		for i := range r.Shares {
			r.Shares[i] = 0.15*r.Shares[i] + 0.85/8
		}
		got, err := resolved(p, r, row(at))
		if err != nil || len(got.Single) == 0 {
			t.Fatalf("%+v, %v", got, err)
		}
		outside := false
		for n, i := range got.Single {
			b := got.bands[n]
			outside = outside || r.Shares[i] < b.Lower
			if got.Drawn[i] < b.Lower || got.Drawn[i] > b.Upper {
				t.Errorf("place %d is drawn with %v, of [%v, %v]", i, got.Drawn[i], b.Lower, b.Upper)
			}
		}
		if !outside {
			t.Errorf("no estimate is outside of its interval: %v, %+v", r.Shares, got.bands)
		}
		sum, parts := 0.0, 0.0
		for _, v := range got.Drawn {
			sum += v
		}
		for _, part := range got.Parts {
			parts += part.Share
		}
		if math.Abs(sum-1) > 32*0x1p-53 || math.Abs(parts-1) > 32*0x1p-53 { // a dozen roundings of shares
			t.Errorf("shares of %v and %v", sum, parts)
		}
	}
}

// TestJoined: two places are together if a chain of shared parts leads from one to the other.
func TestJoined(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(rt, "k")
		parts := func(name string) []int {
			of, _ := renumbered(rapid.SliceOfN(rapid.IntRange(0, k), k, k).Draw(rt, name))
			return of
		}
		a, b := parts("a"), parts("b")
		got := joined(a, b)
		reach := make([][]bool, k)
		for i := range reach {
			reach[i] = make([]bool, k)
			for j := range k {
				reach[i][j] = a[i] == a[j] || b[i] == b[j]
			}
		}
		for m := range k { // Warshall
			for i := range k {
				for j := range k {
					reach[i][j] = reach[i][j] || reach[i][m] && reach[m][j]
				}
			}
		}
		for i := range k {
			for j := range k {
				if (got[i] == got[j]) != reach[i][j] {
					rt.Fatalf("%v and %v are joined to %v", a, b, got)
				}
			}
		}
	})
}

// TestResolveLaws: what is drawn is a distribution with the masses of the estimate in each square, whose parts are
// listed in order; and a place that is named has more than the guess in every map that the counts do not contradict.
func TestResolveLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		counts := rapid.SliceOfN(rapid.Uint64Range(0, 300), 2, 12).Draw(rt, "counts")
		counts[0]++
		p, r, at := problem(t, counts, rapid.Float64Range(1.01, 50).Draw(rt, "sharp"))
		got, err := resolved(p, r, row(at))
		if err != nil {
			rt.Fatal(err)
		}
		drawn, mass := make([]float64, got.Squares), make([]float64, got.Squares)
		for i, b := range got.Of {
			drawn[b] += got.Drawn[i]
			mass[b] += r.Shares[i]
			if !(got.Drawn[i] >= 0) {
				rt.Fatalf("place %d has %v", i, got.Drawn[i])
			}
		}
		for b := range mass {
			if !(math.Abs(drawn[b]-mass[b]) <= 32*0x1p-53) { // a dozen roundings of shares
				rt.Errorf("square %d has %v, of %v", b, drawn[b], mass[b])
			}
		}
		parts := got.Parts
		if !slices.IsSortedFunc(parts, func(a, b Part) int {
			switch {
			case a.Share > b.Share:
				return -1
			case a.Share < b.Share:
				return 1
			}
			return 0
		}) || len(parts) != got.Squares {
			rt.Errorf("parts %v", parts)
		}
		for _, i := range got.Single {
			region := make([]float64, len(counts))
			region[i] = 1
			share, err := estimate.Interval(context.Background(), p, region, 0)
			if err != nil || !(share.Lower > r.Guess[i]) {
				rt.Errorf("place %d is named, of %+v, %v", i, share, err)
			}
		}
	})
}

func specOf(t testing.TB, text string) cost.Spec {
	t.Helper()
	s, err := cost.ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
