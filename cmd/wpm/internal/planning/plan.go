// Package planning is the command plan, and what the card of a design says of the map of many devices.
package planning

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cmd/wpm/internal/geometry"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/ldp"
)

// Command is wpm plan.
func Command() *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "say before any release how good the map of a population will be",
		Description: "For every eps and number of devices, plan designs a mechanism, simulates thirty worlds with a fixed seed,\n" +
			"and prints how far the map of \"wpm aggregate\" will be from the truth: on average, and in 90 % of the\n" +
			"worlds. The distance is W_1, or W_p with -p. Beside the map are the guess, which is the even map and\n" +
			"takes no release, and the raw releases.\n" +
			"With -prior, a public guess at the truth, a world is the prior, or the prior with 15 to 30 % of its mass\n" +
			"elsewhere. The map is that of \"wpm aggregate\" without its -prior.\n" +
			"Without -prior, the worlds are maps of all kinds, and the answer is a range, relative to the guess. Where\n" +
			"places are chosen as the population lives, as shops are, the guess is good, and only -prior shows it.\n" +
			"-target asks for the least number of devices at each eps, or with -devices for the least eps. Both are tried\n" +
			"along 1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, and so on.\n" +
			"The plain policy of \"wpm design\" is forecast; -objective map forecasts that of \"wpm design -devices N\", which\n" +
			"is made for the map of N devices.\n" +
			"Beside the map stands what no mechanism at that eps, and no reader of its reports, passes for every population,\n" +
			"where distances are W_1 and inputs are outputs. -shuffled adds what the reports guarantee together if only\n" +
			"their sum or their mixture is seen, and -central finds the eps of each report for that.\n" +
			"With -pairs the map is of flows, from pair to pair.\n" +
			"-period T with -budget EPS is for a map in each of T epochs. It compares slots, in which each device reports once in T\n" +
			"epochs at the whole budget, with a budget that is split over the epochs, with one that is spent in the first\n" +
			"epoch, whose map ages, and with the guess.\n" +
			"The exit status is 1 if no choice reaches the target.",
		Flags: append(append(append(geometry.Flags(), sumFlags()...), periodFlags()...),
			&cli.StringFlag{Name: "eps", Usage: "privacy levels: `EPS,EPS,...`"},
			&cli.StringFlag{Name: "devices", Usage: "numbers of devices, one release each: `N,N,...`"},
			&cli.StringFlag{Name: "target",
				Usage: "how far the map may be from the truth: `DISTANCE`, a number with or without its unit, as 2km"},
			PriorFlag(),
			&cli.StringFlag{Name: "objective", Value: wpm.Uniform.String(),
				Usage: "what the mechanism is designed for: uniform, or map, for the devices of each line"},
			&cli.BoolFlag{Name: "json", Usage: "print everything as JSON"},
		),
		Metadata:     shell.Renamed("n", "-devices"),
		OnUsageError: shell.UsageError,
		Action:       planMaps,
	}
}

// PriorFlag is the public guess at the map.
func PriorFlag() cli.Flag {
	return &cli.StringFlag{Name: "prior",
		Usage: "what the map may look like: public weights of the inputs, CSV `FILE`, label,weight (default: maps of all kinds)"}
}

// PriorApart refuses a prior and places that are both standard input.
func PriorApart(c *cli.Command) error {
	if c.String("prior") == "-" && shell.CountDashes(geometry.Files(c)...) > 0 {
		return errors.New("-prior and the places cannot both be standard input")
	}
	return nil
}

// What -target chooses from: these steps of each power of ten.
var steps = []int{10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 70, 80}

// deviceSteps are numbers of devices from 10 to plan.MaxDevices.
func deviceSteps() (out []int) {
	for power := 1; power < plan.MaxDevices; power *= 10 {
		for _, s := range steps {
			if n := s * power; s <= plan.MaxDevices/power { // no overflow in 32 bits
				out = append(out, n)
			}
		}
	}
	return out
}

