package conform

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// javaOut is where buildJava puts its files; TestMain removes it.
var javaOut string

// buildJava builds the library in Java and its programs for tests, once in a run.
var buildJava = sync.OnceValue(func() (err error) {
	if javaOut, err = os.MkdirTemp("", "wpm-java-"); err != nil {
		return err
	}
	if text, err := exec.Command("../java/build", javaOut).CombinedOutput(); err != nil {
		return fmt.Errorf("java/build: %w\n%s", err, text)
	}
	return nil
})

// javaClasses returns the class path of the library in Java and of its programs for tests.
func javaClasses(t *testing.T) string {
	t.Helper()
	numtest.Program(t, "javac")
	if err := buildJava(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(javaOut, "classes") + string(os.PathListSeparator) + filepath.Join(javaOut, "conform")
}

// TestJava asks the library in Java all vectors of the trusted part.
func TestJava(t *testing.T) {
	report, err := Run(Settings{Command: []string{"java", "-Xmx1g", "-cp", javaClasses(t), "wpm.Client"}, Level: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	passed := map[string]bool{}
	for _, g := range report.Groups {
		if g.Status == Failed {
			t.Errorf("%s: %s\n%s", g.Name, g.Reason, g.Line)
		}
		passed[g.Name] = g.Status == Passed
	}
	for _, want := range []string{"vectors/verify", "vectors/release, policy", "vectors/sample", "vectors/release, draw",
		"vectors/ledger", "vectors/schedule"} {
		if !passed[want] {
			t.Errorf("%s did not pass", want)
		}
	}
}

// TestJavaLedger: a ledger has one user at a time, in Java and in Go; what a killed program left is taken over by one; and
// both read what the other wrote.
func TestJavaLedger(t *testing.T) {
	classes := javaClasses(t)
	text, p := example(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "policy.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ledger")
	hold := func() (said string, end func(kill bool)) {
		return javaHolds(t, "java", "-Xshare:auto", "-cp", classes, "wpm.Hold", path)
	}
	draw := func(epoch, private string) string {
		cmd := exec.Command("java", "-cp", classes, "wpm.Hold", path, file, epoch)
		cmd.Stdin = strings.NewReader(private)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	goOpens := func() error {
		l, err := ledger.Open(path, ledger.Options{Epoch: "e", Budget: "100", Wait: time.Millisecond})
		if err == nil {
			err = l.Close()
		}
		return err
	}

	said, end := hold()
	if said != "open" {
		t.Fatalf("Java says %q of a new ledger", said)
	}
	if err := goOpens(); !errors.Is(err, ledger.ErrLocked) {
		t.Errorf("Go opens a ledger that Java has: %v", err)
	}
	other, leave := hold()
	if other != "LOCKED" {
		t.Errorf("Java says %q of a ledger that Java has", other)
	}
	leave(false)
	end(true)
	again, end := hold()
	if again != "open" {
		t.Fatalf("Java says %q of a ledger whose owner was killed", again)
	}
	end(false)
	if left, err := filepath.Glob(path + ".lock*"); err != nil || len(left) != 0 {
		t.Errorf("the lock is left: %v, %v", left, err)
	}
	if err := goOpens(); err != nil {
		t.Errorf("Go does not read what Java wrote: %v", err)
	}

	first := draw("2026-01", "label,count\nhome,2\n")
	if repeat := draw("2026-01", "label,count\nwork,5\n"); repeat != first || len(first) != 80 {
		t.Errorf("a second release in the epoch is %q, the first %q", repeat, first)
	}
	ctx := context.Background()
	l, err := ledger.Open(path, ledger.Options{Epoch: "2026-01", Budget: "100"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := policy.Release(ctx, p, l, []byte("home,1\n"), nil)
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if b, err := r.MarshalText(); err != nil || string(b) != first {
		t.Errorf("Go repeats %q (%v), Java released %q", b, err, first)
	}
}

// javaHolds starts a program in Java that opens a ledger and keeps it, and returns what it says and how to end it.
func javaHolds(t *testing.T, program ...string) (said string, end func(kill bool)) {
	t.Helper()
	cmd := exec.Command(program[0], program[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), func(kill bool) {
		if kill {
			_ = cmd.Process.Kill()
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// TestJavaLock: an application that says itself which process it is takes over the lock of one of its processes that ended,
// and of no other, nor of itself. In a namespace of processes whose /proc is another one's, an owner is not known: Go, in
// that namespace, would look for a number that means nothing there.
func TestJavaLock(t *testing.T) {
	classes := javaClasses(t)
	path := filepath.Join(t.TempDir(), "ledger")
	app := func(owner string) (string, func(bool)) {
		return javaHolds(t, "java", "-Downer="+owner, "-cp", classes, "wpm.Hold", path)
	}
	said, end := app("0 0 100 5")
	if said != "open" {
		t.Fatalf("of a new ledger an application says %q", said)
	}
	again, endAgain := app("0 0 100 5")
	endAgain(false)
	if again != "LOCKED" {
		t.Errorf("of a ledger that itself has, an application says %q", again)
	}
	end(true)
	for _, c := range []struct{ owner, want string }{{"0 1 101 6", "LOCKED"}, {"1 0 101 6", "LOCKED"}, {"0 0 100 6", "open"}} {
		said, end := app(c.owner)
		end(false)
		if said != c.want {
			t.Errorf("of a lock of 0 0 100 5, which ended, the application %s says %q, want %q", c.owner, said, c.want)
		}
	}

	if err := exec.Command("unshare", "--pid", "--fork", "true").Run(); err != nil {
		t.Skipf("a namespace of processes needs rights: %v", err)
	}
	said, end = javaHolds(t, "unshare", "--pid", "--fork", "java", "-cp", classes, "wpm.Hold", path)
	defer end(false)
	entries, err := os.ReadDir(path + ".lock")
	if err != nil || said != "open" || len(entries) != 1 {
		t.Fatalf("in a namespace of its own, Java says %q: %v, %v", said, entries, err)
	}
	if name := entries[0].Name(); !regexp.MustCompile(`^-_-_[0-9]+_-$`).MatchString(name) {
		t.Errorf("under the /proc of another namespace the owner is %q", name)
	}
}

// What javap shows of what a class uses: methods, fields, and classes that are caught, made or cast to.
var uses = []*regexp.Regexp{
	regexp.MustCompile(`// (?:Interface)?Method (java/[\w/$]+\."?<?\w+>?"?):(\S+)`),
	regexp.MustCompile(`// Field (java/[\w/$]+\.\w+)():`),
	regexp.MustCompile(`// class (java/[\w/$]+)()`),
	regexp.MustCompile(`(?m)^ +\d+ +\d+ +\d+ +Class (java/[\w/$]+)()$`),
	regexp.MustCompile(`// InvokeDynamic #\d+:\w+:\([^)]*\)L(java/util/[\w/$]+)();`),
}

// TestJavaAndroid: the jar uses the classes, fields and methods of java/android.txt alone, each with its arguments, which
// says since which API level Android has them. None is later than the minSdk of that page.
func TestJavaAndroid(t *testing.T) {
	classes := filepath.SplitList(javaClasses(t))[0]
	files, err := filepath.Glob(filepath.Join(classes, "wpm", "*.class"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	out, err := exec.Command("javap", append([]string{"-p", "-c", "-constants"}, files...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../java/android.txt")
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`minSdk ([0-9]+)`).FindSubmatch(list)
	if said == nil {
		t.Fatal("java/android.txt says no minSdk")
	}
	least, err := strconv.Atoi(string(said[1]))
	if err != nil {
		t.Fatal(err)
	}
	level := map[string]bool{}
	for line := range bytes.Lines(list) {
		words := strings.Fields(string(line))
		if words[0] == "#" {
			continue
		}
		since, err := strconv.Atoi(words[len(words)-1])
		if err != nil || len(words) != 2 || since > least {
			t.Errorf("%q: want a name and a level of at most %d", line, least)
		}
		level[words[0]] = true
	}
	used := map[string]bool{}
	for _, use := range uses {
		for _, m := range use.FindAllStringSubmatch(string(out), -1) {
			used[strings.ReplaceAll(strings.ReplaceAll(m[1], "/", "."), `"`, "")+m[2]] = true
		}
	}
	if len(used) < 200 {
		t.Errorf("javap shows %d names", len(used))
	}
	var missing, idle []string
	for name := range used {
		if !level[name] {
			missing = append(missing, name)
		}
	}
	for name := range level {
		if !used[name] {
			idle = append(idle, name)
		}
	}
	slices.Sort(missing)
	slices.Sort(idle)
	if len(missing)+len(idle) > 0 {
		t.Errorf("java/android.txt lacks:\n%s\nand has what is not used:\n%s", strings.Join(missing, "\n"), strings.Join(idle, "\n"))
	}
}

// TestJavaSlots: of any three epochs in a row one is this ledger's; Go reads the slot that Java drew, and repeats and goes
// on as Java would; a torn slot is none.
func TestJavaSlots(t *testing.T) {
	classes := javaClasses(t)
	text, _ := example(t)
	text = strings.NewReplacer(`"wpm-policy-1"`, `"wpm-policy-3"`, `"work_limit_ms":0,`,
		`"work_limit_ms":0,`+"\n"+`"schedule":{"epochs":"month","first":"2025-01","last":null,"period":3},`,
		`["3","3","3"]`, `"3"`, `["8","8","8"]`, `"8"`).Replace(text)
	p, err := policy.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, path := filepath.Join(dir, "policy.json"), filepath.Join(dir, "ledger")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	draw := func(epoch string) string {
		cmd := exec.Command("java", "-cp", classes, "wpm.Hold", path, file, epoch)
		cmd.Stdin = strings.NewReader("home,2\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	months := []string{"2025-01", "2025-02", "2025-03", "2025-04", "2025-05", "2025-06"}
	var own []int
	for n, m := range months {
		if said := draw(m); len(said) == 80 {
			own = append(own, n)
		} else if said != "silent" {
			t.Fatalf("Java says %q in %s", said, m)
		}
	}
	if len(own) != 2 || own[1] != own[0]+3 {
		t.Fatalf("Java released in the months %v, want two that are three apart", own)
	}
	if said := draw("2025-01"); own[0] > 0 && said != "EPOCH" {
		t.Errorf("an epoch before the last gives %q", said)
	}
	if said := draw("2999-01"); said != "EPOCH" {
		t.Errorf("an epoch of the future gives %q", said)
	}
	for n := 6; n < 12; n++ {
		epoch := []string{"2025-07", "2025-08", "2025-09", "2025-10", "2025-11", "2025-12"}[n-6]
		l, err := ledger.Open(path, ledger.Options{Epoch: epoch, Budget: "100"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = policy.Release(context.Background(), p, l, []byte("home,1\n"), nil)
		var silent *ledger.SilentError
		if mine := n%3 == own[0]; mine && err != nil || !mine && !errors.As(err, &silent) {
			t.Errorf("Go in %s, of slot %d: %v", epoch, own[0], err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if said := draw(months[own[1]]); len(said) != 80 {
		t.Errorf("Java does not repeat a report: %q", said)
	}
}

// Errors in Java, and the groups of which at least one must fail.
var inJava = []plant{
	{"takes e^eps from doubles", "Epsilon.java", "for (int precision = 256;; precision *= 2) {",
		"for (int precision = 256;; precision *= 2) {\n      if (lo > 0) return hi <= lo * Math.exp(n.doubleValue() / d.doubleValue());",
		[]string{"vectors/verify"}},
	{"forgets that upper bounds may be too little", "Box.java", "room == all", "true", []string{"vectors/verify"}},
	{"draws one index too low", "Box.java", "(sum - r - 1) >>> 63; // 1", "(sum - r) >>> 63; // 1", []string{"vectors/sample"}},
	{"accepts every spelling of epsilon", "Policy.java", "e.toString().equals(s)", "true", []string{"vectors/release, policy"}},
	{"reads numbers that wrap", "Scanner.java", "if (v <= MOST / 10) v =", "if (b != null) v =", []string{"vectors/release, policy"}},
	{"accepts labels twice", "Policy.java", "seen.add(s)", "seen.add(s) || true", []string{"vectors/release, policy"}},
	{"keeps the last count of a label only", "Private.java", "counts[input] += count", "counts[input] = count",
		[]string{"vectors/release, draw"}},
	{"takes two users for one", "Private.java", "if (from < 0 || !isUser())", "if (from < 0 || size > MAX_USER)",
		[]string{"vectors/release, draw"}},
	{"ignores the checksum of gzip", "Private.java", "Box.word(b, i, 4) != crc.getValue()", "false", []string{"vectors/release, draw"}},
	{"breaks ties of keys the other way", "Geometry.java", "(long) (j - t) >> 63", "(long) (t - j) >> 63",
		[]string{"vectors/release, draw"}},
	{"gives the colour's bits from the other end", "Codes.java", "word = word << 8 | (", "word = word >>> 8 | (long) (",
		[]string{"vectors/release, policy", "vectors/release, draw"}},
	{"skips the chain of hashes", "Ledger.java", "Hex.of(chain).equals(line.substring(cut + 1))", "true", []string{"vectors/ledger"}},
	{"forgets what a torn line is charged", "Ledger.java", "spent = spent.plus(charge());\n    always = always.plus(charge());", "",
		[]string{"vectors/ledger"}},
	{"draws before the debit is stored", "Ledger.java", "    write((inTurn ?", "    byte[] early = draw.report();\n    write((inTurn ?",
		[]string{"vectors/ledger"}},
	{"forgets the budget of a window", "Ledger.java", "held.plus(price).compareTo(room) <= 0", "price.compareTo(room) <= 0",
		[]string{"vectors/schedule", "vectors/ledger"}},
	{"goes back in time", "Ledger.java", "n >= latest.getOrDefault(s.form, Long.MIN_VALUE)", "true", []string{"vectors/schedule"}},
	{"takes the lock of a program that lives", "Lock.java", "words[1].equals(namespace) && processes", "words[1].equals(namespace) || processes",
		[]string{"vectors/ledger"}},
	{"takes S above the order", "Ed25519.java", "s.compareTo(ORDER) >= 0", "false", []string{"vectors/schedule"}},
	{"has a week 53 in every year", "Schedule.java", "week > weeks", "week > 53", []string{"vectors/schedule"}},
}

// TestJavaPlants: copies of the library with planted errors fail where they must. Only the file with the error is compiled
// again, before the classes of the others on the class path; the same file without an error passes. By itself the test
// plants one error in each group.
func TestJavaPlants(t *testing.T) {
	classes := javaClasses(t)
	tried := map[string]bool{}
	for _, p := range inJava {
		if tried[p.groups[0]] && !numtest.Full() {
			continue
		}
		tried[p.groups[0]] = true
		t.Run(p.name, func(t *testing.T) {
			if !found(t, javaWith(t, classes, p), p) {
				t.Errorf("passes %q", p.groups)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		p := plant{file: "Box.java", groups: slices.Sorted(maps.Keys(tried))}
		if found(t, javaWith(t, classes, p), p) {
			t.Errorf("one of %q fails without an error", p.groups)
		}
	})
}

// javaWith compiles a file of the library with an error in it, and returns how to start the client that has it. A plant
// whose right text is empty changes nothing.
func javaWith(t *testing.T, classes string, p plant) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../java/src/wpm", p.file))
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if n := strings.Count(string(text), p.right); p.right != "" && n != 1 {
		t.Fatalf("%s has %q %d times, want once", p.file, p.right, n)
	} else if p.right != "" {
		text = []byte(strings.Replace(string(text), p.right, p.wrong, 1))
	}
	file := filepath.Join(out, p.file)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	javac := exec.Command("javac", "-J-XX:TieredStopAtLevel=1", "--release", "11", "-encoding", "UTF-8", "-implicit:none",
		"-cp", classes, "-d", out, file)
	if said, err := javac.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return []string{"java", "-Xmx1g", "-cp", out + string(os.PathListSeparator) + classes, "wpm.Client"}
}
