package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
)

// at is a clock that says the first of a month.
func at(t testing.TB, month string) func() time.Time {
	t.Helper()
	now, ok := Month.begin(month)
	if !ok {
		t.Fatal(month)
	}
	return func() time.Time { return now }
}

// payAt pays for a report in a store that is opened for one epoch.
func payAt(store Store, budget, epoch string, clock func() time.Time, d Debit) ([]byte, error) {
	l, err := New(store, Options{Epoch: epoch, Budget: budget, Clock: clock})
	if err != nil {
		return nil, err
	}
	b, err := Account(l, d, func() (Draw, error) {
		return func() ([]byte, error) { return otherBytes(d.Policy, epoch), nil }, nil
	})
	return b, errors.Join(err, l.Close())
}

// monthly is a debit of a policy with a period.
func monthly(t testing.TB, eps, note string, period int) Debit {
	d := epsPolicy(t, eps, note).debit()
	d.Schedule = Schedule{Epochs: Month, Period: period}
	return d
}

// slotOf reads the slot of a ledger.
func slotOf(t testing.TB, text []byte) *Slot {
	t.Helper()
	s, err := Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Slot
}

// The first release under a period writes the slot, which then stays. In other epochs nothing is written and nothing
// drawn. Three years of a budget of one report a year have three reports, each in the same month.
func TestSlot(t *testing.T) {
	store, d := new(memory), monthly(t, "4", "", 12)
	first, _ := Month.Number("2026-01")
	paid := []int{}
	var slot Slot
	for n := range 36 {
		epoch := Month.Name(first + n)
		before := store.Len()
		_, err := payAt(store, "4", epoch, at(t, epoch), d)
		got := slotOf(t, store.Bytes())
		if n == 0 {
			if lines := strings.Split(store.String(), "\n"); got == nil || !strings.HasPrefix(lines[1], got.line()+" ") {
				t.Fatalf("the second line is not the slot:\n%s", store)
			}
			slot = *got
		} else if *got != slot {
			t.Fatalf("%s: slot %+v, before %+v", epoch, *got, slot)
		}
		var silent *SilentError
		switch turn := (first+n)%12 == slot.Number; {
		case turn && err == nil:
			paid = append(paid, n)
		case turn || !errors.As(err, &silent):
			t.Fatalf("%s, slot %+v: %v", epoch, slot, err)
		case n > 0 && store.Len() != before:
			t.Errorf("%s: silence wrote %q", epoch, store.Bytes()[before:])
		case silent.Epoch != epoch:
			t.Errorf("%+v in %s", silent, epoch)
		default:
			next, err := Month.Number(silent.Next)
			if err != nil || next%12 != slot.Number || next <= first+n || next > first+n+12 {
				t.Errorf("%s: the next is %s", epoch, silent.Next)
			}
		}
	}
	s, err := Read(store.Bytes())
	if err != nil || len(paid) != 3 || s.Spent.Cmp(big.NewRat(12, 1)) != 0 || s.Window.Cmp(big.NewRat(4, 1)) != 0 ||
		s.Left.Cmp(big.NewRat(4, 1)) != 0 {
		t.Errorf("%v, %+v, %v", paid, s, err)
	}
}

