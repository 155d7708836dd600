//go:build js || wasip1 || ios

package published

import (
	"context"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/policy"
)

// Projector returns the policy's solver in this process: the system starts no others.
func Projector(ctx context.Context, p policy.Policy, solver wpm.Solver) (policy.Projector, error) {
	m, err := wpm.Load(ctx, p, wpm.Options{Solver: solver})
	if err != nil {
		return nil, err
	}
	return m.Projector(), nil
}
