package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	someBoot = "2f6b2f0c-8d5e-4b0a-9a37-3d1f2e4c5b6a"
	someNS   = "4026531836"
)

// TestJudge is the whole decision: what is found at the name of a lock, and what is known of processes.
func TestJudge(t *testing.T) {
	me := owner{someBoot, someNS, "100", "5000"}
	processes := map[string]string{"100": "5000", "7": "70", "8": gone, "9": unknown}
	start := func(pid string) string {
		if s, ok := processes[pid]; ok {
			return s
		}
		return gone
	}
	file := func(text string) found { return found{kind: isFile, text: text} }
	held := func(text string) found { return found{kind: isFile, text: text, held: true} }
	folder := func(names ...string) found { return found{kind: isFolder, names: names} }
	name := func(word ...string) string { return strings.Join(word, "_") }
	for _, c := range []struct {
		what string
		f    found
		want string
	}{
		{"nothing", found{kind: isAbsent}, free},
		{"a link, a pipe or a device", found{kind: isOther}, refused},

		{"an empty file", file(""), takeOver},
		{"a line", file("wpm-lock-1 " + someBoot + " 1 2 3\n"), takeOver},
		{"a line of one who lives", file(owner{someBoot, someNS, "7", "70"}.line()), takeOver}, // nobody has it in the kernel
		{"a line without words that are known", file("wpm-lock-1 - - - -\n"), takeOver},
		{"a beginning", file("wpm-lo"), takeOver},
		{"a beginning after a space", file("wpm-lock-1 - "), takeOver},
		{"a line without its end", file("wpm-lock-1 - - 1 -"), takeOver},
		{"an empty file that is held", held(""), locked},
		{"a line that is held", held("wpm-lock-1 - - 1 -\n"), locked},
		{"a text", file("x\n"), refused},
		{"a text that is held", held("x\n"), refused},
		{"a line end", file("\n"), refused},
		{"a line and more", file("wpm-lock-1 - - 1 -\n\n"), refused},
		{"two lines", file("wpm-lock-1 - - 1 -\nwpm-lock-1 - - 1 -\n"), refused},
		{"a fifth word", file("wpm-lock-1 - - 1 - -\n"), refused},
		{"a space at the end", file("wpm-lock-1 - - 1 - "), refused},
		{"a short line", file("wpm-lock-1 - - 1\n"), refused},
		{"the mark alone", file("wpm-lock-1\n"), refused},
		{"two spaces", file("wpm-lock-1  - 1 -\n"), refused},
		{"an empty last word", file("wpm-lock-1 - - 1 \n"), refused},
		{"carriage return", file("wpm-lock-1 - - 1 -\r\n"), refused},
		{"capitals", file("wpm-lock-1 ABC - 1 -\n"), refused},
		{"a signed number", file("wpm-lock-1 - - -1 -\n"), refused},
		{"a long number", file("wpm-lock-1 - - " + strings.Repeat("1", 21) + " -\n"), refused},
		{"a long boot", file("wpm-lock-1 " + strings.Repeat("a", 37) + " - 1 -\n"), refused},
		{"another version", file("wpm-lock-2 - - 1 -\n"), refused},
		{"another beginning", file("wpm-ledger-1 "), refused},
		{"the beginning of a ledger", file("wpm-l"), takeOver}, // no ledger is called so, and nothing is paid yet
		{"zeros", file("\x00\x00"), refused},

		{"one who has ended", folder(name(someBoot, someNS, "8", "80")), takeOver},
		{"one who was never there", folder(name(someBoot, someNS, "4242", "1")), takeOver},
		{"one whose number is another's now", folder(name(someBoot, someNS, "7", "69")), takeOver},
		{"one who lives", folder(name(someBoot, someNS, "7", "70")), locked},
		{"this process", folder(me.name()), locked},
		{"one of whom nothing is known", folder(name(someBoot, someNS, "9", "90")), locked},
		{"another boot", folder(name("3"+someBoot[1:], someNS, "8", "80")), locked},
		{"another namespace", folder(name(someBoot, "4026532500", "8", "80")), locked},
		{"no boot", folder(name("-", someNS, "8", "80")), locked},
		{"no namespace", folder(name(someBoot, "-", "8", "80")), locked},
		{"no number", folder(name(someBoot, someNS, "-", "80")), locked},
		{"no start", folder(name(someBoot, someNS, "8", "-")), locked},
		{"an empty folder", folder(), locked},
		{"two entries", folder(name(someBoot, someNS, "8", "80"), "x"), locked},
		{"an entry of somebody's", folder("x"), locked},
		{"three words", folder(name(someBoot, someNS, "8")), locked},
		{"five words", folder(name(someBoot, someNS, "8", "80", "1")), locked},
		{"an empty word", folder(name(someBoot, someNS, "8", "")), locked},
	} {
		if got := judge(c.f, me, start); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	// Who does not know its own boot and namespace takes nothing over.
	nobody := owner{unknown, unknown, "100", unknown}
	for _, n := range []string{nobody.name(), name(someBoot, someNS, "8", "80"), name("-", "-", "8", "-")} {
		if got := judge(folder(n), nobody, start); got != locked {
			t.Errorf("%s for one who knows nothing: %q", n, got)
		}
	}
}

// Each beginning of a line is a lock that was not written to its end, and no change of one byte of a line is a lock but
// a change of a word.
func TestBeginsLock(t *testing.T) {
	for _, o := range []owner{{someBoot, someNS, "100", "5000"}, {unknown, unknown, "1", unknown}, self()} {
		line := o.line()
		for n := range len(line) + 1 {
			if !beginsLock(line[:n]) {
				t.Errorf("%q is refused", line[:n])
			}
			if n < len(line) && beginsLock(line[:n]+"!"+line[n:]) {
				t.Errorf("%q and then a stranger's byte is accepted", line[:n])
			}
		}
		if got, ok := parseOwner(o.name()); !ok || got != o {
			t.Errorf("%q is read as %q, %v", o.name(), got, ok)
		}
	}
}

// within fails a test that hangs.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s: hangs", what)
	}
}

