package certificate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify decides whether a certificate proves what it states, and returns the bounds that the evidence proves,
// which may be better than the stated ones. It checks, in this order:
//
//   - the problem has the stated hash (ErrHash);
//   - the cost is there, has the hash that the problem names, and the right size (ErrCost; see WithCost);
//   - the solver package's own Verify accepts the evidence, in exact rational arithmetic (ErrEvidence);
//   - stated lower <= proved lower and stated upper >= proved upper (ErrClaim).
//
// If ctx ends first, the error is wpmerr.ErrNotConverged.
//
// Errors about a private certificate say what is wrong and may quote its numbers, so they are as private as the
// certificate.
func Verify(ctx context.Context, c Certificate) (Bounds, error) {
	b, _, err := verify(wpmerr.Context(ctx), c, nil)
	return b, err
}

// VerifyCost is Verify of a certificate that names its cost by hash alone, as one of a large matrix does, with that cost.
// It writes m as text, to hash it: 0.1 us an entry. Errors: ErrCost if m is another, or c.NeedsCost is false, and those of
// Verify.
func VerifyCost(ctx context.Context, c Certificate, m cost.Matrix) (Bounds, error) {
	ctx = wpmerr.Context(ctx)
	if !c.NeedsCost() {
		return Bounds{}, fmt.Errorf("%w: the certificate has one of its own, or needs none", ErrCost)
	}
	got, _, err := costText(ctx, m)
	if err != nil {
		return Bounds{}, err
	}
	if want := *c.c.body.costHash(); got != want {
		return Bounds{}, fmt.Errorf("%w: it has hash %x, the problem names %x", ErrCost, got[:6], want[:6])
	}
	if err := sameSize(c.c.body, m); err != nil {
		return Bounds{}, err
	}
	b, _, err := verify(ctx, c, m)
	return b, err
}

// checkHash compares the problem with its hash.
func (n *content) checkHash() error {
	problem, err := json.Marshal(n.body.problem())
	if err != nil { // not possible: it has been encoded before
		return fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if got := sha256.Sum256(problem); got != n.hash {
		return fmt.Errorf("%w: it has %x, stated is %x", ErrHash, got[:6], n.hash[:6])
	}
	return nil
}

// verify is Verify, with the cost m if that is not nil, and returns the cost, nil for kinds without one.
func verify(ctx context.Context, c Certificate, m cost.Matrix) (Bounds, cost.Matrix, error) {
	n := c.c
	if n == nil {
		return Bounds{}, nil, ErrCertificate
	}
	if err := n.checkHash(); err != nil {
		return Bounds{}, nil, err
	}
	if m == nil {
		var err error
		if m, err = n.matrix(); err != nil {
			return Bounds{}, nil, err
		}
	}
	lower, upper, err := n.body.bounds(ctx, m)
	if ctx.Err() != nil {
		return Bounds{}, nil, wpmerr.Ended(ctx)
	}
	if err != nil {
		return Bounds{}, nil, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if n.lower.Cmp(lower) > 0 {
		return Bounds{}, nil, fmt.Errorf("%w: stated lower bound %s, proved %s", ErrClaim, show(n.lower), show(lower))
	}
	if n.upper.Cmp(upper) < 0 {
		return Bounds{}, nil, fmt.Errorf("%w: stated upper bound %s, proved %s", ErrClaim, show(n.upper), show(upper))
	}
	return Bounds{Lower: lower, Upper: upper}, m, nil
}

// matrix builds the cost, nil for kinds without one.
func (n *content) matrix() (cost.Matrix, error) {
	if !n.spec.cost {
		return nil, nil
	}
	want := *n.body.costHash()
	if n.cost == nil {
		return nil, fmt.Errorf("%w: it is not in the certificate; the problem names %x", ErrCost, want[:6])
	}
	if got := digest(sha256.Sum256(n.cost)); got != want {
		return nil, fmt.Errorf("%w: it has hash %x, the problem names %x", ErrCost, got[:6], want[:6])
	}
	m, err := readCost(n.cost)
	if err != nil {
		return nil, err
	}
	return m, sameSize(n.body, m)
}

func sameSize(b body, c cost.Matrix) error {
	k, kv := b.dims()
	if ck, ckv := c.Dims(); ck != k || ckv != kv {
		return fmt.Errorf("%w: it is %d x %d, the problem %d x %d", ErrCost, ck, ckv, k, kv)
	}
	return nil
}

func show(r *big.Rat) string {
	x, _ := r.Float64()
	return fmt.Sprintf("%.17g", x)
}
