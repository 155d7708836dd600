package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// otherBytes is a report of a kind that this package does not know: four bytes, the ID, and a body.
func otherBytes(id [32]byte, body string) []byte {
	return append(append([]byte("tst1"), id[:]...), body...)
}

// TestUnaccounted: without books a draw happens each time, and its error is the caller's, before the draw and in it.
func TestUnaccounted(t *testing.T) {
	no, d := errors.New("no"), Debit{Policy: [32]byte{7}, Epsilon: mustEpsilon(t, "1")}
	report := otherBytes(d.Policy, "index 5")
	got, err := Account(UnaccountedForTesting(), d, func() (Draw, error) {
		return func() ([]byte, error) { return report, nil }, nil
	})
	if err != nil || !bytes.Equal(got, report) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = Account(UnaccountedForTesting(), d, func() (Draw, error) { return nil, no }); got != nil || !errors.Is(err, no) {
		t.Errorf("not ready: %q, %v", got, err)
	}
	got, err = Account(UnaccountedForTesting(), d, func() (Draw, error) {
		return func() ([]byte, error) { return nil, no }, nil
	})
	if got != nil || !errors.Is(err, no) {
		t.Errorf("no draw: %q, %v", got, err)
	}
}

// An account of another kind: the debit is in the file when draw runs, the report when Account returns; a repeat, also
// after the ledger was opened again, is the same bytes for nothing; a Policy under the same ledger has books of its
// own.
func TestAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "3")
	id, eps := [32]byte{7}, mustEpsilon(t, "1/2")
	want := otherBytes(id, "index 5")
	draws := 0
	draw := func() ([]byte, error) {
		data, err := os.ReadFile(path)
		if line := fmt.Sprintf("\ndebit 1/2 %x e ", id); err != nil || !strings.Contains(string(data), line) ||
			bytes.Contains(data, []byte("\nreport")) {
			t.Errorf("at the draw the file is %q, %v", data, err)
		}
		draws++
		return want, nil
	}
	for range 3 {
		if got, err := pay(l, id, eps, draw); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Account = %q, %v", got, err)
		}
		data, err := os.ReadFile(path)
		if line := fmt.Sprintf("\nreport %x e ", want); err != nil || !strings.Contains(string(data), line) {
			t.Fatalf("the file is %q, %v", data, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = reopen(t, path, "e", "")
	}
	wantSpent(t, l, "1/2")
	if draws != 1 {
		t.Errorf("%d draws", draws)
	}
	if r, err := Release(t.Context(), epsPolicy(t, "2", ""), l, nil, identity); err != nil ||
		len(r) != 80 {
		t.Errorf("a Policy beside it: %v, %v", r, err)
	}
	wantSpent(t, l, "5/2")
	if _, err := pay(l, [32]byte{8}, mustEpsilon(t, "1"), draw); !errors.Is(err, ErrBudget) {
		t.Errorf("beyond the budget: %v", err)
	}
}

// What draw must not return is an error after the debit, and is not recorded.
func TestAccountRefuses(t *testing.T) {
	id := [32]byte{7}
	source := errors.New("source")
	for _, tc := range []struct {
		name string
		b    []byte
		err  error
		want error
	}{
		{"an error", otherBytes(id, "x"), source, source},
		{"nothing", nil, nil, ErrReport},
		{"no content", otherBytes(id, ""), nil, ErrReport},
		{"too long", otherBytes(id, strings.Repeat("x", 221)), nil, ErrReport},
		{"another ID", otherBytes([32]byte{8}, "x"), nil, ErrReport},
		{"the magic of a Policy's", append([]byte(outputs), make([]byte, 36)...), nil, ErrReport},
	} {
		l, file := inMemory(t, nil)
		if b, err := pay(l, id, mustEpsilon(t, "1"), func() ([]byte, error) { return tc.b, tc.err }); !errors.Is(err,
			tc.want) || b != nil {
			t.Errorf("%s: %q, %v", tc.name, b, err)
		}
		if l.Spent().Cmp(big.NewRat(1, 1)) != 0 || l.entries[0].Report != nil || strings.Contains(file.String(), "report") {
			t.Errorf("%s: spent %v, recorded %q", tc.name, l.Spent(), l.entries[0].Report)
		}
	}
	l, _ := inMemory(t, nil)
	never := func() ([]byte, error) { t.Error("drawn"); return nil, nil }
	for _, tc := range []struct {
		l    Ledger
		eps  string
		draw func() ([]byte, error)
		want error
	}{{nil, "1", never, ErrUnusable}, {(*Books)(nil), "1", never, ErrUnusable}, {l, "", never, ErrDebit},
		{l, "1", nil, ErrDebit}} {
		eps := mustEpsilon(t, "1")
		if tc.eps == "" {
			eps = ldp.Epsilon{}
		}
		if _, err := pay(tc.l, id, eps, tc.draw); !errors.Is(err, tc.want) {
			t.Errorf("pay(%v, %q): %v", tc.l, tc.eps, err)
		}
	}
	if l.Spent().Sign() != 0 {
		t.Errorf("spent %v", l.Spent())
	}
	if b, err := pay(l, id, mustEpsilon(t, "1"),
		func() ([]byte, error) { return otherBytes(id, strings.Repeat("x", 220)), nil }); err != nil || len(b) != 256 {
		t.Errorf("the largest report: %d bytes, %v", len(b), err)
	}
}

