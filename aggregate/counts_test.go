package aggregate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// small is a policy of four outputs, of which the last is never released.
func small(t testing.TB) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytopeFromBounds(eps, []uint64{4, 4, 4, 0}, []uint64{10, 10, 10, 0}, 4)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Mode: policy.Projection, Inputs: 2,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reportOf is the binary form of a report, as package policy documents it.
func reportOf(id [32]byte, index uint32) []byte {
	return binary.LittleEndian.AppendUint32(append([]byte("wpm1"), id[:]...), index)
}

func text(report []byte) string { return hex.EncodeToString(report) }

// TestCounter has one line of each verdict, in both forms.
func TestCounter(t *testing.T) {
	p := small(t)
	good, foreign := p.ID(), sha256.Sum256([]byte("another"))
	upper := strings.ToUpper(text(reportOf(good, 10)))
	for _, c := range []struct {
		name, line string
		want       aggregate.Verdict
	}{
		{"good", text(reportOf(good, 2)), aggregate.Counted},
		{"other policy", text(reportOf(foreign, 2)), aggregate.OtherPolicy},
		{"other policy, other outputs", text(reportOf(foreign, 99)), aggregate.OtherPolicy},
		{"no such output", text(reportOf(good, 4)), aggregate.NoSuchOutput},
		{"last possible output", text(reportOf(good, policy.MaxOutputs-1)), aggregate.NoSuchOutput},
		{"impossible output", text(reportOf(good, policy.MaxOutputs)), aggregate.Malformed},
		{"impossible output of another", text(reportOf(foreign, 1<<31)), aggregate.Malformed},
		{"never released", text(reportOf(good, 3)), aggregate.NeverReleased},
		{"nothing", "", aggregate.Malformed},
		{"short", text(reportOf(good, 2))[:79], aggregate.Malformed},
		{"long", text(reportOf(good, 2)) + "0", aggregate.Malformed},
		{"capitals", upper, aggregate.Malformed},
		{"capital in the index", text(reportOf(good, 10))[:73] + "A000000", aggregate.Malformed},
		{"no digit in the index", text(reportOf(good, 10))[:73] + "g000000", aggregate.Malformed},
		{"other magic", "77706d32" + text(reportOf(good, 2))[8:], aggregate.Malformed},
		{"zero report", "77706d31" + strings.Repeat("0", 72), aggregate.Malformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := aggregate.NewCounter(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := n.Text([]byte(c.line)); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			if raw, err := hex.DecodeString(c.line); err == nil && c.line != upper {
				if got := n.Binary(raw); got != c.want && !strings.Contains(c.name, "capital") {
					t.Errorf("%s, binary: %v, want %v", c.name, got, c.want)
				}
			}
		})
	}
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	for j := range uint32(6) {
		for range j + 1 {
			n.Text([]byte(text(reportOf(good, j))))
		}
	}
	n.Text(nil)
	got, err := n.Counts("e", []aggregate.Shard{{ID: "b", Lines: 12, Bytes: 1}, {ID: "a", Lines: 10}})
	if err != nil {
		t.Fatal(err)
	}
	want := aggregate.Counts{Policy: good, Epoch: "e", Reports: []uint64{1, 2, 3, 0}, Lines: 22,
		Shards: []aggregate.Shard{{ID: "a", Lines: 10}, {ID: "b", Lines: 12, Bytes: 1}}}
	want.Refused[aggregate.Malformed], want.Refused[aggregate.NoSuchOutput], want.Refused[aggregate.NeverReleased] = 1, 11,
		4
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got.Total() != 6 || got.AllRefused() != 16 || n.Lines() != 22 {
		t.Errorf("%d counted, %d refused of %d", got.Total(), got.AllRefused(), n.Lines())
	}
	if err := got.Belongs(p); err != nil {
		t.Error(err)
	}
	if _, err := aggregate.NewCounter(policy.Policy{}); !errors.Is(err, policy.ErrPolicy) {
		t.Errorf("zero policy: %v", err)
	}
	if _, err := n.Counts("e", nil); !errors.Is(err, aggregate.ErrFormat) {
		t.Errorf("lines from nowhere: %v", err)
	}
}

