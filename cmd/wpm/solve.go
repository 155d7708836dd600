package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/machine"
)

func solveCommand() *cli.Command {
	return &cli.Command{
		Name:      "solve",
		Usage:     "answer JSON lines on standard input: the machine interface",
		ArgsUsage: "KIND (" + strings.Join(machine.Kinds(), ", ") + ")",
		Description: "One JSON object per line in, one per line out, in order. Example:\n" +
			`   echo '{"cost":{"kind":"ring","n":4,"p":1},"mu":[1,0,0,0],"m":[0.25,0.25,0.25,0.25],"eps":1}' | wpm solve project` + "\n" +
			`A bad line is answered by {"error":"..."}; exit status 1 says that there was one.`,
		OnUsageError: usageError,
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Args().Len() != 1 {
				return fmt.Errorf("solve takes one kind: %s", strings.Join(machine.Kinds(), ", "))
			}
			lines, bad, err := machine.Run(ctx, c.Args().First(), c.Root().Reader, c.Root().Writer)
			if err != nil {
				return err
			}
			if bad > 0 {
				return fmt.Errorf("%d of %d lines got an error: %w", bad, lines, errNo)
			}
			return nil
		},
	}
}
