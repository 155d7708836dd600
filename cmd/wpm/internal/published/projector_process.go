//go:build !js && !wasip1 && !ios

package published

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/internal/child"
	"github.com/wpm-go/wpm/policy"
)

// Projector returns the policy's solver in a process of its own, this program again, so that no failure of a solver
// ends the release. The error does not depend on private data.
func Projector(ctx context.Context, p policy.Policy, solver wpm.Solver) (policy.Projector, error) {
	if _, err := wpm.Load(ctx, p, wpm.Options{Solver: solver}); err != nil {
		return nil, err
	}
	text, err := Bare(p)
	if err != nil {
		return nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{path, SolverName, "-solver", solver.String()}
	program := child.Program{Argv: argv, Public: text, K: p.Inputs(), KV: p.Outputs()}
	return process{program, p.WorkLimit() + startTime}, nil
}

// startTime is how long a child may take to start and to load its policy, beside the time that it has to solve.
const startTime = time.Minute

// process is a Projector that starts a child for each release, within limit.
type process struct {
	child.Program
	limit time.Duration
}

func (p process) Start(ctx context.Context) (policy.ProjectFunc, func(), error) {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	c, err := p.Program.Start(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("the solver's process: %w", err)
	}
	return c.Project, c.Close, nil
}

// Bare returns the part of a policy that its solver needs, as a policy: rows and labels can be most of one.
func Bare(p policy.Policy) ([]byte, error) {
	b, err := policy.New(policy.Config{
		Polytope: p.Polytope(), Mode: policy.Projection, WorkLimit: p.WorkLimit(), Inputs: p.Inputs(), Cost: p.Cost(),
		Provenance: p.Provenance(),
	})
	if err != nil {
		return nil, err
	}
	return policy.Encode(b)
}
