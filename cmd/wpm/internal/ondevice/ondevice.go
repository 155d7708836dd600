// Package ondevice has the commands of package device, with what a device need not have: the cost and its claims, a
// solver, and codebooks.
package ondevice

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
)

// opener reads a policy of any kind.
type opener = func(data []byte) (device.Mechanism, error)

// adder adds flags to a command, and returns what reads a policy once they are set.
type adder = func(*device.Command) opener

// Command makes a command of one of package device. about is more for its help; more may be nil.
func Command(model func(*device.Env) *device.Command, about string, more adder) *cli.Command {
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
			command := prepare(published.Env(c))
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

// Verify is the command verify.
func Verify() *cli.Command {
	return Command(device.VerifyCommand,
		"A policy whose cost cannot be built or has another size is status 1, too: wpm release would refuse it.\n"+
			"Then it recomputes what the policy claims about utility, exactly, if the cost matrix has at most 2^29\n"+
			"entries; a false claim is status 1, though it costs nobody's privacy. The policy of a codebook (wpm sphere\n"+
			"-out) has a box and no claims.",
		func(c *device.Command) opener {
			var o published.Options
			c.Flags.BoolVar(&o.Utility, "utility", false,
				"recompute the utility claims of a larger matrix, too: some 20 s for each 2^30 entries of places")
			c.Flags.Func("devices", "say what the reports of `N` devices, of one epoch or slot, guarantee together if they are only summed",
				func(s string) (err error) {
					if o.Devices, err = strconv.Atoi(s); err != nil || o.Devices < 1 {
						return fmt.Errorf("%.40q is not a number of devices", s)
					}
					return nil
				})
			c.Flags.Func("delta", "the `DELTA` of -devices (default: 1e-6, or 1/(10 N) where that is less)", func(s string) (err error) {
				o.Delta, err = planning.Delta(s)
				return err
			})
			return func(data []byte) (device.Mechanism, error) {
				o.PrivacyOnly = c.Flags.Lookup("privacy-only").Value.String() == "true"
				return o.Open(data)
			}
		})
}

// Check is the command check. Certificates, which it took once, are certify's.
func Check() *cli.Command {
	c := Command(device.CheckCommand, "Here COUNTS must be named: - is standard input. For certificates, see wpm certify.", nil)
	do := c.Action
	c.ArgsUsage = "POLICY COUNTS"
	c.Metadata["renamed -json"], c.Metadata["renamed -cost"] = certify+" -json", certify+" -cost"
	c.Action = func(ctx context.Context, c *cli.Command) error {
		if c.Args().Len() == 1 {
			return fmt.Errorf("check takes a policy and private counts, - for standard input; certificates are for %q", certify)
		}
		err := do(ctx, c)
		if first := c.Args().First(); err != nil && !errors.Is(err, device.ErrNo) && first != "-" {
			if _, other := published.Env(c).OpenPolicy(first); other != nil {
				return fmt.Errorf("%w; certificates are for %q", err, certify)
			}
		}
		return err
	}
	return c
}

const certify = "wpm certify"

// Release is the command release.
func Release() *cli.Command {
	return Command(device.ReleaseCommand,
		"The policy of a codebook (wpm sphere -out) takes vectors instead: lines weight,x1,...,x(d+1), plain or gzipped.\n"+
			"In projection mode the solver is a process of its own: if it fails, the draw is from the policy's rows or the\n"+
			"fallback.",
		func(c *device.Command) opener {
			var o published.Options
			usage := "`NAME` of what finds the projection: " + wpm.Solvers + " (default: exact)"
			c.Flags.Func("solver", usage, func(s string) (err error) {
				o.SolverGiven = true
				o.Solver, err = wpm.ParseSolver(s)
				return err
			})
			return func(data []byte) (device.Mechanism, error) { return o.Open(data) }
		})
}
