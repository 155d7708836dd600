package ledger

import "errors"

var (
	// ErrBudget is for a release, or an opening, that the budget does not allow.
	ErrBudget = errors.New("ledger: privacy budget")
	// ErrEpoch is for an epoch that is not a short plain word, or not of the form that is wanted.
	ErrEpoch = errors.New("ledger: invalid epoch")
	// ErrSchedule is for a schedule that no clock can follow.
	ErrSchedule = errors.New("ledger: invalid schedule")
	// ErrKey is for a policy that is not signed by the key of the ledger.
	ErrKey = errors.New("ledger: wrong key")
	// ErrDebit is for a debit of nothing, or for nothing.
	ErrDebit = errors.New("ledger: invalid debit")
	// ErrReport is for bytes that are not a report of the policy that is paid for.
	ErrReport = errors.New("ledger: invalid report")
	// ErrUnusable is for a ledger that is missing, closed, or failed to write.
	ErrUnusable = errors.New("ledger: unusable")
	// ErrLocked is for a ledger that someone else has open.
	ErrLocked = errors.New("ledger: in use")
	// ErrCorrupt is for a text with a broken hash chain or impossible content.
	ErrCorrupt = errors.New("ledger: corrupt")
)
