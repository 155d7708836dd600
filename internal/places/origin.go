package places

import (
	"fmt"
	"strings"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// ParseOrigin reads where a geometry or a base measure comes from: the clean origin, or derived-dp:EPS. Nothing said is
// Unstated.
func ParseOrigin(text string, clean policy.Origin) (policy.Origin, ldp.Epsilon, error) {
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

// FormatOrigin is what ParseOrigin reads.
func FormatOrigin(o policy.Origin, eps ldp.Epsilon) string {
	switch o {
	case policy.Unstated:
		return ""
	case policy.DerivedDP:
		return string(o) + ":" + eps.String()
	}
	return string(o)
}
