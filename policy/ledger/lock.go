package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// owner says which process has a lock: its boot, its namespace of process numbers, its number and its start. A word
// that is not known is "-". Two processes of one boot and namespace differ in the other words.
type owner [4]string

const (
	lockMagic = "wpm-lock-1"
	maxLock   = 256 // bytes, more than a lock's line can have
	unknown   = "-"
	gone      = "" // the start of a process that is not there
)

// name is what the entry of a folder is called that this owner has as a lock.
func (o owner) name() string { return strings.Join(o[:], "_") }

// line is what a file says that this owner has as a lock.
func (o owner) line() string { return lockMagic + " " + strings.Join(o[:], " ") + "\n" }

// isOwnerWord reports whether s can be the i-th word of an owner. If it can, so can all its beginnings but the empty
// one.
func isOwnerWord(i int, s string) bool {
	if i == 0 {
		return s != "" && len(s) <= 36 && strings.Trim(s, "0123456789abcdef-") == ""
	}
	return s == unknown || isDigits(s) && len(s) <= 20
}

// parseOwner reads the name of an entry.
func parseOwner(name string) (o owner, ok bool) {
	word := strings.Split(name, "_")
	if len(word) != len(o) {
		return o, false
	}
	for i, w := range word {
		if !isOwnerWord(i, w) {
			return o, false
		}
	}
	return owner(word), true
}

// beginsLock reports whether a file with this text can be a lock: the line of one, or a beginning of it, which may be
// empty.
func beginsLock(text string) bool {
	line, whole := strings.CutSuffix(text, "\n")
	word := strings.Split(line, " ")
	last := len(word) - 1
	if last > len(owner{}) || whole && last < len(owner{}) {
		return false
	}
	if last == 0 {
		return strings.HasPrefix(lockMagic, line)
	}
	for i, w := range word[1:] {
		cut := i+1 == last && !whole && w == ""
		if !cut && !isOwnerWord(i, w) {
			return false
		}
	}
	return word[0] == lockMagic
}

// gone reports whether the owner is certain to have ended. start gives the START of the process of that number now, or
// gone, or unknown.
func (o owner) gone(me owner, start func(pid string) string) bool {
	if slices.Contains(o[:], unknown) || o[0] != me[0] || o[1] != me[1] {
		return false
	}
	now := start(o[2])
	return now != unknown && now != o[3]
}

// found is what there is at the name of a lock.
type found struct {
	kind  string   // see below
	text  string   // of a file, as far as it was read
	held  bool     // a file: someone has locked it in the kernel, or this program cannot see that nobody has
	names []string // of the entries of a folder
}

const (
	isAbsent = "absent"
	isFile   = "file" // a regular one
	isFolder = "folder"
	isOther  = "other" // a link, a pipe, a device

	free     = "free"
	takeOver = "take-over"
	locked   = "locked"  // someone has it, or may have it
	refused  = "refused" // it is no lock
)

// judge decides what may be done with what is found at the name of a lock.
func judge(f found, me owner, start func(pid string) string) (verdict string) {
	switch f.kind {
	case isAbsent:
		return free
	case isFile:
		switch {
		case !beginsLock(f.text):
			return refused
		case f.held:
			return locked
		}
		return takeOver
	case isFolder:
		if len(f.names) == 1 {
			if o, ok := parseOwner(f.names[0]); ok && o.gone(me, start) {
				return takeOver
			}
		}
		return locked
	}
	return refused
}

// lock takes the lock at path, as docs/spec/ledger.md describes it, or fails at once.
func lock(path string) (unlock func() error, err error) {
	me := self()
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no folder %s for the ledger: %w", filepath.Dir(path), fs.ErrNotExist)
	}
	f, err := look(path)
	if err != nil {
		return nil, err
	}
	switch verdict := judge(f, me, startOf); {
	case verdict == refused:
		return nil, noLock(path)
	case verdict == locked:
		return nil, otherLock(path)
	case verdict == takeOver && f.kind == isFolder:
		unlock, err := takeFolder(path, f.names[0], me)
		if err != nil || !kernelLocks {
			return unlock, err
		}
		if err := unlock(); err != nil { // it is a lock of the other kind from now on
			return nil, err
		}
	}
	return hold(path, me)
}

// look says what is at path. It opens nothing but folders and, where there are no kernel locks, regular files.
func look(path string) (f found, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found{kind: isAbsent}, nil
	case err != nil:
		return f, err
	case info.IsDir():
		f.kind = isFolder
		f.names, _ = entries(path) // one that cannot be read, or has just been given up, is locked
	case info.Mode().IsRegular():
		f.kind, f.held = isFile, !kernelLocks
		if !kernelLocks {
			f.text = lockText(path)
		}
	default:
		f.kind = isOther
	}
	return f, nil
}

