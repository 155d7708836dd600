package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a policy: exit status 0 only if its integer certificate holds",
		ArgsUsage: "POLICY",
		Description: "Reads the policy, checks its form byte for byte, and decides in integers that every output is at most\n" +
			"e^eps times likelier for one client than for another: hi <= e^eps lo in every column, sum lo <= 2^B <= sum hi,\n" +
			"and every published row inside the box. Trusts no solver. Exit status 1: the certificate fails.",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print the verdict as JSON"}},
		OnUsageError: usageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Len() != 1 {
				return errors.New("verify takes one policy file")
			}
			path := c.Args().First()
			p, err := readPolicy(path, c.Root().Reader)
			if isCertificateFailure(err) {
				if c.Bool("json") {
					_ = printJSON(c.Root().Writer, map[string]any{"verified": false, "reason": err.Error()})
				}
				return fmt.Errorf("%w: %w", err, errNo)
			}
			if err != nil {
				return err
			}
			if err := policy.Verify(p); err != nil {
				return fmt.Errorf("%s: %w: %w", path, err, errNo)
			}
			id := p.ID()
			if c.Bool("json") {
				return printJSON(c.Root().Writer, map[string]any{
					"verified": true, "id": hex.EncodeToString(id[:]), "epsilon": p.Epsilon().String(), "bits": p.Polytope().Bits(),
					"inputs": p.Inputs(), "outputs": p.Outputs(), "mode": p.Mode(),
				})
			}
			_, err = fmt.Fprintf(c.Root().Writer,
				"verified: %s-LDP for %d inputs and %d outputs, exact in units of 2^-%d\nmode %s, sha256 %x\n",
				p.Epsilon(), p.Inputs(), p.Outputs(), p.Polytope().Bits(), p.Mode(), id)
			return err
		},
	}
}

// isCertificateFailure tells a policy that is well formed and does not hold from one that cannot be read.
func isCertificateFailure(err error) bool {
	return errors.Is(err, ldp.ErrBox) || errors.Is(err, ldp.ErrInfeasible) || errors.Is(err, policy.ErrRow)
}

// readPolicy reads and decodes a policy; errors name the file.
func readPolicy(path string, stdin io.Reader) (policy.Policy, error) {
	f, err := open(path, stdin)
	if err != nil {
		return policy.Policy{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
	if err != nil {
		return policy.Policy{}, err
	}
	p, err := policy.Decode(data)
	if err != nil {
		return policy.Policy{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
