package plan_test

import (
	"errors"
	"testing"

	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestOwn: the people's own places are nearer to their population the more they are, by 1/sqrt(N).
func TestOwn(t *testing.T) {
	l := planner(t, plan.Problem{Cost: grid(t, 6, 6, 1)})
	few, err1 := l.Own(t.Context(), 400)
	many, err2 := l.Own(t.Context(), 40_000)
	if err := errors.Join(err1, err2); err != nil || !(few/many > 7 && few/many < 13) {
		t.Errorf("400 people %v, 40,000 people %v (%v): want a factor near 10", few, many, err)
	}
	for _, people := range []int{0, -1, plan.MaxDevices + 1} {
		if _, err := l.Own(t.Context(), people); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("%d people: %v", people, err)
		}
	}
}
