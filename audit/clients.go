package audit

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"

	"github.com/wpm-go/wpm/policy"
)

// Mixed is the Input of a Row for a client with data on several inputs.
const Mixed = -2

// Share is a part of a client's data: a count of one input.
type Share struct {
	Input int
	Count uint64
}

// probability is p with its complement 1 - p, each to a relative error of a few units in the last place of a float64.
type probability struct{ p, rest float64 }

// mixer adds up the law of a mixed client, which draws an input i in proportion to its counts and an output from row
// i. Its counts sum to 2^shift, so that a release draws the input exactly, and the law is one of integers n_j over
// 2^(bits + shift).
type mixer struct {
	row   Row
	shift int
	count map[int]uint64 // by input
	n     [][2]uint64    // high, low
}

// newMixer makes a client with these shares, whose sum must be a power of two.
func newMixer(name string, kv int, shares []Share) mixer {
	m := mixer{row: Row{Name: name, Input: Mixed, Shares: shares}, count: map[int]uint64{}, n: make([][2]uint64, kv)}
	total := uint64(0)
	for _, s := range shares {
		m.count[s.Input] += s.Count
		total += s.Count
	}
	m.shift = bits.Len64(total) - 1
	return m
}

// add adds the row of an input.
func (m mixer) add(input int, row []uint64) {
	count := m.count[input]
	if count == 0 {
		return
	}
	for j, v := range row {
		hi, lo := bits.Mul64(count, v)
		var carry uint64
		m.n[j][1], carry = bits.Add64(m.n[j][1], lo, 0)
		m.n[j][0] += hi + carry
	}
}

// done returns the client with its law, for rows whose weights sum to 2^b.
func (m mixer) done(b int) Row {
	b += m.shift
	var total [2]uint64 // 2^b
	total[(127-b)/64] = 1 << uint(b%64)
	float := func(hi, lo uint64) float64 {
		return math.Ldexp(float64(hi), 64-b) + math.Ldexp(float64(lo), -b)
	}
	for _, n := range m.n {
		lo, borrow := bits.Sub64(total[1], n[1], 0)
		hi, _ := bits.Sub64(total[0], n[0], borrow)
		m.row.law = append(m.row.law, probability{float(n[0], n[1]), float(hi, lo)})
	}
	return m.row
}

// mixedShares returns the data of the mixed clients over k >= 2 inputs: two neighbours, the pair high and low, all
// inputs, and one heavy input beside all others. Counts sum to a power of two that is at least 16: if quarters were
// enough, the first two bits of a word would choose the input, and its other 62 could serve again unseen. With a power
// of two, a release chooses an input with exactly the probabilities of the shares: the law is known to the last bit.
func mixedShares(k, high, low int) [][]Share {
	next := (high + 1) % k
	out := [][]Share{{{high, 5}, {next, 11}}}
	if low != next && low != high {
		out = append(out, []Share{{low, 11}, {high, 5}})
	}
	// All inputs: the first three counts 1 : 2 : 3, and so on, scaled to a power of two that is at least 16 k.
	total := uint64(1) << uint(bits.Len(uint(16*k-1)))
	sum, left := uint64(0), total
	for i := range k {
		sum += uint64(1 + i%3)
	}
	all := make([]Share, k)
	for i := range all {
		all[i] = Share{i, total * uint64(1+i%3) / sum}
		left -= all[i].Count
	}
	for i := range left { // less than k
		all[i].Count++
	}
	// One heavy: more than half of all.
	light := uint64(k - 1)
	heavy := []Share{{low, uint64(1)<<uint(max(4, bits.Len64(light)+1)) - light}}
	for i := range k {
		if i != low {
			heavy = append(heavy, Share{i, 1})
		}
	}
	return append(out, all, heavy)
}

// mixedRows returns the mixed clients of a policy, none if it has one input. Their laws are known in mixture mode.
func mixedRows(p policy.Policy, high, low int) ([]Row, error) {
	k := p.Inputs()
	if k < 2 {
		return nil, nil
	}
	list := mixedShares(k, high, low)
	mixers := make([]mixer, len(list))
	for n, shares := range list {
		name := fmt.Sprintf("inputs %s and %s", p.InputLabel(shares[0].Input), p.InputLabel(shares[1].Input))
		switch n {
		case len(list) - 2:
			name = "all inputs"
		case len(list) - 1:
			name = fmt.Sprintf("mostly input %s", p.InputLabel(low))
		}
		mixers[n] = newMixer(name, p.Outputs(), shares)
	}
	rows := make([]Row, len(list))
	if p.Mode() != policy.Mixture {
		for n, m := range mixers {
			rows[n] = m.row
		}
		return rows, nil
	}
	for i := range k {
		w, err := p.Row(i)
		if err != nil {
			return nil, err
		}
		row := weights(w)
		for _, m := range mixers {
			m.add(i, row)
		}
	}
	for n, m := range mixers {
		rows[n] = m.done(p.Polytope().Bits())
	}
	return rows, nil
}

// privateData is the file of a client: nothing for Fallback, all mass on one input, or the counts of a mixed client.
// Half of a mixed client's first count stands on a line of its own, so that counts are decimals and have to be added.
func privateData(p policy.Policy, r Row) ([]byte, error) {
	counts := make([]float64, p.Inputs())
	shares := r.Shares
	switch {
	case r.Input == Fallback:
		return nil, nil
	case r.Input != Mixed:
		shares = []Share{{r.Input, 1}}
	case len(shares) == 0:
		return nil, fmt.Errorf("%w: %s has no data", ErrDesign, r.Name)
	}
	for _, s := range shares {
		if s.Input < 0 || s.Input >= len(counts) {
			return nil, fmt.Errorf("%w: input %d of %d", ErrDesign, s.Input, len(counts))
		}
		counts[s.Input] += float64(s.Count)
	}
	if r.Input != Mixed {
		return policy.FormatPrivate(p, counts)
	}
	first := shares[0].Input
	half := make([]float64, len(counts))
	half[first] = counts[first] / 2
	counts[first] -= half[first]
	head, err := policy.FormatPrivate(p, half)
	if err != nil {
		return nil, err
	}
	body, err := policy.FormatPrivate(p, counts)
	if err != nil {
		return nil, err
	}
	_, body, _ = bytes.Cut(body, []byte("\n")) // without its header
	return append(head, body...), nil
}
