package vectors_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/vectors"
)

// inVerify are errors in what checks certificates about many people: the text of a file, and what stands there instead.
var inVerify = []struct{ file, right, wrong string }{
	{"shuffle/bound.go", "wider  = 1 + 0x1p-51", "wider  = 1 - 0x1p-46"}, // rounds to the wrong side
	{"shuffle/bound.go", "d := times(e1, new(big.Int).Add(unit, c))", "d := times(e1, c)"},
	{"shuffle/bound.go", "u, v = times(c1, unit), times(c, e1)", "u, v = times(c, unit), times(c, e1)"},
	{"shuffle/bound.go", "u, v = times(c1, e), times(e1, unit)", "u, v = times(c1, unit), times(e1, unit)"},
	{"shuffle/bound.go", "k.share = newOdds(rest.Lsh(rest, 1), bottom)", "k.share = newOdds(rest, bottom)"},
	{"shuffle/bound.go", "twice.Cmp(bottom) <= 0", "twice.Cmp(unit) <= 0"},
	{"shuffle/bound.go", "w := newWalk(p.Clients-1, k.blanket)", "w := newWalk(p.Clients, k.blanket)"},
	{"shuffle/bound.go", "mass*k.inner(edges[i]+1)", "mass*k.inner(edges[i]+2)"},
	{"shuffle/bound.go", "edges[at] <= w.k {", "edges[at] < w.k {"},
	{"shuffle/bound.go", "sum := below // no delta is above 1", "sum := 0.0 * below"},
	{"shuffle/bound.go", "a := min(w.k, int(a0)+1)", "a := min(w.k, int(a0)+2)"},
	{"shuffle/bound.go", "h.v = up(h.v + h.s.up/2)", "h.v = up(h.v)"},
	{"shuffle/bound.go", "h.p = h.p.times(exactly(h.t-h.a), exactly(h.a+1))", "h.p = h.p.times(exactly(h.t-h.a), exactly(h.a))"},
	{"shuffle/bound.go", "up(sum*k.d)/float64(m)", "up(sum*k.d)/float64(m+1)"},
	{"shuffle/problem.go", "c.over {", "false && c.over {"},
	{"shuffle/problem.go", "p.Clients < 1 ||", "p.Clients < 0 ||"},
	{"shuffle/problem.go", "p.Delta > 0 &&", "p.Delta >= 0 &&"},
	{"shuffle/problem.go", "p.Delta < 1)", "p.Delta <= 1)"},
	{"shuffle/solve.go", "!(delta <= p.Delta)", "!(delta <= 2*p.Delta)"},
	{"shuffle/solve.go", "if !(g.Epsilon >= 0) ||", "if !(g.Epsilon >= -1) ||"},
	{"shuffle/solve.go", "if m <= last ||", "if m < last ||"},
	{"shuffle/solve.go", "m >= p.Clients {", "m > p.Clients {"},
	{"shuffle/solve.go", "if g.Epsilon >= p.Epsilon {", "if g.Epsilon >= p.Epsilon/2 {"},
	{"certificate/shuffled.go", "return new(big.Rat), num.Rat(g.Epsilon), nil", "return new(big.Rat), new(big.Rat), nil"},
	{"minimax/verify.go", "most = max(most, c.Data[a*c.K+b.Centre])", "most = max(most, c.Data[b.Centre*c.K+a])"},
	{"minimax/verify.go", "if lower.Sub(lower, steep); lower.Sign() < 0 {", "if lower.Sub(lower, steep.SetInt64(0)); lower.Sign() < 0 {"},
	{"minimax/verify.go", "if c.Data[a*c.K+a] != 0 {", "if false {"},
	{"minimax/verify.go", "if c.Data[z*c.K+a] < b.Radius[i/2] {", "if c.Data[a*c.K+z] < b.Radius[i/2] {"},
	{"minimax/verify.go", "if under[z] >= 0 {", "if false {"},
	{"minimax/verify.go", "if under[y] == under[z] {", "if true {"},
	{"minimax/verify.go", "terms = append(terms[:0], c.Data[y*c.K+z])", "terms = append(terms[:0], 2*c.Data[y*c.K+z])"},
	{"minimax/verify.go", "if mul(over(grown), rest).Cmp(one) > 0 {", "if mul(over(grown), rest).Cmp(one) > 9 {"},
	{"minimax/verify.go", "slope := new(big.Rat).Quo(rest, add(s, s))", "slope := new(big.Rat).Quo(rest, s)"},
	{"minimax/verify.go", "if v := mul(u, u, num.Rat(b.Radius[j]))", "if v := mul(u, num.Rat(b.Radius[j]))"},
	{"minimax/verify.go", "v.Cmp(steep) > 0 {", "v.Cmp(steep) > 0 && j == 0 {"},
	{"minimax/verify.go", "if u.Cmp(largest) > 0 {", "if j == 0 {"},
	{"minimax/verify.go", "roots := add(rootDown(e), rootDown(sub(e, mul(k, eta))))", "roots := add(rootDown(e), rootDown(e))"},
	{"minimax/verify.go", "if z.Cmp(one) >= 0 {", "if false {"},
	{"minimax/verify.go", "c.Add(c, new(big.Rat).Quo(", "_ = add(c, new(big.Rat).Quo("},
	{"minimax/verify.go", "reports := mul(new(big.Rat).SetInt64(int64(p.Clients)), c, phi)",
		"reports := mul(new(big.Rat).SetInt64(int64(p.Clients)), phi)"},
	{"minimax/verify.go", "add(sub(one, s), mul(slope, x))", "add(one, mul(slope, x))"},
	{"minimax/verify.go", "mul(slope, eta, eta, eta, steep, reports)", "mul(slope, eta, eta, steep, reports)"},
	{"minimax/verify.go", "!positive(b.Radius[j]) ||", ""},
	{"minimax/verify.go", "|| !positive(b.Mass[j])", ""},
	{"minimax/verify.go", "b.Amplitude <= 1)", "b.Amplitude <= 2)"},
	{"minimax/verify.go", "b.Exponent >= 0 &&", "b.Exponent >= -9 &&"},
	{"minimax/minimax.go", "p.Clients < 0 ||", ""},
	{"minimax/minimax.go", "p.Clients > MaxClients:", "p.Clients > 2*MaxClients:"},
	{"certificate/minimax.go", "num.Rat(num.Down(x))", "num.Rat(num.Up(x))"},
	{"certificate/minimax.go", "return lowerFloat(lower), upper, nil", "return lower.Mul(lower, big.NewRat(3, 2)), upper, nil"},
	{"certificate/verify.go", "got != n.hash {", "false {"},
	{"certificate/verify.go", "got != want {", "false {"},
	{"certificate/verify.go", "if n.lower.Cmp(lower) > 0 {", "if false {"},
	{"certificate/verify.go", "if n.upper.Cmp(upper) < 0 {", "if false {"},
}

