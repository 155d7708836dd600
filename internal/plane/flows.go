package plane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// OfCost is OfPolicy for the text of a cost: the zero value if there is none. Errors: those of cost.ParseSpec, and
// ErrPairs.
func OfCost(text []byte, metadata map[string]string, label func(i int) string) (Places, error) {
	if len(text) == 0 {
		return Places{}, nil
	}
	spec, err := cost.ParseSpec(text)
	if err != nil {
		return Places{}, err
	}
	return OfPolicy(spec, metadata, label)
}

// Marginal is one end of pairs: what all pairs of each of its places, or of each value of a category, have together.
type Marginal struct {
	End    string    `json:"end"` // from, to, or the category
	Labels []string  `json:"labels"`
	Guess  []float64 `json:"guess"`
	Map    []float64 `json:"map"`
}

// Marginals are those of all ends of pairs, none of places.
func Marginals(at Places, guess, shares []float64) (list []Marginal) {
	for _, e := range at.Ends {
		list = append(list, Marginal{e.Name, e.Labels, e.Sums(guess), e.Sums(shares)})
	}
	return list
}

// EndLabels are the places at the ends of pairs, each once.
func EndLabels(at Places) (labels []string) {
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

// MaxFlows is the largest number of flows with an interval each, and maxWeights that of the weights of all together, as
// of regions that are read.
const (
	MaxFlows   = 256
	maxWeights = 1 << 24
)

// Region is a named part of places, with a weight from 0 to 1 for each.
type Region struct {
	Name    string
	Weights []float64
}

// Share returns what a map has in r.
func (r Region) Share(theta []float64) (share float64) {
	for i, v := range theta {
		share += v * r.Weights[i]
	}
	return share
}

// FlowsBetween are the flows between regions of the places at the ends of pairs, and what is from and to each: the share
// of a pair is the product of those of its places. labels are those of the weights of regions. The error is ErrTooLarge, or
// about a name.
func FlowsBetween(at Places, labels []string, regions []Region) (flows []Region, err error) {
	for _, r := range regions {
		if r.Name == Anywhere || strings.Contains(r.Name, Between) {
			return nil, fmt.Errorf("region %.60q: %q stands for all places, and %s between the names of a flow", r.Name, Anywhere,
				Between)
		}
	}
	number := make(map[string]int, len(labels))
	for n, l := range labels {
		number[l] = n
	}
	flows = []Region{{Weights: slices.Repeat([]float64{1}, len(at.In))}}
	for _, e := range at.Ends {
		if e.In == nil {
			continue
		}
		before := flows
		flows = nil
		for _, f := range before {
			for n := range len(regions) + 1 {
				name, some := Anywhere, n == len(regions)
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
					name = f.Name + Between + name
				}
				if some {
					flows = append(flows, Region{Name: name, Weights: weights})
				}
				if len(flows)*len(at.In) > maxWeights || len(flows) > MaxFlows {
					return nil, fmt.Errorf("%w: %d regions make more than %d flows, or more than %d weights of %d pairs: take fewer",
						wpmerr.ErrTooLarge, len(regions), MaxFlows, maxWeights, len(at.In))
				}
			}
		}
	}
	return flows[:len(flows)-1], nil // from anywhere to anywhere
}
