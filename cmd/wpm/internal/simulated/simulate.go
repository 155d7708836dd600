package simulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/internal/simulation"
	"github.com/wpm-go/wpm/policy"
)

// Simulate is the command simulate.
func Simulate() *cli.Command {
	return &cli.Command{
		Name:      "simulate",
		Usage:     "reports of many made-up devices, for planning and tests of load",
		ArgsUsage: "POLICY [USERS]",
		Description: "Draws one report for each device as a release would, on all cores and in one process, from a seed.\n" +
			"USERS is CSV user,label,count, of which the devices take a user each, in turn; or label,count, which all of\n" +
			"them have. Without it a device has -atoms places, drawn uniformly, with counts from 1 to 10.\n" +
			"A simulation keeps nothing private, whatever the policy: the seed tells every draw. There is no ledger. The\n" +
			"first line of the reports marks them as simulated: wpm count takes them only for an epoch that begins with\n" +
			"\"simulation\", and never beside the reports of people.\n" +
			"People who move: with -to FILE -moved 0.05 a twentieth of the devices has the data of FILE. Where the policy\n" +
			"has a period, -epoch simulation-2026-03 makes the reports of that epoch, of the devices with that slot. Slots\n" +
			"and movers are the same for every seed. Give each epoch a seed of its own, or a device has the same luck again.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "what those devices have that have moved: `FILE` in the form of USERS; needs -moved"},
			&cli.FloatFlag{Name: "moved",
				Usage: "`SHARE` of the devices that have moved, from 0 to 1; who has moved at .1 has at .2; needs -to"},
			&cli.StringFlag{Name: "epoch",
				Usage: "only the devices whose slot is this `EPOCH`, such as simulation-2026-03, of a policy with a period"},
			&cli.IntFlag{Name: "devices",
				Usage: "how many; each reports once, with -epoch those of the slot (default: the number of users, or 10000)"},
			&cli.IntFlag{Name: "atoms", Value: 20, Usage: "places of a device, without USERS, at most the inputs"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of all draws; give each epoch another"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "-",
				Usage: "the reports: `FILE`, or - for standard output"},
		},
		OnUsageError: shell.UsageError,
		Action:       simulate,
	}
}

func checkSimulate(c *cli.Command, args []string) error {
	switch {
	case len(args) < 1 || len(args) > 2:
		return errors.New("simulate takes a policy and at most one file of users")
	case shell.CountDashes(append(args, c.String("to"))...) > 1:
		return errors.New("two of policy, users and -to cannot both be standard input")
	case len(args) == 2 && c.IsSet("atoms"):
		return errors.New("-atoms goes without users: they have places of their own")
	}
	if err := shell.Positive(c, "devices", "atoms"); err != nil {
		return err
	}
	return device.Apart([]string{c.String("out")}, append(args, c.String("to")))
}

func simulate(ctx context.Context, c *cli.Command) error {
	args := c.Args().Slice()
	if err := checkSimulate(c, args); err != nil {
		return err
	}
	m, err := (&device.Env{In: c.Root().Reader}).OpenPolicy(args[0])
	if err != nil {
		return err
	}
	p := m.(device.Points).Policy
	cfg := simulation.Config{Policy: p, Devices: c.Int("devices"), Atoms: c.Int("atoms"), Seed: c.Uint64("seed")}
	if !c.IsSet("atoms") {
		cfg.Atoms = min(cfg.Atoms, p.Inputs())
	}
	if len(args) == 2 {
		var table bool
		if cfg.Users, table, err = readUsers(c, args[1], p); err != nil {
			return err
		}
		if !c.IsSet("devices") && !table {
			cfg.Devices = len(cfg.Users)
		}
	}
	if cfg.Devices == 0 {
		cfg.Devices = 10000
	}
	if err := moves(c, p, &cfg); err != nil {
		return err
	}
	bar := shell.Progress(c.Root().ErrWriter)
	cfg.Progress = func(done int) { bar(done, cfg.Devices, "simulating devices") }
	fill := func(w io.Writer) error { return simulation.Run(ctx, cfg, w) }
	if err := device.WriteFiles(c.Root().Writer, device.Output{Path: c.String("out"), Fill: fill}); err != nil {
		return err
	}
	if c.Root().Bool("quiet") {
		return nil
	}
	to := c.Root().Writer
	if c.String("out") == "-" {
		to = c.Root().ErrWriter
	}
	of := ""
	if cfg.Period > 0 {
		of = fmt.Sprintf("those with slot %d of %d among ", cfg.Slot, cfg.Period)
	}
	_, err = fmt.Fprintf(to, "Simulation: reports of %s%d made-up devices, under policy %.6x (%s mode), seed %d.\n",
		of, cfg.Devices, p.ID(), p.Mode(), cfg.Seed)
	return err
}

// moves sets who has moved, and whose slot it is.
func moves(c *cli.Command, p policy.Policy, cfg *simulation.Config) (err error) {
	if c.IsSet("to") != c.IsSet("moved") {
		return errors.New("-to and -moved go together")
	}
	if c.IsSet("to") {
		if cfg.Moved = c.Float("moved"); !(cfg.Moved >= 0 && cfg.Moved <= 1) {
			return fmt.Errorf("-moved: %v is not a share from 0 to 1", cfg.Moved)
		}
		if cfg.To, _, err = readUsers(c, c.String("to"), p); err != nil {
			return err
		}
	}
	if !c.IsSet("epoch") {
		return nil
	}
	if *cfg, err = cfg.In(strings.TrimPrefix(c.String("epoch"), "simulation-")); err != nil {
		return fmt.Errorf("-epoch: %w", err)
	}
	return nil
}

// readUsers reads the users that have counts; table says that there are none, but one table.
func readUsers(c *cli.Command, path string, p policy.Policy) (users []simulation.User, table bool, err error) {
	f, err := device.Open(path, c.Root().Reader)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	counts, err := places.ReadCounts(f, path, places.Labels(p.InputLabel, p.Inputs()))
	if err != nil {
		return nil, false, err
	}
	for _, rows := range counts.ByUser() {
		var u simulation.User
		for _, r := range rows {
			if r.N > 0 {
				u.Inputs, u.Counts = append(u.Inputs, int(r.Label)), append(u.Counts, r.N)
			}
		}
		if len(u.Inputs) > 0 {
			users = append(users, u)
		}
	}
	if len(users) == 0 {
		return nil, false, fmt.Errorf("%s: all counts are zero", path)
	}
	return users, len(counts.Users) == 0, nil
}
