package main

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// codebookFlags are those of "wpm sphere" that say what its policy is.
func codebookFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write a codebook's policy to `FILE`"},
		&cli.IntFlag{Name: "points", HideDefault: true, Usage: "with -out: candidates, `N` (default 1024)"},
		&cli.IntFlag{Name: "high", HideDefault: true,
			Usage: "with -out: candidates that are high for one point, `K` (default: the cap's share)"},
		&cli.IntFlag{Name: "bits", HideDefault: true, Usage: "with -out: probabilities are multiples of 2^-`B` (default 62)"},
		&cli.IntFlag{Name: "atoms", HideDefault: true, Usage: "with -out: the most vectors of a client, `N` (default 64)"},
		&cli.StringFlag{Name: "seed", Value: "fresh",
			Usage: "with -out: of the candidates; `HEX`, 64 digits, for one list, which biases means"},
		&cli.StringFlag{Name: "title", Usage: "with -out: what the mechanism is for; goes into the policy"},
		&cli.StringFlag{Name: "geometry",
			Usage: "with -out: where the vectors' space comes from: `ORIGIN` public, or derived-dp:EPS"},
		&cli.StringFlag{Name: "base",
			Usage: "with -out: where points, high and p come from: `ORIGIN` data-independent, or derived-dp:EPS"},
		&cli.StringFlag{Name: "note", Usage: "with -out: more about that, one line; goes into its provenance"},
	}
}

// designCodebook returns the policy that -out asks for.
func designCodebook(c *cli.Command) (*codebook.Codebook, error) {
	if c.String("out") == "-" {
		return nil, errors.New("-out: standard output is taken by the card; name a file")
	}
	if err := shell.Positive(c, "points", "high", "bits", "atoms"); err != nil {
		return nil, err
	}
	eps, err := ldp.ParseEpsilon(c.String("eps"))
	if err != nil {
		return nil, fmt.Errorf("-eps: %w", err)
	}
	provenance, err := readProvenance(c)
	if err != nil {
		return nil, err
	}
	cfg := codebook.Config{
		Dim: c.Int("d"), P: c.Float("p"), Epsilon: eps,
		Points: c.Int("points"), High: c.Int("high"), Bits: c.Int("bits"), Atoms: c.Int("atoms"),
		Provenance: provenance,
		Metadata:   map[string]string{"unit of privacy": "the whole distribution of one client"},
	}
	if t := c.String("title"); t != "" {
		cfg.Metadata["title"] = t
	}
	if s := c.String("seed"); s != "fresh" {
		b, err := hex.DecodeString(s)
		if err != nil || len(b) != len(cfg.Seed) || bytes.Equal(b, make([]byte, len(b))) {
			return nil, fmt.Errorf("-seed: %q is neither fresh nor 64 hexadecimal digits, not all zero", s)
		}
		cfg.Seed = codebook.Seed(b)
	}
	b, err := codebook.New(cfg)
	if err != nil {
		return nil, err
	}
	return b, codebook.Verify(b) // never write what would not verify
}

// vectorTally is what is known of a codebook's reports.
type vectorTally struct {
	Policy  string            `json:"policy"`
	Epoch   string            `json:"epoch,omitempty"`
	Lines   uint64            `json:"lines"`
	Reports uint64            `json:"reports"`
	Refused map[string]uint64 `json:"refused"`
	Seed    string            `json:"seed"`
	Mean    []float64         `json:"mean"`
	Points  []point           `json:"points,omitempty"` // with a fixed seed: by candidate
}

