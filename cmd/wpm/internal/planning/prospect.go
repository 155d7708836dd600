package planning

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cmd/wpm/internal/summed"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/ldp"
)

// Prospect is what the map of many devices will be like, for the card of a design.
type Prospect struct {
	Devices int    `json:"devices"`
	Unit    string `json:"unit"` // of distances
	Prior   bool   `json:"prior"`
	// Prediction is for the design; nil for more places than are simulated.
	Prediction *plan.Prediction `json:"prediction,omitempty"`
	// Uniform is for the uniform base measure, if the design has another.
	Uniform *plan.Prediction `json:"uniform,omitempty"`
	Bounds
	quantity string
}

// Codes designs codes for a map of places that are the outputs, too; nil for other outputs, for pairs, and where
// wpm.MapCodes finds none. The cost of the problem is filled in.
func Codes(ctx context.Context, g places.Geometry, p channel.Problem) (*wpm.CodesDesign, error) {
	if !g.SameSupport || g.Pairs != "" {
		return nil, nil
	}
	p.Cost, p.P = g.Cost, g.Unit.P
	return wpm.MapCodes(ctx, p)
}

// Foresee predicts the map of -devices from a design at eps, for a kind of objective; nil if that was not asked for. The
// design is codes if these are not nil, else d.
func Foresee(
	ctx context.Context, c *cli.Command, g places.Geometry, eps ldp.Epsilon, kind wpm.Kind, d *wpm.Design,
	codes *wpm.CodesDesign,
) (*Prospect, error) {
	devices := c.Int("devices")
	if devices == 0 {
		return nil, nil
	}
	name, _ := g.Unit.Distances()
	out := &Prospect{Devices: devices, Unit: name, Prior: c.IsSet("prior"), quantity: wasserstein(g.Unit)}
	if k, kv := g.Cost.Dims(); max(k, kv) > plan.MaxPairs/k {
		return out, nil
	}
	f, err := newForecast(ctx, c, g, wpm.Uniform)
	if err != nil {
		return nil, fmt.Errorf("-devices: %w", err)
	}
	if kind != wpm.Uniform {
		other, err := f.at(ctx, eps, devices)
		if err != nil {
			return nil, err
		}
		out.Uniform = &other
	}
	if codes != nil {
		f.last, err = f.codes(codes)
	} else {
		f.last, err = f.planner.Design(ctx, d.Channel().Row, d.Publish)
	}
	if err != nil {
		return nil, err
	}
	f.lastEps = eps.String()
	found, err := f.at(ctx, eps, devices)
	if err != nil {
		return nil, err
	}
	out.Prediction = &found
	out.Bounds, _, err = f.bounds(ctx, eps, devices, nil, 0)
	return out, err
}

// Print leads the card.
func (m *Prospect) Print(w io.Writer) {
	if m == nil {
		return
	}
	if m.Prediction == nil {
		fmt.Fprintf(w, "map\tof %s: too many places to simulate beside a design; \"wpm plan\" says what to expect\n",
			shell.Plural(uint64(m.Devices), "device"))
		return
	}
	p := m.Prediction
	fmt.Fprintf(w, "map\tof %s, one release each: off by %.3g %s in %s, below %.3g in 90 %% of simulated worlds\n",
		shell.Plural(uint64(m.Devices), "device"), p.Map.Mean, m.Unit, m.quantity, p.Map.High)
	raw := ""
	if p.Raw != nil {
		raw = fmt.Sprintf(", and the releases as they are by %.3g", p.Raw.Mean)
	}
	fmt.Fprintf(w, "\tthe guess, an even map, is off by %.3g%s; signal: %s\n", p.Guess.Mean, raw, signal(*p, m.Prior))
	fmt.Fprintf(w, "\tthe share of a quarter of the places is known to +- %.2g percentage points (90 %% interval)\n",
		100*p.HalfWidth)
	if m.Nobody != nil {
		fmt.Fprintf(w, "\tno mechanism below: no reports at this eps are nearer than %s %s to every population of these places\n",
			summed.Down(*m.Nobody), m.Unit)
		fmt.Fprintf(w, "\tthe people's own places, one each, are %.3g from theirs\n", *m.Own)
	}
	if text := floor(*p, m.Unit); text != "" {
		fmt.Fprintf(w, "\t%s\n", text)
	}
	if m.Uniform != nil {
		fmt.Fprintf(w, "\twith the uniform base measure it would be off by %.3g %s\n", m.Uniform.Map.Mean, m.Unit)
	}
	if !m.Prior {
		fmt.Fprintf(w, "\tworlds are maps of all kinds: maps are %.2g to %.2g times as far off as guesses, which are off by %.3g to %.3g\n",
			p.Ratio.Low, p.Ratio.High, p.Guess.Low, p.Guess.High)
		fmt.Fprintf(w, "\t-prior FILE, a public guess at the truth, says more\n")
	}
}
