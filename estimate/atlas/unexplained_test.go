package atlas

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestUnexplained: reports that are all of one output come from no map, however many they are; the law of a map, rounded
// to whole reports, does, up to 2^53 of them.
func TestUnexplained(t *testing.T) {
	ctx := context.Background()
	w, err := Of(ctx, published(t))
	if err != nil {
		t.Fatal(err)
	}
	k, kv := w.Channel.Dims()
	point, even := make([]float64, k), slices.Repeat([]float64{1 / float64(k)}, k)
	point[5] = 1
	for _, n := range []float64{1e3, 1e5, 1e6, 1e10, 1e15} {
		one := make([]uint64, kv)
		one[0] = uint64(n)
		m, err := w.Map(ctx, one, Settings{})
		if err != nil || !m.Unexplained {
			t.Errorf("%v reports of one output: unexplained %v, %v", n, m.Unexplained, err)
		}
		for name, theta := range map[string][]float64{"a point": point, "even": even} {
			law, err := w.Channel.Law(theta)
			if err != nil {
				t.Fatal(err)
			}
			counts := make([]uint64, kv)
			for j, q := range law {
				counts[j] = uint64(math.Round(n * q))
			}
			for _, estimator := range []string{ByMap, ByMLE} {
				m, err := w.Map(ctx, counts, Settings{Estimator: estimator})
				if err != nil || m.Unexplained {
					t.Errorf("%v reports of %s, by %s: unexplained %v, %v", n, name, estimator, m.Unexplained, err)
				}
			}
		}
	}
}

// TestUnexplainedByChance: of honest reports, few or many, of maps at the edge of all maps, none is unexplained. Each of
// the 400 cases would be with a probability of one in a million at most.
func TestUnexplainedByChance(t *testing.T) {
	ctx := context.Background()
	w, err := Of(ctx, published(t))
	if err != nil {
		t.Fatal(err)
	}
	k, _ := w.Channel.Dims()
	even := slices.Repeat([]float64{1 / float64(k)}, k)
	r := rand.New(rand.NewPCG(3, 7))
	for n := range 400 {
		theta := make([]float64, k)
		theta[r.IntN(k)]++
		theta[r.IntN(k)] += r.Float64()
		total := theta[0]
		for _, v := range theta[1:] {
			total += v
		}
		for i := range theta {
			theta[i] /= total
		}
		counts := releases(t, w, r, theta, 1<<(n%16))
		for name, shares := range map[string][]float64{"the truth": theta, "a map that is far": even} {
			if found, err := w.Unexplained(ctx, counts, shares); err != nil || found {
				t.Errorf("case %d, from %s: unexplained %v, %v: %v", n, name, found, err, counts)
			}
		}
	}
}
