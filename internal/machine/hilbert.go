package machine

import (
	"context"
	"errors"

	"github.com/wpm-go/wpm/hilbert"
)

type distanceAnswer struct {
	Distance number `json:"distance"`
}

type diameterAnswer struct {
	Diameter    number `json:"diameter"`
	Tau         number `json:"tau"`
	OneMinusTau number `json:"one_minus_tau"`
}

// solveHilbert answers either the distance of x and y or the diameter of the kernel exp(-C/reg).
func solveHilbert(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	hasX, hasY, hasCost, hasReg := in.has("x"), in.has("y"), in.has("cost"), in.has("reg")
	switch {
	case (hasX || hasY) && (hasCost || hasReg):
		return nil, errors.New("give either x and y, or cost and reg, not both")
	case hasX || hasY:
		x, err := read[[]float64](in, "x")
		if err != nil {
			return nil, err
		}
		y, err := read[[]float64](in, "y")
		if err != nil {
			return nil, err
		}
		if err := in.finish(); err != nil {
			return nil, err
		}
		var d float64
		err = clock.run(func() (err error) {
			d, err = hilbert.Distance(x, y)
			return err
		})
		return distanceAnswer{number(d)}, err
	}
	c, _, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	reg, err := read[float64](in, "reg")
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	var ans diameterAnswer
	err = clock.run(func() error {
		d, err := hilbert.GibbsDiameter(ctx, c, reg)
		tau, rest := hilbert.Contraction(d)
		ans = diameterAnswer{number(d), number(tau), number(rest)}
		return err
	})
	return ans, err
}
