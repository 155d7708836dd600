package ledger

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// mechanism is a toy of a policy: two outputs, of which it draws one by a byte.
type mechanism struct {
	id  [sha256.Size]byte
	eps ldp.Epsilon
}

func (m mechanism) debit() Debit { return Debit{Policy: m.id, Epsilon: m.eps} }

func mustEpsilon(t testing.TB, s string) ldp.Epsilon {
	t.Helper()
	eps, err := ldp.ParseEpsilon(s)
	if err != nil {
		t.Fatal(err)
	}
	return eps
}

// epsPolicy is a mechanism of the given epsilon; the note makes it one of its own.
func epsPolicy(t testing.TB, eps, note string) mechanism {
	t.Helper()
	return mechanism{sha256.Sum256([]byte(eps + " " + note)), mustEpsilon(t, eps)}
}

// report is what a mechanism draws, in hexadecimal.
type report string

func (m mechanism) report(output uint32) []byte {
	return binary.LittleEndian.AppendUint32(append([]byte(outputs), m.id[:]...), output)
}

// projector stands for the solver of a release in projection mode: it is made ready before the debit.
type projector func() error

var identity projector = func() error { return nil }

var errRandom = errors.New("random source failed")

// release pays for one draw, of nine random bytes: output 1 if the last is 128 or more.
func release(_ context.Context, m mechanism, l Ledger, _ []byte, ready projector, random io.Reader) (report, error) {
	b, err := Account(l, m.debit(), func() (Draw, error) {
		return func() ([]byte, error) {
			word := make([]byte, 9)
			if _, err := io.ReadFull(random, word); err != nil {
				return nil, fmt.Errorf("%w: %w", errRandom, err)
			}
			return m.report(uint32(word[8] >> 7)), nil
		}, ready()
	})
	return report(hex.EncodeToString(b)), err
}

// Release is release with random bytes that are.
func Release(ctx context.Context, m mechanism, l Ledger, private []byte, ready projector) (report, error) {
	return release(ctx, m, l, private, ready, rand.Reader)
}

// words is a random source of the bytes that release reads.
func words(pick, sample uint64) io.Reader {
	b := binary.LittleEndian.AppendUint64(nil, pick)
	return bytes.NewReader(binary.LittleEndian.AppendUint64(b, sample))
}

var errSource = errors.New("source broke")

// failAfter gives n zero bytes and then an error.
func failAfter(n int) io.Reader {
	return io.MultiReader(bytes.NewReader(make([]byte, n)), errReader{})
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errSource }

// readerFunc is a random source.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// pay is Account for a draw that needs nothing ready.
func pay(l Ledger, id [sha256.Size]byte, eps ldp.Epsilon, draw Draw) ([]byte, error) {
	return Account(l, Debit{Policy: id, Epsilon: eps}, func() (Draw, error) { return draw, nil })
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
