package ledger

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/wpm-go/wpm/ldp"
)

// Ledger pays for releases. Open gives one in a file, New one in a Store of the caller's; the only other implementation
// is UnaccountedForTesting, and none can be written outside this package.
type Ledger interface {
	Spent() *big.Rat     // the sum of all epsilons paid, exactly
	Budget() *big.Rat    // the bound on it
	Remaining() *big.Rat // Budget - Spent, and at least 0
	Epoch() string
	Close() error // gives up the store; further releases get ErrUnusable

	account(d Debit, ready func() (Draw, error)) ([]byte, error)
}

// A Debit is what a report costs.
type Debit struct {
	Policy   [sha256.Size]byte // the SHA-256 of the published file
	Epsilon  ldp.Epsilon
	Schedule Schedule // the policy's: when a report may be paid for
}

// Draw draws a report, once it is paid for.
type Draw func() ([]byte, error)

// Account pays from l for a report, of a mechanism of any kind. It calls ready, writes the debit so that it is durable,
// calls the draw that ready returned once, which must do all the drawing, writes the report, and returns it. Another
// call for the same policy in the same epoch returns the same report, without a debit and without a call of ready.
//
// A report has at most 256 bytes: four that name its kind, then the ID of its policy, then the content of the kind.
// "wpm1" are the reports of package policy, whose content is the index of an output, in four bytes, below 2^20.
//
// Account guarantees the bookkeeping alone. The package of draw must ensure that draw is eps-differentially private,
// and that its errors do not depend on private data.
//
// Errors: ErrDebit for a zero epsilon or a nil function, ErrUnusable, those of the ledger, ErrEpoch, ErrSchedule and a
// *SilentError for an epoch in which the schedule does not allow this ledger a report, those of ready, after which
// nothing is paid, those of draw, and ErrReport if draw returns anything other than a report of this policy. After the
// last two, or if the debit could not be written, the debit stands.
func Account(l Ledger, d Debit, ready func() (Draw, error)) ([]byte, error) {
	if l == nil {
		return nil, fmt.Errorf("%w: nil", ErrUnusable)
	}
	if d.Epsilon.IsZero() || ready == nil {
		return nil, fmt.Errorf("%w: no epsilon, or nothing to draw", ErrDebit)
	}
	return l.account(d, func() (Draw, error) {
		draw, err := ready()
		if err != nil {
			return nil, err
		}
		if draw == nil {
			return nil, fmt.Errorf("%w: nothing to draw", ErrDebit)
		}
		return func() ([]byte, error) {
			b, err := draw()
			if err == nil {
				err = checkReport(b, d.Policy)
			}
			if err != nil {
				return nil, err
			}
			return b, nil
		}, nil
	})
}

// UnaccountedForTesting returns a ledger that records nothing: every release under it draws anew and is not charged, so
// the true privacy loss grows with every call. Never use it with private data.
func UnaccountedForTesting() Ledger { return unaccounted{} }

// unaccounted has the empty books of no ledger.
type unaccounted struct{ *Books }

func (unaccounted) account(_ Debit, ready func() (Draw, error)) ([]byte, error) {
	draw, err := ready()
	if err != nil {
		return nil, err
	}
	return draw()
}

// Options are what a device decides about its own losses.
type Options struct {
	// Epoch is the name of the epoch, as all callers count time: 1 to 64 letters, digits, '.', '_', ':' or '-'.
	// Within one epoch a policy releases once; later releases repeat the first report. Required.
	Epoch string
	// Budget bounds the sum of all epsilons ever paid from the ledger. It is an exact number such as 8, 2.5 or 5/2. It is
	// fixed when the ledger is made; empty means the budget in the file, which must then exist. A budget cannot be raised:
	// it is a promise to the owner of the data, and a new promise needs a new ledger.
	Budget string
	// MaxEpsilon, if not zero, refuses policies with a larger epsilon.
	MaxEpsilon ldp.Epsilon
	// Wait is how long to wait for a ledger that someone else has open; 0 means no wait.
	Wait time.Duration
	// Context, if not nil, ends the wait as well.
	Context context.Context
	// Clock tells the time, for schedules; nil is time.Now.
	Clock func() time.Time
	// Key is the public Ed25519 key that the caller has found to have signed the policies that it pays for; nil if it did
	// not look. The first call of Account under a key pins it, paid or not: then the ledger pays under this key alone.
	Key []byte
}

// A Store is where a ledger keeps its text: a file, or the database of a browser or a server. It need not understand
// the text. Package storetest checks a Store. The calls are Lock, Load once, Append any number of times, and Unlock.
type Store interface {
	// Lock locks the store for one ledger. While someone else holds the lock, Lock waits until ctx ends, and then fails
	// with ErrLocked. If ctx has already ended, Lock tries once.
	Lock(ctx context.Context) error
	// Load returns what has been appended, byte by byte, empty for a new store.
	Load() ([]byte, error)
	// Append adds b at the end, whole and durable: after it returns nil, neither a crash nor a loss of power can remove b.
	// After an error or an interruption, any prefix of b may be there, and nothing else is lost. A caller that has lost
	// the lock gets an error.
	//
	// at is the length of the text that the caller knows. If the text is not that long, someone else has written, and
	// Append adds nothing and fails. A medium that can compare and append in one step (a database, an object with a
	// version) does so: then even a lock that fails loses nothing.
	Append(at int64, b []byte) error
	// Unlock ends what Lock began on this handle, if anything. A process that dies should lose its lock, too.
	Unlock() error
}

