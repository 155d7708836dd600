package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

func mustEpsilon(t testing.TB, s string) ldp.Epsilon {
	t.Helper()
	eps, err := ldp.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

// clean is a provenance without epsilons.
var clean = Provenance{Geometry: Public, BaseMeasure: DataIndependent}

// smallBits makes all sampler words enumerable.
const smallBits = 8

// smallConfig has 3 inputs, 4 outputs of which the last is never released, and rows with full and extra
// columns. Labels and texts need every escape there is.
func smallConfig(t testing.TB) Config {
	t.Helper()
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "3/2"), []uint64{30, 20, 40, 0}, []uint64{130, 80, 160, 0},
		smallBits)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for _, n := range [][]uint64{{130, 80, 46, 0}, {30, 66, 160, 0}, {131 - 1, 20, 106, 0}} {
		rows = append(rows, mustRow(t, box, n))
	}
	return Config{
		Polytope:     box,
		Mode:         Mixture,
		InputLabels:  []string{"home", `say "hi", x\y`, "køb 🚲"},
		OutputLabels: []string{"a", "b", "c", "d"},
		Rows:         rows,
		Fallback:     mustRow(t, box, []uint64{100, 50, 106, 0}),
		Cost:         []byte(`{"kind":"ring","n":4,"p":1}`),
		Certificate:  []byte(`{"kind":"uniform","f":1.5,"upper":"3/2","lower":"1.4999"}`),
		Provenance: Provenance{
			Geometry: Public, BaseMeasure: DerivedDP, BaseMeasureEpsilon: mustEpsilon(t, "0.25"), Note: "tuned on a survey",
		},
		Metadata: map[string]string{"title": "small", "unit": "the user's whole distribution", "a": ""},
	}
}

