package codebook

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestSpecCodebook: the worked examples of docs/spec/codebook.md are what the code does. Candidates have 12 places
// there, which every processor's logarithm gives.
func TestSpecCodebook(t *testing.T) {
	blocks := numtest.Blocks(t, filepath.Join("..", "..", "docs", "spec", "codebook.md"))
	c, err := Decode([]byte(blocks["codebook"]))
	if err != nil {
		t.Fatal(err)
	}
	id := c.ID()
	if got := hex.EncodeToString(id[:]) + "\n"; got != blocks["codebook-id"] {
		t.Errorf("ID %s, want %s", got, blocks["codebook-id"])
	}
	var seed Seed
	for i := range seed {
		seed[i] = byte(i)
	}
	var got strings.Builder
	for j := range 3 {
		y, err := c.Candidate(seed, j)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%.12f,%.12f,%.12f\n", y[0], y[1], y[2])
	}
	if got.String() != blocks["candidates"] {
		t.Errorf("candidates\n%s, want\n%s", got.String(), blocks["candidates"])
	}
	r := Report{id: id, seed: seed, index: 3}
	if text := r.String() + "\n"; text != blocks["codebook-report"] || c.Belongs(r) != nil {
		t.Errorf("report %s, want %s", text, blocks["codebook-report"])
	}
}
