package certificate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Certificate is a problem, bounds, and the evidence for them. It is immutable, safe for concurrent use, and made by
// one of the New functions or by Decode. A Certificate is not yet a proof: Verify decides whether it holds. The zero
// Certificate is refused everywhere.
//
// A private certificate (see Private) prints as a fixed text under every verb and encoder. A public one prints
// its kind, sizes and problem hash, and marshals to its text.
type Certificate struct{ c *content }

// content does not change after build or Decode.
type content struct {
	spec         *kindSpec
	body         body
	hash         digest // of the problem, as stated
	lower, upper *big.Rat
	cost         []byte // canonical text, nil if supplied apart
	text         []byte // of the certificate
}

// Bounds are the two ends of an enclosure.
type Bounds struct{ Lower, Upper *big.Rat }

// Floats returns the ends rounded outward to float64, so that they hold, too.
func (b Bounds) Floats() (lower, upper float64) { return num.Down(b.Lower), num.Up(b.Upper) }

// build makes the certificate of a body with its own copies, by way of its text. c is nil for kinds without a
// cost. A cost that would make the text longer than MaxBytes is named by its hash alone.
func build(ctx context.Context, spec *kindSpec, b body, c cost.Matrix, lower, upper *big.Rat) (Certificate, error) {
	if err := b.check(); err != nil {
		return Certificate{}, err
	}
	n := &content{spec: spec, body: b, lower: lower, upper: upper}
	if spec.cost {
		var err error
		if *b.costHash(), n.cost, err = costText(ctx, c); err != nil {
			return Certificate{}, err
		}
	}
	problem, err := json.Marshal(b.problem())
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	n.hash = sha256.Sum256(problem)
	text, err := n.encode()
	if err == nil && len(text) > MaxBytes && n.cost != nil {
		n.cost = nil
		text, err = n.encode()
	}
	if err != nil {
		return Certificate{}, err
	}
	if len(text) > MaxBytes {
		return Certificate{}, fmt.Errorf("%w: the certificate has %d bytes, at most %d", ErrLimit, len(text), MaxBytes)
	}
	return Decode(text)
}

// Kind returns what the certificate is about, "" for the zero Certificate.
func (c Certificate) Kind() Kind {
	if c.c == nil {
		return ""
	}
	return c.c.spec.kind
}

// Private reports whether the certificate holds somebody's distribution. The zero Certificate does not.
func (c Certificate) Private() bool { return c.c != nil && c.c.spec.private }

// Dims returns the numbers of inputs and outputs, 0 and 0 for a kind that has no such numbers.
func (c Certificate) Dims() (k, kv int) {
	if c.c == nil {
		return 0, 0
	}
	return c.c.body.dims()
}

// Epsilon returns the eps of the problem, exactly; ok is false if the kind has none.
func (c Certificate) Epsilon() (eps float64, ok bool) {
	if c.c == nil {
		return 0, false
	}
	e, ok := c.c.body.(interface{ epsilon() float64 })
	if !ok {
		return 0, false
	}
	return e.epsilon(), true
}

// ProblemHash returns the stated SHA-256 of the problem. That of a private problem is private: whoever can
// guess the distribution can confirm the guess.
func (c Certificate) ProblemHash() [sha256.Size]byte {
	if c.c == nil {
		return [sha256.Size]byte{}
	}
	return c.c.hash
}

// CostHash returns the SHA-256 of the canonical text of the cost; ok is false if the kind has no cost.
func (c Certificate) CostHash() (hash [sha256.Size]byte, ok bool) {
	if c.c == nil || !c.c.spec.cost {
		return hash, false
	}
	return *c.c.body.costHash(), true
}

// NeedsCost reports whether the kind is about a cost that the certificate does not contain: WithCost supplies
// it.
func (c Certificate) NeedsCost() bool { return c.c != nil && c.c.spec.cost && c.c.cost == nil }

