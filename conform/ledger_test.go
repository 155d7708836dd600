package conform

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/wpm-go/wpm/internal/numtest" // the same cases in every run
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"pgregory.net/rapid"
)

// dialogue with a program: a line of JSON in, one out.
func asker(t *testing.T, cmd *exec.Cmd) func(question any) map[string]string {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(in.Close(), cmd.Wait()) })
	lines := bufio.NewReader(out)
	return func(question any) map[string]string {
		text, err := json.Marshal(question)
		if err == nil {
			_, err = in.Write(append(text, '\n'))
		}
		var line []byte
		if err == nil {
			line, err = lines.ReadBytes('\n')
		}
		answer := map[string]string{}
		if err == nil {
			err = json.Unmarshal(line, &answer)
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return answer
	}
}

// example returns the first policy of docs/spec/policy.md, whose epsilon is 1.
func example(t *testing.T) (text string, p policy.Policy) {
	t.Helper()
	text, p, err := readExample()
	if err != nil {
		t.Fatal(err)
	}
	return text, p
}

func readExample() (text string, p policy.Policy, err error) {
	page, err := os.ReadFile("../docs/spec/policy.md")
	if err != nil {
		return "", p, err
	}
	text = string(regexp.MustCompile("(?s)```json policy-1\n(.*?)```").FindSubmatch(page)[1])
	p, err = policy.Decode([]byte(text))
	return text, p, err
}

// TestLedgerTurnsInJavaScript: Go and node release from one file in turns, with lines torn in between. Whoever comes
// second in an epoch returns what the first has released, and both find the same spent.
func TestLedgerTurnsInJavaScript(t *testing.T) {
	ask := asker(t, command("../js", numtest.Program(t, "node"), "conform/ledger.js"))
	text, p := example(t)
	dir := t.TempDir()
	var files int
	rapid.Check(t, func(t *rapid.T) {
		files++
		path := filepath.Join(dir, fmt.Sprint(files))
		want, reports := new(big.Rat), map[string]string{}
		for n := range rapid.IntRange(1, 8).Draw(t, "turns") {
			epoch := rapid.SampledFrom([]string{"a", "b", "c:2026-07"}).Draw(t, "epoch")
			first := reports[epoch] == ""
			// A repeat writes nothing, so a rest would grow: only a new epoch finds one.
			if rest := rapid.SampledFrom([]string{"", "", "x", "debit", "debit 1/7 ", "debit 1/7 ab", "debit 1/0 ab",
				"report 00", "~torn 3 ", "\xff"}).Draw(t, "torn"); n > 0 && first && rest != "" {
				appendTo(t, path, rest)
				if strings.HasPrefix(rest, "debit 1/7 ") {
					want.Add(want, big.NewRat(1, 7))
				}
			}
			if first {
				want.Add(want, big.NewRat(1, 1))
			}
			who := rapid.SampledFrom([]string{"Go", "JavaScript"}).Draw(t, "who")
			var report, spent string
			if who == "Go" {
				report, spent = inGo(t, p, path, epoch)
			} else {
				answer := ask(map[string]string{"path": path, "epoch": epoch, "policy": text,
					"private": hex.EncodeToString([]byte("home,1\n"))})
				if answer["error"] != "" {
					t.Fatal(answer)
				}
				report, spent = answer["report"], answer["spent"]
			}
			if spent != want.RatString() || !first && report != reports[epoch] {
				t.Fatalf("%s in epoch %s: %s, spent %s; want %s, %s", who, epoch, report, spent, reports[epoch], want.RatString())
			}
			reports[epoch] = report
		}
	})
}

