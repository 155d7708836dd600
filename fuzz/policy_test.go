package fuzz

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
	"github.com/wpm-go/wpm/proptest/privacy"
)

// fixture publishes a mechanism on five points, one of them never released.
func fixture(f *testing.F, mode policy.Mode, labels []string) (policy.Policy, *wpm.Mechanism) {
	f.Helper()
	eps, err := ldp.ParseEpsilon("3/2")
	if err != nil {
		f.Fatal(err)
	}
	ring, err := cost.NewRing(5, 1)
	if err != nil {
		f.Fatal(err)
	}
	m, err := wpm.New(context.Background(), ring, []float64{0.2, 0.3, 0, 0.2, 0.2}, eps, wpm.Options{Bits: 16})
	if err != nil {
		f.Fatal(err)
	}
	p, err := m.Publish(context.Background(), policy.Config{
		Mode: mode, InputLabels: labels, OutputLabels: labels,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: "fuzz"},
		Metadata:   map[string]string{"title": "fuzz", "a": "é"},
	})
	if err != nil {
		f.Fatal(err)
	}
	return p, m
}

var fixtureLabels = []string{"home", `the "corner", left`, "købmand", "d", "e"}

// FuzzPolicyDecode: what Decode accepts is canonical (Encode writes the same bytes back), verified, named by its
// hash, and eps-LDP by the definition.
func FuzzPolicyDecode(f *testing.F) {
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		for _, labels := range [][]string{nil, fixtureLabels} {
			p, _ := fixture(f, mode, labels)
			b, err := policy.Encode(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
			f.Add(append(b, '\n'))
			f.Add(bytes.Replace(b, []byte("3/2"), []byte("1.5"), 1))
			f.Add(bytes.Replace(b, []byte(`"fuzz"`), []byte(`"f\u0075zz"`), 1))
			f.Add(b[:len(b)/2])
		}
	}
	f.Add([]byte("{}"))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		p, err := policy.Decode(data)
		if !bytes.Equal(data, kept) {
			t.Fatal("the text was changed")
		}
		if err != nil {
			typed(t, err, policy.ErrFormat, policy.ErrLimit, policy.ErrShape, policy.ErrText, policy.ErrObject, policy.ErrRow,
				policy.ErrMode,
				policy.ErrProvenance, ldp.ErrEpsilon, ldp.ErrBits, ldp.ErrBox)
			if !p.IsZero() {
				t.Fatal("a policy beside an error")
			}
			return
		}
		again, err := policy.Encode(p)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q became %q, %v", data, again, err)
		}
		if err := policy.Verify(p); err != nil {
			t.Fatal(err)
		}
		if p.ID() != sha256.Sum256(data) {
			t.Fatal("the ID is not the hash")
		}
		box := p.Polytope()
		lo, hi := bounds(box)
		if len(lo) > 64 {
			return
		}
		if err := privacy.CheckBox(p.Epsilon().Rat(), lo, hi, box.Bits()); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		rows := [][]uint64{integers(p.Fallback())}
		for i := range min(p.Inputs(), 16) {
			if w, err := p.Row(i); err == nil {
				rows = append(rows, integers(w))
			} else if p.HasRows() {
				t.Fatal(err)
			}
		}
		if err := privacy.CheckRows(p.Epsilon().Rat(), rows); err != nil {
			t.Fatalf("accepted: %v", err)
		}
	})
}

func integers(w ldp.Weights) []uint64 {
	n := make([]uint64, w.Len())
	for j := range n {
		n[j] = w.At(j)
	}
	return n
}

