// Package ledger makes the test vectors of docs/spec/ledger.md: texts, what is paid from them, and locks.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
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
}

var (
	debitForm  = regexp.MustCompile(`^debit ([^ ]*) ([0-9a-f]{64}) ([A-Za-z0-9._:-]{1,64})$`)
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
	b = book{spent: new(big.Rat), reports: map[string]string{}}
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
			b.spent.Add(b.spent, charge)
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
		switch {
		case debit != nil:
			eps, ok := rational(debit[1])
			if !ok {
				return b, false
			}
			b.spent.Add(b.spent, eps)
			open = debit[2] + " " + debit[3]
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
	b.spent.Add(b.spent, charge(b.rest))
	if b.rest != "" && b.budget == nil {
		head, _, _ := strings.Cut(b.rest, "~")
		if head == "" || !strings.HasPrefix(head, "wpm-ledger-1 ") && !strings.HasPrefix("wpm-ledger-1 ", head) {
			return b, false
		}
	}
	return b, true
}

var chargeForm = regexp.MustCompile(`^debit ([^ ]*) `)

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

// books runs the steps.
func books(in booksIn) (out booksOut, reason string) {
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
		verdict := "drawn"
		switch {
		case b.reports[s.Policy+" "+s.Epoch] != "":
			verdict = "repeated"
		case eps.Cmp(most) > 0:
			verdict = "maximum"
		case new(big.Rat).Add(b.spent, eps).Cmp(b.budget) > 0:
			verdict = "budget"
		default:
			text += b.add("debit " + eps.RatString() + " " + s.Policy + " " + s.Epoch)
			if !isReport(s.Report, s.Policy) {
				verdict = "report"
				break
			}
			text += b.add("report " + s.Report + " " + s.Epoch)
		}
		out.Verdicts = append(out.Verdicts, verdict)
	}
	b, reason := open(&text, in.Budget)
	if reason != "" {
		return out, reason
	}
	left := new(big.Rat).Sub(b.budget, b.spent)
	if left.Sign() < 0 {
		left = new(big.Rat)
	}
	out.Text, out.Budget = hex.EncodeToString([]byte(text)), b.budget.RatString()
	out.Spent, out.Remaining = b.spent.RatString(), left.RatString()
	return out, ""
}
