package device

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// grace is how long an interrupted command may take to clean up. One that waits for standard input never would: no
// read can be called off.
const grace = 2 * time.Second

// Main runs a program to its exit: run returns the exit status. An interrupt, or the SIGTERM of a scheduler, ends its
// context, so that no half-written file remains; a second signal ends the process.
func Main(program string, run func(ctx context.Context) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	status := make(chan int, 1)
	go func() { status <- run(ctx) }()
	select {
	case s := <-status:
		os.Exit(s)
	case <-ctx.Done():
	}
	select {
	case s := <-status:
		os.Exit(s)
	case <-time.After(grace):
		fmt.Fprintf(os.Stderr, "%s: interrupted\n", program)
		os.Exit(Interrupted)
	}
}

// Version is what the toolchain recorded of the program: module version, commit and Go version.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return versionText(info)
}

// versionText is Version for a record. Without a checkout the commit is known only if the module version names it.
func versionText(info *debug.BuildInfo) string {
	version, commit := "(unknown)", "(unknown: built outside a checkout)"
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	if m := pseudo.FindStringSubmatch(version); m != nil {
		commit = m[1]
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && s.Value != "":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " (modified)"
		}
	}
	return fmt.Sprintf("%s, commit %s%s, %s", version, commit, modified, runtime.Version())
}

// pseudo matches the module version of a commit that has no tag.
var pseudo = regexp.MustCompile(`^v.*[-.][0-9]{14}-([0-9a-f]{12})(?:\+|$)`)

// VersionCommand prints the version of the program.
func VersionCommand(e *Env) *Command {
	c := &Command{
		Name: "version", Summary: "print module version, commit and Go version", Examples: []string{"version"},
		Flags: newFlags("version"),
	}
	c.Do = func(_ context.Context, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("version takes no arguments: %q", args[0])
		}
		_, err := fmt.Fprintf(e.Out, "%s %s\n", e.Program, Version())
		return err
	}
	return c
}
