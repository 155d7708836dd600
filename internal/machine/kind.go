package machine

import (
	"context"
	"time"

	"github.com/wpm-go/wpm/certificate"
)

// solver answers one object: it reads the fields it knows, and returns what to write.
type solver func(ctx context.Context, in *object, clock *stopwatch) (answer any, err error)

// kind is one kind of problem, with its page of help.
type kind struct {
	solve           solver
	certificate     certificate.Kind // of its answers, "" if they have none
	summary, fields string
}

// evidence is part of an answer whose kind has a certificate: it makes the certificate.
type evidence func() (certificate.Certificate, error)

func (e evidence) certify() (certificate.Certificate, error) { return e() }

// stopwatch adds up the time inside solvers, without parsing, verifying and printing.
type stopwatch struct {
	total time.Duration
}

func (s *stopwatch) run(f func() error) error {
	start := time.Now()
	err := f()
	s.total += time.Since(start)
	return err
}
