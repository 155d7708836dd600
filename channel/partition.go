package channel

import (
	"math"
	"math/rand/v2"
)

const (
	// levels is the number of scales besides that of single places.
	levels = 5
	// perLevel is the number of codes at a scale up to eps 2, and fewLevel from eps 4 on, where a code has more colours.
	perLevel, fewLevel = 24, 8
	// mostBlocks bounds the blocks of the finest scale of more places than that, besides single places: finer blocks are
	// below what groups of places can weigh, and the time of a net is that of its blocks.
	mostBlocks = 1500
)

// generator is that of a purpose.
func generator(seed, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// codesAt returns the number of codes at a scale: from perLevel down to fewLevel, between eps 2 and 4.
func codesAt(eps float64) int {
	t := min(max((eps-2)/2, 0), 1)
	return int(math.Round(perLevel * math.Pow(float64(fewLevel)/perLevel, t)))
}

// colours returns round(e^eps) + 1, or the number of blocks if it is less.
func colours(eps float64, blocks int) int {
	g := math.Round(math.Exp(eps)) + 1
	if g >= float64(blocks) {
		return blocks
	}
	return int(g)
}

// net cuts the places into blocks: centres at least r from each other in random order, r from 0.7 to 1 times s, and
// every place with its nearest centre, the first of equals. At s = 0 every place is a block. It returns the block of
// each place, or nil above a number of blocks.
func (d metric) net(s float64, most int, r *rand.Rand) (block []int32, blocks int) {
	block = make([]int32, d.k)
	if s == 0 {
		for i := range block {
			block[i] = int32(i)
		}
		return block, d.k
	}
	reach := (0.7 + 0.3*r.Float64()) * s
	near, buf := make([]float64, d.k), make([]float64, d.k)
	for i := range near {
		near[i] = math.Inf(1)
	}
	for _, c := range r.Perm(d.k) {
		if near[c] < reach {
			continue
		}
		if blocks == most {
			return nil, blocks
		}
		for i, v := range d.row(c, buf) {
			if v < near[i] {
				near[i], block[i] = v, int32(blocks)
			}
		}
		blocks++
	}
	return block, blocks
}

// paint gives the blocks colours at random, each to as many blocks as can be, and returns the colour of each place.
func paint(block []int32, blocks, colors int, r *rand.Rand) []int32 {
	of := make([]int32, blocks)
	for b := range of {
		of[b] = int32(b % colors)
	}
	r.Shuffle(blocks, func(a, b int) { of[a], of[b] = of[b], of[a] })
	out := make([]int32, len(block))
	for i, b := range block {
		out[i] = of[b]
	}
	return out
}

// scales are those of nets: 0, and from 1.5 times the distance of neighbours to half of the largest. There are none
// if all places are at one point.
func (d metric) scales(near, largest float64, seed uint64) []float64 {
	if !(near > 0) {
		return nil
	}
	low, high := 1.5*near, max(largest/2, 2*near)
	if d.k > mostBlocks {
		for low < high {
			if block, _ := d.net(low, mostBlocks, generator(seed, 0)); block != nil {
				break
			}
			low = min(1.4*low, high)
		}
	}
	out := []float64{0}
	for n := range levels {
		out = append(out, low*math.Pow(high/low, float64(n)/(levels-1)))
	}
	return out
}
