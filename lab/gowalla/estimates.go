package gowalla

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
)

// Estimate is how far the maps of one estimator are from the truth, when every user makes one report. What is estimated
// is a map: another task than a sample of a user's own distribution, which Row is about.
type Estimate struct {
	Reports   string    `json:"reports"`   // what the users send
	Estimator string    `json:"estimator"` // what the server makes of it
	Epsilon   string    `json:"epsilon"`   // "∞" where there is no privacy, "0" where nobody reports
	Runs      []float64 `json:"runs"`      // W_1 of each run, in cell widths
	Mean      float64   `json:"mean"`
	SD        float64   `json:"sd"` // with n-1; 0 for a single run
}

// What users send, beside the mechanisms' names.
const (
	trueCheckins = "one true check-in each"
	nothing      = "nothing"
	unary        = "OUE"
	subset       = "subset selection"
)

// The estimators.
const (
	byRaw  = "raw"  // the reports are the map
	byMap  = "map"  // estimate.Map
	byEM   = "EM"   // estimate.EM
	byOwn  = "own"  // of an oracle: unbiased, then the nearest distribution
	byNone = "none" // the guess: the uniform map
)

// job is one map still to be made.
type job struct {
	at    int // in the list of estimates
	theta func() ([]float64, error)
}

// estimating collects the jobs.
type estimating struct {
	*study
	geometry *estimate.Geometry
	list     []Estimate
	jobs     []job
}

// add notes one run of a kind, which is new if run is 0.
func (e *estimating) add(reports, estimator, eps string, run int, theta func() ([]float64, error)) {
	kind := Estimate{Reports: reports, Estimator: estimator, Epsilon: eps}
	same := func(x Estimate) bool { return x.Reports == reports && x.Estimator == estimator && x.Epsilon == eps }
	at := slices.IndexFunc(e.list, same)
	if at < 0 {
		at = len(e.list)
		e.list = append(e.list, kind)
	}
	e.list[at].Runs = append(e.list[at].Runs, 0)
	if len(e.list[at].Runs) != run+1 {
		panic("gowalla: runs of an estimate out of order")
	}
	e.jobs = append(e.jobs, job{at, theta})
}

// both adds the estimators of package estimate. variant, if any, follows their names. A problem is made when it is
// solved: those of all runs would fill the memory.
func (e *estimating) both(reports, variant, eps string, run int, problem func() (estimate.Problem, error)) {
	e.add(reports, byMap+variant, eps, run, func() ([]float64, error) {
		p, err := problem()
		if err != nil {
			return nil, err
		}
		r, err := estimate.Map(e.ctx, p, estimate.Settings{})
		return r.Theta, err
	})
	e.add(reports, byEM+variant, eps, run, func() ([]float64, error) {
		p, err := problem()
		if err != nil {
			return nil, err
		}
		r, err := estimate.EM(e.ctx, p)
		return r.Theta, err
	})
}

// estimates makes all maps. It wants the histograms of the sampled runs, which at has left in todo.
func (s *study) estimates(eps []ldp.Epsilon, designs []design) ([]Estimate, error) {
	geometry, err := estimate.NewGeometry(context.Background(), s.cost, 1)
	if err != nil {
		return nil, err
	}
	e := &estimating{study: s, geometry: geometry}
	e.add(nothing, byNone, "0", 0, func() ([]float64, error) { return estimate.Guess(nil, s.pop.Cells()) })
	for run := range s.cfg.Runs {
		counts := make([]uint64, s.pop.Cells())
		for _, x := range s.checkins("∞", run) {
			counts[x]++
		}
		e.add(trueCheckins, byRaw, "∞", run, func() ([]float64, error) { return estimate.Raw(counts) })
	}
	for n, eps := range eps {
		if err := e.mechanisms(eps, designs[n], n); err != nil {
			return nil, err
		}
		if err := e.oracles(eps); err != nil {
			return nil, err
		}
		if err := e.disk(eps); err != nil {
			return nil, err
		}
	}
	w := make([]float64, len(e.jobs))
	err = parallel.Each(s.ctx, len(e.jobs), func(n int) error {
		x := e.list[e.jobs[n].at]
		theta, err := e.jobs[n].theta()
		if err != nil {
			return fmt.Errorf("gowalla: %s, %s, at eps %s: %w", x.Reports, x.Estimator, x.Epsilon, err)
		}
		w[n], _, err = s.distance(theta)
		return err
	}, func(done int) { s.progress(done, len(e.jobs), "estimating maps") })
	if err != nil {
		return nil, err
	}
	next := make([]int, len(e.list))
	for n, j := range e.jobs { // runs are in order
		e.list[j.at].Runs[next[j.at]] = w[n]
		next[j.at]++
	}
	for i := range e.list {
		e.list[i].Mean, e.list[i].SD = meanSD(e.list[i].Runs)
	}
	return e.list, nil
}

