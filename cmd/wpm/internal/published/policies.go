// Package published reads policies of either kind, of points and of codebooks, for the commands that take both. It has
// what a device need not have: the cost and its claims, and a solver in a process of its own.
package published

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cmd/wpm/internal/summed"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// MaxUtility is the largest cost matrix that other commands recompute claims of, or write out. A test lowers it.
var MaxUtility = 1 << 24

// Program is what people call this program.
const Program = "wpm"

// Env is what a command runs in.
func Env(c *cli.Command) *device.Env {
	root := c.Root()
	return &device.Env{Program: Program, In: root.Reader, Out: root.Writer, Err: root.ErrWriter, Open: Options{}.Open}
}

// QuickUtility is the largest cost matrix for which verify recomputes the utility claims unasked: some seconds. A test
// lowers it.
var QuickUtility = 1 << 29

// Options are what flags say of the use of a policy.
type Options struct {
	PrivacyOnly, Utility bool // of verify
	// Devices, of verify, asks what so many reports guarantee if they are only summed, at Delta; 0 is the common delta.
	Devices     int
	Delta       float64
	Solver      wpm.Solver
	SolverGiven bool
}

// Open reads a policy of either kind.
func (o Options) Open(data []byte) (device.Mechanism, error) {
	if o.Utility && o.PrivacyOnly {
		return nil, errors.New("-utility does not go with -privacy-only")
	}
	if codebook.IsPolicy(data) {
		switch b, err := codebook.Decode(data); {
		case err == nil && o.Utility:
			return nil, errors.New("-utility: a codebook's policy claims none; \"wpm sphere -prove\" bounds the optimum")
		case err == nil && o.SolverGiven:
			return nil, errors.New("-solver: a codebook has one of its own")
		default:
			return Vectors{b, o}, err
		}
	}
	p, err := policy.Decode(data)
	return Points{device.Points{Policy: p, VerifyRows: audit.Thresholds}, o}, err
}

// ErrVectors is for a command that takes a policy of points alone.
var ErrVectors = errors.New("a codebook's policy, which this command does not take; " +
	"see wpm release, verify, audit, aggregate, report")

// Points is a policy of points with its cost.
type Points struct {
	device.Points
	Options
}

// Admit refuses a policy that no client could use. It is the same for everyone who gets a policy: design before it is
// written, verify, audit, and release before anything is paid.
func Admit(p policy.Policy) error {
	if err := wpm.CheckCost(p); err != nil {
		return fmt.Errorf("no client can use the cost in this policy: %w", err)
	}
	return nil
}

// Verify decides what the policy claims about utility, too.
func (p Points) Verify(ctx context.Context) (device.Verdict, error) {
	v, err := p.Points.Verify(ctx)
	if err == nil {
		err = Admit(p.Policy)
	}
	if err != nil {
		return v, err
	}
	central, err := p.central(v.JSON, p.Polytope())
	if err != nil {
		return v, err
	}
	utility := "not checked (-utility does)"
	switch {
	case len(p.Certificate()) == 0:
		utility = "no claims"
	case p.Utility || !p.PrivacyOnly && p.Inputs() <= QuickUtility/p.Outputs():
		_, bounds, err := certificate.CheckPolicy(ctx, p.Policy)
		if err != nil {
			return v, fmt.Errorf("what the policy says of its utility does not hold: %w", err)
		}
		worst, _ := bounds.Worst.Float64()
		least, _ := bounds.Lower.Float64()
		u := places.UnitOfPolicy(p.Policy)
		utility = fmt.Sprintf("worst case %.10g %s%s, at input %q; at least %.10g %s%s for any mechanism; "+
			"recomputed, the stated bounds hold", worst, u.Costs(), u.Root(worst), p.InputLabel(bounds.Input), least, u.Costs(), u.Root(least))
	}
	delete(v.JSON, "cost")
	v.JSON["utility"] = utility
	v.Claims = central + "utility: " + utility + "\n"
	if p.PrivacyOnly {
		return v, nil
	}
	alike, err := Alike(ctx, p.Policy)
	if text := alike.String(); text != "" {
		v.Claims += "map: " + text + "\n"
	}
	if n := alike.Shared(); n > 0 {
		v.JSON["alike"] = n
	}
	return v, err
}

