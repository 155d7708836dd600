package aggregate

import (
	"crypto/sha256"
	"path/filepath"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
)

// TestSpecCounts: the worked example of docs/spec/counts.md is what the code writes, and reads.
func TestSpecCounts(t *testing.T) {
	spec := filepath.Join("..", "docs", "spec")
	p, err := policy.Decode([]byte(numtest.Blocks(t, filepath.Join(spec, "policy.md"))["policy-1"]))
	if err != nil {
		t.Fatal(err)
	}
	blocks := numtest.Blocks(t, filepath.Join(spec, "counts.md"))
	good := numtest.Blocks(t, filepath.Join(spec, "release.md"))["report"]
	bad := good[:72] + "07000000\n" // the index is the last four bytes
	n, err := NewCounter(p)
	if err != nil {
		t.Fatal(err)
	}
	if v := n.Text([]byte(good[:80])); v != Counted {
		t.Errorf("%v", v)
	}
	if v := n.Text([]byte(bad[:80])); v != NoSuchOutput {
		t.Errorf("%v", v)
	}
	file := good + bad + "\n"
	if file != blocks["reports"] {
		t.Errorf("the file is\n%s, want\n%s", file, blocks["reports"])
	}
	c, err := n.Counts("2026-07",
		[]Shard{{ID: "a.txt", SHA256: sha256.Sum256([]byte(file)), Bytes: uint64(len(file)), Lines: 2}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Encode()
	if err != nil || string(text) != blocks["counts"] {
		t.Errorf("counts\n%s, %v, want\n%s", text, err, blocks["counts"])
	}
	if _, err := DecodeCounts([]byte(blocks["counts"])); err != nil {
		t.Error(err)
	}
}
