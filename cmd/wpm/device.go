package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// The commands of package device, with what a device need not have: the cost and its claims, a solver, and codebooks.

// maxUtility is the largest cost matrix that other commands recompute claims of, or write out. A test lowers it.
var maxUtility = 1 << 24

// opener reads a policy of any kind.
type opener = func(data []byte) (device.Mechanism, error)

// adder adds flags to a command, and returns what reads a policy once they are set.
type adder = func(*device.Command) opener

// deviceCommand makes a command of one of package device. about is more for its help; more may be nil.
func deviceCommand(model func(*device.Env) *device.Command, about string, more adder) *cli.Command {
	prepare := func(e *device.Env) *device.Command {
		command := model(e)
		if more != nil {
			e.Open = more(command)
		}
		return command
	}
	shown := prepare(&device.Env{})
	out := &cli.Command{
		Name: shown.Name, Usage: shown.Summary, ArgsUsage: shown.Args, OnUsageError: shell.UsageError,
		Description: strings.TrimSpace(shown.About + "\n" + about),
		Metadata:    map[string]any{manual.ModelExamples: shown.Examples},
		Action: func(ctx context.Context, c *cli.Command) (err error) {
			command := prepare(env(c))
			command.Flags.VisitAll(func(f *flag.Flag) {
				if err != nil || !c.IsSet(f.Name) {
					return
				}
				if err = command.Flags.Set(f.Name, fmt.Sprint(c.Value(f.Name))); err != nil {
					err = fmt.Errorf("-%s: %w", f.Name, err)
				}
			})
			if err != nil {
				return err
			}
			return command.Do(ctx, c.Args().Slice())
		},
	}
	shown.Flags.VisitAll(func(f *flag.Flag) {
		if device.IsBool(f.Value) {
			out.Flags = append(out.Flags, &cli.BoolFlag{Name: f.Name, Usage: f.Usage})
		} else {
			out.Flags = append(out.Flags, &cli.StringFlag{Name: f.Name, Usage: f.Usage, Value: f.DefValue})
		}
	})
	return out
}

// env is what a command runs in.
func env(c *cli.Command) *device.Env {
	root := c.Root()
	return &device.Env{Program: program, In: root.Reader, Out: root.Writer, Err: root.ErrWriter, Open: options{}.open}
}

func verifyCommand() *cli.Command {
	return deviceCommand(device.VerifyCommand,
		"A policy whose cost cannot be built or has another size is status 1, too: wpm release would refuse it.\n"+
			"Then it recomputes what the policy claims about utility, exactly, if the cost matrix has at most 2^29\n"+
			"entries; a false claim is status 1, though it costs nobody's privacy. The policy of a codebook (wpm sphere\n"+
			"-out) has a box and no claims.",
		func(c *device.Command) opener {
			var o options
			c.Flags.BoolVar(&o.utility, "utility", false,
				"recompute the utility claims of a larger matrix, too: some 20 s for each 2^30 entries of places")
			return func(data []byte) (device.Mechanism, error) {
				o.privacyOnly = c.Flags.Lookup("privacy-only").Value.String() == "true"
				return o.open(data)
			}
		})
}

func releaseCommand() *cli.Command {
	return deviceCommand(device.ReleaseCommand,
		"The policy of a codebook (wpm sphere -out) takes vectors instead: lines weight,x1,...,x(d+1), plain or gzipped.\n"+
			"In projection mode the solver is a process of its own: if it fails, the draw is from the policy's rows or the\n"+
			"fallback.",
		func(c *device.Command) opener {
			var o options
			usage := "`NAME` of what finds the projection: " + wpm.Solvers + " (default: exact)"
			c.Flags.Func("solver", usage, func(s string) (err error) {
				o.solverGiven = true
				o.solver, err = wpm.ParseSolver(s)
				return err
			})
			return func(data []byte) (device.Mechanism, error) { return o.open(data) }
		})
}

// quickUtility is the largest cost matrix for which verify recomputes the utility claims unasked: some seconds. A test
// lowers it.
var quickUtility = 1 << 29

// options are what flags say of the use of a policy.
type options struct {
	privacyOnly, utility bool // of verify
	solver               wpm.Solver
	solverGiven          bool
}