// FuzzRelease: whatever the private bytes and whatever the solver does, a release never fails and is a report of
// the policy on an output that can be released; and data that parse are a distribution that prints nothing.
func FuzzRelease(f *testing.F) {
	type client struct {
		p policy.Policy
		m *wpm.Mechanism
	}
	var clients []client
	for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
		for _, labels := range [][]string{nil, fixtureLabels} {
			p, m := fixture(f, mode, labels)
			clients = append(clients, client{p, m})
		}
	}
	for _, s := range []string{
		"", "0,1\n", "label,count\n0,3\n4,0.5\n", "home,1\n\"the \"\"corner\"\", left\",2\r\n", "\ufeffhome,1", "home,-1",
		"home,1e400", "home,9007199254740992\n",
		"0,0\n1,0\n", "00,1\n", "0, 1\n", "0,1,\n", "\"home,1", "9,1\n", "0,1\n0,1\n", "købmand,1e-400\n", "0,NaN\n",
		"\xff\xfe0",
	} {
		for n := range 2 * len(clients) {
			f.Add([]byte(s), uint8(n), []byte{8, 8, 8, 8, 8})
		}
	}
	errSolver := errors.New("solver")
	f.Fuzz(func(t *testing.T, data []byte, n uint8, answer []byte) {
		c := clients[int(n)%len(clients)]
		project := c.m.Projector()
		if n >= 128 {
			project = func(_ context.Context, mu []float64) ([]float64, error) {
				in := &feed{answer}
				switch in.byte() % 8 {
				case 0:
					return nil, errSolver
				case 1:
					panic(errSolver)
				case 2:
					runtime.Goexit()
				case 3:
					return mu, nil
				case 4:
					return in.mass(5, 1), nil
				}
				return in.floats(int(in.byte() % 8)), nil
			}
		}
		kept := bytes.Clone(data)
		r, err := policy.Release(context.Background(), c.p, ledger.UnaccountedForTesting(), data, project)
		if err != nil {
			t.Fatalf("Release: %v", err)
		}
		if !bytes.Equal(data, kept) {
			t.Fatal("the data data were changed")
		}
		if err := c.p.Belongs(r); err != nil || c.p.Polytope().Hi(r.Index()) == 0 {
			t.Fatalf("released %d: %v", r.Index(), err)
		}
		b, err := r.MarshalBinary()
		if err != nil || len(b) != policy.ReportSize {
			t.Fatalf("report of %d bytes, %v", len(b), err)
		}
		pr, err := policy.ParsePrivate(c.p, data)
		if err != nil {
			typed(t, err, private.ErrUnusable)
			return
		}
		mu := pr.Mu()
		sum := 0.0
		for _, v := range mu {
			if !(v >= 0) {
				t.Fatalf("mu = %v", mu)
			}
			sum += v
		}
		if !(sum > 1-1e-12 && sum < 1+1e-12) { // five roundings
			t.Fatalf("mu = %v sums to %v", mu, sum)
		}
		text, err := policy.FormatPrivate(c.p, mu)
		if err != nil {
			t.Fatalf("FormatPrivate(%v): %v", mu, err)
		}
		back, err := policy.ParsePrivate(c.p, text)
		if err != nil {
			t.Fatalf("%q does not parse: %v", text, err)
		}
		for i, v := range back.Mu() {
			if !(v >= mu[i]*(1-1e-12) && v <= mu[i]*(1+1e-12)) {
				t.Fatalf("mu[%d] = %v came back as %v", i, mu[i], v)
			}
		}
	})
}

// FuzzReport: no bytes and no text make a report but those that it is written as.
func FuzzReport(f *testing.F) {
	p, m := fixture(f, policy.Mixture, nil)
	r, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte("0,1\n"), m.Projector())
	if err != nil {
		f.Fatal(err)
	}
	b, err := r.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	text, err := r.MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range [][]byte{b, text, bytes.ToUpper(text), b[:39], append(b[:len(b):len(b)], 0), make([]byte, 40), nil} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var x policy.Report
		if err := x.UnmarshalBinary(data); err != nil {
			if typed(t, err, policy.ErrReport); !x.IsZero() {
				t.Fatal("the receiver was changed")
			}
		} else if again, err := x.MarshalBinary(); err != nil || !bytes.Equal(again, data) || len(data) != policy.ReportSize {
			t.Fatalf("%x became %x, %v", data, again, err)
		}
		var y policy.Report
		if err := y.UnmarshalText(data); err != nil {
			if typed(t, err, policy.ErrReport); !y.IsZero() {
				t.Fatal("the receiver was changed")
			}
		} else if again, err := y.MarshalText(); err != nil || !bytes.Equal(again, data) || y.String() != string(data) {
			t.Fatalf("%q became %q, %v", data, again, err)
		}
	})
}
