package auditor

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// auditCodebook audits a codebook as the policy that it is on one list of candidates: the box, and a row for each of
// some clients, which are drawn at random from -seed. Given the list this is all of the mechanism; the list has nothing
// to do with data.
func auditCodebook(ctx context.Context, c *cli.Command, b published.Vectors) error {
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
	cfg, done, err := auditConfig(ctx, c, p)
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
				r, err := codebook.Release(ctx, b.Codebook, ledger.UnaccountedForTesting(), data)
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
func onOneList(c *cli.Command, b published.Vectors) (p policy.Policy, private [][]byte, seed codebook.Seed, err error) {
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
