package places

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// OfPolicy returns the places of a policy, which may be pairs; the zero value if it has no cost. Errors: those of
// cost.ParseSpec, and plane.ErrPairs.
func OfPolicy(p policy.Policy) (plane.Places, error) {
	if len(p.Cost()) == 0 {
		return plane.Places{}, nil
	}
	spec, err := cost.ParseSpec(p.Cost())
	if err != nil {
		return plane.Places{}, err
	}
	return plane.OfPolicy(spec, p.Metadata(), p.InputLabel)
}

// Marginal is one end of pairs: what all pairs of each of its places, or of each value of a category, have together.
type Marginal struct {
	End    string    `json:"end"` // from, to, or the category
	Labels []string  `json:"labels"`
	Guess  []float64 `json:"guess"`
	Map    []float64 `json:"map"`
}

// Marginals are those of all ends of pairs, none of places.
func Marginals(at plane.Places, guess, shares []float64) (list []Marginal) {
	for _, e := range at.Ends {
		list = append(list, Marginal{e.Name, e.Labels, e.Sums(guess), e.Sums(shares)})
	}
	return list
}

// EndLabels are the places at the ends of pairs, each once.
func EndLabels(at plane.Places) (labels []string) {
	seen := map[string]bool{}
	for _, e := range at.Ends {
		for _, l := range e.Labels {
			if e.In != nil && !seen[l] {
				seen[l] = true
				labels = append(labels, l)
			}
		}
	}
	return labels
}

// MaxFlows is the largest number of flows with an interval each.
const MaxFlows = 256

// FlowsBetween are the flows between regions of the places at the ends of pairs, and what is from and to each: the share
// of a pair is the product of those of its places. labels are those of the weights of regions. The error is ErrTooLarge, or
// about a name.
func FlowsBetween(at plane.Places, labels []string, regions []costio.Region) (flows []costio.Region, err error) {
	for _, r := range regions {
		if r.Name == plane.Anywhere || strings.Contains(r.Name, plane.Between) {
			return nil, fmt.Errorf("region %.60q: %q stands for all places, and %s between the names of a flow", r.Name, plane.Anywhere,
				plane.Between)
		}
	}
	number := make(map[string]int, len(labels))
	for n, l := range labels {
		number[l] = n
	}
	flows = []costio.Region{{Weights: slices.Repeat([]float64{1}, len(at.In))}}
	for _, e := range at.Ends {
		if e.In == nil {
			continue
		}
		before := flows
		flows = nil
		for _, f := range before {
			for n := range len(regions) + 1 {
				name, some := plane.Anywhere, n == len(regions)
				weights := slices.Clone(f.Weights)
				if !some {
					name = regions[n].Name
					for i, j := range e.Of {
						v := regions[n].Weights[number[e.Labels[j]]]
						weights[i] *= v
						some = some || v > 0
					}
				}
				if f.Name != "" {
					name = f.Name + plane.Between + name
				}
				if some {
					flows = append(flows, costio.Region{Name: name, Weights: weights})
				}
				if len(flows)*len(at.In) > costio.MaxRegionWeights || len(flows) > MaxFlows {
					return nil, fmt.Errorf("%w: %d regions make more than %d flows, or more than %d weights of %d pairs: take fewer",
						wpmerr.ErrTooLarge, len(regions), MaxFlows, costio.MaxRegionWeights, len(at.In))
				}
			}
		}
	}
	return flows[:len(flows)-1], nil // from anywhere to anywhere
}
