package device

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Exit statuses.
const (
	Yes         = 0
	No          = 1
	Bad         = 2
	Some        = 3
	Interrupted = 130
)

var (
	// ErrNo says that the command worked and the answer is no.
	ErrNo = errors.New("no")
	// ErrSome says that a result was written although some of the input was refused.
	ErrSome = errors.New("some input was refused")
)

// Env is what a program gives its commands.
type Env struct {
	Program  string // its name, for messages
	In       io.Reader
	Out, Err io.Writer
	Quiet    bool // print no warnings
	// Open reads a policy of any kind that the program knows; nil is OpenPoints.
	Open func(data []byte) (Mechanism, error)
}

// Command is one command of a program.
type Command struct {
	Name, Summary string
	Args          string   // the arguments, for its help
	About         string   // more, for its help
	Examples      []string // what may follow the program's name, for its help
	Flags         *flag.FlagSet
	// Do runs the command, with the flags as they were set, on the other arguments.
	Do func(ctx context.Context, args []string) error
}

// newFlags returns an empty set that prints nothing.
func newFlags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f
}

// Given reports whether a flag was set, whatever its value.
func (c *Command) Given(name string) (given bool) {
	c.Flags.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	return given
}

// parse sets the flags, which may stand before and after other arguments, and returns those. A flag that is given twice
// is an error, rather than let the last one win. Everything after "--" is an argument.
func (c *Command) parse(args []string) (rest []string, err error) {
	c.Flags.VisitAll(func(f *flag.Flag) { f.Value = &single{Value: f.Value} })
	for len(args) > 0 {
		before := len(args)
		if err := c.Flags.Parse(args); err != nil {
			return nil, err
		}
		left := c.Flags.Args()
		if used := before - len(left); used > 0 && args[used-1] == "--" {
			return append(rest, left...), nil
		}
		if len(left) == 0 {
			break
		}
		rest, args = append(rest, left[0]), left[1:]
	}
	return rest, nil
}

// single is a flag's value that can be set once.
type single struct {
	flag.Value
	set bool
}

func (s *single) Set(text string) error {
	if s.set {
		return errors.New("it is given twice")
	}
	s.set = true
	return s.Value.Set(text)
}

// String is also called on the zero value, by package flag.
func (s *single) String() string {
	if s.Value == nil {
		return ""
	}
	return s.Value.String()
}

func (s *single) IsBoolFlag() bool { return IsBool(s.Value) }

// IsBool reports whether a flag stands without a value.
func IsBool(v flag.Value) bool {
	b, ok := v.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// help prints the usage of a command.
func (c *Command) help(e *Env) error {
	name := e.Program + " " + c.Name
	fmt.Fprintf(e.Out, "%s: %s\n", name, c.Summary)
	if c.About == "" { // version, which has no flags and no arguments
		return nil
	}
	fmt.Fprintf(e.Out, "\n%s [flags] %s\n\n%s\n\n", name, c.Args, c.About)
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	c.Flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		fmt.Fprintf(w, "  -%s %s\t%s\n", f.Name, value, usage)
	})
	if len(c.Examples) > 0 {
		fmt.Fprintln(w, "\nExamples:")
	}
	for _, example := range c.Examples {
		fmt.Fprintf(w, "  %s %s\n", e.Program, example)
	}
	return w.Flush()
}

// endless returns ctx, or a context that never ends for nil.
func endless(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Run is a whole program of commands: it runs the command that args[0] names and returns the exit status.
func Run(ctx context.Context, e *Env, commands []*Command, args []string) int {
	ctx = endless(ctx)
	return e.Status(ctx, e.dispatch(ctx, commands, args))
}

func (e *Env) dispatch(ctx context.Context, commands []*Command, args []string) error {
	for len(args) > 0 && slices.Contains([]string{"-q", "--q", "-quiet", "--quiet"}, args[0]) { // as of wpm
		e.Quiet, args = true, args[1:]
	}
	if len(args) == 0 || slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
		for _, c := range commands {
			fmt.Fprintf(w, "%s %s\t%s\n", e.Program, c.Name, c.Summary)
		}
		fmt.Fprintf(w, "\n\"%s COMMAND -help\" has the flags. Exit status: 0 yes, 1 no, 2 bad usage or input, 130 interrupted.\n", e.Program)
		return w.Flush()
	}
	i := slices.IndexFunc(commands, func(c *Command) bool { return c.Name == args[0] })
	if i < 0 {
		names := make([]string, len(commands))
		for j, c := range commands {
			names[j] = c.Name
		}
		return fmt.Errorf("unknown command %q%s; see \"%s help\"", args[0], Meant(args[0], names), e.Program)
	}
	c := commands[i]
	c.Flags.BoolVar(&e.Quiet, "quiet", e.Quiet, "print no warnings")
	rest, err := c.parse(args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return c.help(e)
	}
	if err != nil {
		var names []string
		c.Flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf("%w%s; see \"%s %s -help\"", err, Meant(UnknownFlag(err), names), e.Program, c.Name)
	}
	return c.Do(ctx, rest)
}

// Status prints an error in one line and returns the exit status that it stands for.
func (e *Env) Status(ctx context.Context, err error) int {
	ctx = endless(ctx)
	status, text := Bad, ""
	switch {
	case err == nil:
		return Yes
	case errors.Is(err, ErrNo):
		status, text = No, strings.TrimSuffix(strings.TrimSuffix(err.Error(), ErrNo.Error()), ": ")
	case errors.Is(err, ErrSome):
		status, text = Some, strings.TrimSuffix(err.Error(), ": "+ErrSome.Error())
	case ctx.Err() != nil:
		status, text = Interrupted, "interrupted"
	default:
		text = strings.Join(strings.Fields(err.Error()), " ")
	}
	if text != "" {
		fmt.Fprintf(e.Err, "%s: %s\n", e.Program, text)
	}
	return status
}

// try adds to an error what to type: the first example of the command.
func (c *Command) try(e *Env, err error) error {
	if len(c.Examples) == 0 {
		return err
	}
	return fmt.Errorf("%w; try: %s %s", err, e.Program, c.Examples[0])
}