func aggregateCodebook(ctx context.Context, c *cli.Command, v vectors, files []string) error {
	switch {
	case mapped(c) != "":
		return fmt.Errorf("-%s: not for a codebook", mapped(c))
	case v.Fresh() && (c.IsSet("partial") || c.IsSet("counts")):
		return fmt.Errorf("-partial, -counts: %w", errFresh)
	case c.IsSet("out") && c.IsSet("counts"):
		return errors.New("-out has a line for each report, which -counts does not have")
	}
	mean := make([]float64, v.Config().Dim+1) // times the number of reports, until all are read
	var counts aggregate.Counts
	read := func(table io.Writer) (err error) {
		counts, err = v.readVectors(ctx, c, files, mean, table)
		return err
	}
	outs, err := []device.Output{}, error(nil)
	if c.IsSet("out") { // read while it is written: there may be more reports than memory
		err = device.WriteFiles(c.Root().Writer, device.Output{Path: c.String("out"), Fill: read})
	} else {
		err = read(io.Discard)
	}
	if err == nil {
		outs, err = partialOutput(c, counts)
	}
	if err == nil {
		err = device.WriteFiles(c.Root().Writer, outs...)
	}
	if err != nil {
		return err
	}
	for i := range mean {
		mean[i] /= float64(counts.Total())
	}
	t := vectorTally{
		Policy: hex.EncodeToString(counts.Policy[:]), Epoch: counts.Epoch, Lines: counts.Lines, Reports: counts.Total(),
		Refused: byReason(counts), Seed: v.seedText(), Mean: mean,
	}
	radius := 0.0
	if !v.Fresh() {
		list, h, err := histogramOf(c, counts.Reports, strconv.Itoa)
		if err != nil {
			return err
		}
		t.Points, radius = list, h.Radius()
	}
	if c.Bool("json") {
		err = device.PrintJSON(c.Root().Writer, t)
	} else {
		err = t.print(c, counts, radius)
	}
	if err != nil {
		return err
	}
	return someRefused(counts)
}

