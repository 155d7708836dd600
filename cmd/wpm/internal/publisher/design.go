// Package publisher has the commands that make policies: design, and sphere for codebooks.
package publisher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/geometry"
	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate"
	forecasts "github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Design is the command design.
func Design() *cli.Command {
	return &cli.Command{
		Name:  "design",
		Usage: "design a mechanism and write it as a policy file",
		Description: "The base measure is uniform, at its exact best scale, unless -objective says otherwise. The worst case\n" +
			"over all private distributions is certified, beside a lower bound that no eps-LDP mechanism beats. The\n" +
			"policy goes to -out. A card goes to standard output, or to -card; -json makes it JSON. It has the numbers\n" +
			"that were used, and those of the other designs.\n" +
			"Points, cost and eps must not depend on private data. -geometry and -base state that they do not, or at\n" +
			"what price, and the policy carries the statement. Without them it says \"unstated\", and every reader is\n" +
			"warned.",
		Flags: append(append(geometry.Flags(), objectiveFlags()...),
			&cli.StringFlag{Name: "eps", Usage: "privacy level, an exact decimal or fraction: `EPS`, as 0.5 or 1/3"},
			&cli.IntFlag{Name: "bits", Value: wpm.DefaultBits, Usage: "weights are integers that sum to 2^`B`"},
			&cli.StringFlag{Name: "mode", Value: "mixture",
				Usage: "what clients do: mixture (no solver on the device) or projection"},
			&cli.DurationFlag{Name: "work-limit", DefaultText: "10s in projection mode",
				Usage: "with -mode projection: when a client gives up its solver"},
			&cli.StringFlag{Name: "title", Usage: "what the mechanism is for; goes into the policy"},
			&cli.IntFlag{Name: "period", DefaultText: "none",
				Usage: "a device reports once in `T` epochs, in a slot that it draws: any T in a row cost eps together; needs -epochs"},
			&cli.StringFlag{Name: "epochs", Usage: "`FORM` of the epochs: year, month, week or day, in UTC"},
			&cli.StringFlag{Name: "first", Usage: "first `EPOCH` of the policy, as 2026-01; needs -epochs"},
			&cli.StringFlag{Name: "last", Usage: "last `EPOCH` of the policy, after which every device refuses it; needs -epochs"},
			&cli.StringFlag{Name: "geometry",
				Usage: "where points and cost come from: `ORIGIN` public, or derived-dp:EPS for what private data gave under differential privacy"},
			&cli.StringFlag{Name: "base",
				Usage: "where the base measure comes from: `ORIGIN` data-independent, or derived-dp:EPS"},
			&cli.StringFlag{Name: "note", Usage: "more about that, one line; goes into the policy's provenance"},
			&cli.StringFlag{Name: "table",
				Usage: "also tabulate worst cases at these `EPS,EPS,...` (default: around -eps, up to 2^20 entries of the cost); " +
					"\"none\" to leave it out"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"},
				Usage: "policy `FILE` to write (required; - is standard output)"},
			&cli.StringFlag{Name: "card", Usage: "write the card to `FILE` instead of standard output"},
			&cli.BoolFlag{Name: "force", Usage: forceUsage},
			&cli.BoolFlag{Name: "json", Usage: "the card as JSON"},
		),
		Metadata:     shell.Renamed("weights", "-prior"),
		OnUsageError: shell.UsageError,
		Action:       design,
	}
}

// Example is a design that works anywhere.
const Example = "wpm design -grid 20x20 -eps 2 -geometry public -base data-independent -o policy.json"

// maxCells is the number of entries of the cost up to which the table is made without being asked for: it sorts them
// all.
const maxCells = 1 << 20

func design(ctx context.Context, c *cli.Command) error {
	plan, err := readDesign(c)
	if err != nil {
		return err
	}
	if err := keepPublished(c, plan.out); err != nil {
		return err
	}
	if done, err := plan.listed(ctx, c); done || err != nil {
		return err
	}
	plan.objective.Step = shell.Progress(c.Root().ErrWriter)
	d, err := wpm.NewDesign(ctx, plan.geometry.Cost, plan.eps, plan.objective)
	if err != nil {
		return fmt.Errorf("-objective %v: %w", plan.objective.Kind, err)
	}
	p, encoded, err := plan.publish(c, d)
	if err != nil {
		return err
	}
	prospect, err := planning.Foresee(ctx, c, plan.geometry, plan.eps, plan.objective.Kind, d, nil)
	if err != nil {
		return err
	}
	text, err := plan.describe(ctx, c, d, p, len(encoded), prospect)
	if err != nil {
		return err
	}
	return plan.write(c, p, encoded, text)
}