// central says what -devices asks for: a line, and a member of the JSON.
func (o Options) central(fields map[string]any, box *ldp.Polytope) (string, error) {
	if o.Devices == 0 {
		return "", nil
	}
	c, _, err := summed.Of(box, o.Devices, o.Delta)
	if err != nil {
		return "", fmt.Errorf("-devices: %w", err)
	}
	fields["central"] = c
	return fmt.Sprintf("central: %d reports of one epoch or slot, if only their sum or their mixture is seen and all are honest, are "+
		"%v-DP (eps, delta)\n", o.Devices, c), nil
}

// Same are the places that a policy does not tell apart.
type Same struct{ patch.Patches }

// Pairs of an input and an output up to which Alike takes a second or two: of few axes, where a tree of the outputs finds
// the nearest ones, and of any policy.
const (
	quickPairs, quickRows = 1 << 29, 1 << 27
	fewAxes               = 3
)

// Alike finds them; none for projection mode. The error is that of ctx.
func Alike(ctx context.Context, p policy.Policy) (s Same, err error) {
	if p.Mode() != policy.Mixture {
		return s, nil
	}
	most := quickPairs
	if p.Axes() > fewAxes {
		most = quickRows
	}
	if p.Inputs() > most/p.Outputs() {
		s.Unknown = true
		return s, nil
	}
	ch, err := atlas.ChannelOf(ctx, p, nil)
	if err == nil {
		s.Patches, err = patch.Quick(ctx, ch)
		s.Unknown = errors.Is(err, patch.ErrLimit)
	}
	return s, ctx.Err() // rows that are none are what others complain of
}

// String says it in a line, and what tells them apart; "" if all are told apart.
func (s Same) String() string {
	const more = `; "wpm design -devices N" makes a policy for the map of N devices, which tells more apart`
	text := s.Patches.String()
	if text == "" {
		return ""
	}
	return text + more
}

// Prepare finds the solver, which a release starts in a process of its own.
func (p Points) Prepare() (device.Release, error) {
	if err := Admit(p.Policy); err != nil {
		return device.Release{}, fmt.Errorf("%w: %w", err, device.ErrNo)
	}
	if p.Mode() == policy.Mixture {
		return p.Released(nil), nil
	}
	by, err := Projector(context.Background(), p.Policy, p.Solver)
	if err != nil {
		return device.Release{}, err
	}
	return p.Released(by), nil
}

// Check names the label that may have been meant.
func (p Points) Check(private []byte) error {
	err := p.Points.Check(private)
	if hint := places.LabelHint(p.Policy, private, err); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// Vectors is the policy of a codebook.
type Vectors struct {
	*codebook.Codebook
	Options
}

// Schedule is the zero one: a codebook has none.
func (v Vectors) Schedule() ledger.Schedule { return ledger.Schedule{} }

// Verify checks the box and the solver's numbers that it comes from.
func (v Vectors) Verify(context.Context) (device.Verdict, error) {
	if err := codebook.Verify(v.Codebook); err != nil {
		return device.Verdict{}, err
	}
	cfg := v.Config()
	out := device.Verdict{
		Size: fmt.Sprintf("for up to %d vectors of %d coordinates, %d points, %d high",
			cfg.Atoms, cfg.Dim+1, cfg.Points, cfg.High),
		Bits: cfg.Bits, Form: "codebook, seed " + v.SeedText(),
		JSON: map[string]any{
			"mode": "codebook", "seed": v.SeedText(), "dimension": cfg.Dim, "p": cfg.P,
			"points": cfg.Points, "high": cfg.High, "atoms": cfg.Atoms,
		},
	}
	var err error
	out.Claims, err = v.central(out.JSON, v.Box())
	return out, err
}

// Prepare has nothing to do.
func (v Vectors) Prepare() (device.Release, error) {
	return device.Release{Draw: func(ctx context.Context, l ledger.Ledger, private []byte) (device.Report, error) {
		return codebook.Release(ctx, v.Codebook, l, private)
	}}, nil
}

// Check reads the data as a release does.
func (v Vectors) Check(private []byte) error { return v.CheckPrivate(private) }

// SeedText is the seed of the candidates, or fresh.
func (v Vectors) SeedText() string {
	if v.Fresh() {
		return "fresh"
	}
	seed := v.Config().Seed
	return hex.EncodeToString(seed[:])
}
