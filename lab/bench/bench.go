// Package bench runs wpm and other solvers on the same instances, one after the other in alternation, and prints their
// times and ratios. The command is "wpm-lab bench"; the script run in this folder installs the others before it.
//
// Times are processor time, user and system, of the whole call from data in memory to the answer (the lines of a table
// say what that is); one thread for everybody unless the table says otherwise. Others are separate processes that hold
// their instance and answer one request per line, so no process start and no reading of files is in a time. The drivers
// in peers are what a user of the other solver would write. A run of another solver that takes more than three seconds
// is its only one. The tables have a line for each workload; the log has every instance.
package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Errors of this package.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("bench: bad configuration")
	// ErrSystem: a system that does not tell the processor time of a process.
	ErrSystem = errors.New("bench: needs a Unix system")
)

// Config says what to measure.
type Config struct {
	Groups   []string // names of tables; nil for all
	Runs     int      // of everything, at least 1
	Only     string   // instances whose name contains this
	Limit    float64  // seconds of processor time after which an iteration of another solver is stopped
	Peers    string   // folder of the drivers in Python
	Built    string   // folder of the drivers in C++, compiled
	Out      string   // file that gets the tables, too; or ""
	Figure   string   // SVG file of time against size, or ""
	Distance string   // SVG file of W_1 against time, or ""
	Stdout   io.Writer
	Log      io.Writer
	Args     []string // of the command, which the first line names
}

// Tables are the names of the tables, in order; none on a system where nothing can be measured.
func Tables() []string { return names() }

// Run measures, and prints a table after the other. Errors: ErrConfig, ErrSystem, those of the solvers and of files.
func Run(c Config) error {
	if c.Runs < 1 {
		return fmt.Errorf("%w: %d runs, want at least 1", ErrConfig, c.Runs)
	}
	for _, g := range c.Groups {
		if known := names(); known != nil && !slices.Contains(known, g) {
			return fmt.Errorf("%w: no table %q", ErrConfig, g)
		}
	}
	return run(c)
}

// measureFlag, as first argument, makes this program run a command and print what it used.
const measureFlag = "-measure-command"

// Child does what a program must do first that calls Run: if it was started to measure a command, it does that, and ends.
func Child(args []string) {
	if len(args) < 2 || args[0] != measureFlag {
		return
	}
	if err := measure(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
