package reports

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// FuzzReports: a file of reports, whatever it holds, is counted as a plain loop over its lines or records counts it,
// with what package policy says of each; and the counts come back from the text that they are written as.
func FuzzReports(f *testing.F) {
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		f.Fatal(err)
	}
	ring, err := cost.NewRing(3, 1)
	if err != nil {
		f.Fatal(err)
	}
	m, err := wpm.New(context.Background(), ring, []float64{0.3, 0.3, 0.4}, eps, wpm.Options{Bits: 16})
	if err != nil {
		f.Fatal(err)
	}
	p, err := m.Publish(context.Background(), policy.Config{
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent, Note: "fuzz"},
	})
	if err != nil {
		f.Fatal(err)
	}
	r, err := policy.Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte("0,1\n"), m.Projector())
	if err != nil {
		f.Fatal(err)
	}
	binary, err := r.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	text := r.String()
	for _, s := range []string{
		text + "\n", text, " " + text + "\r\n\n" + text + "\t\n", text + text, "\v" + text, text + "\u00a0", "\f\n",
		text[:len(text)-1], "", "\n", "wpm1", "wpm", "x\n" + text,
		"wpm-simulation-1\n" + text, "wpm-simulation-1\nwpm1\n" + text, "wpm-simulation-1" + text,
		"\ufeffwpm-simulation-1\n" + text, text + "\nwpm-simulation-1\n",
		string(binary), string(binary) + string(binary), string(binary) + "\n", string(binary[:39]), string(binary) + text,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kept := bytes.Clone(data)
		n, err := aggregate.NewCounter(p)
		if err != nil {
			t.Fatal(err)
		}
		open := func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		cut := false
		r := Reader{Open: open, Magic: "wpm1", Size: policy.ReportSize,
			Notice: func(s string) { cut = cut || strings.Contains(s, "cut off") }}
		got, err := r.Count(context.Background(), n, []string{"-"}, "")
		if !bytes.Equal(data, kept) {
			t.Fatal("the input was changed")
		}
		plain := data
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			z, zerr := gzip.NewReader(bytes.NewReader(data))
			if zerr == nil {
				plain, zerr = io.ReadAll(z)
			}
			if (zerr == nil) != (err == nil) && !bytes.HasPrefix(plain, []byte("wpm-counts-")) {
				t.Fatalf("%q: %v, gzip says %v", data, err, zerr)
			}
			if zerr != nil {
				return
			}
		}
		if bytes.HasPrefix(plain, []byte("wpm-counts-")) {
			if err == nil {
				t.Fatal("partial counts were read as reports")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if marked(plain) {
			if _, err := r.Count(context.Background(), n.Fork(), []string{"-"}, "2026-11"); !errors.Is(err, ErrSimulated) {
				t.Fatalf("a simulation in an epoch of reports: %v", err)
			}
		}
		want, lines, whole := recount(p, plain)
		if cut == whole {
			t.Fatalf("%q: cut off: %v", data, cut)
		}
		if !slices.Equal(got.Reports, want) || got.Lines != lines || got.Total()+got.AllRefused() != lines {
			t.Fatalf("%q: %d of %d lines, want %d of %d", data, got.Reports, got.Lines, want, lines)
		}
		if s := got.Shards[0]; s.SHA256 != sha256.Sum256(data) || s.Bytes != uint64(len(data)) {
			t.Fatalf("shard %+v of %q", s, data)
		}
		text, err := got.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, table, err := ReadCounts(bytes.NewReader(text), "-", nil); err != nil || table ||
			!slices.Equal(again.Reports, want) {
			t.Fatalf("%v, %v", again, err)
		}
	})
}

func marked(plain []byte) bool {
	return bytes.HasPrefix(plain, []byte("wpm-simulation-1")) || bytes.HasPrefix(plain, []byte("\ufeffwpm-simulation-1"))
}

// recount is the plain loop. whole says that the last line has its end, or the last record all its bytes.
func recount(p policy.Policy, plain []byte) (want []uint64, lines uint64, whole bool) {
	want, whole = make([]uint64, p.Outputs()), true
	if bytes.HasPrefix(plain, []byte("wpm1")) {
		for ; len(plain) > 0; lines++ {
			record := plain[:min(40, len(plain))]
			plain, whole = plain[len(record):], len(record) == 40
			var r policy.Report
			if r.UnmarshalBinary(record) == nil && p.Belongs(r) == nil {
				want[r.Index()]++
			}
		}
		return want, lines, whole
	}
	whole = len(plain) == 0 || plain[len(plain)-1] == '\n'
	if marked(plain) { // a line that is no report
		_, plain, _ = bytes.Cut(plain, []byte("\n"))
	}
	for line := range bytes.SplitSeq(plain, []byte("\n")) {
		if line = bytes.Trim(line, " \t\r"); len(line) > 0 {
			lines++
		}
		var r policy.Report
		if r.UnmarshalText(line) == nil && p.Belongs(r) == nil {
			want[r.Index()]++
		}
	}
	return want, lines, whole
}