// epsSteps are levels from 0.01 to 10.
func epsSteps() (out []ldp.Epsilon, err error) {
	for power := 1000; power >= 1; power /= 10 {
		for _, s := range steps {
			e, err := ldp.ParseEpsilon(fmt.Sprintf("%d/%d", s, power))
			if err != nil {
				return nil, err
			}
			if out = append(out, e); power == 1 {
				break
			}
		}
	}
	return out, nil
}

// Card is what the command prints.
type Card struct {
	Geometry  string   `json:"geometry"`
	Inputs    int      `json:"inputs"`
	Outputs   int      `json:"outputs"`
	Unit      string   `json:"unit"` // of all distances
	P         float64  `json:"p,omitempty"`
	Pairs     string   `json:"pairs,omitempty"` // what the inputs are pairs of
	Objective string   `json:"objective"`
	Prior     bool     `json:"prior"`             // else the worlds are maps of all kinds
	Target    *float64 `json:"target,omitempty"`  // a distance
	Central   *float64 `json:"central,omitempty"` // an eps of all reports together
	Period    *Period  `json:"period,omitempty"`  // the rows are ways to spend its budget
	Worlds    int      `json:"worlds"`            // simulated for each row
	Rows      []Row    `json:"rows"`
	quantity  string
}

// Row is one choice.
type Row struct {
	Way     string `json:"way,omitempty"` // slots, split or once, of a period; the devices are of one epoch
	Epsilon string `json:"epsilon"`
	plan.Prediction
	Bounds
	Met *bool `json:"met,omitempty"` // whether it reaches the target; if not, it is the best there is
}

// inUnits returns p with distances in another unit.
func inUnits(p plan.Prediction, scale float64) plan.Prediction {
	list := []*plan.Distance{&p.Guess, &p.Map}
	if p.Raw != nil {
		raw := *p.Raw
		p.Raw, list = &raw, append(list, &raw)
	}
	for _, d := range list {
		*d = plan.Distance{Mean: d.Mean * scale, Low: d.Low * scale, High: d.High * scale, StandardError: d.StandardError * scale}
	}
	p.Floor *= scale
	return p
}

// forecast makes predictions for one geometry.
type forecast struct {
	geometry places.Geometry
	planner  *plan.Planner
	kind     wpm.Kind
	prior    []float64
	scale    float64
	tick     func(done, total int, what string)
	last     *plan.Mechanism // for lastEps, unless the kind is map
	lastEps  string
}

func newForecast(ctx context.Context, c *cli.Command, g places.Geometry, kind wpm.Kind) (*forecast, error) {
	p := plan.Problem{Cost: g.Cost, P: g.Unit.P}
	if c.IsSet("prior") {
		k, _ := g.Cost.Dims()
		labels := g.Inputs
		if labels == nil {
			labels = places.Labels(strconv.Itoa, k)
		}
		var err error
		p.Prior, err = shell.ReadFile(c, c.String("prior"),
			func(r io.Reader, name string) ([]float64, error) { return places.ReadWeights(r, name, labels) })
		if err != nil {
			return nil, err
		}
	}
	planner, err := plan.New(ctx, p)
	if errors.Is(err, estimate.ErrNoGeometry) {
		err = fmt.Errorf("a map needs distances between inputs, as points, a grid, a ring or a symmetric matrix have: %w",
			err)
	}
	if err != nil {
		return nil, err
	}
	_, scale := g.Unit.Distances()
	return &forecast{geometry: g, planner: planner, kind: kind, prior: p.Prior, scale: scale,
		tick: shell.Progress(c.Root().ErrWriter)}, nil
}

