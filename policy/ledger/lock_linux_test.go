package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
)

// Pipes, sockets and devices in the place of a lock, or of a ledger, are refused at once.
func TestStrangersOfUnix(t *testing.T) {
	special := []stranger{
		{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o600) }, ErrUnusable},
		{"a socket", func(path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
			}
			return err
		}, ErrUnusable},
		{"a device", func(path string) error {
			return syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|3) // as /dev/null
		}, ErrUnusable},
		{"a link to a device", func(path string) error { return os.Symlink(os.DevNull, path) }, ErrUnusable},
		{"a link to a pipe", func(path string) error {
			return errors.Join(syscall.Mkfifo(path+"2", 0o600), os.Symlink(path+"2", path))
		}, ErrUnusable},
	}
	refusesAll(t, special)
	for _, s := range special[:3] {
		path := filepath.Join(t.TempDir(), "l")
		if err := s.make(path); err != nil {
			t.Logf("%s: not here: %v", s.name, err)
			continue
		}
		within(t, s.name, func() {
			l, err := Open(path, Options{Epoch: "e", Budget: "1"})
			if !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), "not a regular file") {
				t.Errorf("%s as a ledger: %v", s.name, err)
			}
			_ = l.Close()
		})
		if _, err := os.Lstat(path + ".lock"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s as a ledger: a lock is left: %v", s.name, err)
		}
	}
}