// TestCounterIsPolicys: on any line the counter agrees with what package policy says of it.
func TestCounterIsPolicys(t *testing.T) {
	p := small(t)
	good := p.ID()
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		id := good
		if rapid.Bool().Draw(t, "foreign") {
			id[rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1
		}
		line := []byte(text(reportOf(id,
			rapid.SampledFrom([]uint32{0, 1, 3, 4, 255, 256, 1<<20 - 1, 1 << 20, 1 << 31}).Draw(t, "index"))))
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			line[rapid.IntRange(0, len(line)-1).Draw(t, "at")] = rapid.SampledFrom(
				[]byte("0123456789abcdefABCDEFgG /:`@\xff\x00")).Draw(t, "to")
		}
		line = line[:len(line)-rapid.SampledFrom([]int{0, 0, 0, 1, 2, 8}).Draw(t, "cut")]
		var r policy.Report
		want := r.UnmarshalText(line) == nil && p.Belongs(r) == nil
		if got := n.Text(line); (got == aggregate.Counted) != want {
			t.Fatalf("%q: %v, policy says %v", line, got, want)
		}
	})
}

// TestCounterMemory: three million reports take no memory beyond the counter's own.
func TestCounterMemory(t *testing.T) {
	p := small(t)
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	lines := [][]byte{[]byte(text(reportOf(p.ID(), 0))), []byte(text(reportOf(p.ID(), 1))),
		[]byte(text(reportOf(p.ID(), 2)))}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1_000_000 {
		for _, line := range lines {
			n.Text(line)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<16 || n.Lines() != 3_000_000 {
		t.Errorf("%d lines, %d bytes allocated", n.Lines(), got)
	}
}

func BenchmarkCounter(b *testing.B) {
	p := small(b)
	n, err := aggregate.NewCounter(p)
	if err != nil {
		b.Fatal(err)
	}
	foreign := p.ID()
	foreign[0] ^= 1
	for _, c := range []struct {
		name string
		line []byte
	}{{"good", []byte(text(reportOf(p.ID(), 1)))}, {"foreign", []byte(text(reportOf(foreign, 1)))},
		{"malformed", []byte("nothing")}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				n.Text(c.line)
			}
		})
	}
}

func part() aggregate.Counts {
	c := aggregate.Counts{
		Policy: sha256.Sum256([]byte("p")), Epoch: "2026-07", Reports: []uint64{5, 0, 12}, Lines: 21,
		Shards: []aggregate.Shard{
			{ID: "eu/west 1.txt.gz", SHA256: sha256.Sum256([]byte("a")), Bytes: 1234, Lines: 20},
			{ID: "z\u00fcrich", SHA256: sha256.Sum256(nil), Lines: 1},
		},
	}
	c.Refused[aggregate.Malformed], c.Refused[aggregate.OtherPolicy] = 1, 3
	return c
}

// TestCountsGolden holds the text of the format.
func TestCountsGolden(t *testing.T) {
	got, err := part().Encode()
	if err != nil {
		t.Fatal(err)
	}
	numtest.GoldenBytes(t, filepath.Join("testdata", "counts.txt"), got)
	body, hash, _ := bytes.Cut(got, []byte("sha256 "))
	if want := fmt.Sprintf("%x\n", sha256.Sum256(body)); string(hash) != want {
		t.Errorf("last line %q, want %q", hash, want)
	}
	if !aggregate.IsCounts(got) || !aggregate.IsCounts([]byte("wpm-counts-2\n")) ||
		aggregate.IsCounts([]byte("wpm-count")) {
		t.Error("IsCounts")
	}
	again, err := aggregate.DecodeCounts(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(part(), again); d != "" {
		t.Error(d)
	}
}

// seal puts the right hash under a text.
func seal(body string) string { return body + fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(body))) }

