package certificate_test

import (
	"context"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
)

// BenchmarkVerify decodes and verifies, for the 20 x 20 grid of the paper's map.
func BenchmarkVerify(b *testing.B) {
	grid, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		b.Fatal(err)
	}
	base, err := basemeasure.Uniform(context.Background(), grid, 4, basemeasure.Settings{})
	public := must(b)(certificate.NewBaseMeasure(context.Background(), grid, 4, base))(err)
	p := projection.Problem{Cost: grid, Source: make([]float64, 400), Lo: make([]float64, 400), Hi: make([]float64, 400)}
	for j := range p.Lo {
		p.Source[j], p.Lo[j], p.Hi[j] = float64(j)/79800, 0.5/400, 2./400
	}
	r, err := mincostflow.Project(context.Background(), p, mincostflow.Settings{})
	private := must(b)(certificate.NewProjection(context.Background(), p, r))(err)
	for name, c := range map[string]certificate.Certificate{"base-measure": public, "projection": private} {
		data := text(b, c)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := check(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
