package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/vectors"
)

// byteStore is a Store that is its text: the one place of these tests that knows the form of a Store.
type byteStore struct{ text []byte }

func (*byteStore) Lock(context.Context) error { return nil }
func (*byteStore) Unlock() error              { return nil }
func (s *byteStore) Load() ([]byte, error)    { return slices.Clone(s.text), nil }
func (s *byteStore) Append(at int64, b []byte) error {
	if at != int64(len(s.text)) {
		return ErrUnusable
	}
	s.text = append(s.text, b...)
	return nil
}

// A vectorStep pays for a report or, with torn, is what a crash leaves.
type vectorStep struct {
	Policy     string  `json:"policy"`
	Eps        string  `json:"eps"`
	Epoch      string  `json:"epoch"`
	Report     string  `json:"report"`
	MaxEpsilon string  `json:"max_epsilon"`
	Torn       *string `json:"torn"`
}

// TestLedgerVectors pays by the vectors of the kind ledger, each time from a ledger that is opened anew. It calls the
// method below Account, which takes reports of other kinds alone.
func TestLedgerVectors(t *testing.T) {
	file, err := vectors.Read("ledger")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range file.Cases {
		var in struct {
			Op     string       `json:"op"`
			Text   string       `json:"text"`
			Budget *string      `json:"budget"`
			Steps  []vectorStep `json:"steps"`
		}
		var out struct {
			Text, Budget, Spent, Remaining string
			Verdicts                       []string
		}
		if err := json.Unmarshal(c.In, &in); err != nil {
			t.Fatal(err)
		}
		if in.Op != "books" {
			continue
		}
		if err := c.Decode(&in, &out); err != nil {
			t.Fatal(err)
		}
		ran++
		store := &byteStore{unhex(t, in.Text)}
		var verdicts []string
		var l Ledger
		err := error(nil)
		for _, s := range append(in.Steps, vectorStep{}) {
			if s.Torn != nil {
				store.text = append(store.text, unhex(t, *s.Torn)...)
				continue
			}
			last := s.Epoch == "" && s.Policy == ""
			if last {
				s.Epoch = "e"
			}
			var verdict string
			if l, verdict, err = payOnce(store, in.Budget, s, last); err != nil {
				break
			}
			if !last {
				verdicts = append(verdicts, verdict)
			}
		}
		want := map[string][]error{"ledger": {ErrCorrupt}, "budget": {ErrBudget},
			"step": {ErrEpoch, ldp.ErrEpsilon, hex.ErrLength, hex.InvalidByteError(0)}}[c.Error]
		switch {
		case c.Valid && err != nil:
			t.Errorf("%s: %v", c.ID, err)
		case !c.Valid && !slices.ContainsFunc(want, func(e error) bool { return errors.Is(err, e) }):
			t.Errorf("%s: %v, want %s", c.ID, err, c.Error)
		case !c.Valid:
		case hex.EncodeToString(store.text) != out.Text || !slices.Equal(verdicts, out.Verdicts):
			t.Errorf("%s: %q\n%s, want %q\n%s", c.ID, verdicts, store.text, out.Verdicts, unhex(t, out.Text))
		case l.Budget().RatString() != out.Budget || l.Spent().RatString() != out.Spent ||
			l.Remaining().RatString() != out.Remaining:
			t.Errorf("%s: %v of %v, %v left; want %s of %s, %s", c.ID, l.Spent(), l.Budget(), l.Remaining(), out.Spent,
				out.Budget, out.Remaining)
		}
	}
	if ran < 400 {
		t.Errorf("%d vectors of books", ran)
	}
}

// payOnce opens the ledger, pays for a step unless it is the last, and closes it.
func payOnce(store Store, budget *string, s vectorStep, last bool) (l Ledger, verdict string, err error) {
	opt := Options{Epoch: s.Epoch}
	if budget != nil {
		opt.Budget = *budget
	}
	var eps ldp.Epsilon
	var id, report []byte
	if !last {
		if eps, err = ldp.ParseEpsilon(s.Eps); err != nil {
			return nil, "", err
		}
		if s.MaxEpsilon != "" {
			if opt.MaxEpsilon, err = ldp.ParseEpsilon(s.MaxEpsilon); err != nil {
				return nil, "", err
			}
		}
		var ok bool
		if id, ok = decodeHex(s.Policy); !ok || len(id) != sha256.Size {
			return nil, "", hex.ErrLength
		}
		if report, err = hex.DecodeString(s.Report); err != nil {
			return nil, "", err
		}
	}
	if l, err = New(store, opt); err != nil || last {
		return l, "", err
	}
	drawn := false
	draw := func() ([]byte, error) {
		drawn = true
		return report, nil
	}
	_, err = pay(l, [sha256.Size]byte(id), eps, draw)
	switch {
	case drawn && err != nil:
		verdict = "report"
	case drawn:
		verdict = "drawn"
	case err == nil:
		verdict = "repeated"
	case errors.Is(err, ErrBudget) && !opt.MaxEpsilon.IsZero() && eps.Cmp(opt.MaxEpsilon) > 0:
		verdict = "maximum"
	case errors.Is(err, ErrBudget):
		verdict = "budget"
	default:
		return l, "", errors.Join(err, l.Close())
	}
	return l, verdict, l.Close()
}

// TestLockVectors judges what the vectors of the kind ledger find at the name of a lock. A name that ends in .lock is
// refused before that.
func TestLockVectors(t *testing.T) {
	file, err := vectors.Read("ledger")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range file.Cases {
		var in struct {
			Op, Name, Boot, Namespace string
			Found                     struct {
				Kind, Bytes string
				Entries     []string
			}
			KernelLocked bool `json:"kernel_locked"`
			KernelLocks  bool `json:"kernel_locks"`
			Processes    map[string]string
		}
		var out struct{ Verdict string }
		if err := json.Unmarshal(c.In, &in); err != nil {
			t.Fatal(err)
		}
		if in.Op != "lock" {
			continue
		}
		if err := c.Decode(&in, &out); err != nil {
			t.Fatal(err)
		}
		ran++
		start := func(pid string) string {
			switch now, there := in.Processes[pid]; {
			case !there:
				return gone
			case now == "unknown":
				return unknown
			default:
				return now
			}
		}
		f := found{kind: in.Found.Kind, text: string(unhex(t, in.Found.Bytes)), names: in.Found.Entries,
			held: in.KernelLocked || !in.KernelLocks}
		got := judge(f, owner{in.Boot, in.Namespace, unknown, unknown}, start)
		if strings.HasSuffix(strings.ToLower(in.Name), ".lock") {
			got = refused
		}
		if got != out.Verdict {
			t.Errorf("%s: %s, want %s: %s", c.ID, got, out.Verdict, c.In)
		}
	}
	if ran < 100 {
		t.Errorf("%d vectors of locks", ran)
	}
}