// TestDecodeCountsErrors: every other text is refused, with the line.
func TestDecodeCountsErrors(t *testing.T) {
	b, err := part().Encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	body, _, _ := strings.Cut(good, "sha256 ")
	for _, c := range []struct {
		name, text, want string
		err              error
	}{
		{"empty", "", "line 1", aggregate.ErrFormat},
		{"reports", text(reportOf(part().Policy, 1)) + "\n", "line 1", aggregate.ErrFormat},
		{"the next format", strings.Replace(good, "counts-1", "counts-2", 1), "line 1", aggregate.ErrFormat},
		{"CRLF", strings.ReplaceAll(good, "\n", "\r\n"), "line 1", aggregate.ErrFormat},
		{"no last line end", good[:len(good)-1], "line 16", aggregate.ErrFormat},
		{"no hash", body, "line 16", aggregate.ErrFormat},
		{"text after it", good + "\n", "line 17", aggregate.ErrFormat},
		{"another number", strings.Replace(good, "\n12\n", "\n13\n", 1), "hash", aggregate.ErrFormat},
		{"capitals", seal(strings.Replace(body, fmt.Sprintf("%x", part().Policy), fmt.Sprintf("%X", part().Policy), 1)),
			"line 2", aggregate.ErrFormat},
		{"short ID", seal(strings.Replace(body, "policy 1", "policy ", 1)), "line 2", aggregate.ErrFormat},
		{"epoch with blank", seal(strings.Replace(body, "epoch 2026-07", "epoch ", 1)), "line 3", aggregate.ErrFormat},
		{"epoch of two words", seal(strings.Replace(body, "epoch 2026-07", "epoch a b", 1)), "line 3", aggregate.ErrFormat},
		{"epoch with a slash", seal(strings.Replace(body, "epoch 2026-07", "epoch a/b", 1)), "line 3", aggregate.ErrFormat},
		{"leading zero", seal(strings.Replace(body, "lines 21", "lines 021", 1)), "line 4", aggregate.ErrFormat},
		{"sign", seal(strings.Replace(body, "lines 21", "lines +21", 1)), "line 4", aggregate.ErrFormat},
		{"negative", seal(strings.Replace(body, "\n12\n", "\n-12\n", 1)), "line 15", aggregate.ErrFormat},
		{"above 2^53", seal(strings.Replace(body, "\n12\n", "\n9007199254740993\n", 1)), "line 15", aggregate.ErrFormat},
		{"above 2^64", seal(strings.Replace(body, "\n12\n", "\n18446744073709551617\n", 1)), "line 15", aggregate.ErrFormat},
		{"too few lines", seal(strings.Replace(body, "lines 21", "lines 20", 1)), "20 lines", aggregate.ErrFormat},
		{"too many lines", seal(strings.Replace(body, "lines 21", "lines 22", 1)), "22 lines", aggregate.ErrFormat},
		{"shards do not add up", seal(strings.Replace(body, "1234 20 ", "1234 19 ", 1)), "shards have 20",
			aggregate.ErrFormat},
		{"reason unknown", seal(strings.Replace(body, "no-such-output", "no-such-point", 1)), "line 7", aggregate.ErrFormat},
		{"shards out of order", seal(strings.Replace(body, "z\u00fcrich", "a", 1)), `"a" after`, aggregate.ErrFormat},
		{"shard twice", seal(strings.Replace(body, "z\u00fcrich", "eu/west 1.txt.gz", 1)), "eu/west", aggregate.ErrDuplicate},
		{"shard without a name", seal(strings.Replace(body, " z\u00fcrich", " ", 1)), "shard ID", aggregate.ErrFormat},
		{"shard without a field", seal(strings.Replace(body, " z\u00fcrich", "", 1)), "line 11", aggregate.ErrFormat},
		{"shard with a control character", seal(strings.Replace(body, "z\u00fcrich", "z\t", 1)), "shard ID",
			aggregate.ErrFormat},
		{"not UTF-8", seal(strings.Replace(body, "z\u00fcrich", "z\xff", 1)), "line 11", aggregate.ErrFormat},
		{"many shards", seal(strings.Replace(body, "shards 2", "shards 3", 1)), "line 12", aggregate.ErrFormat},
		{"few outputs", seal(strings.Replace(body, "reports 3", "reports 2", 1)), "line 15", aggregate.ErrFormat},
		{"no outputs", seal(strings.Replace(body, "reports 3", "reports 0", 1)), "0 outputs", aggregate.ErrLimit},
		{"a promise of outputs", seal(strings.Replace(body, "reports 3", "reports 1048577", 1)), "1048577",
			aggregate.ErrLimit},
		{"size", strings.Repeat("\n", aggregate.MaxCountsBytes+1), "bytes", aggregate.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := aggregate.DecodeCounts([]byte(c.text))
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) || got.Reports != nil {
				t.Errorf("%s: %v, want %v with %q", c.name, err, c.err, c.want)
			}
		})
	}
}

var parts = rapid.Custom(func(t *rapid.T) aggregate.Counts {
	c := aggregate.Counts{Policy: sha256.Sum256([]byte("p")), Epoch: "e"}
	c.Reports = rapid.SliceOfN(rapid.Uint64Range(0, 9), 3, 3).Draw(t, "reports")
	for _, v := range aggregate.Reasons() {
		c.Refused[v] = rapid.Uint64Range(0, 3).Draw(t, v.String())
		c.Lines += c.Refused[v]
	}
	for _, n := range c.Reports {
		c.Lines += n
	}
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i j"}), 1, 3,
		rapid.ID[string]).Draw(t, "ids")
	slices.Sort(ids)
	rest := c.Lines
	for i, id := range ids {
		n := rest
		if i < len(ids)-1 {
			n = rapid.Uint64Range(0, rest).Draw(t, "lines")
		}
		rest -= n
		c.Shards = append(c.Shards, aggregate.Shard{ID: id, Lines: n, Bytes: 81 * n, SHA256: sha256.Sum256([]byte(id))})
	}
	return c
})

