// Package auditor has the commands that check what others state: audit, and certify for certificates.
package auditor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// Audit is the command audit.
func Audit() *cli.Command {
	return &cli.Command{
		Name:      "audit",
		Usage:     "check a mechanism: its integers exactly, what runs by statistics, its certificates in fractions",
		ArgsUsage: "POLICY [-- PROG ARGS...]",
		Description: "Exact: the box, every published row, the fallback, random or given rows and the sampler's random words, in integers.\n" +
			"Statistical: draws from ldp's sampler on the policy's rows (from -seed it is a simulation) and from whole releases for\n" +
			"clients with data on several inputs; or all from whole releases (-release), or from any program (-command). A verdict\n" +
			"comes with its false-alarm rate and with what it could not have seen.\n" +
			"Before all that, the audit must find bugs that it plants into a mechanism of its own.\n" +
			"A program is run once for each client. {n}, {input} and {label} in its arguments are replaced ({input} is mixed for\n" +
			"several); it gets the client's private counts on standard input, nothing for the fallback, and prints n lines, one\n" +
			"output label (or index, or report as wpm release prints it) each.\n" +
			"A codebook's policy is audited as what it is on one list of candidates, for clients drawn at random from -seed.\n" +
			"Exit status: 0 all passed, 1 a check failed, 2 bad usage or input.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "samples", HideDefault: true,
				Usage: "draws for each input, `N` (default 1000000, fewer if there are many outputs)"},
			&cli.StringFlag{Name: "inputs",
				Usage: "labels of the inputs to draw for, `LABEL,LABEL,...`, fallback among them (default: fallback, up to 16, and mixed clients)"},
			&cli.Uint64Flag{Name: "seed", HideDefault: true,
				Usage: "simulate the draws from `SEED` (default: random bytes from the system)"},
			&cli.BoolFlag{Name: "command", Usage: "draw by running PROG with ARGS"},
			&cli.BoolFlag{Name: "release", Usage: "draw by whole releases, through the private path, with nobody's data"},
			&cli.StringFlag{Name: "rows",
				Usage: "also check the rows in `FILE` exactly: one on each line, a weight in units of 2^-B for every output"},
			&cli.StringFlag{Name: "certificates",
				Usage: "verify not only the policy's certificate but also those in `FILE`, one on each line (without a policy: wpm certify)"},
			&cli.FloatFlag{Name: "false-alarm", Value: audit.DefaultFalseAlarm,
				Usage: "probability `P` of blaming a mechanism without fault"},
			&cli.FloatFlag{Name: "overshoot", Value: audit.DefaultOvershoot,
				Usage: "work out how many draws a loss of eps (1 + `X`) would need"},
			&cli.IntFlag{Name: "random-rows", Value: audit.DefaultRandomRows, Usage: "random rows to check exactly, `N`"},
			&cli.StringFlag{Name: "html", Usage: "also write the report as a page to `FILE`"},
			&cli.StringFlag{Name: "csv", Usage: "also write the draws to `FILE`: input,output,count"},
			&cli.BoolFlag{Name: "raw", Usage: "with -csv: input,output, one line for each draw"},
			&cli.BoolFlag{Name: "json", Usage: "the report as JSON"},
		},
		OnUsageError: shell.UsageError,
		Action:       runAudit,
	}
}

func runAudit(ctx context.Context, c *cli.Command) error {
	if n := c.Args().Len(); c.Bool("command") && n < 2 {
		return errors.New("audit -command takes a policy file and, after --, a program")
	} else if !c.Bool("command") && n != 1 {
		return errors.New("audit takes one policy file")
	}
	path := c.Args().First()
	if err := checkAuditFlags(c, path); err != nil {
		return err
	}
	m, err := published.Env(c).OpenPolicy(path)
	no := func(err error) error {
		if c.Bool("json") {
			_ = device.PrintJSON(c.Root().Writer, map[string]any{"passed": false, "verdict": "failed: " + err.Error()})
		}
		return fmt.Errorf("%w: %w", err, device.ErrNo)
	}
	if device.IsFalse(err) {
		return no(err)
	}
	if err != nil {
		return err
	}
	if b, ok := m.(published.Vectors); ok {
		return auditCodebook(ctx, c, b)
	}
	p := m.(published.Points)
	if err := published.Admit(p.Policy); err != nil {
		return no(fmt.Errorf("%s: %w", path, err))
	}
	cfg, done, err := auditConfig(ctx, c, p.Policy)
	if err != nil {
		return err
	}
	defer done()
	report, err := audit.Run(ctx, cfg)
	if err != nil {
		return err
	}
	return finishAudit(c, report, p)
}

// finishAudit writes the report on a policy of any kind, and makes its verdict the command's.
func finishAudit(c *cli.Command, report audit.Report, p device.Stated) error {
	outs, err := auditOutputs(c, report)
	if err != nil {
		return err
	}
	if err := device.WriteFiles(c.Root().Writer, outs...); err != nil {
		return err
	}
	published.Env(c).Warn(p)
	if !report.Passed {
		return fmt.Errorf("%s: %s: %w", c.Args().First(), report.Verdict, device.ErrNo)
	}
	return nil
}

