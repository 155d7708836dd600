//go:build !js && !wasip1 && !ios

package main

import (
	"os"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/internal/child"
	"github.com/wpm-go/wpm/policy"
)

// projector returns the policy's solver in a process of its own, this program again, so that no failure of a solver
// ends the release. done ends that process if it still runs. The error does not depend on private data.
func projector(p policy.Policy, solver wpm.Solver) (project policy.ProjectFunc, done func(), err error) {
	if _, err := wpm.Load(p, wpm.Options{Solver: solver}); err != nil {
		return nil, nil, err
	}
	text, err := bare(p)
	if err != nil {
		return nil, nil, err
	}
	path, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := child.New([]string{path, solverCommandName, "-solver", solver.String()}, text, p.Inputs(), p.Outputs())
	return c.Project, c.Close, nil
}

// bare returns the part of a policy that its solver needs, as a policy: rows and labels can be most of one.
func bare(p policy.Policy) ([]byte, error) {
	b, err := policy.New(policy.Config{
		Polytope: p.Polytope(), Mode: policy.Projection, WorkLimit: p.WorkLimit(), Inputs: p.Inputs(), Cost: p.Cost(),
		Provenance: p.Provenance(),
	})
	if err != nil {
		return nil, err
	}
	return policy.Encode(b)
}
