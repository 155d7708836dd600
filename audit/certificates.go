package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/policy"
)

// Certified is what became of one certificate.
type Certified struct {
	Source  string `json:"source"` // the file, or "policy"
	Line    int    `json:"line,omitempty"`
	Kind    string `json:"kind"`
	Passed  bool   `json:"passed"`
	Fault   string `json:"fault,omitempty"`
	Meaning string `json:"meaning,omitempty"` // of the bounds
	// Problem is the start of the problem hash, and Lower and Upper the bounds proved, in decimals. They are
	// left out for private kinds: a report may be published.
	Problem string `json:"problem,omitempty"`
	Lower   string `json:"lower,omitempty"`
	Upper   string `json:"upper,omitempty"`
	Private bool   `json:"private,omitempty"`
}

// Certificates verifies a file of certificates, one on each line. cost is the canonical text of the cost for
// those that do not carry one, such as policy.Policy.Cost returns; nil is fine. A certificate that does not
// hold is a result; the error is of the file: a *certificate.LineError.
func Certificates(source string, r io.Reader, cost []byte) ([]Certified, error) {
	var out []Certified
	err := certificate.Read(r, func(line int, c certificate.Certificate) error {
		res := verifyOne(c, cost)
		res.Source, res.Line = source, line
		out = append(out, res)
		return nil
	})
	return out, err
}

func verifyOne(c certificate.Certificate, cost []byte) Certified {
	res := Certified{Kind: string(c.Kind()), Meaning: c.Meaning(), Private: c.Private()}
	bounds, err := func() (certificate.Bounds, error) {
		if c.NeedsCost() && len(cost) > 0 {
			var err error
			if c, err = c.WithCost(cost); err != nil {
				return certificate.Bounds{}, err
			}
		}
		return certificate.Verify(c)
	}()
	switch {
	case err != nil && c.Private():
		res.Fault = publicReason(err)
	case err != nil:
		res.Fault = err.Error()
	}
	res.Passed = err == nil
	if !c.Private() {
		hash := c.ProblemHash()
		res.Problem = hex.EncodeToString(hash[:8])
		if err == nil {
			res.Lower, res.Upper = bounds.Lower.FloatString(12), bounds.Upper.FloatString(12)
		}
	}
	return res
}

// publicReason names what is wrong with a private certificate without the numbers of the error.
func publicReason(err error) string {
	for _, sentinel := range []error{
		certificate.ErrHash, certificate.ErrCost, certificate.ErrEvidence, certificate.ErrClaim, certificate.ErrLimit, certificate.ErrShape,
		certificate.ErrKind,
	} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return "certificate: refused"
}

// policyCertificate checks the certificate that a policy carries, as wpm verify does.
func policyCertificate(ctx context.Context, p policy.Policy) (Certified, error) {
	c, bounds, err := certificate.CheckPolicy(ctx, p)
	if ctx.Err() != nil {
		return Certified{}, err
	}
	res := Certified{Source: "policy", Kind: "unreadable", Passed: err == nil}
	if kind := c.Kind(); kind != "" {
		hash := c.ProblemHash()
		res.Kind, res.Private, res.Problem = string(kind), c.Private(), hex.EncodeToString(hash[:8])
	}
	switch {
	case err != nil && res.Private: // it should not be there, but an audit does not spread it
		res.Fault, res.Problem = publicReason(err), ""
	case err != nil:
		res.Fault = err.Error()
	default:
		res.Meaning, res.Lower, res.Upper = certificate.PolicyMeaning, bounds.Lower.FloatString(12), bounds.Worst.FloatString(12)
	}
	return res, nil
}