// Books are a Ledger in a Store. They are safe for concurrent use; releases under them are made one at a time.
//
// # The text
//
// Lines, appended and never changed:
//
//	wpm-ledger-1 BUDGET HASH
//	key KEY HASH
//	slot FORM PERIOD SLOT HASH
//	debit EPSILON POLICY EPOCH HASH
//	turn EPSILON POLICY EPOCH HASH
//	report REPORT EPOCH HASH
//
// A turn is the debit of a policy with a period, in an epoch of the slot; see Slot.
//
// BUDGET and EPSILON are fractions in lowest terms, POLICY and REPORT hexadecimal; REPORT names POLICY, whatever its
// kind (see Account). HASH is the SHA-256, in hexadecimal, of the previous line's hash (32 zero bytes for the first
// line) followed by the line up to the space before HASH.
//
// A debit is durable before its draw, and a report before it is returned. So whenever the process or the device stops,
// the debits in the text cover every report that has left the device. A debit without a report stays spent, and does
// not pay for another attempt. Repeating a report writes nothing, so it works even on a full disk.
//
// A stop in the middle of a write leaves a last line without its end. The next write completes it to
//
//	(what was there)~torn CHARGE HASH
//
// where CHARGE is the epsilon of the line if the line is a debit or a turn with a readable epsilon, and 0 otherwise.
// Its draw cannot have happened unless the disk reported a sync that it had not done, so the epsilon is charged to be
// safe. Any other damage is ErrCorrupt.
type Books struct {
	mu    sync.Mutex
	store Store // nil while it is not open
	fault error // why nothing can be paid, nil while it can
	epoch string
	limit ldp.Epsilon
	clock func() time.Time
	asked []byte // Options.Key
	rest  []byte // the store's last line, without its end: the next write completes it
	size  int64  // bytes in the store
	state
}

// maxBudget is the most characters of Options.Budget.
const maxBudget = 100

