package ledger

import (
	"fmt"
	"math/big"
)

// Statement is what a ledger says of its losses.
type Statement struct {
	Budget, Spent, Left *big.Rat
	Entries             []Entry  // by first debit
	Torn                *big.Rat // charged for writes that broke off; Spent is this and what the entries have spent
	Incomplete          bool     // the last line has no end yet; its charge is in Torn
	Key                 []byte   // that must have signed a policy, nil if there is none
	Slot                *Slot    // nil if there is none; else Budget bounds any Slot.Period epochs in a row, and
	Window              *big.Rat // this is the most that they have cost: all, without a slot
}

// Read reads the text of a ledger by the same rules as opening the ledger, and changes nothing. The result does
// not retain data.
//
// Errors: ErrCorrupt, with the line, also for a text without a budget.
func Read(data []byte) (Statement, error) {
	var s state
	rest, err := s.replay(data)
	if err != nil {
		return Statement{}, err
	}
	if s.budget == nil {
		return Statement{}, fmt.Errorf("%w: there is no budget", ErrCorrupt)
	}
	out := Statement{Budget: s.budget, Spent: s.spent, Left: s.left(), Torn: s.torn, Incomplete: len(rest) > 0,
		Key: s.key, Slot: s.slot, Window: s.window()}
	for _, e := range s.entries {
		out.Entries = append(out.Entries, *e)
	}
	return out, nil
}