// stranger is something in the place of a lock.
type stranger struct {
	name string
	make func(path string) error
	want error
}

func strangers() []stranger {
	write := func(text string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	return []stranger{
		{"a text", write("x\n"), ErrUnusable},
		{"a ledger", write("wpm-ledger-1 3/2 547d3da48aaf171bc382e47b799b3a4d0e758ad93e6b6b62a8e371d1b50c75eb\n"), ErrUnusable},
		{"counts", write("home,1\n"), ErrUnusable},
		{"a line with a tail", write("wpm-lock-1 - - 1 -\n#"), ErrUnusable},
		{"a long line", write("wpm-lock-1 " + strings.Repeat("-", 1<<16)), ErrUnusable},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, ErrLocked},
		{"a folder with a file", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), write("mine")(filepath.Join(path, "mine")))
		}, ErrLocked},
		{"a folder of another boot", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), write("")(filepath.Join(path, someBoot+"_1_2_3")))
		}, ErrLocked},
		{"a folder of nobody known", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), write("")(filepath.Join(path, "-_-_2_-")))
		}, ErrLocked},
		{"a link to nothing", func(path string) error { return os.Symlink("nothing", path) }, ErrUnusable},
		{"a link to a file", func(path string) error {
			return errors.Join(write("")(path+"2"), os.Symlink(path+"2", path))
		}, ErrUnusable},
	}
}

// What is no lock, or may be another's, is refused with its name and left as it is, and nothing waits for it.
func TestStrangersAtALock(t *testing.T) { refusesAll(t, strangers()) }

func refusesAll(t *testing.T, all []stranger) {
	t.Helper()
	for _, s := range all {
		path := filepath.Join(t.TempDir(), "ledger")
		at := path + ".lock"
		if err := s.make(at); err != nil {
			t.Logf("%s: not here: %v", s.name, err)
			continue
		}
		before := listing(t, filepath.Dir(at))
		within(t, s.name, func() {
			l, err := Open(path, Options{Epoch: "e", Budget: "1", Wait: time.Millisecond})
			if !errors.Is(err, s.want) || s.want == ErrUnusable && errors.Is(err, ErrLocked) ||
				!strings.Contains(err.Error(), at) {
				t.Errorf("%s: %v, want %v with its name", s.name, err, s.want)
			}
			_ = l.Close()
		})
		if after := listing(t, filepath.Dir(at)); !slices.Equal(before, after) {
			t.Errorf("%s: %q became %q", s.name, before, after)
		}
	}
}

