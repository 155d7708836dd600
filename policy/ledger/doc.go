// Package ledger keeps the account of one client's privacy losses: what is spent of a budget, and what was released for
// it.
//
// # The guarantee
//
// The debits in the text of a ledger cover every report that has left the device, whenever the process or the device
// stops, and their sum is at most the budget: of a ledger with a slot, the sum over any period. For one policy and one
// epoch there is one report: a further call gets its bytes again, for nothing. A text that somebody has changed is
// refused as a whole.
//
// # How it hangs together
//
// Account is the one way to pay: Books take the debit to a Store, and call the draw after it is durable. Open keeps the
// text in a file, New in a Store of the caller's, which package storetest checks. Read says what a text says.
//
// This package knows no mechanism. It gets the ID and the epsilon of a policy, and reports as bytes; package policy
// imports it, and not the other way round. So an auditor can read it alone, with ldp.Epsilon as the only type from
// elsewhere, and meets in package policy one call of Account, between the private data and the draw.
//
// # What is not covered
//
// A text that is deleted, or replaced by an older copy, cannot be told from a fresh one: who owns the device can always
// do that. The hash chain detects accidents and careless edits, but not an owner who recomputes it. A disk that reports
// a sync that it has not done can lose a debit; the charge for a torn line makes up for what it can.
package ledger