// What may not be paid in an epoch is refused, with nothing written.
func TestSlotRefusals(t *testing.T) {
	d := monthly(t, "2", "", 2)
	now := "2026-06"
	store := new(memory)
	for _, epoch := range []string{"2026-05", now} { // one of the two is the slot's
		if _, err := payAt(store, "3", epoch, at(t, now), d); err != nil && !errors.As(err, new(*SilentError)) {
			t.Fatal(err)
		}
	}
	s, err := Read(store.Bytes())
	if err != nil || len(s.Entries) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	mine := s.Entries[0].Epoch
	n, _ := Month.Number(mine)
	with := func(change func(d *Debit)) Debit { d := monthly(t, "1", "other", 2); change(&d); return d }
	for _, tc := range []struct {
		name, epoch, clock string
		d                  Debit
		want               error
	}{
		{"another period", mine, now, with(func(d *Debit) { d.Schedule.Period = 3 }), ErrSchedule},
		{"another form", "2026", now, with(func(d *Debit) { d.Schedule.Epochs = Year }), ErrSchedule},
		{"an impossible period", mine, now, with(func(d *Debit) { d.Schedule.Period = 1e9 }), ErrSchedule},
		{"a last epoch of no form", mine, now, with(func(d *Debit) { d.Schedule = Schedule{Last: mine} }), ErrSchedule},
		{"an epoch of another form", "2026-W01", now, with(func(*Debit) {}), ErrEpoch},
		{"an epoch that is a word", "june", now, with(func(*Debit) {}), ErrEpoch},
		{"before the first", mine, now, with(func(d *Debit) { d.Schedule.First = "2027-01" }), ErrEpoch},
		{"after the last", mine, now, with(func(d *Debit) { d.Schedule.Last = "2026-04" }), ErrEpoch},
		{"after the clock", Month.Name(n + 2), mine, with(func(*Debit) {}), ErrEpoch},
		{"a clock before the year 2000", mine, "", with(func(*Debit) {}), ErrEpoch},
		{"before the last that is paid for", Month.Name(n - 2), now, with(func(*Debit) {}), ErrEpoch},
		{"above what is left in the window", mine, now, with(func(d *Debit) { d.Epsilon = mustEpsilon(t, "1.1") }),
			ErrBudget},
		{"no period, above the budget", "any", now, with(func(d *Debit) {
			d.Schedule, d.Epsilon = Schedule{}, mustEpsilon(t, "1.1")
		}), ErrBudget},
	} {
		before := store.String()
		clock := func() time.Time { return time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) }
		if tc.clock != "" {
			clock = at(t, tc.clock)
		}
		if _, err := payAt(store, "", tc.epoch, clock, tc.d); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
		if store.String() != before {
			t.Errorf("%s: written", tc.name)
		}
	}
	// A policy without a period is paid if every window has room, and counts in all of them from then on.
	free := epsPolicy(t, "1", "free").debit()
	if _, err := payAt(store, "", "any", at(t, now), free); err != nil {
		t.Error(err)
	}
	if _, err := payAt(store, "", Month.Name(n+2), at(t, Month.Name(n+2)), monthly(t, "2", "third", 2)); err != nil {
		t.Errorf("1 of 3 in every window, and 2 more: %v", err)
	}
	if _, err := payAt(store, "", Month.Name(n+4), at(t, Month.Name(n+4)), monthly(t, "2.1", "fourth", 2)); !errors.Is(err,
		ErrBudget) {
		t.Errorf("1 of 3 in every window, and 2.1 more: %v", err)
	}
	// So do debits from before the slot.
	old := new(memory)
	if _, err := payAt(old, "3", "any", at(t, now), epsPolicy(t, "2", "").debit()); err != nil {
		t.Fatal(err)
	}
	before := old.String()
	if _, err := payAt(old, "", now, at(t, now), d); !errors.Is(err, ErrBudget) || old.String() != before {
		t.Errorf("2 of 3 spent before: %v", err)
	}
	// No ledger gets a slot that no ledger can have.
	fresh := new(memory)
	d.Schedule.Epochs = Free
	for range 2 {
		if _, err := payAt(fresh, "4", mine, at(t, now), d); !errors.Is(err, ErrSchedule) {
			t.Errorf("a period of no form: %v", err)
		}
	}
}

// The last epoch that is paid for is the latest of its form, by whatever policy, and not what was paid last.
func TestLastEpoch(t *testing.T) {
	store, clock := new(memory), at(t, "2026-12")
	in := func(note string) Debit {
		d := epsPolicy(t, "1", note).debit()
		d.Schedule = Schedule{Epochs: Month}
		return d
	}
	for _, tc := range []struct {
		d     Debit
		epoch string
		want  string // of the error
	}{
		{in("a"), "2026-03", ""},
		{epsPolicy(t, "1", "word").debit(), "2026-01", ""}, // in no order
		{in("b"), "2026-02", "2026-02 is before 2026-03, which is paid for: wait for 2026-03"},
		{in("b"), "2026-03", ""},
		{epsPolicy(t, "1", "word").debit(), "2026-05", ""},
		{epsPolicy(t, "1", "word").debit(), "word", ""}, // of no form
		{in("a"), "2026-04", "2026-04 is before 2026-05"},
		{in("a"), "2026-03", ""}, // a repeat
		{in("a"), "2026-12", ""},
		{in("a"), "2027-01", `2027-01 is after "2026-12", which the clock says`},
	} {
		_, err := payAt(store, "9", tc.epoch, clock, tc.d)
		if (err == nil) != (tc.want == "") ||
			err != nil && (!errors.Is(err, ErrEpoch) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.epoch, err, tc.want)
		}
	}
}

