package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/series"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

type estimateAnswer struct {
	Estimator string   `json:"estimator,omitempty"`
	Map       *numbers `json:"map"` // null with a reason
	Reason    string   `json:"reason,omitempty"`
	Raw       numbers  `json:"raw"`
	Models    []model  `json:"models,omitempty"`
	Signal    string   `json:"signal,omitempty"`
	// Error is in the unit of the cost's distances; see atlas.Error, and there for the two words. A line with a member
	// error is one that failed, so it is not called that.
	Error       *mapError         `json:"map_error,omitempty"`
	Information atlas.Information `json:"information,omitempty"`
	Verdict     atlas.Verdict     `json:"verdict,omitempty"`
	Unexplained bool              `json:"unexplained"` // see atlas.World.Unexplained

	Gap *number `json:"gap,omitempty"`
	// Patch is the patch of each place, if there are places that no number of reports tells apart: see estimate/patch.
	Patch []int `json:"patch,omitempty"`
	// Groups are the squares of the map, with "groups": true.
	Groups *groups `json:"groups,omitempty"`
	// Ends are the marginals of a policy of pairs.
	Ends    []plane.Marginal `json:"ends,omitempty"`
	Regions []regionShare    `json:"regions,omitempty"` // with "regions"; of pairs the flows between them
}

// regionIn is a region of a line: the weights of its places by their labels. Of pairs these are the places of either end.
type regionIn struct {
	Region  string             `json:"region"`
	Weights map[string]float64 `json:"weights"`
}

// regionShare is the interval of a region.
type regionShare struct {
	Name  string `json:"region"`
	Share number `json:"share"` // of the map
	atlas.Region
}

// weightsOf returns the regions as the atlas takes them, by the weights of all inputs.
func weightsOf(list []regionIn, at plane.Places, inputs []string) (regions []plane.Region, err error) {
	labels := inputs
	if at.Ends != nil {
		labels = plane.EndLabels(at)
	}
	number := make(map[string]int, len(labels))
	for n, l := range labels {
		number[l] = n
	}
	for _, in := range list {
		r := plane.Region{Name: in.Region, Weights: make([]float64, len(labels))}
		for label, v := range in.Weights {
			n, ok := number[label]
			if !ok {
				return nil, fmt.Errorf("field %q: region %.60q: no place has the label %.60q", "regions", in.Region, label)
			}
			r.Weights[n] = v
		}
		regions = append(regions, r)
	}
	if at.Ends != nil {
		if regions, err = plane.FlowsBetween(at, labels, regions); err != nil {
			err = fmt.Errorf("field %q: %w", "regions", err)
		}
	}
	return regions, err
}

// sharesOf are the shares of regions in a map, and their intervals, in their order.
func sharesOf(ctx context.Context, w atlas.World, counts []uint64, theta []float64, regions []plane.Region,
	s atlas.Settings) (list []regionShare, err error) {
	var weights [][]float64
	for _, r := range regions {
		weights = append(weights, r.Weights)
	}
	shares, err := w.Regions(ctx, counts, weights, s)
	for n, r := range shares {
		list = append(list, regionShare{regions[n].Name, number(regions[n].Share(theta)), r})
	}
	return list, err
}

// groups are the parts of a map that the counts tell apart: its squares, without the places that stand out by themselves
// (see atlas.Map), and these. Low and High are the interval of the share of each, of package estimate, at its default
// level.
type groups struct {
	Of    []int   `json:"of"` // the group of each place
	Share numbers `json:"share"`
	Low   numbers `json:"low"`
	High  numbers `json:"high"`
}

// groupsOf returns the groups of a map.
func groupsOf(ctx context.Context, w atlas.World, m atlas.Map, counts []uint64, s atlas.Settings) (*groups, error) {
	g := &groups{Of: slices.Clone(m.Of)}
	var regions [][]float64
	number := map[int]int{} // of a group, in the order of the places
	for i, of := range g.Of {
		n, ok := number[of]
		if !ok {
			n = len(regions)
			number[of] = n
			regions, g.Share = append(regions, make([]float64, len(g.Of))), append(g.Share, 0)
		}
		regions[n][i], g.Of[i] = 1, n
		g.Share[n] += m.Drawn[i]
	}
	list, err := w.Regions(ctx, counts, regions, s)
	for _, r := range list {
		g.Low, g.High = append(g.Low, r.Lower), append(g.High, r.Upper)
	}
	return g, err
}

// mapError is how far a map is from the truth.
type mapError struct {
	Expected number `json:"expected"`
	Within90 number `json:"within90"`
	Guess    number `json:"guess"`
	Before   number `json:"before"`
}

// errorOf returns the error of a map, nil if there is none.
func errorOf(e *atlas.Error) *mapError {
	if e == nil {
		return nil
	}
	return &mapError{number(e.Expected), number(e.Within90), number(e.Guess), number(e.Before)}
}

