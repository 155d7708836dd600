package device

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// encoded is a policy of three places at an eps; a projection policy has rows as well.
func encoded(t testing.TB, eps string, mode policy.Mode) []byte {
	t.Helper()
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(e, []float64{0.25, 0.25, 0.25}, 20)
	if err != nil {
		t.Fatal(err)
	}
	cfg := policy.Config{
		Polytope: box, Mode: mode, InputLabels: []string{"home", "work", "gym"},
		OutputLabels: []string{"home", "work", "gym"},
		Provenance:   policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.Unstated, Note: "test"},
		Metadata:     map[string]string{"title": "three places"},
	}
	for i := range 3 {
		q := []float64{0, 0, 0}
		q[i] = 1
		row, err := policy.NewRow(box, box.Round(q))
		if err != nil {
			t.Fatal(err)
		}
		cfg.Rows = append(cfg.Rows, row)
	}
	p, err := policy.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	text, err := policy.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// folder has what a device has: policies, counts, a ledger that has paid once.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	good := encoded(t, "1", policy.Mixture)
	for name, data := range map[string][]byte{
		"p": good, "weak": encoded(t, "9", policy.Mixture), "projection": encoded(t, "1", policy.Projection),
		"false": bytes.Replace(good, []byte(`"epsilon":"1"`), []byte(`"epsilon":"0.9"`), 1), "junk": []byte("{}"),
		"counts": []byte("home,3\nwork,1\n"), "bad": []byte("home,3\nwrok,1\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errs := try(t, dir, "", "release", "-ledger", "ledger", "-budget", "3", "-epoch", "old", "p",
		"counts"); status != Yes {
		t.Fatal(errs)
	}
	return dir
}

var paths = regexp.MustCompile(`^(p|weak|projection|false|junk|counts|bad|ledger|new|out|missing|link|torn|year|half)$`)

// try runs a program of all commands on files of the folder.
func try(t testing.TB, dir, stdin string, args ...string) (status int, out, errs string) {
	t.Helper()
	args = slices.Clone(args)
	for i, a := range args {
		if i > 0 && paths.MatchString(a) {
			args[i] = filepath.Join(dir, a)
		}
	}
	var stdout, stderr bytes.Buffer
	e := &Env{Program: "prog", In: strings.NewReader(stdin), Out: &stdout, Err: &stderr}
	status = Run(context.Background(), e, []*Command{
		VerifyCommand(e), CheckCommand(e), ReleaseCommand(e), LedgerCommand(e), VersionCommand(e),
	}, args)
	return status, stdout.String(), stderr.String()
}

