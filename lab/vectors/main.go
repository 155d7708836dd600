// Command vectors writes the test vectors of the folder vectors at the top.
//
//	cd lab && go run ./vectors ../vectors
//
// It uses exact arithmetic and short loops, and shares no code with the packages that the vectors test: only
// proptest/exact, the oracle of the laws. The same program writes the same bytes on every machine. Its subjects are
// internal packages: spec and mathematics make the kinds of vectors, with the help of the others.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/ledger"
	"github.com/wpm-go/wpm/lab/vectors/internal/mathematics"
	"github.com/wpm-go/wpm/lab/vectors/internal/spec"
)

// generators are the kinds, each with the statement that its vectors are about.
var generators = []struct {
	kind, statement string
	fill            func(*cases.Set)
}{
	{"verify", "docs/spec/mechanism.md, The box", spec.Verify},
	{"box", "docs/spec/mechanism.md, From a base measure to a box", spec.Box},
	{"round", "docs/spec/mechanism.md, Rounding", spec.Round},
	{"sample", "docs/spec/mechanism.md, Drawing", spec.Sample},
	{"phi", "docs/mathematics.md, knapsack", mathematics.Phi},
	{"project", "docs/mathematics.md, projection", mathematics.Project},
	{"kl", "docs/mathematics.md, divergence", mathematics.KL},
	{"kpm", "docs/mathematics.md, KPM", mathematics.KPM},
	{"hilbert", "docs/mathematics.md, Hilbert", mathematics.Hilbert},
	{"entropic", "docs/mathematics.md, entropic projection", mathematics.Entropic},
	{"base", "docs/mathematics.md, base measure", mathematics.Base},
	{"sphere", "docs/mathematics.md, sphere", mathematics.Sphere},
	{"certificate", "docs/certificates.md", mathematics.Certificate},
	{"release", "docs/spec/release.md", spec.Release},
	{"ledger", "docs/spec/ledger.md", ledger.Fill},
	{"schedule", "docs/spec/ledger.md, Schedules; docs/spec/policy.md, Epochs, Signatures", ledger.Schedule},
	{"aggregate", "docs/spec/counts.md", spec.Aggregate},
}

// generate returns the files by kind.
func generate() map[string][]byte {
	files := map[string][]byte{}
	for _, g := range generators {
		s := cases.New(g.kind, g.statement)
		g.fill(s)
		files[g.kind] = s.Encode()
	}
	return files
}

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		log.Fatal("usage: vectors FOLDER")
	}
	dir := os.Args[1]
	if err := check(dir); err != nil { // before the work, which takes a while
		log.Fatal(err)
	}
	for kind, text := range generate() {
		if err := os.WriteFile(filepath.Join(dir, kind+".json"), text, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// check refuses a name that is no folder, and a folder with things in it but no vectors: it was not meant.
func check(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == generators[0].kind+".json" {
			return nil
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s: the folder is not empty, and has no vectors to be replaced", dir)
	}
	return nil
}