// at predicts one choice.
func (f *forecast) at(ctx context.Context, eps ldp.Epsilon, devices int) (plan.Prediction, error) {
	if f.last == nil || f.lastEps != eps.String() || f.kind == wpm.Map {
		d, err := f.design(ctx, eps, devices)
		if err == nil {
			f.last, err = d.mechanism()
		}
		if err != nil {
			return plan.Prediction{}, fmt.Errorf("eps %s: %w", eps, err)
		}
		f.lastEps = eps.String()
	}
	p, err := f.last.Predict(ctx, devices, estimate.Settings{Progress: func(done, total int) {
		f.tick(done, total, fmt.Sprintf("eps %s, %d devices", eps, devices))
	}})
	return inUnits(p, f.scale), err
}

// choice is a design: its box, and what the planner makes of it.
type choice struct {
	box       *ldp.Polytope
	mechanism func() (*plan.Mechanism, error)
}

// design makes the mechanism of a choice, as the command design does.
func (f *forecast) design(ctx context.Context, eps ldp.Epsilon, devices int) (choice, error) {
	o := wpm.Objective{Kind: f.kind}
	if f.kind == wpm.Map {
		codes, err := Codes(ctx, f.geometry, channel.Problem{Epsilon: eps, Devices: int64(devices), Prior: f.prior})
		if err != nil {
			return choice{}, err
		}
		if codes != nil && codes.List() {
			box, err := codes.Mixture.Box()
			return choice{box, func() (*plan.Mechanism, error) { return f.codes(codes) }}, err
		}
		o.Devices = devices
		if codes != nil {
			o.Disc = codes.Disc
		}
	}
	d, err := wpm.NewDesign(ctx, f.geometry.Cost, eps, o)
	if err != nil {
		return choice{}, err
	}
	return choice{d.Mechanism().Polytope(), func() (*plan.Mechanism, error) { return f.planner.Design(ctx, d.Channel().Row, d.Publish) }}, nil
}

// codes is the mechanism of a list.
func (f *forecast) codes(d *wpm.CodesDesign) (*plan.Mechanism, error) {
	ch, err := d.Channel()
	if err != nil {
		return nil, err
	}
	return f.planner.Channel(ch, d.Person().Share)
}

// planAsked is what the flags ask for.
type planAsked struct {
	eps     []ldp.Epsilon
	devices []int
	target  float64 // 0: none
	kind    wpm.Kind
	period  *Period
	// of reports that are only summed; central is 0 if none is asked for, delta if it is the common one
	shuffled       bool
	central, delta float64
}

func planMaps(ctx context.Context, c *cli.Command) error {
	g, asked, err := readPlan(c)
	if err != nil {
		return err
	}
	f, err := newForecast(ctx, c, g, asked.kind)
	if err != nil {
		return err
	}
	k, kv := g.Cost.Dims()
	name, _ := g.Unit.Distances()
	card := Card{
		Geometry: g.What, Inputs: k, Outputs: kv, Unit: name, P: g.Unit.P, Pairs: g.Pairs,
		Objective: asked.kind.String(),
		Prior:     c.IsSet("prior"),
		Worlds:    plan.Worlds, quantity: wasserstein(g.Unit),
	}
	met := true
	switch {
	case asked.period != nil:
		card.Period = asked.period
		card.Rows, err = f.over(ctx, asked.period)
	case asked.target > 0:
		card.Target = &asked.target
		card.Rows, met, err = f.search(ctx, asked)
	case asked.central > 0:
		card.Central = &asked.central
		card.Rows, met, err = f.centrally(ctx, asked)
	default:
		card.Rows, err = f.table(ctx, asked)
	}
	if err != nil {
		return err
	}
	if asked.period == nil {
		proofs, err := f.bound(ctx, asked, card.Rows)
		if err != nil {
			return err
		}
		if err := writeProofs(c, proofs); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		err = device.PrintJSON(c.Root().Writer, card)
	} else {
		err = card.print(c.Root().Writer)
	}
	if err == nil && !met && asked.central > 0 {
		err = fmt.Errorf("no eps of 0.01 or more is (%v, delta)-DP in sum: %w", asked.central, device.ErrNo)
	} else if err == nil && !met {
		err = fmt.Errorf("no choice has a map within %v %s: %w", asked.target, card.Unit, device.ErrNo)
	}
	return err
}

