// Package tools has the commands of wpm that need no policy: solvers on lines of JSON and on DIMACS files, and the
// check of certificates.
package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/wpmerr"
)

// Flow is the command flow.
func Flow() *cli.Command {
	return &cli.Command{
		Name:      "flow",
		Usage:     "solve a minimum-cost flow problem: a DIMACS .min file in, the flow and its proof out",
		ArgsUsage: "FILE",
		Description: "Reads \"p min NODES ARCS\", \"n NODE SUPPLY\" and \"a FROM TO LOWER UPPER COST\" (UPPER inf or -1: no bound; LOWER -inf:\n" +
			"no bound) from FILE, or from standard input if it is \"-\", and prints \"s OBJECTIVE\" and \"f FROM TO FLOW\" for every arc.\n" +
			"All integers are exact, or refused as too large. The proof is checked before anything is printed: potentials for an\n" +
			"optimal flow, a cut for a network without a flow, a cycle for one without a cheapest flow. -proof prints it, too, and\n" +
			"of an optimal flow the certificate, which \"wpm certify\" verifies: wpm flow -json -proof FILE | wpm certify -\n" +
			"Exit status: 0 optimal, 1 infeasible or unbounded, 2 bad usage or input.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "proof",
				Usage: "print potentials, cut or cycle, and the certificate of an optimal flow, in comment lines"},
			&cli.BoolFlag{Name: "json",
				Usage: "print the answer with its proof as JSON; nodes and arcs count from 1 (in the certificate, with -proof, from 0)"},
		},
		OnUsageError: shell.UsageError,
		Action:       solveFlow,
	}
}

// flowCard is the answer of "wpm flow -json". Integers may exceed 2^53.
type flowCard struct {
	Status     string     `json:"status"`
	Objective  string     `json:"objective,omitempty"` // it may exceed any word
	Flow       []int64    `json:"flow,omitempty"`
	Potentials []int64    `json:"potentials,omitempty"`
	Cut        []int      `json:"cut,omitempty"`
	Cycle      []flowStep `json:"cycle,omitempty"`
	Pivots     int        `json:"pivots"`
}

type flowStep struct {
	Arc      int  `json:"arc"`
	Backward bool `json:"backward,omitempty"`
}

func solveFlow(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() != 1 {
		return errors.New("flow takes one file")
	}
	path := c.Args().First()
	f, err := device.Open(path, c.Root().Reader)
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := network.ReadDIMACS(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	r, err := network.Solve(ctx, g, network.Settings{})
	if err != nil && !errors.Is(err, wpmerr.ErrInfeasible) && !errors.Is(err, network.ErrUnbounded) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := network.Verify(g, r); err != nil {
		return fmt.Errorf("%s: the solver is wrong: %w", path, err)
	}
	proof, err := proofOf(c, path, g, r)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if c.Bool("json") {
		err = device.PrintJSON(&b, newFlowCard(r))
		if proof != nil { // as the last member, byte for byte
			b.Truncate(b.Len() - len("\n}\n"))
			fmt.Fprintf(&b, ",\n  \"certificate\": %s\n}\n", proof)
		}
	} else {
		err = r.WriteSolution(&b, g, c.Bool("proof"))
		if proof != nil {
			fmt.Fprintf(&b, "c certificate %s\n", proof)
		}
	}
	if err == nil {
		_, err = c.Root().Writer.Write(b.Bytes())
	}
	if err == nil && r.Status != network.Optimal {
		err = fmt.Errorf("%s: %v: %w", path, r.Status, device.ErrNo)
	}
	return err
}

// proofOf is the certificate of -proof, or nil if there is none to be had.
func proofOf(c *cli.Command, path string, g *network.Problem, r network.Result) ([]byte, error) {
	if !c.Bool("proof") || r.Status != network.Optimal {
		return nil, nil
	}
	made, err := certificate.NewFlow(g, r)
	if errors.Is(err, certificate.ErrLimit) { // the flow and its potentials are proof enough
		fmt.Fprintf(c.Root().ErrWriter, "wpm: %s: no certificate: %v\n", path, err)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return certificate.Encode(made)
}

func newFlowCard(r network.Result) flowCard {
	card := flowCard{Status: r.Status.String(), Flow: r.Flow, Potentials: r.Potentials, Pivots: r.Stats.Pivots}
	if r.Objective != nil {
		card.Objective = r.Objective.String()
	}
	for _, v := range r.Cut {
		card.Cut = append(card.Cut, v+1)
	}
	for _, s := range r.Cycle {
		card.Cycle = append(card.Cycle, flowStep{s.Arc + 1, s.Backward})
	}
	return card
}