// This process knows itself, as far as /proc is its own.
func TestSelf(t *testing.T) {
	me := self()
	if me[2] != strconv.Itoa(os.Getpid()) {
		t.Errorf("%q", me)
	}
	for _, pid := range []string{"", "x", "0", "99999999999999999999", "-99999999"} {
		if got := startOf(pid); got != unknown {
			t.Errorf("the start of %q: %s", pid, got)
		}
	}
	first := startOf("1")
	if stat, err := os.ReadFile("/proc/1/stat"); err == nil && (first != startBy(string(stat)) || !isDigits(first)) {
		t.Errorf("the start of process 1: %s, by %q", first, stat)
	}
	seen, _ := os.Readlink("/proc/self")
	clock, err := os.Readlink("/proc/self/ns/time")
	if seen != me[2] || clock != initialClock && !errors.Is(err, os.ErrNotExist) {
		t.Skipf("this /proc does not tell: %q", me)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, err2 := os.Readlink("/proc/self/ns/pid")
	if err := errors.Join(err, err2); err != nil || me[0]+"\n" != string(boot) || "pid:["+me[1]+"]" != ns ||
		me[3] != startOf(me[2]) || !isDigits(me[3]) {
		t.Errorf("%q, %v", me, err)
	}
}

// TestOwnerBy: a process knows itself if its /proc tells all of its owner, is of its own namespace, and counts time as
// the system does. Otherwise it knows its number alone.
func TestOwnerBy(t *testing.T) {
	const pid, start = "100", "5000"
	nobody, known := owner{unknown, unknown, pid, unknown}, owner{someBoot, someNS, pid, start}
	for _, c := range []struct{ what, self, boot, ns, clock, start string }{
		{"all", pid, someBoot, someNS, initialClock, start},
		{"all, of Linux before 5.6", pid, someBoot, someNS, "", start},
		{"no boot", pid, "", someNS, initialClock, start},
		{"an empty boot", pid, unknown, someNS, initialClock, start},
		{"no namespace", pid, someBoot, "", initialClock, start},
		{"another clock", pid, someBoot, someNS, "time:[4026532000]", start},
		{"the /proc of another namespace", "101", someBoot, someNS, initialClock, start},
		{"no start", pid, someBoot, someNS, initialClock, unknown},
		{"one that has ended", pid, someBoot, someNS, initialClock, gone},
	} {
		proc := t.TempDir()
		random, ns := filepath.Join(proc, "sys/kernel/random"), filepath.Join(proc, c.self, "ns")
		err := errors.Join(os.MkdirAll(random, 0o700), os.MkdirAll(ns, 0o700),
			os.Symlink(c.self, filepath.Join(proc, "self")))
		if c.boot != "" {
			err = errors.Join(err, os.WriteFile(filepath.Join(random, "boot_id"), []byte(c.boot+"\n"), 0o600))
		}
		if c.ns != "" {
			err = errors.Join(err, os.Symlink("pid:["+c.ns+"]", filepath.Join(ns, "pid")))
		}
		if c.clock != "" {
			err = errors.Join(err, os.Symlink(c.clock, filepath.Join(ns, "time")))
		}
		if err != nil {
			t.Fatal(err)
		}
		want := nobody
		if strings.HasPrefix(c.what, "all") {
			want = known
		}
		if got := ownerBy(proc, pid, c.start); got != want {
			t.Errorf("%s: %q, want %q", c.what, got, want)
		}
	}
}

// TestStartBy reads the start of a process behind whatever name it has given itself.
func TestStartBy(t *testing.T) {
	const between = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 "
	for _, c := range []struct{ stat, want string }{
		{"9 (sleep) S" + between + "1 0 5000", "5000"}, // the kernel goes on after that
		{"9 (sleep) S" + between + "1 0 5000 1 2", "5000"},
		{"9 (a) Z) S" + between + "1 0 5000 1", "5000"},
		{"9 (sleep) S" + between + "1 0", unknown},
		{"9 (sleep) S" + between + "1 0 x 1", unknown},
		{"9 (sleep) Z" + between + "1 0 5000 1", gone},
		{"9 (sleep) Z" + between + "2 0 5000 1", "5000"}, // its first thread has ended, another has not
		{"", unknown},
	} {
		if got := startBy(c.stat); got != c.want {
			t.Errorf("%q: %q, want %q", c.stat, got, c.want)
		}
	}
}

// TestTakeFolderRefuses: a folder that holds more than the entry of its owner by the time it is taken stays as it is,
// and a folder whose spare one has no name that the system takes is an error.
func TestTakeFolderRefuses(t *testing.T) {
	dead := self()
	dead[3] = "1"
	dir := t.TempDir()
	path := filepath.Join(dir, "l.lock")
	if err := errors.Join(folderOf(path, dead), os.WriteFile(filepath.Join(path, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	before := listing(t, dir)
	if unlock, err := takeFolder(path, dead.name(), self()); !errors.Is(err, ErrLocked) || unlock != nil {
		t.Errorf("two entries: %v", err)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
	if dead[0] == unknown {
		t.Skip("this /proc does not tell")
	}
	long := filepath.Join(dir, strings.Repeat("l", 250)+".lock") // the longest name that there is
	if err := errors.Join(os.Mkdir(long, 0o700), os.WriteFile(filepath.Join(long, dead.name()), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if unlock, err := lock(long); !errors.Is(err, syscall.ENAMETOOLONG) || unlock != nil {
		t.Errorf("a long name: %v", err)
	}
}

// TestEntries: none in an empty folder, two at most, and an error where there is no folder.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	if names, err := entries(dir); err != nil || len(names) > 0 {
		t.Errorf("an empty folder: %q, %v", names, err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := entries(dir); err != nil || len(names) != 2 {
		t.Errorf("three entries: %q, %v", names, err)
	}
	if names, err := entries(filepath.Join(dir, "a")); err == nil {
		t.Errorf("of a file: %q", names)
	}
}

// TestLongLine: a file that begins as the longest lock does, and goes on, is no lock, and stays as it is.
func TestLongLine(t *testing.T) {
	digits := strings.Repeat("9", 20)
	line := owner{strings.Repeat("a", 36), digits, digits, digits}.line()
	for _, text := range []string{line + "x", line + strings.Repeat("\n", maxLock-len(line)), strings.Repeat("x", maxLock+9)} {
		path := filepath.Join(t.TempDir(), "l.lock")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lockText(path); got != text[:min(len(text), maxLock)] {
			t.Errorf("%d bytes are read of %d", len(got), len(text))
		}
		if unlock, err := hold(path, self()); !errors.Is(err, ErrUnusable) {
			t.Errorf("%d bytes: taken %v, %v", len(text), unlock != nil, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%d bytes: now %q, %v", len(text), after, err)
		}
	}
	if got := lockText(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("of no file: %q", got)
	}
}

// TestHoldFollowsNoLink: a link that has come to the place of a lock since it was looked at is not followed, and another
// file at its path is not the one that is open.
func TestHoldFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "l.lock")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if unlock, err := hold(link, self()); err == nil {
		t.Errorf("a link is followed; %v", unlock())
	}
	missing, loose := filepath.Join(dir, "missing"), filepath.Join(dir, "loose.lock")
	if err := os.Symlink(missing, loose); err != nil {
		t.Fatal(err)
	}
	if unlock, err := hold(loose, self()); err == nil {
		t.Errorf("a link to nothing is followed; %v", unlock())
	}
	if _, err := os.Lstat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file is made where a link leads: %v", err)
	}
	f, err := os.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !isAt(f, target) || isAt(f, link) || isAt(f, filepath.Join(dir, "none")) {
		t.Error("the open file is not known by its path")
	}
}

// asleep starts a process and returns it with its owner.
func asleep(t *testing.T) (*exec.Cmd, owner) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	o := self()
	o[2] = strconv.Itoa(cmd.Process.Pid)
	o[3] = startOf(o[2])
	return cmd, o
}

// folderOf makes a lock of the other kind at path.
func folderOf(path string, o owner) error {
	spare := path + "." + o.name()
	return errors.Join(os.Mkdir(spare, 0o700), os.WriteFile(filepath.Join(spare, o.name()), nil, 0o600),
		os.Rename(spare, path))
}

// A folder is taken over when its owner has ended, and before nobody takes it; nothing is left of it then.
func TestFolderIsTakenOver(t *testing.T) {
	cmd, o := asleep(t)
	if o[0] == unknown {
		t.Skip("this /proc does not tell")
	}
	another := o
	another[3] += "0"
	elsewhere := o
	elsewhere[1] = "1"
	path := filepath.Join(t.TempDir(), "ledger")
	try := func(what string, o owner, want bool) {
		t.Helper()
		if err := folderOf(path+".lock", o); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, Options{Epoch: "e", Budget: "1"})
		if want != (err == nil) || !want && !errors.Is(err, ErrLocked) {
			t.Fatalf("%s: %v", what, err)
		}
		if want {
			if info, err := os.Lstat(path + ".lock"); err != nil || !info.Mode().IsRegular() {
				t.Errorf("%s: no file in its place: %v, %v", what, info, err)
			}
		} else if err := os.RemoveAll(path + ".lock"); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) > 1 {
			t.Errorf("%s: left behind: %v, %v", what, names, err)
		}
	}
	try("a process that lives", o, false)
	try("this process", self(), false)
	try("another start", another, true)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	try("a process that lives, elsewhere", elsewhere, false)
	waitFor(t, func() bool { return startOf(o[2]) == gone }) // a zombie, for nobody has asked for its end
	if syscall.Kill(cmd.Process.Pid, 0) != nil {
		t.Error("it is no zombie")
	}
	try("a zombie", o, true)
	_ = cmd.Wait()
	try("a process that has ended", o, true)
	try("a process that has ended, elsewhere", elsewhere, false)
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited too long")
		}
	}
}

