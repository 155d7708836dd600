package patch

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
)

// index has the nodes with mass whose rows have a word in common: an inseparable pair has at least one.
type index struct {
	*search
	words []uint64    // m of each row
	m     int         // at most 64
	sets  [][][]int32 // for each of the m, the sets of at least two nodes that have the same word
}

// newIndex returns the index; nil if rows have no words, or more than maxPairs pairs have the same in one place, as
// where hardly any entries are high.
func (s *search) newIndex(ctx context.Context) (*index, error) {
	least := math.Inf(1)
	for n, node := range s.nodes {
		if n != s.empty {
			least = min(least, node.mass)
		}
	}
	words, m := s.channel.Words(s.inverse, separable*(1+slack)/s.scale(least, least))
	x, pairs := &index{s, words, m, make([][][]int32, m)}, make([]int, m)
	err := parallel.Each(ctx, m, func(g int) error {
		x.sets[g], pairs[g] = x.same(g)
		return nil
	}, nil)
	if err != nil || m == 0 || slices.Max(pairs) > maxPairs {
		return nil, err
	}
	return x, nil
}

// same returns the sets of nodes with the same word g, and how many pairs they have.
func (x *index) same(g int) (sets [][]int32, pairs int) {
	type entry struct {
		word uint64
		node int32
	}
	list := make([]entry, 0, len(x.nodes))
	for n := range x.nodes {
		if n != x.empty {
			list = append(list, entry{x.wordsOf(int32(n))[g], int32(n)})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.node, b.node)) })
	for from, to := 0, 0; from < len(list); from = to {
		for to = from + 1; to < len(list) && list[to].word == list[from].word; {
			to++
		}
		if size := to - from; size > 1 {
			set := make([]int32, 0, size)
			for _, e := range list[from:to] {
				set = append(set, e.node)
			}
			sets, pairs = append(sets, set), pairs+size*(size-1)/2
		}
	}
	return sets, pairs
}

// wordsOf returns the words of a node with mass, which has one row.
func (x *index) wordsOf(n int32) []uint64 { return x.words[x.nodes[n].rows[0]*x.m:][:x.m] }

// candidates tries the pairs whose first common word is g.
func (x *index) candidates(g int, try func(a, b int32)) error {
	for _, set := range x.sets[g] {
		for n, a := range set {
			p := x.wordsOf(a)[:g]
			for _, b := range set[n+1:] {
				q, before := x.wordsOf(b), false
				for h, word := range p {
					before = before || word == q[h]
				}
				if !before {
					try(a, b)
				}
			}
			if err := x.over(); err != nil {
				return err
			}
		}
	}
	return nil
}
