package certificate_test

import (
	"bytes"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/minimax"
	"github.com/wpm-go/wpm/shuffle"
)

// TestPlantedInChecker: certificates of sums and of all mechanisms that hold, and such that claim a little too much, tell
// docs/verify_certificate.py from copies with one error each.
func TestPlantedInChecker(t *testing.T) {
	interpreter := numtest.Program(t, "python3")
	var good, bad [][]byte
	for _, p := range []shuffle.Problem{
		{Clients: 60, Blanket: big.NewRat(1, 2), Epsilon: 2, Delta: 1e-3},
		{Clients: 400, Blanket: big.NewRat(1, 4), Epsilon: 4, Delta: 1e-6},
		{Clients: 60, Blanket: big.NewRat(2, 5), Epsilon: 1, Delta: 1e-3}, // f above 1/2
	} {
		g, err := shuffle.Solve(p)
		c := must(t)(certificate.NewShuffled(p, g))(err)
		good = append(good, text(t, c))
		// delta is 1 % too small, or half
		for _, d := range [][2]string{{`"delta":0.001`, `"delta":0.00099`}, {`"delta":0.000001`, `"delta":9.9e-7`},
			{`"delta":0.001`, `"delta":0.0005`}, {`"delta":0.000001`, `"delta":5e-7`}} {
			if bytes.Contains(text(t, c), []byte(d[0])) {
				bad = append(bad, rehash(t, replace(t, text(t, c), d[0], d[1])))
			}
		}
	}
	grid, err := cost.NewGrid(3, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	uneven, err := cost.NewPoints([][]float64{{0}, {1}, {3}, {7}, {15}, {31}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []minimax.Problem{{Cost: grid, Epsilon: 1, Clients: 300}, {Cost: uneven, Epsilon: 3, Clients: 20}} {
		b, err := minimax.Solve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for j := range b.Mass { // so that no two pairs are alike
			b.Mass[j] *= 1 + float64(j)/16
		}
		c := must(t)(certificate.NewMinimax(t.Context(), p, b))(nil)
		good = append(good, text(t, c))
		s := c.Stated()
		more := new(big.Rat).Mul(s.Lower, big.NewRat(10001, 10000)).String()
		bad = append(bad, replace(t, text(t, c), `"lower":"`+s.Lower.String()+`"`, `"lower":"`+more+`"`))
		less := new(big.Rat).Mul(s.Upper, big.NewRat(99, 100)).String()
		bad = append(bad, replace(t, text(t, c), `"upper":"`+s.Upper.String()+`"`, `"upper":"`+less+`"`))
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	list := write("list.jsonl", append(bytes.Join(append(good, bad...), []byte("\n")), '\n'))
	source, err := os.ReadFile("../docs/verify_certificate.py")
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := os.ReadFile("../docs/verify.py")
	if err != nil {
		t.Fatal(err)
	}
	write("verify.py", verifier)
	verdicts := func(program []byte) string {
		out, _ := exec.Command(interpreter, write("check.py", program), list).Output() // status 1: some do not hold
		s := ""
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			if strings.Contains(line, ": holds") {
				s += "+"
			} else {
				s += "-"
			}
		}
		return s
	}
	want := strings.Repeat("+", len(good)) + strings.Repeat("-", len(bad))
	if got := verdicts(source); got != want {
		t.Fatalf("verdicts %s, want %s", got, want)
	}
	for _, plant := range [][2]string{
		{"f, d, whole = (1 - gamma) / (gamma * (E - 1))", "f, d, whole = (1 - gamma) / (E - 1)"},
		{"(E - 1) * (1 + c), gamma.denominator", "(E - 1) * c, gamma.denominator"},
		{"(c - 1, c * (E - 1), 2 * f)", "(c - 1, c * (E - 1), f)"},
		{"(c - 1, c * (E - 1), 2 * f)", "(c, c * (E - 1), 2 * f)"},
		{"(E * (c - 1), E - 1, 2 * (1 - f))", "(c - 1, E - 1, 2 * (1 - f))"},
		{"(E * (c - 1), E - 1, 2 * (1 - f))", "(E * (c - 1), E - 1, 2 * f)"},
		{"for mass, m in zip(masses[1:], (m + 1 for m in edges))", "for mass, m in zip(masses[1:], (m + 9 for m in edges))"},
		{"need_a = (U * m + V * t) // D + 1", "need_a = (U * m + V * t) // D + 2"},
		{"x[4] + up(x[3], 2)]", "x[4]]"},
		{"x[2] + below[0] // 2, x[3] + up(below[1], 2)", "x[2], x[3]"},
		{"D * a - U * m - V * t", "0"},
		{"inner = gamma / m *", "inner = gamma / (m + 1) *"},
		{"need(shuffled_delta(n, gamma, E, c, edges) <= F(p[\"delta\"])", "need(True"},
		{"told = (k / (root(E) + root(E - k * eta))) ** 2", "told = (k / (root(E) + root(E))) ** 2"},
		{"told = (k / (root(E) + root(E - k * eta))) ** 2", "told = k / (root(E) + root(E - k * eta)) ** 2"},
		{"told *= 1 + half / 2 + half * half / (3 * (1 - half))", "told *= 1 - half"},
		{"slope, lift = (1 - s * s) / (2 * s)", "slope, lift = (1 - s) / (2 * s)"},
		{"slope * eta**3 * max(v * v * y", "slope * eta**4 * max(v * v * y"},
		{"max(v * v * y for v, y in zip(u, h)) * N", "min(v * v * y for v, y in zip(u, h)) * N"},
		{"lower = eta * lift * (1 - s + slope * x)", "lower = lift * (1 - s + slope * x)"},
		{"u, k, root = [m / total for m in mass]", "u, k, root = [m for m in mass]"},
		{"upper = max(row[e[\"centre\"]] for row in C)", "upper = max(row[0] for row in C) / 9"},
	} {
		if n := bytes.Count(source, []byte(plant[0])); n != 1 {
			t.Errorf("%q is there %d times", plant[0], n)
			continue
		}
		if got := verdicts(bytes.Replace(source, []byte(plant[0]), []byte(plant[1]), 1)); got == want {
			t.Errorf("not found: %s in place of %s", plant[1], plant[0])
		}
	}
}
