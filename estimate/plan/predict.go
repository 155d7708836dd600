package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// Distance is a distance to the truth, over the worlds.
type Distance struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`  // 90 % of the worlds are at least here
	High float64 `json:"high"` // and 90 % at most here
	// StandardError is that of Mean: of the worlds, as drawn from all of their kind, and of what the devices draw in them.
	StandardError float64 `json:"standard_error"`
}

// Prediction is for one mechanism and one number of devices. Distances are W_p, in the unit of the places.
type Prediction struct {
	Devices int      `json:"devices"`
	Guess   Distance `json:"guess"` // of the even map, which takes no release
	// Raw is of the releases as they are; nil if these are no places.
	Raw *Distance `json:"raw,omitempty"`
	Map Distance  `json:"map"` // of what estimate.Map makes of them
	// Ratio is Map over Guess, in each world.
	Ratio Distance `json:"map_to_guess"`
	// Disc is the share of the places that a release favours.
	Disc float64 `json:"disc"`
	// HalfWidth is of the interval for the share of a quarter of the places, at level 0.9: the mean.
	HalfWidth float64         `json:"half_width"`
	Signal    estimate.Signal `json:"signal"` // by the means of Map and Guess; at most weak where Floor is half of Map
	// Good is in how many of the worlds the map is at most 0.7 times as far from the truth as the guess.
	Good int `json:"good"`
	// Alike is the number of places that the rows do not tell from some other, with any number of devices (see package
	// estimate/patch), and Floor the mean distance of the best map of exact reports to the truth: 0 if all are told apart.
	// AlikeUnknown says that there are too many pairs of places to look at, and both are 0.
	Alike        int     `json:"alike"`
	Floor        float64 `json:"floor"`
	AlikeUnknown bool    `json:"alike_unknown,omitempty"`
}

// Mechanism is what devices release with.
type Mechanism struct {
	planner *Planner
	channel *estimate.Channel
	merged  *estimate.Channel // of the merged places; channel itself if none are
	places  bool              // the outputs are those of the cost, whose distances are known
	laws    [][]float64       // of a release, by world
	disc    float64
	patches patch.Patches
	floor   float64
}

// Patches are the places that no number of devices tells apart.
func (m *Mechanism) Patches() patch.Patches { return m.patches }

// Floor is the mean over the worlds of the distance between the truth and the best map of exact reports: in each world
// the nearest of three maps, the sums of the patches, shared within each as the prior says, and what Map makes of the
// exact counts of a million and of a hundred million releases. Where there are many places, the distance of the first is
// that of moves within patches: other moves may cost less.
func (m *Mechanism) Floor() float64 { return m.floor }

// low is a floor, relative to the guess, below which the first map is good enough: it is then next to nothing.
const low = 0.01

// exact are numbers of releases in exact counts. More is not always better: rows that are equal leave a map to its
// models, and with more releases rougher ones win.
var exact = [...]float64{1e6, 1e8}

// ground finds the patches and the floor.
func (m *Mechanism) ground() error {
	ctx, l := context.Background(), m.planner
	var err error
	if m.patches, err = patch.Find(ctx, m.channel, nil, patch.Countless); errors.Is(err, patch.ErrLimit) {
		m.patches.Unknown = true
		return nil
	}
	if err != nil || m.patches.Shared() == 0 {
		return err
	}
	far, patches := make([]float64, few), l.patches(m.patches)
	err = parallel.Each(ctx, few, func(n int) error {
		best, err := m.patches.Best(l.worlds[n], l.prior)
		if err == nil {
			far[n], err = l.moved(ctx, patches, l.worlds[n], best)
		}
		if err != nil || far[n] <= low*l.guess[n] {
			return err
		}
		for _, releases := range exact {
			counts := make([]uint64, len(m.laws[n]))
			for j, q := range m.laws[n] {
				counts[j] = uint64(math.Round(q * releases))
			}
			found, err := estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: m.channel, Geometry: l.geometry},
				estimate.Settings{Groups: l.coarse})
			if err != nil {
				return err
			}
			d, err := l.distance(ctx, l.worlds[n], found.Theta)
			if err != nil {
				return err
			}
			far[n] = min(far[n], d)
		}
		return nil
	}, nil)
	m.floor = summary(far).Mean
	return err
}

// Mechanism takes the rows of a policy: row i is the law of a release of a device at input i. Errors: ErrShape, those
// of estimate.NewChannel.
func (l *Planner) Mechanism(row func(i int) ldp.Weights) (*Mechanism, error) {
	if row == nil {
		return nil, fmt.Errorf("%w: no rows", wpmerr.ErrShape)
	}
	k, kv := l.geometry.K(), l.outputs
	lo, hi := slices.Repeat([]float64{math.Inf(1)}, kv), make([]float64, kv)
	fault := error(nil)
	total := 0.0
	channel, err := estimate.NewChannel(k, kv, func(i int, dst []float64) {
		w := row(i)
		if w.Len() != kv {
			fault = fmt.Errorf("%w: row %d has %d entries for %d outputs", wpmerr.ErrShape, i, w.Len(), kv)
			clear(dst)
			return
		}
		total = math.Ldexp(1, w.Bits())
		for j := range dst {
			dst[j] = float64(w.At(j))
			lo[j], hi[j] = min(lo[j], dst[j]), max(hi[j], dst[j])
		}
	})
	if fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, err
	}
	disc, wide := 0.0, 0.0
	for j := range lo {
		total -= lo[j]
		wide += hi[j] - lo[j]
	}
	if wide > 0 {
		disc = total / wide
	}
	m, err := l.Channel(channel, disc)
	if err != nil {
		return nil, err
	}
	m.places = l.same || l.toOutput != nil
	return m, nil
}

// Design takes a design: by its rows, or by the policy that it publishes where there are many. Errors: those of Mechanism,
// of publish and of Policy.
func (l *Planner) Design(ctx context.Context, row func(i int) ldp.Weights,
	publish func(policy.Config) (policy.Policy, error)) (*Mechanism, error) {
	if l.of == nil {
		return l.Mechanism(row)
	}
	ctx = wpmerr.Context(ctx)
	p, err := publish(policy.Config{Mode: policy.Mixture,
		Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated}})
	if err != nil {
		return nil, err
	}
	return l.Policy(ctx, p)
}

// Policy takes the rows of a policy, and reads them by their thresholds where there are many. Errors: ErrShape for other
// outputs than those of the cost, and those of atlas.ChannelOf.
func (l *Planner) Policy(ctx context.Context, p policy.Policy) (*Mechanism, error) {
	if p.Outputs() != l.outputs {
		return nil, fmt.Errorf("%w: a policy of %d outputs for %d", wpmerr.ErrShape, p.Outputs(), l.outputs)
	}
	ctx = wpmerr.Context(ctx)
	channel, err := atlas.ChannelOf(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	box := p.Polytope()
	left, wide := float64(box.Total()), 0.0
	for j := range box.Len() {
		left -= float64(box.Lo(j))
		wide += float64(box.Hi(j) - box.Lo(j))
	}
	if wide > 0 {
		left /= wide
	}
	m, err := l.Channel(channel, left)
	if err != nil {
		return nil, err
	}
	m.places = l.same || l.toOutput != nil
	return m, nil
}

// Channel takes the law of a release of a device at each input, whose outputs may be no places: a release favours a
// share disc of the places. Errors: ErrShape.
func (l *Planner) Channel(channel *estimate.Channel, disc float64) (*Mechanism, error) {
	if channel == nil {
		return nil, fmt.Errorf("%w: no channel", wpmerr.ErrShape)
	}
	if k, _ := channel.Dims(); k != l.geometry.K() {
		return nil, fmt.Errorf("%w: a channel of %d inputs for %d places", wpmerr.ErrShape, k, l.geometry.K())
	}
	m := &Mechanism{planner: l, channel: channel, merged: channel, disc: disc}
	if l.of != nil {
		var err error
		if m.merged, err = channel.Merge(l.of, len(l.region), nil); err != nil {
			return nil, err
		}
	}
	for _, w := range l.worlds {
		law, err := channel.Law(w)
		if err != nil {
			return nil, err
		}
		m.laws = append(m.laws, law)
	}
	return m, m.ground()
}

// missed is the distance of a map to the truth. Up to 2,048 places, the map is nearly the one that a user has, of groups if
// these will do. Groups may be half as large again as a user's, which forecasts hardly feel.
func (l *Planner) missed(ctx context.Context, p estimate.Problem, truth []float64) (d float64, err error) {
	s := estimate.Settings{Groups: l.coarse}
	if l.coarse == 0 {
		s.Far = func(r estimate.Result) (float64, error) {
			d, err := l.distance(ctx, truth, r.Theta)
			return 1.5 * d, err
		}
	}
	found, err := estimate.Map(ctx, p, s)
	if err != nil {
		return 0, err
	}
	return l.distance(ctx, truth, found.Theta)
}

// Predict simulates N devices in every world. Progress counts the worlds. Errors: ErrSettings, those of the estimators
// and of transport, and that of ctx.
func (m *Mechanism) Predict(ctx context.Context, devices int, s estimate.Settings) (Prediction, error) {
	ctx = wpmerr.Context(ctx)
	l := m.planner
	if devices < 1 || devices > MaxDevices {
		return Prediction{}, fmt.Errorf("%w: %d devices, want 1 to %d", wpmerr.ErrSettings, devices, MaxDevices)
	}
	raw, theta, half := make([]float64, Worlds), make([]float64, Worlds), make([]float64, few)
	err := parallel.Each(ctx, Worlds, func(n int) error {
		p := estimate.Problem{Counts: draw(m.laws[n], devices, n), Channel: m.channel, Geometry: l.geometry}
		if m.places {
			shares, err := estimate.Raw(p.Counts)
			if err != nil {
				return err
			}
			if raw[n], err = l.released(ctx, l.worlds[n], shares); err != nil {
				return err
			}
		}
		var err error
		if theta[n], err = l.missed(ctx, p, l.worlds[n]); err != nil {
			return err
		}
		if n >= few {
			return nil
		}
		p.Channel = m.merged
		share, err := estimate.Interval(ctx, p, l.region, 0)
		if err != nil {
			return err
		}
		half[n] = (share.Upper - share.Lower) / 2
		return nil
	}, func(done int) {
		if s.Progress != nil {
			s.Progress(done, Worlds)
		}
	})
	if err != nil {
		return Prediction{}, err
	}
	out := Prediction{
		Devices: devices, Guess: summary(l.guess), Map: summary(theta), Disc: m.disc,
		HalfWidth: summary(half).Mean, Alike: m.patches.Shared(), Floor: m.floor, AlikeUnknown: m.patches.Unknown,
	}
	if m.places {
		as := summary(raw)
		out.Raw = &as
	}
	ratios := make([]float64, Worlds)
	for n, g := range l.guess {
		if ratios[n] = 1; g > 0 {
			ratios[n] = theta[n] / g
		}
		if estimate.SignalOf(ratios[n]) == estimate.GoodSignal {
			out.Good++
		}
	}
	out.Ratio = summary(ratios)
	mean := 1.0
	if out.Guess.Mean > 0 {
		mean = out.Map.Mean / out.Guess.Mean
	}
	if out.Signal = estimate.SignalOf(mean); out.grounded() {
		out.Signal = min(out.Signal, estimate.WeakSignal)
	}
	return out, nil
}

// grounded says that at least half of the error of the map is the floor: more devices do not make it better by much.
func (p Prediction) grounded() bool { return p.Floor > 0 && p.Floor >= p.Map.Mean/2 }

// draw returns counts with the law of n releases, as a chain of binomial ones. Each is the quantile of a number that the
// world and the output have, whatever n is: so the same chance stands behind all numbers of devices, and their forecasts
// differ by what more devices are worth.
func draw(law []float64, n, world int) []uint64 {
	r := generator(world, chance)
	counts := make([]uint64, len(law))
	tail, last := make([]float64, len(law)+1), 0 // sums from j on
	for j := len(law) - 1; j >= 0; j-- {
		tail[j] = tail[j+1] + law[j]
		if law[j] > 0 {
			last = max(last, j)
		}
	}
	left := float64(n)
	for j, q := range law[:last] {
		u := max(r.Float64(), 0x1p-54)
		if q > 0 && left > 0 {
			c := quantile(u, left, min(q/tail[j], 1))
			counts[j] = uint64(c)
			left -= c
		}
	}
	counts[last] = uint64(left)
	return counts
}

// smooth is the variance from which on a binomial quantile is that of its expansion, to its skewness: the next term is
// below a tenth at four standard deviations.
const smooth = 100

// quantile returns the least c with P(X <= c) >= u, for X binomial with n trials of chance p; of a large variance, the
// nearest whole number to an expansion of it (Cornish and Fisher).
func quantile(u, n, p float64) float64 {
	if p > 0.5 {
		return n - quantile(1-u, n, 1-p)
	}
	if variance := n * p * (1 - p); variance >= smooth {
		z := distuv.UnitNormal.Quantile(max(u, 0x1p-54))
		return min(max(math.Round(n*p+math.Sqrt(variance)*z+(1-2*p)*(z*z-1)/6), 0), n)
	}
	term := math.Exp(n * math.Log1p(-p)) // above e^-280, by p and the variance
	c, sum := 0.0, term
	for sum < u && c < n && (c < n*p || term > 0x1p-60*sum) {
		c++
		term *= (n - c + 1) / c * (p / (1 - p))
		sum += term
	}
	return c
}

// summary takes the mean, and the values that another world is above with probability 0.9, and below: of n values the
// one of rank r has r/(n+1) of the worlds to come below it, whatever their law, so of 30 the 28th is meant.
func summary(x []float64) Distance {
	sorted := slices.Sorted(slices.Values(x))
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	square := 0.0
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	n := max((len(sorted)+1)/10, 1) - 1
	return Distance{mean, sorted[n], sorted[len(sorted)-1-n], math.Sqrt(square / float64(len(x)) / max(float64(len(x)-1), 1))}
}