// TestMergeLaws: the order and grouping of merges do not matter, a merge is the sum, shards are disjoint, and arguments
// stay.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := parts.Draw(t, "a"), parts.Draw(t, "b"), parts.Draw(t, "c")
		kept, err := a.Encode()
		if err != nil {
			t.Fatal(err)
		}
		ab, err1 := aggregate.Merge(a, b)
		ba, err2 := aggregate.Merge(b, a)
		if (err1 == nil) != (err2 == nil) || !cmp.Equal(ab, ba) {
			t.Fatalf("a+b = %v, %v; b+a = %v, %v", ab, err1, ba, err2)
		}
		common := slices.ContainsFunc(a.Shards,
			func(s aggregate.Shard) bool { return slices.Contains(b.Shards, s) || idOf(b, s.ID) })
		if common != errors.Is(err1, aggregate.ErrDuplicate) || !common && err1 != nil {
			t.Fatalf("common shard %v: %v", common, err1)
		}
		if now, err := a.Encode(); err != nil || !bytes.Equal(now, kept) {
			t.Fatal("Merge changed its argument")
		}
		bc, err2 := aggregate.Merge(b, c)
		if err1 != nil || err2 != nil {
			return
		}
		left, err1 := aggregate.Merge(ab, c)
		right, err2 := aggregate.Merge(a, bc)
		if (err1 == nil) != (err2 == nil) || !cmp.Equal(left, right) {
			t.Fatalf("(a+b)+c = %v, %v; a+(b+c) = %v, %v", left, err1, right, err2)
		}
		if err1 != nil {
			return
		}
		for j := range left.Reports {
			if left.Reports[j] != a.Reports[j]+b.Reports[j]+c.Reports[j] {
				t.Fatalf("output %d: %d", j, left.Reports[j])
			}
		}
		if left.Lines != a.Lines+b.Lines+c.Lines || left.Total() != a.Total()+b.Total()+c.Total() ||
			len(left.Shards) != len(a.Shards)+len(b.Shards)+len(c.Shards) {
			t.Fatalf("%+v", left)
		}
		text, err := left.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := aggregate.DecodeCounts(text); err != nil || !cmp.Equal(again, left) {
			t.Fatalf("%v, %v", again, err)
		}
	})
}

func idOf(c aggregate.Counts, id string) bool {
	return slices.ContainsFunc(c.Shards, func(s aggregate.Shard) bool { return s.ID == id })
}