// listing is what a folder holds: names, types and texts.
func listing(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		text := ""
		if err == nil && d.Type().IsRegular() {
			var b []byte
			b, err = os.ReadFile(path)
			text = string(b)
		}
		all = append(all, path+" "+d.Type().String()+" "+text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A folder whose owner had the number of this process before it is taken over, in programs of both kinds, and nothing is
// left at the end.
func TestFolderOfAnotherStart(t *testing.T) {
	o := self()
	if o[0] == unknown {
		t.Skip("this system does not tell when a process has started")
	}
	for _, start := range []string{"1", o[3]} {
		path := filepath.Join(t.TempDir(), "ledger")
		at := path + ".lock"
		o[3] = start
		if err := errors.Join(os.Mkdir(at, 0o700), os.WriteFile(filepath.Join(at, o.name()), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, Options{Epoch: "e", Budget: "1"})
		if start != "1" {
			if !errors.Is(err, ErrLocked) {
				t.Errorf("the lock of this process: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := look(at)
		if mine := self().name(); err != nil || kernelLocks != (f.kind == isFile) || !kernelLocks && f.names[0] != mine {
			t.Errorf("taken over: %+v, %v", f, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) != 1 {
			t.Errorf("left behind: %v, %v", names, err)
		}
	}
}

// A file that is taken over says who has it, and nothing of a longer line before; a folder with more than its owner's
// entry is not taken over.
func TestTakenOverWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	at := path + ".lock"
	if kernelLocks {
		long := owner{strings.Repeat("a", 36), strings.Repeat("1", 20), strings.Repeat("2", 20), strings.Repeat("3", 20)}
		if err := os.WriteFile(at, []byte(long.line()), 0o600); err != nil {
			t.Fatal(err)
		}
		unlock, err := lock(at)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(at); runtime.GOOS != "windows" && (err != nil || string(b) != self().line()) {
			t.Errorf("%q, %v, want %q", b, err, self().line())
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
	dead := self()
	dead[3] = "1"
	for _, more := range []string{"0", "zzz"} { // before and behind it, as folders are listed
		if err := errors.Join(os.MkdirAll(filepath.Join(at, more), 0o700),
			os.WriteFile(filepath.Join(at, dead.name()), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := look(at)
		if err != nil || len(f.names) != 2 {
			t.Errorf("%+v, %v, want two entries", f, err)
		}
		if _, err := lock(at); !errors.Is(err, ErrLocked) {
			t.Errorf("a folder with two entries: %v", err)
		}
		if err := os.Remove(filepath.Join(at, more)); err != nil {
			t.Fatal(err)
		}
	}
}

// A ledger's name is not one of a lock, however it is written, nor is that of a file to which a link leads.
func TestLedgerIsNotCalledLock(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"L.lock", ".lock", "L.LOCK", "L.lock.lock"} {
		l, err := Open(filepath.Join(dir, name), Options{Epoch: "e", Budget: "1"})
		if !errors.Is(err, ErrUnusable) || errors.Is(err, ErrLocked) {
			t.Errorf("%s: %v", name, err)
			_ = l.Close()
		}
	}
	if at, err := LockOf(".lock"); !errors.Is(err, ErrUnusable) { // nothing but the end
		t.Errorf("the lock of .lock is %q, %v", at, err)
	}
	for _, name := range []string{"lock", "L.locks", "Llock", "L.lock2"} {
		if err := reopen(t, filepath.Join(dir, name), "e", "1").Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	target := filepath.Join(dir, "T.lock")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(target, filepath.Join(dir, "link")) == nil {
		_, err := Open(filepath.Join(dir, "link"), Options{Epoch: "e", Budget: "1"})
		if !errors.Is(err, ErrUnusable) {
			t.Errorf("a link to a file of that name: %v", err)
		}
	}
}

// A ledger that is opened through a link has its lock beside the file, while it is open, and nowhere else; and LockOf
// says where.
func TestLockIsBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "ledger"), filepath.Join(t.TempDir(), "link")
	if err := reopen(t, path, "e", "1").Close(); err != nil {
		t.Fatal(err)
	}
	// What is no link stays as the caller spells it.
	plain := strings.Join([]string{dir, ".", "ledger"}, string(filepath.Separator))
	if at, err := LockOf(plain); err != nil || at != plain+".lock" {
		t.Errorf("LockOf(%s) = %s, %v", plain, at, err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	l := reopen(t, link, "e", "")
	if _, err := os.Lstat(path + ".lock"); err != nil {
		t.Errorf("no lock beside the file: %v", err)
	}
	if _, err := os.Lstat(link + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a lock beside the link: %v", err)
	}
	at, err := LockOf(link)
	there, err2 := os.Stat(at)
	real, err3 := os.Stat(path + ".lock")
	if err := errors.Join(err, err2, err3); err != nil || !os.SameFile(there, real) {
		t.Errorf("LockOf says %s: %v", at, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Who has opened a ledger pays for nothing when its file is not as long as it knows.
func TestLedgerThatAnotherHasWritten(t *testing.T) {
	p := epsPolicy(t, "1/2", "")
	for _, change := range []func(path string) error{
		func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("debit 1 ")
				err = errors.Join(err, f.Close())
			}
			return err
		},
		func(path string) error { return os.Truncate(path, 10) },
	} {
		path := filepath.Join(t.TempDir(), "ledger")
		l := reopen(t, path, "e", "1")
		if err := change(path); err != nil {
			t.Skip(err) // an open file is safe
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := Release(t.Context(), p, l, []byte("0,1"), identity); !errors.Is(err, ErrUnusable) || r != "" {
				t.Errorf("%v, %v", r, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%q became %q, %v", before, after, err)
		}
	}
}
