package publisher

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Head is what the card of every design says first.
type Head struct {
	Title    string `json:"title,omitempty"`
	Geometry string `json:"geometry"`
	Epsilon  string `json:"epsilon"`
	Bits     int    `json:"bits"`
	Mode     string `json:"mode"`
	Inputs   int    `json:"inputs"`
	Outputs  int    `json:"outputs"`
	ID       string `json:"id"`
	Bytes    int    `json:"bytes"`
	Schedule string `json:"schedule,omitempty"`
	Unit     string `json:"unit"` // of distances
	// Objective is what the design makes small.
	Objective string             `json:"objective"`
	Map       *planning.Prospect `json:"map,omitempty"` // of -devices
	// Alike is the number of places that no number of devices tells apart from some other.
	Alike int `json:"alike,omitempty"`
	// Displacement is how far a place is at most from where the policy has it, on integer coordinates; nil without places.
	Displacement *float64 `json:"displacement,omitempty"`
	unit         places.Unit
	metric       string // the unit of Displacement
	schedule     ledger.Schedule
}

// head describes a policy of the plan.
func (plan designPlan) head(c *cli.Command, p policy.Policy, bits, bytes int, prospect *planning.Prospect) Head {
	g, id := plan.geometry, p.ID()
	return Head{
		Title: c.String("title"), Geometry: g.What, Epsilon: plan.eps.String(), Bits: bits, Mode: string(p.Mode()),
		Inputs: p.Inputs(), Outputs: p.Outputs(), ID: hex.EncodeToString(id[:]), Bytes: bytes,
		Schedule: device.DescribeSchedule(p.Schedule(), p.Epsilon()), Unit: g.Unit.Name, unit: g.Unit, schedule: p.Schedule(),
		Objective: plan.objective.Kind.String(), Map: prospect,
	}
}

// title begins the text of a card.
func (h Head) title(b *bytes.Buffer) {
	if h.Title != "" {
		fmt.Fprintf(b, "%s\n\n", h.Title)
	}
}

// price says what a release costs over time.
func (h Head) price() string {
	if s := h.schedule; s.Period > 0 {
		return fmt.Sprintf("One release costs %s of what a client may spend in any %d %ss in a row.", h.Epsilon, s.Period,
			s.Epochs)
	}
	return fmt.Sprintf("One release costs %s of a client's budget; releases add up.", h.Epsilon)
}

// print writes the lines from the geometry to the probabilities.
func (h Head) print(w io.Writer) {
	fmt.Fprintf(w, "geometry\t%s\n", h.Geometry)
	fmt.Fprintf(w, "unit\t%v\n", h.unit)
	if h.Displacement != nil {
		fmt.Fprintf(w, "\ton integer coordinates: a place is published within %.2g %s of where it is\n", *h.Displacement,
			h.metric)
	}
	fmt.Fprintf(w, "inputs, outputs\t%d, %d\n", h.Inputs, h.Outputs)
	fmt.Fprintf(w, "privacy\teps = %s, local and pure, for one client's whole distribution, per release\n", h.Epsilon)
	fmt.Fprintf(w, "\tan output is at most %s times likelier for one client than for another\n", expText(h.Epsilon))
	if h.Schedule != "" {
		fmt.Fprintf(w, "schedule\t%s\n", strings.ReplaceAll(h.Schedule, "; ", "\n\t"))
	}
	fmt.Fprintf(w, "mode\t%s\n", h.Mode)
	fmt.Fprintf(w, "probabilities\tmultiples of 2^-%d, drawn with exactly %d random bits\n", h.Bits, h.Bits)
}

// indented is a card as JSON.
func indented(card any) ([]byte, error) {
	b, err := json.MarshalIndent(card, "", "  ")
	return append(b, '\n'), err
}

func expText(eps string) string {
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		return "?"
	}
	return fmt.Sprintf("e^%s = %.6g", eps, math.Exp(e.Float64()))
}

// designPlan is what the flags ask for.
type designPlan struct {
	out, card  string
	eps        ldp.Epsilon
	provenance policy.Provenance
	schedule   ledger.Schedule
	table      []ldp.Epsilon
	geometry   places.Geometry
	objective  wpm.Objective
	menu       []wpm.Objective // to be compared; nil if not
	// Left out for the size of the cost.
	noTable, noMenu bool
}

// MenuRow is one design at one eps.
type MenuRow struct {
	Epsilon  string  `json:"epsilon"`
	Design   string  `json:"design"`
	Worst    float64 `json:"worst"` // over all private distributions; a point mass attains it
	Mean     float64 `json:"mean"`  // over point inputs, by their weights
	Nonzeros int     `json:"nonzeros"`
	Mass     float64 `json:"mass"`
	Gap      float64 `json:"gap"` // certified, of what the design makes small, relative; -1 where that is not a claim
}
