package conform

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// The reference for the kind schedule: packages policy/ledger and device, by what they export.

// A hexText is bytes in lower-case hexadecimal.
type hexText []byte

func (h *hexText) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err == nil && !bytes.Equal(hex.AppendEncode(nil, b), text) {
		err = errors.New("capital letters")
	}
	*h = b
	return err
}

// An occasion is a step that pays for a report or, with torn, what a crash leaves.
type occasion struct {
	Policy     hexText `json:"policy"`
	Eps        string  `json:"eps"`
	Epoch      string  `json:"epoch"`
	Report     hexText `json:"report"`
	MaxEpsilon *string `json:"max_epsilon"`
	Schedule   *struct {
		Epochs ledger.Form `json:"epochs"`
		First  string      `json:"first"`
		Last   string      `json:"last"`
		Period int         `json:"period"`
	} `json:"schedule"`
	Clock     int64    `json:"clock"`
	Key       *hexText `json:"key"`
	Signature string   `json:"signature"`
	Torn      *hexText `json:"torn"`
}

func schedules(in members) (any, error) {
	var q struct {
		Op, Form, Name, Budget string
		Text, Message          hexText
		Steps                  []occasion
	}
	var s struct {
		Policy, Key hexText
		Signature   json.RawMessage
	}
	body, err := json.Marshal(in)
	if err = errors.Join(err, json.Unmarshal(body, &q), json.Unmarshal(body, &s)); err != nil {
		return nil, err
	}
	verified := map[string]any{"verified": true}
	switch q.Op {
	case "books":
		return timedBooks(q.Text, q.Budget, q.Steps)
	case "epoch":
		n, err := ledger.Form(q.Form).Number(q.Name)
		return map[string]any{"number": n}, err
	case "ed25519":
		var sig hexText
		if err := json.Unmarshal(s.Signature, &sig); err != nil {
			return nil, err
		}
		if len(s.Key) != ed25519.PublicKeySize || !ed25519.Verify(ed25519.PublicKey(s.Key), q.Message, sig) {
			return nil, errors.New("the signature does not verify")
		}
		return verified, nil
	case "signature":
		var text string
		if err := json.Unmarshal(s.Signature, &text); err != nil {
			return nil, err
		}
		if len(s.Policy) != 32 || len(s.Key) != ed25519.PublicKeySize {
			return nil, errors.New("no policy or no key")
		}
		return verified, device.VerifySignature(ed25519.PublicKey(s.Key), [32]byte(s.Policy), []byte(text))
	}
	return nil, fmt.Errorf("no operation %q", q.Op)
}

// timedBooks pays for the steps, each time from a ledger that is opened anew.
func timedBooks(text []byte, budget string, steps []occasion) (any, error) {
	store, verdicts := &inMemory{bytes.Clone(text)}, []string{}
	for _, s := range steps {
		if s.Torn != nil {
			store.text = append(store.text, *s.Torn...)
			continue
		}
		verdict, err := timedStep(store, budget, s)
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, verdict)
	}
	l, err := ledger.New(store, ledger.Options{Epoch: "e", Budget: budget})
	if err != nil {
		return nil, err
	}
	return map[string]any{"appended": hex.EncodeToString(store.text[len(text):]), "budget": l.Budget().RatString(),
		"spent": l.Spent().RatString(), "remaining": l.Remaining().RatString(), "verdicts": verdicts}, l.Close()
}

// timedStep opens the ledger, pays for a report, and closes the ledger.
func timedStep(store ledger.Store, budget string, s occasion) (verdict string, err error) {
	if len(s.Policy) != 32 {
		return "", errors.New("no ID")
	}
	opt := ledger.Options{Epoch: s.Epoch, Budget: budget, Clock: func() time.Time { return time.UnixMilli(s.Clock) }}
	debit := ledger.Debit{Policy: [32]byte(s.Policy)}
	if debit.Epsilon, err = ldp.ParseEpsilon(s.Eps); err != nil {
		return "", err
	}
	if s.MaxEpsilon != nil {
		if opt.MaxEpsilon, err = ldp.ParseEpsilon(*s.MaxEpsilon); err != nil {
			return "", err
		}
	}
	if w := s.Schedule; w != nil {
		debit.Schedule = ledger.Schedule{Epochs: w.Epochs, First: w.First, Last: w.Last, Period: w.Period}
		if err := debit.Schedule.Check(); err != nil {
			return "", err
		}
	}
	if s.Key != nil {
		opt.Key = *s.Key
		if device.VerifySignature(opt.Key, debit.Policy, []byte(s.Signature)) != nil {
			return "key", nil
		}
	}
	l, err := ledger.New(store, opt)
	if err != nil {
		return "", err
	}
	drawn := false
	_, err = ledger.Account(l, debit, func() (ledger.Draw, error) {
		return func() ([]byte, error) { drawn = true; return s.Report, nil }, nil
	})
	var silent *ledger.SilentError
	switch {
	case drawn && err != nil:
		verdict = "report"
	case drawn:
		verdict = "drawn"
	case err == nil:
		verdict = "repeated"
	case errors.As(err, &silent):
		verdict = "silent " + silent.Next
	case errors.Is(err, ledger.ErrKey):
		verdict = "key"
	case errors.Is(err, ledger.ErrEpoch), errors.Is(err, ledger.ErrSchedule):
		verdict = "schedule"
	case errors.Is(err, ledger.ErrBudget) && !opt.MaxEpsilon.IsZero() && debit.Epsilon.Cmp(opt.MaxEpsilon) > 0:
		verdict = "maximum"
	case errors.Is(err, ledger.ErrBudget):
		verdict = "budget"
	default:
		return "", errors.Join(err, l.Close())
	}
	return verdict, l.Close()
}
