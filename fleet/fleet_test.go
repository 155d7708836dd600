package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func TestMain(m *testing.M) { ptest.MainWithDefault(m, "prism") }

// testPolicy is a policy of n outputs, of which the last is never released.
func testPolicy(t testing.TB, n int) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := make([]uint64, n), make([]uint64, n)
	for j := range n - 1 {
		lo[j], hi[j] = uint64(1<<20/n), uint64(1<<20/n)*2
	}
	box, err := ldp.NewPolytopeFromBounds(eps, lo, hi, 20)
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

// listPolicy is a policy of version 3, a list of two codes and a disc: nine outputs for four inputs.
func listPolicy(t testing.TB) policy.Policy {
	t.Helper()
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	packed := func(colors int, color ...int32) []byte {
		b, err := policy.PackColors(color, colors)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	codes := []policy.Code{
		{Weight: 60, Low: 17, Colors: 2, Packed: packed(2, 0, 0, 1, 1)},
		{Weight: 96, Low: 21, Colors: 3, Packed: packed(3, 2, 0, 1, 0)},
		{Weight: 100, Low: 15, High: 40, Thresholds: []int32{1, 2, 1, 2}},
	}
	box, err := policy.CodesBox(eps, 8, 4, codes)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Config{
		Polytope: box, Codes: codes, Inputs: 4, Mode: policy.Mixture,
		Geometry:   &policy.Geometry{Kind: policy.Points, Axes: 1, OutputPoints: []int32{0, 10, 11, 30}},
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func lines(p policy.Policy, n int, random *rand.Rand) string {
	var b strings.Builder
	for range n {
		j := random.IntN(p.Outputs() - 1)
		fmt.Fprintf(&b, "77706d31%x%02x%02x0000\n", p.ID(), j%256, j/256)
	}
	return b.String()
}

func zipped(t testing.TB, texts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, text := range texts { // a member each
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// plain counts as wpm count does.
func plain(t testing.TB, p policy.Policy, epoch string, shards ...string) string {
	t.Helper()
	n, err := aggregate.NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	r := reports.Reader{Magic: "wpm1", Size: policy.ReportSize,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	c, err := r.Count(context.Background(), n, shards, epoch)
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fleetOf writes shards of two policies and two epochs, in every form, with malformed and foreign lines.
func fleetOf(t testing.TB, dir string, p, q policy.Policy) (first, second []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	foreign := testPolicy(t, 7)
	for n := range 6 {
		text := lines(p, 400, random) + "nothing\n\n" + lines(q, 300+n, random) + lines(foreign, 5, random) +
			fmt.Sprintf("77706d31%x%02x%02x0000\n", p.ID(), (p.Outputs()-1)%256, (p.Outputs()-1)/256)
		first = append(first, write(t, fmt.Sprintf("%s/e=2026-11-21/%d.txt", dir, n), text))
		gz := zipped(t, lines(q, 1000, random), "", lines(p, 50*n, random))
		second = append(second, write(t, fmt.Sprintf("%s/e=2026-11-22/%d.gz", dir, n), gz))
	}
	return first, append(second, write(t, dir+"/e=2026-11-22/empty", ""))
}

// TestAggregate: the parts of a pipeline on Prism are those of wpm count, byte for byte, one for each policy and epoch.
// One of the policies is a list of codes.
func TestAggregate(t *testing.T) {
	p, q, dir := testPolicy(t, 400), listPolicy(t), t.TempDir()
	first, second := fleetOf(t, dir, p, q)
	pipeline, s := beam.NewPipelineWithRoot()
	parts, unreadable, err := Aggregate(s, beam.CreateList(s, slices.Concat(second, first)), Options{
		Policies: []policy.Policy{p, q}, EpochPattern: "/e=([^/]*)/",
	})
	if err != nil {
		t.Fatal(err)
	}
	var want []any
	for _, x := range []policy.Policy{p, q} {
		want = append(want, []byte(plain(t, x, "2026-11-21", first...)), []byte(plain(t, x, "2026-11-22", second...)))
	}
	passert.Equals(s, parts, want...)
	passert.Empty(s, unreadable)
	ptest.RunAndValidate(t, pipeline)
}

// TestGzipIsReadToItsEnd: what Beam's text source loses. The text is a hundred times as long as the archive.
func TestGzipIsReadToItsEnd(t *testing.T) {
	p := testPolicy(t, 30)
	line := lines(p, 1, rand.New(rand.NewPCG(1, 2)))
	shard := write(t, t.TempDir()+"/a.txt.gz", zipped(t, strings.Repeat(line, 100_000)))
	if info, err := os.Stat(shard); err != nil || info.Size() > int64(len(line)*100_000/100) {
		t.Fatalf("%v, %v", info, err)
	}
	pipeline, s := beam.NewPipelineWithRoot()
	parts, _, err := Aggregate(s, beam.Create(s, shard), Options{Policies: []policy.Policy{p}, Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	want := plain(t, p, "e", shard)
	if !strings.Contains(want, "\nlines 100000\n") {
		t.Fatalf("%.300s", want)
	}
	passert.Equals(s, parts, []byte(want))
	ptest.RunAndValidate(t, pipeline)

	// And nobody imports that source here.
	out, err := exec.Command("go", "list", "-test", "-f", "{{.ImportPath}} {{.Imports}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "github.com/wpm-go/wpm/fleet") {
			continue
		}
		if own++; strings.Contains(line, "/io/textio") || strings.Contains(line, "/io/fileio") {
			t.Errorf("Beam's text source is imported: %.200s", line)
		}
	}
	if own < 2 {
		t.Errorf("%d packages of this module in %s", own, out)
	}
}

// TestPipelineErrors: what has no right count fails, and says which shard; with Quarantine a shard that cannot be read
// is named and left out.
func TestPipelineErrors(t *testing.T) {
	p, dir := testPolicy(t, 30), t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	text := lines(p, 200, random)
	good, copied := write(t, dir+"/good", text), write(t, dir+"/copy", text)
	whole := zipped(t, text)
	cut := write(t, dir+"/cut.gz", whole[:len(whole)-5])
	for _, c := range []struct {
		name   string
		shards []string
		o      Options
		want   string
	}{
		{"twice", []string{good, good}, Options{Epoch: "e"}, "counted twice"},
		{"copy", []string{good, copied}, Options{Epoch: "e"}, "the same 200 lines"},
		{"cut off", []string{good, cut}, Options{Epoch: "e"}, "cut.gz"},
		{"absent", []string{good, dir + "/absent"}, Options{Epoch: "e"}, "absent"},
		{"no epoch", []string{good}, Options{EpochPattern: "e=(.*)/"}, "good"},
		{"bad epoch", []string{good}, Options{EpochPattern: "(.*)good"}, "epoch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Policies = []policy.Policy{p}
			pipeline, s := beam.NewPipelineWithRoot()
			if _, _, err := Aggregate(s, beam.CreateList(s, c.shards), c.o); err != nil {
				t.Fatal(err)
			}
			if err := ptest.Run(pipeline); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	pipeline, s := beam.NewPipelineWithRoot()
	parts, unreadable, err := Aggregate(s, beam.CreateList(s, []string{cut, good, copied}), Options{
		Policies: []policy.Policy{p}, Epoch: "e", Quarantine: true, AllowEqual: true})
	if err != nil {
		t.Fatal(err)
	}
	passert.Equals(s, unreadable, cut+":201: unexpected EOF")
	passert.Count(s, parts, "parts", 1)
	ptest.RunAndValidate(t, pipeline)
}

func TestOptions(t *testing.T) {
	p := testPolicy(t, 30)
	for name, o := range map[string]Options{
		"no policy":    {Epoch: "e"},
		"zero policy":  {Epoch: "e", Policies: []policy.Policy{{}}},
		"twice":        {Epoch: "e", Policies: []policy.Policy{p, p}},
		"no epoch":     {Policies: []policy.Policy{p}},
		"both":         {Epoch: "e", EpochPattern: "(e)", Policies: []policy.Policy{p}},
		"bad epoch":    {Epoch: "e/", Policies: []policy.Policy{p}},
		"bad pattern":  {EpochPattern: "(", Policies: []policy.Policy{p}},
		"no group":     {EpochPattern: "e", Policies: []policy.Policy{p}},
		"no group, ?:": {EpochPattern: "(?:e)", Policies: []policy.Policy{p}},
	} {
		_, s := beam.NewPipelineWithRoot()
		if _, _, err := Aggregate(s, beam.Create(s, "x"), o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// parts are parts as a shard gives them.
var parts = rapid.Custom(func(t *rapid.T) aggregate.Counts {
	c := aggregate.Counts{Policy: sha256.Sum256([]byte("p")), Epoch: "e"}
	c.Reports = rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 0, 0, 1, 300, 1 << 40}), 5, 5).Draw(t, "reports")
	for _, v := range aggregate.Reasons() {
		c.Refused[v] = rapid.Uint64Range(0, 300).Draw(t, v.String())
		c.Lines += c.Refused[v]
	}
	for _, n := range c.Reports {
		c.Lines += n
	}
	id := rapid.StringMatching(`[a-zü/. ]{1,12}`).Draw(t, "id")
	c.Shards = []aggregate.Shard{{ID: id, Lines: c.Lines, Bytes: 81 * c.Lines, SHA256: sha256.Sum256([]byte(id))}}
	return c
})

// TestSumOfBundles: parts that go through the coder and the combiner in any bundles, some of which are done twice and
// thrown away once, have the sum that aggregate.Sum gives, or none.
func TestSumOfBundles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(parts, 1, 6).Draw(t, "parts")
		var sum aggregate.Sum
		var wantErr error
		for _, p := range list {
			wantErr = errors.Join(wantErr, sum.Add(p))
		}
		f := &sumFn{}
		wire := func(p Part) Part {
			if !rapid.Bool().Draw(t, "over the wire") {
				return p
			}
			back, err := decodePart(encodePart(p))
			if err != nil || !cmp.Equal(back.get(), p.get()) {
				t.Fatalf("%+v, %v, want %+v", back, err, p)
			}
			return back
		}
		var err error
		var bundles []Part
		for rest := rapid.Permutation(list).Draw(t, "order"); len(rest) > 0 && err == nil; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bundle")
			attempts := rapid.IntRange(1, 2).Draw(t, "attempts")
			var a Part
			for range attempts { // a bundle that is retried begins again
				a = f.CreateAccumulator()
				for _, p := range rest[:n] {
					if a, err = f.AddInput(wire(a), wire(Part{counts: p})); err != nil {
						break
					}
				}
			}
			bundles, rest = append(bundles, a), rest[n:]
		}
		all := f.CreateAccumulator()
		for _, b := range bundles {
			if err == nil {
				all, err = f.MergeAccumulators(wire(all), wire(b))
			}
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		got, err1 := f.ExtractOutput(all)
		want, err2 := sum.Counts().Encode()
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s, %v, want %s, %v", got, err1, want, err2)
		}
	})
}

// TestRetriedShard: a shard that is counted twice, because an engine lost the first answer, gives the same part; both
// together are an error.
func TestRetriedShard(t *testing.T) {
	p := testPolicy(t, 30)
	shard := write(t, t.TempDir()+"/a", lines(p, 50, rand.New(rand.NewPCG(1, 2))))
	f, err := newCountFn(Options{Policies: []policy.Policy{p}, Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	var got []Part
	for range 2 {
		err := f.ProcessElement(context.Background(), shard, func(_ string, p Part) { got = append(got, p) },
			func(string) { t.Error("unreadable") })
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || !cmp.Equal(got[0].get(), got[1].get()) {
		t.Errorf("%+v", got)
	}
	if _, err := (&sumFn{}).AddInput(got[0], got[1]); !errors.Is(err, aggregate.ErrDuplicate) {
		t.Errorf("%v", err)
	}
}

// TestPartBytes: any bytes are a part or an error, also those of a part that were damaged, and what is a part is
// written back to one that is equal.
func TestPartBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := encodePart(Part{counts: parts.Draw(t, "part")})
		for range rapid.IntRange(0, 3).Draw(t, "faults") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		data = append(data[:len(data)-rapid.IntRange(0, 40).Draw(t, "cut")],
			rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "more")...)
		p, err := decodePart(data)
		if err != nil {
			if !errors.Is(err, errPart) || !p.isEmpty() {
				t.Fatal(p, err)
			}
			return
		}
		if again, err := decodePart(encodePart(p)); err != nil || !cmp.Equal(again.get(), p.get()) {
			t.Fatalf("%+v, %v, want %+v", again, err, p)
		}
	})
	if p, err := decodePart(nil); err != nil || !p.isEmpty() {
		t.Errorf("no bytes: %+v, %v", p, err)
	}
}
