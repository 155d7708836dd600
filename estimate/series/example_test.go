package series_test

import (
	"context"
	"fmt"
	"os"

	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/series"
	"github.com/wpm-go/wpm/policy"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// Two months of reports: a map of each, and how the share of the north has changed.
func Example() {
	ctx := context.Background()
	text, err := os.ReadFile("../atlas/testdata/policy.json") // 4 x 4 cells
	check(err)
	p, err := policy.Decode(text)
	check(err)
	world, err := atlas.Of(ctx, p)
	check(err)
	october := series.Epoch{Name: "2026-10", Number: 0, World: world,
		Counts: []uint64{16, 16, 10, 5, 4, 110, 6, 2, 2, 4, 56, 3, 4, 6, 4, 2}}
	november := series.Epoch{Name: "2026-11", Number: 1, World: world,
		Counts: []uint64{12, 14, 9, 7, 5, 70, 8, 3, 3, 5, 98, 4, 4, 5, 4, 3}}
	maps, err := series.Maps(ctx, []series.Epoch{october, november}, series.Settings{})
	check(err)
	for _, m := range maps {
		fmt.Printf("%s: %.2f in cell 10, error %.2f\n", m.Name, m.Shares[10], m.Error.Expected)
	}
	north := []float64{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0} // the first two of four rows of cells
	changes, err := series.Changes(ctx, october, november, [][]float64{north}, series.Settings{})
	check(err)
	fmt.Printf("the share of the north changed by %+.2f to %+.2f\n", changes[0].Lower, changes[0].Upper)
	// Output:
	// 2026-10: 0.26 in cell 10, error 0.02
	// 2026-11: 0.46 in cell 10, error 0.03
	// the share of the north changed by -0.30 to -0.12
}
