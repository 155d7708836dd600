package ledger

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/parallel"
	"pgregory.net/rapid"
)

// openLedger makes a ledger in a folder of its own.
func openLedger(t *testing.T, epoch, budget string) *Books {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "ledger"), epoch, budget)
}

func reopen(t *testing.T, path, epoch, budget string) *Books {
	t.Helper()
	l, err := Open(path, Options{Epoch: epoch, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func wantSpent(t *testing.T, l *Books, want string) {
	t.Helper()
	if got := l.Spent().RatString(); got != want {
		t.Errorf("spent %s, want %s", got, want)
	}
}

// A second release in the epoch repeats the first, whatever the data, also after a restart; the next epoch
// pays again.
func TestLedgerMemo(t *testing.T) {
	p := epsPolicy(t, "1/3", "")
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "week-1", "2")
	// Output 0 in the first release; the source of the second would give output 1.
	first, err := release(t.Context(), p, l, []byte("0,1"), identity, words(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	wantSpent(t, l, "1/3")
	for range 3 {
		again, err := release(t.Context(), p, l, []byte("1,1"), identity, words(0, 255))
		if err != nil || again != first {
			t.Errorf("%v, %v, want %v", again, err, first)
		}
		wantSpent(t, l, "1/3")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = reopen(t, path, "week-1", "2")
		wantSpent(t, l, "1/3")
	}
	// A memoised report needs no random source.
	if again, err := release(t.Context(), p, l, nil, identity, failAfter(0)); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = reopen(t, path, "week-2", "")
	next, err := release(t.Context(), p, l, []byte("1,1"), identity, words(0, 255))
	if err != nil || next == first {
		t.Errorf("%v, %v", next, err)
	}
	wantSpent(t, l, "2/3")
	if l.Remaining().RatString() != "4/3" || l.Budget().RatString() != "2" || l.Epoch() != "week-2" {
		t.Errorf("remaining %v of %v in %s", l.Remaining(), l.Budget(), l.Epoch())
	}
	// Back in the first epoch (a clock set back, say) the old report is still there.
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = reopen(t, path, "week-1", "")
	if again, err := release(t.Context(), p, l, nil, identity, failAfter(0)); err != nil || again != first {
		t.Errorf("%v, %v", again, err)
	}
}

// Epsilons add up exactly: ten tenths and three thirds are 2, and then nothing more fits.
func TestLedgerBudget(t *testing.T) {
	l := openLedger(t, "e", "2.0")
	for i := range 13 {
		eps := "0.1"
		if i >= 10 {
			eps = "1/3"
		}
		if _, err := Release(t.Context(), epsPolicy(t, eps, strings.Repeat("x", i)), l, nil, identity); err != nil {
			t.Fatal(err)
		}
	}
	wantSpent(t, l, "2")
	r, err := Release(t.Context(), epsPolicy(t, "1e-18", ""), l, []byte("0,1"), identity)
	if !errors.Is(err, ErrBudget) || r != "" {
		t.Errorf("%v, %v, want ErrBudget", r, err)
	}
	wantSpent(t, l, "2")
	// What has been paid for stays available.
	if _, err := Release(t.Context(), epsPolicy(t, "0.1", ""), l, nil, identity); err != nil {
		t.Error(err)
	}
}

func TestLedgerMaxEpsilon(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger"),
		Options{Epoch: "e", Budget: "9", MaxEpsilon: mustEpsilon(t, "1.5")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Release(t.Context(), epsPolicy(t, "1.5", ""), l, nil, identity); err != nil {
		t.Error(err)
	}
	if _, err := Release(t.Context(), epsPolicy(t, "1.50000001", ""), l, nil, identity); !errors.Is(err, ErrBudget) {
		t.Errorf("%v, want ErrBudget", err)
	}
	wantSpent(t, l, "3/2")
}

func TestOpenLedgerErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	used := filepath.Join(dir, "used")
	if err := reopen(t, used, "e", "3/2").Close(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, path, epoch, budget string
		want                      error
	}{
		{"no epoch", "a", "", "1", ErrEpoch},
		{"epoch with a space", "a", "week 1", "1", ErrEpoch},
		{"epoch with a line end", "a", "1\n", "1", ErrEpoch},
		{"epoch with the torn mark", "a", "1~torn", "1", ErrEpoch},
		{"long epoch", "a", strings.Repeat("1", 65), "1", ErrEpoch},
		{"budget 0", "a", "e", "0", ErrBudget},
		{"budget 0/5", "a", "e", "0/5", ErrBudget},
		{"budget 1/0", "a", "e", "1/0", ErrBudget},
		{"negative budget", "a", "e", "-1", ErrBudget},
		{"NaN budget", "a", "e", "NaN", ErrBudget},
		{"infinite budget", "a", "e", "Inf", ErrBudget},
		{"budget with an exponent", "a", "e", "1e3", ErrBudget},
		{"budget without whole part", "a", "e", ".5", ErrBudget},
		{"budget with an idle point", "a", "e", "5.", ErrBudget},
		{"budget of three parts", "a", "e", "1/2/3", ErrBudget},
		{"long budget", "a", "e", strings.Repeat("1", 101), ErrBudget},
		{"no budget and no file", filepath.Join(dir, "none"), "e", "", fs.ErrNotExist},
		{"no budget and an empty file", write("empty", ""), "e", "", ErrBudget},
		{"another budget", used, "e", "2", ErrBudget},
		{"a folder", dir, "e", "1", ErrUnusable},
		{"no such folder", filepath.Join(dir, "no", "ledger"), "e", "1", fs.ErrNotExist},
		{"some text", write("text", "hello\n"), "e", "1", ErrCorrupt},
		{"some text without a line end", write("text2", "hello"), "e", "1", ErrCorrupt},
		{"other text without a line end", write("text3", "wpm-ledger-2"), "e", "1", ErrCorrupt},
		{"zeros", write("zeros", strings.Repeat("\x00", 100)), "e", "1", ErrCorrupt},
		{"empty line", write("line", "\n"), "e", "1", ErrCorrupt},
	} {
		if tc.path == "a" {
			tc.path = filepath.Join(dir, "a")
		}
		l, err := Open(tc.path, Options{Epoch: tc.epoch, Budget: tc.budget})
		if !errors.Is(err, tc.want) || l != nil {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	// Whatever went wrong left no lock behind.
	reopen(t, used, "e", "1.50")
	// A long budget comes back from the file as it went in.
	long := "0." + strings.Repeat("7", 98)
	path := filepath.Join(dir, "long")
	if err := reopen(t, path, "e", long).Close(); err != nil {
		t.Fatal(err)
	}
	reopen(t, path, "e", long)
	if text, err := os.ReadFile(write("text2", "hello")); err != nil || string(text) != "hello" {
		t.Errorf("a file that is no ledger was written to: %q, %v", text, err)
	}
}

// A ledger is open once, and a lock file left behind by a crash does not matter where locks end with the
// process.
func TestLedgerLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "1")
	if _, err := Open(path, Options{Epoch: "e", Budget: "1"}); !errors.Is(err, ErrLocked) {
		t.Errorf("second opening: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := Release(t.Context(), epsPolicy(t, "1", ""), l, nil, identity); !errors.Is(err, ErrUnusable) {
		t.Errorf("release after Close: %v", err)
	}
	switch runtime.GOOS {
	case "plan9", "js", "wasip1":
	default:
		if err := os.WriteFile(path+".lock", []byte("wpm-lock-1 - - 1 -\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	reopen(t, path, "e", "1")
}

// The lock of docs/spec/ledger.md as a program without kernel locks sees it: while a ledger is open its lock exists, so
// that no folder can be made there, and after Close it does not. While such a program has its folder there, no ledger
// opens, and nothing touches the folder.
func TestLedgerLockIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	for range 2 {
		l := reopen(t, path, "e", "1")
		if err := os.Mkdir(path+".lock", 0o700); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a folder beside an open ledger: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path+".lock", 0o700); err != nil {
			t.Fatalf("after Close: %v", err)
		}
		for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
			if _, err := Open(path, Options{Epoch: "e", Wait: wait}); !errors.Is(err, ErrLocked) {
				t.Errorf("beside another program's lock: %v", err)
			}
		}
		if err := os.Remove(path + ".lock"); err != nil {
			t.Fatal(err)
		}
	}
	// A lock that was taken away by hand, and is another program's by now, is not removed by Close.
	l := reopen(t, path, "e", "1")
	if runtime.GOOS == "windows" {
		return // where an open file cannot be taken away
	}
	if err := errors.Join(os.RemoveAll(path+".lock"), os.Mkdir(path+".lock", 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Errorf("Close removed another program's lock: %v", err)
	}
}

// Handles that lock and unlock a path at once, each time removing what they lock: who is let in is alone.
func TestLockInTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	tries := numtest.Cases(300, 2000)
	if runtime.GOOS == "js" { // one processor, where each try takes milliseconds
		tries = 20
	}
	var inside, turns atomic.Int64
	err := parallel.For(t.Context(), 8, func(int) {
		for range tries {
			unlock, err := lock(path)
			if errors.Is(err, ErrLocked) {
				runtime.Gosched()
				continue
			}
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d handles have the lock", n)
			}
			turns.Add(1)
			runtime.Gosched()
			inside.Add(-1)
			if err := unlock(); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || turns.Load() == 0 {
		t.Errorf("%d turns, %v", turns.Load(), err)
	}
}

// history runs a few releases and returns, for each length that the file had, what had left by then.
type history struct {
	file    []byte
	lengths []int      // file length after each event
	left    []*big.Rat // epsilons of the reports that had left
	debited []*big.Rat // epsilons of the debits that had been synced
}

func runHistory(t *testing.T) history {
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "100")
	var h history
	left, debited := new(big.Rat), new(big.Rat)
	note := func() {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		h.file = data
		h.lengths = append(h.lengths, len(data))
		h.left = append(h.left, new(big.Rat).Set(left))
		h.debited = append(h.debited, new(big.Rat).Set(debited))
	}
	note()
	for i, eps := range []string{"1/3", "0.125", "7", "1e-18"} {
		source := words(0, 0)
		if i == 2 {
			source = failAfter(3) // a debit without a report
		}
		p := epsPolicy(t, eps, "")
		spy := readerFunc(func(b []byte) (int, error) {
			// The draw begins: its debit is in the file already.
			debited.Add(debited, p.eps.Rat())
			note()
			spent := source
			return spent.Read(b)
		})
		once := &onceReader{first: spy, rest: source}
		_, err := release(t.Context(), p, l, []byte("0,1"), identity, once)
		if (err != nil) != (i == 2) {
			t.Fatal(err)
		}
		if err == nil {
			left.Add(left, p.eps.Rat())
		}
		note()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

// onceReader reads from first once, then from rest.
type onceReader struct {
	first, rest io.Reader
	used        bool
}

func (r *onceReader) Read(b []byte) (int, error) {
	if !r.used {
		r.used = true
		return r.first.Read(b)
	}
	return r.rest.Read(b)
}

// memory is a Store that holds nothing but its text.
type memory struct{ bytes.Buffer }

func (*memory) Lock(context.Context) error { return nil }
func (*memory) Unlock() error              { return nil }
func (m *memory) Load() ([]byte, error)    { return bytes.Clone(m.Bytes()), nil }

func (m *memory) Append(at int64, b []byte) error {
	if at != int64(m.Len()) {
		return ErrUnusable
	}
	_, err := m.Write(b)
	return err
}

// inMemory opens a ledger whose store holds data, and returns the store as it grows.
func inMemory(t *testing.T, data []byte) (*Books, *memory) {
	t.Helper()
	store := &memory{*bytes.NewBuffer(bytes.Clone(data))}
	l, err := openBooks(store, Options{Epoch: "e", Budget: "100"})
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	return l, store
}

// sealed returns lines with good hashes, whatever they say.
func sealed(t testing.TB, bodies ...string) []byte {
	t.Helper()
	store := new(memory)
	l := &Books{store: store}
	for _, body := range bodies {
		if err := l.write(body); err != nil {
			t.Fatal(err)
		}
	}
	return store.Bytes()
}

// A stop at every byte of the file: what is counted afterwards covers every report that had left and every
// debit that had been synced; the ledger works on, and reads back the same.
func TestLedgerKilledAtEveryByte(t *testing.T) {
	h := runHistory(t)
	extra := epsPolicy(t, "2", "after the crash")
	for n := 0; n <= len(h.file); n++ {
		l, file := inMemory(t, h.file[:n])
		spent := l.Spent()
		for i, length := range h.lengths {
			if length <= n && (spent.Cmp(h.left[i]) < 0 || spent.Cmp(h.debited[i]) < 0) {
				t.Fatalf("cut at %d: spent %v, but %v had left and %v was debited", n, spent, h.left[i], h.debited[i])
			}
		}
		if limit := h.debited[len(h.debited)-1]; spent.Cmp(limit) > 0 {
			t.Fatalf("cut at %d: spent %v, more than all debits %v", n, spent, limit)
		}
		if _, err := Release(t.Context(), extra, l, nil, identity); err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		again, _ := inMemory(t, file.Bytes())
		if again.Spent().Cmp(l.Spent()) != 0 {
			t.Fatalf("cut at %d: spent %v became %v", n, l.Spent(), again.Spent())
		}
	}
}

// A stop at every byte while a torn line is being completed, on top of a stop at any byte.
func TestLedgerKilledDuringRepair(t *testing.T) {
	h := runHistory(t)
	extra := epsPolicy(t, "2", "after the crash")
	step := 5
	if !numtest.Full() {
		step = 80
	}
	for cut := 0; cut < len(h.file); cut += step {
		l, file := inMemory(t, h.file[:cut])
		want := l.Spent()
		most := new(big.Rat).Add(want, extra.eps.Rat())
		if cut >= h.lengths[0] && file.Len() > cut {
			t.Fatalf("cut at %d: opening wrote %q", cut, file.Bytes()[cut:])
		}
		if _, err := release(t.Context(), extra, l, nil, identity, words(0, 0)); err != nil {
			t.Fatal(err)
		}
		repaired := file.Bytes()
		if !bytes.HasPrefix(repaired, h.file[:cut]) {
			t.Fatalf("cut at %d: the repair changed what was there", cut)
		}
		for n := cut; n <= len(repaired); n++ {
			if l, _ := inMemory(t, repaired[:n]); l.Spent().Cmp(want) < 0 || l.Spent().Cmp(most) > 0 {
				t.Fatalf("cut at %d, repair cut at %d: spent %v, want %v to %v", cut, n, l.Spent(), want, most)
			}
		}
	}
}

// A torn debit whose epsilon can be read is charged: the disk may have lied about the sync.
func TestLedgerChargesTornDebit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "1")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ tail, want string }{
		{"", "0"}, {"d", "0"}, {"debit ", "0"}, {"debit 3/", "0"}, {"debit 3/4", "0"}, {"debit 3/4 ", "3/4"},
		{"debit 3/4 00ff", "3/4"},
		{"debit 3/0 00ff", "0"}, {"report 3/4 00ff", "0"}, {"\x00\x00\x00", "0"}, {"debit 7 x", "7"}, {"~torn 5 ", "0"},
	} {
		if err := os.WriteFile(path, append(bytes.Clone(head), tc.tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			l := reopen(t, path, "e", "1")
			wantSpent(t, l, tc.want)
			if l.Remaining().Sign() < 0 {
				t.Error("negative remainder")
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// No byte of a complete line can change unnoticed, and no line can go, come twice or change places.
func TestLedgerEditsAreDetected(t *testing.T) {
	h := runHistory(t)
	path := filepath.Join(t.TempDir(), "ledger")
	corrupt := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, Options{Epoch: "e", Budget: "100"})
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
		_ = l.Close()
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
			t.Errorf("%s: the file was written to", what)
		}
	}
	step := 1
	if !numtest.Full() {
		step = 11
	}
	for i := 0; i < len(h.file)-1; i += step { // without its last line end the last line is torn, not edited
		data := bytes.Clone(h.file)
		data[i] ^= 1
		corrupt("byte changed", data)
	}
	lines := bytes.SplitAfter(h.file, []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		if i < len(lines)-1 {
			corrupt("line removed", bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil))
			swapped := append([][]byte{}, lines...)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			corrupt("lines swapped", bytes.Join(swapped, nil))
		}
		corrupt("line twice", bytes.Join(append(append(append([][]byte{}, lines[:i+1]...), lines[i]), lines[i+1:]...), nil))
	}
}

// Lines with a good hash and impossible content are refused as well.
func TestLedgerImpossibleRecords(t *testing.T) {
	p := epsPolicy(t, "1", "")
	id := strings.Repeat("ab", 32)
	report := hex.EncodeToString(p.report(1))
	paid := "debit 1 " + report[8:72] + " e"
	for _, bodies := range [][]string{
		{"wpm-ledger-1 1", paid, "report " + report + " e", "report " + report + " e"},
		{"wpm-ledger-1 1", paid, "debit 1 " + id + " e", "report " + report + " e"},
		{"wpm-ledger-1 1", paid, "report " + report + " f"},
		{"wpm-ledger-1"}, {"wpm-ledger-1 x"}, {"wpm-ledger-1 1 2"}, {"debit 1 " + id + " e"},
		{"wpm-ledger-1 1", "wpm-ledger-1 1"},
		{"wpm-ledger-1 1", "debit 1 " + id}, {"wpm-ledger-1 1", "debit -1 " + id + " e"},
		{"wpm-ledger-1 1", "debit 1 " + id[:62] + " e"},
		{"wpm-ledger-1 1", "debit 1 " + strings.Repeat("AB", 32) + " e"}, // an ID has one spelling
		{"wpm-ledger-1 1", "debit 1 " + id[:62] + "zz e"}, {"wpm-ledger-1 1", "debit 1 " + id + " "},
		{"wpm-ledger-1 1", "debit 1 " + id + " e "},
		{"wpm-ledger-1 1", "report " + report + " e"}, {"wpm-ledger-1 1", "debit 1 " + id + " e", "report " + report + " e"},
		{"wpm-ledger-1 1", "credit 1"}, {"wpm-ledger-1 1", ""}, {"wpm-ledger-1 1", "x~torn -1"},
		{"wpm-ledger-1 1", "x~torn "},
		{"wpm-ledger-1 1", "debit 1 " + id + " e", "report " + report[:78] + " e"},
	} {
		var fresh state
		if _, err := fresh.replay(sealed(t, bodies...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", bodies, err)
		}
	}
}

// flaky is a file of which one operation fails: a write after some of its bytes, or a sync.
type flaky struct {
	*os.File
	ops, fail int // the fail-th operation fails
	keep      int // bytes that a failing write still puts down
}

var errDisk = errors.New("disk full")

func (f *flaky) Write(b []byte) (int, error) {
	f.ops++
	if f.ops == f.fail {
		n, _ := f.File.Write(b[:min(f.keep, len(b))])
		return n, errDisk
	}
	return f.File.Write(b)
}

func (f *flaky) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *flaky) Sync() error {
	f.ops++
	if f.ops == f.fail {
		return errDisk
	}
	return f.File.Sync()
}

// Every write and every sync fails once: no report leaves, the ledger refuses to go on, and after opening
// it again the debit counts unless nothing was drawn.
func TestLedgerWriteFailures(t *testing.T) {
	p := epsPolicy(t, "1/2", "")
	for _, tc := range []struct {
		name       string
		fail, keep int
		drawn      bool
		want       string // spent after opening again
	}{
		{"debit write, nothing down", 1, 0, false, "0"},
		{"debit write, half down", 1, 50, false, "1/2"},
		{"debit sync", 2, 0, false, "1/2"},
		{"report write, nothing down", 3, 0, true, "1/2"},
		{"report write, half down", 3, 50, true, "1/2"},
		{"report sync", 4, 0, true, "1/2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger")
			l := reopen(t, path, "e", "1")
			file := l.store.(*fileStore)
			file.file = &flaky{File: file.file.(*os.File), fail: tc.fail, keep: tc.keep}
			drawn := false
			source := readerFunc(func(b []byte) (int, error) { drawn = true; clear(b); return len(b), nil })
			r, err := release(t.Context(), p, l, []byte("0,1"), identity, source)
			if !errors.Is(err, ErrUnusable) || !errors.Is(err, errDisk) || r != "" {
				t.Errorf("%v, %v", r, err)
			}
			if drawn != tc.drawn {
				t.Errorf("drawn: %v", drawn)
			}
			wantSpent(t, l, "1/2")
			if _, err := release(t.Context(), p, l, []byte("0,1"), identity, source); !errors.Is(err, ErrUnusable) {
				t.Errorf("went on: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			l = reopen(t, path, "e", "1")
			wantSpent(t, l, tc.want)
		})
	}
}

// Under any sequence of releases, restarts and failing sources, spent is the exact sum of the debits, and
// every report is repeated within its epoch.
func TestLedgerLaw(t *testing.T) {
	eps := []string{"1/3", "0.1", "2"}
	policies := make([]mechanism, len(eps))
	for i := range eps {
		policies[i] = epsPolicy(t, eps[i], "")
	}
	dir := t.TempDir()
	trial := 0
	rapid.Check(t, func(rt *rapid.T) {
		trial++
		path := filepath.Join(dir, "ledger"+big.NewInt(int64(trial)).String())
		open := func(epoch string) *Books {
			l, err := Open(path, Options{Epoch: epoch, Budget: "5"})
			if err != nil {
				rt.Fatal(err)
			}
			return l
		}
		epoch := "a"
		l := open(epoch)
		defer func() { _ = l.Close() }()
		spent, budget := new(big.Rat), big.NewRat(5, 1)
		memo := map[occasion]report{}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			i := rapid.IntRange(0, 4).Draw(rt, "step")
			if i >= len(policies) {
				if err := l.Close(); err != nil {
					rt.Fatal(err)
				}
				epoch = rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "epoch")
				l = open(epoch)
				continue
			}
			p, broken := policies[i], rapid.IntRange(0, 3).Draw(rt, "source") == 0
			source := words(0, rapid.Uint64().Draw(rt, "word"))
			if broken {
				source = failAfter(4)
			}
			o := occasion{p.id, epoch}
			r, err := release(context.Background(), p, l, []byte("0,1"), identity, source)
			sum := new(big.Rat).Add(spent, p.eps.Rat())
			switch old, known := memo[o]; {
			case known:
				if err != nil || r != old {
					rt.Fatalf("repeat: %v, %v, want %v", r, err, old)
				}
			case sum.Cmp(budget) > 0:
				if !errors.Is(err, ErrBudget) {
					rt.Fatalf("over budget: %v", err)
				}
			default:
				spent = sum
				if broken != errors.Is(err, errRandom) || !broken && err != nil {
					rt.Fatal(err)
				}
				if err == nil {
					memo[o] = r
				}
			}
			if l.Spent().Cmp(spent) != 0 {
				rt.Fatalf("spent %v, want %v", l.Spent(), spent)
			}
		}
	})
}

// TestLedgerLockByAnyName holds that a link to a ledger is the ledger: opened twice under two names, it would be
// paid from twice (found in review).
func TestLedgerLockByAnyName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger")
	l, err := Open(path, Options{Epoch: "1", Budget: "1"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	soft, hard := filepath.Join(dir, "soft"), filepath.Join(dir, "hard")
	if err := os.Symlink(path, soft); err == nil {
		if other, err := Open(soft, Options{Epoch: "1"}); !errors.Is(err, ErrLocked) {
			t.Errorf("through a symbolic link: %v", err)
			_ = other.Close()
		}
	}
	if err := os.Link(path, hard); err == nil {
		// Where the kernel does not lock the file itself, one with two names is refused.
		if other, err := Open(hard, Options{Epoch: "1"}); !errors.Is(err, ErrLocked) &&
			(runtime.GOOS == "linux" || !errors.Is(err, ErrUnusable)) {
			t.Errorf("through a hard link: %v", err)
			_ = other.Close()
		}
	}
	nowhere := filepath.Join(dir, "nowhere")
	if err := os.Symlink(filepath.Join(dir, "missing"), nowhere); err == nil {
		if _, err := Open(nowhere, Options{Epoch: "1", Budget: "1"}); !errors.Is(err, ErrUnusable) {
			t.Errorf("a link to nothing: %v", err)
		}
	}
}

// counting is a Store that lends its own bytes to whoever loads them, and counts how often it is given up.
type counting struct {
	memory
	lent    []byte
	unlocks int
}

func (c *counting) Load() ([]byte, error) {
	c.lent = bytes.Clone(c.Bytes())
	return c.lent, nil
}

func (c *counting) Unlock() error { c.unlocks++; return nil }

// A ledger keeps no bytes of its store or its callers, gives its store up once, and writes nothing after that.
func TestLedgerKeepsItsOwn(t *testing.T) {
	id, eps := [32]byte{7}, mustEpsilon(t, "1")
	store := &counting{memory: memory{*bytes.NewBuffer(append(sealed(t, "wpm-ledger-1 9"), "debit 2 torn"...))}}
	l, err := New(store, Options{Epoch: "e"})
	if err != nil {
		t.Fatal(err)
	}
	clear(store.lent) // the torn line is completed all the same
	want := otherBytes(id, "x")
	for range 3 { // the first from the draw, the others from what is kept
		b, err := pay(l, id, eps, func() ([]byte, error) { return bytes.Clone(want), nil })
		if err != nil || !bytes.Equal(b, want) {
			t.Errorf("%q, %v, want %q", b, err, want)
		}
		clear(b)
	}
	size := store.Len()
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = pay(l, [32]byte{8}, eps, func() ([]byte, error) { return otherBytes([32]byte{8}, "x"), nil })
	if !errors.Is(err, ErrUnusable) || store.unlocks != 1 || store.Len() != size {
		t.Errorf("after Close: %v, given up %d times, %d bytes written", err, store.unlocks, store.Len()-size)
	}
	if s, err := Read(store.Bytes()); err != nil || s.Spent.RatString() != "3" {
		t.Errorf("%+v, %v", s, err)
	}
}

// A report that is paid for is repeated for a device that would no longer pay for it.
func TestLedgerRepeatsAboveTheLimit(t *testing.T) {
	store, p := new(memory), epsPolicy(t, "2", "")
	var first report
	for _, limit := range []string{"2", "1"} {
		l, err := New(store, Options{Epoch: "e", Budget: "9", MaxEpsilon: mustEpsilon(t, limit)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Release(t.Context(), p, l, []byte("0,1"), identity)
		if first == "" {
			first = r
		}
		if err != nil || r != first {
			t.Errorf("at most %s: %v, %v, want %v", limit, r, err, first)
		}
	}
}

// A ledger's file is its owner's alone, its lock stands beside the file that a link leads to, no wait helps against any
// error but a lock, a context ends a wait, and who gave the file up has it no longer.
func TestFileStoreEdges(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "ledger"), filepath.Join(dir, "link")
	if err := reopen(t, path, "e", "1").Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if os.Symlink(path, link) == nil {
		if err := reopen(t, link, "e", "").Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(link + ".lock"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a lock of the link's own: %v", err)
		}
	}
	const patience = 10 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := Open(filepath.Join(dir, "none"), Options{Epoch: "e", Wait: time.Hour, Context: ctx})
	if !errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil {
		t.Errorf("no ledger: %v, waited: %v", err, ctx.Err())
	}
	l := reopen(t, path, "e", "")
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Open(path, Options{Epoch: "e", Wait: time.Hour, Context: ended}); !errors.Is(err,
		ErrLocked) {
		t.Errorf("a wait that is over: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &fileStore{path: path}
	if err := errors.Join(s.Lock(ended), s.Unlock(), s.Unlock()); err != nil {
		t.Errorf("given up twice: %v", err)
	}
	_, err = s.Load()
	if err2 := s.Append(0, []byte("x")); !errors.Is(err, ErrUnusable) || !errors.Is(err2, ErrUnusable) {
		t.Errorf("given up: %v, %v", err, err2)
	}
}

// countedFile is a ledger's file whose Sync is counted and not done: 10^5 true ones take a disk half a minute. What
// they must cover is checked instead: no byte is written while the bytes before it are not synced.
type countedFile struct {
	appendFile
	dirty         bool
	early         int // writes onto bytes that were not synced
	writes, syncs int
}

func (f *countedFile) Write(b []byte) (int, error) {
	if f.dirty {
		f.early++
	}
	f.dirty = true
	f.writes++
	return f.appendFile.Write(b)
}

func (f *countedFile) Sync() error {
	f.dirty = false
	f.syncs++
	return nil
}

// TestManyConcurrentReleases: 10^5 releases at once against one ledger, two for each of 5*10^4 policies. Each policy is
// paid for once, both its releases are the same bytes, the sum is exact, and the file says the same to whoever reads
// it.
func TestManyConcurrentReleases(t *testing.T) {
	n := 100_000
	if !numtest.Full() {
		n = 2_000
	}
	policies := make([]mechanism, n/2)
	for i := range policies {
		policies[i] = epsPolicy(t, "3/2", strconv.Itoa(i))
	}
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "1000000")
	store := l.store.(*fileStore)
	file := &countedFile{appendFile: store.file}
	store.file = file
	got := make([]report, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			r, err := Release(context.Background(), policies[i%len(policies)], l, nil, identity)
			if err != nil {
				t.Error(err)
			}
			got[i] = r
		})
	}
	close(start)
	wg.Wait()
	for i, r := range got {
		p := policies[i%len(policies)]
		if r != got[i%len(policies)] || !strings.Contains(string(r), hex.EncodeToString(p.id[:])) {
			t.Fatalf("release %d: %v", i, r)
		}
	}
	want := big.NewRat(3*int64(len(policies)), 2)
	if l.Spent().Cmp(want) != 0 {
		t.Errorf("spent %v, want %v", l.Spent(), want)
	}
	// A debit and a report for each policy, each synced before anything else is written.
	if file.early != 0 || file.dirty || file.writes != n || file.syncs != n {
		t.Errorf("%d writes, %d of them early, %d syncs, want %d", file.writes, file.early, file.syncs, n)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := reopen(t, path, "e", "")
	if again.Spent().Cmp(want) != 0 || len(again.entries) != len(policies) {
		t.Errorf("read again: spent %v, %d entries", again.Spent(), len(again.entries))
	}
	for i, p := range policies[:100] {
		if r, err := Release(context.Background(), p, again, nil, identity); err != nil || r != got[i] {
			t.Fatalf("policy %d after reading: %v, %v, want %v", i, r, err, got[i])
		}
	}
}
