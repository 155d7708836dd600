package ledger

import (
	"errors"
	"fmt"
	"math/big"
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

func (s *Slot) line() string { return fmt.Sprintf("slot %s %d %d", s.Epochs, s.Period, s.Number) }
