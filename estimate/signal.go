package estimate

import "fmt"

// Signal says what the counts say beyond the guess.
type Signal int

// The signals, in order.
const (
	NoSignal   Signal = iota // the guess is as good
	WeakSignal               // better than the guess, not by much
	GoodSignal
)

var signalNames = [...]string{"none", "weak", "ok"}

// String returns none, weak or ok.
func (s Signal) String() string {
	if s < 0 || int(s) >= len(signalNames) {
		return fmt.Sprintf("Signal(%d)", int(s))
	}
	return signalNames[s]
}

// MarshalText writes the name.
func (s Signal) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