// What a report must be, to the byte: 37 to 256 of them, with the ID, and of the kind of package policy an index in
// four below 2^20. Zeros alone are neither an ID nor an index, but each is, if the other is not zero.
func TestCheckReport(t *testing.T) {
	id, zero := [32]byte{7}, [32]byte{}
	index := func(id [32]byte, b ...byte) []byte { return append(append([]byte("wpm1"), id[:]...), b...) }
	for _, tc := range []struct {
		b    []byte
		id   [32]byte
		want string // of the error
	}{
		{index(id, 0, 0, 0, 0), id, ""}, {index(id, 255, 255, 15, 0), id, ""}, {index(zero, 1, 0, 0, 0), zero, ""},
		{index(id, 0, 0, 16, 0), id, "index below 1048576"}, {index(id, 0, 0, 0, 1), id, "index below 1048576"},
		{index(id, 1, 0, 0), id, "index below"}, {index(id, 1, 0, 0, 0, 0), id, "index below"},
		{index(zero, 0, 0, 0, 0), zero, "index below"},
		{index(id, 1, 0, 0, 0), zero, "policy 070000000000, not of 000000000000"},
		{otherBytes(zero, "\x00"), zero, ""}, {otherBytes(id, "x"), id, ""},
		{otherBytes(id, ""), id, "36 bytes, want 37 to 256"}, {nil, id, "0 bytes, want 37 to 256"},
		{otherBytes(id, strings.Repeat("x", 220)), id, ""},
		{otherBytes(id, strings.Repeat("x", 221)), id, "257 bytes, want 37 to 256"},
	} {
		err := checkReport(tc.b, tc.id)
		if (err == nil) != (tc.want == "") ||
			err != nil && (!errors.Is(err, ErrReport) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%x of %x: %v, want %q", tc.b, tc.id, err, tc.want)
		}
	}
}

// A panic in draw leaves the debit and a ledger that works.
func TestAccountPanic(t *testing.T) {
	l, _ := inMemory(t, nil)
	id := [32]byte{7}
	func() {
		defer func() { _ = recover() }()
		_, _ = pay(l, id, mustEpsilon(t, "1"), func() ([]byte, error) { panic("draw") })
	}()
	if b, err := pay(l, id, mustEpsilon(t, "1"),
		func() ([]byte, error) { return otherBytes(id, "x"), nil }); err != nil || string(b) != string(otherBytes(id, "x")) {
		t.Errorf("%q, %v", b, err)
	}
	if l.Spent().Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("spent %v, want 2", l.Spent())
	}
}

// Lines with a good hash and an impossible report of another kind are refused.
func TestAccountImpossibleRecords(t *testing.T) {
	id := [32]byte{7}
	paid, good := fmt.Sprintf("debit 1 %x e", id), fmt.Sprintf("report %x e", otherBytes(id, "x"))
	for _, tc := range []struct {
		bodies []string
		ok     bool
	}{
		{[]string{paid, good}, true},
		{[]string{good}, false},
		{[]string{paid, good, good}, false},
		{[]string{paid, fmt.Sprintf("report %x f", otherBytes(id, "x"))}, false},
		{[]string{paid, fmt.Sprintf("report %x e", otherBytes([32]byte{8}, "x"))}, false},
		{[]string{paid, fmt.Sprintf("report %x e", otherBytes(id, ""))}, false},
		{[]string{paid, fmt.Sprintf("report %x e", otherBytes(id, strings.Repeat("x", 221)))}, false},
		{[]string{paid, fmt.Sprintf("report %X e", otherBytes(id, "\xff"))}, false},
		{[]string{paid, good[:len(good)-3] + " e"}, false},
	} {
		var fresh state
		if _, err := fresh.replay(sealed(t, append([]string{"wpm-ledger-1 9"}, tc.bodies...)...)); tc.ok != (err == nil) ||
			err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", tc.bodies, err)
		}
	}
}