// Lines of slots and turns that no ledger has.
func TestSlotLines(t *testing.T) {
	id := [32]byte{7}
	turn := func(epoch string) string { return fmt.Sprintf("turn 1 %x %s", id, epoch) }
	for _, tc := range []struct {
		bodies []string
		ok     bool
	}{
		{[]string{"slot month 12 1"}, true},
		{[]string{"slot month 12 1", turn("2026-01")}, true},
		{[]string{"slot month 12 1", turn("2026-01"), fmt.Sprintf("report %x 2026-01", otherBytes(id, "x")), turn("2027-01")},
			true},
		{[]string{"slot month 12 1", turn("2026-01"), turn("2026-01")}, true}, // another attempt
		{[]string{"slot day 10000 9999"}, true}, {[]string{"slot month 2 0"}, true},
		{[]string{"slot month 12 1", "slot month 12 1"}, false},
		{[]string{"slot month 12 12"}, false}, {[]string{"slot month 12 -1"}, false}, {[]string{"slot month 12 01"}, false},
		{[]string{"slot month 0 0"}, false}, {[]string{"slot month 1 0"}, false}, {[]string{"slot month 10001 0"}, false},
		{[]string{"slot month x 0"}, false}, {[]string{"slot month 2 x"}, false}, {[]string{"slot month 0 -1"}, false},
		{[]string{"slot month -2 -1"}, false}, {[]string{"slot month 2 99999999999999999999"}, false},
		{[]string{"slot month +2 0"}, false}, {[]string{"slot decade 2 0"}, false}, {[]string{"slot  2 0"}, false},
		{[]string{"slot month 12"}, false}, {[]string{"slot month 12 1 1"}, false},
		{[]string{turn("2026-01")}, false}, // without a slot
		{[]string{"slot month 12 1", turn("2026-02")}, false},
		{[]string{"slot month 12 1", turn("2026")}, false},
		{[]string{"slot month 12 1", turn("2027-01"), turn("2026-01")}, false},
	} {
		var s state
		_, err := s.replay(sealed(t, append([]string{"wpm-ledger-1 9"}, tc.bodies...)...))
		if (err == nil) != tc.ok || err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", tc.bodies, err)
		}
	}
}

// Cut off at every byte, a ledger with a slot opens again. A slot whose line is whole stays, one whose line is torn is
// drawn anew, and nothing had been released under it. What was drawn is covered.
func TestSlotKilledAtEveryByte(t *testing.T) {
	d := monthly(t, "1/3", "", 2)
	store := new(memory)
	for _, epoch := range []string{"2026-01", "2026-02", "2026-03", "2026-04"} {
		if _, err := payAt(store, "5", epoch, at(t, epoch), d); err != nil && !errors.As(err, new(*SilentError)) {
			t.Fatal(err)
		}
	}
	text := store.Bytes()
	slot := slotOf(t, text)
	end := bytes.Index(text, []byte(slot.line())) + bytes.IndexByte(text[bytes.Index(text, []byte(slot.line())):], '\n')
	for n := range text {
		if n == 0 {
			continue
		}
		cut := &memory{*bytes.NewBuffer(bytes.Clone(text[:n]))}
		if _, err := payAt(cut, "5", "2026-05", at(t, "2026-05"), d); err != nil && !errors.As(err, new(*SilentError)) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		s, err := Read(cut.Bytes())
		if err != nil || s.Slot == nil || n > end && *s.Slot != *slot {
			t.Fatalf("%d bytes: %+v, %v, the slot was %+v", n, s.Slot, err, slot)
		}
		if s.Window.Cmp(s.Budget) > 0 {
			t.Fatalf("%d bytes: %v in a window of %v", n, s.Window, s.Budget)
		}
	}
}

