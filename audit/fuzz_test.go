package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/policy"
)

// FuzzCertificates: of any file and any cost, the result is that of a plain loop over its lines. Of a private
// certificate nothing is said but whether it holds, and why not, in the words of a sentinel.
func FuzzCertificates(f *testing.F) {
	p := ring(f, 3, "1", 20, policy.Mixture)
	all := privateFile(f, p)
	lines := strings.SplitAfter(all, "\n")
	for _, text := range []string{all, lines[0], lines[1] + lines[0], lines[2], strings.Replace(lines[0], "1", "2", 1),
		all + all[:99], "\n", ""} {
		file := []byte(text)
		f.Add(file, p.Cost())
		f.Add(file, []byte(`{"kind":"ring","n":5,"p":1}`))
		f.Add(file, []byte(nil))
	}
	reasons := []string{"certificate: refused"}
	for _, err := range []error{
		certificate.ErrHash, certificate.ErrCost, certificate.ErrEvidence, certificate.ErrClaim, certificate.ErrLimit,
		certificate.ErrShape,
		certificate.ErrKind, certificate.ErrFormat,
	} {
		reasons = append(reasons, err.Error())
	}
	f.Fuzz(func(t *testing.T, file, cost []byte) {
		if len(file) > 4096 { // a line may state a problem that is slow to verify
			return
		}
		kept, text := bytes.Clone(file), bytes.Clone(cost)
		got, err := Certificates(t.Context(), "s", bytes.NewReader(file), cost)
		if !bytes.Equal(file, kept) || !bytes.Equal(cost, text) {
			t.Fatal("an input was changed")
		}
		n := 0
		for line := range bytes.SplitSeq(bytes.TrimSuffix(file, []byte("\n")), []byte("\n")) {
			c, bad := certificate.Decode(line)
			if bad != nil {
				break
			}
			if n >= len(got) {
				t.Fatalf("%d certificates of %q", len(got), file)
			}
			if with, err := c.WithCost(cost); c.NeedsCost() && err == nil {
				c = with
			}
			_, verified := certificate.Verify(context.Background(), c)
			x := got[n]
			n++
			if x.Source != "s" || x.Line != n || x.Kind != string(c.Kind()) || x.Private != c.Private() ||
				x.Passed != (verified == nil) ||
				x.Passed != (x.Fault == "") {
				t.Fatalf("line %d is %+v: %v", n, x, verified)
			}
			if c.Private() && (x.Problem+x.Lower+x.Upper != "" || x.Fault != "" && !slices.Contains(reasons, x.Fault)) {
				t.Fatalf("a private certificate tells %+v", x)
			}
			if !c.Private() && (x.Problem == "" || x.Passed != (x.Lower != "" && x.Upper != "")) {
				t.Fatalf("line %d is %+v", n, x)
			}
		}
		var at *certificate.LineError
		if n != len(got) || err != nil && (!errors.As(err, &at) || at.Line != n+1) {
			t.Fatalf("%d certificates of %d, %v", len(got), n, err)
		}
		again, _ := Certificates(t.Context(), "s", bytes.NewReader(file), cost)
		if _, err := json.Marshal(got); err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("%+v, then %+v, %v", got, again, err)
		}
	})
}

// FuzzInputs: labels name what a search through the policy finds, "fallback" among them unless an input is called so.
func FuzzInputs(f *testing.F) {
	labelled := func(names ...string) policy.Policy {
		c := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
		return publish(f, c, "1", 20, policy.Mixture, func(cfg *policy.Config) { cfg.InputLabels = names })
	}
	policies := []policy.Policy{ring(f, 3, "1", 20, policy.Mixture), labelled("home", "p2", "x,y"),
		labelled("a", "fallback", "Fallback")}
	for _, s := range []string{"p0\np1\np2", "fallback", "p2\nhome\nhome", "x,y\nfallback", "", "p3", "home\n",
		"a\nFallback"} {
		for n := range policies {
			f.Add(s, uint8(n))
		}
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		p := policies[int(n)%len(policies)]
		labels := strings.Split(text, "\n")
		got, err := ParseInputs(p, labels)
		for n, label := range labels {
			want := Fallback - 1 // none
			if label == "fallback" {
				want = Fallback
			}
			for i := range p.Inputs() {
				if p.InputLabel(i) == label {
					want = i
				}
			}
			if want < Fallback {
				if !errors.Is(err, ErrDesign) || got != nil {
					t.Fatalf("%q: %v, %v", labels, got, err)
				}
				return
			}
			if err == nil && got[n] != want {
				t.Fatalf("%q: %v, want %d at %d", labels, got, want, n)
			}
		}
		if err != nil || len(got) != len(labels) {
			t.Fatalf("%q: %v, %v", labels, got, err)
		}
	})
}
