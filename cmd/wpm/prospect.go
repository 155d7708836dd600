package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/estimate/plan"
)

// mapProspect is what the map of many devices will be like, for the card of a design.
type mapProspect struct {
	Devices int    `json:"devices"`
	Unit    string `json:"unit"` // of distances
	Prior   bool   `json:"prior"`
	// Prediction is for the design; nil for more places than are simulated.
	Prediction *plan.Prediction `json:"prediction,omitempty"`
	// Uniform is for the uniform base measure, if the design has another.
	Uniform  *plan.Prediction `json:"uniform,omitempty"`
	quantity string
}

// foresee predicts the map of -devices; nil if that was not asked for.
func (p designPlan) foresee(ctx context.Context, c *cli.Command, d *wpm.Design) (*mapProspect, error) {
	devices := c.Int("devices")
	if devices == 0 {
		return nil, nil
	}
	name, _ := mapUnit(p.geometry.Unit)
	out := &mapProspect{Devices: devices, Unit: name, Prior: c.IsSet("prior"), quantity: wasserstein(p.geometry.Unit)}
	f, err := newForecast(ctx, c, p.geometry, wpm.Uniform)
	if errors.Is(err, plan.ErrLimit) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-devices: %w", err)
	}
	if p.objective.Kind != wpm.Uniform {
		other, err := f.at(ctx, p.eps, devices)
		if err != nil {
			return nil, err
		}
		out.Uniform = &other
	}
	if f.last, err = f.planner.Mechanism(d.Channel().Row); err != nil {
		return nil, err
	}
	f.lastEps = p.eps.String()
	found, err := f.at(ctx, p.eps, devices)
	out.Prediction = &found
	return out, err
}

// print leads the card.
func (m *mapProspect) print(w io.Writer) {
	if m == nil {
		return
	}
	if m.Prediction == nil {
		fmt.Fprintf(w, "map\tof %s: too many places to simulate; \"wpm plan\" on a coarser grid says what to expect\n",
			plural(uint64(m.Devices), "device"))
		return
	}
	p := m.Prediction
	fmt.Fprintf(w, "map\tof %s, one release each: off by %.3g %s in %s, below %.3g in 90 %% of simulated worlds\n",
		plural(uint64(m.Devices), "device"), p.Map.Mean, m.Unit, m.quantity, p.Map.High)
	fmt.Fprintf(w, "\tthe guess, an even map, is off by %.3g, and the releases as they are by %.3g; signal: %v\n",
		p.Guess.Mean, p.Raw.Mean, p.Signal)
	fmt.Fprintf(w, "\tthe share of a quarter of the places is known to +- %.2g percentage points (90 %% interval)\n",
		100*p.HalfWidth)
	if m.Uniform != nil {
		fmt.Fprintf(w, "\twith the uniform base measure it would be off by %.3g %s\n", m.Uniform.Map.Mean, m.Unit)
	}
	if !m.Prior {
		fmt.Fprintf(w, "\tworlds are maps of all kinds: maps are %.2g to %.2g times as far off as guesses, which are off by %.3g to %.3g\n",
			p.Ratio.Low, p.Ratio.High, p.Guess.Low, p.Guess.High)
		fmt.Fprintf(w, "\t-prior FILE, a public guess at the truth, says more\n")
	}
}

// printKind says what the base measure is to a map.
func (d designCard) printKind(w io.Writer) {
	switch {
	case d.kind == wpm.Map:
		fmt.Fprintf(w, "\ta release favours %.3g %% of the outputs, for the map of %s\n", 100*d.Disc,
			plural(uint64(d.Map.Devices), "device"))
	case d.kind != wpm.Uniform:
		fmt.Fprintf(w, "\tit is for one client's cost: a map of many devices is better with uniform or map (-devices N says by how much)\n")
	}
}
