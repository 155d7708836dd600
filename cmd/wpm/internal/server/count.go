package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// Count is the command count.
func Count() *cli.Command {
	return &cli.Command{
		Name:      "count",
		Usage:     "count the reports of some shards, for wpm merge and wpm aggregate -counts",
		ArgsUsage: "SHARD...",
		Description: "A SHARD is a file of reports as aggregate takes it: text or binary, gzipped or not, - for standard\n" +
			"input. Shards take turns on all cores, in constant memory. The result is a part: counts by output and by\n" +
			"reason of refusal, and the SHA-256, bytes and lines of every shard (docs/spec/counts.md).\n" +
			"A report does not say its epoch, so -epoch does. A shard under two names is an error, also as a copy.\n" +
			"With -manifest, CSV shard,lines,sha256, absent, extra and short shards are errors. Without it nobody can see\n" +
			"them: completeness is then not checked, but for archives that break off and last lines that have no end.\n" +
			"Lines that were refused make the exit status 3, or, with -strict, 2.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "policy", Usage: "the policy that the reports are of: `FILE`", Required: true},
			&cli.StringFlag{Name: "epoch", Usage: "`NAME` of the epoch that the reports are of", Required: true},
			&cli.StringFlag{Name: "shard", Usage: "`ID` of the only shard, rather than its name"},
			strictFlag(),
		}, partFlags()...),
		OnUsageError: shell.UsageError,
		Action:       countShards,
	}
}

// Merge is the command merge.
func Merge() *cli.Command {
	return &cli.Command{
		Name:      "merge",
		Usage:     "add up parts that wpm count wrote",
		ArgsUsage: "PART...",
		Description: "The order of the parts does not matter, and a part may be a sum itself. Parts of two policies or\n" +
			"epochs are an error, and so is a shard that is in two parts, also as a copy under another name.\n" +
			"-manifest is that of count, for all parts together. Lines that count refused make the exit status 3.",
		Flags:        partFlags(),
		OnUsageError: shell.UsageError,
		Action:       mergeParts,
	}
}

// partFlags are those of commands that write a part.
func partFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "manifest", Usage: "the shards that there should be: CSV `FILE` shard,lines,sha256"},
		equalFlag(),
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "-", Usage: "the part: `FILE`, or - for standard output"},
		&cli.BoolFlag{Name: "json", Usage: "print what was counted as JSON; without -out nothing else"},
	}
}

// part is what a command makes, and what it says beside it.
type part struct {
	aggregate.Counts
	manifest reports.Manifest
	notices  []string
}

func countShards(ctx context.Context, c *cli.Command) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		return errors.New("count takes shards, - for standard input")
	}
	k, _, err := policyAndFiles(c, append([]string{c.String("policy")}, files...))
	if err != nil {
		return err
	}
	if c.String("epoch") == "" {
		return errors.New("-epoch: the name is empty")
	}
	if c.IsSet("shard") && c.String("shard") == "" {
		return errors.New("-shard: the ID is empty")
	}
	var n *aggregate.Counter
	switch k := k.(type) {
	case published.Vectors:
		if k.Fresh() {
			return published.ErrFresh
		}
		n, err = k.Counter(func(codebook.Report) {})
	case published.Points:
		n, err = aggregate.NewCounter(k.Policy)
	}
	if err != nil {
		return err
	}
	if err := n.In(c.String("epoch")); err != nil {
		return fmt.Errorf("-epoch: %w", err)
	}
	p, err := newPart(c, append([]string{c.String("policy")}, files...))
	if err != nil {
		return err
	}
	bar := shell.Progress(c.Root().ErrWriter)
	r := reader(c, k)
	r.Shard = c.String("shard")
	r.Notice = func(text string) { p.notices = append(p.notices, text) }
	r.Progress = func(done int) { bar(done, len(files), "counting shards") }
	if p.Counts, err = r.Count(ctx, n, files, c.String("epoch")); err != nil {
		return err
	}
	return p.write(c)
}

