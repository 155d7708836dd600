package published

import (
	"context"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/internal/child"
	"github.com/wpm-go/wpm/policy"
)

// SolverName is what release starts this program with to solve in a process of its own.
const SolverName = "release-solver"

// SolverCommand is the child of release. It is no interface for others: see package child for what it reads.
func SolverCommand() *cli.Command {
	return &cli.Command{
		Name:   SolverName,
		Hidden: true,
		Usage:  "the solver of release, in a process of its own",
		Flags:  []cli.Flag{&cli.StringFlag{Name: "solver", Value: "exact"}},
		Action: func(ctx context.Context, c *cli.Command) error {
			solver, err := wpm.ParseSolver(c.String("solver"))
			if err != nil {
				return err
			}
			load := func(public []byte) (func(context.Context, []float64) ([]float64, error), error) {
				p, err := policy.Decode(public)
				if err != nil {
					return nil, err
				}
				m, err := wpm.Load(ctx, p, wpm.Options{Solver: solver})
				if err != nil {
					return nil, err
				}
				return m.Projector(), nil
			}
			return child.Serve(c.Root().Reader, c.Root().Writer, load)
		},
	}
}
