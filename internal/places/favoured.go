package places

import "github.com/wpm-go/wpm/policy"

// Favoured is what an output of a policy with codes stands for: places, each of which is likelier than another by the same
// odds.
type Favoured struct {
	Component int      `json:"component"` // of the list
	Output    int      `json:"output"`    // of the component
	Odds      float64  `json:"odds"`
	Places    []string `json:"places"`
}

// FavouredBy returns what output j of a policy with codes stands for.
func FavouredBy(p policy.Policy, j int) Favoured {
	box, set := p.Polytope(), p.Favours(j)
	f := Favoured{Odds: float64(box.Hi(j)) / float64(box.Lo(j)), Places: make([]string, len(set))}
	f.Component, f.Output = p.Component(j)
	for n, i := range set {
		f.Places[n] = p.InputLabel(i)
	}
	return f
}
