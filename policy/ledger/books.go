package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
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

const (
	kindSize  = 4      // bytes that name the kind of a report
	maxReport = 256    // bytes of a report of any kind
	outputs   = "wpm1" // the kind of package policy: an index below maxOutput
	maxOutput = 1 << 20
)

// checkReport checks what a ledger wants of a report: its kind, the ID of its policy, and more, of the right form if
// the kind is that of package policy.
func checkReport(b []byte, id [sha256.Size]byte) error {
	const start = kindSize + sha256.Size
	if n := len(b); n <= start || n > maxReport {
		return fmt.Errorf("%w: %d bytes, want %d to %d", ErrReport, n, start+1, maxReport)
	}
	if named := b[kindSize:start]; !bytes.Equal(named, id[:]) {
		return fmt.Errorf("%w: it is of policy %x, not of %x", ErrReport, named[:6], id[:6])
	}
	if string(b[:kindSize]) != outputs {
		return nil
	}
	if len(b) != start+4 || binary.LittleEndian.Uint32(b[start:]) >= maxOutput || !slices.ContainsFunc(b[kindSize:],
		func(c byte) bool { return c != 0 }) {
		return fmt.Errorf("%w: %q without an index below %d", ErrReport, outputs, maxOutput)
	}
	return nil
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

// state is what the lines of a ledger say.
type state struct {
	chain   [sha256.Size]byte // hash of the last line
	budget  *big.Rat          // nil before the first line
	spent   *big.Rat
	torn    *big.Rat // the part of spent that lines without their end are charged
	key     []byte   // that is pinned, or nil
	slot    *Slot    // nil before a policy with a period
	always  *big.Rat // the part of spent that counts in every window: all but turns
	turns   []turn   // what was paid in each epoch of the slot, in order
	entries []*Entry // by first debit
	at      map[occasion]*Entry
	open    *Entry // of the debit in the last line, which a report may follow
}

// occasion is what a policy may release once.
type occasion struct {
	policy [sha256.Size]byte
	epoch  string
}

const (
	ledgerMagic = "wpm-ledger-1"
	tornMark    = "~torn " // no complete line has this character
	maxBudget   = 100      // characters of Options.Budget
	maxRational = 256      // characters of a fraction in the file: what maxBudget can grow to, and more
)

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
		return nil, fmt.Errorf("%w: %q", ErrEpoch, opt.Epoch)
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

// startsLikeLedger reports whether a torn first line can be one: nothing is ever written into a file that
// was not a ledger.
func startsLikeLedger(rest string) bool {
	head, _, _ := strings.Cut(rest, tornMark[:1]) // a repair that was itself cut off
	const start = ledgerMagic + " "
	return head != "" && (strings.HasPrefix(head, start) || strings.HasPrefix(start, head))
}

// replay reads the lines of a ledger into a fresh state, charges for what follows the last complete one, and returns
// that.
func (s *state) replay(data []byte) (rest []byte, err error) {
	*s = state{spent: new(big.Rat), torn: new(big.Rat), always: new(big.Rat), at: map[occasion]*Entry{}}
	for n := 1; ; n++ {
		line, after, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			s.tear(tornCharge(data))
			return data, nil
		}
		data = after
		if err := s.line(string(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// line takes one complete line into the state.
func (s *state) line(line string) error {
	cut := strings.LastIndexByte(line, ' ') // if there is none, the line is its own hash or, rather, not
	body := line[:max(cut, 0)]
	sum := follow(s.chain, body)
	if hex.EncodeToString(sum[:]) != line[cut+1:] {
		return fmt.Errorf("%w: the hash chain breaks here", ErrCorrupt)
	}
	s.chain = sum
	open := s.open
	s.open = nil
	if i := strings.LastIndex(body, tornMark); i >= 0 {
		charge, ok := parseRational(body[i+len(tornMark):])
		if !ok {
			return fmt.Errorf("%w: torn line without a charge", ErrCorrupt)
		}
		s.tear(charge)
		return nil
	}
	return s.record(strings.Split(body, " "), open)
}

// record takes the words of a line that is not torn. open is the debit of the line before, if it is one.
func (s *state) record(word []string, open *Entry) error {
	if first := word[0] == ledgerMagic; first != (s.budget == nil) {
		return fmt.Errorf("%w: %q expected once, as the first record", ErrCorrupt, ledgerMagic)
	}
	switch {
	case word[0] == ledgerMagic && len(word) == 2:
		return s.takeBudget(word)
	case (word[0] == "debit" || word[0] == "turn") && len(word) == 4:
		return s.takeDebit(word)
	case word[0] == "slot" && len(word) == 4:
		return s.takeSlot(word)
	case word[0] == "key" && len(word) == 2:
		return s.takeKey(word[1])
	case word[0] == "report" && len(word) == 3:
		return s.takeReport(word, open)
	}
	return errRecord()
}

func errRecord() error { return fmt.Errorf("%w: a record that no ledger has", ErrCorrupt) }

func (s *state) takeBudget(word []string) error {
	budget, ok := parseRational(word[1])
	if !ok {
		return errRecord()
	}
	s.budget = budget
	return nil
}

func (s *state) takeDebit(word []string) error {
	eps, ok := parseRational(word[1])
	id, plain := decodeHex(word[2])
	if !ok || !plain || len(id) != sha256.Size || !isWord(word[3]) {
		return errRecord()
	}
	o := occasion{[sha256.Size]byte(id), word[3]}
	if word[0] == "turn" {
		if t, err := s.slot.turnOf(o.epoch); err != nil || len(s.turns) > 0 && t < s.turns[len(s.turns)-1].number {
			return fmt.Errorf("%w: a turn that is not in the slot, or out of order", ErrCorrupt)
		}
	}
	s.open = s.pay(o, eps, word[0] == "turn")
	return nil
}

// takeReport takes a report, which must follow its debit.
func (s *state) takeReport(word []string, open *Entry) error {
	b, ok := decodeHex(word[1])
	if !ok {
		return errRecord()
	}
	if open == nil || open.Epoch != word[2] {
		return fmt.Errorf("%w: a report without its debit", ErrCorrupt)
	}
	if err := checkReport(b, open.Policy); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	open.Report = b
	return nil
}

// pay adds a debit, which is a turn of the slot or counts in every window, and returns its entry.
func (s *state) pay(o occasion, eps *big.Rat, inTurn bool) *Entry {
	if inTurn {
		s.payTurn(o.epoch, eps)
	} else {
		s.always.Add(s.always, eps)
	}
	e := s.at[o]
	if e == nil {
		e = &Entry{Policy: o.policy, Epoch: o.epoch, Spent: new(big.Rat)}
		s.entries, s.at[o] = append(s.entries, e), e
	}
	s.spent.Add(s.spent, eps)
	e.Spent.Add(e.Spent, eps)
	e.Debits++
	return e
}

// tear adds the charge for a line that broke off.
func (s *state) tear(charge *big.Rat) {
	s.spent.Add(s.spent, charge)
	s.torn.Add(s.torn, charge)
	s.always.Add(s.always, charge)
}

// left returns what is not spent, or what a window to come may hold; charges for torn lines may have passed the budget.
func (s *state) left() *big.Rat {
	gone := s.spent
	if s.slot != nil {
		gone = s.always
	}
	if gone.Cmp(s.budget) > 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Sub(s.budget, gone)
}

// tornCharge returns the epsilon of an incomplete line if it is a debit that got so far, else 0.
func tornCharge(rest []byte) *big.Rat {
	word := strings.SplitN(string(rest), " ", 3)
	if len(word) == 3 && (word[0] == "debit" || word[0] == "turn") {
		if eps, ok := parseRational(word[1]); ok {
			return eps
		}
	}
	return new(big.Rat)
}

// follow returns the hash of a line with this body after a line with that hash.
func follow(chain [sha256.Size]byte, body string) [sha256.Size]byte {
	return sha256.Sum256(append(chain[:], body...))
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

// isWord reports whether s can be an epoch: a short word without spaces.
func isWord(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("._:-", rune(c)) {
			return false
		}
	}
	return true
}

// parseRational reads digits, digits.digits or digits/digits in base ten: a budget may exceed every Epsilon.
func parseRational(s string) (*big.Rat, bool) {
	num, den, fraction := strings.Cut(s, "/")
	whole, decimals, point := strings.Cut(num, ".")
	if !fraction {
		den = "1" + strings.Repeat("0", len(decimals))
	}
	if len(s) > maxRational || !isDigits(whole) || !isDigits(den) || point && (fraction || !isDigits(decimals)) {
		return nil, false
	}
	p, _ := new(big.Int).SetString(whole+decimals, 10)
	q, _ := new(big.Int).SetString(den, 10)
	if q.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).SetFrac(p, q), true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// decodeHex reads lower-case hexadecimal.
func decodeHex(text string) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	return b, err == nil && hex.EncodeToString(b) == text
}
