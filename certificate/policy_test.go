package certificate_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"pgregory.net/rapid"
)

// design publishes the uniform base measure with its certificate; change may edit the Config.
func design(t rapid.TB, c cost.Matrix, eps string, bits int, change func(*policy.Config)) (policy.Policy, error) {
	t.Helper()
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), c, e, wpm.Objective{Options: wpm.Options{Bits: bits}})
	if err != nil {
		return policy.Policy{}, err
	}
	cfg := policy.Config{
		Provenance:  policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
		Certificate: d.Certificate(),
	}
	if change != nil {
		change(&cfg)
	}
	return d.Mechanism().Publish(context.Background(), cfg)
}

// withoutRows is the same policy in projection mode, with nothing but its box.
func withoutRows(t rapid.TB, p policy.Policy) policy.Policy {
	t.Helper()
	bare, err := policy.New(policy.Config{
		Polytope: p.Polytope(), Mode: policy.Projection, Inputs: p.Inputs(), Cost: p.Cost(), Certificate: p.Certificate(),
		Provenance: p.Provenance(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return bare
}

// plainWorst is the largest cost of a row by sums of big.Rat.
func plainWorst(t rapid.TB, p policy.Policy, c *cost.Dense) (worst *big.Rat, input int) {
	t.Helper()
	worst = new(big.Rat)
	for i := range c.K {
		w, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Rat)
		for j := range c.Kv {
			x := new(big.Rat).SetFloat64(c.Data[i*c.Kv+j])
			sum.Add(sum, x.Mul(x, new(big.Rat).SetInt(new(big.Int).SetUint64(w.At(j)))))
		}
		if sum.Quo(sum, new(big.Rat).SetInt(new(big.Int).SetUint64(p.Polytope().Total()))); sum.Cmp(worst) > 0 {
			worst, input = sum, i
		}
	}
	return worst, input
}

// TestCheckPolicy: what a mechanism publishes holds, at any eps and any number of bits, with its rows and without;
// the worst case is the exact one of the published integers.
func TestCheckPolicy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCost(t)
		// 0.3 and 1/3 lie above their nearest float64, 0.1 below.
		eps := rapid.SampledFrom([]string{"0.1", "0.3", "1/3", "1", "5", "20"}).Draw(t, "eps")
		p, err := design(t, c, eps, rapid.SampledFrom([]int{4, 10, 53, 62}).Draw(t, "bits"), nil)
		if errors.Is(err, ldp.ErrBits) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		want, at := plainWorst(t, p, c)
		for _, p := range []policy.Policy{p, withoutRows(t, p)} {
			cert, got, err := certificate.CheckPolicy(context.Background(), p)
			if err != nil {
				t.Fatalf("%v\n%s", err, p.Certificate())
			}
			if got.Worst.Cmp(want) != 0 || got.Input != at {
				t.Fatalf("rows %v: worst case %v at %d, want %v at %d", p.HasRows(), got.Worst, got.Input, want, at)
			}
			if worst, input, err := certificate.WorstRow(context.Background(), p); err != nil || worst.Cmp(want) != 0 || input != at {
				t.Fatalf("rows %v: worst row %v of input %d, %v, want %v of %d", p.HasRows(), worst, input, err, want, at)
			}
			if got.Lower.Cmp(got.Worst) > 0 || got.Worst.Cmp(cert.Stated().Upper) > 0 || got.Lower.Cmp(cert.Stated().Lower) < 0 {
				t.Fatalf("lower %v, worst %v, stated %v", got.Lower, got.Worst, cert.Stated())
			}
			if e, _ := cert.Epsilon(); new(big.Rat).SetFloat64(e).Cmp(p.Epsilon().Rat()) < 0 {
				t.Fatalf("the lower bound is for %v, below eps = %v", e, p.Epsilon())
			}
		}
	})
}

