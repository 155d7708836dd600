package codebook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecondOpinion: docs/verify_codebook.py and Decode give the same verdict on files, good and tampered with.
func TestSecondOpinion(t *testing.T) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("SECOND VERIFIER NOT RUN: no python3 on this machine (%v)", err)
	}
	const tries = 400
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var files, texts []string
	for n := range tries {
		c := tiny(t)
		if n%4 == 0 {
			c = wide(t)
		}
		text := string(c.text)
		if n > 3 {
			text = tamper(r, text)
		}
		path := filepath.Join(dir, fmt.Sprintf("%03d", n))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files, texts = append(files, path), append(texts, text)
	}
	out, err := exec.Command(interpreter, append([]string{filepath.Join("..", "..", "docs", "verify_codebook.py")}, files...)...).Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != tries {
		t.Fatalf("%d verdicts for %d files", len(lines), tries)
	}
	accepted := 0
	for n, line := range lines {
		c, err := Decode([]byte(texts[n]))
		if python := strings.Contains(line, " accepted "); python != (err == nil) {
			t.Errorf("verify_codebook.py says %q, Decode %v, of\n%s", line, err, texts[n])
		}
		if err == nil {
			accepted++
			if id := c.ID(); !strings.HasPrefix(line, fmt.Sprintf("%x ", id)) {
				t.Errorf("ID %x, verify_codebook.py says %s", id, line)
			}
		}
	}
	if accepted < 10 || accepted > tries*3/4 {
		t.Errorf("%d of %d files accepted: a poor choice of files", accepted, tries)
	}
}

// tamper changes a file: a digit, a number by one, a byte, a line left out, twice or out of order.
func tamper(r *rand.Rand, text string) string {
	lines := strings.SplitAfter(text, "\n")
	i := r.IntN(len(lines) - 1)
	var digits []int
	for j, b := range []byte(lines[i]) {
		if b >= '0' && b <= '9' {
			digits = append(digits, j)
		}
	}
	switch k := r.IntN(8); {
	case k < 5 && len(digits) > 0:
		line, j := []byte(lines[i]), digits[r.IntN(len(digits))]
		switch r.IntN(3) {
		case 0:
			line[j] = '0' + byte(r.IntN(10))
		case 1:
			line = append(line[:j:j], line[j+1:]...)
		default:
			line = append(append(line[:j:j], '0'+byte(r.IntN(10))), line[j:]...)
		}
		lines[i] = string(line)
	case k == 5:
		lines[i] = ""
	case k == 6:
		j := r.IntN(len(lines) - 1)
		lines[i], lines[j] = lines[j], lines[i]
	default:
		line := []byte(lines[i])
		line[r.IntN(len(line))] = byte(32 + r.IntN(95))
		lines[i] = string(line)
	}
	return strings.Join(lines, "")
}