func checkAuditFlags(c *cli.Command, path string) error {
	if c.Bool("command") && c.Bool("release") {
		return errors.New("-command does not go with -release")
	}
	if c.Bool("raw") && !c.IsSet("csv") {
		return errors.New("-raw needs -csv FILE")
	}
	if err := shell.Positive(c, "samples", "random-rows"); err != nil {
		return err
	}
	if p := c.Float("false-alarm"); !(p > 0 && p <= 0.5) {
		return fmt.Errorf("-false-alarm: %v is not in (0, 0.5]", p)
	}
	if x := c.Float("overshoot"); !(x > 0 && x <= 64) {
		return fmt.Errorf("-overshoot: %v is not in (0, 64]", x)
	}
	for _, name := range []string{"html", "csv"} {
		if c.String(name) == "-" {
			return fmt.Errorf("-%s: the report itself goes to standard output; name a file", name)
		}
	}
	inputs := []string{path, c.String("certificates"), c.String("rows")}
	if shell.CountDashes(inputs...) > 1 {
		return errors.New("standard input cannot be both of the policy, the certificates and the rows")
	}
	return device.Apart([]string{c.String("html"), c.String("csv")}, inputs)
}

// auditConfig opens what the audit reads; done closes it.
func auditConfig(ctx context.Context, c *cli.Command, p policy.Policy) (cfg audit.Config, done func(), err error) {
	done = func() {}
	cfg = audit.Config{
		Policy: p, Samples: c.Int("samples"), FalseAlarm: c.Float("false-alarm"), Overshoot: c.Float("overshoot"),
		RandomRows: c.Int("random-rows"), Progress: shell.Progress(c.Root().ErrWriter),
	}
	if c.IsSet("inputs") {
		var labels []string
		for _, s := range strings.Split(c.String("inputs"), ",") {
			labels = append(labels, strings.TrimSpace(s))
		}
		if cfg.Inputs, err = audit.ParseInputs(p, labels); err != nil {
			return cfg, done, fmt.Errorf("-inputs: %w", err)
		}
	}
	if c.IsSet("seed") {
		seed := c.Uint64("seed")
		cfg.Seed = &seed
	}
	if p.Mode() == policy.Projection {
		m, err := wpm.Load(ctx, p, wpm.Options{})
		if err != nil {
			return cfg, done, fmt.Errorf("%s: %w", c.Args().First(), err)
		}
		cfg.Project = m.Projector()
	}
	if err := setSampler(c, p, &cfg); err != nil {
		return cfg, done, err
	}
	var files []io.Closer
	done = func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	read := func(flag string) (io.Reader, error) {
		f, err := device.Open(c.String(flag), c.Root().Reader)
		if err == nil {
			files = append(files, f)
		}
		return f, err
	}
	if c.IsSet("certificates") {
		f, err := read("certificates")
		if err != nil {
			return cfg, done, err
		}
		cfg.Certificates = []audit.CertificateFile{{Name: c.String("certificates"), Text: f}}
	}
	if c.IsSet("rows") {
		f, err := read("rows")
		if err != nil {
			done()
			return cfg, done, err
		}
		cfg.Rows = &audit.RowFile{Name: c.String("rows"), Text: f}
	}
	return cfg, done, nil
}

// setSampler sets what draws, if it is not the policy's rows.
func setSampler(c *cli.Command, p policy.Policy, cfg *audit.Config) (err error) {
	switch {
	case c.Bool("command"):
		argv := c.Args().Slice()[1:]
		if cfg.Sampler, err = audit.Command(p, argv); err != nil {
			return fmt.Errorf("-command: %w", err)
		}
		cfg.Target, cfg.Serial = "the command "+strings.Join(argv, " "), true
	case c.Bool("release"):
		cfg.Sampler, cfg.Target = audit.Releases(p, cfg.Project),
			"policy.Release, the whole private path, with random bytes from the system"
	}
	return nil
}

func auditOutputs(c *cli.Command, report audit.Report) ([]device.Output, error) {
	text := report.Text()
	if c.Bool("json") {
		var err error
		if text, err = report.JSON(); err != nil {
			return nil, err
		}
	}
	outs := []device.Output{{Path: "-", Data: text}}
	if c.IsSet("html") {
		page, err := report.HTML()
		if err != nil {
			return nil, err
		}
		outs = append(outs, device.Output{Path: c.String("html"), Data: page})
	}
	if c.IsSet("csv") {
		if report.Statistics == nil {
			return nil, errors.New("-csv: nothing was sampled")
		}
		var b bytes.Buffer
		if err := report.Statistics.WriteCSV(&b, c.Bool("raw")); err != nil {
			return nil, err
		}
		outs = append(outs, device.Output{Path: c.String("csv"), Data: b.Bytes()})
	}
	return outs, nil
}
