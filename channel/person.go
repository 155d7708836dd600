package channel

import "math"

// Person is what a release says of its owner, who is at one place: means over owners at all places alike, and over
// their releases.
type Person struct {
	// Share is the share of the places that a release favours.
	Share float64 `json:"share"`
	// Own is the probability that it favours the place of its owner.
	Own float64 `json:"own"`
	// Far is the mean distance of the places that it favours to that of its owner, and Even that of all places. Both are
	// in the unit of the distance, the root of the cost.
	Far  float64 `json:"far"`
	Even float64 `json:"even"`
}

// mostOwners is how many places, evenly by index, stand for all owners.
const mostOwners = 64

// Person returns what a release says of its owner. It takes O(64 k) for a code, and O(64 k s) for a disc of s places.
func (m *Mixture) Person() Person {
	step := (m.Inputs + mostOwners - 1) / mostOwners
	var owners []int
	for i := 0; i < m.Inputs; i += step {
		owners = append(owners, i)
	}
	var out Person
	buf := make([]float64, m.Inputs)
	for _, i := range owners {
		for _, d := range m.near.row(i, buf) {
			out.Even += d / float64(m.Inputs*len(owners))
		}
	}
	for n, c := range m.Components {
		sets := m.favours(c)
		row := make([]uint64, len(sets))
		for _, i := range owners {
			m.Row(n, i, row)
			dist := m.near.row(i, buf)
			for y, set := range sets {
				p := math.Ldexp(float64(row[y]), -m.Bits) / float64(len(owners))
				out.Share += p * float64(len(set)) / float64(m.Inputs)
				if row[y] > c.Low {
					out.Own += p
				}
				far := 0.0
				for _, j := range set {
					far += dist[j]
				}
				if len(set) > 0 {
					out.Far += p * far / float64(len(set))
				}
			}
		}
	}
	return out
}

// favours returns, for each output of a component, the inputs that give it more than the lowest weight.
func (m *Mixture) favours(c Component) [][]int32 {
	sets := make([][]int32, c.Outputs(m.Inputs))
	if c.Colors > 0 {
		for i, g := range c.Color {
			sets[g] = append(sets[g], int32(i))
		}
		return sets
	}
	buf, size := make([]float64, m.Inputs), min(c.Full(m.Inputs)+1, m.Inputs)
	for i := range m.Inputs {
		for _, y := range nearest(m.near.row(i, buf))[:size] {
			sets[y] = append(sets[y], int32(i))
		}
	}
	return sets
}
