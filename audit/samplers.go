package audit

import (
	"bufio"
	"context"
	crand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/wpmerr"
)

// Source gives every input a stream of random bytes of its own.
type Source func(input int) io.Reader

// Seeded returns streams that are functions of seed alone: for simulations that can be repeated, never for a
// release.
func Seeded(seed uint64) Source {
	return func(input int) io.Reader {
		return rand.NewChaCha8(key("draws", seed, int64(input)))
	}
}

// CryptoRand returns the system's source, as a release uses it.
func CryptoRand() Source {
	return func(int) io.Reader { return bufio.NewReaderSize(crand.Reader, 1<<16) }
}

// checkEvery is after how many draws samplers look at their context.
const checkEvery = 1 << 12

// Draws samples the rows of a table, which must be points of the policy's box, with ldp.Weights.Sample. It simulates a
// release: the sampler is the real one, but there is no client, and so no mixed client. Errors: ErrTable for a row that
// is not in the box. The Sampler returns ErrDesign for an input without a row, and the errors of Sample and of ctx.
func Draws(p policy.Policy, t Table, source Source) (Sampler, error) {
	rows := make(map[int]ldp.Weights, len(t.Rows))
	for _, row := range t.Rows {
		w, err := p.Polytope().Weights(row.N)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrTable, row.Name, err)
		}
		rows[row.Input] = w
	}
	return func(ctx context.Context, client Row, n int, counts []uint64) error {
		w, ok := rows[client.Input]
		if !ok {
			return fmt.Errorf("%w: no row for input %d", ErrDesign, client.Input)
		}
		r := source(client.Input)
		for i := range n {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return wpmerr.Ended(ctx)
			}
			j, err := w.Sample(r)
			if err != nil {
				return err
			}
			counts[j]++
		}
		return nil
	}, nil
}

// Releases calls policy.Release, the whole private path with crypto/rand, with the data of a client. It uses no ledger,
// because the data are not those of any person. project is for projection mode.
func Releases(p policy.Policy, project policy.ProjectFunc) Sampler {
	return func(ctx context.Context, client Row, n int, counts []uint64) error {
		private, err := privateData(p, client)
		if err != nil {
			return err
		}
		for i := range n {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return wpmerr.Ended(ctx)
			}
			r, err := policy.Release(ctx, p, ledger.UnaccountedForTesting(), private, project)
			if err != nil {
				return err
			}
			counts[r.Index()]++
		}
		return nil
	}
}