// open reads a policy of either kind.
func (o options) open(data []byte) (device.Mechanism, error) {
	if o.utility && o.privacyOnly {
		return nil, errors.New("-utility does not go with -privacy-only")
	}
	if codebook.IsPolicy(data) {
		switch b, err := codebook.Decode(data); {
		case err == nil && o.utility:
			return nil, errors.New("-utility: a codebook's policy claims none; \"wpm sphere -prove\" bounds the optimum")
		case err == nil && o.solverGiven:
			return nil, errors.New("-solver: a codebook has one of its own")
		default:
			return vectors{b}, err
		}
	}
	p, err := policy.Decode(data)
	return points{device.Points{Policy: p, VerifyRows: audit.Thresholds}, o}, err
}

// errVectors is for a command that takes a policy of points alone.
var errVectors = errors.New("a codebook's policy, which this command does not take; " +
	"see wpm release, verify, audit, aggregate, report")

// points is a policy of points with its cost.
type points struct {
	device.Points
	options
}

// admit refuses a policy that no client could use. It is the same for everyone who gets a policy: design before it is
// written, verify, audit, and release before anything is paid.
func admit(p policy.Policy) error {
	if err := wpm.CheckCost(p); err != nil {
		return fmt.Errorf("no client can use the cost in this policy: %w", err)
	}
	return nil
}

// Verify decides what the policy claims about utility, too.
func (p points) Verify(ctx context.Context) (device.Verdict, error) {
	v, err := p.Points.Verify(ctx)
	if err == nil {
		err = admit(p.Policy)
	}
	if err != nil {
		return v, err
	}
	utility := "not checked (-utility does)"
	switch {
	case len(p.Certificate()) == 0:
		utility = "no claims"
	case p.utility || !p.privacyOnly && p.Inputs() <= quickUtility/p.Outputs():
		_, bounds, err := certificate.CheckPolicy(ctx, p.Policy)
		if err != nil {
			return v, fmt.Errorf("privacy holds, but not what the policy says of its utility: %w", err)
		}
		worst, _ := bounds.Worst.Float64()
		least, _ := bounds.Lower.Float64()
		u := places.UnitOfPolicy(p.Policy)
		utility = fmt.Sprintf("worst case %.10g %s%s, at input %q; at least %.10g for any mechanism; "+
			"recomputed, the stated bounds hold", worst, u.Costs(), u.Root(worst), p.InputLabel(bounds.Input), least)
	}
	delete(v.JSON, "cost")
	v.Claims, v.JSON["utility"] = "utility: "+utility+"\n", utility
	return v, nil
}

// Prepare finds the solver, which a release starts in a process of its own.
func (p points) Prepare() (device.Release, error) {
	if err := admit(p.Policy); err != nil {
		return device.Release{}, fmt.Errorf("%w: %w", err, device.ErrNo)
	}
	if p.Mode() == policy.Mixture {
		return p.Released(nil), nil
	}
	by, err := projector(p.Policy, p.solver)
	if err != nil {
		return device.Release{}, err
	}
	return p.Released(by), nil
}

// Check names the label that may have been meant.
func (p points) Check(private []byte) error {
	err := p.Points.Check(private)
	if hint := places.LabelHint(p.Policy, private, err); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// vectors is the policy of a codebook.
type vectors struct{ *codebook.Codebook }

// Verify checks the box and the solver's numbers that it comes from.
func (v vectors) Verify(context.Context) (device.Verdict, error) {
	if err := codebook.Verify(v.Codebook); err != nil {
		return device.Verdict{}, err
	}
	cfg := v.Config()
	return device.Verdict{
		Size: fmt.Sprintf("for up to %d vectors of %d coordinates, %d points, %d high",
			cfg.Atoms, cfg.Dim+1, cfg.Points, cfg.High),
		Bits: cfg.Bits, Form: "codebook, seed " + v.seedText(),
		JSON: map[string]any{
			"mode": "codebook", "seed": v.seedText(), "dimension": cfg.Dim, "p": cfg.P,
			"points": cfg.Points, "high": cfg.High, "atoms": cfg.Atoms,
		},
	}, nil
}

// Prepare has nothing to do.
func (v vectors) Prepare() (device.Release, error) {
	return device.Release{Draw: func(ctx context.Context, l policy.Ledger, private []byte) (device.Report, error) {
		return codebook.Release(ctx, v.Codebook, l, private)
	}}, nil
}

// Check reads the data as a release does.
func (v vectors) Check(private []byte) error { return v.CheckPrivate(private) }

// seedText is the seed of the candidates, or fresh.
func (v vectors) seedText() string {
	if v.Fresh() {
		return "fresh"
	}
	seed := v.Config().Seed
	return hex.EncodeToString(seed[:])
}
