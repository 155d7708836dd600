package fuzz

import (
	"bytes"
	"compress/gzip"
	"errors"
	"testing"
)

func zipped(f *testing.F, b []byte) []byte {
	f.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// tooWide tells bombs from what a target should spend its time on: decompressed data of more than 64 kB.
func tooWide(data []byte) bool {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return false
	}
	n := 0
	buf := make([]byte, 1<<12)
	for n < 1<<16 {
		m, err := z.Read(buf)
		if n += m; err != nil {
			return false
		}
	}
	return true
}

// typed fails the test unless err wraps one of the sentinels.
func typed(t *testing.T, err error, sentinels ...error) {
	t.Helper()
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Fatalf("error %q (%T) wraps none of the sentinels", err, err)
}
