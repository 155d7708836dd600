package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Cases keeps the results of the cases of a study in the file cases.jsonl of its folder, so that a study that was stopped
// goes on where it was. A result is taken only from the same program, byte by byte. A nil Cases keeps nothing.
//
// It is safe for concurrent use, but one process at a time may use a folder.
type Cases struct {
	mu      sync.Mutex
	file    *os.File
	program string
	done    map[string]json.RawMessage
}

// kept is a line of the file.
type kept struct {
	Program string          `json:"program"` // SHA-256 of the program that made the result
	Case    string          `json:"case"`
	Result  json.RawMessage `json:"result"`
}

// OpenCases opens the file of the folder dir, which must exist, or returns nil if dir is "". Lines of other programs, and
// a last line that was cut off, are not read. Errors: of the file system.
func OpenCases(dir string) (*Cases, error) {
	if dir == "" {
		return nil, nil
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(program)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	return openCases(filepath.Join(dir, "cases.jsonl"), hex.EncodeToString(sum.Sum(nil)))
}

func openCases(path, program string) (*Cases, error) {
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	c := &Cases{program: program, done: map[string]json.RawMessage{}}
	for line := range bytes.Lines(whole) {
		var k kept
		if json.Unmarshal(line, &k) == nil && k.Program == program {
			c.done[k.Case] = k.Result
		}
	}
	if c.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if err = c.file.Truncate(int64(len(whole))); err == nil {
		_, err = c.file.Seek(0, io.SeekEnd)
	}
	if err != nil {
		_ = c.file.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the file.
func (c *Cases) Close() error {
	if c == nil {
		return nil
	}
	return c.file.Close()
}

// Case returns the result of the case of that name: what the file has, or else what find returns, which it then keeps. The
// name must have everything that the result depends on besides the program. T must survive JSON. Errors: those of find and
// of the file system.
func Case[T any](c *Cases, name string, find func() (T, error)) (T, error) {
	if c == nil {
		return find()
	}
	var result T
	c.mu.Lock()
	old, ok := c.done[name]
	c.mu.Unlock()
	if ok {
		err := json.Unmarshal(old, &result)
		return result, err
	}
	result, err := find()
	if err != nil {
		return result, err
	}
	line, err := json.Marshal(result)
	if err == nil {
		line, err = json.Marshal(kept{c.program, name, line})
	}
	if err == nil {
		c.mu.Lock()
		_, err = c.file.Write(append(line, '\n'))
		c.mu.Unlock()
	}
	if err != nil {
		return result, fmt.Errorf("case %q: %w", name, err)
	}
	return result, nil
}
