package atlas_test

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/policy"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A server makes a map from a policy file and a file of reports.
func Example() {
	ctx := context.Background()
	text, err := os.ReadFile("testdata/policy.json")
	check(err)
	lines, err := os.ReadFile("testdata/reports.txt") // one of each device, in its text form
	check(err)

	p, err := policy.Decode(text)
	check(err)
	counter, err := aggregate.NewCounter(p)
	check(err)
	for line := range bytes.Lines(lines) {
		counter.Text(bytes.TrimSpace(line)) // counts what is no report, too, by reason
	}
	counts, err := counter.Counts("2026-11", []aggregate.Shard{{ID: "reports.txt", Lines: counter.Lines()}})
	check(err)
	world, err := atlas.Of(ctx, p)
	check(err)
	m, err := world.Map(ctx, counts.Reports, atlas.Settings{})
	check(err)
	fmt.Println(m.Headline)
	fmt.Printf("%d reports: %.2f at place 5, which released %.2f\n", counts.Total(), m.Shares[5], m.Raw[5])
	// Output:
	// The reports say much, and change the guess. Largest places: 5, 52.8 % (90 % interval: 47.7 to 60.6 %); 10, 25.8 % (90 % interval: 21.3 to 32.4 %).
	// 250 reports: 0.53 at place 5, which released 0.44
}

// The share of a region is an interval: every share that agrees with the counts, by the counts alone.
func ExampleWorld_Regions() {
	ctx := context.Background()
	text, err := os.ReadFile("testdata/policy.json")
	check(err)
	p, err := policy.Decode(text)
	check(err)
	world, err := atlas.Of(ctx, p)
	check(err)
	counts := []uint64{16, 16, 10, 5, 4, 110, 6, 2, 2, 4, 56, 3, 4, 6, 4, 2}
	north := []float64{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0} // the first two of four rows of cells
	shares, err := world.Regions(ctx, counts, [][]float64{north}, atlas.Settings{Level: 0.9})
	check(err)
	for _, r := range shares {
		fmt.Printf("%.2f to %.2f, and %.2f in the guess\n", r.Lower, r.Upper, r.Guess)
	}
	// Output: 0.66 to 0.77, and 0.50 in the guess
}
