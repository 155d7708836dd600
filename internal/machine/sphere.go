package machine

import (
	"context"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/sphere"
)

type sphereAnswer struct {
	T     number `json:"t"`
	Omt   number `json:"omt"`
	Alpha number `json:"alpha"`
	S     number `json:"S"`
	J     number `json:"J"`
	W     number `json:"W"`
	Pin   number `json:"pin"`
	Pout  number `json:"pout"`
	evidence
}

func solveSphere(_ context.Context, in *object, clock *stopwatch) (any, error) {
	d, err := read[int](in, "d")
	if err != nil {
		return nil, err
	}
	p, err := read[float64](in, "p")
	if err != nil {
		return nil, err
	}
	eps, err := readEpsilon(in)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	var m sphere.Measure
	err = clock.run(func() (err error) {
		m, err = sphere.Solve(d, p, eps)
		return err
	})
	prove := func() (certificate.Certificate, error) {
		b, err := sphere.Enclose(d, p, eps, 0)
		if err != nil {
			return certificate.Certificate{}, err
		}
		return certificate.NewSphere(d, p, eps, b)
	}
	return sphereAnswer{
		evidence: prove,
		T:        number(m.T), Omt: number(m.Omt), Alpha: number(m.Alpha), S: number(m.S), J: number(m.J), W: number(m.W),
		Pin: number(m.Pin), Pout: number(m.Pout),
	}, err
}