// New opens the ledger in a store, or makes one, and locks it until Close.
//
// Errors: ErrEpoch, ErrBudget, ErrCorrupt, and those of the store, ErrLocked among them.
func New(store Store, opt Options) (Ledger, error) {
	l, err := openBooks(store, opt)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func openBooks(store Store, opt Options) (*Books, error) {
	if store == nil {
		return nil, fmt.Errorf("%w: no store", ErrUnusable)
	}
	if !isWord(opt.Epoch) {
		return nil, fmt.Errorf("%w: %.80q, want 1 to 64 letters, digits or . _ : -, without spaces", ErrEpoch, opt.Epoch)
	}
	var budget *big.Rat
	if opt.Budget != "" {
		var ok bool
		if budget, ok = parseRational(opt.Budget); !ok || budget.Sign() == 0 || len(opt.Budget) > maxBudget {
			const want = "a number above 0 in at most %d digits, written as 8, 2.5 or 5/2, without sign or exponent"
			return nil, fmt.Errorf("%w: %.*q: want "+want, ErrBudget, maxBudget, opt.Budget, maxBudget)
		}
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	ctx, cancel := context.WithTimeout(opt.Context, opt.Wait)
	defer cancel()
	if err := store.Lock(ctx); err != nil {
		return nil, err
	}
	if opt.Clock == nil {
		opt.Clock = time.Now
	}
	l := &Books{store: store, epoch: opt.Epoch, limit: opt.MaxEpsilon, clock: opt.Clock, asked: bytes.Clone(opt.Key)}
	if err := l.load(budget); err != nil {
		_ = l.Close()
		return nil, err
	}
	return l, nil
}

// load reads the store, and writes the first line of a new ledger.
func (l *Books) load(budget *big.Rat) error {
	data, err := l.store.Load()
	if err != nil {
		return err
	}
	l.size = int64(len(data))
	rest, err := l.replay(data)
	if err != nil {
		return err
	}
	if l.budget != nil && budget != nil && l.budget.Cmp(budget) != 0 {
		return fmt.Errorf("%w: the ledger was made with %s, and that cannot become %s",
			ErrBudget, l.budget.RatString(), budget.RatString())
	}
	if l.budget == nil && budget == nil {
		return fmt.Errorf("%w: a new ledger needs one", ErrBudget)
	}
	if len(rest) > 0 {
		if l.budget == nil && !startsLikeLedger(string(rest)) {
			return fmt.Errorf("%w: not a ledger", ErrCorrupt)
		}
		l.rest = bytes.Clone(rest)
	}
	if l.budget == nil {
		l.budget = budget
		return l.write(ledgerMagic + " " + budget.RatString())
	}
	return nil
}

// write appends a line, after the rest of one that a stop has left without its end. After a failure the end of the
// store is unknown: nothing can be paid until the ledger is opened again.
func (l *Books) write(body string) error {
	chain, text := l.chain, ""
	if len(l.rest) > 0 {
		end := tornMark + tornCharge(l.rest).RatString()
		chain = follow(chain, string(l.rest)+end)
		text = fmt.Sprintf("%s %x\n", end, chain)
	}
	chain = follow(chain, body)
	l.fault = fmt.Errorf("%w: an earlier write failed; open it again", ErrUnusable) // also if Append panics
	lines := fmt.Appendf(nil, "%s%s %x\n", text, body, chain)
	size := l.size + int64(len(lines)) // before the store has the bytes
	if err := l.store.Append(l.size, lines); err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	l.chain, l.rest, l.size, l.fault = chain, nil, size, nil
	return nil
}

func (l *Books) account(d Debit, ready func() (Draw, error)) ([]byte, error) {
	if l == nil {
		return nil, fmt.Errorf("%w: nil", ErrUnusable)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return nil, fmt.Errorf("%w: not open", ErrUnusable)
	}
	o, eps := occasion{d.Policy, l.epoch}, d.Epsilon
	if e := l.at[o]; e != nil && e.Report != nil {
		return bytes.Clone(e.Report), nil
	}
	if l.fault != nil {
		return nil, l.fault
	}
	if err := l.pin(); err != nil {
		return nil, err
	}
	if !l.limit.IsZero() && eps.Cmp(l.limit) > 0 {
		return nil, fmt.Errorf("%w: the policy has epsilon %v, above the device's maximum %v", ErrBudget, eps, l.limit)
	}
	kind, err := l.admit(d)
	if err != nil {
		return nil, err
	}
	draw, err := ready()
	if err != nil {
		return nil, err
	}
	standBy()
	e := l.pay(o, eps.Rat(), kind == "turn") // before the write: a debit that may be in the store counts
	if err := l.write(fmt.Sprintf("%s %s %x %s", kind, eps.Rat().RatString(), d.Policy, l.epoch)); err != nil {
		return nil, err
	}
	b, err := draw()
	if err != nil {
		return nil, err
	}
	if err := l.write(fmt.Sprintf("report %x %s", b, l.epoch)); err != nil {
		return nil, err
	}
	e.Report = bytes.Clone(b)
	return b, nil
}

// read calls f for the books, unless there are none: then the zero number is returned.
func (l *Books) read(f func() *big.Rat) *big.Rat {
	if l == nil {
		return new(big.Rat)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.budget == nil { // the zero Books
		return new(big.Rat)
	}
	return f()
}

// Spent returns the sum of all epsilons paid, exactly. After a failed write it includes that debit.
func (l *Books) Spent() *big.Rat { return l.read(func() *big.Rat { return new(big.Rat).Set(l.spent) }) }

// Budget returns the bound on Spent.
func (l *Books) Budget() *big.Rat {
	return l.read(func() *big.Rat { return new(big.Rat).Set(l.budget) })
}

// Remaining returns Budget - Spent, or 0 if charges for torn lines have passed the budget. In a ledger with a slot it
// is what a window to come may hold.
func (l *Books) Remaining() *big.Rat { return l.read(func() *big.Rat { return l.left() }) }

// Epoch returns the epoch that the ledger was opened for.
func (l *Books) Epoch() string {
	if l == nil {
		return ""
	}
	return l.epoch
}

// Close gives up the store. Further releases get ErrUnusable.
func (l *Books) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.store == nil {
		return nil
	}
	err := l.store.Unlock()
	l.store = nil
	return err
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
	if _, err := s.Number(l.epoch); err != nil {
		return err
	}
	if now := s.Epochs.At(l.clock()); l.epoch > now { // a clock without an epoch is before all
		return fmt.Errorf("%w: %s is after %q, which the clock says", ErrEpoch, l.epoch, now)
	}
	if last := l.lastOf(s.Epochs); last > l.epoch {
		return fmt.Errorf("%w: %s is before %s, which is paid for: wait for %s", ErrEpoch, l.epoch, last, last)
	}
	return nil
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

// pin holds what is asked for to the key of the ledger, or writes the first one. A policy is published under a key once
// and for all: who wants another key needs another ledger, with a budget of its own.
func (l *Books) pin() error {
	switch {
	case l.key != nil && l.asked == nil:
		return fmt.Errorf("%w: this ledger takes policies signed by %x alone, and no key is named", ErrKey, l.key)
	case l.key != nil && !bytes.Equal(l.key, l.asked):
		return fmt.Errorf("%w: this ledger takes policies signed by %x alone, and not by %x", ErrKey, l.key, l.asked)
	case l.key != nil || l.asked == nil:
		return nil
	case len(l.asked) != ed25519.PublicKeySize:
		return fmt.Errorf("%w: %d bytes, want %d", ErrKey, len(l.asked), ed25519.PublicKeySize)
	}
	if err := l.write(fmt.Sprintf("key %x", l.asked)); err != nil {
		return err
	}
	l.key = bytes.Clone(l.asked)
	return nil
}
