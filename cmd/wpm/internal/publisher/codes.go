package publisher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// CodesCard is what a person should know about a policy with codes.
type CodesCard struct {
	Head           // its Objective is map
	Devices int    `json:"devices"`
	Seed    uint64 `json:"seed"`
	Codes   int    `json:"codes"`
	Discs   int    `json:"discs"`
	// Fine is how many of the codes are of single places: without them, some places would have the same report odds.
	Fine int `json:"fine"`
	// Risk is the predicted root risk over that of the best single disc, and Gap how much smaller, relative, that of other
	// weights can be at most, before the root.
	Risk    float64        `json:"risk"`
	Gap     float64        `json:"gap"`
	Person  channel.Person `json:"person"` // what a release says of its owner
	patches string
}

// mostForeseen is the number of places up to which the map is simulated for the card. For 400 places the forecasts take
// a minute or more, and the design a second.
const mostForeseen = 200

// listed designs, publishes and describes a list of codes, if the objective is map and a list is better than a single
// disc. It reports whether that is done. Else it notes the disc.
func (plan *designPlan) listed(ctx context.Context, c *cli.Command) (done bool, err error) {
	if plan.objective.Kind != wpm.Map {
		return false, nil
	}
	shell.Progress(c.Root().ErrWriter)(0, 2, "codes")
	d, err := planning.Codes(ctx, plan.geometry, channel.Problem{
		Prior: plan.objective.Weights, Epsilon: plan.eps, Devices: int64(plan.objective.Devices), Bits: c.Int("bits"),
		Seed: c.Uint64("seed"), MostOutputs: c.Int("outputs-at-most"),
	})
	if errors.Is(err, channel.ErrBits) {
		return false, fmt.Errorf("-bits: %w; take more of them, or -objective uniform", err)
	}
	if d != nil {
		plan.objective.Disc = d.Disc
	}
	if d == nil || err != nil || !d.List() {
		_, kv := plan.geometry.Cost.Dims()
		if most := c.Int("outputs-at-most"); err == nil && most > 0 && kv > most {
			err = fmt.Errorf("-outputs-at-most: no list of %d outputs is better than a disc, which has %d: group places", most, kv)
		}
		return false, err
	}
	if len(plan.table) > 0 && c.IsSet("table") || c.String("menu") == "yes" {
		return false, errors.New("-table and -menu are about worst cases of releases that are places, and the best policy for this map " +
			"has codes, which are not: leave them out, or take -objective uniform")
	}
	p, encoded, err := checked(d.Publish(ctx, plan.config(c)))
	if err != nil {
		return false, err
	}
	var prospect *planning.Prospect
	if p.Inputs() <= mostForeseen {
		if prospect, err = planning.Foresee(ctx, c, plan.geometry, plan.eps, wpm.Map, nil, d); err != nil {
			return false, err
		}
	}
	card, err := plan.portray(ctx, plan.head(c, p, d.Bits, len(encoded), prospect), c.Uint64("seed"), d, p)
	if err != nil {
		return false, err
	}
	text, err := card.render(c.Bool("json"))
	if err != nil {
		return false, err
	}
	return true, plan.write(c, p, encoded, text)
}

func (plan designPlan) portray(ctx context.Context, head Head, seed uint64, d *wpm.CodesDesign,
	p policy.Policy) (CodesCard, error) {
	card := CodesCard{Head: head, Devices: plan.objective.Devices, Seed: seed, Fine: d.Fine, Risk: d.Risk, Gap: d.Gap, Person: d.Person()}
	for _, comp := range d.Components {
		if comp.Colors > 0 {
			card.Codes++
		} else {
			card.Discs++
		}
	}
	if moved := d.Displacement(); moved > 0 {
		card.Displacement, card.metric = &moved, plan.geometry.Metric()
	}
	alike, err := published.Alike(ctx, p)
	card.Alike, card.patches = alike.Shared(), alike.String()
	return card, err
}

func (d CodesCard) render(asJSON bool) ([]byte, error) {
	if asJSON {
		return indented(d)
	}
	var b bytes.Buffer
	d.title(&b)
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	d.Map.Print(w)
	if d.Map == nil {
		fmt.Fprintf(w, "map\tof %s: \"wpm plan -objective map\" simulates it, which takes minutes at this size\n",
			shell.Plural(uint64(d.Devices), "device"))
	}
	if d.patches != "" && (d.Map == nil || d.Map.Prediction == nil) { // which says it with the floor
		fmt.Fprintf(w, "\t%s\n", d.patches)
	}
	d.print(w)
	discs := ""
	if d.Discs > 0 {
		discs = " and " + shell.Plural(uint64(d.Discs), "disc")
	}
	fmt.Fprintf(w, "design\ta list of %s%s, for the map of %s; seed %d\n", shell.Plural(uint64(d.Codes), "code"), discs,
		shell.Plural(uint64(d.Devices), "device"), d.Seed)
	fmt.Fprintf(w, "\tpredicted error of the map: %.3g of that of the best disc; other weights of the list: at least %.3g\n",
		d.Risk, d.Risk*math.Sqrt(1-d.Gap))
	if d.Fine > 0 {
		fmt.Fprintf(w, "\twhy a list: %d of the codes tell places apart that would have the same report odds without them, however many\n"+
			"\tdevices report\n", d.Fine)
	}
	fmt.Fprintf(w, "one person\ta release is a set of places and no place: %.2g %% of all, as a mean\n", 100*d.Person.Share)
	fmt.Fprintf(w, "\tthe place of the owner is in it with probability %.2g; each place in it has odds of up to %s to 1\n",
		d.Person.Own, expText(d.Epsilon))
	fmt.Fprintf(w, "\tthe set is %s from the owner on average; all places are %s\n", d.unit.Distance(d.Person.Far, "%.3g"),
		d.unit.Distance(d.Person.Even, "%.3g"))
	fmt.Fprintf(w, "\t-objective uniform makes releases that are places near the truth\n")
	fmt.Fprintf(w, "policy\t%d bytes, sha256 %s\n", d.Bytes, d.ID)
	w.Flush()
	fmt.Fprintf(&b, "\nA policy with codes has no certificate of a worst case: no release stands for a place. "+
		"Its clients need no solver and make\n"+
		"the same draws for everybody. %s\n", d.price())
	return b.Bytes(), nil
}