// readVectors counts reports, adds their points up, and writes a line candidate,x1,...,x(d+1) for each.
func (v vectors) readVectors(
	ctx context.Context, c *cli.Command, files []string, sum []float64, table io.Writer,
) (aggregate.Counts, error) {
	rows := csv.NewWriter(table)
	row := []string{"candidate"}
	for i := range sum {
		row = append(row, fmt.Sprintf("x%d", i+1))
	}
	_ = rows.Write(row)
	var failed error
	n, err := v.counter(func(r codebook.Report) {
		y, err := v.Point(r)
		if err != nil {
			failed = err
			return
		}
		row[0] = strconv.Itoa(r.Index())
		for i, x := range y {
			sum[i] += x
			row[i+1] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		_ = rows.Write(row)
	})
	if err != nil {
		return aggregate.Counts{}, err
	}
	counts, err := readCounts(ctx, c, v, n, files)
	if c.IsSet("counts") && err == nil {
		for j, times := range counts.Reports {
			y, err := v.Candidate(v.Config().Seed, j)
			if err != nil {
				return counts, err
			}
			for i, x := range y {
				sum[i] += x * float64(times)
			}
		}
	}
	rows.Flush()
	return counts, errors.Join(err, failed, rows.Error())
}

func (t vectorTally) print(c *cli.Command, counts aggregate.Counts, radius float64) error {
	out := c.Root().Writer
	norm := 0.0
	for _, v := range t.Mean {
		norm = math.Hypot(norm, v)
	}
	fmt.Fprintf(out, "%s of codebook %.12s.\n", shell.Plural(t.Reports, "report"), t.Policy)
	if counts.AllRefused() > 0 {
		fmt.Fprintf(out, "%s.\n", refusedText(counts))
	}
	fmt.Fprintf(out, "\nMean      of the points: length %.4g. The mechanism draws it towards 0 (-json has the vector).\n",
		norm)
	if t.Points == nil {
		_, err := fmt.Fprintln(out,
			"Seed      fresh: an index means nothing without it, so there is no histogram (-o FILE has the points).")
		return err
	}
	fmt.Fprintln(out, "Seed      fixed: the error of its list of candidates is in every report, and in the mean of any number of them.")
	fmt.Fprintf(out, "Sampling  with probability %v all bands hold; none is wider than %.2g on a side.\n\n",
		c.Float("confidence"), radius)
	return printPoints(out, t.Points, c.Int("top"))
}

// auditCodebook audits a codebook as the policy that it is on one list of candidates: the box, and a row for each of
// some clients, which are drawn at random from -seed. Given the list this is all of the mechanism; the list has nothing
// to do with data.
func auditCodebook(ctx context.Context, c *cli.Command, b vectors) error {
	for _, name := range []string{"command", "certificates"} {
		if c.IsSet(name) {
			return fmt.Errorf("-%s: not for a codebook", name)
		}
	}
	if c.Bool("release") && b.Fresh() {
		return errors.New("-release: fresh seeds make every index as likely as any other; audit a policy with a fixed seed")
	}
	if err := codebook.Verify(b.Codebook); err != nil {
		return fmt.Errorf("%s: %w: %w", c.Args().First(), err, device.ErrNo)
	}
	p, private, seed, err := onOneList(c, b)
	if err != nil {
		return err
	}
	cfg, done, err := auditConfig(c, p)
	if err != nil {
		return err
	}
	defer done()
	cfg.Unmixed = true
	if c.Bool("release") {
		cfg.Target = "codebook.Release, the whole private path, with random bytes from the system"
		cfg.Sampler = func(ctx context.Context, client audit.Row, n int, counts []uint64) error {
			data := private[max(client.Input, 0)]
			if client.Input == audit.Fallback {
				data = nil
			}
			for range n {
				r, err := codebook.Release(ctx, b.Codebook, policy.UnaccountedForTesting(), data)
				if err != nil {
					return err
				}
				counts[r.Index()]++
			}
			return nil
		}
	}
	report, err := audit.Run(ctx, cfg)
	if err != nil {
		return err
	}
	id := b.ID()
	report.Policy.ID, report.Policy.Mode = hex.EncodeToString(id[:]), "codebook"
	report.Notes = append(report.Notes, fmt.Sprintf(
		"A codebook: the rows are the laws of %d clients, drawn at random, on the candidates of seed %x.", len(private),
		seed))
	return finishAudit(c, report, b)
}

// onOneList returns a policy whose rows are the laws of clients on one list of candidates, their private data, and the
// list's seed.
func onOneList(c *cli.Command, b vectors) (p policy.Policy, private [][]byte, seed codebook.Seed, err error) {
	cfg := b.Config()
	key := codebook.Seed(sha256.Sum256(fmt.Appendf(nil, "wpm audit %d", c.Uint64("seed"))))
	if !c.IsSet("seed") {
		if _, err := crand.Read(key[:]); err != nil {
			return p, nil, seed, err
		}
	}
	g := rand.New(rand.NewChaCha8(key))
	if seed = cfg.Seed; b.Fresh() {
		for i := range seed {
			seed[i] = byte(g.Uint32())
		}
	}
	box := b.Box()
	conf := policy.Config{Polytope: box, Provenance: cfg.Provenance}
	add := func(label string, n int) {
		if err != nil {
			return
		}
		atoms, weights, total := make([][]float64, n), make([]float64, n), 0.0
		for i := range atoms {
			for range cfg.Dim + 1 {
				atoms[i] = append(atoms[i], g.NormFloat64())
			}
			weights[i] = 1 - g.Float64()
			total += weights[i]
		}
		for i := range weights {
			weights[i] /= total
		}
		var data []byte
		if data, err = b.FormatPrivate(atoms, weights); err != nil {
			return
		}
		var row policy.Row
		if row, err = policy.NewRow(box, b.Law(seed, atoms, weights)); err != nil {
			return
		}
		private = append(private, data)
		conf.Rows, conf.InputLabels = append(conf.Rows, row), append(conf.InputLabels, label)
	}
	for i := range audit.DefaultInputs * 3 / 4 {
		add("point "+strconv.Itoa(i), 1)
	}
	for i := range audit.DefaultInputs / 4 {
		n := min(2+i, cfg.Atoms)
		add(fmt.Sprintf("%d vectors, client %d", n, i), n)
	}
	if err != nil {
		return p, nil, seed, err
	}
	if conf.Fallback, err = policy.NewRow(box, b.Fallback()); err != nil {
		return p, nil, seed, err
	}
	p, err = policy.New(conf)
	return p, private, seed, err
}
