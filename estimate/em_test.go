package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/wpmerr"
)

// slowEM is the definition of EM for given parts, with every product written out.
func slowEM(rows [][]float64, prior []float64, parts [][]float64) []float64 {
	k, kv := len(rows), len(rows[0])
	outputs := func(theta []float64) []float64 {
		q := make([]float64, kv)
		for i, t := range theta {
			for j, x := range rows[i] {
				q[j] += t * x
			}
		}
		return q
	}
	var steps []int
	for i := 0; ; i++ {
		t := int(math.Round(math.Pow(1.35, float64(i))))
		if t > 3000 {
			break
		}
		steps = append(steps, t)
	}
	held := map[int]float64{}
	mean := map[int][]float64{}
	look := func(t int, theta, part []float64) {
		q := outputs(theta)
		for j, c := range part {
			if c > 0 {
				held[t] += c * math.Log(q[j])
			}
		}
		if mean[t] == nil {
			mean[t] = make([]float64, k)
		}
		for i, x := range theta {
			mean[t][i] += x / float64(len(parts))
		}
	}
	for v, part := range parts {
		train, n := make([]float64, kv), 0.0
		for u, other := range parts {
			for j, c := range other {
				if u != v {
					train[j] += c
					n += c
				}
			}
		}
		theta := slices.Clone(prior)
		look(0, theta, part)
		for t := 1; t <= 3000; t++ {
			q := outputs(theta)
			for i := range theta {
				g := 0.0
				for j, c := range train {
					if c > 0 {
						g += c / n * rows[i][j] / q[j]
					}
				}
				if n > 0 {
					theta[i] *= g
				}
			}
			if slices.Contains(steps, t) {
				look(t, theta, part)
			}
		}
	}
	best := math.Inf(-1)
	for _, l := range held {
		best = max(best, l)
	}
	out := make([]float64, k)
	for _, t := range append([]int{0}, slices.Compact(steps)...) {
		w := math.Exp(held[t]-best) / math.Sqrt(1+float64(t))
		for i, x := range mean[t] {
			out[i] += w * x
		}
	}
	return normalized(out)
}

// TestEMDefinition: on small worlds of all kinds, fewer releases than parts among them, it is what the definition says.
func TestEMDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		k := len(w.rows)
		c, err := NewChannel(k, len(w.counts), func(i int, dst []float64) { copy(dst, w.rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		prior := normalized(slices.Repeat([]float64{1}, k))
		if rapid.Bool().Draw(t, "prior") {
			for i := range prior {
				prior[i] = float64(1 + (i*3)%4)
			}
			normalized(prior)
		}
		got, err := EM(context.Background(), Problem{Counts: w.counts, Channel: c, Prior: prior})
		if err != nil {
			t.Fatalf("%v on %+v", err, w)
		}
		checkDistribution(t, got.Theta, k)
		total := 0.0
		for _, x := range got.Weights {
			total += x
		}
		if len(got.Steps) != len(got.Weights) || got.Steps[0] != 0 || !slices.IsSorted(got.Steps) ||
			!(math.Abs(total-1) < 1e-14) {
			t.Fatalf("path %+v", got)
		}
		n := 0.0
		for _, x := range w.counts {
			n += float64(x)
		}
		if n > 1<<20 { // the weights are exponentials of sums that lose their units
			return
		}
		want := slowEM(w.rows, prior, split(w.counts))
		for i := range want {
			// 3,000 steps, each right to some 1e-15, and log-likelihoods of up to 1,000 releases.
			if !(math.Abs(got.Theta[i]-want[i]) <= 1e-8) {
				t.Fatalf("%v, the definition gives %v\non %+v", got.Theta, want, w)
			}
		}
	})
}

