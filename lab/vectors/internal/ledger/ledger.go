// Package ledger makes the test vectors of docs/spec/ledger.md: texts, what is paid from them, and locks.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
)

var rationalForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+|/[0-9]+)?$`)

// rational reads a number of the ledger.
func rational(s string) (*big.Rat, bool) {
	if _, under, ok := strings.Cut(s, "/"); len(s) > 256 || !rationalForm.MatchString(s) || ok && strings.Trim(under,
		"0") == "" {
		return nil, false
	}
	whole, under, ok := strings.Cut(s, "/")
	if !ok {
		return new(big.Rat).SetString(s)
	}
	n, _ := new(big.Int).SetString(whole, 10) // a Rat reads 010/3 as octal
	d, _ := new(big.Int).SetString(under, 10)
	return new(big.Rat).SetFrac(n, d), true
}

// book is what the text of a ledger says.
type book struct {
	chain   [32]byte
	budget  *big.Rat
	spent   *big.Rat
	reports map[string]string // by ID and epoch
	rest    string

	always *big.Rat         // the part of spent that is no turn
	turns  map[int]*big.Rat // by the number of the epoch
	turn   int              // the number of the last one
	latest map[string]int   // the last epoch of a debit or turn, by its form
	slot   *slot
	key    string
}

// A slot is which epochs are the ledger's own.
type slot struct {
	form         string
	period, slot int
}

func (s *slot) line() string { return fmt.Sprintf("slot %s %d %d", s.form, s.period, s.slot) }

func newBook() book {
	return book{spent: new(big.Rat), always: new(big.Rat), reports: map[string]string{}, turns: map[int]*big.Rat{},
		latest: map[string]int{}}
}

// charge adds what counts in every window.
func (b *book) charge(x *big.Rat) {
	b.spent.Add(b.spent, x)
	b.always.Add(b.always, x)
}

// pay adds a debit or, with a slot's form, a turn.
func (b *book) pay(x *big.Rat, epoch, form string) {
	if n, ok := numberOf(form, epoch); ok {
		if b.turns[n] == nil {
			b.turns[n] = new(big.Rat)
		}
		b.turns[n].Add(b.turns[n], x)
		b.spent.Add(b.spent, x)
		b.turn = n
	} else {
		b.charge(x)
	}
	for form := range forms {
		if n, ok := numberOf(form, epoch); ok {
			b.latest[form] = max(n, b.latest[form])
		}
	}
}

// held is the most that a window holds: one with the epoch of a number, or any if the number is 0.
func (b *book) held(number int) *big.Rat {
	most := new(big.Rat)
	for n, x := range b.turns {
		if (number == 0 || n == number) && x.Cmp(most) > 0 {
			most = x
		}
	}
	return new(big.Rat).Add(b.always, most)
}

// over reports whether so much is more than the budget.
func (b *book) over(held, more *big.Rat) bool { return new(big.Rat).Add(held, more).Cmp(b.budget) > 0 }

var (
	debitForm  = regexp.MustCompile(`^(debit|turn) ([^ ]*) ([0-9a-f]{64}) ([A-Za-z0-9._:-]{1,64})$`)
	slotForm   = regexp.MustCompile(`^slot (year|month|week|day) ([1-9][0-9]{0,4}) (0|[1-9][0-9]{0,3})$`)
	keyForm    = regexp.MustCompile(`^key ([0-9a-f]{64})$`)
	reportForm = regexp.MustCompile(`^report (([0-9a-f]{2}){37,256}) ([A-Za-z0-9._:-]{1,64})$`)
)

func follow(chain [32]byte, body string) [32]byte { return sha256.Sum256(append(chain[:], body...)) }

// isReport reports whether a ledger takes a report for a policy.
func isReport(report, id string) bool {
	b, err := hex.DecodeString(report)
	if err != nil || len(b) < 37 || len(b) > 256 || report[8:72] != id || strings.ToLower(report) != report {
		return false
	}
	if string(b[:4]) != "wpm1" {
		return true
	}
	return len(b) == 40 && b[39] == 0 && b[38] < 16 && strings.Trim(report[8:], "0") != ""
}

// read reads a text by the letter of the specification.
func read(text string) (b book, ok bool) {
	b = newBook()
	lines := strings.Split(text, "\n")
	b.rest = lines[len(lines)-1]
	open := ""
	for _, line := range lines[:len(lines)-1] {
		cut := strings.LastIndex(line, " ")
		if cut < 0 {
			return b, false
		}
		body, after := line[:cut], open
		b.chain, open = follow(b.chain, body), ""
		if line[cut+1:] != hex.EncodeToString(b.chain[:]) {
			return b, false
		}
		if at := strings.LastIndex(body, "~torn "); at >= 0 {
			charge, ok := rational(body[at+6:])
			if !ok {
				return b, false
			}
			b.charge(charge)
			continue
		}
		if b.budget == nil {
			number, found := strings.CutPrefix(body, "wpm-ledger-1 ")
			if b.budget, ok = rational(number); !ok || !found {
				return b, false
			}
			continue
		}
		debit, report := debitForm.FindStringSubmatch(body), reportForm.FindStringSubmatch(body)
		slotted, key := slotForm.FindStringSubmatch(body), keyForm.FindStringSubmatch(body)
		switch {
		case debit != nil:
			eps, ok := rational(debit[2])
			form := ""
			if debit[1] == "turn" {
				ok = ok && b.slot != nil && b.mayTurn(debit[4])
				form = b.form()
			}
			if !ok {
				return b, false
			}
			b.pay(eps, debit[4], form)
			open = debit[3] + " " + debit[4]
		case slotted != nil:
			period, err := strconv.Atoi(slotted[2])
			number, err2 := strconv.Atoi(slotted[3])
			if b.slot != nil || err != nil || err2 != nil || period < 2 || period > 10000 || number >= period {
				return b, false
			}
			b.slot = &slot{slotted[1], period, number}
		case key != nil:
			if b.key != "" {
				return b, false
			}
			b.key = key[1]
		case report != nil:
			id := report[1][8:72]
			if after != id+" "+report[3] || !isReport(report[1], id) {
				return b, false
			}
			b.reports[after] = report[1]
		default:
			return b, false
		}
	}
	b.charge(charge(b.rest))
	if b.rest != "" && b.budget == nil {
		head, _, _ := strings.Cut(b.rest, "~")
		if head == "" || !strings.HasPrefix(head, "wpm-ledger-1 ") && !strings.HasPrefix("wpm-ledger-1 ", head) {
			return b, false
		}
	}
	return b, true
}

// form is that of the slot's epochs, or empty.
func (b *book) form() string {
	if b.slot == nil {
		return ""
	}
	return b.slot.form
}

// mayTurn reports whether an epoch is of the slot, and not before the last turn.
func (b *book) mayTurn(epoch string) bool {
	n, ok := numberOf(b.slot.form, epoch)
	return ok && n%b.slot.period == b.slot.slot && n >= b.turn
}

var chargeForm = regexp.MustCompile(`^(?:debit|turn) ([^ ]*) `)

// charge is that of a line without its end.
func charge(rest string) *big.Rat {
	if m := chargeForm.FindStringSubmatch(rest); m != nil {
		if eps, ok := rational(m[1]); ok {
			return eps
		}
	}
	return new(big.Rat)
}

// add returns what a write appends to a text that says b, and changes b.
func (b *book) add(body string) string {
	text := ""
	if b.rest != "" {
		end := "~torn " + charge(b.rest).RatString()
		b.chain = follow(b.chain, b.rest+end)
		text = fmt.Sprintf("%s %x\n", end, b.chain)
		b.rest = ""
	}
	b.chain = follow(b.chain, body)
	return text + fmt.Sprintf("%s %x\n", body, b.chain)
}

// text chains bodies to the text of a ledger.
func text(bodies ...string) string {
	var b book
	var all strings.Builder
	for _, body := range bodies {
		all.WriteString(b.add(body))
	}
	return all.String()
}

// A step pays for a report, or tears the text.
type step struct {
	Policy     string  `json:"policy,omitempty"`
	Eps        string  `json:"eps,omitempty"`
	Epoch      string  `json:"epoch,omitempty"`
	Report     string  `json:"report,omitempty"`
	MaxEpsilon string  `json:"max_epsilon,omitempty"`
	Torn       *string `json:"torn,omitempty"`

	// Of the kind schedule alone.
	Schedule  *schedule `json:"schedule,omitempty"`
	Clock     *int64    `json:"clock,omitempty"` // milliseconds since 1970-01-01
	Key       string    `json:"key,omitempty"`   // that the user names
	Signature string    `json:"signature,omitempty"`
}

// A schedule is that of a policy.
type schedule struct {
	Epochs string  `json:"epochs"`
	First  *string `json:"first"`
	Last   *string `json:"last"`
	Period int     `json:"period"`
}

type booksIn struct {
	Op     string  `json:"op"`
	Text   string  `json:"text"`
	Budget *string `json:"budget,omitempty"`
	Steps  []step  `json:"steps"`
}

type booksOut struct {
	Text      string   `json:"text"`
	Budget    string   `json:"budget"`
	Spent     string   `json:"spent"`
	Remaining string   `json:"remaining"`
	Verdicts  []string `json:"verdicts"`
}

var wordForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,64}$`)