// write writes the policy and its card, and warns of what its publisher left open.
func (plan designPlan) write(c *cli.Command, p policy.Policy, encoded, text []byte) error {
	if err := device.WriteFiles(c.Root().Writer, device.Output{Path: plan.out, Data: encoded},
		device.Output{Path: plan.card, Data: text}); err != nil {
		return err
	}
	published.Env(c).Warn(p)
	published.Env(c).WarnFormulas(p)
	return nil
}

// readDesign reads the flags and the files that they name.
func readDesign(c *cli.Command) (plan designPlan, err error) {
	if plan.out, plan.card, err = designOutputs(c); err != nil {
		return plan, err
	}
	if err := shell.Positive(c, "bits", "ring", "devices"); err != nil {
		return plan, err
	}
	if err := checkDevices(c); err != nil {
		return plan, err
	}
	if plan.eps, err = ldp.ParseEpsilon(c.String("eps")); err != nil {
		return plan, fmt.Errorf("-eps: %w", err)
	}
	if plan.provenance, err = readProvenance(c); err != nil {
		return plan, err
	}
	if plan.schedule, err = readSchedule(c); err != nil {
		return plan, err
	}
	if plan.table, err = tableEpsilons(c.String("table"), plan.eps); err != nil {
		return plan, err
	}
	if plan.geometry, err = geometry.Read(c); err != nil {
		return plan, err
	}
	if err := wpm.CheckFileSize(plan.geometry.Cost); err != nil {
		return plan, err
	}
	if plan.objective, plan.menu, plan.noMenu, err = readObjectives(c, plan.geometry); err != nil {
		return plan, err
	}
	k, kv := plan.geometry.Cost.Dims()
	if !c.IsSet("table") && k > maxCells/kv {
		plan.table, plan.noTable = nil, true
	}
	if (plan.table != nil || plan.menu != nil) && int64(k) > wpm.MaxTable/int64(kv) {
		return plan, fmt.Errorf("-table and -menu sort all costs, %d x %d here, at most %d: leave them out", k, kv,
			wpm.MaxTable)
	}
	plan.objective.Options.Bits = c.Int("bits")
	return plan, nil
}

// checkDevices checks what goes with -devices.
func checkDevices(c *cli.Command) error {
	switch given := c.IsSet("devices"); {
	case !given && objective(c) == wpm.Map.String():
		return errors.New("-objective map needs -devices N")
	case !given && c.IsSet("prior") && c.String("menu") == "no" && !weighted(objective(c)):
		return errors.New("-prior goes with -devices, with -objective average or mixed, or with -menu")
	case given && c.String("mode") == string(policy.Projection):
		return errors.New("-devices does not go with -mode projection, whose releases do not say what the map is")
	case given && c.Int("devices") > forecasts.MaxDevices:
		return fmt.Errorf("-devices: %d is more than %d", c.Int("devices"), forecasts.MaxDevices)
	}
	return planning.PriorApart(c)
}

// weighted reports whether an objective has weights of the inputs.
func weighted(objective string) bool {
	return objective == wpm.Average.String() || objective == wpm.Mixed.String()
}

// designOutputs returns where the policy and the card go.
func designOutputs(c *cli.Command) (out, card string, err error) {
	if err := shell.NoArgs(c); err != nil {
		return "", "", err
	}
	var missing []string
	if !c.IsSet("eps") {
		missing = append(missing, "-eps EPS")
	}
	if !c.IsSet("out") {
		missing = append(missing, "-out FILE")
	}
	if !slices.ContainsFunc(geometry.Ways, c.IsSet) {
		missing = append(missing, geometry.Asked)
	}
	if missing != nil {
		return "", "", fmt.Errorf("design needs %s; try: %s", strings.Join(missing, " and "),
			Example)
	}
	out, card = c.String("out"), "-"
	if c.IsSet("card") {
		card = c.String("card")
	}
	if out == "-" && card == "-" {
		return "", "", errors.New("with -out - the card needs a file: -card FILE")
	}
	return out, card, device.Apart([]string{out, card}, append(geometry.Files(c), c.String("prior")))
}

// publish makes the policy and its text.
func (plan designPlan) publish(c *cli.Command, d *wpm.Design) (policy.Policy, []byte, error) {
	cfg := plan.config(c)
	cfg.Mode, cfg.WorkLimit = policy.Mode(c.String("mode")), c.Duration("work-limit")
	cfg.OutputLabels = plan.geometry.Outputs
	p, err := d.Publish(cfg)
	if err == nil && plan.geometry.Pairs != "" && cfg.Mode == policy.Mixture {
		err = mappable(p, estimate.MaxRuns)
	}
	return checked(p, err)
}

// config is what the flags say of any policy.
func (plan designPlan) config(c *cli.Command) policy.Config {
	g := plan.geometry
	meta := map[string]string{"unit of privacy": "the whole distribution of one client"}
	if t := c.String("title"); t != "" {
		meta["title"] = t
	}
	if g.Pairs != "" {
		meta[plane.PairsKey] = g.Pairs
	}
	return policy.Config{
		InputLabels: g.Inputs, InputAliases: places.Aliases(g.Inputs), Provenance: plan.provenance, Metadata: meta,
		Schedule: plan.schedule,
	}
}

