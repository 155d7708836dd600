package server

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/wpmerr"
)

// marginal is one end of pairs: what all pairs of each of its places, or of each value of a category, have together.
type marginal struct {
	End    string    `json:"end"` // from, to, or the category
	Labels []string  `json:"labels"`
	Guess  []float64 `json:"guess"`
	Map    []float64 `json:"map"`
}

// print writes the largest of an end.
func (m marginal) print(out io.Writer, top int) error {
	order := make([]int, len(m.Labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Map[b], m.Map[a]) })
	if top > 0 {
		order = order[:min(top, len(order))]
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\tguess\tmap\n", m.End)
	for _, i := range order {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\n", m.Labels[i], m.Guess[i], m.Map[i])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(m.Labels) - len(order); n > 0 {
		fmt.Fprintf(out, "... and %d more (-top 0, -map, -json)\n", n)
	}
	return nil
}

// endLabels are the places at the ends of pairs, each once.
func endLabels(at plane.Places) (labels []string) {
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

// maxFlows is the largest number of flows with an interval each.
const maxFlows = 256

// anywhere stands for all places of an end.
const anywhere = "anywhere"

// flowsBetween are the flows between regions of the places at the ends of pairs, and what is from and to each: the share
// of a pair is the product of those of its places.
func flowsBetween(at plane.Places, labels []string, regions []costio.Region) (flows []costio.Region, err error) {
	for _, r := range regions {
		if r.Name == anywhere || strings.Contains(r.Name, plane.Between) {
			return nil, fmt.Errorf("-regions: region %.60q: %q stands for all places, and %s between the names of a flow", r.Name, anywhere,
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
				name, some := anywhere, n == len(regions)
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
				if len(flows)*len(at.In) > costio.MaxRegionWeights || len(flows) > maxFlows {
					return nil, fmt.Errorf("-regions: %w: %d regions make more than %d flows, or more than %d weights of %d pairs: take fewer",
						wpmerr.ErrTooLarge, len(regions), maxFlows, costio.MaxRegionWeights, len(at.In))
				}
			}
		}
	}
	return flows[:len(flows)-1], nil // from anywhere to anywhere
}