func mustRow(t testing.TB, box *ldp.Polytope, n []uint64) Row {
	t.Helper()
	w, err := box.Weights(n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRow(box, w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustNew(t testing.TB, cfg Config) Policy {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustEncode(t testing.TB, p Policy) []byte {
	t.Helper()
	b, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// projectionConfig is smallConfig in the other mode, with rows or without.
func projectionConfig(t testing.TB, rows bool) Config {
	cfg := smallConfig(t)
	cfg.Mode = Projection
	if !rows {
		cfg.Rows = nil
	}
	return cfg
}

// words is a random source that gives first the 8 bytes of the mixture's draw, then the sampler's bytes.
func words(pick, sample uint64) io.Reader {
	b := binary.LittleEndian.AppendUint64(nil, pick)
	return bytes.NewReader(binary.LittleEndian.AppendUint64(b, sample))
}

var errSource = errors.New("source broke")

// failAfter gives n zero bytes and then an error.
func failAfter(n int) io.Reader {
	return io.MultiReader(bytes.NewReader(make([]byte, n)), errReader{})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errSource }

// inBox checks a row by comparisons alone, against the bounds as the policy shows them.
func inBox(p Policy, w ldp.Weights) error {
	box, sum := p.Polytope(), uint64(0)
	if w.Len() != box.Len() {
		return fmt.Errorf("%d columns, want %d", w.Len(), box.Len())
	}
	for j := range w.Len() {
		if n := w.At(j); n < box.Lo(j) || n > box.Hi(j) {
			return fmt.Errorf("column %d: %d outside [%d, %d]", j, n, box.Lo(j), box.Hi(j))
		}
		sum += w.At(j)
	}
	if sum != box.Total() {
		return fmt.Errorf("sum %d, want %d", sum, box.Total())
	}
	return nil
}

// drawConfig generates policies with few columns, leaning to edges: dropped columns, point boxes, one
// input, absent parts.
func drawConfig(t *rapid.T) Config {
	eps, err := ldp.ParseEpsilon(rapid.SampledFrom([]string{"1/3", "0.1", "1", "5", "2.75", "12", "1e-6"}).Draw(t, "eps"))
	if err != nil {
		t.Fatal(err)
	}
	bits := rapid.SampledFrom([]int{4, 8, 16, 31, 33, 53, 62}).Draw(t, "bits")
	kv := rapid.IntRange(1, 8).Draw(t, "kv")
	shape := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 1e-3}), kv, kv).Draw(t, "shape")
	shape[rapid.IntRange(0, kv-1).Draw(t, "sure")] = 1
	sum := 0.0
	for _, v := range shape {
		sum += v
	}
	for j := range shape {
		shape[j] /= sum
	}
	box, err := ldp.NewPolytope(eps, shape, bits)
	if err != nil {
		t.Fatal(err)
	}
	k := rapid.IntRange(1, 5).Draw(t, "k")
	row := func(name string) Row {
		q := rapid.SliceOfN(rapid.Float64Range(0, 1), kv, kv).Draw(t, name)
		r, err := NewRow(box, box.Round(q))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	cfg := Config{Polytope: box, Inputs: k, Provenance: clean, Mode: Projection}
	if rapid.Bool().Draw(t, "rows") {
		for range k {
			cfg.Rows = append(cfg.Rows, row("row"))
		}
		cfg.Mode = rapid.SampledFrom([]Mode{Mixture, Projection, ""}).Draw(t, "mode")
	}
	if rapid.Bool().Draw(t, "own fallback") {
		cfg.Fallback = row("fallback")
	}
	text := rapid.StringMatching(`[a-z"\\ø,:{}\[\]]{1,6}`)
	if rapid.Bool().Draw(t, "labels") {
		cfg.InputLabels = rapid.SliceOfNDistinct(text, k, k, rapid.ID[string]).Draw(t, "input labels")
		cfg.OutputLabels = rapid.SliceOfNDistinct(text, kv, kv, rapid.ID[string]).Draw(t, "output labels")
	}
	if rapid.Bool().Draw(t, "objects") {
		cfg.Cost = []byte(rapid.SampledFrom([]string{`{}`, `{"a":[1,2,{"b":"} ]\""}]}`, `{"k":-1.5e-7}`}).Draw(t, "cost"))
		cfg.Certificate = []byte(`{"upper":"1/3"}`)
		cfg.Metadata = rapid.MapOfN(text, text, 0, 4).Draw(t, "metadata")
	}
	return cfg
}

// verifyRows checks the thresholds of all inputs.
func verifyRows(p Policy) error { return VerifyRows(context.Background(), p, 0, p.Inputs()) }

// openLedger makes a ledger in a folder of its own.
func openLedger(t *testing.T, epoch, budget string) *ledger.Books {
	t.Helper()
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{Epoch: epoch, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// epsPolicy is a policy of the given epsilon; the note makes it a policy of its own.
func epsPolicy(t testing.TB, eps, note string) Policy {
	t.Helper()
	box, err := ldp.NewPolytope(mustEpsilon(t, eps), []float64{0.5, 0.5}, smallBits)
	if err != nil {
		t.Fatal(err)
	}
	prov := clean
	prov.Note = note
	return mustNew(t, Config{Polytope: box, Mode: Projection, Inputs: 2, Provenance: prov})
}

var identity ProjectFunc = func(_ context.Context, mu []float64) ([]float64, error) { return mu, nil }

// memory is a store in memory.
type memory struct{ bytes.Buffer }

func (*memory) Lock(context.Context) error { return nil }
func (*memory) Unlock() error              { return nil }
func (m *memory) Load() ([]byte, error)    { return bytes.Clone(m.Bytes()), nil }

func (m *memory) Append(at int64, b []byte) error {
	if at != int64(m.Len()) {
		return ledger.ErrUnusable
	}
	_, err := m.Write(b)
	return err
}

// named is a policy under another ID, for which a ledger pays apart.
func named(p Policy, n int) Policy {
	c := *p.c
	c.id = sha256.Sum256(binary.LittleEndian.AppendUint64(nil, uint64(n)))
	return Policy{&c}
}

func wantSpent(t *testing.T, l *ledger.Books, want string) {
	t.Helper()
	if got := l.Spent().RatString(); got != want {
		t.Errorf("spent %s, want %s", got, want)
	}
}

// onlyInput is private data of which all mass is on one input.
func onlyInput(t testing.TB, p Policy, i int) []byte {
	t.Helper()
	counts := make([]float64, p.Inputs())
	counts[i] = 2
	data, err := FormatPrivate(p, counts)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
