package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

var kinds = map[string]wpm.Kind{}

func init() {
	for _, k := range []wpm.Kind{wpm.Uniform, wpm.Minimax, wpm.Average, wpm.Mixed, wpm.Map} {
		kinds[k.String()] = k
	}
}

// objective reads what a design is for.
func objective(name string, devices int) (wpm.Objective, error) {
	k, ok := kinds[name]
	if !ok {
		return wpm.Objective{}, fmt.Errorf("objective: %.40q is not uniform, minimax, average, mixed or map", name)
	}
	return wpm.Objective{Kind: k, Devices: devices}, nil
}

// designAnswer has nothing of one person's cost for a list of codes, and nothing of a list for other designs.
type designAnswer struct {
	made
	Epsilon      string          `json:"epsilon"`
	Bits         int             `json:"bits"`
	WorstCase    *float64        `json:"worst_case"`
	WorstInput   *int            `json:"worst_input"`
	Lower        *float64        `json:"lower"`
	Gap          float64         `json:"gap"`
	Disc         *float64        `json:"disc"`
	Displacement float64         `json:"displacement"`
	Certificate  string          `json:"certificate"`
	Codes        int             `json:"codes"`
	Discs        int             `json:"discs"`
	Risk         *float64        `json:"risk"`
	Person       *channel.Person `json:"person"`
}

