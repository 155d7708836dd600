package plan

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/parallel"
)

// laplace returns how far a central histogram is from the truth: the counts of so many people, Laplace noise of scale
// 2/eps on each (one person's place may be replaced by another), and the nearest distribution in least squares, of which
// negative counts are 0. The mean over the worlds.
func (l *Planner) laplace(ctx context.Context, people int, eps float64) (float64, error) {
	far := make([]float64, Worlds)
	err := parallel.Each(ctx, Worlds, func(n int) error {
		r := generator(n, uint64(people)+1)
		drawn := draw(l.worlds[n], people, n)
		shares := make([]float64, len(drawn))
		for i, c := range drawn {
			shares[i] = (float64(c) + 2/eps*(r.ExpFloat64()-r.ExpFloat64())) / float64(people)
		}
		low, high := slices.Min(shares)-1, slices.Max(shares) // of what all are lowered by, to the sum 1
		for range 100 {
			mid, sum := (low+high)/2, 0.0
			for _, x := range shares {
				sum += max(0, x-mid)
			}
			if sum > 1 {
				low = mid
			} else {
				high = mid
			}
		}
		for i, x := range shares {
			shares[i] = max(0, x-low)
		}
		normalize(shares)
		var err error
		far[n], err = l.distance(ctx, l.worlds[n], shares)
		return err
	}, nil)
	return summary(far).Mean, err
}

// TestCentral says what a server that may see all data would have at the central guarantee of summed reports, on the worlds
// of plan: docs/shuffling.md has the figures, beside those that wpm plan prints.
func TestCentral(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	c, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(t.Context(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/shuffling.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		people string
		eps    float64
	}{{"500", 2.22}, {"5,000", 0.545}, {"100,000", 0.108}} {
		people, err := strconv.Atoi(strings.ReplaceAll(test.people, ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		far, err := l.laplace(t.Context(), people, test.eps)
		if err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %s \| \.[0-9]+ \| 0*%s \| %s \|`, test.people,
			strings.TrimLeft(fmt.Sprint(test.eps), "0"), strings.TrimLeft(fmt.Sprintf("%.3f", 20*far), "0")))
		t.Logf("%s people, central eps %v: %.3f cells", test.people, test.eps, 20*far)
		if !row.Match(page) {
			t.Errorf("the page lacks %s", row)
		}
	}
}