// TestCheckPolicyCheapest: without rows the worst case is that of the cheapest points of the box, by enumeration.
func TestCheckPolicyCheapest(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1, 3, 2, 0.5, 0.5}}
	for _, eps := range []string{"0.5", "1", "3"} {
		p, err := design(t, c, eps, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		p = withoutRows(t, p)
		box, worst := p.Polytope(), 0.0
		for i := range c.K {
			best := math.Inf(1)
			for a := box.Lo(0); a <= box.Hi(0); a++ {
				for b := box.Lo(1); b <= box.Hi(1); b++ {
					if d := box.Total() - a - b; a+b <= box.Total() && d >= box.Lo(2) && d <= box.Hi(2) {
						best = min(best, float64(a)*c.Data[3*i]+float64(b)*c.Data[3*i+1]+float64(d)*c.Data[3*i+2])
					}
				}
			}
			worst = max(worst, best/32)
		}
		_, got, err := certificate.CheckPolicy(context.Background(), p)
		if x, exact := got.Worst.Float64(); err != nil || !exact || x != worst {
			t.Errorf("eps %s: %v, %v, want %v", eps, got.Worst, err, worst)
		}
	}
}

// encode is the text of a certificate as a policy has it.
func encode(t testing.TB, c certificate.Certificate, err error) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	bare, err := c.WithoutCost()
	if err != nil {
		t.Fatal(err)
	}
	return text(t, bare)
}

