package certificate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestSecondOpinion: docs/verify_certificate.py, written from the page, and Verify give the same verdict on
// certificates, good and tampered with, hashes made good. The program does not look at the objective and at f, which
// are stated for readers, nor at the canonical text: there it may accept what Go refuses, but no claim that the
// evidence does not prove.
func TestSecondOpinion(t *testing.T) {
	interpreter := numtest.Program(t, "python3")
	r := rand.New(rand.NewPCG(1, 2))
	var texts [][]byte
	for _, c := range append(version1(t), designs(t)...) {
		switch c.Kind() {
		case certificate.Projection, certificate.Transport, certificate.BaseMeasure, certificate.Flow, certificate.Shuffled,
			certificate.Minimax:
		default:
			continue
		}
		// two enclosures of e^eps may differ by 2^-200, so claims stay away from both
		if c.Kind() == certificate.BaseMeasure || c.Kind() == certificate.Minimax {
			b, err := certificate.Verify(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			b.Lower.Mul(b.Lower, big.NewRat(1<<40-1, 1<<40))
			b.Upper.Mul(b.Upper, big.NewRat(1<<40+1, 1<<40))
			low, _ := b.Lower.Float64()
			high, _ := b.Upper.Float64()
			b.Lower.SetFloat64(low)
			b.Upper.SetFloat64(high)
			c = must(t)(c.Claim(b))(nil)
		}
		good := bytes.TrimSpace(text(t, c))
		texts = append(texts, good)
		for range 60 {
			texts = append(texts, rehash(t, changeDigit(r, good)))
		}
	}
	path := filepath.Join(t.TempDir(), "certificates.jsonl")
	if err := os.WriteFile(path, append(bytes.Join(texts, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(interpreter, filepath.Join("..", "docs", "verify_certificate.py"), path).Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v, want exit status 1: some do not hold\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d verdicts on %d certificates\n%s", len(lines), len(texts), out)
	}
	held, refused := 0, 0
	for n, line := range lines {
		err := check(texts[n])
		holds := strings.Contains(line, ": holds")
		switch {
		case err == nil && !holds:
			t.Errorf("Verify accepts, the program says %q of\n%s", line, texts[n])
		case holds && errors.Is(err, certificate.ErrClaim) && !strings.Contains(line, "holds to 1e-12"):
			t.Errorf("Verify says %v, the program %q of\n%s", err, line, texts[n])
		}
		if holds {
			held++
		} else {
			refused++
		}
	}
	if held < len(texts)/20 || refused < len(texts)/4 {
		t.Errorf("%d held and %d were refused: the changes are too mild or too wild", held, refused)
	}
}

// designs returns a base-measure certificate for each kind of cost.
func designs(t *testing.T) (out []certificate.Certificate) {
	t.Helper()
	ring, err1 := cost.NewRing(6, 2)
	grid, err2 := cost.NewGrid(2, 3, 1)
	points, err3 := cost.NewPoints([][]float64{{0, 1}, {2.5, 3}, {1, 7}}, nil, 1)
	globe, err4 := cost.NewGreatCircle([][2]float64{{52.5, 13.4}, {48.1, 11.6}, {-33.9, 151.2}}, nil, 1)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for _, c := range []cost.Matrix{ring, grid, points, globe} {
		r, err := basemeasure.Solve(context.Background(), c, 1.5, basemeasure.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := certificate.NewBaseMeasure(context.Background(), c, 1.5, r)
		if err != nil {
			t.Fatal(fmt.Errorf("%T: %w", c, err))
		}
		out = append(out, made)
	}
	return out
}

var hashPattern = regexp.MustCompile(`"[a-z_]*sha256":"[0-9a-f]*"`)

// changeDigit changes one digit between the kind and the cost, but none of a hash.
func changeDigit(r *rand.Rand, text []byte) []byte {
	start, end := bytes.Index(text, []byte(`"problem":`)), bytes.LastIndex(text, []byte(`"cost":`))
	masked := hashPattern.ReplaceAllFunc(text, func(hash []byte) []byte { return bytes.Repeat([]byte("-"), len(hash)) })
	for {
		at, digit := start+r.IntN(end-start), byte('0'+r.IntN(10))
		if old := masked[at]; old >= '0' && old <= '9' && old != digit {
			out := bytes.Clone(text)
			out[at] = digit
			return out
		}
	}
}
