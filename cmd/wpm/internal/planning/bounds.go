package planning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/summed"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/minimax"
)

// Bounds are what holds for every mechanism, and for all reports together.
type Bounds struct {
	// Central is of -shuffled.
	Central *summed.Central `json:"central,omitempty"`
	// Nobody is a distance below which no reports at this eps, and no reader of them, stay for every population; nil where
	// none is known. Own is how far the people's own places are from their population, on average.
	Nobody *float64 `json:"no_mechanism_below,omitempty"`
	Own    *float64 `json:"own_places,omitempty"`
}

// sumFlags are those of reports that are only summed.
func sumFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "shuffled",
			Usage: "add what the reports guarantee together, if a relay mixes or two servers add them: (eps, delta)"},
		&cli.StringFlag{Name: "delta",
			Usage: "the `DELTA` of -shuffled and -central (default: 1e-6, or 1/(10 N) where that is less)"},
		&cli.StringFlag{Name: "central",
			Usage: "in place of -eps: the largest eps whose reports are, together, (`EPS`, delta)-DP"},
		&cli.StringFlag{Name: "certificates",
			Usage: "write the proofs of the bounds to `FILE`, for wpm certify"},
	}
}

// Delta reads -delta; 0 is the common one.
func Delta(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || !(d > 0 && d < 1) {
		return 0, fmt.Errorf("-delta: %.40q is not a number between 0 and 1", text)
	}
	return d, nil
}

// readSums reads their flags.
func (a *planAsked) readSums(c *cli.Command) (err error) {
	if a.delta, err = Delta(c.String("delta")); err != nil {
		return err
	}
	a.shuffled = c.Bool("shuffled") || c.IsSet("central")
	if c.IsSet("central") {
		a.central, err = strconv.ParseFloat(c.String("central"), 64)
		if err != nil || !(a.central > 0 && a.central <= math.MaxFloat64) {
			return fmt.Errorf("-central: %.40q is not a positive eps", c.String("central"))
		}
	}
	if c.IsSet("delta") && !a.shuffled {
		return errors.New("-delta needs -shuffled or -central")
	}
	return nil
}

// centralSteps are the levels that -central tries: hundredths up to 12, at which a report hides little.
const centralSteps = 1200

// local finds the largest eps whose reports, together, have the central guarantee.
func (f *forecast) local(ctx context.Context, a planAsked, devices int) (eps ldp.Epsilon, ok bool, err error) {
	level := func(n int) (ldp.Epsilon, error) { return ldp.ParseEpsilon(fmt.Sprintf("%d/100", n)) }
	low, high := 0, centralSteps+1
	for low+1 < high {
		mid := (low + high) / 2
		if mid > 4*max(low, 50) { // designs of a large eps take longer, and are seldom the answer
			mid = 4 * max(low, 50)
		}
		e, err := level(mid)
		if err != nil {
			return eps, false, err
		}
		d, err := f.design(ctx, e, devices)
		if err != nil {
			return eps, false, fmt.Errorf("eps %s: %w", e, err)
		}
		found, _, err := summed.Of(d.box, devices, a.delta)
		if err != nil {
			return eps, false, err
		}
		if found.Epsilon <= a.central {
			low = mid
		} else {
			high = mid
		}
	}
	eps, err = level(max(low, 1))
	return eps, low > 0, err
}

// centrally has a row for each number of devices, at the eps that -central leaves.
func (f *forecast) centrally(ctx context.Context, a planAsked) (rows []Row, met bool, err error) {
	for _, n := range a.devices {
		eps, ok, err := f.local(ctx, a, n)
		if err != nil {
			return nil, false, err
		}
		p, err := f.at(ctx, eps, n)
		if err != nil {
			return nil, false, err
		}
		met = met || ok
		rows = append(rows, Row{Epsilon: eps.String(), Prediction: p, Met: &ok})
	}
	return rows, met, nil
}

