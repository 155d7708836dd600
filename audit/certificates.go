package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/wpm-go/wpm/certificate"
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
	} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return "certificate: refused"
}

// policyCertificate verifies the certificate that a policy carries, if it is one of package certificate: it
// must be about the policy's own cost, sizes and eps. ok is false for another form, which is not looked at.
func policyCertificate(text, cost []byte, inputs, outputs int, eps float64) (res Certified, ok bool) {
	c, err := certificate.Decode(text)
	if err != nil {
		return Certified{}, false
	}
	res = verifyOne(c, cost)
	res.Source = "policy"
	fault := ""
	if k, kv := c.Dims(); k != inputs || kv != outputs {
		fault = fmt.Sprintf("it is about %d inputs and %d outputs, the policy has %d and %d", k, kv, inputs, outputs)
	}
	if e, has := c.Epsilon(); !has || e != eps {
		fault = fmt.Sprintf("it is about another eps than the policy's %v", eps)
	}
	if c.Kind() != certificate.BaseMeasure {
		fault = fmt.Sprintf("it is about a %s, not about a base measure", c.Kind())
	}
	if hash, has := c.CostHash(); has && len(cost) > 0 && hash != hashOf(cost) {
		fault = "it is about another cost than the policy's"
	}
	if res.Passed && fault != "" {
		res.Passed, res.Fault = false, fault
	}
	return res, true
}