// readPlan reads the flags.
func readPlan(c *cli.Command) (g places.Geometry, a planAsked, err error) {
	if err := shell.NoArgs(c); err != nil {
		return g, a, err
	}
	if err := shell.Positive(c, "ring"); err != nil {
		return g, a, err
	}
	if err := PriorApart(c); err != nil {
		return g, a, err
	}
	if a.period, err = readPeriod(c); err != nil {
		return g, a, err
	}
	switch target := c.IsSet("target"); {
	case a.period != nil:
	case c.IsSet("central") && (target || c.IsSet("eps") || !c.IsSet("devices")):
		return g, a, errors.New("-central finds the eps for -devices: neither -eps nor -target goes with it")
	case c.IsSet("central"):
	case target && c.IsSet("eps") == c.IsSet("devices"):
		return g, a, errors.New("-target needs -eps, for the least number of devices, or -devices, for the least eps, and not both")
	case !target && !(c.IsSet("eps") && c.IsSet("devices")):
		return g, a, errors.New("plan needs -eps EPS,... and -devices N,...; or -target DISTANCE and one of them; or -period T")
	}
	if err := errors.Join(a.lists(c), a.readSums(c)); err != nil {
		return g, a, err
	}
	if a.period != nil {
		if err := a.period.among(a.devices); err != nil {
			return g, a, err
		}
	}
	switch name := c.String("objective"); name {
	case wpm.Uniform.String():
	case wpm.Map.String():
		a.kind = wpm.Map
	default:
		return g, a, fmt.Errorf("-objective: %.40q is not uniform or map", name)
	}
	if g, err = geometry.Read(c); err != nil {
		return g, a, err
	}
	if p := g.Unit.P; a.period != nil && p > 0 && p < 1 {
		return g, a, fmt.Errorf("-period: how a map ages is not known for -p %v, below 1", p)
	}
	if c.IsSet("target") {
		if a.target, err = parseTarget(c.String("target"), g.Unit); err != nil {
			return g, a, err
		}
	}
	return g, a, nil
}

// lists reads -eps and -devices.
func (a *planAsked) lists(c *cli.Command) error {
	for _, s := range shell.List(c.String("eps")) {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return fmt.Errorf("-eps: %w", err)
		}
		a.eps = append(a.eps, e)
	}
	for _, s := range shell.List(c.String("devices")) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > plan.MaxDevices {
			return fmt.Errorf("-devices: %.40q is not a number from 1 to %d", s, plan.MaxDevices)
		}
		a.devices = append(a.devices, n)
	}
	if c.IsSet("eps") && a.eps == nil || c.IsSet("devices") && a.devices == nil {
		return errors.New("-eps and -devices: the list is empty")
	}
	return nil
}

