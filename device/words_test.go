package device

import (
	"math"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestInWords holds that the printed numbers bound e^eps and e^eps / (1 + e^eps) from above, and by less than 1 %.
func TestInWords(t *testing.T) {
	for text, want := range map[string]string{
		"0.01": "factor 1.02; a guess that starts even ends at most 50.25 % sure",
		"1":    "factor 2.72; a guess that starts even ends at most 73.11 % sure",
		"2":    "factor 7.39; a guess that starts even ends at most 88.08 % sure",
		"9":    "factor 8110; a guess that starts even ends at most 99.99 % sure",
		"64":   "factor 6.24e+27; a guess that starts even can end more than 99.99 % sure",
	} {
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := InWords(eps); !strings.HasSuffix(got, want) {
			t.Errorf("eps %s: %s, want %s", text, got, want)
		}
	}
	if math.Exp(9) > 8110 || math.Exp(2) > 7.39 {
		t.Error("the table is not of upper bounds")
	}
}

// stated is a policy with nothing but what a warning is about.
type stated struct {
	eps        ldp.Epsilon
	provenance policy.Provenance
}

func (s stated) Epsilon() ldp.Epsilon          { return s.eps }
func (s stated) Provenance() policy.Provenance { return s.provenance }
func (s stated) Metadata() map[string]string   { return nil }

// TestWarn: a warning names what the policy does not state, or a large eps, and there is none about a policy that is in
// order.
func TestWarn(t *testing.T) {
	for _, c := range []struct {
		eps            string
		geometry, base policy.Origin
		want           []string // in one warning each
	}{
		{"1", policy.Public, policy.DataIndependent, nil},
		{"1", policy.Unstated, policy.DataIndependent, []string{"comes from: geometry. "}},
		{"1", policy.Public, policy.Unstated, []string{"comes from: base measure. "}},
		{"1", policy.Unstated, policy.Unstated, []string{"comes from: geometry and base measure. "}},
		{"64", policy.Public, policy.DataIndependent, []string{"eps = 64 protects little"}},
		{"64", policy.Unstated, policy.DataIndependent, []string{"eps = 64 protects little", "comes from: geometry. "}},
	} {
		eps, err := ldp.ParseEpsilon(c.eps)
		if err != nil {
			t.Fatal(err)
		}
		s := stated{eps, policy.Provenance{Geometry: c.geometry, BaseMeasure: c.base}}
		for _, quiet := range []bool{false, true} {
			var said strings.Builder
			(&Env{Program: "p", Err: &said, Quiet: quiet}).Warn(s)
			want := c.want
			if quiet {
				want = nil
			}
			if got := strings.Count(said.String(), "warning: "); got != len(want) {
				t.Errorf("%+v, quiet %v: %d warnings: %s", c, quiet, got, &said)
			}
			for _, w := range want {
				if !strings.Contains(said.String(), w) {
					t.Errorf("%+v: %q is not in %s", c, w, &said)
				}
			}
		}
	}
}
