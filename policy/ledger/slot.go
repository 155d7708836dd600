package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
)

// Slot is which epochs of a ledger are its own: those whose number is Number modulo Period. It is drawn once, by
// crypto/rand, and does not depend on data. So among any Period epochs in a row there is one in which a policy with
// this period releases, and they cost its epsilon together.
//
// The budget of a ledger with a slot bounds what any Period epochs in a row cost. Turns count in their epoch. All other
// debits, those before the slot was drawn and the charges of torn lines count in every window.
type Slot struct {
	Epochs         Form
	Period, Number int
}

// turn is what was paid in one epoch of the slot.
type turn struct {
	number int // of the epoch
	paid   *big.Rat
}

// A SilentError says that an epoch is not of the ledger's slot: there is no report, nothing is paid, and this is as it
// should be.
type SilentError struct {
	Epoch, Next string // Next is the next epoch of the slot
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("ledger: silent in %s, this device reports in %s", e.Epoch, e.Next)
}

// Next returns the first epoch of the slot that is not before the given one. Errors: ErrEpoch.
func (s *Slot) Next(epoch string) (string, error) {
	_, err := s.turnOf(epoch)
	if silent := (*SilentError)(nil); errors.As(err, &silent) {
		return silent.Next, nil
	}
	return epoch, err
}

// turnOf returns the number of an epoch of the slot. Errors: ErrEpoch, and a *SilentError for another epoch.
func (s *Slot) turnOf(epoch string) (int, error) {
	if s == nil {
		return 0, fmt.Errorf("%w: no slot", ErrSchedule)
	}
	t, err := s.Epochs.Number(epoch)
	if err != nil {
		return 0, err
	}
	if wait := (s.Number - t%s.Period + s.Period) % s.Period; wait != 0 {
		return 0, &SilentError{epoch, s.Epochs.Name(t + wait)}
	}
	return t, nil
}

// takeSlot takes a line "slot FORM PERIOD NUMBER".
func (s *state) takeSlot(word []string) error {
	period, bad := strconv.Atoi(word[2])
	number, worse := strconv.Atoi(word[3])
	slot := &Slot{Form(word[1]), period, number}
	if bad != nil || worse != nil || slot.line() != "slot "+word[1]+" "+word[2]+" "+word[3] ||
		(Schedule{Epochs: slot.Epochs, Period: max(period, 1)}).Check() != nil || number < 0 || number >= period {
		return errRecord()
	}
	if s.slot != nil {
		return fmt.Errorf("%w: a second slot", ErrCorrupt)
	}
	s.slot = slot
	return nil
}

func (s *Slot) line() string { return fmt.Sprintf("slot %s %d %d", s.Epochs, s.Period, s.Number) }

// payTurn adds what was paid in an epoch of the slot.
func (s *state) payTurn(epoch string, eps *big.Rat) {
	t, err := s.slot.turnOf(epoch)
	if err != nil {
		panic("ledger: a turn outside its slot") // not possible: who calls has asked
	}
	if n := len(s.turns); n == 0 || s.turns[n-1].number != t {
		s.turns = append(s.turns, turn{t, new(big.Rat)})
	}
	paid := s.turns[len(s.turns)-1].paid
	paid.Add(paid, eps)
}

// admit decides whether a debit may be paid now, and as what: "debit" or "turn". It draws the slot if there is none,
// and writes it before it answers.
func (l *Books) admit(d Debit) (kind string, err error) {
	if err := l.inTime(d.Schedule); err != nil {
		return "", err
	}
	if d.Schedule.Period == 0 {
		return "debit", l.fits(d, new(big.Rat).Sub(l.window(), l.always))
	}
	if err := l.fits(d, new(big.Rat)); err != nil { // or there would be a slot of a policy that cannot be paid
		return "", err
	}
	if err := l.drawSlot(d.Schedule); err != nil {
		return "", err
	}
	t, err := l.slot.turnOf(l.epoch)
	if err != nil {
		return "", err
	}
	paid := new(big.Rat)
	if n := len(l.turns); n > 0 && l.turns[n-1].number == t {
		paid = l.turns[n-1].paid
	}
	return "turn", l.fits(d, paid)
}

// fits reports whether a window that holds paid, beside what counts in all, has room for a debit.
func (l *Books) fits(d Debit, paid *big.Rat) error {
	sum := new(big.Rat).Add(l.always, paid)
	if sum.Add(sum, d.Epsilon.Rat()).Cmp(l.budget) <= 0 {
		return nil
	}
	if l.slot == nil {
		return fmt.Errorf("%w: this release costs %v; of the ledger's %s, %s is spent and %s is left",
			ErrBudget, d.Epsilon, l.budget.RatString(), l.spent.RatString(), l.left().RatString())
	}
	return fmt.Errorf("%w: this release costs %v; of the %s for any %d %ss in a row, %s is spent",
		ErrBudget, d.Epsilon, l.budget.RatString(), l.slot.Period, l.slot.Epochs, new(big.Rat).Add(l.always, paid).RatString())
}

// inTime checks the epoch of the ledger: of the policy's form, from its first to its last, not after the clock's, and
// not before the last that was paid for.
func (l *Books) inTime(s Schedule) error {
	if s == (Schedule{}) {
		return nil
	}
	t, err := s.Number(l.epoch)
	if err != nil {
		return err
	}
	if now := s.Epochs.At(l.clock()); l.epoch > now { // a clock without an epoch is before all
		return fmt.Errorf("%w: %s is after %q, which the clock says", ErrEpoch, l.epoch, now)
	}
	if last, n := l.lastOf(s.Epochs); n > t {
		return fmt.Errorf("%w: %s is before %s, which is paid for: wait for %s", ErrEpoch, l.epoch, last, last)
	}
	return nil
}

// lastOf returns the last epoch of a form that was paid for.
func (s *state) lastOf(f Form) (epoch string, number int) {
	for _, e := range s.entries {
		if n, err := f.Number(e.Epoch); err == nil && n > number {
			epoch, number = e.Epoch, n
		}
	}
	return epoch, number
}

// drawSlot holds the slot to a schedule, or draws one and writes it.
func (l *Books) drawSlot(s Schedule) error {
	if has := l.slot; has != nil {
		if has.Epochs != s.Epochs || has.Period != s.Period {
			return fmt.Errorf("%w: the ledger has a slot of one in %d %ss, and the policy asks for one in %d %ss",
				ErrSchedule, has.Period, has.Epochs, s.Period, s.Epochs)
		}
		return nil
	}
	n, err := rand.Int(rand.Reader, big.NewInt(int64(s.Period)))
	if err != nil {
		return fmt.Errorf("%w: no slot: %w", ErrUnusable, err)
	}
	slot := &Slot{s.Epochs, s.Period, int(n.Int64())}
	if err := l.write(slot.line()); err != nil {
		return err
	}
	l.slot, l.open = slot, nil
	return nil
}

// window returns the most that any Period epochs in a row have cost.
func (s *state) window() *big.Rat {
	most := new(big.Rat)
	if len(s.turns) > 0 {
		most.Set(slices.MaxFunc(s.turns, func(a, b turn) int { return a.paid.Cmp(b.paid) }).paid)
	}
	return most.Add(most, s.always)
}