// design makes a mechanism. The object that it leaves has the rows and publishes the policy.
func design(ctx context.Context, r request) (answer, error) {
	var in struct {
		costArgs
		Eps       string  `json:"eps"`
		Objective string  `json:"objective"`
		Mix       float64 `json:"mix"`
		Gap       float64 `json:"gap"`
		Devices   int     `json:"devices"`
		Bits      int     `json:"bits"`
		Seed      uint64  `json:"seed"`
		Outputs   int     `json:"outputs_at_most"`
		Pairs     string  `json:"pairs"` // what the cost is pairs of, or "": of pairs there are no codes
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	r.own("C") // the design keeps it
	c, err := r.cost(in.Cost)
	if err != nil {
		return answer{}, err
	}
	eps, err := ldp.ParseEpsilon(in.Eps)
	if err != nil {
		return answer{}, err
	}
	o, err := objective(in.Objective, in.Devices)
	if err != nil {
		return answer{}, err
	}
	o.Mix, o.Gap, o.Options.Bits, o.Weights = in.Mix, in.Gap, in.Bits, append([]float64(nil), r.floats("weights")...)
	if o.Kind == wpm.Map && o.Mix == 0 && o.Gap == 0 && in.Pairs == "" { // else NewDesign says what is wrong
		codes, err := mapCodes(ctx, c, channel.Problem{
			Prior: o.Weights, Epsilon: eps, Devices: int64(o.Devices), Bits: o.Options.Bits, Seed: in.Seed,
			MostOutputs: in.Outputs,
		})
		switch {
		case err != nil:
			return answer{}, err
		case codes != nil && codes.List():
			return listed(codes)
		case codes != nil:
			o.Disc = codes.Disc
		}
	}
	d, err := wpm.NewDesign(ctx, c, eps, o)
	if err != nil {
		return answer{}, err
	}
	k, kv := d.Channel().Dims()
	worst, input := d.WorstCase()
	lower, disc := d.Lower(), d.Disc()
	box := d.Mechanism().Polytope()
	lo, hi := box.Bounds()
	return answer{
		value: designAnswer{
			made: made{handles.add(d), size{k, kv}}, Epsilon: eps.String(), Bits: box.Bits(), WorstCase: &worst,
			WorstInput: &input,
			Lower:      &lower, Gap: d.Gap(), Disc: &disc, Displacement: d.Displacement(),
			Certificate: string(d.Certificate()),
		},
		out: []array{vector("m", d.Base().M), vector("lo", lo), vector("hi", hi)},
	}, nil
}

// mapCodes designs codes for a map, nil where there are none for the cost, whose power is that of its kind or 1.
func mapCodes(ctx context.Context, c cost.Matrix, p channel.Problem) (*wpm.CodesDesign, error) {
	p.Cost = c
	p.P, _ = cost.Exponent(c)
	return wpm.MapCodes(ctx, p)
}

// listed answers with a list of codes.
func listed(d *wpm.CodesDesign) (answer, error) {
	box, err := d.Box()
	if err != nil {
		return answer{}, err
	}
	lo, hi := box.Bounds()
	person := d.Person()
	out := designAnswer{
		Epsilon: d.Epsilon.String(), Bits: d.Bits, Gap: d.Gap, Displacement: d.Displacement(), Risk: &d.Risk, Person: &person,
	}
	for _, c := range d.Components {
		if c.Colors > 0 {
			out.Codes++
		} else {
			out.Discs++
		}
	}
	out.made = made{handles.add(d), size{d.Inputs, d.Outputs()}}
	return answer{value: out, out: []array{vector("lo", lo), vector("hi", hi)}}, nil
}

// pairs makes a cost of pairs, as of the command design with -pairs and -with. The answer has their labels, and the form
// that the metadata of their policy have.
func pairs(ctx context.Context, r request) (answer, error) {
	var in struct {
		Sides []struct {
			Name    string      `json:"name"`
			Columns []string    `json:"columns"` // lat, lon; null of the plane
			Labels  []string    `json:"labels"`
			X       [][]float64 `json:"x"`
		} `json:"sides"`
		List [][2]int `json:"list"` // null for all
		With string   `json:"with"`
		P    float64  `json:"p"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	of := places.Pairing{List: in.List}
	for _, s := range in.Sides {
		kind := "points"
		if s.Columns != nil {
			kind = "greatcircle-2"
		}
		if _, err := (cost.Spec{Kind: kind, X: s.X, P: 1}).Build(); err != nil { // pairs check nothing of their places
			return answer{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		of.Sides = append(of.Sides, places.File{Name: s.Name, Points: &costio.Points{Columns: s.Columns, Labels: s.Labels, X: s.X}})
	}
	if in.With != "" {
		var err error
		if of.With, err = places.Category(in.With, of.Sides[0].Geographic()); err != nil {
			return answer{}, fmt.Errorf("category: %w", err)
		}
	}
	g, err := places.Pairs(of, in.P)
	if err != nil {
		return answer{}, err
	}
	spec, err := cost.SpecOf(ctx, g.Cost)
	return answer{value: map[string]any{"cost": spec, "labels": g.Inputs, "pairs": g.Pairs}}, err
}

// costOf writes the cost of a design or a projector into the array C.
func costOf(ctx context.Context, r request) (answer, error) {
	var in handleArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	var c cost.Matrix
	switch v := handles.get(in.Handle).(type) {
	case *wpm.Design:
		c = v.Mechanism().Cost()
	case *wpm.CodesDesign:
		c = v.Cost()
	case projector:
		c = v.cost
	default:
		return answer{}, fmt.Errorf("no object %d: it has been freed", in.Handle)
	}
	k, kv := c.Dims()
	out := r.arrays["C"]
	if out.rows != k || out.cols != kv || len(out.floats) != k*kv {
		return answer{}, fmt.Errorf("the array C is %d x %d, not %d x %d", out.rows, out.cols, k, kv)
	}
	for i := range k {
		if err := ctx.Err(); err != nil {
			return answer{}, err
		}
		row := out.floats[i*kv : (i+1)*kv]
		copy(row, c.Row(i, row)) // a matrix in memory does not use the buffer
	}
	return answer{value: struct{}{}}, nil
}

// rows writes the rows of the mixture mode into the array rows.
func rows(ctx context.Context, r request) (answer, error) {
	var in handleArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	var k, kv int
	var row func(i int, dst []float64)
	switch d := handles.get(in.Handle).(type) {
	case *wpm.Design:
		k, kv = d.Channel().Dims()
		row = func(i int, dst []float64) {
			w := d.Channel().Row(i)
			for j := range dst {
				dst[j] = math.Ldexp(float64(w.At(j)), -w.Bits())
			}
		}
	case *wpm.CodesDesign:
		k, kv, row = d.Inputs, d.Outputs(), d.Shares
	default:
		return answer{}, fmt.Errorf("no design %d: it has been freed", in.Handle)
	}
	out := r.arrays["rows"]
	if out.rows != k || out.cols != kv || len(out.floats) != k*kv {
		return answer{}, fmt.Errorf("the array rows is %d x %d, not %d x %d", out.rows, out.cols, k, kv)
	}
	for i := range k {
		if err := ctx.Err(); err != nil {
			return answer{}, err
		}
		row(i, out.floats[i*kv:][:kv])
	}
	return answer{value: struct{}{}}, nil
}

// publish writes the policy of a design.
func publish(ctx context.Context, r request) (answer, error) {
	var in struct {
		handleArgs
		Mode     string            `json:"mode"`
		Inputs   []string          `json:"inputs"`
		Outputs  []string          `json:"outputs"`
		Geometry string            `json:"geometry"`
		Base     string            `json:"base"`
		Note     string            `json:"note"`
		Metadata map[string]string `json:"metadata"`
		Schedule schedule          `json:"schedule"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	from := policy.Provenance{Note: in.Note}
	var err error
	if from.Geometry, from.GeometryEpsilon, err = places.ParseOrigin(in.Geometry, policy.Public); err != nil {
		return answer{}, fmt.Errorf("geometry: %w", err)
	}
	from.BaseMeasure, from.BaseMeasureEpsilon, err = places.ParseOrigin(in.Base, policy.DataIndependent)
	if err != nil {
		return answer{}, fmt.Errorf("base: %w", err)
	}
	cfg := policy.Config{
		Mode: policy.Mode(in.Mode), Provenance: from, Metadata: in.Metadata,
		InputLabels: in.Inputs, OutputLabels: in.Outputs, InputAliases: places.Aliases(in.Inputs),
		Schedule: ledger.Schedule(in.Schedule),
	}
	var p policy.Policy
	switch d := handles.get(in.Handle).(type) {
	case *wpm.Design:
		p, err = d.Publish(cfg)
	case *wpm.CodesDesign:
		p, err = d.Publish(ctx, cfg)
	default:
		err = fmt.Errorf("no design %d: it has been freed", in.Handle)
	}
	if err != nil {
		return answer{}, err
	}
	text, err := policy.Encode(p)
	return answer{value: map[string]string{"policy": string(text)}}, err
}

// schedule is when clients release, with the names of a policy file.
type schedule struct {
	Epochs ledger.Form `json:"epochs"`
	First  string      `json:"first"`
	Last   string      `json:"last"`
	Period int         `json:"period"`
}

type policyAnswer struct {
	ID       string            `json:"id"`
	Version  int               `json:"version"`
	Epsilon  string            `json:"epsilon"`
	Bits     int               `json:"bits"`
	Mode     string            `json:"mode"`
	K        int               `json:"k"`
	Kv       int               `json:"kv"`
	Inputs   []string          `json:"inputs"`
	Outputs  []string          `json:"outputs"`
	Geometry string            `json:"geometry"`
	Base     string            `json:"base"`
	Note     string            `json:"note"`
	Metadata map[string]string `json:"metadata"`
	Cost     json.RawMessage   `json:"cost"`
	Schedule schedule          `json:"schedule"`
	Codes    int               `json:"codes"` // components of the list: codes, and discs
	Discs    int               `json:"discs"`
	// Of a verification.
	Verified   bool     `json:"verified"`
	Worst      *float64 `json:"worst_case"` // proved by the certificate, if there is one
	WorstInput *int     `json:"worst_input"`
	Lower      *float64 `json:"lower"`
}

// readPolicy reads the text of a policy, which verifies its box and its rows. With verify it does so a second time from
// the beginning, and checks that the rows are the cheapest and that the certificate proves what it states.
func readPolicy(ctx context.Context, r request) (answer, error) {
	var in struct {
		Policy string `json:"policy"`
		Verify bool   `json:"verify"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := policy.Decode([]byte(in.Policy))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	id, box, from := p.ID(), p.Polytope(), p.Provenance()
	out := policyAnswer{
		ID: hex.EncodeToString(id[:]), Version: p.Version(), Epsilon: p.Epsilon().String(), Bits: box.Bits(),
		Mode: string(p.Mode()), K: p.Inputs(), Kv: p.Outputs(), Inputs: p.InputLabels(), Outputs: p.OutputLabels(),
		Geometry: places.FormatOrigin(from.Geometry, from.GeometryEpsilon),
		Base:     places.FormatOrigin(from.BaseMeasure, from.BaseMeasureEpsilon),
		Note:     from.Note, Metadata: p.Metadata(), Cost: p.Cost(), Schedule: schedule(p.Schedule()),
	}
	for _, c := range p.Codes() {
		if c.Colors > 0 {
			out.Codes++
		} else {
			out.Discs++
		}
	}
	if in.Verify {
		if err := out.verify(ctx, p); err != nil {
			if ctx.Err() != nil {
				return answer{}, ctx.Err()
			}
			return answer{}, fmt.Errorf("%w: %w", errRefused, err)
		}
	}
	lo, hi := box.Bounds()
	return answer{value: out, out: []array{vector("lo", lo), vector("hi", hi)}}, nil
}

// readReport says what the command report says of a report.
func readReport(_ context.Context, r request) (answer, error) {
	var in struct {
		Policy string `json:"policy"`
		Report string `json:"report"`
	}
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	p, err := policy.Decode([]byte(in.Policy))
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errRefused, err)
	}
	var report policy.Report
	if err := report.UnmarshalText([]byte(in.Report)); err != nil {
		return answer{}, err
	}
	if err := p.Belongs(report); err != nil {
		return answer{}, err
	}
	j := report.Index()
	if !p.HasCodes() {
		return answer{value: map[string]any{"index": j, "label": p.OutputLabel(j)}}, nil
	}
	return answer{value: struct {
		Index int `json:"index"`
		places.Favoured
	}{j, places.FavouredBy(p, j)}}, nil
}

func (a *policyAnswer) verify(ctx context.Context, p policy.Policy) error {
	if err := policy.Verify(p); err != nil {
		return err
	}
	if err := policy.VerifyRows(ctx, p, 0, p.Inputs()); err != nil {
		return fmt.Errorf("%s; a row is not the cheapest of the box: %w", holds(p), err)
	}
	a.Verified = true
	if len(p.Certificate()) == 0 {
		return nil
	}
	_, bounds, err := certificate.CheckPolicy(ctx, p)
	if err != nil {
		return fmt.Errorf("%s; the certificate does not: %w", holds(p), err)
	}
	a.Worst, a.WorstInput, a.Lower = rounded(bounds.Worst, num.Up), &bounds.Input, rounded(bounds.Lower, num.Down)
	return nil
}

// holds says what a policy keeps although something else that it says is wrong.
func holds(p policy.Policy) string {
	return fmt.Sprintf("privacy holds at eps = %s (%s)", p.Epsilon(), device.InWords(p.Epsilon()))
}

func rounded(x *big.Rat, way func(*big.Rat) float64) *float64 {
	y := way(x)
	return &y
}

type planArgs struct {
	costArgs
	Eps       []string `json:"eps"`
	Devices   []int    `json:"devices"`
	P         float64  `json:"p"`
	Objective string   `json:"objective"`
	Pairs     string   `json:"pairs"`
}

func (a planArgs) check() error {
	if a.Objective != wpm.Uniform.String() && a.Objective != wpm.Map.String() {
		return fmt.Errorf("objective: %.40q is not uniform or map", a.Objective)
	}
	for _, n := range a.Devices {
		if n < 1 || n > plan.MaxDevices {
			return fmt.Errorf("devices: %d is not from 1 to %d", n, plan.MaxDevices)
		}
	}
	return nil
}

// choice is a prediction at one level.
type choice struct {
	Epsilon string `json:"epsilon"`
	plan.Prediction
}

// predict says before any release how good a map will be, for every eps and number of devices.
func predict(ctx context.Context, r request) (answer, error) {
	var in planArgs
	if err := r.decode(&in); err != nil {
		return answer{}, err
	}
	c, err := r.cost(in.Cost)
	if err != nil {
		return answer{}, err
	}
	if err := in.check(); err != nil {
		return answer{}, err
	}
	if p, ok := cost.Exponent(c); ok {
		in.P = p
	}
	planner, err := plan.New(ctx, plan.Problem{Cost: c, P: in.P, Prior: r.floats("prior")})
	if errors.Is(err, estimate.ErrNoGeometry) {
		err = fmt.Errorf("a map needs distances between inputs, as of points, a grid, a ring or a symmetric matrix: %w", err)
	}
	if err != nil {
		return answer{}, err
	}
	choices := []choice{}
	for _, eps := range in.Eps {
		row, err := in.at(ctx, planner, c, eps, r.floats("prior"))
		if err != nil {
			return answer{}, fmt.Errorf("eps %.40s: %w", eps, err)
		}
		choices = append(choices, row...)
	}
	return answer{value: choices}, nil
}

// at predicts for every number of devices at one level.
func (a planArgs) at(ctx context.Context, planner *plan.Planner, c cost.Matrix, level string, prior []float64) (
	out []choice, err error) {
	eps, err := ldp.ParseEpsilon(level)
	if err != nil {
		return nil, err
	}
	var m *plan.Mechanism
	for _, n := range a.Devices {
		o := wpm.Objective{Kind: kinds[a.Objective]}
		if o.Kind == wpm.Map {
			o.Devices = n
		}
		if m == nil || o.Kind == wpm.Map {
			if m, err = mechanismOf(ctx, planner, c, eps, o, prior, a.Pairs != ""); err != nil {
				return nil, err
			}
		}
		p, err := m.Predict(ctx, n, estimate.Settings{})
		if err != nil {
			return nil, err
		}
		out = append(out, choice{eps.String(), p})
	}
	return out, nil
}

// mechanismOf designs what design does, for a forecast.
func mechanismOf(ctx context.Context, planner *plan.Planner, c cost.Matrix, eps ldp.Epsilon, o wpm.Objective,
	prior []float64, pairs bool) (*plan.Mechanism, error) {
	if o.Kind == wpm.Map && !pairs {
		codes, err := mapCodes(ctx, c, channel.Problem{Prior: prior, Epsilon: eps, Devices: int64(o.Devices)})
		switch {
		case err != nil:
			return nil, err
		case codes != nil && codes.List():
			rows, err := codes.Channel()
			if err != nil {
				return nil, err
			}
			return planner.Channel(rows, codes.Person().Share)
		case codes != nil:
			o.Disc = codes.Disc
		}
	}
	d, err := wpm.NewDesign(ctx, c, eps, o)
	if err != nil {
		return nil, err
	}
	return planner.Design(ctx, d.Channel().Row, d.Publish)
}
