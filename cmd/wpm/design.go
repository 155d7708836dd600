package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func designCommand() *cli.Command {
	return &cli.Command{
		Name:  "design",
		Usage: "design a mechanism and write it as a policy file",
		Description: "The base measure is uniform at its exact best scale. The worst case over all private distributions is certified,\n" +
			"beside a lower bound that no eps-LDP mechanism beats. The policy goes to -out; a card with the numbers really used\n" +
			"goes to standard output (or to -card), and so does -json.\n" +
			"Everything that goes in is taken to be public: points, cost and eps must not depend on private data.",
		Flags: append(geometryFlags(),
			&cli.StringFlag{Name: "eps", Usage: "privacy level, an exact decimal or fraction: `EPS`, as 0.5 or 1/3"},
			&cli.IntFlag{Name: "bits", Value: wpm.DefaultBits, Usage: "weights are integers that sum to 2^`B`"},
			&cli.StringFlag{Name: "mode", Value: "mixture", Usage: "what clients do: mixture (no solver on the device) or projection"},
			&cli.DurationFlag{Name: "work-limit", Usage: "with -mode projection: when a client gives up its solver (default 10s)"},
			&cli.StringFlag{Name: "title", Usage: "what the mechanism is for; goes into the policy"},
			&cli.StringFlag{Name: "note", Usage: "where the geometry comes from; goes into the policy's provenance"},
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
	if c.String("out") == "-" && !c.IsSet("card") {
		return errors.New("with -out - the card needs a file: -card FILE")
	}
	eps, err := ldp.ParseEpsilon(c.String("eps"))
	if err != nil {
		return fmt.Errorf("-eps: %w", err)
	}
	table, err := tableEpsilons(c.String("table"), eps)
	if err != nil {
		return err
	}
	g, err := readGeometry(c)
	if err != nil {
		return err
	}
	m, base, err := wpm.Uniform(ctx, g.cost, eps, wpm.Options{Bits: c.Int("bits")})
	if err != nil {
		return err
	}
	certificate, err := wpm.Certificate("uniform", base)
	if err != nil {
		return err
	}
	mode := policy.Mode(c.String("mode"))
	var limit time.Duration
	if c.IsSet("work-limit") {
		limit = c.Duration("work-limit")
	}
	meta := map[string]string{"unit of privacy": "the whole distribution of one client"}
	if t := c.String("title"); t != "" {
		meta["title"] = t
	}
	p, err := m.Publish(ctx, policy.Config{
		Mode: mode, WorkLimit: limit, InputLabels: g.inputs, OutputLabels: g.outputs, Certificate: certificate,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: c.String("note")},
		Metadata:   meta,
	})
	if err != nil {
		return err
	}
	if err := policy.Verify(p); err != nil { // never write what would not verify
		return err
	}
	encoded, err := policy.Encode(p)
	if err != nil {
		return err
	}
	id := p.ID()
	card := designCard{
		Title: c.String("title"), Geometry: g.what, Epsilon: eps.String(), Bits: p.Polytope().Bits(), Mode: string(p.Mode()),
		Inputs: p.Inputs(), Outputs: p.Outputs(), ID: hex.EncodeToString(id[:]), Bytes: len(encoded), P: g.p,
		Worst: base.F, Upper: base.Upper, Lower: base.Lower, WorstInput: p.InputLabel(base.Worst), Mass: base.Mass,
	}
	ch, err := m.Channel(ctx)
	if err != nil {
		return err
	}
	card.Published, _ = ch.Worst()
	if card.Table, err = compare(ctx, g, table, progress(c.Root().ErrWriter)); err != nil {
		return err
	}
	text, err := card.render(c.Bool("json"))
	if err != nil {
		return err
	}
	if err := writeFile(c.String("out"), encoded, c.Root().Writer); err != nil {
		return err
	}
	dst := "-"
	if c.IsSet("card") {
		dst = c.String("card")
	}
	return writeFile(dst, text, c.Root().Writer)
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
