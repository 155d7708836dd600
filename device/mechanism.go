package device

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// Mechanism is a policy of any kind, as the commands need it.
type Mechanism interface {
	ID() [32]byte
	Stated
	// Schedule is when a report may be released; the zero Schedule is at any time.
	Schedule() ledger.Schedule
	// Verify checks the policy again from the beginning. Every error but ctx.Err() means that the policy is refused. If
	// the verdict beside it has bits, privacy holds, and the error says what does not.
	Verify(ctx context.Context) (Verdict, error)
	// Prepare refuses a policy that this program cannot release, with ErrNo if the policy is the reason, or returns the
	// Release that draws. It does not depend on private data, and is called before anything is paid.
	Prepare() (Release, error)
	// Check says why a release would use the public fallback for these private data; nil if it would use the data.
	Check(private []byte) error
}

// Stated is what a policy of any kind states.
type Stated interface {
	Epsilon() ldp.Epsilon
	Provenance() policy.Provenance
	Metadata() map[string]string
}

// Release draws one report.
type Release struct {
	// Draw pays from the ledger and draws. Neither its error nor the length of its report depends on the private data.
	Draw func(ctx context.Context, l ledger.Ledger, private []byte) (Report, error)
}

// Report is a report of any kind.
type Report interface {
	encoding.TextMarshaler
	encoding.BinaryMarshaler
}

// Verdict is what Verify found out about a valid policy.
type Verdict struct {
	Size   string         // what the guarantee is for: "for 3 inputs and 2 outputs"
	Bits   int            // the integers are exact in units of 2^-Bits
	Form   string         // "mode mixture"
	Claims string         // further lines: what else was checked, or was not
	JSON   map[string]any // of this kind alone
}

// Points is a policy of points without its cost: the part that a device needs.
type Points struct {
	policy.Policy
	// VerifyRows checks all thresholds; nil is policy.VerifyRows on one core.
	VerifyRows func(context.Context, policy.Policy) error
}

// OpenPoints decodes a policy of points. Errors: those of policy.Decode.
func OpenPoints(data []byte) (Mechanism, error) {
	p, err := policy.Decode(data)
	if err != nil {
		return nil, err
	}
	return Points{Policy: p}, nil
}

// Verify checks the integers and leaves the cost alone. Errors: those of policy.Verify.
func (p Points) Verify(context.Context) (Verdict, error) {
	if err := policy.Verify(p.Policy); err != nil {
		return Verdict{}, err
	}
	return Verdict{
		Size: fmt.Sprintf("for %d inputs and %d outputs", p.Inputs(), p.Outputs()), Bits: p.Polytope().Bits(),
		Form: "mode " + string(p.Mode()), Claims: "cost: not loaded\n",
		JSON: map[string]any{"inputs": p.Inputs(), "outputs": p.Outputs(), "mode": p.Mode(), "cost": "not loaded"},
	}, nil
}

// Prepare refuses a projection policy: there is no solver here. The error is ErrNo then.
func (p Points) Prepare() (Release, error) {
	if p.Mode() == policy.Projection {
		return Release{}, fmt.Errorf("the policy is in projection mode, which needs a solver: use wpm release: %w", ErrNo)
	}
	return p.Released(nil), nil
}

// Released returns the draw with a solver, which the mode may not need.
func (p Points) Released(by policy.Projector) Release {
	return Release{Draw: func(ctx context.Context, l ledger.Ledger, private []byte) (Report, error) {
		return policy.Release(ctx, p.Policy, l, private, by)
	}}
}

// Check reads the data as a release does. Errors: those of policy.ParsePrivate.
func (p Points) Check(private []byte) error {
	_, err := policy.ParsePrivate(p.Policy, private)
	return err
}

// IsFalse distinguishes a policy that is well formed but invalid from a policy that cannot be read.
func IsFalse(err error) bool {
	return errors.Is(err, ldp.ErrBox) || errors.Is(err, ldp.ErrInfeasible) || errors.Is(err, policy.ErrRow)
}

// OpenPolicy reads a policy file. Errors: those of Open and of e.Open, with its name.
func (e *Env) OpenPolicy(path string) (Mechanism, error) {
	f, err := Open(path, e.In)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; \"wpm design -help\" says how to make a policy", err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	open := e.Open
	if open == nil {
		open = OpenPoints
	}
	m, err := open(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}