// TestCheckPolicyRefuses: a true certificate about something else, and a false one.
func TestCheckPolicyRefuses(t *testing.T) {
	ctx := context.Background()
	ring := func(n int, p float64) cost.Matrix {
		c, err := cost.NewRing(n, p)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	base := func(c cost.Matrix, eps float64) basemeasure.Result {
		r, err := basemeasure.Uniform(ctx, c, eps, basemeasure.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	about := func(c cost.Matrix, eps float64) []byte {
		made, err := certificate.NewBaseMeasure(ctx, c, eps, base(c, eps))
		return encode(t, made, err)
	}
	five := ring(5, 1)
	genuine, err := design(t, five, "0.3", 62, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := certificate.CheckPolicy(ctx, genuine); err != nil {
		t.Fatal(err)
	}
	nearest := 0.3 // below 3/10

	other := bytes.Clone(genuine.Certificate()) // the first digit of its hash is another
	if digit := &other[bytes.Index(other, []byte(`"problem_sha256":"`))+len(`"problem_sha256":"`)]; *digit == '0' {
		*digit = '1'
	} else {
		*digit = '0'
	}
	for name, test := range map[string]struct {
		text []byte
		bits int
		want error
	}{
		"none":            {nil, 62, certificate.ErrFormat},
		"another form":    {[]byte(`{"kind":"uniform"}`), 62, certificate.ErrFormat},
		"of another kind": {text(t, sample(t)[certificate.KPM]), 62, certificate.ErrKind},
		"another size":    {about(ring(6, 1), math.Nextafter(nearest, 1)), 62, certificate.ErrShape},
		"another eps":     {about(five, 0.25), 62, certificate.ErrEpsilon},
		"a float below":   {about(five, nearest), 62, certificate.ErrEpsilon},
		"another cost":    {about(ring(5, 2), math.Nextafter(nearest, 1)), 62, certificate.ErrCost},
		"false hash":      {other, 62, certificate.ErrHash},
		"false lower": {bytes.Replace(genuine.Certificate(), []byte(`"lower":"`), []byte(`"lower":"9`), 1), 62,
			certificate.ErrClaim},
		"false upper": {bytes.Replace(genuine.Certificate(), []byte(`"upper":"`), []byte(`"upper":"-`), 1), 62,
			certificate.ErrClaim},
		// True of the base measure; but five columns at five bits are another mechanism.
		"rows rounded too much": {about(five, math.Nextafter(nearest, 1)), 5, certificate.ErrClaim},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := design(t, five, "0.3", test.bits, func(cfg *policy.Config) { cfg.Certificate = test.text })
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := certificate.CheckPolicy(ctx, p); !errors.Is(err, test.want) || got != (certificate.PolicyBounds{}) {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			if _, _, err := certificate.CheckPolicy(ctx, withoutRows(t, p)); !errors.Is(err, test.want) {
				t.Errorf("%s, without rows: %v, want %v", name, err, test.want)
			}
			want := test.want
			if name == "false lower" { // what a certificate claims of other mechanisms has no part in the worst row
				want = nil
			}
			if worst, _, err := certificate.WorstRow(ctx, p); !errors.Is(err, want) || (worst == nil) != (err != nil) {
				t.Errorf("%s: worst row %v, %v, want %v", name, worst, err, want)
			}
		})
	}
	// Without a cost in the policy, the certificate must bring it.
	bare := func(text []byte) policy.Policy {
		p, err := policy.New(policy.Config{Polytope: genuine.Polytope(), Mode: policy.Projection, Inputs: 5,
			Certificate: text, Provenance: genuine.Provenance()})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if _, _, err := certificate.CheckPolicy(ctx, bare(genuine.Certificate())); !errors.Is(err, certificate.ErrCost) {
		t.Errorf("no cost: %v", err)
	}
	c, err := certificate.Decode(genuine.Certificate())
	if err == nil {
		c, err = c.WithCost(genuine.Cost())
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := certificate.CheckPolicy(ctx, bare(text(t, c))); err != nil {
		t.Errorf("a certificate with its cost: %v", err)
	}
	if _, _, err := certificate.CheckPolicy(ctx, policy.Policy{}); !errors.Is(err, certificate.ErrFormat) {
		t.Errorf("the zero policy: %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := certificate.CheckPolicy(over, genuine); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestClaim: a claim can be weakened, and nothing else.
func TestClaim(t *testing.T) {
	quarter := big.NewRat(1, 4)
	for kind, c := range sample(t) {
		s := c.Stated()
		below, above := new(big.Rat).Sub(s.Lower, quarter), new(big.Rat).Add(s.Upper, quarter)
		weak, err := c.Claim(certificate.Bounds{Lower: below, Upper: above})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if got := weak.Stated(); got.Lower.Cmp(below) != 0 || got.Upper.Cmp(above) != 0 ||
			weak.ProblemHash() != c.ProblemHash() {
			t.Errorf("%s: stated [%v, %v]", kind, got.Lower, got.Upper)
		}
		if err := check(text(t, weak)); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if same, err := c.Claim(s); err != nil || !bytes.Equal(text(t, same), text(t, c)) {
			t.Errorf("%s: the same claim is another text, %v", kind, err)
		}
		for _, b := range []certificate.Bounds{
			{Lower: new(big.Rat).Add(s.Lower, quarter), Upper: s.Upper},
			{Lower: s.Lower, Upper: new(big.Rat).Sub(s.Upper, quarter)},
			{Lower: s.Lower}, {Upper: s.Upper},
		} {
			if got, err := c.Claim(b); !errors.Is(err, certificate.ErrClaim) || got != (certificate.Certificate{}) {
				t.Errorf("%s: claim %v: %v", kind, b, err)
			}
		}
		below.Neg(below) // the certificate has its own copies
		if err := check(text(t, weak)); err != nil || weak.Stated().Lower.Cmp(below) == 0 && below.Sign() != 0 {
			t.Errorf("%s: changed from outside: %v", kind, err)
		}
	}
	if _, err := (certificate.Certificate{}).Claim(certificate.Bounds{}); !errors.Is(err, certificate.ErrCertificate) {
		t.Errorf("zero certificate: %v", err)
	}
}

// TestPolicyCertificateIsShort: a policy states its bounds as floats, not as fractions of a thousand digits.
func TestPolicyCertificateIsShort(t *testing.T) {
	p, err := design(t, &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 0.7, 0}}, "0.3", 62, nil)
	if err != nil {
		t.Fatal(err)
	}
	const most = 1000 // bytes; exact bounds alone would take more
	if s := string(p.Certificate()); len(s) > most || !strings.HasSuffix(s, `"cost":null}`) {
		t.Errorf("%d bytes: %s", len(s), s)
	}
}

// TestBaseMeasureOfOthers: with inputs left out of the design, the certificate is still about all of them.
func TestBaseMeasureOfOthers(t *testing.T) {
	c := &cost.Dense{K: 3, Kv: 2, Data: []float64{0, 1, 1, 0, 50, 40}}
	r, err := basemeasure.Uniform(context.Background(), c, 1, basemeasure.Settings{Exclude: []int{2}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := certificate.NewBaseMeasure(context.Background(), c, 1, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := check(text(t, made)); err != nil {
		t.Error(err)
	}
	if s := made.Stated(); s.Upper.Cmp(big.NewRat(40, 1)) < 0 || s.Lower.Cmp(big.NewRat(1, 1)) > 0 {
		t.Errorf("between %v and %v", s.Lower, s.Upper)
	}
}
