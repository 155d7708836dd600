package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// The worked examples of docs/spec are what the code does.

func page(t *testing.T, name string) map[string]string {
	t.Helper()
	return numtest.Blocks(t, filepath.Join("..", "docs", "spec", name))
}

// table returns the lines of a block, each as so many words.
func table(t *testing.T, block string, words int) (lines [][]string) {
	t.Helper()
	for line := range strings.Lines(block) {
		f := strings.Fields(line)
		if len(f) != words {
			t.Fatalf("%q has %d words, want %d", line, len(f), words)
		}
		lines = append(lines, f)
	}
	if len(lines) < 3 {
		t.Fatalf("only %d examples", len(lines))
	}
	return lines
}

func list(t *testing.T, text string) (out []uint64) {
	t.Helper()
	for s := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func joined(w ldp.Weights) string {
	var parts []string
	for j := range w.Len() {
		parts = append(parts, strconv.FormatUint(w.At(j), 10))
	}
	return strings.Join(parts, ",")
}

func TestSpecMechanism(t *testing.T) {
	blocks := page(t, "mechanism.md")
	for _, f := range table(t, blocks["epsilon"], 2) {
		if eps := mustEpsilon(t, f[0]); eps.String() != f[1] {
			t.Errorf("%s is written %s, want %s", f[0], eps, f[1])
		}
	}
	box := func(f []string) (*ldp.Polytope, error) {
		bits, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(err)
		}
		return ldp.NewPolytopeFromBounds(mustEpsilon(t, f[0]), list(t, f[2]), list(t, f[3]), bits)
	}
	for _, f := range table(t, blocks["box"], 5) {
		if _, err := box(f); (err == nil) != (f[4] == "accepted") {
			t.Errorf("%v: %v", f, err)
		}
	}
	for _, f := range table(t, blocks["round"], 6) {
		b, err := box(f)
		if err != nil {
			t.Fatal(err)
		}
		var q []float64
		for s := range strings.SplitSeq(f[4], ",") {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			q = append(q, v)
		}
		if got := joined(b.Round(q)); got != f[5] {
			t.Errorf("%v: rounded to %s", f, got)
		}
	}
	for _, f := range table(t, blocks["sample"], 4) {
		b, err := box([]string{"1", f[0], f[1], f[1]})
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.Weights(list(t, f[1]))
		if err != nil {
			t.Fatal(err)
		}
		if j, err := w.Sample(bytes.NewReader(unhex(t, f[2]))); err != nil || strconv.Itoa(j) != f[3] {
			t.Errorf("%v: %d, %v", f, j, err)
		}
	}
}

func TestSpecPolicy(t *testing.T) {
	blocks := page(t, "policy.md")
	for _, name := range []string{"policy-1", "policy-2", "policy-3"} {
		p, err := Decode([]byte(blocks[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := verifyRows(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		id := p.ID()
		lines := []string{hex.EncodeToString(id[:])}
		for i := range p.Inputs() {
			w, err := p.Row(i)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, joined(w))
		}
		lines = append(lines, joined(p.Fallback()))
		if got, want := strings.Join(lines, "\n")+"\n", blocks[name+"-rows"]; got != want {
			t.Errorf("%s:\n%s, want\n%s", name, got, want)
		}
	}
}

func TestSpecRelease(t *testing.T) {
	blocks := page(t, "release.md")
	p, err := Decode([]byte(page(t, "policy.md")["policy-1"]))
	if err != nil {
		t.Fatal(err)
	}
	random := unhex(t, strings.TrimSpace(blocks["random"]))
	for name, private := range map[string]string{"report": blocks["private"], "report-unusable": "home,-1\n"} {
		r, err := release(t.Context(), p, ledger.UnaccountedForTesting(), []byte(private), nil, bytes.NewReader(random))
		if err != nil || r.String()+"\n" != blocks[name] {
			t.Errorf("%s: %v, %v, want %s", name, r, err, blocks[name])
		}
	}
}

// The ledger of the page is written by a client that breaks off, and completed by the next one.
func TestSpecLedger(t *testing.T) {
	blocks := page(t, "ledger.md")
	p, err := Decode([]byte(page(t, "policy.md")["policy-1"]))
	if err != nil {
		t.Fatal(err)
	}
	store := new(memory)
	open := func(epoch string) ledger.Ledger {
		t.Helper()
		l, err := ledger.New(store, ledger.Options{Epoch: epoch, Budget: "1.5"})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	random := unhex(t, strings.TrimSpace(page(t, "release.md")["random"]))
	l := open("2026-07")
	if _, err := release(t.Context(), p, l, []byte(page(t, "release.md")["private"]), nil,
		bytes.NewReader(random)); err != nil {
		t.Fatal(err)
	}
	other := sha256.Sum256([]byte("another policy"))
	_ = l.Close()
	fmt.Fprintf(store, "debit 1/4 %x", other[:7])
	if got, want := store.String(), strings.TrimSuffix(blocks["ledger"], "\n"); got != want {
		t.Errorf("the ledger is\n%s, want\n%s", got, want)
	}
	s, err := ledger.Read(store.Bytes())
	if err != nil || s.Spent.Cmp(big.NewRat(5, 4)) != 0 || s.Torn.Cmp(big.NewRat(1, 4)) != 0 || !s.Incomplete {
		t.Errorf("spent %v, torn %v, %v", s.Spent, s.Torn, err)
	}
	l = open("2026-08")
	debit := ledger.Debit{Policy: other, Epsilon: mustEpsilon(t, "1/4")}
	if _, err := ledger.Account(l, debit, func() (ledger.Draw, error) {
		return func() ([]byte, error) { return nil, errSource }, nil
	}); !errors.Is(err, errSource) {
		t.Fatal(err)
	}
	_ = l.Close()
	if got, want := store.String(), blocks["ledger-after"]; got != want {
		t.Errorf("the ledger is\n%s, want\n%s", got, want)
	}
	if s, err = ledger.Read(store.Bytes()); err != nil || s.Left.Sign() != 0 {
		t.Errorf("left %v, %v", s.Left, err)
	}
}
