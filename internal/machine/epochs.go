package machine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/series"
)

// epochIn is the counts of an epoch of a line.
type epochIn struct {
	Epoch  string   `json:"epoch"`
	Number *int     `json:"number"` // in the order of time; its place in the list if it is not given
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
		var epochs []series.Epoch
		for n, e := range list {
			if len(e.Counts) != kv {
				return fmt.Errorf("epoch %d has %d counts, for %d outputs", n, len(e.Counts), kv)
			}
			if e.Number == nil {
				e.Number = &n
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
				Information: m.Information, Verdict: m.Verdict}
			if m.Error != nil {
				one.Error = &mapError{number(m.Error.Expected), number(m.Error.Within90), number(m.Error.Guess)}
			}
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
