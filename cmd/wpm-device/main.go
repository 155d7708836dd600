// Command wpm-device verifies policies, releases one report from private counts, and says what a ledger has spent: the
// part of wpm that runs where the private data are. It has no solver, so it releases policies in mixture mode, and
// nothing in it comes from outside this module and the standard library.
//
// Run "wpm-device help" for the commands. Exit status: 0 yes, 1 no, 2 bad usage or input, 130 interrupted.
package main

import (
	"context"
	"io"
	"os"

	"github.com/wpm-go/wpm/device"
)

const program = "wpm-device"

func main() {
	device.Main(program, func(ctx context.Context) int { return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
}

// run is the whole command with its surroundings as arguments, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &device.Env{Program: program, In: stdin, Out: stdout, Err: stderr}
	return device.Run(ctx, e, []*device.Command{
		device.VerifyCommand(e), device.CheckCommand(e), device.ReleaseCommand(e), device.LedgerCommand(e),
		device.VersionCommand(e),
	}, args)
}