// A process of another user is there, though no signal may be sent to it.
func TestForbiddenIsNotGone(t *testing.T) {
	denied := make(chan error)
	var start string
	go func() {
		runtime.LockOSThread() // its thread ends with it, and so does its user
		if os.Getuid() == 0 {
			_, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, 65534, 65534, 65534)
			if e != 0 {
				denied <- e
				return
			}
		}
		start = startOf("1")
		denied <- syscall.Kill(1, 0)
	}()
	if err := <-denied; err != syscall.EPERM {
		t.Skipf("a signal to process 1: %v", err)
	}
	if start == gone {
		t.Error("process 1 is taken for one that has ended")
	}
}

const starter = "WPM_TEST_STARTER"

// TestStarter is another process of the two tests below: it locks and gives up as it is told.
func TestStarter(t *testing.T) {
	mode, path, ok := strings.Cut(os.Getenv(starter), " ")
	if !ok {
		t.Skip("a helper of other tests")
	}
	for mode == "spin" { // until it is killed
		dead := self()
		dead[3] = "1"
		if _, err := os.Lstat(path); err != nil {
			_ = folderOf(path, dead)
		}
		for range 2 { // the folder, and then a file
			if unlock, err := lock(path); err == nil {
				_ = unlock()
			}
		}
	}
	unlock := func() error { return nil }
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var err error
		if lines.Text() == "lock" {
			var mine func() error
			if mine, err = lock(path); err == nil {
				unlock = mine
			}
		} else {
			err = unlock()
			unlock = func() error { return nil }
		}
		switch {
		case errors.Is(err, ErrLocked):
			fmt.Println("> locked")
		case err != nil:
			fmt.Println("> " + err.Error())
		default:
			fmt.Println("> ok")
		}
	}
}

