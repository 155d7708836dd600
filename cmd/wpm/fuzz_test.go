package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// FuzzReports: whatever a file of reports holds, those read are of the policy, and written again they are the file but for white space.
func FuzzReports(f *testing.F) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		f.Fatal(err)
	}
	ring, err := cost.NewRing(3, 1)
	if err != nil {
		f.Fatal(err)
	}
	m, err := wpm.New(ring, []float64{0.3, 0.3, 0.4}, eps, wpm.Options{Bits: 16})
	if err != nil {
		f.Fatal(err)
	}
	p, err := m.Publish(context.Background(), policy.Config{
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: "fuzz"},
	})
	if err != nil {
		f.Fatal(err)
	}
	r, err := policy.Release(context.Background(), p, policy.UnaccountedForTesting(), []byte("0,1\n"), m.Projector())
	if err != nil {
		f.Fatal(err)
	}
	binary, err := r.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	text := r.String()
	for _, s := range []string{
		text + "\n", text, " " + text + "\r\n\n" + text + "\t\n", text + text, text[:len(text)-1], "", "\n", "wpm1", "wpm", "x\n" + text,
		string(binary), string(binary) + string(binary), string(binary) + "\n", string(binary[:39]), string(binary) + text,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		all, err := readReports(bytes.NewReader(data), "file", p)
		if !bytes.Equal(data, kept) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if all != nil {
				t.Fatalf("%d reports beside %v", len(all), err)
			}
			return
		}
		var asText, asBinary []byte
		for _, r := range all {
			if err := p.Belongs(r); err != nil {
				t.Fatal(err)
			}
			b, err := r.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			asText, asBinary = append(asText, r.String()...), append(asBinary, b...)
		}
		if lines := bytes.Join(bytes.Fields(data), nil); !bytes.Equal(data, asBinary) && !bytes.Equal(lines, asText) {
			t.Fatalf("%q was read as %q", data, asText)
		}
		if len(all) > 0 {
			if counts, err := countReports(p, all); err != nil || len(counts) != p.Outputs() {
				t.Fatalf("%v, %v", counts, err)
			}
		}
	})
}
