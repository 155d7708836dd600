// Package mathematics makes the test vectors of docs/mathematics.md: what solvers compute, in rationals and in
// 512-bit floats.
package mathematics

import (
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/cases"
	"github.com/wpm-go/wpm/lab/vectors/internal/problem"
	"github.com/wpm-go/wpm/lab/vectors/internal/transport"
	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

type phiIn struct {
	C  [][]string `json:"c"`
	Lo []string   `json:"lo"`
	Hi []string   `json:"hi"`
}

type phiOut struct {
	Phi    []string `json:"phi"`
	Tau    []string `json:"tau"`
	F      string   `json:"f"`
	Argmax int      `json:"argmax"`
}

// threshold is the convention for tau: where the greedy fill of a row ends.
func threshold(c, lo, hi []float64) float64 {
	one := big.NewRat(1, 1)
	l, h := exact.Rats(lo), exact.Rats(hi)
	rest := exact.Sub(one, exact.Sum(l))
	if rest.Sign() <= 0 {
		return slices.Min(c)
	}
	order := make([]int, len(c))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case c[a] < c[b]:
			return -1
		case c[a] > c[b]:
			return 1
		}
		return 0
	})
	if exact.Sum(h).Cmp(one) <= 0 {
		last := 0.0
		for _, j := range order {
			if h[j].Sign() > 0 {
				last = c[j]
			}
		}
		return last
	}
	for _, j := range order {
		if rest.Sub(rest, exact.Sub(h[j], l[j])); rest.Sign() <= 0 {
			return c[j]
		}
	}
	panic("a fill that does not end")
}

// Phi fills in the cases of the kind phi: knapsack values and their thresholds.
func Phi(s *cases.Set) {
	r := &s.RNG
	s.Until(260, 120, func(n int) {
		p := problem.Random(r, 6)
		if n%5 == 0 {
			p.Tight(r)
			p.Flags = append(problem.CostFlags(p.C), problem.BoundFlags(p.Lo, p.Hi)...)
		}
		p.Mu = nil
		reason := ""
		if n%3 == 2 {
			p, reason, p.Flags = problem.Broken(r, p)
		}
		in := phiIn{values.HexMatrix(p.C), values.HexFloats(p.Lo), values.HexFloats(p.Hi)}
		why, l, h := problem.Bounds(p.Lo, p.Hi)
		if reason != "" || why != "" {
			if reason == "" {
				reason = why
			}
			s.Invalid(reason, in, p.Flags...)
			return
		}
		var phi []*big.Rat
		out := phiOut{}
		for i, row := range values.Matrix(p.C) {
			v, _ := exact.Greedy(row, l, h)
			tau := threshold(p.C[i], p.Lo, p.Hi)
			values.Must(exact.Cut(exact.Rat(tau), row, l, h).Cmp(v) == 0, "the cut at tau does not touch phi")
			phi = append(phi, v)
			out.Tau = append(out.Tau, values.HexFloat(tau))
			if v.Cmp(phi[out.Argmax]) > 0 {
				out.Argmax = i
			}
		}
		out.Phi, out.F = values.Ratios(phi), phi[out.Argmax].RatString()
		s.Valid(in, out, p.Flags...)
	})
}

type projectIn struct {
	C  [][]string `json:"c"`
	Mu []string   `json:"mu"`
	Lo []string   `json:"lo"`
	Hi []string   `json:"hi"`
}

type planEntry struct {
	I    int    `json:"i"`
	J    int    `json:"j"`
	Mass string `json:"mass"`
}

type projectOut struct {
	Value string      `json:"value"`
	Plan  []planEntry `json:"plan"`
	F     []string    `json:"f"`
	G     []string    `json:"g"`
}

// Project fills in the cases of the kind project: projections at least cost.
func Project(s *cases.Set) {
	r := &s.RNG
	s.Until(220, 110, func(n int) {
		p := problem.Random(r, 5)
		if n%5 == 0 {
			p.Tight(r)
			p.Flags = append(problem.CostFlags(p.C), problem.BoundFlags(p.Lo, p.Hi)...)
		}
		reason := ""
		if n%3 == 2 {
			p, reason, p.Flags = problem.Broken(r, p)
		}
		in := projectIn{values.HexMatrix(p.C), values.HexFloats(p.Mu), values.HexFloats(p.Lo), values.HexFloats(p.Hi)}
		why, l, h := problem.Bounds(p.Lo, p.Hi)
		if reason == "" {
			reason = why
		}
		if reason != "" {
			s.Invalid(reason, in, p.Flags...)
			return
		}
		mu, err := exact.Distribution(p.Mu)
		values.Must(err == nil, "no distribution")
		value, plan, f, g := transport.Project(values.Matrix(p.C), mu, l, h)
		out := projectOut{Value: value.RatString(), Plan: []planEntry{}, F: values.Ratios(f), G: values.Ratios(g)}
		for i, row := range plan {
			for j, v := range row {
				if v.Sign() > 0 {
					out.Plan = append(out.Plan, planEntry{i, j, v.RatString()})
				}
			}
		}
		s.Valid(in, out, p.Flags...)
	})
}