// other starts this program as TestStarter.
func other(t *testing.T, mode, path string) (*exec.Cmd, io.Writer, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStarter$")
	cmd.Env = append(os.Environ(), starter+"="+mode+" "+path)
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
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, bufio.NewReader(out)
}

// Of 64 processes that find a dead lock at once, in each round, one gets it.
func TestStarters(t *testing.T) {
	const starters = 64
	_, dead := asleep(t)
	dead[3] += "0"
	path := filepath.Join(t.TempDir(), "ledger.lock")
	var in [starters]io.Writer
	var out [starters]*bufio.Reader
	for i := range starters {
		_, in[i], out[i] = other(t, "obey", path)
	}
	all := func(order string) (answers map[string]int) {
		for _, w := range in {
			if _, err := io.WriteString(w, order+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		answers = map[string]int{}
		for _, r := range out {
			line := ""
			for !strings.HasPrefix(line, "> ") {
				var err error
				if line, err = r.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			answers[strings.TrimSpace(line[2:])]++
		}
		return answers
	}
	for round := range numtest.Cases(10, 1000) {
		var err error
		if round%2 == 0 && dead[0] != unknown {
			err = folderOf(path, dead)
		} else {
			err = os.WriteFile(path, []byte(dead.line()[:round%len(dead.line())]), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := all("lock"); got["ok"] != 1 || got["locked"] != starters-1 {
			t.Fatalf("round %d: %v", round, got)
		}
		if got := all("unlock"); got["ok"] != starters {
			t.Fatalf("round %d, given up: %v", round, got)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("round %d: a lock is left: %v", round, err)
		}
	}
	if names, err := os.ReadDir(filepath.Dir(path)); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// A process that is killed at whatever moment of taking over, locking or giving up leaves nothing that the next cannot
// take.
func TestKilledWhileLocking(t *testing.T) {
	if self()[0] == unknown {
		t.Skip("this /proc does not tell")
	}
	path := filepath.Join(t.TempDir(), "ledger.lock")
	kinds := map[string]int{}
	for round := range numtest.Cases(20, 500) {
		cmd, _, _ := other(t, "spin", path)
		waitFor(t, func() bool { f, err := look(path); return err == nil && f.kind != isAbsent })
		time.Sleep(time.Duration(round*137%1000) * time.Microsecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		f, err := look(path)
		if err != nil {
			t.Fatal(err)
		}
		kinds[f.kind]++
		unlock, err := lock(path)
		if err != nil {
			t.Fatalf("round %d: %+v: %v", round, f, err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("found after a kill: %v", kinds)
}