// A keeper pays, or does not.
type keeper func(d Debit, epoch string, now string) (paid bool)

// checkWindow takes a keeper through a schedule of epochs, clocks and policies that a fresh eye may try, and holds the
// statement: no 3 epochs in a row cost more than the budget of 4, epochs do not go back, and what fits is paid.
func checkWindow(t testing.TB, r *rand.Rand, pay keeper) error {
	const period, steps = 3, 60
	start, _ := Month.Number("2026-01")
	debits := []Debit{monthly(t, "4", "a", period), monthly(t, "3", "b", period), monthly(t, "1", "c", period),
		epsPolicy(t, "1/2", "word").debit(), epsPolicy(t, "1", "month").debit()}
	debits[1].Schedule.First = "2026-02"
	debits[4].Schedule = Schedule{Epochs: Month}
	four := big.NewRat(4, 1)
	type occasion struct{ policy, number int }
	always, turns, done := new(big.Rat), map[int]*big.Rat{}, map[occasion]bool{}
	now, last, slot := start, 0, -1
	for range steps {
		now += []int{0, 0, 1, 1, 2, 7, -3}[r.IntN(7)]
		n := now + []int{0, 0, 0, -1, -2, 1, 3}[r.IntN(7)]
		i := r.IntN(len(debits))
		if i >= 3 && r.IntN(6) > 0 {
			continue
		}
		d := debits[i]
		epoch := Month.Name(n)
		if i == 3 {
			epoch = fmt.Sprintf("word-%d", n)
		}
		if done[occasion{i, n}] { // a repeat is free
			continue
		}
		held := new(big.Rat)
		if i < 3 && turns[n] != nil {
			held.Set(turns[n])
		}
		for _, p := range turns {
			if i >= 3 && p.Cmp(held) > 0 {
				held.Set(p)
			}
		}
		sum := new(big.Rat).Add(always, held)
		fits := sum.Add(sum, d.Epsilon.Rat()).Cmp(four) <= 0
		inTime := i == 3 || n <= now && n >= last && epoch >= d.Schedule.First
		paid := pay(d, epoch, Month.Name(now))
		switch {
		case paid && !inTime:
			return fmt.Errorf("%s is paid by policy %d, the clock says %s, the last was %s", epoch, i, Month.Name(now),
				Month.Name(last))
		case !paid && inTime && fits && (i >= 3 || slot >= 0 && n%period == slot):
			return fmt.Errorf("%s is refused to policy %d, slot %d, spent %v and %v", epoch, i, slot, always, turns)
		case !paid:
			continue
		}
		done[occasion{i, n}] = true
		if i < 3 {
			if turns[n] == nil {
				turns[n] = new(big.Rat)
			}
			turns[n].Add(turns[n], d.Epsilon.Rat())
			slot = n % period
		} else {
			always.Add(always, d.Epsilon.Rat())
		}
		if i != 3 {
			last = n
		}
		for first := range turns {
			window := new(big.Rat).Set(always)
			for k := range period {
				if p := turns[first+k]; p != nil {
					window.Add(window, p)
				}
			}
			if window.Cmp(four) > 0 {
				return fmt.Errorf("%v in the %d epochs from %s", window, period, Month.Name(first))
			}
		}
	}
	return nil
}

// realKeeper opens a ledger anew for every release.
func realKeeper(t testing.TB) keeper {
	store := new(memory)
	return func(d Debit, epoch, now string) bool {
		_, err := payAt(store, "4", epoch, at(t, now), d)
		if s, bad := Read(store.Bytes()); bad != nil || s.Window.Cmp(s.Budget) > 0 {
			t.Errorf("%+v, %v", s, bad)
		}
		return err == nil
	}
}

