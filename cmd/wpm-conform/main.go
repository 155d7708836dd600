// Command wpm-conform runs the test vectors and the laws of this module against a program in any language:
//
//	wpm-conform [-level quick|default|audit] [-json | -html FILE] [-limit 10s] [-seed 1]
//	    [-memory MB] -- COMMAND [ARGUMENT...]
//
// COMMAND speaks the lines of docs/spec/conform.md on standard input and output. The report goes to standard output; with
// -html also, as a page, to FILE. Exit status: 0 nothing failed, 1 something did, 2 bad usage, or no report.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/wpm-go/wpm/conform"
	"github.com/wpm-go/wpm/internal/atomicfile"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole command with its surroundings as arguments, so that tests can call it.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("wpm-conform", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: wpm-conform [flags] -- COMMAND [ARGUMENT...]")
		flags.PrintDefaults()
	}
	level := flags.String("level", "default", "how many cases of each law: quick (10), default (100), audit (5000)")
	asJSON := flags.Bool("json", false, "write the report as JSON")
	html := flags.String("html", "", "write the report as a page to this `file`, too")
	limit := flags.Duration("limit", 0, "the longest time for an answer (default 10s)")
	seed := flags.Uint64("seed", 1, "seed of the cases of the laws, not 0")
	memory := flags.Int64("memory", 0, "how many `MB` more a draw may take for 64 MiB of private text than for 16 bytes; "+
		"on Linux (default: not measured)")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	report, err := conform.Run(conform.Settings{Command: flags.Args(), Level: *level, Limit: *limit, Seed: *seed,
		Memory: *memory * 1e6})
	if err == nil {
		err = write(report, *asJSON, *html, stdout)
	}
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "wpm-conform:", err)
		return 2
	case !report.OK():
		return 1
	}
	return 0
}

func write(r conform.Report, asJSON bool, html string, stdout io.Writer) error {
	if html != "" {
		var b bytes.Buffer
		if err := r.HTML(&b); err != nil {
			return err
		}
		if err := atomicfile.Write(html, 0o666, b.Bytes()); err != nil {
			return err
		}
	}
	if asJSON {
		return r.JSON(stdout)
	}
	return r.Text(stdout)
}