// TestEMBetween: with few releases it stays near the prior, with many it goes to the truth; it is nearer than the
// likeliest map.
func TestEMBetween(t *testing.T) {
	c := channelOf(t, discRows(8, 1, 0.3))
	truth := twoTowns(8)
	r := rand.New(rand.NewPCG(5, 5))
	distance := func(p []float64) (d float64) {
		for i := range p {
			d += math.Abs(p[i]-truth[i]) / 2
		}
		return d
	}
	last := 1.0
	for _, n := range []int{100, 3000, 300000} {
		p := Problem{Counts: drawCounts(r, c, truth, n), Channel: c}
		em, err := EM(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		likeliest, err := MLE(context.Background(), p, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(em.Theta); !(d < last && d < distance(likeliest.Theta)) {
			t.Errorf("N = %d: total variation %v, with fewer %v, likeliest %v", n, d, last, distance(likeliest.Theta))
		} else {
			last = d
		}
	}
}

func TestEMEdges(t *testing.T) {
	for name, c := range map[string]struct {
		counts []uint64
		rows   [][]float64
		prior  []float64
		want   []float64 // nil: any
		err    error
	}{
		"one input": {[]uint64{3, 4}, [][]float64{{1, 2}}, nil, []float64{1}, nil},
		"one output": {[]uint64{7}, [][]float64{{1}, {1}, {1}, {1}}, []float64{1, 2, 3, 2},
			[]float64{.125, .25, .375, .25}, nil},
		"one release": {[]uint64{0, 1}, [][]float64{{1, 2}, {2, 1}}, nil, nil, nil},
		"no signal":   {[]uint64{10, 1}, [][]float64{{1, 2}, {1, 2}}, []float64{1, 3}, []float64{.25, .75}, nil},
		"places of prior 0": {[]uint64{50, 1}, [][]float64{{4, 1}, {1, 1}, {4, 2}}, []float64{0, 1, 0}, []float64{0, 1, 0},
			nil},
		"2^53 releases": {[]uint64{1 << 52, 1 << 52}, [][]float64{{3, 1}, {1, 3}}, []float64{1, 2}, []float64{.5, .5},
			nil},
		"ruled out by prior":  {[]uint64{1, 1}, [][]float64{{1, 0}, {0, 1}}, []float64{1, 0}, nil, ErrChannel},
		"ruled out by inputs": {[]uint64{1, 1}, [][]float64{{1, 0}, {1, 0}}, nil, nil, ErrChannel},
		"no releases":         {[]uint64{0, 0}, [][]float64{{1, 0}, {1, 0}}, nil, nil, ErrCounts},
		"negative prior":      {[]uint64{1, 1}, [][]float64{{1, 0}, {1, 1}}, []float64{1, -1}, nil, wpmerr.ErrNegative},
		"a part by itself":    {[]uint64{1, 1}, [][]float64{{1, 0}, {0, 1}}, nil, nil, nil}, // each part rules the other out
	} {
		got, err := EM(context.Background(), Problem{Counts: c.counts, Channel: channelOf(t, c.rows), Prior: c.prior})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
			continue
		}
		if err != nil {
			continue
		}
		checkDistribution(t, got.Theta, len(c.rows))
		for i := range c.want {
			if math.Abs(got.Theta[i]-c.want[i]) > 1e-6 { // the two parts of 2^53 differ by some 2^-26
				t.Errorf("%s: %v, want %v", name, got.Theta, c.want)
			}
		}
	}
}

func TestEMCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	prior := []float64{1, 3}
	got, err := EM(ctx, Problem{Counts: []uint64{5, 1}, Channel: channelOf(t, [][]float64{{2, 1}, {1, 2}}), Prior: prior})
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) ||
		!slices.Equal(got.Theta, []float64{.25, .75}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEMSameBits(t *testing.T) {
	c := channelOf(t, discRows(5, 1, 0.3))
	p := Problem{Counts: drawCounts(rand.New(rand.NewPCG(1, 2)), c, twoTowns(5), 400), Channel: c}
	var first []float64
	for _, n := range []int{1, 8} {
		old := runtime.GOMAXPROCS(n)
		got, err := EM(context.Background(), p)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got.Theta
		}
		if !slices.Equal(got.Theta, first) {
			t.Error("GOMAXPROCS matters")
		}
	}
}

// TestSplit: parts add up to the counts, with the mean and the variance of multinomial thinning, one by one and in
// bulk.
func TestSplit(t *testing.T) {
	for _, each := range []uint64{1, 7, mostSingly, mostSingly + 1, 1 << 30, 1 << 41} {
		const outputs = 4096
		counts := slices.Repeat([]uint64{each}, outputs)
		parts := split(counts)
		for j := range outputs {
			sum := 0.0
			for _, part := range parts {
				if !(part[j] >= 0) || part[j] != math.Trunc(part[j]) {
					t.Fatalf("part of %v", part[j])
				}
				sum += part[j]
			}
			if sum != float64(each) {
				t.Fatalf("parts of %d add up to %v", each, sum)
			}
		}
		n := float64(each)
		for v, part := range parts {
			mean, square := 0.0, 0.0
			for _, x := range part {
				d := (x - n/folds) / math.Sqrt(n/folds*(1-1./folds))
				mean += d / outputs
				square += d * d / outputs
			}
			// The mean has the deviation 1/64. A square has variance 2 for a normal law, and 3.25 + 1 at most here, at
			// n = 1: some 1/31 for the mean. Five deviations: a false alarm in a million, and the seed is fixed.
			if !(math.Abs(mean) < 5./64 && math.Abs(square-1) < 5./31) {
				t.Errorf("%d releases, part %d: mean off by %v deviations, variance %v", each, v, mean, square)
			}
		}
	}
	if all := split([]uint64{1 << 53}); all[0][0]+all[1][0]+all[2][0]+all[3][0]+all[4][0] != 1<<53 {
		t.Error("2^53 releases got lost")
	}
}

func BenchmarkEM(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
	}{{"places=100", 10}, {"places=400", 20}} {
		b.Run(c.name, func(b *testing.B) {
			channel := channelOf(b, discRows(c.n, 1, .333))
			counts := drawCounts(rand.New(rand.NewPCG(3, 1)), channel, twoTowns(c.n), 5000)
			for b.Loop() {
				if _, err := EM(context.Background(), Problem{Counts: counts, Channel: channel}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
