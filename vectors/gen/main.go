// Command gen writes the test vectors of the folder above it.
//
//	go run ./vectors/gen vectors      (from the root of the module)
//
// It uses exact arithmetic and short loops, and shares no code with the packages that the vectors test: only
// proptest/exact, the oracle of the laws. The same program writes the same bytes on every machine.
package main

import (
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
)

// generators are the kinds, each with the statement that its vectors are about.
var generators = []struct {
	kind, statement string
	fill            func(*cases.Set)
}{
	{"verify", "docs/spec/mechanism.md, The box", verifyVectors},
	{"box", "docs/spec/mechanism.md, From a base measure to a box", boxVectors},
	{"round", "docs/spec/mechanism.md, Rounding", roundVectors},
	{"sample", "docs/spec/mechanism.md, Drawing", sampleVectors},
	{"phi", "docs/mathematics.md, knapsack", phiVectors},
	{"project", "docs/mathematics.md, projection", projectVectors},
	{"kl", "docs/mathematics.md, divergence", klVectors},
	{"kpm", "docs/mathematics.md, KPM", kpmVectors},
	{"hilbert", "docs/mathematics.md, Hilbert", hilbertVectors},
	{"entropic", "docs/mathematics.md, entropic projection", entropicVectors},
	{"base", "docs/mathematics.md, base measure", baseVectors},
	{"sphere", "docs/mathematics.md, sphere", sphereVectors},
	{"release", "docs/spec/release.md", releaseVectors},
	{"aggregate", "docs/spec/counts.md", aggregateVectors},
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
		log.Fatal("usage: gen FOLDER")
	}
	for kind, text := range generate() {
		if err := os.WriteFile(filepath.Join(os.Args[1], kind+".json"), text, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}
