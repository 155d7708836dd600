package codebook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestSecondOpinion: docs/verify_codebook.py and Decode give the same verdict on files, good and tampered with.
func TestSecondOpinion(t *testing.T) {
	interpreter := numtest.Program(t, "python3")
	tries := 400
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
	for n, text := range limits() {
		path := filepath.Join(dir, fmt.Sprintf("limit %d", n))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files, texts = append(files, path), append(texts, text)
	}
	tries = len(files)
	out, err := exec.Command(interpreter,
		append([]string{filepath.Join("..", "..", "docs", "verify_codebook.py")}, files...)...).Output()
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

// limits returns files on both sides of every limit.
func limits() (all []string) {
	type member struct{ name, value string }
	const small = `{"geometry":"public","geometry_epsilon":null,"base_measure":"data-independent","base_measure_epsilon":null,"note":""}`
	add := func(points int, changes ...member) {
		bits := 1
		for 1<<bits < points {
			bits++
		}
		text := "{"
		for i, m := range []member{ // lo = 1 and hi = 2 fit any number of points
			{"format", `"wpm-codebook-1"`}, {"dimension", "2"}, {"p", `"2"`}, {"epsilon", `"4"`},
			{"points", strconv.Itoa(points)}, {"high", "1"},
			{"bits", strconv.Itoa(bits)}, {"atoms", "1"}, {"lo", `"1"`}, {"hi", `"2"`}, {"seed", `"fresh"`},
			{"provenance", small}, {"metadata", "{}"},
		} {
			for _, c := range changes {
				if c.name == m.name {
					m = c
				}
			}
			if i > 0 {
				text += ","
			}
			text += fmt.Sprintf("\n%q:%s", m.name, m.value)
		}
		all = append(all, text+"\n}\n")
	}
	for _, d := range [][3]int{ // dimension, points, atoms
		{0, 2, 1}, {1, 2, 1}, {10_000_000, 2, 1}, {10_000_001, 2, 1}, {1, 0, 1}, {1, 1, 1}, {1, 1 << 20, 1},
		{1, 1<<20 + 1, 1},
		{63, 1 << 20, 1}, {64, 1 << 20, 1}, {1, 2, 0}, {1, 2, 512}, {1, 2, 513}, {1, 2048, 512}, {1, 2049, 512},
		{1, 1 << 15, 32}, {1, 1 << 15, 33},
		{1, 1<<15 + 1, 1}, {1, 1<<15 + 1, 2}, {1<<20 - 1, 2, 16}, {1 << 20, 2, 16}, {1<<13 - 1, 1 << 13, 32},
		{1<<13 - 1, 1 << 13, 33}, {1<<13 - 1, 1<<13 + 1, 1},
	} {
		add(d[1], member{"dimension", strconv.Itoa(d[0])}, member{"atoms", strconv.Itoa(d[2])})
	}
	for name, values := range map[string][]string{
		"high": {"-1", "0", "2", "3", "1.0", "null"}, "bits": {"0", "1", "3", "62", "63", "64"},
		"format": {`"wpm-codebook-2"`, `"wpm-policy-1"`, "1"},
		"p": {`"0.5"`, `"0.4999999999999999"`, `"12"`, `"12.000000000000002"`, `"2.0"`, `"02"`, `"2e0"`, `"1.1"`,
			`"0.1e1"`, `"inf"`, `"nan"`, `"1_0"`, `""`, "2", "2.5", "null", `"３"`, `" 2"`},
		"epsilon": {`"1"`, `"64"`, `"65"`, `"0.7"`, `"1/3"`, `"2/3"`, `"0.69"`, `"1.0"`, `"8/2"`, `"0.000000000001"`,
			`"0.0000000000009"`, "4", "null"},
		"lo": {`"0"`, `"2"`, `"01"`, `"-1"`, `"18446744073709551616"`, "1", "null", `"1.0"`},
		"hi": {`"0"`, `"1"`, `"3"`, `"4"`, `"5"`, "2"},
		"seed": {`""`, `"Fresh"`, "null", "1", `"` + strings.Repeat("0", 64) + `"`, `"` + strings.Repeat("0", 63) + `1"`,
			`"` + strings.Repeat("A", 64) + `"`, `"` + strings.Repeat("a", 63) + `"`,
			`"` + strings.Repeat("a", 64) + `"`, `"` + strings.Repeat("a", 66) + `"`, `"` + strings.Repeat("g", 64) + `"`},
		"metadata": {"null", "[]", `{"":""}`, `{"a":1}`, `{"a":"","a":""}`, `{"b":"","a":""}`,
			`{"a":"` + strings.Repeat("v", 4096) + `"}`, `{"a":"` + strings.Repeat("v", 4097) + `"}`,
			`{"` + strings.Repeat("k", 64) + `":""}`, `{"` + strings.Repeat("k", 65) + `":""}`},
		"provenance": {
			"null", "{}", strings.Replace(small, "public", "unstated", 1),
			strings.Replace(small, "data-independent", "unstated", 1), strings.Replace(small, "public", "", 1),
			strings.Replace(small, `public","geometry_epsilon":null`, `derived-dp","geometry_epsilon":"1"`, 1),
			strings.Replace(small, "public", "derived-dp", 1),
			strings.Replace(small, `"note":""`, `"note":"`+strings.Repeat("é", 2048)+`"`, 1),
			strings.Replace(small, `"note":""`, `"note":"`+strings.Repeat("é", 2048)+`e"`, 1),
		},
	} {
		for _, v := range values {
			add(3, member{name, v})
		}
	}
	for _, n := range []int{64, 65} {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf(`"%02d":""`, i))
		}
		add(3, member{"metadata", "{" + strings.Join(entries, ",") + "}"})
	}
	return all
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
