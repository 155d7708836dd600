package gowalla

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// Ties says which of the exact projections of a user stands for WPM when several cost the same, as on a grid they do.
type Ties string

// The rules.
const (
	// TiesRandom is the mean of the exact projections that are extreme in tieDraws random directions, another set for
	// every user and none of it from Seed: it prefers no side, and does not depend on how the solver works.
	TiesRandom Ties = "random"
	// TiesSolver is the projection that the solver ends at, which a client of this version would draw from.
	TiesSolver Ties = "solver"
)

const (
	// tieDraws is the number of directions. The expected W_1 of the study then has a standard deviation below 4e-4 cell
	// widths over the directions.
	tieDraws = 8
	// tieStep is the size of the term, in units of the cost, by which directions enter it: far above what the solver
	// resolves (2^-48 of the largest cost) and far below every difference between distances that matters. It is part of
	// the certified gap.
	tieStep = 0x1p-36
)

// source is one distribution to project, and its share of the mean.
type source struct {
	support []int
	weight  []float64
	share   float64
}

// extreme returns the exact projection of src that is least in <direction, q>, and the certified gap of its cost.
//
// The cost is C + tieStep d with 0 <= d <= 1, so that an optimum of it costs at most tieStep more under C than the
// optimum under C.
func (s *study) extreme(box *ldp.Polytope, src source, direction []float64) (q []float64, gap float64, err error) {
	least, most := slices.Min(direction), slices.Max(direction)
	scale := 0.0
	if most > least {
		scale = tieStep / (most - least)
	}
	kv := s.cost.Kv
	data := make([]float64, len(src.support)*kv)
	for n, i := range src.support {
		for j, c := range s.cost.Data[i*kv : (i+1)*kv] {
			data[n*kv+j] = c + float64(scale*(direction[j]-least))
		}
	}
	c, err := cost.NewDense(len(src.support), kv, data)
	if err != nil {
		return nil, 0, err
	}
	lo, hi := box.Bounds()
	r, err := mincostflow.Project(s.ctx, projection.Problem{Cost: c, Source: src.weight, Lo: lo, Hi: hi},
		mincostflow.Settings{})
	return r.Q, r.Gap() + tieStep, err
}

// randomTies is the projection by TiesRandom.
func (s *study) randomTies(box *ldp.Polytope, src source, id int64) (q []float64, gap float64, err error) {
	q = make([]float64, s.cost.Kv)
	direction := make([]float64, s.cost.Kv)
	r := rand.New(rand.NewPCG(uint64(id), 0x74696573)) // "ties": a stream of its own
	for range tieDraws {
		for j := range direction {
			direction[j] = r.Float64()
		}
		one, g, err := s.extreme(box, src, direction)
		if err != nil {
			return nil, 0, err
		}
		for j, x := range one {
			q[j] += x / tieDraws
		}
		gap = max(gap, g)
	}
	return q, gap, nil
}

// tieRange looks for the least and the greatest expected W_1, in cell widths, over all choices of exact projections of
// the sources, from the mean map q of one of them.
//
// The distance is convex in the mean map. Its minimum is sought by the method of Frank and Wolfe, which may stop at a
// kink before it; its maximum by going to the end in the direction of the subgradient as long as that helps. So both
// are distances of maps that exact projections have, and there may be lower and higher ones. On the paper's city the
// least is within 1e-4 of what a longer search finds.
func (s *study) tieRange(box *ldp.Polytope, sources []source, q []float64, what string) (low, high float64, err error) {
	value, potential, err := s.distance(q)
	if err != nil {
		return 0, 0, err
	}
	done := 0
	end := func(direction []float64) ([]float64, error) {
		done++
		return s.meanExtreme(box, sources, direction, fmt.Sprintf("%s, round %d", what, done))
	}

	low = value
	at, g := q, potential
	for range tieRounds {
		to, err := end(g)
		if err != nil {
			return 0, 0, err
		}
		bound := low // of the minimum, from below: low + <g, to - at>
		for j := range to {
			bound += s.unit * g[j] * (to[j] - at[j])
		}
		if low-bound <= tieGoal {
			break
		}
		best := at
		for _, step := range []float64{1, 0.5, 0.25, 0.125} {
			trial := make([]float64, len(at))
			for j := range trial {
				trial[j] = at[j] + step*(to[j]-at[j])
			}
			v, p, err := s.distance(trial)
			if err != nil {
				return 0, 0, err
			}
			if v < low {
				low, best, g = v, trial, p
			}
		}
		if &best[0] == &at[0] {
			break
		}
		at = best
	}

	high, g = value, potential
	for range tieRounds {
		back := make([]float64, len(g))
		for j, x := range g {
			back[j] = -x
		}
		to, err := end(back)
		if err != nil {
			return 0, 0, err
		}
		v, p, err := s.distance(to)
		if err != nil {
			return 0, 0, err
		}
		better := v > high+tieGoal
		high = max(high, v)
		if !better {
			break
		}
		g = p
	}
	return low, high, nil
}

// What tieRange stops at.
const (
	tieGoal   = 1e-4 // cell widths
	tieRounds = 6
)

// meanExtreme is the mean map of the sources' exact projections that are least in the direction.
func (s *study) meanExtreme(box *ldp.Polytope, sources []source, direction []float64, what string) ([]float64, error) {
	all := make([][]float64, len(sources))
	err := parallel.Each(s.ctx, len(sources), func(n int) (err error) {
		all[n], _, err = s.extreme(box, sources[n], direction)
		return err
	}, func(done int) { s.progress(done, len(sources), what) })
	if err != nil {
		return nil, fmt.Errorf("gowalla: %s: %w", what, err)
	}
	q := make([]float64, s.cost.Kv)
	for n, row := range all { // in order: the same bits whatever the schedule
		for j, x := range row {
			q[j] += sources[n].share * x
		}
	}
	return q, nil
}

// distance is W_1 of a mean map to the truth in cell widths, and its subgradient in units of the cost.
func (s *study) distance(q []float64) (float64, []float64, error) {
	r, err := mincostflow.Transport(s.ctx, s.cost, q, s.truth)
	if err != nil {
		return 0, nil, fmt.Errorf("gowalla: range of W_1 over ties: %w", err)
	}
	return r.Objective * s.unit, r.Potentials.F, nil
}

// randomly reports whether WPM and its mixture mode take exact projections by TiesRandom.
func (s *study) randomly() bool {
	return s.cfg.Ties == TiesRandom && s.cfg.Solver != wpm.Entropic.String()
}

// tied returns the sources whose exact projections method m releases from; nil if what it releases is unique.
func (s *study) tied(m Method) []source {
	if s.cfg.SkipTieRange || s.cfg.Solver == wpm.Entropic.String() {
		return nil
	}
	var out []source
	switch m {
	case WPM:
		for _, u := range s.pop.Users {
			support, weight := u.Distribution()
			out = append(out, source{support, weight, 1 / float64(len(s.pop.Users))})
		}
	case Mixture: // the mean map is that of the point masses, as often as the truth has them
		for i, x := range s.truth {
			if x > 0 {
				out = append(out, source{[]int{i}, []float64{1}, x})
			}
		}
	}
	return out
}
