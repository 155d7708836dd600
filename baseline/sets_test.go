package baseline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestReportsLikelihood compares the rows of a channel of reports with the definitions: P(set | i) / P(set | j) of every
// set of three items, which the laws of TestOracleReports give.
func TestReportsLikelihood(t *testing.T) {
	const k, eps = 3, 1.0
	e := math.Exp(eps)
	in := func(set, x int) bool { return set>>x&1 == 1 }
	laws := map[string]func(set, x int) float64{
		"OUE": func(set, x int) float64 {
			p := 1.0
			for j := range k {
				q := 1 / (e + 1)
				if j == x {
					q = 0.5
				}
				if !in(set, j) {
					q = 1 - q
				}
				p *= q
			}
			return p
		},
		"OLH": func(set, x int) float64 {
			p := 1.0
			for j := range k {
				q := 0.25
				if j == x {
					q = e / (e + 3)
				}
				if !in(set, j) {
					q = 1 - q
				}
				p *= q
			}
			return p
		},
	}
	var sets [][]int32
	for set := range 1 << k {
		var items []int32
		for j := range k {
			if in(set, j) {
				items = append(items, int32(j))
			}
		}
		sets = append(sets, items)
	}
	r, err := baseline.NewReports(k, eps, sets)
	if err != nil {
		t.Fatal(err)
	}
	if items, outputs := r.Dims(); items != k || outputs != len(sets)+1 || len(r.Counts()) != outputs {
		t.Fatalf("Dims = %d, %d and %d counts", items, outputs, len(r.Counts()))
	}
	rows := make([][]float64, k)
	const tol = 1e-14 // a few roundings
	for i := range rows {
		rows[i] = make([]float64, len(sets)+1)
		r.Row(i, rows[i])
		sum := 0.0
		for j, p := range rows[i] {
			sum += p
			if p < 0 {
				t.Errorf("P(%d | %d) = %v", j, i, p)
			}
		}
		if !(math.Abs(sum-1) <= tol) {
			t.Errorf("row %d has the sum %v", i, sum)
		}
	}
	for name, law := range laws {
		for set := range sets {
			for i := range k {
				for j := range k {
					got, want := rows[i][set]/rows[j][set], law(set, i)/law(set, j)
					if !(math.Abs(got/want-1) <= tol) {
						t.Errorf("%s: P(set %03b | %d) / P(. | %d) = %v, want %v", name, set, i, j, got, want)
					}
				}
			}
		}
	}
}

// TestHierarchy: every report is a union of blocks of one level, and its law is eps-LDP with the two likelihoods that
// Reports takes: e^eps to 1.
func TestHierarchy(t *testing.T) {
	const eps, n = 1.0, 100_000
	levels := [][]int32{{0, 1, 2, 3}, {0, 0, 1, 1}}
	h, err := baseline.NewHierarchy(levels, eps)
	if err != nil {
		t.Fatal(err)
	}
	share := make([]map[string]float64, 4)
	for x := range share {
		share[x] = map[string]float64{}
		r := rand.New(rand.NewPCG(9, uint64(x)))
		for range n {
			set := h.Report(nil, x, r)
			b := []byte("....")
			for _, j := range set {
				b[j] = 'x'
			}
			share[x][string(b)] += 1. / n
		}
	}
	e := math.Exp(eps)
	want := map[string][4]float64{ // half of the users at each level: d = round(4/(e+1)) = 1 of 4, and 1 of 2 blocks
		"x...": {e, 1, 1, 1}, ".x..": {1, e, 1, 1}, "..x.": {1, 1, e, 1}, "...x": {1, 1, 1, e},
		"xx..": {e, e, 1, 1}, "..xx": {1, 1, e, e},
	}
	norm := map[string]float64{"x...": e + 3, ".x..": e + 3, "..x.": e + 3, "...x": e + 3, "xx..": e + 1, "..xx": e + 1}
	const tol = 5 * 0.5 / 316 // five standard deviations at most: 6 in 10^7
	for x := range share {
		for set, p := range share[x] {
			w, ok := want[set]
			if !ok || !(math.Abs(p-w[x]/norm[set]/2) <= tol) {
				t.Errorf("P(%s | %d) = %v, want %v", set, x, p, w[x]/norm[set]/2)
			}
		}
	}
}

func TestSetErrors(t *testing.T) {
	for name, levels := range map[string][][]int32{
		"no levels": {}, "no items": {{}}, "lengths": {{0, 1}, {0, 1, 1}}, "a gap": {{0, 2, 2}}, "one block": {{0, 0}},
		"negative": {{0, -1}}, "far": {{0, 9}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := baseline.NewHierarchy(levels, 1); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%v, want ErrShape", err)
			}
		})
	}
	if _, err := baseline.NewHierarchy([][]int32{{0, 1}}, 0); !errors.Is(err, wpmerr.ErrEpsilon) {
		t.Errorf("a hierarchy at eps 0: %v", err)
	}
	for name, sets := range map[string][][]int32{"order": {{1, 0}}, "twice": {{1, 1}}, "far": {{2}}, "negative": {{-1}}} {
		t.Run(name, func(t *testing.T) {
			if _, err := baseline.NewReports(2, 1, sets); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%v, want ErrShape", err)
			}
		})
	}
	if _, err := baseline.NewReports(2, 0, nil); !errors.Is(err, wpmerr.ErrEpsilon) {
		t.Errorf("reports at eps 0: %v", err)
	}
}
