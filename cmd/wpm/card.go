package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"text/tabwriter"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// designCard is what a person should know about a policy: the numbers really used.
type designCard struct {
	Title      string     `json:"title,omitempty"`
	Geometry   string     `json:"geometry"`
	Epsilon    string     `json:"epsilon"`
	Bits       int        `json:"bits"`
	Mode       string     `json:"mode"`
	Inputs     int        `json:"inputs"`
	Outputs    int        `json:"outputs"`
	ID         string     `json:"id"`
	Bytes      int        `json:"bytes"`
	P          float64    `json:"p,omitempty"`
	Worst      float64    `json:"worst"`     // W_p^p of the base measure
	Upper      float64    `json:"upper"`     // proved
	Lower      float64    `json:"lower"`     // of every eps-LDP mechanism
	Published  float64    `json:"published"` // W_p^p of the integer rows
	WorstInput string     `json:"worst_input"`
	Mass       float64    `json:"mass"`
	Table      []tableRow `json:"table,omitempty"`
}

// tableRow is the worst case W_p^p over all private distributions at one eps. NaN-free: a mechanism that
// does not apply (inputs and outputs differ) is nil.
type tableRow struct {
	Epsilon     string   `json:"epsilon"`
	Lower       float64  `json:"lower"`
	WPM         float64  `json:"wpm"`
	KPM         *float64 `json:"kpm,omitempty"`
	Exponential *float64 `json:"exponential,omitempty"`
	Response    *float64 `json:"response,omitempty"`
}

func scaled(e ldp.Epsilon, num, den int64) (ldp.Epsilon, error) {
	r := e.Rat()
	r.Mul(r, big.NewRat(num, den))
	return ldp.ParseEpsilon(r.RatString())
}

// compare computes the table. The worst case of WPM, of the mixture and of randomised response is over all
// distributions: each is at most linear in mu, so point masses attain it. KPM and the exponential mechanism
// are shown at point masses too: for them it is a lower bound on the worst case.
func compare(ctx context.Context, g geometry, levels []ldp.Epsilon, tick func(done, total int, what string)) ([]tableRow, error) {
	var rows []tableRow
	for n, eps := range levels {
		tick(n, len(levels), "table of worst cases")
		e := eps.Float64()
		base, err := basemeasure.Uniform(ctx, g.cost, e, basemeasure.Settings{})
		if err != nil {
			return nil, err
		}
		row := tableRow{Epsilon: eps.String(), Lower: base.Lower, WPM: base.F}
		if g.sameSupport {
			if row.KPM, row.Exponential, row.Response, err = rivals(g.cost, e); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
		tick(n+1, len(levels), "table of worst cases")
	}
	return rows, nil
}

// rivals returns the worst cost over point masses of what the paper compares with.
func rivals(c cost.Matrix, eps float64) (kpm, exponential, response *float64, err error) {
	k, _ := c.Dims()
	for _, r := range []struct {
		dst **float64
		row func() ([][]float64, error)
	}{
		{&kpm, func() ([][]float64, error) { return baseline.KPMChannel(k, eps) }},
		{&exponential, func() ([][]float64, error) { return baseline.ExponentialChannel(c, eps) }},
		{&response, func() ([][]float64, error) { return baseline.RandomizedResponseChannel(k, eps) }},
	} {
		rows, err := r.row()
		if err != nil {
			return nil, nil, nil, err
		}
		worst, _, err := baseline.WorstCase(c, rows)
		if err != nil {
			return nil, nil, nil, err
		}
		*r.dst = &worst
	}
	return kpm, exponential, response, nil
}

func (d designCard) render(asJSON bool) ([]byte, error) {
	if asJSON {
		b, err := json.MarshalIndent(d, "", "  ")
		return append(b, '\n'), err
	}
	var b bytes.Buffer
	if d.Title != "" {
		fmt.Fprintf(&b, "%s\n\n", d.Title)
	}
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "geometry\t%s\n", d.Geometry)
	fmt.Fprintf(w, "inputs, outputs\t%d, %d\n", d.Inputs, d.Outputs)
	fmt.Fprintf(w, "privacy\t%s-local differential privacy of one client's whole distribution, per release\n", d.Epsilon)
	fmt.Fprintf(w, "\tan output is at most %s times likelier for one client than for another\n", expText(d.Epsilon))
	fmt.Fprintf(w, "mode\t%s\n", d.Mode)
	fmt.Fprintf(w, "probabilities\tmultiples of 2^-%d, drawn with exactly %d random bits\n", d.Bits, d.Bits)
	fmt.Fprintf(w, "base measure\tuniform, mass %.6g\n", d.Mass)
	fmt.Fprintf(w, "worst case\t%s for a client at %q; proved at most %.10g\n", d.amount(d.Worst), d.WorstInput, d.Upper)
	fmt.Fprintf(w, "\tas published, in integers: %.10g\n", d.Published)
	fmt.Fprintf(w, "no mechanism beats\t%s at this eps, whatever its form\n", d.amount(d.Lower))
	fmt.Fprintf(w, "policy\t%d bytes, sha256 %s\n", d.Bytes, d.ID)
	w.Flush()
	if len(d.Table) > 0 {
		fmt.Fprintf(&b, "\nWorst case, cost W^p of the worst point mass:\n\n")
		w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "eps\tlower bound\twpm\tKPM\texponential\trandomised response\t\n")
		for _, r := range d.Table {
			fmt.Fprintf(w, "%s\t%.6g\t%.6g\t%s\t%s\t%s\t\n", r.Epsilon, r.Lower, r.WPM, cell(r.KPM), cell(r.Exponential), cell(r.Response))
		}
		w.Flush()
		fmt.Fprintf(&b, "\nThe lower bound holds for every eps-LDP mechanism.\n")
	}
	fmt.Fprintf(&b, "\nMode mixture needs no solver on the device and does fixed work; its worst case is the same. Mode projection is better for\n"+
		"clients whose distribution is spread out. One release costs %s of a client's budget; releases add up.\n", d.Epsilon)
	return b.Bytes(), nil
}

// amount prints a cost and, where p is known, its distance.
func (d designCard) amount(v float64) string {
	if d.P > 0 && d.P != 1 {
		return fmt.Sprintf("W^p = %.10g (W_%v = %.10g)", v, d.P, math.Pow(v, 1/d.P))
	}
	return fmt.Sprintf("W^p = %.10g", v)
}

func cell(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.6g", *v)
}

func expText(eps string) string {
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("e^%s = %.6g", eps, math.Exp(e.Float64()))
}