// TestCountsErrors: parts that do not go together, and counts that no reading gives, are refused by Merge, Encode and
// Belongs.
func TestCountsErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*aggregate.Counts)
		want   error
		alone  bool // Encode refuses it, too
	}{
		"policy":        {func(c *aggregate.Counts) { c.Policy[0] ^= 1 }, aggregate.ErrPolicy, false},
		"epoch":         {func(c *aggregate.Counts) { c.Epoch = "2026-08" }, aggregate.ErrEpoch, false},
		"no epoch":      {func(c *aggregate.Counts) { c.Epoch = "" }, aggregate.ErrEpoch, false},
		"outputs":       {func(c *aggregate.Counts) { c.Reports = append(c.Reports, 0) }, aggregate.ErrShape, false},
		"same shards":   {func(c *aggregate.Counts) {}, aggregate.ErrDuplicate, false},
		"lines":         {func(c *aggregate.Counts) { c.Lines++ }, aggregate.ErrFormat, true},
		"counted twice": {func(c *aggregate.Counts) { c.Refused[aggregate.Counted] = 1 }, aggregate.ErrFormat, true},
		"overflow": {func(c *aggregate.Counts) { c.Reports[0] = 1 << 63; c.Reports[1] = 1 << 63 }, aggregate.ErrLimit,
			true},
		"shard bytes": {func(c *aggregate.Counts) { c.Shards[0].Bytes = 1<<53 + 1 }, aggregate.ErrLimit, true},
		"all bytes": {func(c *aggregate.Counts) { c.Shards[0].Bytes, c.Shards[1].Bytes = 1<<53, 1 }, aggregate.ErrLimit,
			true},
		"order":   {func(c *aggregate.Counts) { slices.Reverse(c.Shards) }, aggregate.ErrFormat, true},
		"long ID": {func(c *aggregate.Counts) { c.Shards[1].ID = strings.Repeat("z", 257) }, aggregate.ErrFormat, true},
		"shards": {func(c *aggregate.Counts) { c.Shards = make([]aggregate.Shard, aggregate.MaxShards+1) },
			aggregate.ErrLimit, true},
	} {
		t.Run(name, func(t *testing.T) {
			other := part()
			c.change(&other)
			if got, err := aggregate.Merge(part(), other); !errors.Is(err, c.want) || got.Reports != nil {
				t.Errorf("%s: Merge: %v, want %v", name, err, c.want)
			}
			if _, err := other.Encode(); c.alone != (err != nil) || c.alone && !errors.Is(err, c.want) {
				t.Errorf("%s: Encode: %v", name, err)
			}
		})
	}
	empty := aggregate.Counts{}
	if _, err := empty.Encode(); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("no outputs: %v", err)
	}
	// Two halves of the largest number are one too many with one more.
	half := aggregate.Counts{Reports: []uint64{1 << 52}, Lines: 1 << 52,
		Shards: []aggregate.Shard{{ID: "a", Lines: 1 << 52}}}
	other := aggregate.Counts{Reports: []uint64{1<<52 + 1}, Lines: 1<<52 + 1,
		Shards: []aggregate.Shard{{ID: "b", Lines: 1<<52 + 1}}}
	if _, err := aggregate.Merge(half, other); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("beyond 2^53: %v", err)
	}
	// The limits themselves are within.
	most := aggregate.Counts{Reports: make([]uint64, policy.MaxOutputs),
		Shards: make([]aggregate.Shard, aggregate.MaxShards)}
	for n := range most.Shards {
		most.Shards[n].ID = fmt.Sprintf("%05d", n)
	}
	most.Reports[0], most.Lines, most.Shards[0].Lines, most.Shards[0].Bytes = 1<<53, 1<<53, 1<<53, 1<<53
	if _, err := most.Encode(); err != nil {
		t.Errorf("at all limits: %v", err)
	}
	most.Reports = append(most.Reports, 0)
	if _, err := most.Encode(); !errors.Is(err, aggregate.ErrLimit) {
		t.Errorf("an output too many: %v", err)
	}
	p := small(t)
	mine := aggregate.Counts{Policy: p.ID(), Reports: []uint64{0, 0, 1, 0}}
	if err := mine.Belongs(p); err != nil {
		t.Error(err)
	}
	mine.Reports[3] = 1
	if err := mine.Belongs(p); !errors.Is(err, aggregate.ErrIndex) {
		t.Errorf("an output of weight 0: %v", err)
	}
	mine.Reports = mine.Reports[:3]
	if err := mine.Belongs(p); !errors.Is(err, aggregate.ErrShape) {
		t.Errorf("three outputs: %v", err)
	}
	if err := part().Belongs(p); !errors.Is(err, aggregate.ErrPolicy) {
		t.Errorf("another policy: %v", err)
	}
	if err := empty.Belongs(policy.Policy{}); !errors.Is(err, aggregate.ErrPolicy) {
		t.Errorf("zero policy: %v", err)
	}
	if s := aggregate.Verdict(99).String(); s != "verdict(99)" {
		t.Error(s)
	}
}

// TestKindCounter: reports of another kind are counted by what its Read says of them, in both forms.
func TestKindCounter(t *testing.T) {
	c, err := aggregate.NewKindCounter(aggregate.Kind{ID: [32]byte{7}, Outputs: 3,
		Read: func(record []byte, binary bool) (int, aggregate.Verdict) {
			if binary {
				return 2, aggregate.Counted
			}
			if len(record) != 1 {
				return 0, aggregate.Malformed
			}
			return int(record[0]), aggregate.Counted
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\x00", "\x01", "\x01", "", "xy"} {
		c.Text([]byte(line))
	}
	c.Binary([]byte("whatever"))
	got, err := c.Counts("e", []aggregate.Shard{{ID: "s", Lines: 6}})
	if err != nil || !slices.Equal(got.Reports, []uint64{1, 2, 1}) || got.Refused[aggregate.Malformed] != 2 ||
		got.Policy != [32]byte{7} {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := aggregate.DecodeCounts(text); err != nil || !slices.Equal(again.Reports, got.Reports) {
		t.Errorf("%+v, %v", again, err)
	}
	for _, outputs := range []int{0, -1, policy.MaxOutputs + 1} {
		if _, err := aggregate.NewKindCounter(aggregate.Kind{Outputs: outputs}); !errors.Is(err, aggregate.ErrLimit) {
			t.Errorf("%d outputs: %v", outputs, err)
		}
	}
}