// parseTarget reads a distance: a number, with a point or a comma, and the unit that tables have, or nothing; metres, too,
// where that is km.
func parseTarget(text string, u places.Unit) (float64, error) {
	name, _ := u.Distances()
	trimmed, in := strings.TrimSpace(text), 1.0
	for _, unit := range []string{name, strings.TrimSuffix(name, "s"), "m"} { // 1 cell
		if number, ok := strings.CutSuffix(trimmed, unit); ok && (unit != "m" || name == "km") {
			trimmed = strings.TrimSpace(number)
			if unit == "m" {
				in = 1000
			}
			break
		}
	}
	if strings.Count(trimmed, ",") == 1 && !strings.Contains(trimmed, ".") {
		trimmed = strings.Replace(trimmed, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(trimmed, 64)
	v /= in
	if err != nil || !(v > 0 && v <= math.MaxFloat64) {
		return 0, fmt.Errorf("-target: %.40q is not a positive distance in %s, as 2 or 0.5", text, name)
	}
	return v, nil
}

// table predicts all pairs.
func (f *forecast) table(ctx context.Context, a planAsked) ([]Row, error) {
	var rows []Row
	for _, eps := range a.eps {
		for _, n := range a.devices {
			p, err := f.at(ctx, eps, n)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{Epsilon: eps.String(), Prediction: p})
		}
	}
	return rows, nil
}

// search finds the least number of devices for each eps, or the least eps for each number. met says whether there is
// one at all.
func (f *forecast) search(ctx context.Context, a planAsked) (rows []Row, met bool, err error) {
	devices, levels := deviceSteps(), a.eps
	if a.eps == nil {
		if levels, err = epsSteps(); err != nil {
			return nil, false, err
		}
	}
	add := func(n int, choice func(i int) (ldp.Epsilon, int)) error {
		i, p, err := plan.Least(ctx, n, a.target, func(i int) (plan.Prediction, error) {
			eps, n := choice(i)
			return f.at(ctx, eps, n)
		})
		if err != nil && !errors.Is(err, plan.ErrTarget) {
			return err
		}
		eps, _ := choice(i)
		reached := err == nil
		met = met || reached
		rows = append(rows, Row{Epsilon: eps.String(), Prediction: p, Met: &reached})
		return nil
	}
	for _, eps := range a.eps {
		if err := add(len(devices), func(i int) (ldp.Epsilon, int) { return eps, devices[i] }); err != nil {
			return nil, false, err
		}
	}
	for _, n := range a.devices {
		if err := add(len(levels), func(i int) (ldp.Epsilon, int) { return levels[i], n }); err != nil {
			return nil, false, err
		}
	}
	return rows, met, nil
}

// wasserstein names the distance that maps are compared by.
func wasserstein(u places.Unit) string {
	if u.P == 0 {
		return "the cost of transport"
	}
	return fmt.Sprintf("W_%v", u.P)
}

// printFloors says what no number of devices resolves, once for each eps and number of places.
func (p Card) printFloors(out io.Writer) {
	said := map[string]bool{}
	for _, r := range p.Rows {
		if text := floor(r.Prediction, p.Unit); text != "" && !said[text] {
			if len(said) == 0 {
				fmt.Fprintln(out)
			}
			said[text] = true
			fmt.Fprintf(out, "eps %s: %s\n", r.Epsilon, text)
		}
	}
}

// floor is one line about the places that the rows do not tell apart, or "".
func floor(p plan.Prediction, unit string) string {
	if p.AlikeUnknown {
		return patch.Patches{Unknown: true}.String()
	}
	if p.Alike == 0 {
		return ""
	}
	return fmt.Sprintf("%d places have the same report odds as another, or nearly: a map draws such places as one, however many report; "+
		"that alone is %.2g %s of its error", p.Alike, p.Floor, unit)
}

// signal is that of a prior, or in how many worlds it is ok.
func (p Card) signal(r plan.Prediction) string { return signal(r, p.Prior) }

func signal(r plan.Prediction, prior bool) string {
	if prior || r.Signal != estimate.GoodSignal && r.Good > plan.Worlds/2 { // a floor
		return r.Signal.String()
	}
	return fmt.Sprintf("ok in %d of %d worlds", r.Good, plan.Worlds)
}

// print tabulates the choices, and says how to read them.
func (p Card) print(out io.Writer) error {
	var b bytes.Buffer
	if p.Period != nil {
		p.printPeriod(&b)
		_, err := out.Write(b.Bytes())
		return err
	}
	fmt.Fprintf(&b, "%s. Distances to the truth are %s, in %s: means of %d simulated worlds.\n\n", p.Geometry, p.quantity,
		p.Unit, p.Worlds)
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "eps\tdevices\tguess\traw\tmap\t+-\t90 %% within\tmap/guess\tdisc\tquarter, +-\tsignal\t%s\n", p.boundsHead())
	for _, r := range p.Rows {
		ratio := "1"
		if r.Guess.Mean > 0 {
			ratio = fmt.Sprintf("%.3g", r.Map.Mean/r.Guess.Mean) // which signal is about
		}
		if !p.Prior {
			ratio = fmt.Sprintf("%.2f to %.2f", r.Ratio.Low, r.Ratio.High)
		}
		raw := "-"
		if r.Raw != nil {
			raw = fmt.Sprintf("%.3g", r.Raw.Mean)
		}
		fmt.Fprintf(w, "%s\t%d\t%.3g\t%s\t%.3g\t%.1g\t%.3g\t%s\t%.2g %%\t%.2g %%\t%v\t%s\n",
			r.Epsilon, r.Devices, r.Guess.Mean, raw, r.Map.Mean, r.Map.StandardError, r.Map.High, ratio, 100*r.Disc,
			100*r.HalfWidth, p.signal(r.Prediction),
			r.cells())
	}
	w.Flush()
	p.printFloors(&b)
	if p.Target != nil {
		p.printTarget(&b)
	}
	fmt.Fprint(&b, `
guess: the even map, without a release. raw: the releases as they are, whose bias no number of devices lowers.
A policy with codes has no raw map, because a release of it is a code, and not a place. +-: the standard error of map,
of the worlds and of chance, which are the same in all lines. 90 % within: nine of ten worlds are at most that far off. disc: a release favours places near the true one; they are this part of all places.
quarter, +-: by how many percentage points the share of a quarter of the places is known, as half of a 90 % interval.
signal: ok if the map is at most 0.7 times as far from the truth as the guess, none if more than 0.95 times, else
weak. It is not ok where half of the error comes from places with the same report odds.
`)
	if p.Pairs != "" {
		fmt.Fprint(&b, "The places are pairs here, and the map is of flows: a distance is how far both parts of a pair would have to "+
			"move, as the\n"+
			"root of the sum of their squares.\n")
	}
	p.explainBounds(&b)
	if p.Objective == wpm.Uniform.String() {
		fmt.Fprint(&b, "\nThis is the plain policy. -objective map forecasts that of \"wpm design -devices N\", made for the map of N devices.\n")
	}
	if !p.Prior && len(p.Rows) > 0 {
		fmt.Fprintf(&b, "\nNo prior was given, so the worlds are maps of all kinds: some nearly even, some with everybody at a few places.\n"+
			"The means are over these worlds, most of which are easier than a city with several districts.\n"+
			"In eight of ten worlds, map/guess is in the range above, and the even map is %.3g to %.3g %s from the truth.\n"+
			"signal says in how many worlds the map is ok. Where the places are chosen as the population lives, as shops or stops\n"+
			"are, the truth may be nearer, and the ratio is then higher. -prior FILE, a public guess at the truth, says more.\n",
			p.Rows[0].Guess.Low, p.Rows[0].Guess.High, p.Unit)
	}
	_, err := out.Write(b.Bytes())
	return err
}

// printTarget says which rows reach the target.
func (p Card) printTarget(b *bytes.Buffer) {
	all := !slices.ContainsFunc(p.Rows, func(r Row) bool { return !*r.Met })
	if all {
		fmt.Fprintf(b, "\nEach line is the least choice whose map is within %v %s, on average; the one before it is not. Other worlds\n"+
			"would give another choice: their maps are farther off than here by +- in one of six. Add devices for that.\n",
			*p.Target, p.Unit)
		return
	}
	fmt.Fprintln(b)
	for _, r := range p.Rows {
		if !*r.Met {
			fmt.Fprintf(b,
				"eps %s, %d devices: out of reach. This is the most that was tried, and its map is at %.3g %s, above %v.\n",
				r.Epsilon, r.Devices, r.Map.Mean, p.Unit, *p.Target)
		}
	}
}