func mergeParts(ctx context.Context, c *cli.Command) error {
	files := c.Args().Slice()
	if len(files) == 0 {
		return errors.New("merge takes parts, - for standard input")
	}
	if shell.CountDashes(files...) > 1 {
		return errors.New("only one part can be standard input")
	}
	p, err := newPart(c, files)
	if err != nil {
		return err
	}
	sum := aggregate.Sum{AllowEqual: c.Bool("allow-equal")}
	for _, file := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := shell.ReadFile(c, file, reports.ReadPart)
		if err != nil {
			return err
		}
		if err := sum.Add(one); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	p.Counts = sum.Counts()
	return p.write(c)
}

// newPart checks what says where a part goes, and reads what it is compared with, before the work.
func newPart(c *cli.Command, inputs []string) (p part, err error) {
	manifest := c.String("manifest")
	if manifest == "-" && shell.CountDashes(inputs...) > 0 {
		return p, errors.New("only one of the files can be standard input")
	}
	out := c.String("out")
	if err := device.Apart([]string{out}, append(inputs, manifest)); err != nil {
		return p, err
	}
	if err := device.Writable(out); err != nil {
		return p, err
	}
	if c.IsSet("manifest") {
		p.manifest, err = shell.ReadFile(c, manifest, reports.ReadManifest)
	}
	return p, err
}

// write writes the part, and says on standard output, or on standard error if the part goes there, what it is.
func (p part) write(c *cli.Command) error {
	if c.IsSet("manifest") {
		if err := p.manifest.Check(p.Shards); err != nil {
			return err
		}
	}
	text, err := p.Encode()
	if err != nil {
		return err
	}
	to := c.Root().Writer
	if c.IsSet("out") || !c.Bool("json") {
		if err := device.WriteFiles(to, device.Output{Path: c.String("out"), Data: text}); err != nil {
			return err
		}
		if c.String("out") == "-" {
			to = c.Root().ErrWriter
		}
	}
	if c.Bool("json") {
		err = device.PrintJSON(to, p.metrics(c.IsSet("manifest")))
	} else if !c.Root().Bool("quiet") {
		err = p.print(to, c.IsSet("manifest"))
	}
	if err != nil {
		return err
	}
	return someRefused(p.Counts)
}

// metrics are what -json prints: what whoever collects reports watches.
type metrics struct {
	Policy   string            `json:"policy"`
	Epoch    string            `json:"epoch,omitempty"`
	Lines    uint64            `json:"lines"` // reports and refused together
	Reports  uint64            `json:"reports"`
	Refused  map[string]uint64 `json:"refused"` // by reason
	Outputs  []uint64          `json:"outputs"` // reports of each
	Shards   []shard           `json:"shards"`
	Notices  []string          `json:"notices,omitempty"`
	Complete bool              `json:"complete"` // as the manifest says; false without one
}

type shard struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
	Bytes  uint64 `json:"bytes"`
	Lines  uint64 `json:"lines"`
}

func (p part) metrics(complete bool) metrics {
	m := metrics{Policy: fmt.Sprintf("%x", p.Policy), Epoch: p.Epoch, Lines: p.Lines, Reports: p.Total(),
		Refused: byReason(p.Counts), Outputs: p.Reports, Shards: []shard{}, Notices: p.notices, Complete: complete}
	for _, s := range p.Shards {
		m.Shards = append(m.Shards, shard{s.ID, fmt.Sprintf("%x", s.SHA256), s.Bytes, s.Lines})
	}
	return m
}

func (p part) print(w io.Writer, complete bool) error {
	epoch := "no epoch"
	if p.Epoch != "" {
		epoch = "epoch " + p.Epoch
	}
	fmt.Fprintf(w, "%s of policy %.6x, %s, in %s.\n",
		shell.Plural(p.Total(), "report"), p.Policy, epoch, shell.Plural(uint64(len(p.Shards)), "shard"))
	if p.AllRefused() > 0 {
		fmt.Fprintf(w, "%s.\n", refusedText(p.Counts))
	}
	for _, text := range p.notices {
		fmt.Fprintf(w, "Note: %s.\n", text)
	}
	verdict := "Complete: the shards, their lines and their contents are those of the manifest."
	if !complete {
		verdict = "Completeness not checked: without -manifest nobody can see a shard that is absent or short."
	}
	_, err := fmt.Fprintln(w, verdict)
	return err
}