// open reads the text, and writes the opening of a new one. The reason is why there is no ledger.
func open(text *string, budget *string) (b book, reason string) {
	var want *big.Rat
	if budget != nil {
		var ok bool
		if want, ok = rational(*budget); !ok || want.Sign() == 0 || len(*budget) > 100 {
			return b, "budget"
		}
	}
	b, ok := read(*text)
	switch {
	case !ok:
		return b, "ledger"
	case b.budget == nil && want == nil, b.budget != nil && want != nil && b.budget.Cmp(want) != 0:
		return b, "budget"
	case b.budget == nil:
		b.budget = want
		*text += b.add("wpm-ledger-1 " + want.RatString())
	}
	return b, ""
}

// epsilonOf is the number of an epsilon in a spelling that big.Rat reads as docs/spec/mechanism.md does.
func epsilonOf(s string) (*big.Rat, bool) {
	x, ok := new(big.Rat).SetString(s)
	least, _ := new(big.Rat).SetString("1e-18")
	if !ok || !epsilonForm.MatchString(s) || len(s) > 100 || x.Cmp(least) < 0 || x.Cmp(big.NewRat(64, 1)) > 0 {
		return nil, false
	}
	return x, x.Denom().BitLen() <= 128
}

var epsilonForm = regexp.MustCompile(`^(0|[1-9][0-9]*)(/[1-9][0-9]*|(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?)$`)