// toyKeeper is a ledger in memory with at most one bug.
func toyKeeper(bug string, r *rand.Rand) keeper {
	const period = 3
	always, turns := new(big.Rat), map[int]*big.Rat{}
	slot, last := r.IntN(period), 0
	return func(d Debit, epoch, now string) bool {
		n, err := Month.Number(epoch)
		clock, _ := Month.Number(now)
		formed := d.Schedule.Epochs == Month
		if formed && (err != nil || n > clock || epoch < d.Schedule.First || n < last && bug != "epoch order dropped") {
			return false
		}
		sum, most := new(big.Rat).Set(always), new(big.Rat)
		for at, p := range turns {
			if bug == "budget per ledger" || at == n && d.Schedule.Period > 0 {
				sum.Add(sum, p)
			}
			if p.Cmp(most) > 0 {
				most = p
			}
		}
		if d.Schedule.Period == 0 && bug != "budget per ledger" && bug != "no period, and windows forgotten" {
			sum.Add(sum, most)
		}
		mine := slot
		switch bug {
		case "slot redrawn":
			mine = int(sha256.Sum256([]byte{byte(n / period)})[0]) % period
		case "slot from first":
			if d.Schedule.First != "" {
				first, _ := Month.Number(d.Schedule.First)
				mine = (slot + first) % period
			}
		}
		if d.Schedule.Period > 0 && n%period != mine || sum.Add(sum, d.Epsilon.Rat()).Cmp(big.NewRat(4, 1)) > 0 {
			return false
		}
		if d.Schedule.Period > 0 {
			if turns[n] == nil {
				turns[n] = new(big.Rat)
			}
			turns[n].Add(turns[n], d.Epsilon.Rat())
		} else {
			always.Add(always, d.Epsilon.Rat())
		}
		if formed {
			last = n
		}
		return true
	}
}

// TestWindow: no schedule of epochs, policies and clocks makes a person pay more than the statement says.
func TestWindow(t *testing.T) {
	seeds := uint64(numtest.Cases(60, 3000))
	for seed := range seeds {
		if err := checkWindow(t, rand.New(rand.NewPCG(seed, 1)), realKeeper(t)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	caught := map[string]int{}
	for _, bug := range []string{"", "slot from first", "slot redrawn", "budget per ledger", "epoch order dropped",
		"no period, and windows forgotten"} {
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 2))
			if err := checkWindow(t, r, toyKeeper(bug, r)); err != nil {
				if caught[bug]++; caught[bug] == 1 {
					t.Logf("%s, seed %d: %v", bug, seed, err)
				}
			}
		}
		if (caught[bug] > 0) != (bug != "") {
			t.Errorf("planted %q: caught by %d of %d schedules", bug, caught[bug], seeds)
		}
	}
	t.Log(caught)
}

const slotProcess = "WPM_SLOT_LEDGER"

// slotProcesses is what this program does as one of the processes of TestSlotProcesses.
func slotProcesses() {
	path := os.Getenv(slotProcess)
	if path == "" {
		return
	}
	var t testing.T
	for _, epoch := range []string{"2026-01", "2026-02", "2026-03", "2026-04"} {
		clock := func() time.Time { return time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC) }
		l, err := Open(path, Options{Epoch: epoch, Budget: "1", Wait: time.Minute, Clock: clock})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		d := monthly(&t, "1", "", 2)
		b, err := Account(l, d, func() (Draw, error) {
			return func() ([]byte, error) { return otherBytes(d.Policy, fmt.Sprint(os.Getpid())), nil }, nil
		})
		if err == nil {
			fmt.Printf("%s %x\n", epoch, b)
		}
		_ = l.Close()
	}
	os.Exit(0)
}

// 64 processes at once on a new ledger draw one slot, and each of its epochs has one report, which all of them get. With
// every third killed, nothing that was printed is lost, and a window never holds more than its budget.
func TestSlotProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, kill := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "ledger")
		outs := make([]bytes.Buffer, 64)
		var running []*exec.Cmd
		for i := range outs {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd := exec.CommandContext(ctx, self)
			cmd.Env, cmd.Stdout = append(os.Environ(), slotProcess+"="+path), &outs[i]
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			running = append(running, cmd)
			if kill && i%3 == 0 {
				go func() { time.Sleep(time.Duration(i) * 5 * time.Millisecond); cancel() }() // SIGKILL
			}
		}
		for _, cmd := range running {
			_ = cmd.Wait()
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Read(text)
		if err != nil || s.Slot == nil || s.Window.Cmp(s.Budget) > 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		reports := map[string]string{}
		for _, e := range s.Entries {
			reports[e.Epoch] = fmt.Sprintf("%x", e.Report)
		}
		for i := range outs {
			for line := range strings.Lines(outs[i].String()) {
				epoch, report, whole := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				if whole && strings.HasSuffix(line, "\n") && reports[epoch] != report {
					t.Errorf("a process printed %q, the ledger has %q", line, reports)
				}
			}
		}
		if epochs := slices.Sorted(maps.Keys(reports)); !kill && len(epochs) != 2 {
			t.Errorf("reports of %v", epochs)
		}
	}
}

