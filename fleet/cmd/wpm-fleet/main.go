// Command wpm-fleet counts the reports of a fleet in an Apache Beam pipeline, and writes a part for each policy and
// epoch, as wpm count does.
//
//	wpm-fleet -policy FILE[,FILE...] -input GLOB (-epoch E | -epoch-regexp RE) -output FOLDER [flags of Beam]
//	wpm-fleet -demo
//
// Beam's flags, such as -runner, say where it runs; without them it runs here, on Prism. Exit status: 0 if all was
// counted, 1 if there is no result, 3 if there is one without some shards or lines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/fleet"
	"github.com/wpm-go/wpm/policy"
)

var (
	policies   = flag.String("policy", "", "policy `FILES`, with commas between")
	input      = flag.String("input", "", "the shards: `GLOBS`, with commas between")
	epoch      = flag.String("epoch", "", "`NAME` of the epoch of all shards")
	pattern    = flag.String("epoch-regexp", "", "`RE` whose group 1 in the path of a shard is its epoch")
	output     = flag.String("output", "", "`FOLDER` of the parts, and of what is said of shards that cannot be read")
	allowEqual = flag.Bool("allow-equal", false, "accept shards of equal contents under two names")
	quarantine = flag.Bool("quarantine", false, "name shards that cannot be read and leave them out; else they are errors")
	runDemo    = flag.Bool("demo", false, "make a fleet up, count it here, and compare")
)

func main() {
	flag.Parse()
	beam.Init() // a worker of an engine stays here
	code, err := run(context.Background(), os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "wpm-fleet: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

// some is the status of a result without some shards or lines.
const some = 3

func run(ctx context.Context, out io.Writer) (code int, err error) {
	if flag.NArg() > 0 {
		return 0, fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if *runDemo {
		return demo(ctx, out)
	}
	o := fleet.Options{Epoch: *epoch, EpochPattern: *pattern, AllowEqual: *allowEqual, Quarantine: *quarantine}
	for _, name := range strings.Split(*policies, ",") {
		data, err := os.ReadFile(name)
		if err != nil {
			return 0, fmt.Errorf("-policy: %w", err)
		}
		p, err := policy.Decode(data)
		if err != nil {
			return 0, fmt.Errorf("-policy: %s: %w", name, err)
		}
		o.Policies = append(o.Policies, p)
	}
	if *output == "" {
		return 0, errors.New("-output: the folder is not given")
	}
	shards, err := list(ctx, strings.Split(*input, ","))
	if err != nil {
		return 0, fmt.Errorf("-input: %w", err)
	}
	return count(ctx, out, o, shards, *output)
}

// list returns the files of some patterns, each once, but those whose name starts with a dot: programs that copy or
// write a file keep half of it under such a name. A pattern that starts with a dot, too, finds them.
func list(ctx context.Context, globs []string) (shards []string, err error) {
	for _, glob := range globs {
		if glob == "" {
			return nil, errors.New("a pattern is empty")
		}
		found, err := match(ctx, glob)
		if err != nil {
			return nil, err
		}
		if !hidden(glob) {
			found = slices.DeleteFunc(found, hidden)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%q matches no file", glob)
		}
		shards = append(shards, found...)
	}
	slices.Sort(shards)
	return slices.Compact(shards), nil
}

func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// match returns the files of a pattern, if there are any.
func match(ctx context.Context, glob string) ([]string, error) {
	fs, err := filesystem.New(ctx, glob)
	if err != nil {
		return nil, err
	}
	found, err := fs.List(ctx, glob)
	return found, errors.Join(err, fs.Close())
}

// count runs the pipeline, and says what came of it where that can be read from here.
func count(ctx context.Context, out io.Writer, o fleet.Options, shards []string, folder string) (code int, err error) {
	p, s := beam.NewPipelineWithRoot()
	parts, unreadable, err := fleet.Aggregate(s, beam.CreateList(s, shards), o)
	if err != nil {
		return 0, err
	}
	beam.ParDo0(s, &writeFn{Folder: folder}, parts)
	beam.ParDo0(s, &noteFn{Folder: folder}, unreadable)
	if err := prepare(ctx, folder); err != nil {
		return 0, err
	}
	if err := beamx.Run(ctx, p); err != nil {
		return 0, err
	}
	if *jobopts.Async {
		_, err := fmt.Fprintf(out, "The job was submitted. It writes parts to %s.\n", folder)
		return 0, err
	}
	return report(ctx, out, folder)
}

// prepare makes a local folder, and refuses one with parts in it: old ones would pass for new.
func prepare(ctx context.Context, folder string) error {
	if strings.ContainsAny(folder, "*?[") {
		return fmt.Errorf("-output: %q is a pattern, not a folder", folder)
	}
	if !strings.Contains(folder, "://") {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	for _, pattern := range []string{"/*.part", "/*.unreadable"} {
		old, err := match(ctx, folder+pattern)
		if err != nil {
			return fmt.Errorf("-output: %w", err)
		}
		if len(old) > 0 {
			return fmt.Errorf("-output: %s is there already", old[0])
		}
	}
	return nil
}

// report prints a line for each part and each shard that is left out.
func report(ctx context.Context, out io.Writer, folder string) (code int, err error) {
	names, err := match(ctx, folder+"/*.part")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		text, err := read(ctx, name)
		if err != nil {
			return 0, err
		}
		c, err := aggregate.DecodeCounts(text)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "policy %.6x, epoch %s: %d reports from %d shards", c.Policy, c.Epoch, c.Total(), len(c.Shards))
		for _, v := range aggregate.Reasons() {
			if n := c.Refused[v]; n > 0 {
				code = some
				fmt.Fprintf(out, ", %d %v", n, v)
			}
		}
		fmt.Fprintln(out)
	}
	left, err := match(ctx, folder+"/*.unreadable")
	if err != nil {
		return 0, err
	}
	for _, name := range left {
		text, err := read(ctx, name)
		if err != nil {
			return 0, err
		}
		code = some
		fmt.Fprintf(out, "left out: %s\n", text)
	}
	if len(names) == 0 {
		return 0, fmt.Errorf("-output: no parts were written to %s", folder)
	}
	_, err = fmt.Fprintln(out, "Completeness not checked: wpm merge -manifest does.")
	return code, err
}

func read(ctx context.Context, name string) ([]byte, error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return filesystem.Read(ctx, fs, name)
}

// writeFn writes parts, each to a file of its own, the same one in a second attempt.
type writeFn struct{ Folder string }

// ProcessElement writes one part.
func (f *writeFn) ProcessElement(ctx context.Context, part []byte) error {
	c, err := aggregate.DecodeCounts(part)
	if err != nil {
		return err
	}
	return write(ctx, fmt.Sprintf("%s/%x-%s.part", f.Folder, c.Policy[:6], c.Epoch), part)
}

// noteFn writes what is said of a shard that cannot be read.
type noteFn struct{ Folder string }

// ProcessElement writes one note.
func (f *noteFn) ProcessElement(ctx context.Context, note string) error {
	return write(ctx, fmt.Sprintf("%s/%s.unreadable", f.Folder, hash(note)), []byte(note))
}

func write(ctx context.Context, name string, data []byte) error {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	return errors.Join(filesystem.Write(ctx, fs, name, data), fs.Close())
}

func init() {
	register.DoFn2x1[context.Context, []byte, error](&writeFn{})
	register.DoFn2x1[context.Context, string, error](&noteFn{})
}
