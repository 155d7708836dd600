package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/mincostflow/network"
	"github.com/wpm-go/wpm/wpmerr"
)

type flowAnswer struct {
	Status     string  `json:"status"`
	Objective  string  `json:"objective,omitempty"` // it may exceed any word
	Flow       []int64 `json:"flow,omitempty"`
	Potentials []int64 `json:"potentials,omitempty"`
	Cut        []int   `json:"cut,omitempty"`
	Cycle      []step  `json:"cycle,omitempty"`
	Pivots     int     `json:"pivots"`
	evidence
}

// step is an arc of a cycle, printed as [arc, 1], or [arc, -1] if it goes backwards.
type step network.Step

func (s step) MarshalJSON() ([]byte, error) {
	way := 1
	if s.Backward {
		way = -1
	}
	return fmt.Appendf(nil, "[%d,%d]", s.Arc, way), nil
}

// solveFlow is minimum-cost flow. A network without a flow, or without a cheapest one, has an answer: the proof of
// that.
func solveFlow(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	nodes, err := read[int](in, "nodes")
	if err != nil {
		return nil, err
	}
	supply, err := read[[]int64](in, "supply")
	if err != nil {
		return nil, err
	}
	if nodes != len(supply) {
		return nil, fmt.Errorf("field %q has %d entries, for %d nodes", "supply", len(supply), nodes)
	}
	rows, err := read[[][]json.RawMessage](in, "arcs")
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	g := &network.Problem{Supply: supply, Arcs: make([]network.Arc, len(rows))}
	for e, row := range rows {
		if g.Arcs[e], err = readArc(row); err != nil {
			return nil, fmt.Errorf("field %q: arc %d: %w", "arcs", e, err)
		}
	}
	var r network.Result
	err = clock.run(func() (err error) {
		r, err = network.Solve(ctx, g, network.Settings{})
		return err
	})
	if err != nil && !errors.Is(err, wpmerr.ErrInfeasible) && !errors.Is(err, network.ErrUnbounded) {
		return nil, err
	}
	if err := network.Verify(g, r); err != nil {
		return nil, err
	}
	ans := flowAnswer{Status: r.Status.String(), Flow: r.Flow, Potentials: r.Potentials, Cut: r.Cut,
		Pivots:   r.Stats.Pivots,
		evidence: func() (certificate.Certificate, error) { return certificate.NewFlow(g, r) }}
	if r.Objective != nil {
		ans.Objective = r.Objective.String()
	}
	for _, s := range r.Cycle {
		ans.Cycle = append(ans.Cycle, step(s))
	}
	return ans, nil
}

// readArc reads [from, to, lower, capacity, cost]. The strings "-inf" for lower and "inf" for capacity mean no bound.
func readArc(row []json.RawMessage) (a network.Arc, err error) {
	if len(row) != 5 {
		return a, fmt.Errorf("%d numbers, want 5: from, to, lower, capacity, cost", len(row))
	}
	var n [5]int64
	for i, raw := range row {
		switch text := string(raw); {
		case i == 2 && text == `"-inf"`:
			n[i] = -network.Unlimited
		case i == 3 && text == `"inf"`:
			n[i] = network.Unlimited
		default:
			if n[i], err = strconv.ParseInt(text, 10, 64); err != nil {
				return a, fmt.Errorf("%s where a whole number of 64 bits is wanted", oneLine(text))
			}
		}
	}
	for _, end := range n[:2] {
		if int64(int(end)) != end {
			return a, fmt.Errorf("%d is not a node", end)
		}
	}
	return network.Arc{From: int(n[0]), To: int(n[1]), Lower: n[2], Upper: n[3], Cost: n[4]}, nil
}