// model is one of those that the estimator map averages.
type model struct {
	Length    number `json:"length"`
	Roughness number `json:"roughness"`
	Weight    number `json:"weight"`
	Smooth    bool   `json:"smooth,omitempty"`
	Even      bool   `json:"even,omitempty"`
}

func solveEstimate(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	of, err := readWorld(in)
	if err != nil {
		return nil, err
	}
	kv, world := of.outputs, of.world
	if in.has("epochs") {
		return solveEpochs(ctx, in, clock, kv, world)
	}
	counts, err := read[[]uint64](in, "counts")
	if err != nil {
		return nil, err
	}
	if len(counts) != kv {
		return nil, fmt.Errorf("field %q has %d entries, for %d outputs", "counts", len(counts), kv)
	}
	prior, err := readOr[[]float64](in, "prior", nil)
	if err != nil {
		return nil, err
	}
	estimator, err := readOr(in, "estimator", "")
	if err != nil {
		return nil, err
	}
	if in.has("estimator") && !atlas.Known(estimator) {
		return nil, fmt.Errorf("field %q: %q is not %s", "estimator", estimator, atlas.Estimators)
	}
	grouped, err := readOr(in, "groups", false)
	if err != nil {
		return nil, err
	}
	asked, err := readOr[[]regionIn](in, "regions", nil)
	if err != nil {
		return nil, err
	}
	level, err := readOr(in, "level", 0.0)
	if err != nil {
		return nil, err
	}
	at, err := plane.OfCost(of.policy.Cost(), of.policy.Metadata(), of.policy.InputLabel)
	if err != nil {
		return nil, err
	}
	regions, err := weightsOf(asked, at, of.inputs())
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	var ans estimateAnswer
	err = clock.run(func() error {
		w, err := world(ctx)
		if errors.Is(err, atlas.ErrProjection) {
			ans.Reason = err.Error()
			raw, err := estimate.Raw(counts)
			ans.Raw = raw
			return err
		}
		if err != nil {
			return err
		}
		settings := atlas.Settings{Estimator: estimator, Prior: prior, Level: level, Progress: in.shared.progress}
		var m atlas.Map
		if grouped || at.Ends != nil { // what is known of flows is seen in their groups
			m, err = w.Map(ctx, counts, settings)
		} else {
			m.Estimate, err = w.Estimate(ctx, counts, settings)
		}
		r := m.Estimate
		ans = estimateAnswer{Estimator: r.Estimator, Raw: r.Raw}
		if errors.Is(err, atlas.ErrOutputs) {
			ans.Reason = err.Error()
			return nil
		}
		if err != nil {
			return err
		}
		theta := numbers(r.Shares)
		ans.Map = &theta
		for _, m := range r.Models {
			ans.Models = append(ans.Models, model{number(m.Length), number(m.Roughness), number(m.Weight), m.Smooth, m.Even})
		}
		if r.Signal != nil {
			ans.Signal = r.Signal.String()
		}
		ans.Error, ans.Information, ans.Verdict, ans.Unexplained = errorOf(r.Error), r.Information, r.Verdict, r.Unexplained
		if r.Gap != nil {
			gap := number(*r.Gap)
			ans.Gap = &gap
		}
		alike, err := w.Patches(ctx)
		if alike.Shared() > 0 {
			ans.Patch = alike.Of
		}
		ans.Ends = plane.Marginals(at, r.Guess, r.Shares)
		if err == nil && regions != nil {
			ans.Regions, err = sharesOf(ctx, w, counts, r.Shares, regions, settings)
		}
		if err == nil && grouped {
			ans.Groups, err = groupsOf(ctx, w, m, counts, settings)
		}
		return err
	})
	return ans, err
}

// mechanism is what a line has, a policy or a cost with a base measure.
type mechanism struct {
	k, outputs int
	policy     policy.Policy // the zero value for none
	world      func(context.Context) (atlas.World, error)
}

// inputs are the labels of the inputs, their numbers where they have none.
func (m mechanism) inputs() (labels []string) {
	for i := range m.k {
		labels = append(labels, m.policy.InputLabel(i))
	}
	return labels
}

// readWorld reads the mechanism of a line.
func readWorld(in *object) (of mechanism, err error) {
	if !in.has("policy") {
		return readMechanism(in)
	}
	for _, name := range []string{"cost", "m", "eps", "bits"} {
		if in.has(name) {
			return of, fmt.Errorf("give either %q or %q, not both", "policy", name)
		}
	}
	text, err := read[string](in, "policy")
	if err != nil {
		return of, err
	}
	p, err := policy.Decode([]byte(text))
	if err != nil {
		return of, fmt.Errorf("field %q: %w", "policy", err)
	}
	return mechanism{p.Inputs(), p.Outputs(), p, func(ctx context.Context) (atlas.World, error) { return atlas.Of(ctx, p) }}, nil
}

