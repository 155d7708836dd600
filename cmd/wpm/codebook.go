package main

import (
	"bufio"
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// What the commands do with the policy of a codebook. readPolicy is where the kinds part: it returns a vectorPolicy as
// its error, which the commands that have a use for it take up with asCodebook, and which tells the users of the
// others.

type vectorPolicy struct {
	path string
	book *codebook.Codebook
}

func (e vectorPolicy) Error() string {
	return e.path + ": a codebook's policy, which this command does not take; see wpm release, verify, audit, aggregate, report"
}

func readCodebook(path string, data []byte) error {
	b, err := codebook.Decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return vectorPolicy{path, b}
}

func asCodebook(err error) (*codebook.Codebook, bool) {
	var v vectorPolicy
	ok := errors.As(err, &v)
	return v.book, ok
}

// codebookFlags are those of "wpm sphere" that say what its policy is.
func codebookFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write a codebook's policy to `FILE`"},
		&cli.IntFlag{Name: "points", HideDefault: true, Usage: "with -out: candidates, `N` (default 1024)"},
		&cli.IntFlag{Name: "high", HideDefault: true, Usage: "with -out: candidates that are high for one point, `K` (default: the cap's share)"},
		&cli.IntFlag{Name: "bits", HideDefault: true, Usage: "with -out: probabilities are multiples of 2^-`B` (default 62)"},
		&cli.IntFlag{Name: "atoms", HideDefault: true, Usage: "with -out: the most vectors of a client, `N` (default 64)"},
		&cli.StringFlag{Name: "seed", Value: "fresh", Usage: "with -out: of the candidates; `HEX`, 64 digits, for one list, which biases means"},
		&cli.StringFlag{Name: "title", Usage: "with -out: what the mechanism is for; goes into the policy"},
		&cli.StringFlag{Name: "geometry", Usage: "with -out: where the vectors' space comes from: `ORIGIN` public, or derived-dp:EPS"},
		&cli.StringFlag{Name: "base", Usage: "with -out: where points, high and p come from: `ORIGIN` data-independent, or derived-dp:EPS"},
		&cli.StringFlag{Name: "note", Usage: "with -out: more about that, one line; goes into its provenance"},
	}
}

