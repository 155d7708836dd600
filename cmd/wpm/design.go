package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func designCommand() *cli.Command {
	return &cli.Command{
		Name:  "design",
		Usage: "design a mechanism and write it as a policy file",
		Description: "The base measure is uniform at its exact best scale, or what -objective says. The worst case over all private\n" +
			"distributions is certified, beside a lower bound that no eps-LDP mechanism beats. The policy goes to -out; a card with\n" +
			"the numbers really used, and what the other designs would give, goes to standard output (or to -card), and so does -json.\n" +
			"Points, cost and eps must not depend on private data. -geometry and -base say that they do not, or at what price; the\n" +
			"policy carries the statement. Without them it says \"unstated\", and whoever reads it is warned.",
		Flags: append(append(geometryFlags(), objectiveFlags()...),
			&cli.StringFlag{Name: "eps", Usage: "privacy level, an exact decimal or fraction: `EPS`, as 0.5 or 1/3"},
			&cli.IntFlag{Name: "bits", Value: wpm.DefaultBits, Usage: "weights are integers that sum to 2^`B`"},
			&cli.StringFlag{Name: "mode", Value: "mixture", Usage: "what clients do: mixture (no solver on the device) or projection"},
			&cli.DurationFlag{Name: "work-limit", DefaultText: "10s in projection mode", Usage: "with -mode projection: when a client gives up its solver"},
			&cli.StringFlag{Name: "title", Usage: "what the mechanism is for; goes into the policy"},
			&cli.StringFlag{Name: "geometry", Usage: "where points and cost come from: `ORIGIN` public, or derived-dp:EPS for what private data gave under differential privacy"},
			&cli.StringFlag{Name: "base", Usage: "where the base measure comes from: `ORIGIN` data-independent, or derived-dp:EPS"},
			&cli.StringFlag{Name: "note", Usage: "more about that, one line; goes into the policy's provenance"},
			&cli.StringFlag{Name: "table", Usage: "also tabulate worst cases at these `EPS,EPS,...` (default: around -eps); \"none\" to leave it out"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "policy `FILE` to write (required; - is standard output)"},
			&cli.StringFlag{Name: "card", Usage: "write the card to `FILE` instead of standard output"},
			&cli.BoolFlag{Name: "json", Usage: "the card as JSON"},
		),
		OnUsageError: usageError,
		Action:       design,
	}
}

func design(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if !c.IsSet("eps") || !c.IsSet("out") {
		return errors.New("design needs -eps and -out")
	}
	card := "-"
	if c.IsSet("card") {
		card = c.String("card")
	}
	if c.String("out") == "-" && card == "-" {
		return errors.New("with -out - the card needs a file: -card FILE")
	}
	err := apart([]string{c.String("out"), card}, []string{c.String("points"), c.String("outputs"), c.String("cost"), c.String("weights")})
	if err != nil {
		return err
	}
	if err := positive(c, "bits", "ring"); err != nil {
		return err
	}
	eps, err := ldp.ParseEpsilon(c.String("eps"))
	if err != nil {
		return fmt.Errorf("-eps: %w", err)
	}
	provenance, err := readProvenance(c)
	if err != nil {
		return err
	}
	table, err := tableEpsilons(c.String("table"), eps)
	if err != nil {
		return err
	}
	g, err := readGeometry(c)
	if err != nil {
		return err
	}
	asked, objectives, err := readObjectives(c, g)
	if err != nil {
		return err
	}
	base, err := solveObjective(ctx, g.cost, eps.Float64(), asked)
	if err != nil {
		return fmt.Errorf("-objective %s: %w", asked.name, err)
	}
	m, err := wpm.New(g.cost, base.M, eps, wpm.Options{Bits: c.Int("bits")})
	if err != nil {
		return err
	}
	evidence, err := m.Certificate(ctx, base)
	if err != nil {
		return err
	}
	mode := policy.Mode(c.String("mode"))
	meta := map[string]string{"unit of privacy": "the whole distribution of one client"}
	if t := c.String("title"); t != "" {
		meta["title"] = t
	}
	p, err := m.Publish(ctx, policy.Config{
		Mode: mode, WorkLimit: c.Duration("work-limit"), InputLabels: g.inputs, OutputLabels: g.outputs, InputAliases: aliasesOf(g.inputs),
		Certificate: evidence, Provenance: provenance, Metadata: meta,
	})
	if err != nil {
		return err
	}
	if err := policy.Verify(p); err != nil { // never write what would not verify
		return err
	}
	if err := (conditions{}).admit(p); err != nil {
		return err
	}
	if p.Inputs()*p.Outputs() <= maxUtility {
		if _, _, err := certificate.CheckPolicy(ctx, p); err != nil {
			return err
		}
	}
	encoded, err := policy.Encode(p)
	if err != nil {
		return err
	}
	id := p.ID()
	d := designCard{
		Title: c.String("title"), Geometry: g.what, Epsilon: eps.String(), Bits: p.Polytope().Bits(), Mode: string(p.Mode()),
		Inputs: p.Inputs(), Outputs: p.Outputs(), ID: hex.EncodeToString(id[:]), Bytes: len(encoded), P: g.unit.p, Unit: g.unit.name, unit: g.unit,
		Design: base.F, Lower: base.Lower, Mass: base.Mass, Objective: asked.name, Nonzeros: base.Nonzeros,
	}
	var worst int
	if d.Upper, worst, err = m.WorstCase(ctx); err != nil {
		return err
	}
	d.WorstInput = p.InputLabel(worst)
	if p.Mode() == policy.Projection {
		d.Rounding = m.RoundingCost()
	}
	if d.Table, err = compare(ctx, g, table, progress(c.Root().ErrWriter)); err != nil {
		return err
	}
	for _, r := range d.Table { // a bound at a larger eps holds at a smaller one
		if e, err := ldp.ParseEpsilon(r.Epsilon); err == nil && e.Cmp(eps) >= 0 {
			d.Lower = max(d.Lower, r.Lower)
		}
	}
	if menu := c.String("menu"); menu == "yes" || menu == "auto" && p.Inputs()*p.Outputs() <= maxMenu {
		levels := table
		if len(levels) == 0 {
			levels = []ldp.Epsilon{eps}
		}
		tick := progress(c.Root().ErrWriter)
		for n, e := range levels {
			tick(n, len(levels), "designs")
			rows, err := compareDesigns(ctx, g.cost, e, objectives)
			if err != nil {
				return err
			}
			d.Menu = append(d.Menu, rows...)
			tick(n+1, len(levels), "designs")
		}
	}
	text, err := d.render(c.Bool("json"))
	if err != nil {
		return err
	}
	if err := writeFiles(c.Root().Writer, output{c.String("out"), encoded}, output{card, text}); err != nil {
		return err
	}
	warn(c.Root().ErrWriter, p)
	return nil
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