// inChecker are errors in docs/verify_certificate.py: a text of it, and what stands there instead.
var inChecker = [][2]string{
	{"f, d, whole = (1 - gamma) / (gamma * (E - 1))", "f, d, whole = (1 - gamma) / (E - 1)"},
	{"(E - 1) * (1 + c), gamma.denominator", "(E - 1) * c, gamma.denominator"},
	{"(c - 1, c * (E - 1), 2 * f)", "(c - 1, c * (E - 1), f)"},
	{"(c - 1, c * (E - 1), 2 * f)", "(c, c * (E - 1), 2 * f)"},
	{"(E * (c - 1), E - 1, 2 * (1 - f))", "(c - 1, E - 1, 2 * (1 - f))"},
	{"(E * (c - 1), E - 1, 2 * (1 - f))", "(E * (c - 1), E - 1, 2 * f)"},
	{"if 2 * f <= 1 else", "if f <= 1 else"},
	{"for mass, m in zip(masses[1:], (m + 1 for m in edges))",
		"for mass, m in zip(masses[1:], (m + 2 for m in edges))"},
	{"while at < len(edges) and edges[at] <= k", "while at < len(edges) and edges[at] < k"},
	{"walk(n - 1, gamma.numerator", "walk(n, gamma.numerator"},
	{"need_a = (U * m + V * t) // D + 1", "need_a = (U * m + V * t) // D + 2"},
	{"x[4] + up(x[3], 2)]", "x[4]]"},
	{"x[2] + below[0] // 2, x[3] + up(below[1], 2)", "x[2], x[3]"},
	{"D * a - U * m - V * t", "0"},
	{"inner = gamma / m *", "inner = gamma / (m + 1) *"},
	{"delta = Fraction(masses[0], total)", "delta = Fraction(0)"},
	{`need(shuffled_delta(n, gamma, E, c, edges) <= F(p["delta"])`, "need(True"},
	{"exponential(eps, 96)[1], 2**96), Fraction(exponential(central, 96)[0]",
		"exponential(eps, 40)[0], 2**40), Fraction(exponential(central, 96)[0]"},
	{"Fraction(exponential(central, 96)[0], 2**96)", "Fraction(exponential(central, 40)[1], 2**40)"},
	{"if central < eps and c < E: need", "if central < 1: need"},
	{"1 <= n <= 10**8 and", "1 <= n and"},
	{"and 0 < gamma <= 1 and", "and 0 < gamma and"},
	{`and 0 < F(p["delta"]) < 1`, `and 0 < F(p["delta"])`},
	{`and 0 < F(p["delta"]) < 1`, `and F(p["delta"]) < 1`},
	{"need(central >= 0 and all", "need(all"},
	{"and 0 < len(edges) <= 1024", ""},
	{"need(edges == sorted(set(edges)) and edges[0] >= 0 and",
		"need(edges == sorted(edges) and edges[0] >= 0 and"},
	{"need(edges == sorted(set(edges)) and edges[0] >= 0 and", "need(edges[0] >= 0 and"},
	{"and edges[0] >= 0 and edges[-1] < n", "and edges[-1] < n"},
	{"and edges[0] >= 0 and edges[-1] < n", "and edges[0] >= 0"},
	{"told = (k / (root(E) + root(E - k * eta))) ** 2", "told = (k / (root(E) + root(E))) ** 2"},
	{"told = (k / (root(E) + root(E - k * eta))) ** 2", "told = k / (root(E) + root(E - k * eta)) ** 2"},
	{"told *= 1 + half / 2 + half * half / (3 * (1 - half))", "told *= 1 - half"},
	{"told *= 1 + half / 2 + half * half / (3 * (1 - half))", "told *= 1 + half / 2"},
	{"told *= 1 + half / 2 + half * half / (3 * (1 - half))", ""},
	{"slope, lift = (1 - s * s) / (2 * s)", "slope, lift = (1 - s) / (2 * s)"},
	{"slope * eta**3 * max(v * v * y", "slope * eta**4 * max(v * v * y"},
	{"max(v * v * y for v, y in zip(u, h)) * N", "min(v * v * y for v, y in zip(u, h)) * N"},
	{"max(v * v * y for v, y in zip(u, h)) * N", "max(v * y for v, y in zip(u, h)) * N"},
	{"lower = eta * lift * (1 - s + slope * x)", "lower = lift * (1 - s + slope * x)"},
	{"lower = eta * lift * (1 - s + slope * x)", "lower = eta * lift * (1 - s)"},
	{"u, k, root = [m / total for m in mass]", "u, k, root = [m for m in mass]"},
	{"half = eta * eta * max(u) * told / 2", "half = eta * eta * min(u) * told / 2"},
	{"half = eta * eta * max(u) * told / 2", "half = eta * eta * max(u) * told"},
	{`need(half < 1, "one report may tell a sign")`, "half = min(half, Fraction(1, 2))"},
	{"- Fraction(over, unit)), upper", "), upper"},
	{`upper = max(row[e["centre"]] for row in C)`, `upper = max(C[e["centre"]])`},
	{`upper = max(row[e["centre"]] for row in C)`, `upper = min(row[e["centre"]] for row in C)`},
	{`need(exponential(x, 128)[1] * (1 - s * s) <= 2**128, "the root of the exponent")`, ""},
	{`need(all(C[a][a] == 0 for a in poles), "a pole that costs something to itself")`, ""},
	{`need(all(len(t) <= 1 for t in tents), "a place in two tents")`, ""},
	{"if row[a] < r[i // 2]] for row in D]", "if D[a][z] < r[i // 2]] for z, row in enumerate(D)]"},
	{"high[y] + high[z]\n", "max(high[y], high[z])\n"},
	{"if tents[y] == tents[z] else", "if False else"},
	{"over = max(over, rise - D[y][z])", "over = max(over, rise - D[y][z] if y < z else 0)"},
	{"0 <= N <= 2**30 and", "0 <= N and"},
	{"0 <= N <= 2**30 and", "N <= 2**30 and"},
	{`all(type(a) is int and 0 <= a < K for a in poles + [e["centre"]])`,
		"all(type(a) is int and 0 <= a < K for a in poles)"},
	{`all(type(a) is int and 0 <= a < K for a in poles + [e["centre"]])`,
		`all(type(a) is int and a < K for a in poles + [e["centre"]])`},
	{"len(poles) == 2 * len(h) == 2 * len(mass) and", "len(poles) == 2 * len(h) and"},
	{"len(poles) == 2 * len(h) == 2 * len(mass) and", "2 * len(h) == 2 * len(mass) and"},
	{"min(h + mass) > 0 < eta", "min(h) > 0 < eta"},
	{"min(h + mass) > 0 < eta", "min(mass) > 0 < eta"},
	{"> 0 < eta <= 1 and", "> 0 and"},
	{"> 0 < eta <= 1 and", "> 0 < eta and"},
	{"and 0 < s < 1 and", "and s < 1 and"},
	{"and 0 < s < 1 and", "and 0 < s and"},
	{`and 0 <= x <= 700, "parts"`, `and x <= 700, "parts"`},
	{"lambda y: Fraction(math.isqrt(int(y * 4**128)), 2**128)",
		"lambda y: Fraction(math.isqrt(int(y * 4**128)) + 1, 2**128)"},
	{"E = sum(mass), Fraction(exponential(eps, 128)[1], 2**128)",
		"E = sum(mass), Fraction(exponential(eps, 128)[0], 2**128)"},
	{`need(claims[0] <= lower + slack, "the lower bound is not proved")`, ""},
	{`need(claims[1] >= upper - slack, "the upper bound is not proved")`, ""},
	{`need(sha("problem", at) == c["problem_sha256"], "problem_sha256")`, ""},
	{`need(sha("cost", start) == p["cost_sha256"], "cost_sha256")`, ""},
}