// entries returns the names of the first entries of a folder, which are enough to tell a lock.
func entries(path string) ([]string, error) {
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(2)
	if err == io.EOF {
		err = nil
	}
	return names, errors.Join(err, d.Close())
}

// lockText reads as much of a file as tells whether it is a lock. One that cannot be read may be.
func lockText(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxLock))
	return string(b)
}

// sign writes the owner into a file that is locked in the kernel, if it is a lock. The kernel's lock is what counts, so
// a full disk is no obstacle.
func sign(f *os.File, path string, me owner) error {
	b, err := io.ReadAll(io.LimitReader(f, maxLock))
	if err != nil {
		return err
	}
	if judge(found{kind: isFile, text: string(b)}, me, startOf) != takeOver {
		return noLock(path)
	}
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(me.line()), 0)
	}
	return nil
}

// takeFolder takes a folder over from an owner who has ended. The renaming fails for all others who try.
func takeFolder(path, from string, me owner) (unlock func() error, err error) {
	spare, err := spareFolder(path, me)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(spare); err != nil { // its name is what is needed
		return nil, err
	}
	old, mine := filepath.Join(path, from), filepath.Join(path, me.name())
	if os.Rename(old, mine) != nil {
		return nil, otherLock(path)
	}
	if names, err := entries(path); err != nil || !slices.Equal(names, []string{me.name()}) {
		_ = os.Rename(mine, old)
		return nil, otherLock(path)
	}
	return func() error { return dropFolder(path, spare, me) }, nil
}

// spareFolder makes an empty folder beside path, under a name of its own.
func spareFolder(path string, me owner) (string, error) {
	return os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+"."+me.name()+".*")
}

// dropFolder gives a folder up in one step: it is renamed to spare, which nobody has. What follows is cleaning.
func dropFolder(path, spare string, me owner) error {
	if _, err := os.Lstat(filepath.Join(path, me.name())); errors.Is(err, fs.ErrNotExist) {
		return nil // someone has taken it away
	}
	if err := os.Rename(path, spare); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(spare, me.name()))
	_ = os.Remove(spare)
	return nil
}

// otherLock says that the lock at path is or may be another program's.
func otherLock(path string) error {
	return fmt.Errorf("%w: the lock %s is there; if no program has the ledger open, and it is no file or folder of "+
		"yours, remove it", ErrLocked, path)
}

// inUse says that another program has the file at path: the lock, or the ledger by another name.
func inUse(path string) error { return fmt.Errorf("%w: another program has %s", ErrLocked, path) }

// noLock says that what is at path stays as it is.
func noLock(path string) error {
	return fmt.Errorf("%w: %s is in the place of its lock, and is no lock; move it, or give the ledger another name",
		ErrUnusable, path)
}

// initialClock is the link of a process whose boot began when that of the system did: other namespaces of time give the
// starts of processes in another count.
const initialClock = "time:[4026531834]"

// self returns the owner that this process is.
func self() owner {
	pid := strconv.Itoa(os.Getpid())
	return ownerBy("/proc", pid, startOf(pid))
}

// ownerBy returns the owner that the process pid is by what a folder such as /proc tells it. It knows only its number
// where the folder is not there, or is one of another namespace, or counts time in its own way.
func ownerBy(proc, pid, start string) owner {
	link := func(name string) string { s, _ := os.Readlink(filepath.Join(proc, name)); return s }
	boot, _ := os.ReadFile(filepath.Join(proc, "sys/kernel/random/boot_id"))
	ns := strings.TrimSuffix(strings.TrimPrefix(link("self/ns/pid"), "pid:["), "]")
	me := owner{strings.TrimSuffix(string(boot), "\n"), ns, pid, start}
	_, noClocks := os.Lstat(filepath.Join(proc, "self/ns/time")) // of Linux before 5.6
	clock := errors.Is(noClocks, fs.ErrNotExist) || link("self/ns/time") == initialClock
	if _, ok := parseOwner(me.name()); !ok || link("self") != pid || !clock || slices.Contains(me[:], unknown) {
		return owner{unknown, unknown, pid, unknown}
	}
	return me
}

// startOf returns when the process of that number has started, in the words of /proc, or gone or unknown.
func startOf(pid string) string {
	n, err := strconv.Atoi(pid)
	if err != nil || n < 1 {
		return unknown
	}
	if missing(n) {
		return gone
	}
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat")
	return startBy(string(stat))
}

// startBy returns when a process has started by what /proc says of it, or gone or unknown.
func startBy(stat string) string {
	// After the name in brackets, which can have any bytes: the state is field 3, the threads are 20, the start is 22.
	field := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	switch {
	case len(field) < 20 || !isDigits(field[19]):
		return unknown
	case field[0] == "Z" && field[17] == "1": // a zombie: no thread is left
		return gone
	}
	return field[19]
}
