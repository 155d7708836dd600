package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
)

// commute is a world of pairs: a town of homes has some centres of work.
type commute struct {
	cols         int         // of a square of 10 x 10 km, which has ten rows
	trips        map[int]int // people by home and work
	homes, works []int       // people
}

const people = 20_000

// newCommute draws a world: four towns of homes, and five centres of work. Half of the people work near home: as far as a
// normal variable of 1 km in either direction. The others work in the centres: each town has shares of them that are as
// exponential variables to the third power, so that most go to one or two.
func newCommute(r *rand.Rand, cols int) commute {
	w := commute{cols: cols, trips: map[int]int{}, homes: make([]int, 10*cols), works: make([]int, 10*cols)}
	var at [9][2]float64
	for n := range at {
		at[n] = [2]float64{1 + 8*r.Float64(), 1 + 8*r.Float64()}
	}
	var shares [4][5]float64
	for t := range shares {
		for c := range shares[t] {
			shares[t][c] = math.Pow(r.ExpFloat64(), 3)
		}
	}
	around := func(at [2]float64, spread float64) [2]float64 {
		return [2]float64{min(max(at[0]+spread*r.NormFloat64(), 0), 9.999), min(max(at[1]+spread*r.NormFloat64(), 0), 9.999)}
	}
	cell := func(at [2]float64) int { return int(at[1])*cols + int(at[0]*float64(cols)/10) }
	for range people {
		town, center := r.IntN(4), 0
		home := around(at[town], 1.5)
		sum := 0.0
		for _, v := range shares[town] {
			sum += v
		}
		for u := r.Float64() * sum; center < 4 && u >= shares[town][center]; center++ {
			u -= shares[town][center]
		}
		work := around(at[4+center], 0.7)
		if r.Float64() < 0.5 {
			work = around(home, 1)
		}
		h, k := cell(home), cell(work)
		w.trips[h*10*cols+k]++
		w.homes[h]++
		w.works[k]++
	}
	return w
}

// blocks sums shares of pairs of cells over pairs of blocks of 2 x 2 km.
func (w commute) blocks(share func(h, k int) float64) []float64 {
	block := func(i int) int { return i/w.cols/2*5 + i%w.cols*5/w.cols }
	out := make([]float64, 25*25)
	for h := range w.homes {
		for k := range w.works {
			out[block(h)*25+block(k)] += share(h, k)
		}
	}
	return out
}

// shared returns the map of one report of each person, by a policy of places or pairs.
func shared(t *testing.T, dir string, seed int, users string, args ...string) (shares []float64) {
	t.Helper()
	out, reports := filepath.Join(dir, "p"), filepath.Join(dir, "reports")
	must(t, "", append([]string{"design", "-table", "none", "-menu", "no", "-o", out}, args...)...)
	must(t, "", "simulate", "-seed", strconv.Itoa(seed), "-o", reports, out, users)
	var got struct{ Map []float64 }
	if err := json.Unmarshal([]byte(must(t, "", "aggregate", "-json", out, reports)), &got); err != nil {
		t.Fatal(err)
	}
	return got.Map
}

// TestFlowsBeatMarginals: one report of a pair at eps 4 gives flows between blocks that are at most half as far from the
// truth, in the geometric mean of five worlds, as those of two reports at eps 2, and as those of the true marginals
// without the pairing: of both, homes and works are taken as independent. Where nobody works near home, it is more than
// half: docs/pairs.md.
func TestFlowsBeatMarginals(t *testing.T) {
	if !numtest.Full() {
		t.Skip("twelve minutes on two busy cores")
	}
	for _, cols := range []int{10, 20} {
		t.Run(fmt.Sprint(10*cols, "x", 10*cols), func(t *testing.T) { compareFlows(t, cols) })
	}
}

func compareFlows(t *testing.T, cols int) {
	const worlds = 5
	dir := t.TempDir()
	at := make([][]float64, 25*25)
	for i := range at {
		h, k := i/25, i%25
		at[i] = []float64{2 * float64(h%5), 2 * float64(h/5), 2 * float64(k%5), 2 * float64(k/5)}
	}
	distance, err := cost.NewPoints(at, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	var cells strings.Builder
	cells.WriteString("label,x,y\n")
	for i := range 10 * cols {
		fmt.Fprintf(&cells, "%d,%v,%v\n", i, (float64(i%cols)+0.5)*10/float64(cols), float64(i/cols)+0.5)
	}
	places := write(t, dir, "places.csv", cells.String())
	var against [3]float64 // logarithms
	for seed := range worlds {
		w := newCommute(rand.New(rand.NewPCG(uint64(seed), 1)), cols)
		var both, homes, works strings.Builder
		user := 0
		for _, pair := range slices.Sorted(maps.Keys(w.trips)) {
			for range w.trips[pair] {
				fmt.Fprintf(&both, "%d,%d>%d,1\n", user, pair/(10*cols), pair%(10*cols))
				user++
			}
		}
		for _, side := range []struct {
			text   *strings.Builder
			people []int
		}{{&homes, w.homes}, {&works, w.works}} {
			user = 0
			for i, n := range side.people {
				for range n {
					fmt.Fprintf(side.text, "%d,%d,1\n", user, i)
					user++
				}
			}
		}
		truth := w.blocks(func(h, k int) float64 { return float64(w.trips[h*10*cols+k]) / people })
		off := func(share func(h, k int) float64) float64 {
			r, err := mincostflow.Transport(t.Context(), distance, truth, w.blocks(share))
			if err != nil {
				t.Fatal(err)
			}
			return r.Objective
		}
		pairs := shared(t, dir, 2*seed+1, write(t, dir, "both.csv", both.String()), "-eps", "4", "-pairs", places,
			"-devices", strconv.Itoa(people))
		from := shared(t, dir, 2*seed+1, write(t, dir, "homes.csv", homes.String()), "-eps", "2", "-points", places)
		to := shared(t, dir, 2*seed+2, write(t, dir, "works.csv", works.String()), "-eps", "2", "-points", places)
		one := off(func(h, k int) float64 { return pairs[h*10*cols+k] })
		two := off(func(h, k int) float64 { return from[h] * to[k] })
		apart := off(func(h, k int) float64 { return float64(w.homes[h]) / people * float64(w.works[k]) / people })
		even := off(func(h, k int) float64 { return 1 / float64(100*cols*cols) })
		t.Logf("world %d: one report of a pair %.3f km, two reports %.3f, true marginals %.3f, the guess %.3f", seed, one, two,
			apart, even)
		for n, v := range []float64{two, apart, even} {
			against[n] += math.Log(one/v) / worlds
		}
	}
	t.Logf("one report of a pair is %.3f of two reports, %.3f of the true marginals, %.3f of the guess, in geometric mean",
		math.Exp(against[0]), math.Exp(against[1]), math.Exp(against[2]))
	for n, name := range []string{"two reports", "the true marginals"} {
		if got := math.Exp(against[n]); !(got <= 0.5) {
			t.Errorf("one report of a pair is %.3f of %s in geometric mean, want 0.5 at most", got, name)
		}
	}
}