// Stated returns the bounds as stated; they count once Verify has returned nil.
func (c Certificate) Stated() Bounds {
	if c.c == nil {
		return Bounds{}
	}
	return Bounds{new(big.Rat).Set(c.c.lower), new(big.Rat).Set(c.c.upper)}
}

// Meaning says in words what the bounds enclose.
func (c Certificate) Meaning() string {
	if c.c == nil {
		return ""
	}
	return c.c.spec.bounds
}

// Claim returns the certificate with weaker claims: a lower bound that is not above the stated one, an upper bound that
// is not below it. A policy uses it to state short fractions, and an upper bound that covers its rounding to integers.
// Errors: ErrClaim, ErrCertificate.
func (c Certificate) Claim(b Bounds) (Certificate, error) {
	if c.c == nil {
		return Certificate{}, ErrCertificate
	}
	if b.Lower == nil || b.Upper == nil || b.Lower.Cmp(c.c.lower) > 0 || b.Upper.Cmp(c.c.upper) < 0 {
		return Certificate{}, fmt.Errorf("%w: not weaker than what is stated", ErrClaim)
	}
	n := *c.c
	n.lower, n.upper = new(big.Rat).Set(b.Lower), new(big.Rat).Set(b.Upper)
	return n.finish()
}

// WithoutCost returns the certificate without its cost, which is then named by its hash alone. Errors: ErrCertificate
// for the zero certificate, ErrLimit.
func (c Certificate) WithoutCost() (Certificate, error) {
	if c.c == nil {
		return Certificate{}, ErrCertificate
	}
	n := *c.c
	n.cost = nil
	return n.finish()
}

// WithCost returns the certificate with the cost of the given text, the canonical JSON of a cost.Spec such as a
// policy holds. It must have the hash that the problem states: ErrCost.
func (c Certificate) WithCost(spec []byte) (Certificate, error) {
	if c.c == nil {
		return Certificate{}, ErrCertificate
	}
	want, ok := c.CostHash()
	if !ok {
		return Certificate{}, fmt.Errorf("%w: a %s certificate has none", ErrCost, c.Kind())
	}
	if got := sha256.Sum256(spec); got != want {
		return Certificate{}, fmt.Errorf("%w: it has hash %x, the problem names %x", ErrCost, got[:6], want[:6])
	}
	n := *c.c
	n.cost = bytes.Clone(spec)
	return n.finish()
}

// finish encodes a changed copy.
func (n content) finish() (Certificate, error) {
	text, err := n.encode()
	if err != nil {
		return Certificate{}, err
	}
	if len(text) > MaxBytes {
		return Certificate{}, fmt.Errorf("%w: the certificate has %d bytes, at most %d", ErrLimit, len(text), MaxBytes)
	}
	n.text = text
	return Certificate{&n}, nil
}

// String names a public certificate by kind, sizes and problem hash, and a private one by a fixed text.
func (c Certificate) String() string {
	switch {
	case c.c == nil:
		return "certificate(zero)"
	case c.c.spec.private:
		return "certificate(private, not shown)"
	}
	k, kv := c.Dims()
	if k == 0 {
		return fmt.Sprintf("certificate(%s, problem %s)", c.Kind(), hex.EncodeToString(c.c.hash[:6]))
	}
	return fmt.Sprintf("certificate(%s, %d x %d, problem %s)", c.Kind(), k, kv, hex.EncodeToString(c.c.hash[:6]))
}

// GoString is String.
func (c Certificate) GoString() string { return c.String() }

// Format prints String under every verb.
func (c Certificate) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalJSON returns the text of a public certificate, and the String of a private one. There is no error.
func (c Certificate) MarshalJSON() ([]byte, error) {
	if c.c == nil || c.c.spec.private {
		return json.Marshal(c.String())
	}
	return bytes.Clone(c.c.text), nil
}

// MarshalText returns String. There is no error.
func (c Certificate) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
