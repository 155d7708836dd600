package ledger

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

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

// Entry is what one policy has cost in one epoch.
type Entry struct {
	Policy [sha256.Size]byte
	Epoch  string
	Spent  *big.Rat
	Debits int
	Report []byte // what a further release in this epoch repeats, for nothing; nil if there is none
}

const (
	ledgerMagic = "wpm-ledger-1"
	tornMark    = "~torn " // no complete line has this character
	maxRational = 256      // characters of a fraction in the file: what maxBudget can grow to, and more
	kindSize    = 4        // bytes that name the kind of a report
	maxReport   = 256      // bytes of a report of any kind
	outputs     = "wpm1"   // the kind of package policy: an index below maxOutput
	maxOutput   = 1 << 20
)

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
		if s.chain == ([sha256.Size]byte{}) && !startsLikeLedger(line) {
			return fmt.Errorf("%w: not a ledger, which begins with %s", ErrCorrupt, ledgerMagic)
		}
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

// takeSlot takes a line "slot FORM PERIOD NUMBER".
func (s *state) takeSlot(word []string) error {
	period, _ := strconv.Atoi(word[2]) // what is no number is in no line of a slot
	number, _ := strconv.Atoi(word[3])
	slot := &Slot{Form(word[1]), period, number}
	if slot.line() != strings.Join(word, " ") || (Schedule{Epochs: slot.Epochs, Period: period}).Check() != nil ||
		number < 0 || number >= period {
		return errRecord()
	}
	if s.slot != nil {
		return fmt.Errorf("%w: a second slot", ErrCorrupt)
	}
	s.slot = slot
	return nil
}

// takeKey takes a line "key KEY".
func (s *state) takeKey(text string) error {
	key, ok := decodeHex(text)
	if !ok || len(key) != ed25519.PublicKeySize {
		return errRecord()
	}
	if s.key != nil {
		return fmt.Errorf("%w: a second key", ErrCorrupt)
	}
	s.key = key
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
	return slices.MaxFunc([]*big.Rat{new(big.Rat), new(big.Rat).Sub(s.budget, gone)}, (*big.Rat).Cmp)
}

// window returns the most that any Period epochs in a row have cost.
func (s *state) window() *big.Rat {
	most := new(big.Rat)
	if len(s.turns) > 0 {
		most.Set(slices.MaxFunc(s.turns, func(a, b turn) int { return a.paid.Cmp(b.paid) }).paid)
	}
	return most.Add(most, s.always)
}

// lastOf returns the last epoch of a form that was paid for, or an empty text.
func (s *state) lastOf(f Form) (epoch string) {
	for _, e := range s.entries {
		if _, err := f.Number(e.Epoch); err == nil {
			epoch = max(epoch, e.Epoch) // names of one form order as their numbers do
		}
	}
	return epoch
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
