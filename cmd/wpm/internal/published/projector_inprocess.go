//go:build js || wasip1 || ios

package published

import (
	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/policy"
)

// Projector returns the policy's solver in this process: the system starts no others.
func Projector(p policy.Policy, solver wpm.Solver) (policy.Projector, error) {
	m, err := wpm.Load(p, wpm.Options{Solver: solver})
	if err != nil {
		return nil, err
	}
	return m.Projector(), nil
}