func readMechanism(in *object) (of mechanism, err error) {
	c, err := readStated(in)
	if err != nil {
		return of, err
	}
	k, kv := c.Dims()
	m, err := readBase(in)
	if err != nil {
		return of, err
	}
	if len(m) != kv {
		return of, fmt.Errorf("field %q has %d entries, the cost %d columns", "m", len(m), kv)
	}
	text, err := readExactEpsilon(in)
	if err != nil {
		return of, err
	}
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		return of, fmt.Errorf("field %q: %w", "eps", err)
	}
	bits, err := readOr(in, "bits", wpm.DefaultBits)
	if err != nil {
		return of, err
	}
	box, err := ldp.NewPolytope(eps, m, bits)
	if err != nil {
		return of, err
	}
	return mechanism{k: k, outputs: kv, world: func(ctx context.Context) (atlas.World, error) {
		m, err := wpm.FromPolytope(ctx, c, box, wpm.Options{})
		if err == nil {
			err = atlas.Fits(c.Dims())
		}
		if err != nil {
			return atlas.World{}, err
		}
		rows, err := m.Channel(ctx)
		if err != nil {
			return atlas.World{}, err
		}
		return atlas.OfRows(ctx, m.Cost(), rows.Row)
	}}, nil
}

// epochIn is the counts of an epoch of a line.
type epochIn struct {
	Epoch  string   `json:"epoch"`
	Number *int     `json:"number"` // in the order of time; see aggregate.EpochNumbers if it is not given
	Counts []uint64 `json:"counts"`
}

type epochsAnswer struct {
	Epochs  []epochAnswer `json:"epochs"`
	Changes []change      `json:"changes,omitempty"` // of the regions, from the first epoch to the last
}

// epochAnswer is a map in a row; see series.Moment.
type epochAnswer struct {
	Epoch       string            `json:"epoch"`
	Map         numbers           `json:"map"`
	Rate        number            `json:"rate"`
	Worth       number            `json:"worth"`
	Drift       number            `json:"drift"`
	Error       *mapError         `json:"map_error,omitempty"`
	Information atlas.Information `json:"information,omitempty"`
	Verdict     atlas.Verdict     `json:"verdict,omitempty"`
	Unexplained bool              `json:"unexplained"`
}

// change is how the share of a region has changed; see series.Change.
type change struct {
	Lower number `json:"lower"`
	Upper number `json:"upper"`
	Known bool   `json:"known"`
}

// solveEpochs is estimate for a line with epochs.
func solveEpochs(ctx context.Context, in *object, clock *stopwatch, kv int, world func(context.Context) (atlas.World, error)) (any, error) {
	raw, err := read[json.RawMessage](in, "epochs")
	if err != nil {
		return nil, err
	}
	var list []epochIn
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("field %q: want a list of {\"epoch\":...,\"counts\":[...]}: %w", "epochs", err)
	}
	prior, err := readOr[[]float64](in, "prior", nil)
	if err != nil {
		return nil, err
	}
	regions, err := readOr[[][]float64](in, "regions", nil)
	if err != nil {
		return nil, err
	}
	level, err := readOr(in, "level", 0.0)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	var ans epochsAnswer
	err = clock.run(func() error {
		w, err := world(ctx)
		if err != nil {
			return err
		}
		var names []string
		for _, e := range list {
			names = append(names, e.Epoch)
		}
		at, unordered := aggregate.EpochNumbers(names)
		var epochs []series.Epoch
		for n, e := range list {
			if len(e.Counts) != kv {
				return fmt.Errorf("epoch %d has %d counts, for %d outputs", n, len(e.Counts), kv)
			}
			if e.Number == nil && unordered != nil {
				return unordered
			}
			if e.Number == nil {
				e.Number = &at[n]
			}
			epochs = append(epochs, series.Epoch{Name: e.Epoch, Number: *e.Number, World: w, Counts: e.Counts})
		}
		s := series.Settings{Prior: prior, Level: level, Progress: in.shared.progress}
		maps, err := series.Maps(ctx, epochs, s)
		if err != nil {
			return err
		}
		for _, m := range maps {
			one := epochAnswer{Epoch: m.Name, Map: m.Shares, Rate: number(m.Rate), Worth: number(m.Worth), Drift: number(m.Drift),
				Error: errorOf(m.Error), Information: m.Information, Verdict: m.Verdict, Unexplained: m.Unexplained}
			ans.Epochs = append(ans.Epochs, one)
		}
		if regions == nil {
			return nil
		}
		changes, err := series.Changes(ctx, epochs[0], epochs[len(epochs)-1], regions, s)
		for _, c := range changes {
			ans.Changes = append(ans.Changes, change{number(c.Lower), number(c.Upper), c.Known()})
		}
		return err
	})
	return ans, err
}
