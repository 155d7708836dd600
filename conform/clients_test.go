package conform

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// A plant is an error in a copy of a client, and groups of which at least one must fail.
type plant struct {
	name, file, right, wrong string
	groups                   []string
}

var python = []plant{
	{"takes e^eps from floats", "client.py", "n * a // b\n", "int(float(n) * (a / b))\n", []string{"vectors/verify"}},
	{"forgets that lower bounds may be too much", "client.py", "sum(lo) <= 2**bits <= sum(hi), \"sums\"",
		"2**bits <= sum(hi), \"sums\"", []string{"vectors/verify"}},
	{"reads random words from the other end", "client.py", `random[:(bits + 7) // 8], "little"`,
		`random[:(bits + 7) // 8], "big"`, []string{"vectors/sample"}},
	{"draws one index too low", "client.py", "if r < 0: return j", "if r <= 0: return j",
		[]string{"vectors/sample", "laws/SampleExact"}},
	{"keeps bits above B", "client.py", "% 2**bits)", "% 2**62)", []string{"vectors/sample", "laws/SampleExact"}},
	{"takes units in the wrong order", "client.py", "key=lambda j: -part[j]", "key=lambda j: part[j]",
		[]string{"vectors/round, round-in-box"}},
	{"rounds a bound the wrong way", "client.py", "-(-n * b // a)", "n * b // a",
		[]string{"vectors/box, round", "laws/BoxOfBaseMeasure"}},
	{"accepts labels twice", "client.py", "len(set(names)) == len(names) and", "", []string{"vectors/release, policy"}},
	{"keeps the last count of a label only", "client.py", `counts[p["index"][label]] +=`, `counts[p["index"][label]] =`,
		[]string{"vectors/release, draw"}},
	{"draws the input by the wrong bytes", "client.py", "int.from_bytes(random[:8]", "int.from_bytes(random[-8:]",
		[]string{"vectors/release, draw"}},
	{"ignores the solver", "client.py", `p["mode"] == "projection" and good`, "False",
		[]string{"vectors/release, draw-projection"}},
	{"stops before the last path", "client.py", "    while left:\n", "    while left > unit // 100:\n",
		[]string{"vectors/project", "laws/ProjectInBox"}},
	{"forgets reverse arcs", "client.py", "arcs[n ^ 1][1] = arcs[n][1] - step, arcs[n ^ 1][1] + step",
		"arcs[n ^ 1][0] = arcs[n][1] - step, arcs[n ^ 1][0]",
		[]string{"vectors/project"}},
	{"rounds its lower bound up", "client.py", "below(lower))", "math.nextafter(float(lower), math.inf))",
		[]string{"vectors/project", "laws/FlowEquivalence"}},
	{"takes a floor of KPM that is too low", "client.py", "+ len(mu) - 1)", "+ len(mu))",
		[]string{"vectors/kpm", "laws/KPMClosedForm"}},
	{"drops lines with labels that it does not know", "client.py",
		`need(label in p["index"] and float(count) <= 2.0**53, "label or count")`,
		`if label not in p["index"]: continue`, []string{"vectors/release, draw"}},
	{"takes two users for one", "client.py", "len(users) <= 1 and any(counts)", "any(counts)",
		[]string{"vectors/release, draw"}},
	{"takes a count with a sign", "client.py", `rb"[0-9]+(`, `rb"-?[0-9]+(`, []string{"vectors/release, draw"}},
	{"accepts idle zeros", "client.py", `NUMBER = "(?:0|[1-9][0-9]{0,19})"`, `NUMBER = "(?:[0-9]{1,20})"`,
		[]string{"vectors/release, policy"}},
	{"answers at the end", "client.py", "allow_nan=False), flush=True)", "allow_nan=False))",
		[]string{"lines/unknown kind"}},
}