// books runs the steps. A ledger that needs a slot takes what draw returns for its period.
func books(in booksIn, draw func(period int) int) (out booksOut, reason string) {
	raw, err := hex.DecodeString(in.Text)
	values.Must(err == nil, "a text in hexadecimal")
	text := string(raw)
	out.Verdicts = []string{}
	for _, s := range in.Steps {
		if s.Torn != nil {
			b, err := hex.DecodeString(*s.Torn)
			values.Must(err == nil && !bytes.Contains(b, []byte("\n")), "a torn end")
			text += string(b)
			continue
		}
		eps, ok := epsilonOf(s.Eps)
		most := big.NewRat(1000, 1)
		if s.MaxEpsilon != "" && ok {
			most, ok = epsilonOf(s.MaxEpsilon)
		}
		if !ok || len(s.Policy) != 64 || strings.Trim(s.Policy,
			"0123456789abcdef") != "" || !wordForm.MatchString(s.Epoch) {
			return out, "step"
		}
		b, reason := open(&text, in.Budget)
		if reason != "" {
			return out, reason
		}
		verdict, more := b.account(s, eps, most, draw)
		text += more
		out.Verdicts = append(out.Verdicts, verdict)
	}
	b, reason := open(&text, in.Budget)
	if reason != "" {
		return out, reason
	}
	left := new(big.Rat).Sub(b.budget, b.spent)
	if b.slot != nil {
		left.Sub(b.budget, b.always)
	}
	if left.Sign() < 0 {
		left = new(big.Rat)
	}
	out.Text, out.Budget = hex.EncodeToString([]byte(text)), b.budget.RatString()
	out.Spent, out.Remaining = b.spent.RatString(), left.RatString()
	return out, ""
}

// account pays for a step: by docs/spec/ledger.md, Paying and Schedules. It returns what is appended.
func (b *book) account(s step, eps, most *big.Rat, draw func(int) int) (verdict, text string) {
	if s.Key != "" && !isSignature(s.Policy, s.Key, s.Signature) {
		return "key", ""
	}
	if b.reports[s.Policy+" "+s.Epoch] != "" {
		return "repeated", ""
	}
	if b.key != "" && b.key != s.Key {
		return "key", ""
	}
	if b.key == "" && s.Key != "" {
		text += b.add("key " + s.Key)
	}
	if eps.Cmp(most) > 0 {
		return "maximum", text
	}
	form, number := "", 0
	if w := s.Schedule; w != nil {
		n, ok := numberOf(w.Epochs, s.Epoch)
		if !ok || !b.allows(*w, s.Epoch, n, *s.Clock) {
			return "schedule", text
		}
		if w.Period > 0 {
			if b.over(b.always, eps) {
				return "budget", text
			}
			if b.slot == nil {
				b.slot = &slot{w.Epochs, w.Period, draw(w.Period)}
				text += b.add(b.slot.line())
			}
			if b.slot.form != w.Epochs || b.slot.period != w.Period {
				return "schedule", text
			}
			form, number = w.Epochs, n
			if wait := (b.slot.slot - n%w.Period + w.Period) % w.Period; wait > 0 {
				return "silent " + nameOf(form, n+wait), text
			}
		}
	}
	if b.over(b.held(number), eps) {
		return "budget", text
	}
	word := map[bool]string{true: "turn ", false: "debit "}[number > 0]
	text += b.add(word + eps.RatString() + " " + s.Policy + " " + s.Epoch)
	b.pay(eps, s.Epoch, form)
	if !isReport(s.Report, s.Policy) {
		return "report", text
	}
	return "drawn", text + b.add("report "+s.Report+" "+s.Epoch)
}

// allows reports whether a schedule, the clock and the epochs before allow an epoch.
func (b *book) allows(w schedule, epoch string, n int, clock int64) bool {
	for _, bound := range []*string{w.First, w.Last} {
		if bound == nil {
			continue
		}
		at, ok := numberOf(w.Epochs, *bound)
		values.Must(ok, "a bound of a schedule")
		if bound == w.First && n < at || bound == w.Last && n > at {
			return false
		}
	}
	return reached(w.Epochs, epoch, clock) && n >= b.latest[w.Epochs]
}
