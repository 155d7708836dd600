package publisher

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/ldp"
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
