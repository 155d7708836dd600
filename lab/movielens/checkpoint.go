package movielens

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/internal/atomicfile"
)

// cell is a hit rate, and the mass chosen for it.
type cell struct {
	Rate float64 `json:"rate"`
	Mass float64 `json:"mass"`
}

// checkpoint keeps the finished splits of a run of minutes in a file of the result folder, so that a run that was
// stopped goes on where it was. A file of other data or another protocol, or one that cannot be read, counts as none.
type checkpoint struct {
	path string // "": nothing is kept
	kept struct {
		Run    string   `json:"run"` // SHA-256 of data and protocol
		Splits [][]cell `json:"splits"`
	}
}

const checkpointName = "unfinished.json"

func openCheckpoint(cfg Config, d Data, stored []parts) (*checkpoint, error) {
	c := &checkpoint{}
	if cfg.Out == "" {
		return c, nil
	}
	c.path = filepath.Join(cfg.Out, checkpointName)
	// More splits go on from fewer; of the files, their contents count.
	cfg.Out, cfg.SplitFile, cfg.Splits, cfg.Progress = "", "", 0, nil
	text, err := json.Marshal(struct {
		Config Config
		Data   Data
		Parts  string
	}{cfg, d, fmt.Sprint(stored)})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	run := hex.EncodeToString(sum[:])
	b, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil || json.Unmarshal(b, &c.kept) != nil || c.kept.Run != run {
		c.kept.Splits = nil
	}
	for _, s := range c.kept.Splits {
		if len(s) != cells(cfg) {
			c.kept.Splits = nil
			break
		}
	}
	c.kept.Run = run
	return c, nil
}

// cells is their number in a split: each method at each eps, and the ceilings.
func cells(cfg Config) int { return len(cfg.Epsilons)*len(Methods()) + len(Ceilings()) }

// split returns the cells of a finished split, or nil.
func (c *checkpoint) split(n int) []cell {
	if n < len(c.kept.Splits) {
		return c.kept.Splits[n]
	}
	return nil
}

// add keeps one more split. A stop in between leaves the file as it was.
func (c *checkpoint) add(cells []cell) error {
	if c.path == "" {
		return nil
	}
	c.kept.Splits = append(c.kept.Splits, cells)
	b, err := json.Marshal(c.kept)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o777); err != nil {
		return err
	}
	if err := atomicfile.Write(c.path, 0, b); err != nil {
		return fmt.Errorf("movielens: keeping a finished split: %w", err)
	}
	return nil
}

// removeCheckpoint removes the file once the report is written.
func removeCheckpoint(cfg Config) error {
	err := os.Remove(filepath.Join(cfg.Out, checkpointName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