// The first payment under a key pins it, before anything else. Without the key, or under another, nothing is paid or
// written; a repeat is free.
func TestKey(t *testing.T) {
	key, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	store := new(memory)
	m := epsPolicy(t, "1", "")
	open := func(key []byte, epoch string) error {
		l, err := New(store, Options{Epoch: epoch, Budget: "9", Key: key})
		if err != nil {
			return err
		}
		_, err = Release(t.Context(), m, l, nil, identity)
		return errors.Join(err, l.Close())
	}
	if err := open(nil, "a"); err != nil {
		t.Fatal(err)
	}
	if err := open(key[:31], "b"); !errors.Is(err, ErrKey) {
		t.Errorf("a short key: %v", err)
	}
	if err := open(key, "b"); err != nil || !strings.Contains(store.String(), fmt.Sprintf("\nkey %x ", key)) {
		t.Fatalf("%v\n%s", err, store)
	}
	before := store.String()
	for _, k := range [][]byte{nil, other} {
		words := fmt.Sprintf("and not by %x", other)
		if k == nil {
			words = "no key is named"
		}
		if err := open(k, "c"); !errors.Is(err, ErrKey) || store.String() != before || !strings.Contains(err.Error(), words) {
			t.Errorf("key %x: %v, want %q", k, err, words)
		}
		if err := open(k, "b"); err != nil {
			t.Errorf("a repeat under %x: %v", k, err)
		}
	}
	if err := open(key, "c"); err != nil {
		t.Error(err)
	}
	// One opening pins once, whatever it pays for.
	once := new(memory)
	l, err := New(once, Options{Epoch: "a", Budget: "9", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []string{"1", "2"} {
		if _, err := Release(t.Context(), epsPolicy(t, eps, ""), l, nil, identity); err != nil {
			t.Errorf("eps %s: %v", eps, err)
		}
	}
	if err := l.Close(); err != nil || strings.Count(once.String(), "\nkey ") != 1 {
		t.Errorf("%v\n%s", err, once)
	}
	// Also before the device's own limit: what is refused for that has pinned its key, or is refused for its key.
	fresh := new(memory)
	for k, want := range map[string]error{string(key): ErrBudget, string(other): ErrKey} {
		l, err := New(fresh, Options{Epoch: "a", Budget: "9", Key: key, MaxEpsilon: mustEpsilon(t, "1/2")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Release(t.Context(), m, l, nil, identity); !errors.Is(err, ErrBudget) {
			t.Errorf("above the limit: %v", err)
		}
		_ = l.Close()
		if l, err = New(fresh, Options{Epoch: "a", Key: []byte(k), MaxEpsilon: mustEpsilon(t, "1/2")}); err != nil {
			t.Fatal(err)
		}
		if _, err := Release(t.Context(), m, l, nil, identity); !errors.Is(err, want) {
			t.Errorf("above the limit, under %x: %v, want %v", k, err, want)
		}
		_ = l.Close()
	}
	if s, err := Read(store.Bytes()); err != nil || !bytes.Equal(s.Key, key) || s.Spent.Cmp(big.NewRat(3, 1)) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	hex := strings.Repeat("ab", 32)
	for _, bodies := range [][]string{{"key " + hex[:62]}, {"key " + strings.ToUpper(hex)}, {"key"}, {"key " + hex + " x"},
		{"key " + hex, "key " + hex}} {
		var s state
		if _, err := s.replay(sealed(t, append([]string{"wpm-ledger-1 9"}, bodies...)...)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", bodies, err)
		}
	}
}
