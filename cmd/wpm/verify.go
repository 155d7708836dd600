package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere/codebook"
)

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a policy: exit status 0 only if its integer certificate holds",
		ArgsUsage: "POLICY",
		Description: "Reads the policy, checks its form byte for byte, and decides in integers that every output is at most\n" +
			"e^eps times likelier for one client than for another: hi <= e^eps lo in every column, sum lo <= 2^B <= sum hi,\n" +
			"and every published row inside the box. Trusts no solver. Exit status 1: the certificate fails, or wpm release would\n" +
			"refuse the policy: -max-eps, -policy-id, or a cost that cannot be built or has another size.\n" +
			"Then it recomputes what the policy claims about utility, in fractions, if the cost matrix has at most 2^18 entries;\n" +
			"a false claim is status 1, too, though it costs nobody's privacy. The policy of a codebook (wpm sphere -out) has\n" +
			"a box and no claims.",
		Flags: append(conditionFlags(),
			&cli.BoolFlag{Name: "json", Usage: "print the verdict as JSON"},
			&cli.BoolFlag{Name: "privacy-only", Usage: "leave the utility claims unchecked"},
			&cli.BoolFlag{Name: "utility", Usage: "recompute the utility claims of a larger matrix, too: half a second for each million entries"},
		),
		OnUsageError: usageError,
		Action:       verify,
	}
}

const (
	// quickUtility is the largest cost matrix for which verify recomputes the utility claims unasked: a tenth of a second.
	quickUtility = 1 << 18
	// maxUtility is that for commands that take their time: some ten seconds.
	maxUtility = 1 << 24
)

func verify(ctx context.Context, c *cli.Command) error {
	if c.Args().Len() != 1 {
		return errors.New("verify takes one policy file")
	}
	if c.Bool("utility") && c.Bool("privacy-only") {
		return errors.New("-utility does not go with -privacy-only")
	}
	want, err := readConditions(c)
	if err != nil {
		return err
	}
	path := c.Args().First()
	no := func(err error) error {
		if c.Bool("json") {
			_ = printJSON(c.Root().Writer, map[string]any{"verified": false, "reason": err.Error()})
		}
		return fmt.Errorf("%w: %w", err, errNo)
	}
	p, err := readPolicy(path, c.Root().Reader)
	if isCertificateFailure(err) {
		return no(err)
	}
	if b, ok := asCodebook(err); ok {
		return verifyCodebook(c, b, want)
	}
	if err != nil {
		return err
	}
	if err := policy.Verify(p); err != nil {
		return no(fmt.Errorf("%s: %w", path, err))
	}
	if err := want.admit(p); err != nil {
		return no(fmt.Errorf("%s: %w", path, err))
	}
	warn(c.Root().ErrWriter, p)
	utility := "not checked (-utility does)"
	switch {
	case len(p.Certificate()) == 0:
		utility = "no claims"
	case c.Bool("utility") || !c.Bool("privacy-only") && p.Inputs()*p.Outputs() <= quickUtility:
		_, bounds, err := certificate.CheckPolicy(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			return no(fmt.Errorf("%s: privacy holds, but not what the policy says of its utility: %w", path, err))
		}
		worst, _ := bounds.Worst.Float64()
		least, _ := bounds.Lower.Float64()
		utility = fmt.Sprintf("worst case %.10g %s, at input %q; at least %.10g for any mechanism; recomputed, the stated bounds hold", worst, unitOfPolicy(p).costs(), p.InputLabel(bounds.Input), least)
	}
	id := p.ID()
	if c.Bool("json") {
		fields := publisherJSON(p)
		maps.Copy(fields, map[string]any{
			"verified": true, "id": hex.EncodeToString(id[:]), "epsilon": p.Epsilon().String(), "bits": p.Polytope().Bits(),
			"inputs": p.Inputs(), "outputs": p.Outputs(), "mode": p.Mode(), "utility": utility,
		})
		return printJSON(c.Root().Writer, fields)
	}
	_, err = fmt.Fprintf(c.Root().Writer, "verified: eps = %s for %d inputs and %d outputs, exact in units of 2^-%d\n"+
		"in words: %s\nmode %s, sha256 %x\n%sutility: %s\n",
		p.Epsilon(), p.Inputs(), p.Outputs(), p.Polytope().Bits(), inWords(p.Epsilon()), p.Mode(), id, publisherText(p), utility)
	return err
}

// publisherJSON is what the publisher of a policy of any kind states in it, and what its eps means, as members of verify's JSON.
func publisherJSON(p statedPolicy) map[string]any {
	prov := p.Provenance()
	return map[string]any{
		"meaning": inWords(p.Epsilon()), "geometry": stated(prov.Geometry, prov.GeometryEpsilon),
		"base_measure": stated(prov.BaseMeasure, prov.BaseMeasureEpsilon), "note": prov.Note, "metadata": p.Metadata(),
	}
}

// publisherText is what the publisher of a policy of any kind states in it, as lines.
func publisherText(p statedPolicy) string {
	var b strings.Builder
	prov, meta := p.Provenance(), p.Metadata()
	fmt.Fprintf(&b, "the publisher states: geometry %s; base measure %s",
		stated(prov.Geometry, prov.GeometryEpsilon), stated(prov.BaseMeasure, prov.BaseMeasureEpsilon))
	if prov.Note != "" {
		fmt.Fprintf(&b, "; %q", prov.Note)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) { // quoted: a text may hold what a terminal obeys
		fmt.Fprintf(&b, "\n  %q: %q", key, meta[key])
	}
	return b.String() + "\n"
}

// isCertificateFailure tells a policy that is well formed and does not hold from one that cannot be read.
func isCertificateFailure(err error) bool {
	return errors.Is(err, ldp.ErrBox) || errors.Is(err, ldp.ErrInfeasible) || errors.Is(err, policy.ErrRow)
}

// readPolicy reads and decodes a policy; errors name the file.
func readPolicy(path string, stdin io.Reader) (policy.Policy, error) {
	f, err := open(path, stdin)
	if err != nil {
		return policy.Policy{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
	if err != nil {
		return policy.Policy{}, err
	}
	if codebook.IsPolicy(data) {
		return policy.Policy{}, readCodebook(path, data)
	}
	p, err := policy.Decode(data)
	if err != nil {
		return policy.Policy{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
