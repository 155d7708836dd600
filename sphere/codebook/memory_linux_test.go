//go:build !race

package codebook

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

func zipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(text)
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPrivateGzip: vectors may be packed, and are what they are plain; damage makes them unusable.
func TestPrivateGzip(t *testing.T) {
	c := tiny(t)
	plain := "weight,x1,x2,x3\n1,1,0,0\n2,-1,0.5,1e-3\n"
	z := zipped(t, []byte(plain))
	want, weights, err := c.parsePrivate(c.newMemory(c.cfg.Atoms), []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	got, mass, err := c.parsePrivate(c.newMemory(c.cfg.Atoms), z)
	if err != nil || fmt.Sprint(got, mass) != fmt.Sprint(want, weights) {
		t.Errorf("packed: %v %v, %v, want %v %v", got, mass, err, want, weights)
	}
	for _, bad := range [][]byte{z[:len(z)-1], append(bytes.Clone(z), 0), z[:2], zipped(t, z)} {
		if err := c.CheckPrivate(bad); !errors.Is(err, private.ErrUnusable) {
			t.Errorf("%x: %v", bad, err)
		}
		if r, err := Release(t.Context(), c, ledger.UnaccountedForTesting(), bad); err != nil || c.Belongs(r) != nil {
			t.Errorf("%x: a release gives %v", bad, err)
		}
	}
}

// TestMemoryBeforeTheDebit: what a release allocates after the debit does not depend on the data, but for the text of an
// error. (Where a control group was short of memory, all unusable data had a report, and no usable ones.)
func TestMemoryBeforeTheDebit(t *testing.T) {
	c := design(t, Config{Dim: 15, P: 1, Epsilon: given.Epsilon(t, "4"), Points: 512})
	lines := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprint(&b, 1+i%3)
			for j := range 16 {
				fmt.Fprintf(&b, ",%d.%d", (i+j*j)%5, (3*i+j)%10)
			}
			b.WriteByte('\n')
		}
		return b.String()
	}
	most := lines(c.cfg.Atoms)
	least, largest, where := ^uint64(0), uint64(0), ""
	for name, text := range map[string]string{
		"one atom": lines(1), "two atoms": lines(2), "all atoms": most, "too many atoms": lines(c.cfg.Atoms + 1),
		"nothing": "", "a bad line": "x\n" + most, "a bad last line": most + "1,-\n", "a long last line": most[:len(most)-1] + ",1\n",
		"no weight": strings.Replace(lines(1), "1", "0", 1),
	} {
		m, data := c.newMemory(c.cfg.Atoms), []byte(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.law(m, Seed{1}, func() ([][]float64, []float64, error) { return c.parsePrivate(m, data) })
		runtime.ReadMemStats(&after)
		took := after.TotalAlloc - before.TotalAlloc
		least = min(least, took)
		if largest = max(largest, took); largest == took {
			where = name
		}
	}
	if largest-least > 1<<10 {
		t.Errorf("from %d to %d bytes (%s)", least, largest, where)
	}
}

// TestPrivateWithinMemory: a release takes every sort of private data of the most bytes there may be, packed a
// thousandfold, in little more than the bytes themselves.
func TestPrivateWithinMemory(t *testing.T) {
	const variable, limit = "WPM_TEST_MEMORY", 256 << 20
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPrivateWithinMemory$", "-test.v",
			fmt.Sprintf("-test.short=%v", testing.Short()))
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "--- PASS: TestPrivateWithinMemory") {
			t.Fatalf("%v\n%.4000s", err, out)
		}
		return
	}
	room := make([]byte, private.MaxBytes+1)
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	c := tiny(t)
	for _, s := range []struct{ name, head, line string }{
		{"empty lines", "1,1,0,0\n", "\n"},
		{"one numeral", "1,1,0,", "0"},
		{"one line", "1", ",1"},
		{"commas", "", ","},
		{"header without an end", "weight", ",x1"},
		{"too many vectors", "", "1,1,0,0\n"},
		{"zeros", "", "\x00"},
	} {
		rest := room[copy(room, s.head):]
		for n := copy(rest, s.line); n < len(rest); {
			n += copy(rest[n:], rest[:n])
		}
		all := [][]byte{zipped(t, room[:len(room)-1]), room, zipped(t, room), room[:len(room)-1]}
		for _, data := range all[:numtest.Cases(2, 4)] {
			r, err := Release(t.Context(), c, ledger.UnaccountedForTesting(), data)
			if err == nil {
				err = c.Belongs(r)
			}
			if err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		if !numtest.Full() {
			break
		}
	}
}