func appendTo(t *rapid.T, path, text string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func inGo(t *rapid.T, p policy.Policy, path, epoch string) (report, spent string) {
	l, err := ledger.Open(path, ledger.Options{Epoch: epoch, Budget: "100"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := policy.Release(context.Background(), p, l, []byte("home,1\n"), nil)
	spent = l.Spent().RatString()
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return r.String(), spent
}

// TestLedgerLockInJavaScript: while one of the two has a ledger open, the other finds it locked, and it is free then.
func TestLedgerLockInJavaScript(t *testing.T) {
	node := numtest.Program(t, "node")
	ask := asker(t, command("../js", node, "conform/ledger.js"))
	text, p := example(t)
	path := filepath.Join(t.TempDir(), "ledger")
	release := map[string]string{"path": path, "epoch": "e", "policy": text, "private": ""}
	l, err := ledger.Open(path, ledger.Options{Epoch: "e", Budget: "100"})
	if err != nil {
		t.Fatal(err)
	}
	if answer := ask(release); answer["error"] != "locked" {
		t.Errorf("while Go has it: %v", answer)
	}
	r, err := policy.Release(t.Context(), p, l, nil, nil)
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if answer := ask(release); answer["report"] != r.String() {
		t.Errorf("after Go: %v, want %v", answer, r)
	}
	cmd, in, report := holder(t, command("../js", node, "test/support/release.js", path, "f", "0", "hold"))
	if _, err := ledger.Open(path, ledger.Options{Epoch: "f"}); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("while node has it: %v", err)
	}
	_ = in.Close()
	if l, err = ledger.Open(path, ledger.Options{Epoch: "f", Wait: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	again, err := policy.Release(t.Context(), p, l, nil, nil)
	if err := errors.Join(err, l.Close()); err != nil || again.String() != report {
		t.Errorf("after node: %v, %v, want %s", again, err, report)
	}
}

// holder starts a program that prints a report and has the ledger open until its input ends.
func holder(t *testing.T, cmd *exec.Cmd) (_ *exec.Cmd, in io.Closer, report string) {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if report, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return cmd, in, strings.TrimSpace(report)
}

// holds is the ledger that this program is to release from and hold, if it is started as a holder.
const holds = "WPM_CONFORM_HOLDS"

func hold(path string) error {
	_, p, err := readExample()
	if err != nil {
		return err
	}
	l, err := ledger.Open(path, ledger.Options{Epoch: "e", Budget: "100"})
	if err != nil {
		return err
	}
	r, err := policy.Release(context.Background(), p, l, nil, nil)
	if err != nil {
		return err
	}
	fmt.Println(r)
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, l.Close())
}

// TestLedgerKillsInJavaScript: the lock of a program that was killed stops nobody who may know that: Go takes over the
// folder of node and the file of Go, node the folder of node. The file of Go stays locked to node, which cannot ask the
// kernel, until Go has been there. A program that lives is left alone by all. Nothing is paid twice.
func TestLedgerKillsInJavaScript(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("without /proc the end of a process is not seen")
	}
	node := numtest.Program(t, "node")
	text, p := example(t)
	ask := asker(t, command("../js", node, "conform/ledger.js"))
	path, reports := filepath.Join(t.TempDir(), "ledger"), ""
	report := func(who string, got string) {
		t.Helper()
		if reports == "" {
			reports = got
		}
		if got != reports {
			t.Errorf("%s: report %s, want %s", who, got, reports)
		}
	}
	inNode := func(who string, locked bool) {
		t.Helper()
		answer := ask(map[string]string{"path": path, "epoch": "e", "policy": text, "private": ""})
		if locked && answer["error"] != "locked" || !locked && answer["error"] != "" {
			t.Errorf("%s: %v", who, answer)
		}
		if !locked {
			report(who, answer["report"])
		}
	}
	inGo := func(who string, locked bool) {
		t.Helper()
		l, err := ledger.Open(path, ledger.Options{Epoch: "e", Budget: "100"})
		if locked {
			if !errors.Is(err, ledger.ErrLocked) {
				t.Errorf("%s: %v", who, err)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		inNode(who+", while Go has it", true)
		r, err := policy.Release(t.Context(), p, l, nil, nil)
		if err := errors.Join(err, l.Close()); err != nil {
			t.Fatal(err)
		}
		report(who, r.String())
	}
	start := map[string]func() *exec.Cmd{
		"Go": func() *exec.Cmd {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), holds+"="+path)
			return cmd
		},
		"node": func() *exec.Cmd { return command("../js", node, "test/support/release.js", path, "e", "0", "hold") },
	}
	for _, c := range []struct{ killed, next string }{{"node", "Go"}, {"Go", "Go"}, {"node", "node"}, {"Go", "node"}} {
		cmd, _, got := holder(t, start[c.killed]())
		report(c.killed+" holds", got)
		inNode("while "+c.killed+" lives", true)
		inGo("while "+c.killed+" lives", true)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		info, err := os.Lstat(path + ".lock")
		if err != nil || info.IsDir() != (c.killed == "node") {
			t.Fatalf("%s was killed: %v, %v", c.killed, info, err)
		}
		who := c.next + " after " + c.killed + " was killed"
		switch {
		case c.next == "Go":
			inGo(who, false)
		case c.killed == "node":
			inNode(who, false)
		default:
			inNode(who, true)
			inGo(who+", and then Go", false)
			inNode(who+", and then Go, and then node", false)
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("%s: left behind: %v, %v", who, names, err)
		}
	}
	l, err := ledger.Open(path, ledger.Options{Epoch: "e"})
	if err := errors.Join(err, l.Close()); err != nil || l.Spent().RatString() != "1" {
		t.Errorf("spent %v, %v", l.Spent(), err)
	}
}

// inMemory is a Store that holds nothing but its text.
type inMemory struct{ text []byte }

func (*inMemory) Lock(context.Context) error { return nil }
func (*inMemory) Unlock() error              { return nil }
func (m *inMemory) Load() ([]byte, error)    { return m.text, nil }

func (m *inMemory) Append(at int64, b []byte) error {
	if at != int64(len(m.text)) {
		return ledger.ErrUnusable
	}
	m.text = append(m.text, b...)
	return nil
}

// TestLedgerTextsInJavaScript: on texts that are right, nearly right and torn, Go and node say the same, and leave the
// same text.
func TestLedgerTextsInJavaScript(t *testing.T) {
	ask := asker(t, command("../js", numtest.Program(t, "node"), "conform/ledger.js"))
	id := strings.Repeat("0a", 32)
	var accepted, refused int
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.SampledFrom([]string{"1", "0", "3/2", "4/6", "0.50", "007", "1.", ".5", "1/0", "-1", "1e2", "1/2/3",
			"1.5/2", "",
			strings.Repeat("9", 256), strings.Repeat("9", 257), "1/" + strings.Repeat("3", 100)})
		epoch := rapid.SampledFrom([]string{"e", "f", "e e", "", "é", strings.Repeat("x", 64), strings.Repeat("x", 65)})
		ids := rapid.SampledFrom([]string{id, id, id, strings.ToUpper(id), id[2:], id + "00"})
		report := rapid.SampledFrom([]string{"77706d31" + id + "01000000", "77706d31" + id + "ffff0f00",
			"77706d31" + id + "00001000",
			"77706331" + id + "00", "77706331" + id, "77706331" + id + strings.Repeat("00", 220),
			"77706331" + id + strings.Repeat("00", 221),
			"77706d31" + id + "0100000", "77706D31" + id + "01000000"})
		body := rapid.Custom(func(t *rapid.T) string {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				return "wpm-ledger-1 " + number.Draw(t, "budget")
			case 1, 2, 3:
				return "debit " + number.Draw(t, "eps") + " " + ids.Draw(t, "id") + " " + epoch.Draw(t, "epoch")
			case 4, 5, 6:
				return "report " + report.Draw(t, "report") + " " + epoch.Draw(t, "epoch")
			case 7:
				return rapid.StringMatching(`[a-z ~\x80-\xff]{0,12}`).Draw(t, "rest") + "~torn " + number.Draw(t, "charge")
			case 8:
				return "debit 1 " + id + " e"
			default:
				return rapid.StringMatching(`[a-z0-9 ]{0,12}`).Draw(t, "odd")
			}
		})
		bodies := rapid.SliceOfN(body, 0, 6).Draw(t, "bodies")
		if rapid.IntRange(0, 9).Draw(t, "opening") > 0 {
			bodies = append([]string{"wpm-ledger-1 99"}, bodies...)
		}
		var chain [sha256.Size]byte
		var text []byte
		for _, body := range bodies {
			chain = sha256.Sum256(append(chain[:], body...))
			text = fmt.Appendf(text, "%s %x\n", body, chain)
		}
		switch rapid.IntRange(0, 5).Draw(t, "end") {
		case 0:
			text = text[:len(text)-min(len(text), rapid.IntRange(1, 90).Draw(t, "cut"))]
		case 1:
			text = append(text, body.Draw(t, "rest")...)
		}
		store := &inMemory{append([]byte(nil), text...)}
		l, err := ledger.New(store, ledger.Options{Epoch: "e", Budget: "99"})
		want := map[string]string{"error": ""}
		switch {
		case errors.Is(err, ledger.ErrCorrupt):
			want["error"] = "corrupt"
		case errors.Is(err, ledger.ErrBudget):
			want["error"] = "budget"
		case err != nil:
			t.Fatal(err)
		default:
			want = map[string]string{"spent": l.Spent().RatString(), "remaining": l.Remaining().RatString(),
				"budget": l.Budget().RatString(), "text": hex.EncodeToString(store.text)}
		}
		if want["error"] == "" {
			accepted++
		} else {
			refused++
		}
		got := ask(map[string]string{"text": hex.EncodeToString(text), "budget": "99"})
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: want -, got +\n%s", text, d)
		}
	})
	if numtest.Full() && (accepted == 0 || refused == 0) { // short runs draw a few cases
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// TestLedgerPlantsInJavaScript: errors planted in the ledger of js fail its tests.
func TestLedgerPlantsInJavaScript(t *testing.T) {
	if !numtest.Full() {
		t.Skip("runs the tests of js once for each error")
	}
	node := numtest.Program(t, "node")
	spec, err := filepath.Abs("../docs/spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct{ name, file, right, wrong, test string }{
		{"none", "src/ledger.js", "// @ts-check", "//", ""},
		{"draws before the debit is stored", "src/ledger.js", "await this.#write(`${turn", "const stored = this.#write(`${turn",
			"api"},
		{"returns before the report is stored", "src/ledger.js", "await this.#write(`report", "this.#write(`report",
			"ledger"},
		{"pays on after a failed write", "src/ledger.js", "if (this.#fault) throw this.#fault;", "", "ledger"},
		{"forgets a debit whose write failed", "src/ledger.js", "lines.pay(price, epoch, turn); // before",
			"queueMicrotask(() => { if (!this.#fault) lines.pay(price, epoch, turn); }); // before", "ledger"},
		{"draws again", "src/ledger.js", "if (known) return", "if (false) return", "ledger"},
		{"lets two releases overlap", "src/ledger.js", "this.#last.then(task)", "task()", "ledger"},
		{"ignores a torn line", "src/ledger.js", "this.pay(charge(this.rest));", "", "ledger"},
		{"skips the chain", "src/ledger.js", "if (hex(sum) !== line", "if (false && line", "ledger"},
		{"compares budgets in doubles", "src/ledger.js", "x.n * y.d > y.n * x.d",
			"Number(x.n) / Number(x.d) > Number(y.n) / Number(y.d)", "ledger"},
		{"raises a budget", "src/ledger.js", "if (lines.budget) return;", "", "ledger"},
		{"takes no lock", "src/lock.js", "if (said === \"locked\") throw locked(path);", "if (said === \"locked\") return {release() {}};",
			"file"},
		{"keeps its lock", "src/lock.js", "renameSync(path, spare);", "", "file"},
		{"keeps its lock at its end", "src/lock.js", "process.on(\"exit\", end);", "", "lock"},
		{"keeps its lock at a signal", "src/lock.js", "    end();\n    process.kill(", "    process.kill(", "lock"},
		{"does not end at a signal", "src/lock.js", "process.kill(process.pid, signal);", "", "lock"},
		{"ends where another listens", "src/lock.js", ".every((f) => OURS in f)", ".every((f) => true)", "lock"},
		{"gives its lock up while it writes", "src/lock.js", "if (!one.writing) attempt", "attempt", "lock"},
		{"takes over from the living", "src/lock.js", "now === \"unknown\" || now === had[3]", "now === \"unknown\"", "lock"},
		{"takes over from another boot", "src/lock.js", "had[0] !== boot ||", "", "lock"},
		{"takes over from another namespace", "src/lock.js", "|| had[1] !== namespace", "", "lock"},
		{"takes over what it cannot know", "src/lock.js", "had.includes(UNKNOWN) ||", "", "lock"},
		{"takes a process that it may not see for gone", "src/lock.js", "if (is(e, \"ESRCH\")) return null;", "return null;", "lock"},
		{"takes a zombie for alive", "src/lock.js", "field[0] === \"Z\" && ", "false && ", "lock"},
		{"takes over by removing", "src/lock.js", "  renameSync(join(path, from), join(path, name));",
			"  remove(join(path, from));\n  attempt(() => mkdirSync(join(path, name)));\n  return;", "lock"},
		{"takes any file for a lock", "src/lock.js", "if (!begins(", "if (false && !begins(", "lock"},
		{"takes the name of a lock", "src/lock.js", "if (/\\.lock$/i.test(name)) return \"refused\";", "", "lock"},
		{"takes a second name", "src/file.js", "if (nlink !== 1)", "if (false)", "file"},
		{"does not look at the length", "src/file.js", "if (size !== at)", "if (false)", "file"},
		{"appends without its length", "src/ledger.js", "append(size, bytes)", "append((await this.#store.load()).length, bytes)",
			"ledger"},
		{"takes any report", "src/ledger.js", "need(isReport(text) && text.slice(8, 72) === id,", "need(true,", "ledger"},
		{"locks a link's own name", "src/file.js", "?.isSymbolicLink()", "?.isSymbolicLink() && false", "file"},
	} {
		t.Run(p.name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "js")
			for _, part := range []string{"src", "test"} {
				if err := os.CopyFS(filepath.Join(work, part), os.DirFS("../js/"+part)); err != nil {
					t.Fatal(err)
				}
			}
			about, err := os.ReadFile("../js/package.json")
			err = errors.Join(err, os.WriteFile(filepath.Join(work, "package.json"), about, 0o600),
				os.Mkdir(filepath.Join(work, "../docs"), 0o700),
				os.Symlink(spec, filepath.Join(work, "../docs/spec")))
			file := filepath.Join(work, p.file)
			text, err2 := os.ReadFile(file)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			changed := strings.ReplaceAll(string(text), p.right, p.wrong)
			if changed == string(text) {
				t.Fatalf("%s has no %q to spoil", p.file, p.right)
			}
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--test", "--test-timeout=60000", "test/" + p.test + ".test.js"}
			if p.test == "" {
				args = []string{"--test", "test/api.test.js", "test/ledger.test.js", "test/file.test.js", "test/lock.test.js"}
			}
			cmd := command(work, node, args...)
			cmd.Env = append(os.Environ(), "WPM_FULL=") // a thousand rounds of starters would take a minute each
			if out, err := cmd.CombinedOutput(); (err == nil) != (p.test == "") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
