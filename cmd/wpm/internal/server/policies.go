package server

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
)

// policyAndFiles reads the policy of a command's arguments, and returns the names of the files of reports after it.
func policyAndFiles(c *cli.Command, args []string) (published.Kind, []string, error) {
	if len(args) < 1 {
		return nil, nil, fmt.Errorf("%s takes a policy and files of reports", c.Name)
	}
	if args[0] == "-" && readsStdin(c, args[1:]) {
		return nil, nil, errors.New("policy and reports cannot both be standard input")
	}
	m, err := published.Env(c).OpenPolicy(args[0])
	if err != nil {
		return nil, nil, err
	}
	return m.(published.Kind), args[1:], nil
}

// readsStdin reports whether reports or counts are standard input.
func readsStdin(c *cli.Command, files []string) bool {
	if c.IsSet("counts") {
		files = append([]string{c.String("counts")}, files...)
	}
	return len(files) == 0 || shell.CountDashes(files...) > 0
}

// reader reads files of a kind's reports.
func reader(c *cli.Command, k published.Kind) reports.Reader {
	magic, size := k.Format()
	return reports.Reader{
		Open:  func(name string) (io.ReadCloser, error) { return device.Open(name, c.Root().Reader) },
		Magic: magic, Size: size, Strict: c.Bool("strict"), AllowEqual: c.Bool("allow-equal"),
	}
}
