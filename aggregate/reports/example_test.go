package reports_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
)

// Two files of reports, counted together. A line that is no report is refused and counted as such.
func ExampleReader_Count() {
	id := sha256.Sum256([]byte("the text of a policy"))
	line := func(j int) string { return fmt.Sprintf("77706d31%x%02x000000\n", id, j) }
	files := map[string]string{"monday.txt": line(0) + line(2) + "no report\n", "tuesday.txt": line(2)}

	counter, err := aggregate.NewCounterOf(id, make([]bool, 3)) // three outputs, all of which may occur
	if err != nil {
		panic(err)
	}
	reader := reports.Reader{Magic: "wpm1", Size: 40, Open: func(name string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files[name])), nil
	}}
	counts, err := reader.Count(context.Background(), counter, []string{"monday.txt", "tuesday.txt"}, "2026-11")
	if err != nil {
		panic(err)
	}
	fmt.Println(counts.Reports, counts.Total(), "of", counts.Lines)
	for _, s := range counts.Shards {
		fmt.Println(s.ID, s.Lines)
	}
	// Output:
	// [1 0 2] 3 of 4
	// monday.txt 3
	// tuesday.txt 1
}
