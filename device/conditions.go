package device

import (
	"crypto/ed25519"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// weakEpsilon is the level above which the commands warn: from e^8 = 2981 on, a guess between two clients that starts
// even can end 99.97 % sure after one report.
const weakEpsilon = 8

// conditions are what the user of a policy asks of it. The zero value asks for nothing.
type conditions struct {
	maxEpsilon ldp.Epsilon
	id         string            // in lower case; "" for any
	key        ed25519.PublicKey // of the publisher; nil for any
	signature  string            // file, "" for the one beside the policy
}

func (want *conditions) flags(f *flag.FlagSet) {
	f.Func("max-eps", "refuse a policy with an eps above `EPS`", func(s string) (err error) {
		want.maxEpsilon, err = ldp.ParseEpsilon(s)
		return err
	})
	f.Func("key", "refuse a policy that the publisher with this public key, `HEX`, has not signed",
		func(s string) (err error) { want.key, err = ParseKey(s); return err })
	f.StringVar(&want.signature, "signature", "", "with -key: `FILE` of the signature (default: that of the policy, and .sig)")
	f.Func("policy-id", "refuse any policy but that with the SHA-256 `HEX`, as verify prints it", func(s string) error {
		want.id = strings.ToLower(s)
		if b, err := hex.DecodeString(want.id); err != nil || len(b) != 32 {
			return fmt.Errorf("%.80q is not 64 hexadecimal digits", want.id)
		}
		return nil
	})
}

// meets refuses a policy that does not meet the conditions.
func (want conditions) meets(m Mechanism) error {
	id, eps := m.ID(), m.Epsilon()
	if got := hex.EncodeToString(id[:]); want.id != "" && got != want.id {
		return fmt.Errorf("the policy is %s, not %s as -policy-id asks", got, want.id)
	}
	if !want.maxEpsilon.IsZero() && eps.Cmp(want.maxEpsilon) > 0 {
		return fmt.Errorf("eps = %s is above %s, the limit that -max-eps sets", eps, want.maxEpsilon)
	}
	return nil
}

// Warn says what a user should know about a policy whose privacy holds.
func (e *Env) Warn(p Stated) {
	e.warnWeak(p)
	if !e.Quiet {
		warnOrigin(e.Err, e.Program, p)
	}
}

// warnWeak says what an eps means that protects little.
func (e *Env) warnWeak(p Stated) {
	if !e.Quiet && p.Epsilon().Float64() > weakEpsilon {
		fmt.Fprintf(e.Err, "%s: warning: eps = %s protects little: %s\n", e.Program, p.Epsilon(), InWords(p.Epsilon()))
	}
}

// warnOrigin says that a policy does not state where its parts come from.
func warnOrigin(w io.Writer, program string, p Stated) {
	var parts []string
	if p.Provenance().Geometry == policy.Unstated {
		parts = append(parts, "geometry")
	}
	if p.Provenance().BaseMeasure == policy.Unstated {
		parts = append(parts, "base measure")
	}
	if parts != nil {
		fmt.Fprintf(w, "%s: warning: the policy does not state where this comes from: %s. If it depends on private\n"+
			"data, that costs privacy beyond eps. -geometry and -base of wpm design and wpm sphere state it.\n",
			program, strings.Join(parts, " and "))
	}
}

// formulaStarts are the first characters of a text that a spreadsheet takes for a formula.
const formulaStarts = "=+-@\t\r"

// WarnFormulas says that labels of a policy would be formulas in a spreadsheet, into which the maps and counts of its
// reports may be read. The labels stay as they are: they are keys.
func (e *Env) WarnFormulas(m any) {
	p, ok := m.(interface {
		InputLabels() []string
		OutputLabels() []string
	})
	if !ok || e.Quiet {
		return
	}
	first, found := "", map[string]bool{}
	for _, label := range slices.Concat(p.InputLabels(), p.OutputLabels()) {
		if strings.ContainsRune(formulaStarts, rune(label[0])) {
			if len(found) == 0 {
				first = label
			}
			found[label] = true
		}
	}
	if len(found) > 0 {
		fmt.Fprintf(e.Err, "%s: warning: labels that a spreadsheet takes for formulas: %d, the first is %.60q.\n"+
			"Import tables that have them as text: see docs/data.md.\n", e.Program, len(found), first)
	}
}

// InWords says what eps means for one client and one report.
func InWords(eps ldp.Epsilon) string {
	x := math.Exp(eps.Float64())
	unit := math.Pow(10, math.Floor(math.Log10(x))-2) // three digits, rounded up: it is a bound
	guess := "can end more than 99.99 % sure"
	if sure := math.Ceil(1e4*x/(1+x)) / 100; sure < 100 {
		guess = fmt.Sprintf("ends at most %.4g %% sure", sure)
	}
	return fmt.Sprintf("from one report, an observer's odds between any two clients change by at most a factor %.6g; "+
		"a guess that starts even %s", math.Ceil(x/unit)*unit, guess)
}

// originText is an origin with its epsilon.
func originText(o policy.Origin, eps ldp.Epsilon) string {
	if o != policy.DerivedDP {
		return string(o)
	}
	return fmt.Sprintf("%s, at an eps of %s that no client's budget counts", o, eps)
}

// publisherJSON is what the publisher states, and what its eps means, as members of verify's JSON.
func publisherJSON(p Stated) map[string]any {
	prov := p.Provenance()
	return map[string]any{
		"meaning": InWords(p.Epsilon()), "geometry": originText(prov.Geometry, prov.GeometryEpsilon),
		"base_measure": originText(prov.BaseMeasure, prov.BaseMeasureEpsilon), "note": prov.Note, "metadata": p.Metadata(),
	}
}

// publisherText is what the publisher states, as lines.
func publisherText(p Stated) string {
	var b strings.Builder
	prov, meta := p.Provenance(), p.Metadata()
	fmt.Fprintf(&b, "the publisher states: geometry %s; base measure %s",
		originText(prov.Geometry, prov.GeometryEpsilon), originText(prov.BaseMeasure, prov.BaseMeasureEpsilon))
	if prov.Note != "" {
		fmt.Fprintf(&b, "; %q", prov.Note)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) { // quoted: a text may hold what a terminal obeys
		fmt.Fprintf(&b, "\n  %q: %q", key, meta[key])
	}
	return b.String() + "\n"
}