// checked returns the text of a policy. It never returns what would not verify, or what a client would refuse.
func checked(p policy.Policy, err error) (policy.Policy, []byte, error) {
	if err != nil {
		return p, nil, err
	}
	if err := policy.Verify(p); err != nil {
		return p, nil, err
	}
	if err := published.Admit(p); err != nil {
		return p, nil, err
	}
	encoded, err := policy.Encode(p)
	return p, encoded, err
}

// describe writes the card.
func (plan designPlan) describe(ctx context.Context, c *cli.Command, d *wpm.Design, p policy.Policy, bytes int,
	prospect *planning.Prospect) ([]byte, error) {
	g, base := plan.geometry, d.Base()
	g.Cost = d.Mechanism().Cost() // of the places as published
	card := DesignCard{
		Head: plan.head(c, p, p.Polytope().Bits(), bytes, prospect), P: g.Unit.P,
		Design: base.WorstCase, Lower: d.Lower(), Mass: base.Mass, Gap: d.Gap(), AskedGap: plan.objective.Gap,
		Nonzeros: base.Nonzeros, Even: d.Even(), Disc: d.Disc(), kind: plan.objective.Kind,
	}
	worst, input := d.WorstCase()
	card.Upper, card.WorstInput = worst, p.InputLabel(input)
	var err error
	if card.patches, err = published.Alike(ctx, p); err != nil {
		return nil, err
	}
	card.Alike = card.patches.Shared()
	if geometry := p.Geometry(); geometry != nil && geometry.Kind == policy.Points {
		moved := d.Displacement()
		card.Displacement, card.metric = &moved, g.Metric()
	}
	card.noTable, card.noMenu = plan.noTable, plan.noMenu
	if p.Mode() == policy.Projection {
		if card.Rounding, err = d.Mechanism().RoundingCost(ctx); err != nil {
			return nil, err
		}
	}
	if len(plan.table) > 0 || plan.menu != nil {
		sorted, err := knapsack.New(ctx, g.Cost) // once for all levels
		if err != nil {
			return nil, err
		}
		tick := shell.Progress(c.Root().ErrWriter)
		if card.Table, err = compare(ctx, g, sorted, plan.table, tick); err != nil {
			return nil, err
		}
		if card.Menu, err = plan.compareDesigns(ctx, sorted, tick); err != nil {
			return nil, err
		}
	}
	for _, r := range card.Table { // a bound at a larger eps holds at a smaller one
		if r.eps.Cmp(plan.eps) >= 0 {
			card.Lower = max(card.Lower, r.Lower)
		}
	}
	return card.render(c.Bool("json"))
}

// tableEpsilons returns the levels of the card's table: those asked for, or a quarter to twice eps.
func tableEpsilons(list string, eps ldp.Epsilon) ([]ldp.Epsilon, error) {
	if list == "none" {
		return nil, nil
	}
	var out []ldp.Epsilon
	if list == "" {
		for _, f := range []struct{ num, den int64 }{{1, 4}, {1, 2}, {1, 1}, {3, 2}, {2, 1}} {
			if e, err := scaled(eps, f.num, f.den); err == nil {
				out = append(out, e)
			}
		}
		return out, nil
	}
	for _, s := range strings.Split(list, ",") {
		e, err := ldp.ParseEpsilon(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("-table: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// readSchedule reads when clients release.
func readSchedule(c *cli.Command) (ledger.Schedule, error) {
	s := ledger.Schedule{Epochs: ledger.Form(c.String("epochs")), First: c.String("first"), Last: c.String("last"),
		Period: c.Int("period")}
	if c.IsSet("period") && s.Period == 0 {
		return s, fmt.Errorf("-period: 0, want 2 to %d", ledger.MaxPeriod)
	}
	if s.Epochs == ledger.Free && s != (ledger.Schedule{}) {
		return s, errors.New("-period, -first and -last need -epochs FORM: year, month, week or day")
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("-epochs, -first, -last, -period: %w", err)
	}
	return s, nil
}

// readProvenance reads what the flags of design state.
func readProvenance(c *cli.Command) (policy.Provenance, error) {
	p := policy.Provenance{Note: c.String("note")}
	var err, err2 error
	if p.Geometry, p.GeometryEpsilon, err = places.ParseOrigin(c.String("geometry"), policy.Public); err != nil {
		err = fmt.Errorf("-geometry: %w", err)
	}
	if p.BaseMeasure, p.BaseMeasureEpsilon, err2 = places.ParseOrigin(c.String("base"),
		policy.DataIndependent); err2 != nil {
		err2 = fmt.Errorf("-base: %w", err2)
	}
	return p, errors.Join(err, err2)
}
