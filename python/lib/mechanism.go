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
	"github.com/wpm-go/wpm/cost"
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

type designAnswer struct {
	made
	Epsilon      string  `json:"epsilon"`
	Bits         int     `json:"bits"`
	WorstCase    float64 `json:"worst_case"`
	WorstInput   int     `json:"worst_input"`
	Lower        float64 `json:"lower"`
	Gap          float64 `json:"gap"`
	Disc         float64 `json:"disc"`
	Displacement float64 `json:"displacement"`
	Certificate  string  `json:"certificate"`
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
	d, err := wpm.NewDesign(ctx, c, eps, o)
	if err != nil {
		return answer{}, err
	}
	k, kv := d.Channel().Dims()
	worst, input := d.WorstCase()
	box := d.Mechanism().Polytope()
	lo, hi := box.Bounds()
	return answer{
		value: designAnswer{
			made: made{handles.add(d), size{k, kv}}, Epsilon: eps.String(), Bits: box.Bits(), WorstCase: worst,
			WorstInput: input,
			Lower:      d.Lower(), Gap: d.Gap(), Disc: d.Disc(), Displacement: d.Displacement(),
			Certificate: string(d.Certificate()),
		},
		out: []array{vector("m", d.Base().M), vector("lo", lo), vector("hi", hi)},
	}, nil
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
	d, err := object[*wpm.Design](in.Handle)
	if err != nil {
		return answer{}, err
	}
	k, kv := d.Channel().Dims()
	out := r.arrays["rows"]
	if out.rows != k || out.cols != kv || len(out.floats) != k*kv {
		return answer{}, fmt.Errorf("the array rows is %d x %d, not %d x %d", out.rows, out.cols, k, kv)
	}
	for i := range k {
		if err := ctx.Err(); err != nil {
			return answer{}, err
		}
		w := d.Channel().Row(i)
		for j := range kv {
			out.floats[i*kv+j] = math.Ldexp(float64(w.At(j)), -w.Bits())
		}
	}
	return answer{value: struct{}{}}, nil
}

// publish writes the policy of a design.
func publish(_ context.Context, r request) (answer, error) {
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
	d, err := object[*wpm.Design](in.Handle)
	if err != nil {
		return answer{}, err
	}
	from := policy.Provenance{Note: in.Note}
	if from.Geometry, from.GeometryEpsilon, err = places.ParseOrigin(in.Geometry, policy.Public); err != nil {
		return answer{}, fmt.Errorf("geometry: %w", err)
	}
	from.BaseMeasure, from.BaseMeasureEpsilon, err = places.ParseOrigin(in.Base, policy.DataIndependent)
	if err != nil {
		return answer{}, fmt.Errorf("base: %w", err)
	}
	p, err := d.Publish(policy.Config{
		Mode: policy.Mode(in.Mode), Provenance: from, Metadata: in.Metadata,
		InputLabels: in.Inputs, OutputLabels: in.Outputs, InputAliases: places.Aliases(in.Inputs),
		Schedule: ledger.Schedule(in.Schedule),
	})
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

func (a *policyAnswer) verify(ctx context.Context, p policy.Policy) error {
	if err := policy.Verify(p); err != nil {
		return err
	}
	if err := policy.VerifyRows(ctx, p, 0, p.Inputs()); err != nil {
		return fmt.Errorf("privacy holds, but a row is not the cheapest of the box: %w", err)
	}
	a.Verified = true
	if len(p.Certificate()) == 0 {
		return nil
	}
	_, bounds, err := certificate.CheckPolicy(ctx, p)
	if err != nil {
		return fmt.Errorf("privacy holds, but the certificate does not: %w", err)
	}
	a.Worst, a.WorstInput, a.Lower = rounded(bounds.Worst, num.Up), &bounds.Input, rounded(bounds.Lower, num.Down)
	return nil
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
		row, err := in.at(ctx, planner, c, eps)
		if err != nil {
			return answer{}, fmt.Errorf("eps %.40s: %w", eps, err)
		}
		choices = append(choices, row...)
	}
	return answer{value: choices}, nil
}

// at predicts for every number of devices at one level.
func (a planArgs) at(ctx context.Context, planner *plan.Planner, c cost.Matrix, level string) (out []choice,
	err error) {
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
			d, err := wpm.NewDesign(ctx, c, eps, o)
			if err != nil {
				return nil, err
			}
			if m, err = planner.Mechanism(d.Channel().Row); err != nil {
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
