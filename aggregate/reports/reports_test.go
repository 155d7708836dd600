package reports

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

func report(id [32]byte, j byte) string { return fmt.Sprintf("77706d31%x%02x000000\n", id, j) }

func counter(t *testing.T, id [32]byte) *aggregate.Counter {
	t.Helper()
	n, err := aggregate.NewCounterOf(id, []bool{false, false, true})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCountShard: a file read once for three policies gives each what reading it for that policy alone gives.
func TestCountShard(t *testing.T) {
	ids := [][32]byte{{1}, {2}, {3}}
	var text strings.Builder
	for i := range 300 {
		text.WriteString(report(ids[i%3], byte(i%5)))
		if i%50 == 0 {
			text.WriteString("nothing\n \n")
		}
	}
	file := text.String()
	r := Reader{Magic: "wpm1", Size: policy.ReportSize,
		Open: func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(file)), nil }}
	var ns []*aggregate.Counter
	var want []aggregate.Counts
	for _, id := range ids {
		ns = append(ns, counter(t, id))
		c, err := r.Count(context.Background(), counter(t, id), []string{"a"}, "e")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, c)
	}
	for range 2 { // the counters stay as they are
		got, err := r.CountShard(context.Background(), ns, "a", "e")
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if want[0].Total() != 40 || want[0].Refused[aggregate.OtherPolicy] != 200 ||
		want[0].Refused[aggregate.Malformed] != 6 ||
		want[0].Refused[aggregate.NeverReleased] != 20 || want[0].Refused[aggregate.NoSuchOutput] != 40 {
		t.Errorf("%+v", want[0])
	}
	file = string(Mark(ids[0], 1)) + file
	if _, err := r.CountShard(context.Background(), ns, "a", "e"); !errors.Is(err, ErrSimulated) {
		t.Errorf("simulated: %v", err)
	}
	if got, err := r.CountShard(context.Background(), ns, "a", "simulation.e"); err != nil ||
		got[1].Total() != want[1].Total() {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := r.CountShard(context.Background(), ns, "a", "e/"); !errors.Is(err, aggregate.ErrFormat) {
		t.Errorf("epoch: %v", err)
	}
	if _, err := aggregate.NewCounterOf(ids[0], nil); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("no outputs: %v", err)
	}
}

// TestMarks: a file that starts with a mark is simulated, a byte order mark before it or not; one with a mark further
// down may be in part, and says so.
func TestMarks(t *testing.T) {
	id := [32]byte{1}
	line, marked := report(id, 1), string(Mark(id, 1))
	for _, c := range []struct {
		name, text, epoch string
		counts            string // its epoch, or ""
		lines, malformed  uint64
		notice            string
	}{
		{"mark", marked + line, "simulation:1", "simulation:1", 1, 0, "the reports are simulated"},
		{"no epoch", marked + line, "", "simulation", 1, 0, "the reports are simulated"},
		{"no epoch, no mark", line, "", "", 1, 0, ""},
		{"epoch", marked + line, "e", "-", 0, 0, ""},
		{"byte order mark", bom + marked + line, "simulation", "simulation", 1, 0, "the reports are simulated"},
		{"byte order mark, epoch", bom + marked + line, "e", "-", 0, 0, ""},
		{"byte order mark of a report", bom + line, "e", "e", 1, 1, ""},
		{"joined", line + marked + line + marked + line, "e", "e", 5, 2,
			`"a" has the mark of a simulation on line 2: it may hold simulated reports`},
		{"joined, blanks", line + "\n \t" + bom + marked + line, "e", "e", 3, 1,
			`"a" has the mark of a simulation on line 3: it may hold simulated reports`},
		{"two simulations", marked + line + marked + line, "simulation", "simulation", 3, 1, "the reports are simulated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			notice := ""
			open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(c.text)), nil }
			r := Reader{Magic: "wpm1", Size: policy.ReportSize, Open: open, Notice: func(text string) { notice += text }}
			got, err := r.Count(context.Background(), counter(t, id), []string{"a"}, c.epoch)
			if c.counts == "-" {
				if !errors.Is(err, ErrSimulated) {
					t.Errorf("%s: %v", c.name, err)
				}
				return
			}
			if err != nil || got.Epoch != c.counts || got.Lines != c.lines || got.Refused[aggregate.Malformed] != c.malformed ||
				notice != c.notice {
				t.Errorf("%s: %+v, %v, notice %q, want %+v", c.name, got, err, notice, c)
			}
		})
	}
}

// TestManifestLimits: what is too large is refused by its size, not by what memory there is.
func TestManifestLimits(t *testing.T) {
	row := func(n int) string { return fmt.Sprintf("%d,1,%x\n", n, sha256.Sum256(nil)) }
	var b strings.Builder
	for n := range aggregate.MaxShards {
		b.WriteString(row(n))
	}
	m, err := ReadManifest(strings.NewReader(b.String()), "m")
	if err != nil || len(m) != aggregate.MaxShards {
		t.Errorf("%d shards, %v", len(m), err)
	}
	if err := m.Check(m); err != nil {
		t.Error(err)
	}
	if err := m.Check(m[:10]); !errors.Is(err, ErrManifest) || len(err.Error()) > 300 ||
		!strings.Contains(err.Error(), "and 65521 more") {
		t.Errorf("%v", err)
	}
	b.WriteString(row(aggregate.MaxShards))
	if _, err := ReadManifest(strings.NewReader(b.String()), "m"); !errors.Is(err, ErrManifest) {
		t.Errorf("a shard too many: %v", err)
	}
	for name, start := range map[string]string{"one field": "", "an open quote": `"`} {
		text := io.MultiReader(strings.NewReader(start), &endless{strings.Repeat("x", 1<<16), aggregate.MaxCountsBytes + 1})
		if _, err := ReadManifest(text, "m"); !errors.Is(err, ErrManifest) || len(err.Error()) > 300 {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	var bad bytes.Buffer
	bad.WriteString("\x1f\x8b")
	if _, err := ReadManifest(&bad, "m"); err == nil {
		t.Error("half an archive is read")
	}
}

// endless gives one text over and over, for some bytes.
type endless struct {
	text string
	left int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), e.left)], e.text[(-e.left%len(e.text)+len(e.text))%len(e.text):])
	e.left -= n
	return n, nil
}

// TestConstantMemory: a shard of a million lines, packed or not, takes no more memory than one of a thousand: buffers
// of 64 KiB each for the file, the line and the archive, whose reader has some 50 KiB of its own.
func TestConstantMemory(t *testing.T) {
	line := report([32]byte{1}, 1)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for range 1000 {
		if _, err := io.WriteString(z, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"text": strings.Repeat(line, 1000), "gzip": packed.String()} {
		r := Reader{Magic: "wpm1", Size: policy.ReportSize, Open: func(string) (io.ReadCloser, error) {
			return io.NopCloser(&endless{text, 1000 * len(text)}), nil
		}}
		var before, after runtime.MemStats
		n := counter(t, [32]byte{1})
		runtime.ReadMemStats(&before)
		c, err := r.Count(context.Background(), n, []string{"a"}, "e")
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err != nil || c.Total() != 1_000_000 || used > 1<<20 {
			t.Errorf("%s: %d reports, %d bytes allocated, %v", name, c.Total(), used, err)
		}
	}
}

// TestZeroReader: a Reader that cannot open anything says so.
func TestZeroReader(t *testing.T) {
	if err := (Reader{}).Each(context.Background(), "file", func([]byte, bool) error { return nil }); !errors.Is(err,
		wpmerr.ErrShape) {
		t.Error(err)
	}
}
