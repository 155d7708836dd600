package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"github.com/wpm-go/wpm/wpmerr"
	"io"
	"strconv"

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
	// Problem is the start of the problem hash, and Lower and Upper the bounds proved, as decimals of float64, rounded
	// outward. They are left out for private kinds: a report may be published.
	Problem string `json:"problem,omitempty"`
	Lower   string `json:"lower,omitempty"`
	Upper   string `json:"upper,omitempty"`
	Private bool   `json:"private,omitempty"`
}

// Certificates verifies a file of certificates, one on each line. cost is the canonical text of the cost for those that
// do not carry one, such as policy.Policy.Cost returns; nil is fine. A certificate that does not hold is a result, not
// an error. The error is about the file, a *certificate.LineError, or wpmerr.ErrNotConverged if ctx ends.
func Certificates(ctx context.Context, source string, r io.Reader, cost []byte) ([]Certified, error) {
	var out []Certified
	err := certificate.Read(r, func(line int, c certificate.Certificate) error {
		if c.NeedsCost() && len(cost) > 0 {
			if with, err := c.WithCost(cost); err == nil {
				c = with // otherwise Certify says what is wrong
			}
		}
		res, err := Certify(ctx, c)
		if err != nil {
			return err
		}
		res.Source, res.Line = source, line
		out = append(out, res)
		return nil
	})
	return out, err
}

// Certify verifies a certificate. For a private certificate it reports only whether it holds, and none of its numbers.
// The error is wpmerr.ErrNotConverged if ctx ends first.
func Certify(ctx context.Context, c certificate.Certificate) (Certified, error) {
	ctx = wpmerr.Context(ctx)
	res := Certified{Kind: string(c.Kind()), Meaning: c.Meaning(), Private: c.Private()}
	bounds, err := certificate.Verify(ctx, c)
	if ctx.Err() != nil && errors.Is(err, wpmerr.ErrNotConverged) {
		return Certified{}, wpmerr.Ended(ctx)
	}
	switch {
	case err != nil && c.Private():
		res.Fault = PublicReason(err)
	case err != nil:
		res.Fault = err.Error()
	}
	res.Passed = err == nil
	if !c.Private() {
		hash := c.ProblemHash()
		res.Problem = hex.EncodeToString(hash[:8])
		if err == nil {
			res.Lower, res.Upper = decimals(bounds)
		}
	}
	return res, nil
}

// decimals are the bounds that are shown.
func decimals(b certificate.Bounds) (lower, upper string) {
	x, y := b.Floats()
	return strconv.FormatFloat(x, 'g', -1, 64), strconv.FormatFloat(y, 'g', -1, 64)
}

// PublicReason names what is wrong with a private certificate, or with a text that may be one, without the numbers
// that the error may quote.
func PublicReason(err error) string {
	for _, sentinel := range []error{
		certificate.ErrHash, certificate.ErrCost, certificate.ErrEvidence, certificate.ErrClaim, certificate.ErrLimit,
		certificate.ErrShape,
		certificate.ErrKind, certificate.ErrFormat,
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
		res.Fault, res.Problem = PublicReason(err), ""
	case err != nil:
		res.Fault = err.Error()
	default:
		res.Meaning = certificate.PolicyMeaning
		res.Lower, res.Upper = decimals(certificate.Bounds{Lower: bounds.Lower, Upper: bounds.Worst})
	}
	return res, nil
}