// TestCommands: status, output and error of each command, and that an error is one line.
func TestCommands(t *testing.T) {
	dir := folder(t)
	const pay = "-ledger new -budget 3 -epoch a "
	for _, test := range []struct {
		args, in string
		status   int
		want     string // in output and error together
	}{
		{"verify p", "", Yes, "verified: eps = 1 for 3 inputs and 3 outputs, exact in units of 2^-20\n"},
		{"verify p", "", Yes, "\ncost: not loaded\n"},
		{"verify p", "", Yes, "base measure unstated; \"test\"\n  \"title\": \"three places\"\n"},
		{"verify -json p", "", Yes, `"cost": "not loaded"`},
		{"verify projection", "", Yes, "mode projection"},
		{"verify weak", "", Yes, "prog: warning: eps = 9 protects little"},
		{"verify -max-eps 8 weak", "", No, "eps = 9 is above 8"},
		{"verify weak -max-eps 9", "", Yes, "verified"},
		{"verify -max-eps x p", "", Bad, "-max-eps"},
		{"verify -policy-id " + strings.Repeat("0", 64) + " p", "", No, "as -policy-id asks"},
		{"verify -policy-id 0 p", "", Bad, "64 hexadecimal digits"},
		{"verify -privacy-only p", "", Yes, "verified"},
		{"verify -privacy-only false", "", No, "false"},
		{"verify false", "", No, "false"},
		{"verify -json false", "", No, `"verified": false`},
		{"verify junk", "", Bad, "junk"},
		{"verify missing", "", Bad, "missing"},
		{"verify", "", Bad, "needs a policy file; try: prog verify policy.json"},
		{"verify p p", "", Bad, "given twice"},
		{"verify p missing p", "", Bad, "given twice"},
		{"verify -json -json p", "", Bad, "given twice"},
		{"verify -nothing p", "", Bad, "-nothing; see \"prog verify -help\""},
		{"verify -jsno p", "", Bad, "did you mean \"json\"?"},
		{"verify missing", "", Bad, "how to make a policy"},
		{"verify -quiet weak", "", Yes, "verified"},
		{"-q verify weak", "", Yes, "verified"},
		{"-quiet", "", Yes, "Exit status"},
		{"verify -help", "", Yes, "-policy-id HEX"},
		{"verify -", string(encoded(t, "1", policy.Mixture)), Yes, "verified"},

		{"check p counts", "", Yes, "usable\n"},
		{"check p", "gym,1\n", Yes, "usable\n"},
		{"check p bad", "", No, "line 2"},
		{"check p missing", "", Bad, "missing"},
		{"check projection counts", "", No, "needs a solver"},
		{"check -policy-id " + strings.Repeat("0", 64) + " p counts", "", No, "-policy-id"},
		{"check - -", "", Bad, "standard input"},

		{"release -check p counts", "", Yes, "usable\n"},
		{"release -check p bad", "", No, "public fallback"},
		{"release -check counts p", "", Bad, "p is a policy, and the order is release -check POLICY COUNTS"},
		{"check counts p", "", Bad, "p is a policy, and the order is check POLICY COUNTS"},
		{"check junk", "gym,1\n", Bad, "junk"},
		{"release -help", "", Yes, "and print nothing"},
		{"release -check= p", "", Bad, "-check"},       // which is not a release
		{"release -check=counts p", "", Bad, "-check"}, // nor is what named the counts once
		{"release p counts", "", Bad, "-ledger"},
		{"release -ledger new p counts", "", Bad, "-epoch"},
		{"release -ledger new -epoch a p counts", "", Bad, "add -budget EPS to make it, 1 for one release"},
		{"release -ledger new -epoch a -budget 1/2 p counts", "", Bad, "1/2"},
		{"release -ledger new -epoch a -budget 1e999999999 p counts", "", Bad, "1e999999999"},
		{"release -ledger - -budget 3 -epoch a p counts", "", Bad, "./-"},
		{"release " + pay + "-o= p missing", "", Bad, "the name is empty"}, // and not "missing": before the ledger is made
		{"release " + pay + "-o . p counts", "", Bad, "it is a folder"},
		{"release " + pay + "-o nowhere/x p counts", "", Bad, "no such file"},
		{"release " + pay + "-wait -1s p counts", "", Bad, "-wait"},
		{"release " + pay + "-wait x p counts", "", Bad, "-wait"},
		{"release " + pay + "projection counts", "", No, "needs a solver"},
		{"release " + pay + "false counts", "", Bad, "false"},
		{"release " + pay + "-max-eps 0.5 p counts", "", No, "-max-eps"},
		{"release " + pay + "-o p p counts", "", Bad, "written over"},
		{"release " + pay + "-o new p counts", "", Bad, "written over"},
		{"release " + pay + "-o out -out out p counts", "", Bad, "given twice"},
		{"release " + pay + "p missing", "", Bad, "missing"},
		{"release -ledger ledger -epoch old -budget 4 p counts", "", Bad, "ledger was made with 3"},
		{"release -ledger junk -epoch old p counts", "", Bad, "junk"},
		{"release -ledger junk -epoch old p missing", "", Bad, "junk"}, // the ledger is opened before the counts
		{"release p counts counts", "", Bad, "at most one"},

		{"ledger ledger", "", Yes, "budget 3, spent 1, left 2\n"},
		{"ledger -json ledger", "", Yes, `"left": "2"`},
		{"ledger junk", "", No, "junk"},
		{"ledger missing", "", Bad, "missing"},
		{"ledger", "", Bad, "one ledger file"},

		{"version", "", Yes, runtime.Version()},
		{"version x", "", Bad, "no arguments"},
		{"", "", Yes, "prog release"},
		{"help", "", Yes, "prog ledger"},
		{"nonsense", "", Bad, `unknown command "nonsense"; see "prog help"`},
		{"relase", "", Bad, `did you mean "release"?`},
	} {
		status, out, errs := try(t, dir, test.in, strings.Fields(test.args)...)
		if status != test.status || !strings.Contains(out+errs, test.want) {
			t.Errorf("%s: status %d, output %q, error %q, want %d, %q", test.args, status, out, errs, test.status, test.want)
		}
		if failure := status != Yes && !strings.Contains(test.args, "-json"); failure &&
			(out != "" || strings.Count(errs, "\n") > 3) {
			t.Errorf("%s: output %q, error %q", test.args, out, errs)
		}
		if strings.Contains(errs, dir+": "+dir) || strings.Count(errs, filepath.Join(dir, "ledger")) > 1 {
			t.Errorf("%s: a doubled name: %q", test.args, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
			t.Fatalf("%s wrote a report", test.args)
		}
		// What fails before the debit makes no ledger; what fails at the counts has made one and paid nothing.
		if data, err := os.ReadFile(filepath.Join(dir, "new")); err == nil &&
			(!strings.Contains(test.args, "missing") || bytes.Contains(data, []byte("debit"))) {
			t.Errorf("%s: a ledger %q", test.args, data)
		}
		_ = os.Remove(filepath.Join(dir, "new"))
	}
}

// TestVersionHelp: a command without flags and arguments has no line for them.
func TestVersionHelp(t *testing.T) {
	if _, out, _ := try(t, t.TempDir(), "", "version", "-help"); !strings.HasSuffix(out, "Go version\n") {
		t.Errorf("%q", out)
	}
}

// TestVerifySeveral: each policy has its verdict whatever the others are, and the worst of them is the exit status.
func TestVerifySeveral(t *testing.T) {
	dir := folder(t)
	for _, test := range []struct {
		args           string
		status         int
		verified, errs int
		last           string // what the last error says
	}{
		{"p weak", Yes, 2, 0, ""},
		{"-max-eps 8 p weak projection", No, 2, 2, "1 of 3 policies are refused"},
		{"p false junk weak", Bad, 2, 3, "1 of 4 policies cannot be read, 1 are refused"},
		{"missing p", Bad, 1, 2, "1 of 2 policies cannot be read"},
	} {
		status, out, errs := try(t, dir, "", append([]string{"verify", "-quiet"}, strings.Fields(test.args)...)...)
		if n := strings.Count(out, ": verified: eps"); status != test.status || n != test.verified {
			t.Errorf("%s: status %d, %d verified:\n%s", test.args, status, n, out)
		}
		if n := strings.Count(out, "not verified\n"); n != max(0, test.errs-1) {
			t.Errorf("%s: %d are not verified:\n%s", test.args, n, out)
		}
		if strings.Count(errs, "\n") != test.errs || !strings.Contains(errs, test.last) {
			t.Errorf("%s: error %q", test.args, errs)
		}
		// As JSON there is an object for each, with its file.
		files := strings.Fields(strings.TrimPrefix(test.args, "-max-eps 8 "))
		jsonStatus, out, _ := try(t, dir, "", append([]string{"verify", "-json"}, strings.Fields(test.args)...)...)
		verified := 0
		for dec := json.NewDecoder(strings.NewReader(out)); dec.More(); files = files[1:] {
			var verdict struct {
				File     string
				Verified bool
			}
			if err := dec.Decode(&verdict); err != nil || verdict.File != filepath.Join(dir, files[0]) {
				t.Fatalf("%s: %v, %+v", test.args, err, verdict)
			}
			if verdict.Verified {
				verified++
			}
		}
		if len(files) != 0 || jsonStatus != test.status || verified != test.verified {
			t.Errorf("%s -json: status %d, %d verified, without %q", test.args, jsonStatus, verified, files)
		}
	}
}

// TestMeant: one slip, or a beginning, and nothing that is merely alike.
func TestMeant(t *testing.T) {
	names := []string{"verify", "check", "release", "ledger", "version", "o", "go"}
	for word, want := range map[string]string{
		"verfy": "verify", "verifyy": "verify", "vreify": "verify", "verisy": "verify", "verif": "verify", "rel": "release",
		"chekc": "check", "x": "", "e": "", "v": "", "": "", "vrefiy": "", "map": "", "ox": "", "verifyes": "", "og": "go",
	} {
		if want != "" {
			want = fmt.Sprintf(" (did you mean %q?)", want)
		}
		if got := Meant(word, names); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// TestRelease: a report of fixed length whatever the private bytes, paid once in an epoch, and the end of the budget.
func TestRelease(t *testing.T) {
	dir := folder(t)
	for i, private := range []string{"home,1\n", "", "\x00\xff", "nobody,1\n", "home,-1\n", strings.Repeat(",", 5000)} {
		args := []string{"release", "-ledger", "new", "-budget", "6", "-epoch", fmt.Sprint("e", i), "p"}
		status, out, errs := try(t, dir, private, args...)
		if status != Yes || len(out) != 81 || errs != "" {
			t.Errorf("%.10q: status %d, %q, %q", private, status, out, errs)
		}
		if _, again, _ := try(t, dir, "gym,1\n", args...); again != out {
			t.Errorf("%.10q: a second release in the epoch is %q, not %q", private, again, out)
		}
		if status, b, _ := try(t, dir, "", append(args, "-binary")...); status != Yes || len(b) != policy.ReportSize {
			t.Errorf("binary: status %d, %d bytes", status, len(b))
		}
	}
	status, out, errs := try(t, dir, "home,1\n", "release", "-ledger", "new", "-epoch", "more", "p")
	if status != No || out != "" || !strings.Contains(errs, filepath.Join(dir, "new")) ||
		!strings.Contains(errs, "budget") {
		t.Errorf("beyond the budget: %d, %q, %q", status, out, errs)
	}
	if status, out, _ := try(t, dir, "", "ledger", "new"); status != Yes || strings.Count(out, "\ne") != 6+1 ||
		!strings.Contains(out, "left 0\n") {
		t.Errorf("status %d:\n%s", status, out) // a line for each epoch, and the head
	}
	// A report that cannot be written is paid for, and the error says so.
	if _, err := os.Stat("/dev/full"); err == nil {
		status, _, errs = try(t, dir, "home,1\n", "release", "-ledger", "new", "-epoch", "e0", "-o", "/dev/full", "p")
		if status != Bad || !strings.Contains(errs, "is paid for") {
			t.Errorf("status %d, %q", status, errs)
		}
	}
}

// TestReportApartFromLedger: a report never replaces a ledger, or its lock, under whatever name, nor does it cost
// anything then.
func TestReportApartFromLedger(t *testing.T) {
	dir := folder(t)
	t.Chdir(dir)
	if err := os.Mkdir("d1", 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"d2": "d1", "alias": "d1/a", "known": "ledger"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range [][2]string{
		{"d1/b", "d2/b"}, {"d1/a", "alias"}, {"./-", "../" + filepath.Base(dir) + "/-"}, {"./-", "./-.lock"},
		{"d1/c", "d2/c.lock"}, {"known", "ledger.lock"}, {"known", "ledger"},
	} {
		old, _ := os.ReadFile(c[0])
		status, _, errs := try(t, dir, "", "release", "-ledger", c[0], "-budget", "3", "-epoch", "e", "-o", c[1], "p",
			"counts")
		if status != Bad || !strings.Contains(errs, "written over") {
			t.Errorf("%v: status %d, %s", c, status, errs)
		}
		data, err := os.ReadFile(c[0])
		if err != nil { // it was told in time
			continue
		}
		if s, err := ledger.Read(data); err != nil || !bytes.HasPrefix(data, old) ||
			s.Spent.Cmp(big.NewRat(int64(bytes.Count(old, []byte("debit"))), 1)) != 0 {
			t.Errorf("%v: %v, %+v: the ledger is lost, or has paid", c, err, s)
		}
		if l, err := ledger.Open(c[0], ledger.Options{Epoch: "e"}); err != nil {
			t.Errorf("%v: left open: %v", c, err)
		} else if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	status, _, errs := try(t, dir, "", "release", "-ledger", "new", "-budget", "3", "-epoch", "e", "-o", "counts/x", "p",
		"counts")
	if _, err := os.Stat("new"); status != Bad || !strings.Contains(errs, "cannot write") || err == nil {
		t.Errorf("a report in a file: status %d, %s, ledger: %v", status, errs, err)
	}
	if status, _, errs := try(t, dir, "", "release", "-ledger", "./-", "-budget", "3", "-epoch", "e", "-o", "-",
		"p", "counts"); status != Yes {
		t.Errorf("a ledger of the name of standard output: %s", errs)
	}
}

// TestLockApart: a release takes no file of the user's for the lock of its ledger, and none that it reads or writes has
// the place of that lock. A ledger that has the name of a lock could be lost to another.
func TestLockApart(t *testing.T) {
	dir := folder(t)
	t.Chdir(dir)
	args := []string{"release", "-ledger", "L", "-budget", "3", "-epoch", "a", "p", "counts"}
	if status, _, errs := try(t, dir, "", args...); status != Yes {
		t.Fatal(errs)
	}
	copyOf := func(from, to string) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	copyOf("counts", "x.lock")
	copyOf("p", "y.lock")
	err := errors.Join(os.WriteFile("poetry.lock", []byte("x\n"), 0o600), os.WriteFile("z.lock", nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	links := os.Symlink("x.lock", "soft") == nil && os.Link("z.lock", "hard") == nil
	for _, c := range []struct{ ledger, out, policy, counts, want string }{
		{"L.lock", "r", "p", "counts", "that of a lock"},  // its debit was lost when L was opened
		{"poetry", "r", "p", "counts", "poetry.lock"},     // a stranger's file was deleted
		{"x", "r", "p", "x.lock", "has its lock there"},   // a user's counts were deleted
		{"x", "r", "p", "./x.lock", "has its lock there"}, // by another name
		{"y", "r", "y.lock", "counts", "has its lock there"},
		{"x", "r", "p", "soft", "has its lock there"},
		{"z", "r", "p", "hard", "has its lock there"}, // an empty file may be a lock
		{"x", "x.lock", "p", "counts", "written over"},
		{"L", "L.lock", "p", "counts", "written over"},
		{"counts", "r", "p", "counts", "written over"},
		{"p", "r", "p", "counts", "written over"},
		{"x", "r", "p", "./p", "one file"},
	} {
		if !links && (c.counts == "soft" || c.counts == "hard") {
			continue
		}
		before := listing(t, dir)
		status, out, errs := try(t, dir, "", "release", "-ledger", c.ledger, "-budget", "3", "-epoch", "b", "-o", c.out,
			c.policy, c.counts)
		if status != Bad || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%+v: status %d, %q, %s", c, status, out, errs)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%+v: the folder has changed:\n%s\n%s", c, before, after)
		}
	}
}

// listing is what a folder holds.
func listing(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, e := range all {
		b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		fmt.Fprintf(&text, "%s %x\n", e.Name(), sha256.Sum256(b))
	}
	return text.String()
}

// TestReleaseInOrder: no private byte is read before the ledger is open, and a ledger is given up where the data cannot
// be read.
func TestReleaseInOrder(t *testing.T) {
	dir := folder(t)
	for i, fault := range []error{nil, errors.New("no counts")} {
		path := filepath.Join(dir, fmt.Sprint("fresh", i))
		var out, errs bytes.Buffer
		e := &Env{Program: "prog", Out: &out, Err: &errs}
		var locked error
		e.In = readerFunc(func([]byte) (int, error) {
			_, locked = ledger.Open(path, ledger.Options{Epoch: "a"})
			if fault != nil {
				return 0, fault
			}
			return 0, io.EOF
		})
		args := []string{"release", "-ledger", path, "-budget", "1", "-epoch", "a", filepath.Join(dir, "p")}
		if status := Run(t.Context(), e, []*Command{ReleaseCommand(e)}, args); (status == Yes) != (fault == nil) {
			t.Errorf("%v: status %d, %s", fault, status, errs.String())
		}
		if !errors.Is(locked, ledger.ErrLocked) {
			t.Errorf("%v: while the data are read, the ledger opens with %v", fault, locked)
		}
		l, err := ledger.Open(path, ledger.Options{Epoch: "a"})
		if err != nil {
			t.Fatalf("%v: %v", fault, err)
		}
		if want := int64(1 - i); l.Spent().Cmp(big.NewRat(want, 1)) != 0 {
			t.Errorf("%v: spent %v, want %d", fault, l.Spent(), want)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestOutputLost: no command succeeds whose words are lost.
func TestOutputLost(t *testing.T) {
	dir := folder(t)
	p, counts, paid, unpaid := filepath.Join(dir, "p"), filepath.Join(dir, "counts"), filepath.Join(dir, "ledger"),
		filepath.Join(dir, "new")
	l, err := ledger.Open(unpaid, ledger.Options{Epoch: "a", Budget: "3"})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"help"}, {"verify", "-help"}, {"verify", p}, {"verify", "-json", p}, {"check", p, counts}, {"version"},
		{"ledger", paid}, {"ledger", unpaid}, {"ledger", "-json", unpaid},
		{"release", "-ledger", paid, "-epoch", "a", p, counts},
	} {
		e := &Env{Program: "prog", In: strings.NewReader(""), Out: full{}, Err: io.Discard}
		commands := []*Command{VerifyCommand(e), CheckCommand(e), ReleaseCommand(e), LedgerCommand(e), VersionCommand(e)}
		if status := Run(t.Context(), e, commands, args); status != Bad {
			t.Errorf("%v: status %d", args, status)
		}
	}
}

// TestBudgetTooSmall: no ledger is made that could never pay, in an empty file either; one that can pay just once is.
func TestBudgetTooSmall(t *testing.T) {
	dir := folder(t)
	empty := filepath.Join(dir, "new")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		budget string
		status int
	}{{"999/1000", Bad}, {"0.5", Bad}, {"1.0", Yes}} {
		status, _, errs := try(t, dir, "", "release", "-ledger", "new", "-budget", c.budget, "-epoch", "a", "p", "counts")
		info, err := os.Stat(empty)
		if status != c.status || err != nil || (info.Size() > 0) != (status == Yes) {
			t.Errorf("-budget %s: status %d, %s; a ledger of %v bytes, %v", c.budget, status, errs, info.Size(), err)
		}
	}
}

// TestBudgetForms: a budget is compared with the cost of a release if it is a decimal or a fraction of at most 100
// characters, before a ledger is made. What is no such number is the ledger's to refuse.
func TestBudgetForms(t *testing.T) {
	dir := folder(t)
	for _, c := range []struct {
		budget string
		less   bool
	}{
		{"0." + strings.Repeat("0", 97) + "1", true},
		{"1e-3", false},
		{"0x1/2", false},
	} {
		status, _, errs := try(t, dir, "", "release", "-ledger", "new", "-budget", c.budget, "-epoch", "a", "p", "counts")
		if status != Bad || strings.Contains(errs, "is less than the 1") != c.less {
			t.Errorf("-budget %s: status %d, %s", c.budget, status, errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "new")); err == nil {
			t.Fatalf("-budget %s: a ledger was made", c.budget)
		}
	}
}

// TestNoLedgerNoLock: without a ledger in a file there is no lock that an input could be.
func TestNoLedgerNoLock(t *testing.T) {
	dir := folder(t)
	t.Chdir(dir)
	for _, name := range []string{".lock", "-.lock"} {
		if err := os.WriteFile(name, []byte("home,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, errs := try(t, dir, "", "release", "-check", "p", "./"+name); status != Yes || out != "usable\n" {
			t.Errorf("%s: status %d, %s", name, status, errs)
		}
	}
	status, _, errs := try(t, dir, "", "release", "-ledger", "-", "-budget", "3", "-epoch", "a", "p", "./-.lock")
	if status != Bad || !strings.Contains(errs, `"-" is no file`) {
		t.Errorf("status %d, %s", status, errs)
	}
}

// TestSwappedOnDisk: that the counts are a policy is said by a command that draws nothing, about a file, and of a policy
// that cannot be read.
func TestSwappedOnDisk(t *testing.T) {
	dir := folder(t)
	p := string(encoded(t, "1", policy.Mixture))
	for _, args := range []string{"check junk", "check -max-eps 0.5 weak p", "release -ledger new -budget 3 -epoch a counts p"} {
		if status, _, errs := try(t, dir, p, strings.Fields(args)...); status == Yes || strings.Contains(errs, "is a policy") {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestStandardInputIsRead: counts from standard input are read to their end, by a release that repeats a report, too:
// whoever writes them sees no difference.
func TestStandardInputIsRead(t *testing.T) {
	dir := folder(t)
	for _, name := range []string{"first", "again"} {
		in := strings.NewReader("home,1\n")
		e := &Env{Program: "prog", In: in, Out: io.Discard, Err: io.Discard}
		args := []string{"release", "-ledger", filepath.Join(dir, "new"), "-budget", "1", "-epoch", "a", filepath.Join(dir, "p")}
		if status := Run(t.Context(), e, []*Command{ReleaseCommand(e)}, args); status != Yes || in.Len() > 0 {
			t.Errorf("%s: status %d, %d bytes are left", name, status, in.Len())
		}
	}
}

// TestReadPrivate: one byte more than policy accepts is read, so that it is seen to be too long, and no more.
func TestReadPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counts")
	for size, want := range map[int64]int{private.MaxBytes: private.MaxBytes, private.MaxBytes + 9: private.MaxBytes + 1} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		if data, err := readPrivate(path, nil); err != nil || len(data) != want {
			t.Errorf("of %d bytes: %d, %v, want %d", size, len(data), err, want)
		}
	}
}

// TestWait: a release waits for a ledger that is in use, as long as it is told, and by default not at all.
func TestWait(t *testing.T) {
	dir := folder(t)
	l, err := ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Epoch: "other"})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"release", "-ledger", "ledger", "-epoch", "old", "p", "counts"}
	for _, wait := range []string{"0s", "30ms"} {
		if status, _, errs := try(t, dir, "", append(args, "-wait", wait)...); status != Bad ||
			!strings.Contains(errs, "in use") || !strings.Contains(errs, "ledger.lock") || !strings.Contains(errs, "-wait") {
			t.Errorf("-wait %s: status %d, %q", wait, status, errs)
		}
	}
	var free sync.WaitGroup
	free.Add(1)
	time.AfterFunc(50*time.Millisecond, func() { defer free.Done(); _ = l.Close() })
	if status, out, errs := try(t, dir, "", append(args, "-wait", "10m")...); status != Yes || len(out) != 81 {
		t.Errorf("status %d, %q", status, errs)
	}
	free.Wait()
	// An interrupt ends the wait.
	if l, err = ledger.Open(filepath.Join(dir, "ledger"), ledger.Options{Epoch: "other"}); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	e := &Env{Program: "prog", In: strings.NewReader(""), Out: new(bytes.Buffer), Err: new(bytes.Buffer)}
	full := []string{"release", "-wait", "10m", "-ledger", filepath.Join(dir, "ledger"), "-epoch", "old",
		filepath.Join(dir, "p"), filepath.Join(dir, "counts")}
	if status := Run(ctx, e, []*Command{ReleaseCommand(e)}, full); status != Interrupted {
		t.Errorf("interrupted: status %d", status)
	}
}

// TestLedger: the command prints what policy reads, as text and as JSON, and refuses what is too long.
func TestLedger(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "ledger")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Decode(encoded(t, "1", policy.Mixture))
	if err != nil {
		t.Fatal(err)
	}
	const missing = "the last line is incomplete: a release is under way, or one broke off\n"
	for _, c := range []struct{ more, want string }{
		{"", fmt.Sprintf("budget 3, spent 1, left 2\n\nepoch  spent  report  policy\nold    1      yes     %x\n", p.ID())},
		{"debit 1/2 ", fmt.Sprintf("budget 3, spent 3/2, left 3/2\nof that, 1/2 for writes that broke off\n"+missing+
			"\nepoch  spent  report  policy\nold    1      yes     %x\n", p.ID())},
	} {
		if err := os.WriteFile(path, append(bytes.Clone(data), c.more...), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, out, errs := try(t, dir, "", "ledger", "ledger"); status != Yes || out != c.want {
			t.Errorf("%q: status %d, %s, %s, want\n%s", c.more, status, out, errs, c.want)
		}
	}
	_, out, _ := try(t, dir, "", "ledger", "-json", "ledger")
	var got, want any
	text := fmt.Sprintf(`{"budget":"3","spent":"3/2","left":"3/2","torn":"1/2","incomplete":true,
		"entries":[{"policy":"%x","epoch":"old","spent":"1","debits":1,"reported":true}]}`, p.ID())
	if err := errors.Join(json.Unmarshal([]byte(out), &got), json.Unmarshal([]byte(text), &want)); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("%s, %v, want %s", out, err, text)
	}
	if err := os.Truncate(path, maxLedger+1); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := try(t, dir, "", "ledger", "ledger"); status != Bad || !strings.Contains(errs, "more than") {
		t.Errorf("a long file: status %d, %s", status, errs)
	}
	if err := os.Truncate(path, maxLedger); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := try(t, dir, "", "ledger", "ledger"); status != Yes || strings.Contains(errs, "more than") {
		t.Errorf("the longest file that is read: status %d, %.200s", status, errs)
	}
	l, err := ledger.Open(filepath.Join(dir, "new"), ledger.Options{Epoch: "a", Budget: "3"})
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := try(t, dir, "", "ledger", "new"); status != Yes || out != "budget 3, spent 0, left 3\n" {
		t.Errorf("a ledger that has paid nothing: status %d, %q, %s", status, out, errs)
	}
}

// TestVerifyJSON: every member of the verdict.
func TestVerifyJSON(t *testing.T) {
	dir := folder(t)
	_, out, _ := try(t, dir, "", "verify", "-json", "p")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"verified", "id", "epsilon", "bits", "meaning", "geometry", "base_measure", "note",
		"metadata", "inputs", "outputs", "mode", "cost"} {
		if got[name] == nil {
			t.Errorf("no member %q in\n%s", name, out)
		}
	}
}

// golden is the text of verify for a policy that never changes.
const golden = `verified: eps = 1 for 3 inputs and 3 outputs, exact in units of 2^-20
in words: from one report, an observer's odds between any two clients change by at most a factor 2.72; a guess that starts even ends at most 73.11 % sure
mode mixture, sha256 HASH
the publisher states: geometry public; base measure unstated; "test"
  "title": "three places"
cost: not loaded
`

// TestVerifyWarnsOfFormulas: wpm-device warns, too, once for several policies each.
func TestVerifyWarnsOfFormulas(t *testing.T) {
	dir := folder(t)
	text := bytes.ReplaceAll(encoded(t, "1", policy.Mixture), []byte(`"home"`), []byte(`"=1+2"`))
	if err := os.WriteFile(filepath.Join(dir, "new"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errs := try(t, dir, "", "verify", "new", "p")
	if want := `labels that a spreadsheet takes for formulas: 1, the first is "=1+2"`; status != Yes || strings.Count(errs, want) != 1 ||
		strings.Count(errs, "spreadsheet") != 1 {
		t.Errorf("status %d, %s", status, errs)
	}
}

func TestVerifyGolden(t *testing.T) {
	dir := folder(t)
	_, out, _ := try(t, dir, "", "verify", "p")
	if got := regexp.MustCompile("[0-9a-f]{64}").ReplaceAllString(out, "HASH"); got != golden {
		t.Errorf("%s\nwant\n%s", got, golden)
	}
}

// FuzzPolicy: whatever a policy file holds, verify has one of three statuses, release writes a report or one line, and
// a policy that is not verified is not released.
func FuzzPolicy(f *testing.F) {
	good := encoded(f, "1", policy.Mixture)
	f.Add(good)
	f.Add(encoded(f, "1", policy.Projection))
	f.Add(good[:len(good)/2])
	f.Add(bytes.Replace(good, []byte(`"bits":20`), []byte(`"bits":19`), 1))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		verified, _, errs := try(t, dir, "", "verify", "p")
		if verified != Yes && verified != No && verified != Bad {
			t.Fatalf("status %d, %s", verified, errs)
		}
		status, out, errs := try(t, dir, "home,1\n", "release", "-ledger", "new", "-budget", "100", "-epoch", "e", "p")
		switch {
		case status == Yes && (verified != Yes || len(out) != 81 || errs != ""):
			t.Fatalf("a policy of status %d is released: %q, %q", verified, out, errs)
		case status != Yes && (out != "" || strings.Count(errs, "\n") != 1):
			t.Fatalf("status %d: %q, %q", status, out, errs)
		}
	})
}

// TestVersionText holds what version prints of a build in a checkout, of a module version, and of neither.
func TestVersionText(t *testing.T) {
	const full = "38db6a92866082c462565a43d742209282bd6b0a"
	setting := func(pairs ...string) (all []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return all
	}
	for _, test := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"", nil, "(unknown), commit (unknown: built outside a checkout)"},
		{"(devel)", nil, "(devel), commit (unknown: built outside a checkout)"},
		{"v1.2.3", nil, "v1.2.3, commit (unknown: built outside a checkout)"},
		{"v1.2.3", setting("vcs.revision", full, "vcs.modified", "false"), "v1.2.3, commit " + full},
		{"v0.0.0-20261122124454-38db6a928660", nil, "v0.0.0-20261122124454-38db6a928660, commit 38db6a928660"},
		{"v1.2.4-0.20261122124454-38db6a928660", nil, "v1.2.4-0.20261122124454-38db6a928660, commit 38db6a928660"},
		{"v1.2.4-0.20261122124454-38db6a928660+dirty", setting("vcs.modified", "true", "vcs.revision", full),
			"v1.2.4-0.20261122124454-38db6a928660+dirty, commit " + full + " (modified)"},
	} {
		got := versionText(&debug.BuildInfo{Main: debug.Module{Version: test.version}, Settings: test.settings})
		if want := test.want + ", " + runtime.Version(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