// designCodebook returns the policy that -out asks for.
func designCodebook(c *cli.Command) (*codebook.Codebook, error) {
	if c.String("out") == "-" {
		return nil, errors.New("-out: standard output is taken by the card; name a file")
	}
	if err := positive(c, "points", "high", "bits", "atoms"); err != nil {
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

func seedText(b *codebook.Codebook) string {
	if b.Fresh() {
		return "fresh"
	}
	seed := b.Config().Seed
	return hex.EncodeToString(seed[:])
}

func verifyCodebook(c *cli.Command, b *codebook.Codebook, want conditions) error {
	if c.Bool("utility") {
		return errors.New("-utility: a codebook's policy claims none; \"wpm sphere -prove\" bounds the optimum")
	}
	err := codebook.Verify(b)
	if err == nil {
		err = want.meets(b.ID(), b.Epsilon())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", c.Args().First(), err)
		if c.Bool("json") {
			_ = printJSON(c.Root().Writer, map[string]any{"verified": false, "reason": err.Error()})
		}
		return fmt.Errorf("%w: %w", err, errNo)
	}
	warn(c.Root().ErrWriter, b)
	cfg, id := b.Config(), b.ID()
	if c.Bool("json") {
		fields := publisherJSON(b)
		maps.Copy(fields, map[string]any{
			"verified": true, "id": hex.EncodeToString(id[:]), "mode": "codebook", "seed": seedText(b),
			"epsilon": cfg.Epsilon.String(), "bits": cfg.Bits, "dimension": cfg.Dim, "p": cfg.P,
			"points": cfg.Points, "high": cfg.High, "atoms": cfg.Atoms,
		})
		return printJSON(c.Root().Writer, fields)
	}
	_, err = fmt.Fprintf(c.Root().Writer,
		"verified: eps = %s for up to %d vectors of %d coordinates, %d points, %d high, exact in units of 2^-%d\n"+
			"in words: %s\ncodebook, seed %s, sha256 %x\n%s",
		cfg.Epsilon, cfg.Atoms, cfg.Dim+1, cfg.Points, cfg.High, cfg.Bits, inWords(cfg.Epsilon), seedText(b), id, publisherText(b))
	return err
}

func releaseCodebook(ctx context.Context, c *cli.Command, b *codebook.Codebook, vectors string, want conditions) error {
	if c.IsSet("solver") {
		return errors.New("-solver: a codebook has one of its own")
	}
	if err := want.meets(b.ID(), b.Epsilon()); err != nil {
		return fmt.Errorf("%s: %w: %w", c.Args().First(), err, errNo)
	}
	if c.IsSet("check") {
		warn(c.Root().ErrWriter, b)
		data, err := readVectors(vectors, c.Root().Reader)
		if err != nil {
			return err
		}
		if err := b.CheckPrivate(data); err != nil {
			return fmt.Errorf("%s: %w: a release would use the public fallback: %w", vectors, err, errNo)
		}
		_, err = fmt.Fprintln(c.Root().Writer, "usable")
		return err
	}
	ledger, done, err := openLedger(c, b, want.maxEpsilon)
	if err != nil {
		return err
	}
	// From here on nothing may depend on what the private bytes are.
	private, err := readVectors(vectors, c.Root().Reader)
	if err != nil {
		return errors.Join(err, done())
	}
	report, err := codebook.Release(ctx, b, ledger, private)
	if err := errors.Join(err, done()); err != nil {
		if errors.Is(err, policy.ErrBudget) {
			return fmt.Errorf("%s: %w: %w", c.String("ledger"), err, errNo)
		}
		return err
	}
	out, err := report.MarshalText()
	if c.Bool("binary") {
		out, err = report.MarshalBinary()
	} else {
		out = append(out, '\n')
	}
	if err != nil {
		return err
	}
	return writeReport(c, out)
}

// readVectors reads private vectors as they are.
func readVectors(path string, stdin io.Reader) ([]byte, error) {
	f, err := open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, policy.MaxBytes+1)
}

// codebookReports opens the reports of a command's second argument, of which each must belong to the policy.
func codebookReports(c *cli.Command, b *codebook.Codebook) ([]codebook.Report, error) {
	if c.Args().Len() > 2 {
		return nil, errors.New("a codebook's reports are read from one file")
	}
	name := "-"
	if c.Args().Len() == 2 {
		name = c.Args().Get(1)
	}
	f, err := open(name, c.Root().Reader)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var all []codebook.Report
	add := func(where string, read func(r *codebook.Report) error) error {
		var r codebook.Report
		err := read(&r)
		if err == nil {
			err = b.Belongs(r)
		}
		if err != nil {
			return fmt.Errorf("%s%s: %w", name, where, err)
		}
		all = append(all, r)
		return nil
	}
	if magic, _ := in.Peek(4); string(magic) == "wpc1" {
		buf := make([]byte, codebook.ReportSize)
		for n := 1; ; n++ {
			_, err := io.ReadFull(in, buf)
			if err == io.EOF {
				return all, nil
			}
			if err == nil {
				err = add(fmt.Sprintf(": report %d", n), func(r *codebook.Report) error { return r.UnmarshalBinary(buf) })
			}
			if err != nil {
				return nil, err
			}
		}
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := add(fmt.Sprintf(":%d", n), func(r *codebook.Report) error { return r.UnmarshalText(line) }); err != nil {
			return nil, err
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// showCodebook prints the index and the point of each report.
func showCodebook(c *cli.Command, b *codebook.Codebook) error {
	reports, err := codebookReports(c, b)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.Root().Writer)
	for _, r := range reports {
		y, err := b.Point(r)
		if err != nil {
			return err
		}
		text, err := json.Marshal(y)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			fmt.Fprintf(out, "{\"index\":%d,\"point\":%s}\n", r.Index(), text)
		} else {
			fmt.Fprintf(out, "%d\t%s\n", r.Index(), text[1:len(text)-1])
		}
	}
	return out.Flush()
}

// vectorTally is what is known of a codebook's reports.
type vectorTally struct {
	Policy  string    `json:"policy"`
	Reports int       `json:"reports"`
	Seed    string    `json:"seed"`
	Mean    []float64 `json:"mean"`
	Points  []point   `json:"points,omitempty"` // with a fixed seed: by candidate
}

func aggregateCodebook(c *cli.Command, b *codebook.Codebook) error {
	for _, flag := range []string{"invert", "partial", "counts", "epoch", "strict"} {
		if c.IsSet(flag) {
			return fmt.Errorf("-%s: not for a codebook", flag)
		}
	}
	if c.IsSet("top") && c.Int("top") < 0 {
		return fmt.Errorf("-top: %d is negative", c.Int("top"))
	}
	file := c.String("out")
	if file == "-" {
		return errors.New("-out: standard output is taken by the summary; use -json, or a file")
	}
	if err := apart([]string{file}, c.Args().Slice()); err != nil {
		return err
	}
	reports, err := codebookReports(c, b)
	if err != nil {
		return err
	}
	if len(reports) == 0 {
		return errors.New("no reports")
	}
	id := b.ID()
	t := vectorTally{Policy: hex.EncodeToString(id[:]), Reports: len(reports), Seed: seedText(b)}
	t.Mean = make([]float64, b.Config().Dim+1)
	var table bytes.Buffer
	rows := csv.NewWriter(&table)
	head := []string{"candidate"}
	for i := range t.Mean {
		head = append(head, fmt.Sprintf("x%d", i+1))
	}
	_ = rows.Write(head)
	indices := make([]int, len(reports))
	for n, r := range reports {
		y, err := b.Point(r)
		if err != nil {
			return err
		}
		indices[n] = r.Index()
		row := []string{strconv.Itoa(r.Index())}
		for i, v := range y {
			t.Mean[i] += v / float64(len(reports))
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		_ = rows.Write(row)
	}
	radius := 0.0
	if rows.Flush(); !b.Fresh() {
		counts, err := aggregate.Count(b.Config().Points, indices)
		if err != nil {
			return err
		}
		h, err := aggregate.NewHistogram(counts, aggregate.Settings{Confidence: c.Float("confidence")})
		if errors.Is(err, aggregate.ErrConfidence) {
			return fmt.Errorf("-confidence: %v is not from 0.5 to below 1", c.Float("confidence"))
		}
		if err != nil {
			return err
		}
		for j := range counts {
			t.Points = append(t.Points, point{strconv.Itoa(j), h.Counts[j], h.Estimate[j], h.Lower[j], h.Upper[j]})
		}
		radius = h.Radius()
	}
	if file != "" {
		if err := writeFiles(c.Root().Writer, output{file, table.Bytes()}); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.Root().Writer, t)
	}
	out := c.Root().Writer
	norm := 0.0
	for _, v := range t.Mean {
		norm = math.Hypot(norm, v)
	}
	fmt.Fprintf(out, "%d reports of codebook %.12s.\n\n", t.Reports, t.Policy)
	fmt.Fprintf(out, "Mean      of the points: length %.4g. The mechanism draws it towards 0 (-json has the vector).\n", norm)
	if b.Fresh() {
		_, err := fmt.Fprintln(out, "Seed      fresh: an index means nothing without it, so there is no histogram (-o FILE has the points).")
		return err
	}
	fmt.Fprintln(out, "Seed      fixed: the luck of its candidates is in every report, and in the mean of any number of them.")
	fmt.Fprintf(out, "Sampling  with probability %v every share is within its band, at most %.2g wide on a side.\n\n",
		c.Float("confidence"), radius)
	return printPoints(out, t.Points, c.Int("top"))
}

// auditCodebook audits a codebook as the policy that it is on one list of candidates: the box, and a row for each of
// some clients, which are drawn at random from -seed. Given the list this is all of the mechanism; the list has nothing
// to do with data.
func auditCodebook(ctx context.Context, c *cli.Command, b *codebook.Codebook) error {
	for _, name := range []string{"command", "certificates"} {
		if c.IsSet(name) {
			return fmt.Errorf("-%s: not for a codebook", name)
		}
	}
	if c.Bool("release") && b.Fresh() {
		return errors.New("-release: fresh seeds make every index as likely as any other; audit a policy with a fixed seed")
	}
	if err := codebook.Verify(b); err != nil {
		return fmt.Errorf("%s: %w: %w", c.Args().First(), err, errNo)
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
				r, err := codebook.Release(ctx, b, policy.UnaccountedForTesting(), data)
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
		"A codebook: the rows are the laws of %d clients, drawn at random, on the candidates of seed %x.", len(private), seed))
	return finishAudit(c, report, b)
}

// onOneList returns a policy whose rows are the laws of clients on one list of candidates, their private data, and the
// list's seed.
func onOneList(c *cli.Command, b *codebook.Codebook) (p policy.Policy, private [][]byte, seed codebook.Seed, err error) {
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