// TestPlantedInChecker: the vectors tell docs/verify_certificate.py from copies with one error each.
func TestPlantedInChecker(t *testing.T) {
	interpreter := numtest.Program(t, "python3")
	f, err := vectors.Read("certificate")
	if err != nil {
		t.Fatal(err)
	}
	var list []byte
	want := ""
	for _, c := range f.Cases {
		var in struct {
			Certificate string `json:"certificate"`
		}
		if err := json.Unmarshal(c.In, &in); err != nil {
			t.Fatal(err)
		}
		if list = append(append(list, in.Certificate...), '\n'); c.Valid {
			want += "+"
		} else {
			want += "-"
		}
	}
	dir := t.TempDir()
	copyTo(t, "../docs/verify.py", filepath.Join(dir, "verify.py"))
	source, err := os.ReadFile("../docs/verify_certificate.py")
	if err != nil {
		t.Fatal(err)
	}
	verdicts := func(t *testing.T, program []byte) (s string) {
		for name, text := range map[string][]byte{"list.jsonl": list, "check.py": program} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, _ := exec.Command(interpreter, filepath.Join(dir, "check.py"), filepath.Join(dir, "list.jsonl")).Output()
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") { // status 1: some do not hold
			if strings.Contains(line, ": holds") {
				s += "+"
			} else {
				s += "-"
			}
		}
		return s
	}
	if got := verdicts(t, source); got != want {
		t.Fatalf("verdicts %s, want %s", got, want)
	}
	for _, plant := range inChecker {
		t.Run(plant[1], func(t *testing.T) {
			if n := bytes.Count(source, []byte(plant[0])); n != 1 {
				t.Fatalf("%q is there %d times", plant[0], n)
			}
			if got := verdicts(t, bytes.Replace(source, []byte(plant[0]), []byte(plant[1]), 1)); got == want {
				t.Errorf("not found: %s in place of %s", plant[1], plant[0])
			}
		})
	}
}

// TestPlantedInVerify: the vectors tell certificate.Verify from copies with one error each.
func TestPlantedInVerify(t *testing.T) {
	numtest.SkipUnlessFull(t, "it builds the module as often as there are errors")
	dir := t.TempDir()
	for _, plant := range inVerify {
		t.Run(plant.file+", "+plant.wrong, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("..", plant.file))
			if err != nil {
				t.Fatal(err)
			}
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(source, []byte(plant.right)); n != 1 {
				t.Fatalf("%q is there %d times", plant.right, n)
			}
			file, overlay := filepath.Join(dir, "planted.go"), filepath.Join(dir, "overlay.json")
			replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string][]byte{overlay: replace,
				file: bytes.Replace(source, []byte(plant.right), []byte(plant.wrong), 1)} {
				if err := os.WriteFile(name, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", "^TestCertificate$", ".").CombinedOutput()
			if err == nil || !bytes.Contains(out, []byte("--- FAIL: TestCertificate/")) {
				t.Errorf("not found: %s in place of %s\n%s", plant.wrong, plant.right, out)
			}
		})
	}
}