var javascript = []plant{
	{"takes e^eps from doubles", "src/box.js", "const holds = (h, l) => {",
		"const holds = (h, l) => {\n    if (l) return Number(h) <= Number(l) * Math.exp(Number(n0) / Number(d0));",
		[]string{"vectors/verify"}},
	{"forgets that upper bounds may be too little", "src/box.js", "&& total <= sum(hi)", "", []string{"vectors/verify"}},
	{"forgets the sum of a row", "src/box.js", "need(sum(row) === 1n << BigInt(bits)", "need(true",
		[]string{"vectors/verify"}},
	{"draws one index too low", "src/box.js", "total <= r ? 1 : 0", "total < r ? 1 : 0",
		[]string{"vectors/sample", "laws/SampleExact"}},
	{"keeps bits above B", "src/box.js", " & ((1n << BigInt(bits)) - 1n)", "",
		[]string{"vectors/sample", "laws/SampleExact"}},
	{"draws with doubles", "src/box.js", "for (const n of weights) {",
		"total = 0;\n  r = Number(r);\n  for (let n of weights) {\n    n = Number(n);", []string{"vectors/sample"}},
	{"accepts white space at the end", "src/policy.js", "need(c.at === text.length",
		"need(c.at === text.trimEnd().length + 1", []string{"vectors/release, policy"}},
	{"accepts every spelling of epsilon", "src/policy.js", "need(epsilonText(x) === text", "need(true",
		[]string{"vectors/release, policy"}},
	{"breaks ties of keys the other way", "src/policy.js", "k === end && j < t", "k === end && j > t",
		[]string{"vectors/release, draw"}},
	{"keeps the last count of a label only", "src/draw.js", "counts[i] += v", "counts[i] = v",
		[]string{"vectors/release, draw"}},
	{"draws an input in doubles", "src/draw.js", "n >> BigInt(-f - shift)", "n << BigInt(-f - shift)",
		[]string{"vectors/release, draw"}},
	{"drops lines with labels that it does not know", "src/draw.js", "if (i < 0 || v < 0)", "if (i < 0) return;\n    if (v < 0)",
		[]string{"vectors/release, draw"}},
	{"takes two users for one", "src/draw.js", "this.fault ||= user !== this.user;", "",
		[]string{"vectors/release, draw"}},
	{"takes a count with a sign", "src/draw.js", "let at = from, whole", "let at = from + (line[from] === MINUS ? 1 : 0), whole",
		[]string{"vectors/release, draw"}},
	{"accepts idle zeros of units", "src/policy.js", `"(?:0|[1-9][0-9]{0,19})"/y`, `"[0-9]{1,20}"/y`,
		[]string{"vectors/release, policy"}},
	{"ignores what follows a gzip member", "src/gzip.js", "while (s.at < s.length) {", "if (s.at < s.length) {",
		[]string{"vectors/release, draw"}},
	{"draws from the row of counts of 1", "src/draw.js", "sample(usable ? row : rows.fallback", "sample(row",
		[]string{"vectors/release, draw"}},
	{"counts reports of other policies", "src/count.js", `if (report.policy !== id) return "other-policy";`, "",
		[]string{"vectors/aggregate"}},
	{"adds up counts of two epochs", "src/count.js", "need(c.epoch === first.epoch", "need(true",
		[]string{"vectors/aggregate"}},
	{"takes a copy of a shard", "src/count.js", "need(lines <= EQUAL || ", "need(true || ", []string{"vectors/aggregate"}},
	{"does not see the sum of lines", "src/count.js", "refused[r])]) === all &&", "refused[r])]) > 0 &&",
		[]string{"vectors/aggregate"}},
	{"counts outputs of weight 0", "src/count.js", `hi[report.index] === 0n ? "never-released" : report.index`, "report.index",
		[]string{"vectors/aggregate"}},
	{"writes the index with its last byte first", "src/draw.js", "index, true)", "index, false)",
		[]string{"vectors/release, draw"}},
}

// TestPython and TestJavaScript: the clients in the tree pass, and copies with planted errors fail where they must.
func TestPython(t *testing.T) {
	run := numtest.Program(t, "python3")
	t.Setenv("PYTHONUNBUFFERED", "") // it would hide that a client does not flush
	offers := []string{"aggregate", "certificate", "draw", "draw-projection", "kpm", "ledger", "phi", "policy", "project", "round", "round-in-box", "sample",
		"schedule", "transport", "verify"}
	clients(t, []string{run, "client.py"}, "../vectors", offers, python)
}

func TestJavaScript(t *testing.T) {
	run := numtest.Program(t, "node")
	clients(t, []string{run, "conform/client.js"}, "../js", []string{"aggregate", "draw", "ledger", "policy", "sample", "schedule", "verify"},
		javascript)
	files, err := filepath.Glob("../js/test/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	args := []string{"--test"}
	for _, file := range files {
		args = append(args, "test/"+filepath.Base(file))
	}
	if out, err := command("../js", run, args...).CombinedOutput(); err != nil {
		t.Errorf("the tests of js: %v\n%s", err, out)
	}
}

func command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

func clients(t *testing.T, cmd []string, dir string, offers []string, plants []plant) {
	t.Helper()
	t.Run("as it is", func(t *testing.T) {
		r, err := Run(Settings{Command: []string{cmd[0], filepath.Join(dir, cmd[1])}, Level: "quick"})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(r.Kinds)
		if !slices.Equal(r.Kinds, offers) {
			t.Errorf("offers %q, want %q", r.Kinds, offers)
		}
		for _, reason := range failed(r) {
			t.Error(reason)
		}
	})
	if !numtest.Full() {
		t.Skip("planted errors take a minute")
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			if !found(t, plantIn(t, cmd, dir, p), p) {
				t.Errorf("passes %q", p.groups)
			}
		})
	}
}

// plantIn copies a client with an error in it, and returns how to start the copy.
func plantIn(t *testing.T, cmd []string, dir string, p plant) []string {
	t.Helper()
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(work, p.file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), p.right, p.wrong)
	if changed == string(text) {
		t.Fatalf("%s has no %q to spoil", p.file, p.right)
	}
	if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{cmd[0], filepath.Join(work, cmd[1])}
}

// found reports whether one of the groups of a planted error fails.
func found(t *testing.T, cmd []string, p plant) bool {
	t.Helper()
	c := &client{command: cmd, limit: defaultLimit, hasty: true}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.end() }()
	if strings.HasPrefix(p.groups[0], "lines/") {
		c.limit = 2 * defaultLimit / 10
	}
	setRapid(levels["quick"], 1)
	for _, name := range p.groups {
		var g Group
		for _, v := range vectorGroups() {
			if v.name() == name {
				g = v.run(c)
			}
		}
		for _, l := range laws() {
			if "laws/"+l.name == name {
				g = l.run(c)
			}
		}
		for _, d := range dialogue() {
			if "lines/"+d.name == name {
				g = d.run(c)
			}
		}
		if g.Status == "" {
			t.Fatalf("no group %q", name)
		}
		if g.Status == Failed {
			return true
		}
	}
	return false
}
