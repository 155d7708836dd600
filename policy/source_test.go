package policy

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// sourceFaults says what of a file of this package could make two releases share random words: any use of crypto/rand
// but rand.Reader as an argument of release, and variables that live longer than a call. readers counts the good
// uses.
func sourceFaults(t *testing.T, name string, src any) (readers int, faults []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		if i.Path.Value == `"crypto/rand"` && i.Name != nil {
			faults = append(faults, "crypto/rand under another name")
		}
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, s := range d.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					if !strings.HasPrefix(id.Name, "Err") {
						faults = append(faults, "the variable "+id.Name)
					}
				}
			}
		}
	}
	var good []ast.Expr
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "release" {
				good = n.Args
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == "rand" {
				if n.Sel.Name == "Reader" && slices.Contains(good, ast.Expr(n)) {
					readers++
				} else {
					faults = append(faults, "rand."+n.Sel.Name)
				}
			}
		}
		return true
	})
	return readers, faults
}

// Nothing stands between a release and the random source of the system: it is named in one place, and no variable can
// hold it or a buffer of it.
func TestRandomSourceIsNamedOnce(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	readers := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		n, faults := sourceFaults(t, name, nil)
		readers += n
		if len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
	}
	if readers != 1 {
		t.Errorf("%d releases from rand.Reader, want 1", readers)
	}
	for _, planted := range []string{
		`import "crypto/rand"; var source = bufio.NewReader(rand.Reader)`, `import r "crypto/rand"`, `var pool sync.Pool`,
		`import "crypto/rand"; func f() { release(bufio.NewReader(rand.Reader)) }`,
		`import "crypto/rand"; func f(b []byte) { rand.Read(b) }`,
	} {
		if _, faults := sourceFaults(t, "planted.go", "package p; "+planted); len(faults) == 0 {
			t.Errorf("not refused: %s", planted)
		}
	}
}

// countingReader hands on another's bytes, and keeps what it gave for each call.
type countingReader struct {
	mu    sync.Mutex
	from  io.Reader
	given []string
}

func (r *countingReader) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.from.Read(b)
	r.given = append(r.given, string(b[:n]))
	return n, err
}

// Releases at once each read their own words from the system, just as many as they need, and no word serves twice.
func TestReleasesReadTheirOwnWords(t *testing.T) {
	const releases = 500
	source := &countingReader{from: rand.Reader}
	defer func(before io.Reader) { rand.Reader = before }(rand.Reader)
	rand.Reader = source
	p := epsPolicy(t, "1", "words")
	size := 8 + (p.Polytope().Bits()+7)/8
	var wg sync.WaitGroup
	for range releases {
		wg.Go(func() {
			if _, err := Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte("0,1"), identity); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(source.given) != releases {
		t.Fatalf("%d reads for %d releases", len(source.given), releases)
	}
	seen := map[string]bool{}
	for _, words := range source.given {
		// By chance, one of 500 sets of at least 9 bytes is there twice once in 2^55 runs.
		if len(words) != size || seen[words] {
			t.Fatalf("a release read %d bytes, want %d; there before: %v", len(words), size, seen[words])
		}
		seen[words] = true
	}
}

// In mixture mode no solver runs, whatever is handed in and whatever the data, not even after the release.
func TestMixtureCallsNoSolver(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	synctest.Test(t, func(t *testing.T) {
		var project ProjectFunc = func(context.Context, []float64) ([]float64, error) {
			t.Error("the solver was called")
			return []float64{0, 0, 1, 0}, nil
		}
		for _, tc := range given.PrivateCases() {
			if _, err := Release(t.Context(), p, ledger.UnaccountedForTesting(), []byte(tc.Data), project); err != nil {
				t.Errorf("%s: %v", tc.Name, err)
			}
		}
		synctest.Wait() // for what may still run
	})
}

// Inputs and outputs beyond 2^16 are what they are: each input draws from its own row, each output is reported under
// its own index.
func TestIndicesBeyond16Bits(t *testing.T) {
	const inputs, first = 1<<16 + 1000, 400_001
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "1"), []uint64{first - 1, first - 1}, []uint64{700_000, 700_000},
		20)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Polytope: box, Provenance: clean}
	for i := range uint64(inputs) { // row i has weight first + i in column 0
		cfg.Rows = append(cfg.Rows, Row{extra: []extra{{0, 1 + i}, {1, box.Total() - 2*(first-1) - 1 - i}}})
		cfg.InputLabels = append(cfg.InputLabels, fmt.Sprintf("place %d", i))
	}
	bare := cfg
	bare.InputLabels = nil
	made := mustNew(t, cfg)
	read, err := Decode(mustEncode(t, made))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Policy{made, mustNew(t, bare), read} {
		for _, i := range []int{0, 1, 255, 256, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 16, 1<<16 + 1, inputs - 1} {
			for _, word := range []uint64{0, math.MaxUint64} {
				w := p.c.law(t.Context(), []byte(p.InputLabel(i)+",1"), nil, word)
				row, err := p.Row(i)
				if want := uint64(first + i); w.At(0) != want || row.At(0) != want || err != nil {
					t.Errorf("input %d: drawn from weight %d, row %d, want %d: %v", i, w.At(0), row.At(0), want, err)
				}
			}
		}
	}

	shape := make([]float64, 1<<16+1000)
	for j := range shape {
		shape[j] = 1 / float64(len(shape))
	}
	if box, err = ldp.NewPolytope(mustEpsilon(t, "1"), shape, 32); err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, Config{Polytope: box, Mode: Projection, Inputs: 1, Provenance: clean})
	below, seen := uint64(0), 0
	for j, w := range weights(p.Fallback()) {
		for _, at := range []int{0, 255, 256, 1<<16 - 1, 1 << 16, 1<<16 + 1, len(shape) - 1} {
			if j != at {
				continue
			}
			seen++
			for _, x := range []uint64{below, below + w - 1} {
				r, err := release(t.Context(), p, ledger.UnaccountedForTesting(), nil, identity, words(0, x))
				text := r.String()
				var back Report
				if err := errors.Join(err, p.Belongs(r), back.UnmarshalText([]byte(text))); err != nil || r.Index() != j ||
					back != r {
					t.Errorf("output %d: reported %d, as %s: %v", j, r.Index(), text, err)
				}
			}
		}
		below += w
	}
	if seen != 7 {
		t.Errorf("%d outputs seen", seen)
	}
}
