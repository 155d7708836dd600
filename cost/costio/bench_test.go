package costio_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/numtest"
)

func BenchmarkRead(b *testing.B) {
	g := numtest.NewSplitMix64(1)
	d := &cost.Dense{K: 300, Kv: 300, Data: make([]float64, 300*300)}
	for i := range d.Data {
		d.Data[i] = g.Float64()
	}
	var csv, npy bytes.Buffer
	if err := costio.WriteCSV(context.Background(), &csv, d); err != nil {
		b.Fatal(err)
	}
	if err := costio.WriteNPY(context.Background(), &npy, d); err != nil {
		b.Fatal(err)
	}
	for _, f := range []struct {
		name string
		text []byte
	}{{"CSV", csv.Bytes()}, {"NPY", npy.Bytes()}} {
		b.Run(f.name, func(b *testing.B) {
			b.SetBytes(int64(len(f.text)))
			for b.Loop() {
				got, err := costio.Read(bytes.NewReader(f.text), "f")
				if err != nil || got.Data[7] != d.Data[7] {
					b.Fatal(err)
				}
			}
		})
	}
}
