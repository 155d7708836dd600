package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// weakEpsilon is the level above which the commands warn: from e^8 = 2981 on, a guess between two clients that
// starts even can end 99.97 % sure after one report.
const weakEpsilon = 8

// conditions are what the user of a policy asks of it. The zero value asks for nothing.
type conditions struct {
	maxEpsilon ldp.Epsilon
	id         string // in lower case; "" for any
}

func conditionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "max-eps", Usage: "refuse a policy with an eps above `EPS`"},
		&cli.StringFlag{Name: "policy-id", Usage: "refuse any policy but that with the SHA-256 `HEX`, 64 digits, as verify prints it"},
	}
}

func readConditions(c *cli.Command) (conditions, error) {
	var want conditions
	var err error
	if c.IsSet("max-eps") {
		if want.maxEpsilon, err = ldp.ParseEpsilon(c.String("max-eps")); err != nil {
			return want, fmt.Errorf("-max-eps: %w", err)
		}
	}
	if c.IsSet("policy-id") {
		want.id = strings.ToLower(c.String("policy-id"))
		if b, err := hex.DecodeString(want.id); err != nil || len(b) != 32 {
			return want, fmt.Errorf("-policy-id: %.80q is not 64 hexadecimal digits", want.id)
		}
	}
	return want, nil
}

// admit refuses a policy that does not meet the conditions, or that no client could use. It is the same for
// everyone who gets a policy: design before it is written, verify, and release before anything is paid.
func (want conditions) admit(p policy.Policy) error {
	if err := want.meets(p.ID(), p.Epsilon()); err != nil {
		return err
	}
	if err := wpm.CheckCost(p); err != nil {
		return fmt.Errorf("no client can use the cost in this policy: %w", err)
	}
	return nil
}

// meets refuses a policy of any kind that does not meet the conditions.
func (want conditions) meets(id [32]byte, eps ldp.Epsilon) error {
	if got := hex.EncodeToString(id[:]); want.id != "" && got != want.id {
		return fmt.Errorf("the policy is %s, not %s as -policy-id asks", got, want.id)
	}
	if !want.maxEpsilon.IsZero() && eps.Cmp(want.maxEpsilon) > 0 {
		return fmt.Errorf("eps = %s is above %s, the limit that -max-eps sets", eps, want.maxEpsilon)
	}
	return nil
}

// statedPolicy is a policy of any kind.
type statedPolicy interface {
	Epsilon() ldp.Epsilon
	Provenance() policy.Provenance
	Metadata() map[string]string
}

// warn says on stderr what a user should know about a policy that is in order.
func warn(stderr io.Writer, p statedPolicy) {
	if e := p.Epsilon().Float64(); e > weakEpsilon {
		fmt.Fprintf(stderr, "wpm: warning: eps = %s protects little: %s\n", p.Epsilon(), inWords(p.Epsilon()))
	}
	var parts []string
	if p.Provenance().Geometry == policy.Unstated {
		parts = append(parts, "geometry")
	}
	if p.Provenance().BaseMeasure == policy.Unstated {
		parts = append(parts, "base measure")
	}
	if parts != nil {
		fmt.Fprintf(stderr, "wpm: warning: the policy does not state where this comes from: %s. If it depends on private\n"+
			"data, that costs privacy beyond eps. -geometry and -base of wpm design and wpm sphere state it.\n", strings.Join(parts, " and "))
	}
}

// inWords says what eps means for one client and one report.
func inWords(eps ldp.Epsilon) string {
	x := math.Exp(eps.Float64())
	unit := math.Pow(10, math.Floor(math.Log10(x))-2) // three digits, rounded up: it is a bound
	guess := "can end more than 99.99 % sure"
	if sure := math.Ceil(1e4*x/(1+x)) / 100; sure < 100 {
		guess = fmt.Sprintf("ends at most %.4g %% sure", sure)
	}
	return fmt.Sprintf("from one report, an observer's odds between any two clients change by at most a factor %.6g; "+
		"a guess that starts even %s", math.Ceil(x/unit)*unit, guess)
}

// parseOrigin reads -geometry or -base: the clean origin, or derived-dp:EPS. Nothing said is Unstated.
func parseOrigin(text string, clean policy.Origin) (policy.Origin, ldp.Epsilon, error) {
	switch level, derived := strings.CutPrefix(text, string(policy.DerivedDP)+":"); {
	case text == "":
		return policy.Unstated, ldp.Epsilon{}, nil
	case text == string(clean):
		return clean, ldp.Epsilon{}, nil
	case derived:
		eps, err := ldp.ParseEpsilon(level)
		return policy.DerivedDP, eps, err
	}
	return "", ldp.Epsilon{}, fmt.Errorf("%.40q is neither %s nor %s:EPS", text, clean, policy.DerivedDP)
}

// readProvenance reads what the flags of design state.
func readProvenance(c *cli.Command) (policy.Provenance, error) {
	p := policy.Provenance{Note: c.String("note")}
	var err, err2 error
	if p.Geometry, p.GeometryEpsilon, err = parseOrigin(c.String("geometry"), policy.Public); err != nil {
		err = fmt.Errorf("-geometry: %w", err)
	}
	if p.BaseMeasure, p.BaseMeasureEpsilon, err2 = parseOrigin(c.String("base"), policy.DataIndependent); err2 != nil {
		err2 = fmt.Errorf("-base: %w", err2)
	}
	return p, errors.Join(err, err2)
}

// stated prints an origin with its epsilon.
func stated(o policy.Origin, eps ldp.Epsilon) string {
	if o != policy.DerivedDP {
		return string(o)
	}
	return fmt.Sprintf("%s, at an eps of %s that no client's budget counts", o, eps)
}
