package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/machine"
	"github.com/wpm-go/wpm/internal/shell"
)

// Solve is the command solve.
func Solve() *cli.Command {
	solve := &cli.Command{
		Name:  "solve",
		Usage: "answer JSON lines on standard input: the machine interface",
		Description: "Reads one JSON object per line and writes one per line, in order. The field id is echoed.\n" +
			`A bad line is answered by {"error":"..."}, and the exit status is then 1.` + "\n" +
			`"wpm solve KIND -help" has the fields of a line. With "wpm solve KIND -certificate", answers of the kinds` + "\n" +
			"that have evidence carry the certificate that \"wpm certify\" verifies.\n" +
			`A cost or box that many lines share is sent once, as {"define":"NAME","cost":{...}}, or with lo and hi,` + "\n" +
			`or m and eps. Later lines have "cost":"NAME" and "box":"NAME". "want":["q","objective"] leaves out all` + "\n" +
			"other fields of an answer.\n" +
			"Lines are solved in parallel.",
		OnUsageError: shell.UsageError,
		Flags: []cli.Flag{ // before or after KIND
			&cli.BoolFlag{Name: "certificate",
				Usage: "add the field certificate, which \"wpm certify\" verifies, to answers that have evidence"},
			&cli.StringFlag{Name: "files", TakesFile: true,
				Usage: "let lines read costs {\"kind\":\"npy\",\"path\":\"C.npy\"} from files below `DIR`"},
		},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return shell.Unknown(c, "kind")
			}
			return fmt.Errorf("solve takes a KIND of problem; see \"wpm solve -help\"")
		},
	}
	for _, kind := range machine.Kinds() {
		solve.Commands = append(solve.Commands, &cli.Command{
			Name: kind, Usage: machine.Summary(kind), Description: machine.Fields(kind), OnUsageError: shell.UsageError,
			Action: func(ctx context.Context, c *cli.Command) error {
				if err := shell.NoArgs(c); err != nil {
					return err
				}
				settings := machine.Settings{Certificate: c.Bool("certificate"), Files: c.String("files"), ReadNPY: costio.ReadNPY}
				lines, bad, err := machine.Run(ctx, kind, settings, c.Root().Reader, c.Root().Writer)
				if errors.Is(err, machine.ErrCertificate) {
					return fmt.Errorf("-certificate: %w", err)
				}
				if err != nil {
					return err
				}
				if bad > 0 {
					return fmt.Errorf("%d of %d lines got an error: %w", bad, lines, device.ErrNo)
				}
				return nil
			},
		})
	}
	return solve
}
