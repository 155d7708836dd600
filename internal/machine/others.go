package machine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
)

type phiAnswer struct {
	Phi         numbers `json:"phi"`
	Tau         numbers `json:"tau"`
	F           number  `json:"f"`
	Argmax      int     `json:"argmax"`
	Subgradient numbers `json:"subgradient,omitempty"`
}

func solvePhi(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	c, _, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	b, err := readBox(in, c.Kv)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	ans := phiAnswer{Phi: make(numbers, c.K), Tau: make(numbers, c.K)}
	err = clock.run(func() error {
		table, err := knapsack.New(ctx, c)
		if err != nil {
			return err
		}
		if err := table.All(b.lo, b.hi, ans.Phi, ans.Tau); err != nil {
			return err
		}
		for i, v := range ans.Phi {
			if i == 0 || v > float64(ans.F) {
				ans.F, ans.Argmax = number(v), i
			}
		}
		if b.m != nil {
			ans.Subgradient = make(numbers, c.Kv)
			table.Subgradient(ans.Argmax, ans.Tau[ans.Argmax], b.alpha, b.beta, ans.Subgradient)
		}
		return nil
	})
	return ans, err
}

type kpmAnswer struct {
	Q numbers `json:"q"`
	R number  `json:"r"`
	evidence
}

func solveKPM(_ context.Context, in *object, clock *stopwatch) (any, error) {
	mu, err := read[[]float64](in, "mu")
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
	var ans kpmAnswer
	err = clock.run(func() error {
		q, r, err := baseline.KPM(mu, eps)
		ans = kpmAnswer{Q: q, R: number(r), evidence: func() (certificate.Certificate, error) {
			return certificate.NewKPM(mu, eps, q, r)
		}}
		return err
	})
	return ans, err
}

type roundAnswer struct {
	Lo       []string `json:"lo"`
	Hi       []string `json:"hi"`
	Weights  []string `json:"weights"`
	Verified bool     `json:"verified"`
}

func solveRound(_ context.Context, in *object, clock *stopwatch) (any, error) {
	m, err := read[[]float64](in, "m")
	if err != nil {
		return nil, err
	}
	text, err := readExactEpsilon(in)
	if err != nil {
		return nil, err
	}
	eps, err := ldp.ParseEpsilon(text)
	if err != nil {
		return nil, fmt.Errorf("field %q: %w", "eps", err)
	}
	bits, err := read[int](in, "bits")
	if err != nil {
		return nil, err
	}
	q, err := read[[]float64](in, "q")
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	if len(q) != len(m) {
		return nil, fmt.Errorf("field %q has %d entries, m %d", "q", len(q), len(m))
	}
	var ans roundAnswer
	err = clock.run(func() error {
		box, err := ldp.NewPolytope(eps, m, bits)
		if err != nil {
			return err
		}
		ans.Verified = box.Verify() == nil
		w := box.Round(q)
		for j := range m {
			ans.Lo = append(ans.Lo, strconv.FormatUint(box.Lo(j), 10))
			ans.Hi = append(ans.Hi, strconv.FormatUint(box.Hi(j), 10))
			ans.Weights = append(ans.Weights, strconv.FormatUint(w.At(j), 10))
		}
		return nil
	})
	return ans, err
}

// readExactEpsilon takes eps as a string, or as the text of a JSON number: both are meant exactly.
func readExactEpsilon(in *object) (string, error) {
	if in.has("eps") && in.fields["eps"][0] != '"' {
		n, err := read[json.Number](in, "eps")
		return n.String(), err
	}
	return read[string](in, "eps")
}