// bound adds the bounds to the rows.
func (f *forecast) bound(ctx context.Context, a planAsked, rows []Row) (proofs []certificate.Certificate, err error) {
	for i := range rows {
		eps, err := ldp.ParseEpsilon(rows[i].Epsilon)
		if err != nil {
			return nil, err
		}
		var box *ldp.Polytope
		if a.shuffled {
			d, err := f.design(ctx, eps, rows[i].Devices)
			if err != nil {
				return nil, fmt.Errorf("eps %s: %w", eps, err)
			}
			box = d.box
		}
		found, more, err := f.bounds(ctx, eps, rows[i].Devices, box, a.delta)
		if err != nil {
			return nil, err
		}
		rows[i].Bounds, proofs = found, append(proofs, more...)
	}
	return proofs, nil
}

// bounds proves what it can: the central guarantee of a box, nil for none, and that no mechanism is nearer.
func (f *forecast) bounds(ctx context.Context, eps ldp.Epsilon, devices int, box *ldp.Polytope, delta float64,
) (out Bounds, proofs []certificate.Certificate, err error) {
	if box != nil {
		c, proof, err := summed.Of(box, devices, delta)
		if err != nil {
			return out, nil, err
		}
		out.Central, proofs = &c, append(proofs, proof)
	}
	if !bounded(f.geometry) {
		return out, proofs, nil
	}
	p := minimax.Problem{Cost: f.geometry.Cost, Epsilon: num.Up(eps.Rat()), Clients: devices}
	b, err := minimax.Solve(ctx, p)
	if err != nil {
		return out, nil, err
	}
	proof, err := certificate.NewMinimax(ctx, p, b)
	if err != nil {
		return out, nil, err
	}
	lower, _ := proof.Stated().Floats()
	own, err := f.planner.Own(ctx, devices)
	if err != nil {
		return out, nil, err
	}
	lower, own = lower*f.scale, own*f.scale
	if lower > 0 { // a cost that is no distance has no bound
		out.Nobody, out.Own, proofs = &lower, &own, append(proofs, proof)
	}
	return out, proofs, nil
}

// bounded reports whether a geometry can have a bound on all mechanisms: distances, p = 1, or a matrix of costs, between
// places that are inputs and outputs, and not too many.
func bounded(g places.Geometry) bool {
	k, _ := g.Cost.Dims()
	return g.SameSupport && (g.Unit.P == 1 || g.Unit.P == 0) && k <= minimax.MaxPlaces
}

// writeProofs writes -certificates.
func writeProofs(c *cli.Command, proofs []certificate.Certificate) error {
	if !c.IsSet("certificates") {
		return nil
	}
	var b bytes.Buffer
	if err := certificate.Write(&b, proofs...); err != nil {
		return err
	}
	return device.WriteFiles(c.Root().Writer, device.Output{Path: c.String("certificates"), Data: b.Bytes()})
}

// boundsHead and cells are the columns of the table.
func (p Card) boundsHead() string {
	text := ""
	if len(p.Rows) > 0 && p.Rows[0].Nobody != nil {
		text += "no mechanism below\town places\t"
	}
	if len(p.Rows) > 0 && p.Rows[0].Central != nil {
		text += "central\t"
	}
	return text
}

func (b Bounds) cells() string {
	text := ""
	if b.Nobody != nil {
		text += fmt.Sprintf("%s\t%.3g\t", summed.Down(*b.Nobody), *b.Own)
	}
	if b.Central != nil {
		text += b.Central.String() + "\t"
	}
	return text
}

// explainBounds says how to read them.
func (p Card) explainBounds(out io.Writer) {
	if len(p.Rows) == 0 {
		return
	}
	if p.Rows[0].Nobody != nil {
		fmt.Fprint(out, `no mechanism below: a limit for every method at this eps, however its reports are made and read. People have one place
each, drawn from a population of these places; for some population, the map is on average at least so far from it.
own places: how far the map of the people's places themselves, without any privacy, is from the population.
`)
	}
	if p.Rows[0].Central != nil {
		fmt.Fprint(out, `central: (eps, delta) of all reports together, if only their sum or their mixture is seen and each is honest; one alone has
its own eps.
`)
	}
}
