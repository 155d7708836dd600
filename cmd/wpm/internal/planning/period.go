package planning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Period is a budget over epochs, spent in several ways: the rows of the card are slots, split and once.
type Period struct {
	Epochs  int    `json:"epochs"`
	Budget  string `json:"budget"` // the eps of a device over all epochs
	Devices int    `json:"devices"`
	// Moving is the share of the people who move in an epoch, and Moved of those who have moved by the last one.
	Moving float64 `json:"moving"`
	Moved  float64 `json:"moved"`
	// OnceEven and Once are how far the map of the first epoch is from the truth of the last, at most, on average: if
	// those who move go to all places alike, and wherever they go.
	OnceEven float64 `json:"once_even_at_most"`
	Once     float64 `json:"once_at_most"`
	budget   ldp.Epsilon
}

// periodFlags are those of Period.
func periodFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "period", DefaultText: "none",
			Usage: "for a map in each of `T` epochs: compare the ways to spend -budget, in place of -eps"},
		&cli.StringFlag{Name: "budget", Usage: "with -period: the `EPS` of a device over all epochs"},
		&cli.StringFlag{Name: "moving", Value: "0.05",
			Usage: "with -period: the `SHARE` of the people who move in an epoch, from 0 to 1"},
	}
}

// readPeriod reads them; nil without -period.
func readPeriod(c *cli.Command) (*Period, error) {
	if !c.IsSet("period") {
		for _, name := range []string{"budget", "moving"} {
			if c.IsSet(name) {
				return nil, fmt.Errorf("-%s needs -period", name)
			}
		}
		return nil, nil
	}
	for _, name := range []string{"eps", "target", "central", "shuffled", "certificates"} {
		if c.IsSet(name) {
			return nil, fmt.Errorf("-period takes its eps from -budget: -%s does not go with it", name)
		}
	}
	p := &Period{Epochs: c.Int("period"), Budget: c.String("budget")}
	if p.Epochs < 2 || p.Epochs > ledger.MaxPeriod {
		return nil, fmt.Errorf("-period: %d epochs, want 2 to %d", p.Epochs, ledger.MaxPeriod)
	}
	if !c.IsSet("budget") || !c.IsSet("devices") {
		return nil, errors.New("-period needs -budget EPS, of a device over all epochs, and -devices N")
	}
	var err error
	if p.budget, err = ldp.ParseEpsilon(p.Budget); err != nil {
		return nil, fmt.Errorf("-budget: %w", err)
	}
	p.Budget = p.budget.String()
	p.Moving, err = strconv.ParseFloat(c.String("moving"), 64)
	if err != nil || !(p.Moving >= 0 && p.Moving <= 1) {
		return nil, fmt.Errorf("-moving: %.40q is not a share from 0 to 1", c.String("moving"))
	}
	p.Moved = 1 - math.Pow(1-p.Moving, float64(p.Epochs-1))
	return p, nil
}

// among reads the number of devices, of which each slot needs one.
func (p *Period) among(devices []int) error {
	if len(devices) != 1 {
		return fmt.Errorf("-devices: %d numbers, and -period compares one", len(devices))
	}
	if p.Devices = devices[0]; p.Devices < p.Epochs {
		return fmt.Errorf("-devices: %d devices in %d slots: some would be empty", p.Devices, p.Epochs)
	}
	return nil
}

// over predicts the ways of a period.
func (f *forecast) over(ctx context.Context, p *Period) ([]Row, error) {
	part, err := ldp.ParseEpsilon(new(big.Rat).Quo(p.budget.Rat(), big.NewRat(int64(p.Epochs), 1)).RatString())
	if err != nil {
		return nil, fmt.Errorf("-budget over -period: %w", err)
	}
	rows := []Row{{Way: "slots", Epsilon: p.Budget}, {Way: "split", Epsilon: part.String()}, {Way: "once", Epsilon: p.Budget}}
	for _, way := range []struct { // those of one design in a row
		row     int
		eps     ldp.Epsilon
		devices int
	}{{0, p.budget, p.Devices / p.Epochs}, {2, p.budget, p.Devices}, {1, part, p.Devices}} {
		if rows[way.row].Prediction, err = f.at(ctx, way.eps, way.devices); err != nil {
			return nil, err
		}
	}
	even, anywhere, err := f.planner.Drift(p.Moved)
	if err != nil {
		return nil, err
	}
	first := rows[2].Map.Mean
	p.OnceEven, p.Once = first+even*f.scale, first+anywhere*f.scale
	return rows, nil
}

// printPeriod tabulates the ways, and says how to read them.
func (p Card) printPeriod(b *bytes.Buffer) {
	q := p.Period
	fmt.Fprintf(b, "%s. A map in each of %d epochs, from %d devices with eps %s each over all epochs.\n"+
		"Distances to the truth of the epoch are %s, in %s: means of %d simulated worlds.\n\n",
		p.Geometry, q.Epochs, q.Devices, q.Budget, p.quantity, p.Unit, p.Worlds)
	w := tabwriter.NewWriter(b, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "way\tdevices an epoch\teps of a report\tfirst epoch\t90 %% within\tsignal\tlast epoch\t\n")
	for _, r := range p.Rows {
		last := fmt.Sprintf("%.3g", r.Map.Mean)
		if r.Way == "once" {
			last = fmt.Sprintf("at most %.3g", q.Once)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.3g\t%.3g\t%s\t%s\t\n", r.Way, r.Devices, r.Epsilon, r.Map.Mean, r.Map.High,
			p.signal(r.Prediction), last)
	}
	guess := p.Rows[0].Guess
	fmt.Fprintf(w, "guess\t0\t-\t%.3g\t%.3g\t-\t%.3[1]g\t\n", guess.Mean, guess.High)
	w.Flush()
	near, far := p.Rows[0], p.Rows[1]
	if near.Map.Mean > far.Map.Mean {
		near, far = far, near
	}
	if near.Map.Mean > 0 {
		fmt.Fprintf(b, "\nIn every epoch, the map of %s is %.2g times as near to the truth as that of %s.\n", near.Way,
			far.Map.Mean/near.Map.Mean, far.Way)
	}
	fmt.Fprintf(b, `
slots: each device reports once in %d epochs, in a slot that it draws once ("wpm design -period %[1]d -epochs FORM").
split: all devices report in every epoch. once: all report in the first epoch, and are silent after it.
The map of slots and of split is of the epoch itself, so it is as good in the last epoch as in the first.
The map of once ages. %.3g %% of the people move in an epoch (-moving), whoever they are; by the last epoch, %.3g %% have.
at most: the error of the first map, and how far the population gets if all of these gather at the place that is
farthest from it, by the triangle inequality; nothing is simulated. If they go to all places alike, once is at most
%.3g %s off in the last epoch.
guess: the even map, without a release. 90 %% within: nine of ten worlds are at most that far off.
signal: ok if the map is at most 0.7 times as far from the truth as the guess, none if more than 0.95 times, else weak.
`, q.Epochs, 100*q.Moving, 100*q.Moved, q.OnceEven, p.Unit)
	if p.P == 0 {
		fmt.Fprintln(b, "at most holds where no way round is shorter than the cost between two places.")
	}
	if !p.Prior {
		fmt.Fprintln(b, "No prior was given, so the worlds are maps of all kinds. -prior FILE, a public guess at the truth, says more.")
	}
}
