package mirror_test

import (
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/mirror"
)

// BenchmarkDescend reports the time of a thousand steps, and how far they get.
func BenchmarkDescend(b *testing.B) {
	for _, k := range []int{30, 300, 1000} {
		if testing.Short() && k > 30 {
			continue
		}
		table := newTable(b, square(k))
		for _, rule := range allRules {
			b.Run(fmt.Sprintf("k=%d/%v", k, rule), func(b *testing.B) {
				b.ReportAllocs()
				var r mirror.Result
				for b.Loop() {
					var err error
					if r, err = mirror.Descend(background, table, 2,
						mirror.Settings{Steps: 1000, Rule: rule, Every: 1000}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(r.F, "f")
				b.ReportMetric(r.Gap()/r.Upper, "gap")
			})
		}
	}
}
