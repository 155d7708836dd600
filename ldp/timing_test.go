package ldp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// BenchmarkTiming compares the two ends of what Sample can be asked for: all weight in front and the first index drawn,
// all weight at the end and the last index drawn. |t| < 4.5 is the hope; run it with -benchtime 1000000x. early is a
// sampler that stops at its index, which must be seen: hundreds.
func BenchmarkTiming(b *testing.B) {
	const kv = 250
	w := Weights{&row{bits: 62, n: make([]uint64, kv)}}
	word := make([]byte, 8)
	var n [2][]uint64
	for class := range n {
		n[class] = make([]uint64, kv)
		for j := range n[class] {
			n[class][j] = 1 << 40
		}
		n[class][class*(kv-1)] = 1<<62 - (kv-1)<<40
	}
	prepare := func(class int) {
		copy(w.n, n[class])
		for i := range word {
			word[i] = byte(-class)
		}
	}
	sink := 0
	b.Run("sample", func(b *testing.B) {
		numtest.Welch(b, prepare, func() {
			j, _ := w.Sample(bytes.NewReader(word))
			sink += j + 1
		})
	})
	b.Run("early", func(b *testing.B) {
		numtest.Welch(b, prepare, func() {
			x, c := binary.LittleEndian.Uint64(word)>>2, uint64(0)
			for j, v := range w.n {
				if c += v; c > x {
					sink += j + 1
					return
				}
			}
		})
	})
	if sink == 0 {
		b.Fatal("nothing was drawn")
	}
}
