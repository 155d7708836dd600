package server

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/wpm-go/wpm/internal/plane"
)

// printMarginal writes the largest of an end.
func printMarginal(m plane.Marginal, out io.Writer, top int) error {
	order := make([]int, len(m.Labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Map[b], m.Map[a]) })
	if top > 0 {
		order = order[:min(top, len(order))]
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "\n%s\tguess\tmap\n", m.End)
	for _, i := range order {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\n", m.Labels[i], m.Guess[i], m.Map[i])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if n := len(m.Labels) - len(order); n > 0 {
		fmt.Fprintf(out, "... and %d more (-top 0, -map, -json)\n", n)
	}
	return nil
}
