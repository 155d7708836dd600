//go:build !race

package policy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// privateStream is private data that are made as long as a test likes: head, and then line over and over.
type privateStream struct {
	name, head, line string
	usable           bool
}

// privateStreams are for smallConfig: each holds much of one thing.
func privateStreams() []privateStream {
	const users = "user,label,count\n"
	long := users + strings.Repeat("u", maxLabel) + ",home,1\n"
	return []privateStream{
		{"zero counts of one user", users, "u,home,0\n", false},
		{"counts of one user", users, "u,home,1\n", true},
		{"two users in turn", users, "u,home,1\nv,home,1\n", false},
		{"users with long names", long, strings.Repeat("v", maxLabel) + ",home,1\n", false},
		{"short lines", "", "home,1\n", true},
		{"labels that are not known", "", "0,1\n", false},
		{"counts out of range", "", "home,1e999\n", false},
		{"numerals of 64", "", "home," + strings.Repeat("0", 63) + "1\n", true},
		{"one line", "", "home", false},
		{"one line in quotation marks", "\"", "\"\"", false},
		{"one numeral", "home,", "1", false},
		{"long lines", "", strings.Repeat("x", 4097) + "\n", false},
		{"no lines", "", "\n", false},
		{"zeros", "", "\x00", false},
	}
}

// plain fills room with the stream's text, whole lines, and the rest with empty ones.
func (s privateStream) plain(room []byte) []byte {
	at := copy(room, s.head)
	for range (len(room) - at) / len(s.line) {
		at += copy(room[at:], s.line)
	}
	for i := at; i < len(room); i++ {
		room[i] = '\n'
	}
	return room
}

// packed is plain in gzip.
func (s privateStream) packed(t testing.TB, room []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(s.plain(room))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What reading takes does not grow with the text: 8 times as much text (16 if Full), and no more memory, counting also
// what was freed.
func TestPrivateTakesConstantMemory(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	const short = 1 << 15
	long := numtest.Cases(1<<18, 1<<19)
	took := func(data []byte) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		private.Read(p.c.labels(), data)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, s := range privateStreams() {
		if _, err := ParsePrivate(p, s.plain(make([]byte, short))); (err == nil) != s.usable {
			t.Errorf("%s: %v, want usable %v", s.name, err, s.usable)
		}
		if s.name == "counts out of range" || s.name == "numerals of 64" {
			continue // what strconv makes of each of these is freed with its line
		}
		for _, pack := range []bool{false, true} {
			data := [2][]byte{s.plain(make([]byte, short)), s.plain(make([]byte, long))}
			if pack {
				data = [2][]byte{s.packed(t, data[0]), s.packed(t, data[1])}
			}
			a, b := took(data[0]), took(data[1])
			// 12 KiB for a chunk, a line and a field; gzip has a window of 32 KiB and its tables. More text has more
			// blocks, each with tables of a few KiB that are freed with it.
			least := uint64(1 << 14)
			if pack {
				least = 1 << 17
			}
			if a > least || b > least {
				t.Errorf("%s, packed %v: %d bytes for a text of %d, %d for one of %d", s.name, pack, a, short, b, long)
			}
		}
	}
}

// A release takes every sort of private data, and one of the most bytes there may be, plain and packed, within 256 MiB
// in all, and is paid: a child has no more. The bytes alone are a quarter of that.
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
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	p := mustNew(t, smallConfig(t))
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{Epoch: "e", Budget: "1000000"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	releases := 0
	release := func(name string, data []byte) {
		t.Helper()
		releases++
		p := named(p, releases)
		r, err := Release(t.Context(), p, l, data, nil)
		if err == nil {
			err = p.Belongs(r)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, tc := range given.PrivateCases() {
		release(tc.Name, []byte(tc.Data))
	}
	// That memory does not grow with the text is TestPrivateTakesConstantMemory. So one sort has the most bytes there may
	// be.
	room := make([]byte, private.MaxBytes+1)
	for i, s := range privateStreams() {
		if !numtest.Full() {
			release(s.name+", packed", s.packed(t, room[:private.MaxBytes/512]))
			continue
		}
		if i > 0 {
			release(s.name+", packed", s.packed(t, room[:private.MaxBytes/16]))
		} else {
			release(s.name+", packed", s.packed(t, room[:private.MaxBytes]))
			release(s.name+", packed and too long", s.packed(t, room))
		}
	}
	wantSpent(t, l, big.NewRat(3*int64(releases), 2).RatString()) // epsilon is 3/2
}
