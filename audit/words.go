package audit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

const (
	// maxEnumerated is up to how many bits every word is tried.
	maxEnumerated = 16
	// maxScan bounds the words tried for one row times its outputs, the work of a sampler that scans them all:
	// 50 ms.
	maxScan = 1 << 26
)

// enumerable reports whether every word of a row is tried.
func enumerable(bits, kv int) bool { return bits <= maxEnumerated && kv <= maxScan>>uint(bits) }

// draw is a sampler as a function of its random word.
type draw func(word uint64) (int, error)

// wordFault compares a sampler with the weights n of its row, which must be a point of a box of B = bits, and
// says what is wrong, or "".
//
// With few bits every word is drawn and the outputs counted. With more, words beside the edges of the
// cumulative sums are: the least and the greatest word of every output that has one, or of so many outputs as
// maxScan allows. A sampler whose output does not fall as the word rises is then right on all words; that ldp's
// does not is the argument in its source.
func wordFault(n []uint64, bits int, outputs func(int) string, f draw) string {
	if enumerable(bits, len(n)) {
		return countFault(n, bits, bits, outputs, f)
	}
	stride := 1 + 2*len(n)*len(n)/maxScan
	var c uint64
	for j, v := range n {
		if v == 0 {
			continue
		}
		if j%stride == 0 || j == len(n)-1 {
			for _, word := range [2]uint64{c, c + v - 1} {
				if got, err := f(word); err != nil {
					return fmt.Sprintf("word %d: %v", word, err)
				} else if got != j {
					return fmt.Sprintf("word %d gives output %s, want %s", word, outputs(got), outputs(j))
				}
			}
		}
		c += v
	}
	return ""
}

// countFault draws every word of wordBits >= bits and compares the counts with n 2^(wordBits-bits).
func countFault(n []uint64, bits, wordBits int, outputs func(int) string, f draw) string {
	counts := make([]uint64, len(n))
	for word := range uint64(1) << uint(wordBits) {
		j, err := f(word)
		if err != nil {
			return fmt.Sprintf("word %d: %v", word, err)
		}
		if j < 0 || j >= len(n) {
			return fmt.Sprintf("word %d gives output %d of %d", word, j, len(n))
		}
		counts[j]++
	}
	for j, v := range n {
		if counts[j] != v<<uint(wordBits-bits) {
			return fmt.Sprintf("%d of 2^%d words give output %s, want %d", counts[j], wordBits, outputs(j),
				v<<uint(wordBits-bits))
		}
	}
	return ""
}

// Words checks that ldp's sampler, for the known rows of a table that are points of the policy's box, turns
// random words into the right outputs.
func Words(p policy.Policy, t Table) Check {
	c := Check{Name: "random words", What: "the sampler gives every output for exactly its share of the random words"}
	if enumerable(t.Bits, len(t.Lo)) {
		c.What += " (every word tried)"
	} else {
		c.What += " (the first and last word of outputs tried)"
	}
	if err := t.check(); err != nil {
		c.Fault = err.Error()
		return c
	}
	for _, row := range t.Rows {
		if row.N == nil {
			continue
		}
		w, err := p.Polytope().Weights(row.N)
		if err == nil {
			c.Rows++
			if fault := wordFault(row.N, t.Bits, t.output, wordsOf(w)); fault != "" {
				err = fmt.Errorf("%s", fault)
			}
		}
		if err != nil {
			c.Fault = fmt.Sprintf("%s: %v", row.Name, err)
			break
		}
	}
	c.Passed = c.Fault == ""
	return c
}

// wordsOf is ldp's sampler as a function of its word.
func wordsOf(w ldp.Weights) draw {
	return func(word uint64) (int, error) {
		b := binary.LittleEndian.AppendUint64(nil, word)
		return w.Sample(bytes.NewReader(b[:(w.Bits()+7)/8]))
	}
}

// inverse is the sampler that the weights prescribe: the first j whose cumulative sum exceeds the word.
func inverse(n []uint64) func(word uint64) int {
	cumulative := make([]uint64, len(n))
	var c uint64
	for j, v := range n {
		c += v
		cumulative[j] = c
	}
	return func(word uint64) int {
		return sort.Search(len(cumulative), func(j int) bool { return cumulative[j] > word })
	}
}