// mechanisms are those whose releases have the law of a channel, of the samples that Row has measured as they are.
func (e *estimating) mechanisms(eps ldp.Epsilon, d design, column int) error {
	for at, m := range e.cfg.Methods {
		if m != Mixture && m != Response {
			continue
		}
		mech, err := e.mechanism(m, eps, d)
		if err != nil {
			return err
		}
		rows := make([][]float64, e.pop.Cells())
		for i := range rows {
			if rows[i], _, err = mech.law(city.User{Cells: []int{i}, Counts: []int{1}}); err != nil {
				return err
			}
		}
		channel, err := estimate.NewChannel(len(rows), len(rows), func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			return err
		}
		for _, t := range e.todo {
			if t.method != at || t.eps != column || t.run < 0 {
				continue
			}
			p := estimate.Problem{Channel: channel, Geometry: e.geometry, Counts: make([]uint64, len(t.q))}
			for j, x := range t.q {
				p.Counts[j] = uint64(math.Round(x * float64(len(e.pop.Users))))
			}
			e.add(m.Name(), byRaw, eps.String(), t.run, func() ([]float64, error) { return estimate.Raw(p.Counts) })
			e.both(m.Name(), "", eps.String(), t.run, func() (estimate.Problem, error) { return p, nil })
		}
	}
	return nil
}

// oracles are scored by their own estimate, and by those of package estimate, which take the exact likelihood of every
// report.
func (e *estimating) oracles(eps ldp.Epsilon) error {
	k := e.pop.Cells()
	for _, o := range []struct {
		name string
		make func(k int, eps float64) (baseline.Oracle, error)
	}{{unary, baseline.NewUnary}, {subset, baseline.NewSubset}} {
		oracle, err := o.make(k, eps.Float64())
		if err != nil {
			return err
		}
		for run := range e.cfg.Runs {
			counts, sets := make([]uint64, k), [][]int32{}
			r := rand.New(e.chacha(o.name, eps.String(), run))
			for _, x := range e.checkins(eps.String(), run) {
				set := oracle.Report(nil, x, r)
				for _, j := range set {
					counts[j]++
				}
				sets = append(sets, set)
			}
			reports, err := baseline.NewReports(k, eps.Float64(), sets)
			if err != nil {
				return err
			}
			e.add(o.name, byOwn, eps.String(), run, func() ([]float64, error) {
				theta := make([]float64, k)
				if err := oracle.Estimate(theta, counts, uint64(len(e.pop.Users))); err != nil {
					return nil, err
				}
				return baseline.Simplex(theta)
			})
			e.both(o.name, "", eps.String(), run, func() (estimate.Problem, error) {
				_, kv := reports.Dims()
				channel, err := estimate.NewChannel(k, kv, reports.Row)
				return estimate.Problem{Counts: reports.Counts(), Channel: channel, Geometry: e.geometry}, err
			})
		}
	}
	return nil
}

// disk is the Disk Area Mechanism with all its reports, those from outside of the grid among them, and several radii.
func (e *estimating) disk(eps ldp.Epsilon) error {
	if !slices.Contains(e.cfg.Methods, DiskArea) {
		return nil
	}
	for _, radius := range baseline.DiskRadii(e.side(), eps.Float64()) {
		d, err := baseline.NewDisk(e.pop.Rows, e.pop.Cols, radius, eps.Float64())
		if err != nil {
			return err
		}
		k, n := e.pop.Cells(), d.Reports()
		channel, err := estimate.NewChannel(k, n, d.Row)
		if err != nil {
			return err
		}
		law := make([]float64, n)
		for run := range e.cfg.Runs {
			counts := make([]uint64, n)
			r := rand.New(e.chacha(string(DiskArea), eps.String(), run))
			for _, x := range e.checkins(eps.String(), run) {
				d.Row(x, law)
				counts[draw(law, r)]++
			}
			p := estimate.Problem{Counts: counts, Channel: channel, Geometry: e.geometry}
			e.both(DiskArea.Name(), fmt.Sprintf(", radius %d", radius), eps.String(), run,
				func() (estimate.Problem, error) { return p, nil })
		}
	}
	return nil
}

// draw returns an index with the probabilities of a law, up to rounding.
func draw(law []float64, r *rand.Rand) int {
	u, last := r.Float64(), 0
	for j, p := range law {
		if p > 0 {
			last = j
		}
		if u -= p; u < 0 {
			return j
		}
	}
	return last
}

// checkins draws a cell for every user from the user's distribution.
func (s *study) checkins(eps string, run int) []int {
	r := rand.New(s.chacha("check-ins", eps, run))
	cells := make([]int, len(s.pop.Users))
	for n, u := range s.pop.Users {
		support, weight := u.Distribution()
		cells[n] = support[draw(weight, r)]
	}
	return cells
}

// chacha is a seeded stream for one simulated run, apart from those of stream.
func (s *study) chacha(use, eps string, run int) *rand.ChaCha8 {
	key := fmt.Appendf(nil, "wpm estimate, seed %d, %s, eps %s, run %d", s.cfg.Seed, use, eps, run)
	return rand.NewChaCha8(sha256.Sum256(key))
}
