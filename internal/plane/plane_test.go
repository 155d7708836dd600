package plane

import (
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

func specOf(t testing.TB, text string) cost.Spec {
	t.Helper()
	s, err := cost.ParseSpec([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSquares: squares of a level are unions of those of the level below, from k squares to one.
func TestSquares(t *testing.T) {
	for _, text := range []string{
		`{"kind":"grid","rows":5,"cols":9}`, `{"kind":"ring","n":30}`, `{"kind":"points","x":[[0],[1],[5],[6],[100]]}`,
		`{"kind":"points","x":[[3,3],[3,3],[3,3]]}`, `{"kind":"greatcircle","x":[[1,1],[2,2],[3,1],[89,5]]}`,
		`{"kind":"explicit","C":[[0,1],[1,0]]}`, `{"kind":"ring","n":1}`,
	} {
		s := specOf(t, text)
		c, err := s.Build()
		if err != nil {
			t.Fatal(err)
		}
		k, _ := c.Dims()
		levels := Of(s).Levels(k)
		if last := levels[len(levels)-1]; slices.Max(last) != 0 || slices.Max(levels[0]) != k-1 {
			t.Errorf("%s: the levels end at %v and %v", text, levels[0], last)
		}
		for n := 1; n < len(levels); n++ {
			up := map[int]int{}
			for i, b := range levels[n-1] {
				if to, ok := up[b]; ok && to != levels[n][i] {
					t.Errorf("%s: level %d cuts a square of level %d", text, n, n-1)
				}
				up[b] = levels[n][i]
			}
		}
	}
}
