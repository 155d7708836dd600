package ledger

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
)

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
