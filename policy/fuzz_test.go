package policy

import (
	"bytes"
	"errors"
	"testing"
)

// What Decode accepts, Encode writes back byte for byte, and Verify confirms.
func FuzzDecode(f *testing.F) {
	f.Add(mustEncode(f, mustNew(f, smallConfig(f))))
	f.Add(mustEncode(f, mustNew(f, projectionConfig(f, false))))
	for _, text := range verdictBases(f) {
		f.Add([]byte(text))
	}
	f.Add(mustEncode(f, mustNew(f, aliasConfig(f))))
	for _, cfg := range geometryConfigs(f) {
		f.Add(mustEncode(f, mustNew(f, cfg)))
	}
	f.Add(mustEncode(f, mustNew(f, codesConfig(f))))
	f.Add([]byte("{\n\"format\":\"wpm-policy-1\",\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			var at *FormatError
			if errors.As(err, &at) && (at.Offset < 0 || at.Offset > len(data) || at.Line < 1) {
				t.Fatalf("%+v of %d bytes", at, len(data))
			}
			return
		}
		if again := mustEncode(t, p); !bytes.Equal(again, data) {
			t.Fatalf("%q became %q", data, again)
		}
		if err := Verify(p); err != nil {
			t.Fatal(err)
		}
	})
}

// No bytes make a report but those it marshals to.
func FuzzReport(f *testing.F) {
	b, err := Report{id: [32]byte{1}, index: 5}.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Report
		if err := r.UnmarshalBinary(data); err != nil {
			if !r.IsZero() {
				t.Fatal("receiver changed")
			}
			return
		}
		if again, err := r.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x became %x, %v", data, again, err)
		}
	})
}
